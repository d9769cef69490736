//! A lane, its columns, and the rows of its tile.

use super::arguments::SweepArguments;
use crate::Simt;
use crate::abi::fused::{self, COLUMNS, Strips};
use crate::kernels::number::Number;

/// Columns that a lane has.
pub(super) const LANE_COLUMNS: usize = fused::EACH as usize;

/// Where no response counts: a corner's exceeds it.
pub(super) const NO_RESPONSE: f32 = 0.0;

/// Where a lane is.
pub(super) struct Lane<S: Simt> {
    pub(super) s: S,
    pub(super) args: SweepArguments,
    /// Where its image starts.
    pub(super) start: usize,
    /// Its rows.
    pub(super) top: i32,
    pub(super) bottom: i32,
    /// Column of its first sample.
    pub(super) x: i32,
    /// Columns to the left of the strip's own.
    pub(super) overlap: u32,
    /// As [`Strips`] has it.
    pub(super) mirrors_words: bool,
    /// Rows of the image that have valid responses.
    pub(super) rows: u32,
    /// Whether a column of the strip lies outside or has no valid response.
    pub(super) at_edge: bool,
}

impl<S: Simt> Lane<S> {
    /// That of this thread in its warp's piece, where strips have `overlap` columns to each side that only lead to others, and are as
    /// [`Strips`] has it.
    #[inline(always)]
    pub(super) fn new(s: S, args: SweepArguments, overlap: u32, mirrors_words: bool) -> Self {
        let strips = Strips::told(args.strips, args.columns, overlap, args.size.width, mirrors_words);
        // No image is empty: but compilers, which cannot know it, else look whether there is anything to divide by.
        let across = strips.number.max(1);
        // Blocks are single warps: what is the same for all lanes then follows from the block's number, and is computed once.
        let (strip, number) = (s.block() % across, s.block() / across);
        // Without a question: its two answers would take registers that there are not.
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
            x: left + (fused::EACH * s.lane()) as i32,
            overlap,
            mirrors_words,
            rows: args.size.height.saturating_sub(2 * args.frame),
            at_edge: left < frame || left + COLUMNS as i32 > width - frame,
        }
    }

    /// Whether it finds corners in column `i` of its own, or only helps neighbours to.
    #[inline(always)]
    pub(super) fn owns_column(&self, i: usize) -> bool {
        let first = fused::EACH * self.s.lane();
        let mut own = COLUMNS - 2 * self.overlap;
        // Of all others it is as many, but for those that are outside.
        let width = self.args.size.width;
        if self.mirrors_words && self.at_edge && width % 2 == 1 {
            let strips = Strips::told(self.args.strips, self.args.columns, self.overlap, width, true);
            own = strips.own(self.x - first as i32);
        }
        (first + i as u32).wrapping_sub(self.overlap) < own
    }

    /// Whether it finds those of row `y`, or that belongs to another piece.
    #[inline(always)]
    pub(super) fn owns_row(&self, y: i32) -> bool {
        y >= self.top && y < self.bottom
    }

    /// Beside the image gx has changed its sign, and with it the product of both.
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

/// Where a row of responses is.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RowKind {
    /// So far inside that all rows on which it depends are of the image, and so are those that are asked for meanwhile.
    Interior,
    /// Where responses count.
    Valid,
    /// Where they do not.
    Invalid,
}

impl RowKind {
    /// Valid or not: that of row `y`.
    #[inline(always)]
    pub(super) fn of<S: Simt>(lane: &Lane<S>, y: i32) -> Self {
        if ((y - lane.args.frame as i32) as u32) < lane.rows { Self::Valid } else { Self::Invalid }
    }

    #[inline(always)]
    pub(super) fn is_valid(self) -> bool {
        self != Self::Invalid
    }
}
