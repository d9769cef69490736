//! In which blocks of rows an image is uploaded while kernels work on the blocks before.

use super::tile_heights::MIN_ROWS;
use crate::plan::{Responses, Shape};

/// How many times as many rows a block has as the one after it, where blocks are not equal. So
/// there are few, and the sweep over one is done before the next has arrived.
const GROWTH: usize = 3;

/// Sizes of the blocks of rows in which an image is uploaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockSizes {
    /// Rows of the last block.
    last: usize,
    /// How many times as many rows each block has as the one after it.
    growth: usize,
}

impl BlockSizes {
    /// One block of all rows.
    pub(crate) fn whole(height: usize) -> Self {
        Self { last: height, growth: GROWTH }
    }

    /// Blocks for an overlapped upload, before the response map is computed in a way, if it is
    /// needed. `portion` is [`Device::portion`](crate::Device::portion).
    ///
    /// Small images have one block: work on a part of them would gain nothing.
    pub(crate) fn overlapped(shape: &Shape, portion: usize, map: Option<&Responses>) -> Self {
        let (pitch, height) = (shape.pitch(), shape.height as usize);
        let bytes = pitch * height;
        let (last, growth) = match map.and_then(Responses::block_portions) {
            Some(portions) => (height / (bytes / (portions * portion)).max(1), 1),
            None if bytes < 2 * portion => (height, GROWTH),
            None => (portion / pitch, GROWTH),
        };
        Self { last: last.max(MIN_ROWS).min(height), growth }
    }

    /// The rows where the blocks of an image of so many rows end.
    pub(crate) fn ends(self, height: usize) -> Vec<usize> {
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

/// A block of rows as it arrives.
pub(crate) struct RowBlock {
    /// The row where it ends.
    pub(crate) end: usize,
    /// The row before which all responses can be written when it has arrived.
    pub(crate) mapped: usize,
    /// The row before which all corners can be found then.
    pub(crate) searched: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_shrink_and_cover_the_image() {
        let ends = |height: usize, (last, growth): (usize, usize)| BlockSizes { last, growth }.ends(height);
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
