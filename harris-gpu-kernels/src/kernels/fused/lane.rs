//! A lane, its columns, and the rows of its tile.

use super::arguments::SweepArguments;
use crate::Simt;
use crate::abi::fused::{self, COLUMNS, Strips};
use crate::kernels::number::Number;

/// Columns of a lane.
pub(super) const LANE_COLUMNS: usize = fused::LANE_COLUMNS as usize;

/// Response of a pixel that cannot be a corner: a corner's response is greater.
pub(super) const NO_RESPONSE: f32 = 0.0;

/// Position of a lane in its image and strip.
pub(super) struct Lane<S: Simt> {
    pub(super) s: S,
    pub(super) args: SweepArguments,
    /// Index of the image's first sample.
    pub(super) start: usize,
    /// Rows of the tile; `bottom` is exclusive.
    pub(super) top: i32,
    pub(super) bottom: i32,
    /// Column of the lane's first sample.
    pub(super) x: i32,
    /// Columns at each side of the strip that overlap its neighbours.
    pub(super) overlap: u32,
    /// Whether gradients mirror whole words beside the image: see [`Strips`].
    pub(super) mirrors_words: bool,
    /// Number of image rows with valid responses.
    pub(super) rows: u32,
    /// Whether some column of the strip lies outside the image or has no valid response.
    pub(super) at_edge: bool,
}

impl<S: Simt> Lane<S> {
    /// Lane of this thread. Strips overlap their neighbours by `overlap` columns at each side.
    #[inline(always)]
    pub(super) fn new(s: S, args: SweepArguments, overlap: u32, mirrors_words: bool) -> Self {
        let strips = Strips::from_parts(args.strips, args.columns, overlap, args.size.width, mirrors_words);
        // Never 0. The maximum spares the check for a division by zero.
        let across = strips.count.max(1);
        // Blocks are single warps, so values derived from the block's number are uniform over the
        // lanes.
        let (strip, number) = (s.block() % across, s.block() / across);
        // Branch-free: selecting between two results would need more registers.
        let above = |number: u32| {
            args.first
                + number.min(args.full_tiles) * args.rows
                + (number.max(args.full_tiles) - args.full_tiles) * args.tail_rows
        };
        let (top, bottom) = (above(number), above(number + 1).min(args.last));
        let left = strips.left(strip);
        let (width, frame) = (args.size.width as i32, args.frame as i32);
        Self {
            s,
            args,
            start: s.block_row() as usize * args.stride as usize,
            top: top as i32,
            bottom: bottom as i32,
            x: left + (fused::LANE_COLUMNS * s.lane()) as i32,
            overlap,
            mirrors_words,
            rows: args.size.height.saturating_sub(2 * args.frame),
            at_edge: left < frame || left + COLUMNS as i32 > width - frame,
        }
    }

    /// Whether the lane's column `i` belongs to its strip and not to an overlap.
    #[inline(always)]
    pub(super) fn owns_column(&self, i: usize) -> bool {
        let first = fused::LANE_COLUMNS * self.s.lane();
        let mut own = COLUMNS - 2 * self.overlap;
        // Other strips own the same number of columns, apart from those outside the image.
        let width = self.args.size.width;
        if self.mirrors_words && self.at_edge && width % 2 == 1 {
            let strips = Strips::from_parts(self.args.strips, self.args.columns, self.overlap, width, true);
            own = strips.own(self.x - first as i32);
        }
        (first + i as u32).wrapping_sub(self.overlap) < own
    }

    /// Whether row `y` belongs to this tile.
    #[inline(always)]
    pub(super) fn owns_row(&self, y: i32) -> bool {
        y >= self.top && y < self.bottom
    }

    /// Negates gx·gy in columns beside the image, where the mirrored gx has the opposite sign.
    #[inline(always)]
    pub(super) fn negate_outside<T: Number>(&self, mut xy: [T; LANE_COLUMNS]) -> [T; LANE_COLUMNS] {
        if self.at_edge {
            for i in 0..LANE_COLUMNS {
                if (self.x + i as i32) as u32 >= self.args.size.width {
                    xy[i] = T::ZERO - xy[i];
                }
            }
        }
        xy
    }
}

/// Kind of a row of responses.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RowKind {
    /// Valid, and every row read for it or prefetched meanwhile is inside the image.
    Interior,
    /// Rows whose responses count.
    Valid,
    /// Rows whose responses do not count.
    Invalid,
}

impl RowKind {
    /// Kind of row `y`: valid or invalid.
    #[inline(always)]
    pub(super) fn of<S: Simt>(lane: &Lane<S>, y: i32) -> Self {
        if ((y - lane.args.frame as i32) as u32) < lane.rows { Self::Valid } else { Self::Invalid }
    }

    #[inline(always)]
    pub(super) fn is_valid(self) -> bool {
        self != Self::Invalid
    }
}
