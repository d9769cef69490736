//! How a walk is shared out to warps.

use harris_gpu_kernels::abi::{Kernel, fused};

/// Rows of a strip that one warp walks: many enough that the rows before the first, which it walks too, count little.
const MOST_ROWS: usize = 160;
pub(crate) const LEAST_ROWS: usize = 5;

/// Schedulers of a multiprocessor.
const SCHEDULERS: usize = 4;

/// Strips of an image, side by side.
pub(crate) fn strips(width: u32, kernel: Kernel) -> usize {
    width.div_ceil(columns(kernel)) as usize
}

/// Columns of a strip.
pub(crate) fn columns(kernel: Kernel) -> u32 {
    fused::own(kernel.side().expect("a fused kernel"))
}

/// Rows, and columns, from a corner or a response to the farthest sample on which it depends.
fn reach_of(kernel: Kernel) -> u32 {
    kernel.reach().expect("a fused kernel")
}

/// The part of an image that is left for short pieces, and how much shorter they are.
const REST: usize = 6;
const SHORTER: usize = 3;

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
        kernel: Kernel,
        rows: usize,
        strips: usize,
        is_single: bool,
        multiprocessors: usize,
    ) -> Self {
        let of_piece = rows_of_piece(rows, strips, multiprocessors, kernel);
        let number = rows.div_ceil(of_piece);
        let first = (rows - rows / REST).div_ceil(number.max(1));
        let later = first / SHORTER;
        // What is left of one image of a stack would not be walked last.
        if !is_single || later < 2 * reach_of(kernel) as usize {
            return Self { first: of_piece, number, later: of_piece };
        }
        Self { first, number, later }
    }

    /// How many pieces of a strip there are for so many rows.
    pub(crate) fn pieces(&self, rows: usize) -> usize {
        self.number + rows.saturating_sub(self.number * self.first).div_ceil(self.later)
    }
}

/// Rows of a piece by which the walk is over soonest: the fewer, the more pieces there are to run at once, and the more of what they walk
/// only leads to their first row.
fn rows_of_piece(height: usize, strips: usize, multiprocessors: usize, kernel: Kernel) -> usize {
    let schedulers = SCHEDULERS * multiprocessors;
    let most = (kernel.blocks_held().expect("a fused kernel") as usize).div_ceil(SCHEDULERS);
    // Rows that are walked before the first and after the last.
    let around = 2 * reach_of(kernel) as usize;
    let choice = |warps: usize| {
        let pieces = (warps * schedulers / strips).max(1);
        let rows = height.div_ceil(pieces).clamp(LEAST_ROWS, MOST_ROWS);
        // In turns where not all run at once.
        let warps = (strips * height.div_ceil(rows)).div_ceil(schedulers);
        let cycles = warps / most * cycles_of_row(most) + cycles_of_row(warps % most);
        ((rows + around) * cycles, rows)
    };
    (1..=most).map(choice).min().expect("one at least").1
}

/// Cycles that a row takes where so many warps share a scheduler, as measured on an H200.
fn cycles_of_row(warps: usize) -> usize {
    if warps == 0 { 0 } else { (290 + 238 * warps).max(680) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fill_the_device() {
        let kernel = Kernel::binomial3_sobel_box3_harris_radius2;
        let rows = |width: u32, height: usize, images: usize| {
            rows_of_piece(height, images * strips(width, kernel), 132, kernel)
        };
        // On 132 multiprocessors, where others are no quicker.
        assert_eq!(rows(512, 512, 1), 5);
        assert_eq!(rows(1920, 1080, 1), 18);
        assert_eq!(rows(3840, 2160, 1), 34);
        assert_eq!(rows(4096, 4096, 1), 69);
        assert!((LEAST_ROWS..=MOST_ROWS).contains(&rows(1, 1, 1)));
        assert!(rows(16384, 16384, 64) > 100);
    }

    #[test]
    fn pieces_cover_the_rows_and_are_shorter_at_the_end_where_that_pays() {
        let kernel = Kernel::binomial3_sobel_box3_harris_radius2;
        let lengths = |width: u32, height: usize, images: usize| {
            Lengths::new(kernel, height, images * strips(width, kernel), images == 1, 132)
        };
        // On 132 multiprocessors: within a row of what was quickest there.
        let large = lengths(4096, 4096, 1);
        assert_eq!((large.first, large.number, large.later, large.pieces(4096)), (57, 60, 19, 96));
        for (width, height, images) in [(512, 512, 1), (1920, 1080, 1), (3840, 2160, 1), (640, 4800, 100)] {
            let all_alike = lengths(width, height, images);
            assert_eq!(all_alike.first, all_alike.later, "{width} x {height}");
        }
        for height in (0..400).chain([1000, 5003, 16384, 99_999]) {
            for (width, images) in [(100, 1), (4096, 1), (16384, 1), (100, 3)] {
                let lengths = lengths(width, height, images);
                let number = lengths.pieces(height);
                // As the kernels have it.
                let above = |piece: usize| {
                    piece.min(lengths.number) * lengths.first
                        + piece.saturating_sub(lengths.number) * lengths.later
                };
                assert!(
                    above(number) >= height && (number == 0 || above(number - 1) < height),
                    "{width} x {height}: {lengths:?}"
                );
            }
        }
    }
}
