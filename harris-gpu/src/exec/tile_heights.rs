//! How many rows of a strip each warp sweeps.

use harris_gpu_kernels::abi::fused::ROWS;

use crate::plan::Sweep;

/// Rows of a tile: many enough that its warm-up rows, which are swept too, count little.
const MAX_ROWS: usize = 160;
pub(crate) const MIN_ROWS: usize = 5;

/// Schedulers of a multiprocessor.
const SCHEDULERS: usize = 4;

/// Rows of a tile where all tiles are alike: as many as let all run at once, of `blocks` that the
/// device holds, within bounds.
pub(crate) fn equal_tile_rows(height: usize, strips: usize, blocks: u32, most: usize) -> usize {
    /// With fewer, warm-up rows are most of the work.
    const MIN_TILE_ROWS: usize = 8;
    height.div_ceil((blocks as usize / strips).max(1)).clamp(MIN_TILE_ROWS, most)
}

/// Cycles of a row where warps share a scheduler, and more for each of them: roughly as measured on
/// an H200.
const CYCLES_PER_ROW: usize = 350;
const CYCLES_PER_WARP: usize = 125;

/// Rows that a warp could sweep in the time of its start and of its part of the list. The heights
/// chosen with it are the quickest on an H200.
const START_ROWS: usize = 9;

/// The part of an image that short tiles get, as a divisor of its rows, and how many times shorter
/// than the others these tiles are.
///
/// By measurement on an H100 and an H200: the more warm-up rows, the fewer tiles should be short.
fn short_part_and_ratio(warm_up: usize) -> (usize, usize) {
    if warm_up > 10 { (10, 4) } else { (6, 3) }
}

/// Rows of the tiles of a strip. The first `tall_count` tiles run at once.
///
/// Some take longer, as there is more to compute in them. Where one is done, its scheduler gets a
/// short one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TileHeights {
    pub(crate) tall: usize,
    pub(crate) tall_count: usize,
    pub(crate) short: usize,
}

impl TileHeights {
    /// The tiles of so many rows that are swept at once, in so many strips of one image, or of
    /// several together.
    pub(crate) fn new(
        sweep: Sweep,
        rows: usize,
        strips: usize,
        is_single: bool,
        multiprocessors: usize,
    ) -> Self {
        let warm_up = sweep.warm_up_rows();
        let at_once = (sweep.blocks_held() * multiprocessors / strips).max(1);
        let (part, ratio) = short_part_and_ratio(warm_up);
        let tall_rows = rows - rows / part;
        let tall_count = at_once * tall_rows.div_ceil(at_once * MAX_ROWS).max(1);
        let tall = whole_fetches(tall_rows.div_ceil(tall_count), warm_up);
        let short = whole_fetches((tall / ratio).max(warm_up + ROWS), warm_up);
        // Short tiles of one image of a batch would not be swept last.
        if is_single && tall >= 2 * short {
            return Self { tall, tall_count, short };
        }
        let equal = best_equal_rows(rows, strips, multiprocessors, sweep);
        Self { tall: equal, tall_count: rows.div_ceil(equal), short: equal }
    }

    /// Tiles of a strip for so many rows.
    pub(crate) fn count(&self, rows: usize) -> usize {
        self.tall_count + rows.saturating_sub(self.tall_count * self.tall).div_ceil(self.short)
    }
}

/// About so many rows, with which a warp sweeps all rows that it fetches.
fn whole_fetches(rows: usize, warm_up: usize) -> usize {
    let fetches = (rows + warm_up + ROWS / 2) / ROWS;
    (fetches * ROWS).saturating_sub(warm_up).max(MIN_ROWS)
}

/// Rows of equal tiles with which the sweep is over soonest: with fewer, more tiles run at once,
/// and more of their rows are warm-up.
fn best_equal_rows(height: usize, strips: usize, multiprocessors: usize, sweep: Sweep) -> usize {
    let (schedulers, held) = (SCHEDULERS * multiprocessors, sweep.blocks_held() * multiprocessors);
    let warm_up = sweep.warm_up_rows();
    // Cycles times schedulers.
    let cost = |rows: usize| {
        let tiles = strips * height.div_ceil(rows);
        let together = |tiles: usize| {
            if tiles == 0 { 0 } else { CYCLES_PER_ROW * schedulers + CYCLES_PER_WARP * tiles }
        };
        // One wave after the other where not all run at once.
        (rows + warm_up + START_ROWS) * (tiles / held * together(held) + together(tiles % held))
    };
    // This is asked for each image, so few heights are tried: from one that is too low on, as long
    // as the next is better.
    let mut rows = whole_fetches((height * strips / (2 * held)).min(MAX_ROWS), warm_up);
    while rows + ROWS <= MAX_ROWS {
        let tiles = strips * height.div_ceil(rows);
        if tiles <= held && cost(rows + ROWS) >= cost(rows) {
            break;
        }
        rows += ROWS;
    }
    rows
}

