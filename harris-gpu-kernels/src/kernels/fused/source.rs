//! From samples to responses.

use super::arguments::SweepArguments;
use super::lane::{LANE_COLUMNS, Lane, RowKind};
use super::mirror::columns;
use crate::{Simt, Word};

/// A lane's way from samples to responses.
pub(super) trait ResponseSource<S: Simt> {
    /// Samples as they are in memory.
    type Sample: Word;
    /// Whether [`ResponseSource::lead`] takes rows that only lead to the first whose responses count; else the walk computes them all the same.
    const HAS_WARM_UP: bool;
    /// Whether [`ROWS`] rows of responses are computed before any of them is looked at, with no question in between whether they need to be:
    /// what is then to be waited for is waited for at once. Its strips are laid for words to be mirrored.
    const BATCHES_ROWS: bool = false;

    /// Rows from the one whose responses are computed to the one that they need.
    fn support_radius(args: &SweepArguments) -> i32;

    /// How many times [`ROWS`] rows [`ResponseSource::lead`] takes.
    #[inline(always)]
    fn warm_up_batches(_: &SweepArguments) -> usize {
        0
    }

    /// Columns to each side of the strip that only lead to others, where corners depend on so many.
    #[inline(always)]
    fn overlap(support_radius: u32) -> u32 {
        support_radius
    }

    /// The numbers of the walk, with those that the kernels before have left in the state.
    #[inline(always)]
    fn resolve_threshold(_: S, _: S::Buffer<u32>, args: SweepArguments) -> SweepArguments {
        args
    }

    /// At the row before `row`, none of whose responses count.
    fn new(lane: &Lane<S>, image: S::Buffer<Self::Sample>, row: i32) -> Self;

    /// Whether it asks for traces, of which rows have responses that count.
    #[inline(always)]
    fn uses_trace_bound(_: &SweepArguments) -> bool {
        true
    }

    /// Learns what the trace of the sums around a corner reaches at least.
    fn set_trace_bound(&mut self, trace_bound: f32);

    /// Goes down the leading rows, of which the first is `row`.
    fn warm_up(&mut self, lane: &Lane<S>, row: i32);

    /// Goes down more rows, from `row` on, which a wide window is filled with: returns the row after them.
    #[inline(always)]
    fn fill_window(&mut self, _: &Lane<S>, row: i32) -> i32 {
        row
    }

    /// Before [`ROWS`] steps: takes what they need of the rows that were asked for.
    fn take_prefetched(&mut self, lane: &Lane<S>);

    /// After the first of the steps, from `row` on, in a place: asks for rows for the next ones.
    fn prefetch(&mut self, lane: &Lane<S>, row: i32, row_kind: RowKind);

    /// One row down, to `row`, which is number `i` after the last taking: whether any of the responses [`ResponseSource::support_radius`] rows higher up counts,
    /// and these. None does where the place is not valid, or no trace is great enough.
    fn step(&mut self, lane: &Lane<S>, row: i32, i: usize, row_kind: RowKind) -> (bool, [f32; LANE_COLUMNS]);

    /// Where bytes of its columns are in a row of them: as [`columns`] has it.
    #[inline(always)]
    fn columns(&self, lane: &Lane<S>) -> (u32, u32) {
        columns(lane.x, lane.args.size.width)
    }

    /// Whether all samples so far are numbers that images may have.
    #[inline(always)]
    fn is_valid(&self) -> bool {
        true
    }
}
