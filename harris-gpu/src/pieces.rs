//! How a walk is shared out to warps.

use harris_gpu_kernels::abi::Kernel;
use harris_gpu_kernels::abi::fused::{ROWS, Strips, WRITES_RESPONSES};

/// Rows of a strip that one warp walks: many enough that the rows before the first, which it walks too, count little.
const MOST_ROWS: usize = 160;
pub(crate) const LEAST_ROWS: usize = 5;

/// Schedulers of a multiprocessor.
const SCHEDULERS: usize = 4;

/// A fused kernel, with its stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Walk {
    pub(crate) kernel: Kernel,
    /// The radius of a binomial smoothing.
    pub(crate) smoothing: u32,
    /// The gradient, of [`harris_gpu_kernels::abi::gradient`], and the radii of gradient, window and suppression.
    pub(crate) gradient: u32,
    pub(crate) gradient_radius: u32,
    pub(crate) window: u32,
    pub(crate) radius: usize,
    /// Whether it seeks corners among responses that are there.
    pub(crate) in_map: bool,
}

impl Walk {
    /// How many strips an image has, and columns from one to the next.
    pub(crate) fn strips_and_columns(self, width: u32) -> (u32, u32) {
        let strips = self.layout(width);
        (strips.number, strips.columns)
    }

    /// What its kernel is told of its stages: the radius of smoothing, the gradient, and the radii of gradient, window and suppression.
    pub(crate) fn stages(self) -> (u32, u32, u32, u32, u32) {
        (self.smoothing, self.gradient, self.gradient_radius, self.window, self.radius as u32)
    }

    /// Strips of an image, side by side.
    pub(crate) fn strips(self, width: u32) -> usize {
        self.layout(width).number as usize
    }

    /// How the columns of an image are shared out to them.
    pub(crate) fn layout(self, width: u32) -> Strips {
        self.kernel.strips(self.reach() as u32, self.radius as u32, width).expect("a fused kernel")
    }

    /// Columns and rows from a corner to the farthest sample on which it depends.
    pub(crate) fn reach(self) -> usize {
        (self.smoothing + self.gradient_radius + self.window) as usize + self.radius
    }

    /// Rows that a warp walks before the first of a piece and after the last.
    fn around(self) -> usize {
        2 * self.reach()
    }

    fn blocks_held(self) -> usize {
        let held = if self.radius as u32 == WRITES_RESPONSES {
            self.kernel.blocks_held_writing_responses()
        } else {
            self.kernel.blocks_held()
        };
        held.expect("a fused kernel") as usize
    }
}

/// Rows of a piece, of which each begins with those around its first: as many as let all run at once where a device holds so many blocks,
/// within bounds.
pub(crate) fn rows_at_once(height: usize, strips: usize, blocks: u32, most: usize) -> usize {
    /// With fewer, those that only lead to others are most of what is walked.
    const LEAST: usize = 8;
    height.div_ceil((blocks as usize / strips).max(1)).clamp(LEAST, most)
}

/// Cycles of a row where warps share a scheduler, and more for each of them: roughly as measured on an H200.
const CYCLES_OF_ROW: usize = 350;
const CYCLES_OF_WARP: usize = 125;

/// Rows that a warp could walk in the time of its start and of its part of the list; with so many, the lengths chosen are the quickest on
/// an H200.
const START: usize = 9;

/// The part of an image that is left for short pieces, and how much shorter they are, for walks around whose pieces there are so many rows,
/// by measurement on an H100 and an H200: the more rows only lead to others, the fewer of them should be left.
fn rest_and_shorter(around: usize) -> (usize, usize) {
    if around > 10 { (10, 4) } else { (6, 3) }
}

/// Rows of pieces: those of a strip's first so many, which run at once, and of the others. Some pieces take longer, as there is more to
/// compute in them; where one is done, there is a short one for its scheduler, while others walk on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    pub(crate) first: usize,
    pub(crate) number: usize,
    pub(crate) later: usize,
}

impl Lengths {
    /// For so many rows that are walked on at once, in so many strips of one image, or of several together.
    pub(crate) fn new(
        walk: Walk,
        rows: usize,
        strips: usize,
        is_single: bool,
        multiprocessors: usize,
    ) -> Self {
        let around = walk.around();
        let at_once = (walk.blocks_held() * multiprocessors / strips).max(1);
        let (rest, shorter) = rest_and_shorter(around);
        let long = rows - rows / rest;
        let number = at_once * long.div_ceil(at_once * MOST_ROWS).max(1);
        let first = without_rest(long.div_ceil(number), around);
        let later = without_rest((first / shorter).max(around + ROWS), around);
        // What is left of one image of a stack would not be walked last.
        if is_single && first >= 2 * later {
            return Self { first, number, later };
        }
        let of_piece = rows_of_piece(rows, strips, multiprocessors, walk);
        Self { first: of_piece, number: rows.div_ceil(of_piece), later: of_piece }
    }

    /// How many pieces of a strip there are for so many rows.
    pub(crate) fn pieces(&self, rows: usize) -> usize {
        self.number + rows.saturating_sub(self.number * self.first).div_ceil(self.later)
    }
}

/// About so many rows, with which a warp walks all rows that it fetches at once.
fn without_rest(rows: usize, around: usize) -> usize {
    let fetches = (rows + around + ROWS / 2) / ROWS;
    (fetches * ROWS).saturating_sub(around).max(LEAST_ROWS)
}

