//! The interface of stages that turn samples into responses.

use super::arguments::SweepArguments;
use super::lane::{LANE_COLUMNS, Lane, RowKind};
use super::mirror::columns;
use crate::{Simt, Word};

/// Source of a lane's responses, one row after the other.
pub(super) trait ResponseSource<S: Simt> {
    /// Type of a sample in memory.
    type Sample: Word;
    /// Whether [`ResponseSource::warm_up`] handles the rows before the first response. Otherwise
    /// the sweep runs full steps on them.
    const HAS_WARM_UP: bool;
    /// Whether the responses of [`ROWS`] rows are computed together, without testing the trace
    /// bound. Loads and shuffles of these rows then overlap. The strips are laid out so that words
    /// can be mirrored.
    const BATCHES_ROWS: bool = false;

    /// Rows from a response to the lowest sample that it depends on.
    fn support_radius(args: &SweepArguments) -> i32;

    /// How many batches of [`ROWS`] rows [`ResponseSource::warm_up`] handles.
    #[inline(always)]
    fn warm_up_batches(_: &SweepArguments) -> usize {
        0
    }

    /// Columns by which strips overlap at each side, for corners that depend on samples
    /// `support_radius` columns away.
    #[inline(always)]
    fn overlap(support_radius: u32) -> u32 {
        support_radius
    }

    /// Replaces the threshold in the arguments where an earlier kernel has stored one in the state.
    #[inline(always)]
    fn resolve_threshold(_: S, _: S::Buffer<u32>, args: SweepArguments) -> SweepArguments {
        args
    }

    /// Source positioned at the row before `row`. No response above that row counts.
    fn new(lane: &Lane<S>, image: S::Buffer<Self::Sample>, row: i32) -> Self;

    /// Whether the source uses the trace bound to skip rows.
    #[inline(always)]
    fn uses_trace_bound(_: &SweepArguments) -> bool {
        true
    }

    /// Sets the least trace that a response above the threshold needs.
    fn set_trace_bound(&mut self, trace_bound: f32);

    /// Handles the warm-up rows, the first of which is `row`.
    fn warm_up(&mut self, lane: &Lane<S>, row: i32);

    /// Handles the rows from `row` on that fill a wide window. Returns the row after them.
    #[inline(always)]
    fn fill_window(&mut self, _: &Lane<S>, row: i32) -> i32 {
        row
    }

    /// Makes the prefetched rows the current ones, before [`ROWS`] steps.
    fn take_prefetched(&mut self, lane: &Lane<S>);

    /// Starts to load the rows of the next batch, after the first step of this one. That step was
    /// at `row`, and its responses have kind `row_kind`.
    fn prefetch(&mut self, lane: &Lane<S>, row: i32, row_kind: RowKind);

    /// Advances to `row`, number `i` of the batch. Returns the responses of the row
    /// [`ResponseSource::support_radius`] rows higher, and whether any may count.
    ///
    /// None counts in an invalid row, or where no trace reaches the bound.
    fn step(&mut self, lane: &Lane<S>, row: i32, i: usize, row_kind: RowKind) -> (bool, [f32; LANE_COLUMNS]);

    /// Byte offset and selector of the lane's columns in a row of bytes, as returned by
    /// [`columns`].
    #[inline(always)]
    fn byte_columns(&self, lane: &Lane<S>) -> (u32, u32) {
        columns(lane.x, lane.args.size.width)
    }

    /// Whether all samples so far are in the range that images may have.
    #[inline(always)]
    fn is_valid(&self) -> bool {
        true
    }
}
