//! The interface of windows over the gradients of 8-bit samples.

use super::arguments::SweepArguments;
use super::integer_gradients::Gradient;
use super::lane::{LANE_COLUMNS, Lane, RowKind};
use crate::Simt;

/// Window that turns a lane's gradients into responses.
pub(super) trait Window<S: Simt> {
    /// Layout of a row of gradients.
    type Gradient: Gradient;
    /// Type of a sum of products.
    type Sum;
    /// Radius, or 0 where it is an argument.
    const RADIUS: usize;
    const IS_WIDE: bool = Self::RADIUS == 0;

    fn new(lane: &Lane<S>) -> Self;

    /// Whether rows are computed in batches: see
    /// [`ResponseSource::BATCHES_ROWS`](super::source::ResponseSource::BATCHES_ROWS). Gradients
    /// beside the image then already have the sign of the pixel that they mirror.
    const BATCHES_ROWS: bool = false;

    /// Whether the window uses the trace bound to skip rows.
    #[inline(always)]
    fn uses_trace_bound(_: &SweepArguments) -> bool {
        true
    }

    /// Sets the least trace that a response above the threshold needs.
    fn set_trace_bound(&mut self, trace_bound: f32);

    /// Adds the gradients of a warm-up row, whose sums are not needed.
    #[inline(always)]
    fn warm_up(&mut self, lane: &Lane<S>, gx: Self::Gradient, gy: Self::Gradient) {
        self.add_row(lane, gx, gy);
    }

    /// Adds a row of gradients. Returns the column sums of gx², gx·gy and gy² over the window that
    /// ends with it.
    fn add_row(
        &mut self,
        lane: &Lane<S>,
        gx: Self::Gradient,
        gy: Self::Gradient,
    ) -> [[Self::Sum; LANE_COLUMNS]; 3];

    /// Responses from the column sums, and whether any may count.
    fn responses(
        &self,
        lane: &Lane<S>,
        sums: [[Self::Sum; LANE_COLUMNS]; 3],
        row_kind: RowKind,
    ) -> (bool, [f32; LANE_COLUMNS]);
}