/// Rows of a piece by which the walk is over soonest: the fewer, the more pieces there are to run at once, and the more of what they walk
/// only leads to their first row.
fn rows_of_piece(height: usize, strips: usize, multiprocessors: usize, walk: Walk) -> usize {
    let (schedulers, held) = (SCHEDULERS * multiprocessors, walk.blocks_held() * multiprocessors);
    let around = walk.around();
    // Cycles times schedulers.
    let cost = |rows: usize| {
        let pieces = strips * height.div_ceil(rows);
        let together = |pieces: usize| {
            if pieces == 0 { 0 } else { CYCLES_OF_ROW * schedulers + CYCLES_OF_WARP * pieces }
        };
        // In turns where not all run at once.
        (rows + around + START) * (pieces / held * together(held) + together(pieces % held))
    };
    // This is asked for each image, so few lengths are looked at: from some that are too short on, as long as others are better.
    let mut rows = without_rest((height * strips / (2 * held)).min(MOST_ROWS), around);
    while rows + ROWS <= MOST_ROWS {
        let pieces = strips * height.div_ceil(rows);
        if pieces <= held && cost(rows + ROWS) >= cost(rows) {
            break;
        }
        rows += ROWS;
    }
    rows
}

#[cfg(test)]
mod tests {
    use harris_gpu_kernels::abi::gradient::SOBEL;

    use super::*;

    const DEFAULT: Walk = Walk {
        kernel: Kernel::u8_box3,
        smoothing: 1,
        gradient: SOBEL,
        gradient_radius: 1,
        window: 1,
        radius: 2,
        in_map: false,
    };

    /// One that looks farther around.
    const FAR: Walk = Walk { kernel: Kernel::u8_box7, window: 3, ..DEFAULT };

    #[test]
    fn pieces_fill_the_device() {
        let rows = |width: u32, height: usize, images: usize| {
            rows_of_piece(height, images * DEFAULT.strips(width), 132, DEFAULT)
        };
        // On 132 multiprocessors, where others are no quicker.
        assert_eq!(rows(512, 512, 1), 5);
        assert_eq!(rows(640, 480, 1), 5);
        assert_eq!(rows(1024, 1024, 1), 11);
        assert_eq!(rows(1920, 1080, 1), 17);
        assert_eq!(rows(2560, 1440, 1), 20);
        assert!((LEAST_ROWS..=MOST_ROWS).contains(&rows(1, 1, 1)));
        assert!(rows(16384, 16384, 64) > 100);
    }

    #[test]
    fn pieces_cover_the_rows_and_are_shorter_at_the_end_where_that_pays() {
        let lengths = |width: u32, height: usize, images: usize| {
            Lengths::new(DEFAULT, height, images * DEFAULT.strips(width), images == 1, 132)
        };
        // On 132 multiprocessors: within a row of what was quickest there.
        let large = lengths(4096, 4096, 1);
        assert_eq!((large.first, large.number, large.later, large.pieces(4096)), (56, 60, 17, 104));
        let large = lengths(3840, 2160, 1);
        assert_eq!((large.first, large.number, large.later), (29, 64, 14));
        let far = Lengths::new(FAR, 4096, FAR.strips(4096), true, 132);
        assert!(4 * far.later <= far.first && far.number * far.first < 4096, "{far:?}");
        for (width, height, images) in [(512, 512, 1), (1920, 1080, 1), (640, 4800, 100)] {
            let all_alike = lengths(width, height, images);
            assert_eq!(all_alike.first, all_alike.later, "{width} x {height}");
        }
        for height in (0..400).chain([1000, 5003, 16384, 99_999]) {
            for (width, images) in [(100, 1), (4096, 1), (16384, 1), (100, 3)] {
                for walk in [DEFAULT, FAR] {
                    cover(Lengths::new(walk, height, images * walk.strips(width), images == 1, 132), height);
                }
            }
        }
    }

    #[test]
    fn strips_share_the_columns_and_mirror_words_with_none_inside() {
        use harris_gpu_kernels::abi::fused::{self, COLUMNS, MOST_REACH};

        for side in 3..=MOST_REACH {
            for width in 2 * MOST_REACH..1200 {
                let strips = Strips::new(side, width, true);
                let mut next = 0;
                for strip in 0..strips.number {
                    let left = strips.left(strip);
                    let first = left + side as i32;
                    let end = first + strips.own(left) as i32;
                    assert!(first <= next && first.max(next) < end.min(width as i32), "{side}, {width}");
                    // Columns before the image are nobody's, and all others one strip's.
                    assert!(first == next || strip == 0 && first < 0, "{side}, {width}");
                    assert!(end - left + side as i32 <= COLUMNS as i32, "{side}, {width}");
                    next = end;
                    // Corners depend on gradients as far away as suppression and the window look.
                    let far = fused::MOST_RADIUS as i32 + 1;
                    let (least, last) = (first.max(0) - far, end.min(width as i32) - 1 + far);
                    assert!(least > -1 || (-1 - left) % 2 == 1, "{side}, {width}");
                    assert!(last < width as i32 || (width as i32 - left) % 2 == 0, "{side}, {width}");
                }
                assert!(next >= width as i32, "{side}, {width}");
            }
        }
    }

    /// Whether no row is left out, and no piece is empty.
    fn cover(lengths: Lengths, height: usize) {
        let number = lengths.pieces(height);
        // As the kernels have it.
        let above = |piece: usize| {
            piece.min(lengths.number) * lengths.first + piece.saturating_sub(lengths.number) * lengths.later
        };
        assert!(
            above(number) >= height && (number == 0 || above(number - 1) < height),
            "{height}: {lengths:?}"
        );
    }
}
