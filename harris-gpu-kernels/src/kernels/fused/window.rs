//! From the gradients of 8-bit samples to responses.

use super::arguments::SweepArguments;
use super::integer_gradients::Gradient;
use super::lane::{LANE_COLUMNS, Lane, RowKind};
use crate::Simt;

/// A window, which makes responses of gradients: a lane's part of it.
pub(super) trait Window<S: Simt> {
    /// Rows of gradients as it takes them.
    type Gradient: Gradient;
    /// Sums of products.
    type Sum;
    /// Its radius, or 0 where it is wide, and arguments tell.
    const RADIUS: usize;
    const IS_WIDE: bool = Self::RADIUS == 0;

    fn new(lane: &Lane<S>) -> Self;

    /// Whether no trace is asked, and responses come as [`ResponseSource::BATCHES_ROWS`] has it: then the gradients beside the image have the sign that
    /// their products need.
    const BATCHES_ROWS: bool = false;

    /// As [`ResponseSource::uses_trace_bound`].
    #[inline(always)]
    fn uses_trace_bound(_: &SweepArguments) -> bool {
        true
    }

    /// Learns what the trace of the sums around a corner reaches at least.
    fn set_trace_bound(&mut self, trace_bound: f32);

    /// Takes the gradients of a row that only leads to the first whose sums are asked for.
    #[inline(always)]
    fn warm_up(&mut self, lane: &Lane<S>, gx: Self::Gradient, gy: Self::Gradient) {
        self.add_row(lane, gx, gy);
    }

    /// Sums down of gx², gx·gy and gy² over the window whose lowest row has these gradients.
    fn add_row(
        &mut self,
        lane: &Lane<S>,
        gx: Self::Gradient,
        gy: Self::Gradient,
    ) -> [[Self::Sum; LANE_COLUMNS]; 3];

    /// Responses by these sums, as [`ResponseSource::step`] has them.
    fn responses(
        &self,
        lane: &Lane<S>,
        sums: [[Self::Sum; LANE_COLUMNS]; 3],
        row_kind: RowKind,
    ) -> (bool, [f32; LANE_COLUMNS]);
}
