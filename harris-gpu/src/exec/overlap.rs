//! Sizes of the blocks of rows in which an image is uploaded while kernels run.

use super::tile_heights::MIN_ROWS;
use crate::plan::{Responses, Shape};

/// Ratio of a block's rows to those of the next, where blocks are not equal.
///
/// There are few blocks then, and the sweep over each is done before the next has arrived.
const BLOCK_GROWTH: usize = 3;

/// Sizes of the blocks of rows in which an image is uploaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSizes {
    /// Rows of the last block.
    last: usize,
    /// Ratio of a block's rows to those of the next.
    growth: usize,
}

impl BlockSizes {
    /// One block of all rows.
    pub(crate) fn whole(height: usize) -> Self {
        Self { last: height, growth: BLOCK_GROWTH }
    }

    /// Blocks for an overlapped upload. `map` tells how the response map is computed, if one is.
    ///
    /// `last_block_bytes` is [`Device::last_block_bytes`](crate::Device::last_block_bytes). Small
    /// images have one block: several would gain nothing.
    pub(crate) fn overlapped(shape: &Shape, last_block_bytes: usize, map: Option<&Responses>) -> Self {
        let (pitch, height) = (shape.pitch(), shape.height as usize);
        let bytes = pitch * height;
        let (last, growth) = match map.and_then(Responses::equal_block_factor) {
            Some(factor) => (height / (bytes / (factor * last_block_bytes)).max(1), 1),
            None if bytes < 2 * last_block_bytes => (height, BLOCK_GROWTH),
            None => (last_block_bytes / pitch, BLOCK_GROWTH),
        };
        Self { last: last.max(MIN_ROWS).min(height), growth }
    }

    /// The rows where the blocks of an image of so many rows end.
    pub(crate) fn block_ends(self, height: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        let (mut end, mut rows) = (height, self.last);
        while end > 0 {
            ends.push(end);
            // A first block of fewer rows than the last joins the next.
            end = if end < rows + self.last { 0 } else { end - rows };
            rows *= self.growth;
        }
        ends.reverse();
        ends
    }
}

/// A block of rows, and the work that becomes possible when it has arrived.
pub(crate) struct RowBlock {
    /// The row after its last.
    pub(crate) end: usize,
    /// The row before which all responses can be written.
    pub(crate) mapped: usize,
    /// The row before which all corners can be found.
    pub(crate) searched: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_shrink_and_cover_the_image() {
        let ends =
            |height: usize, (last, growth): (usize, usize)| BlockSizes { last, growth }.block_ends(height);
        assert_eq!(ends(4096, (256, 3)), [768, 3072, 3840, 4096]);
        assert_eq!(ends(1080, (546, 3)), [1080]);
        assert_eq!(ends(1080, (540, 3)), [540, 1080]);
        assert_eq!(ends(100, (100, 3)), [100]);
        assert_eq!(ends(100, (33, 1)), [34, 67, 100]);
        for (height, last, growth) in [(1, 1, 3), (17, 2, 1), (300, 7, 3), (4096, 100, 1), (5, 8, 3)] {
            let ends = ends(height, (last, growth));
            assert!(ends.is_sorted_by(|earlier, later| earlier < later) && ends[0] > 0);
            assert_eq!(ends.last(), Some(&height));
        }
    }
}