#[cfg(test)]
mod tests {
    use harris_gpu_kernels::abi::Kernel;
    use harris_gpu_kernels::abi::fused::Strips;
    use harris_gpu_kernels::abi::gradient::SOBEL;

    use super::*;

    const DEFAULT: Sweep = Sweep {
        kernel: Kernel::u8_box3,
        smoothing: 1,
        gradient: SOBEL,
        gradient_radius: 1,
        window: 1,
        suppression: 2,
    };

    /// A sweep with more warm-up rows.
    const BOX7: Sweep = Sweep { kernel: Kernel::u8_box7, window: 3, ..DEFAULT };

    #[test]
    fn equal_tiles_fill_the_device() {
        let rows = |width: u32, height: usize, images: usize| {
            best_equal_rows(height, images * DEFAULT.strips(width), 132, DEFAULT)
        };
        // On 132 multiprocessors, where others are no quicker.
        assert_eq!(rows(512, 512, 1), 5);
        assert_eq!(rows(640, 480, 1), 5);
        assert_eq!(rows(1024, 1024, 1), 11);
        assert_eq!(rows(1920, 1080, 1), 17);
        assert_eq!(rows(2560, 1440, 1), 20);
        assert!((MIN_ROWS..=MAX_ROWS).contains(&rows(1, 1, 1)));
        assert!(rows(16384, 16384, 64) > 100);
    }

    #[test]
    fn tiles_cover_the_rows_and_the_last_are_short_where_that_pays() {
        let heights = |width: u32, height: usize, images: usize| {
            TileHeights::new(DEFAULT, height, images * DEFAULT.strips(width), images == 1, 132)
        };
        // On 132 multiprocessors: within a row of what was quickest there.
        let large = heights(4096, 4096, 1);
        assert_eq!((large.tall, large.tall_count, large.short, large.count(4096)), (56, 60, 17, 104));
        let large = heights(3840, 2160, 1);
        assert_eq!((large.tall, large.tall_count, large.short), (29, 64, 14));
        let box7 = TileHeights::new(BOX7, 4096, BOX7.strips(4096), true, 132);
        assert!(4 * box7.short <= box7.tall && box7.tall_count * box7.tall < 4096, "{box7:?}");
        for (width, height, images) in [(512, 512, 1), (1920, 1080, 1), (640, 4800, 100)] {
            let equal = heights(width, height, images);
            assert_eq!(equal.tall, equal.short, "{width} x {height}");
        }
        for height in (0..400).chain([1000, 5003, 16384, 99_999]) {
            for (width, images) in [(100, 1), (4096, 1), (16384, 1), (100, 3)] {
                for sweep in [DEFAULT, BOX7] {
                    let strips = images * sweep.strips(width);
                    assert_covers(TileHeights::new(sweep, height, strips, images == 1, 132), height);
                }
            }
        }
    }

    #[test]
    fn strips_share_the_columns_and_mirror_words_with_none_inside() {
        use harris_gpu_kernels::abi::fused::{self, COLUMNS, MAX_SUPPORT_RADIUS};

        for side in 3..=MAX_SUPPORT_RADIUS {
            for width in 2 * MAX_SUPPORT_RADIUS..1200 {
                let strips = Strips::new(side, width, true);
                let mut next = 0;
                for strip in 0..strips.count {
                    let left = strips.left(strip);
                    let first = left + side as i32;
                    let end = first + strips.own(left) as i32;
                    assert!(first <= next && first.max(next) < end.min(width as i32), "{side}, {width}");
                    // Columns before the image belong to no strip, and all others to one.
                    assert!(first == next || strip == 0 && first < 0, "{side}, {width}");
                    assert!(end - left + side as i32 <= COLUMNS as i32, "{side}, {width}");
                    next = end;
                    // Corners depend on gradients as far away as suppression and the window look.
                    let far = fused::MAX_RADIUS as i32 + 1;
                    let (least, last) = (first.max(0) - far, end.min(width as i32) - 1 + far);
                    assert!(least > -1 || (-1 - left) % 2 == 1, "{side}, {width}");
                    assert!(last < width as i32 || (width as i32 - left) % 2 == 0, "{side}, {width}");
                }
                assert!(next >= width as i32, "{side}, {width}");
            }
        }
    }

    /// Asserts that no row is left out, and that no tile is empty.
    fn assert_covers(heights: TileHeights, height: usize) {
        let count = heights.count(height);
        // As the kernels compute it.
        let above = |tile: usize| {
            tile.min(heights.tall_count) * heights.tall
                + tile.saturating_sub(heights.tall_count) * heights.short
        };
        assert!(above(count) >= height && (count == 0 || above(count - 1) < height), "{height}: {heights:?}");
    }
}
