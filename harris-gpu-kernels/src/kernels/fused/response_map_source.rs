//! Responses read from a response map.

use core::array;

use super::arguments::SweepArguments;
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::source::ResponseSource;
use crate::Simt;
use crate::abi::fused::ROWS;
use crate::abi::{fused, state as states, threshold};

/// Source of responses that an earlier kernel has written.
pub(super) struct ResponseMapSource<S: Simt> {
    map: S::Buffer<f32>,
    /// Columns to read, clamped to the image, and whether all of them are read in one load.
    columns: [u32; LANE_COLUMNS],
    reads_four: bool,
    /// Responses of the current batch and of the next, which begins at `row`.
    now: [[f32; LANE_COLUMNS]; ROWS],
    ahead: [[f32; LANE_COLUMNS]; ROWS],
    row: i32,
}

impl<S: Simt> ResponseSource<S> for ResponseMapSource<S> {
    type Sample = f32;
    const HAS_WARM_UP: bool = false;

    #[inline(always)]
    fn support_radius(_: &SweepArguments) -> i32 {
        0
    }

    #[inline(always)]
    fn overlap(support_radius: u32) -> u32 {
        fused::overlap_of_map(support_radius)
    }

    #[inline(always)]
    fn resolve_threshold(s: S, state: S::Buffer<u32>, args: SweepArguments) -> SweepArguments {
        if args.threshold_kind == threshold::FROM_STATE {
            let value = f32::from_bits(s.load(state, states::THRESHOLD));
            SweepArguments { threshold_kind: threshold::ABSOLUTE, threshold_value: value, ..args }
        } else {
            args
        }
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, map: S::Buffer<f32>, row: i32) -> Self {
        let width = lane.args.size.width;
        let reads_four = width.is_multiple_of(fused::LANE_COLUMNS);
        let last = (width - if reads_four { fused::LANE_COLUMNS } else { 1 }) as i32;
        let columns = array::from_fn(|i| (lane.x + i as i32).max(0).min(last) as u32);
        let none = [[NO_RESPONSE; LANE_COLUMNS]; ROWS];
        let mut source = Self { map, columns, reads_four, now: none, ahead: none, row };
        source.ahead = source.load(lane);
        source
    }

    #[inline(always)]
    fn uses_trace_bound(_: &SweepArguments) -> bool {
        false
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, _: f32) {}

    #[inline(always)]
    fn warm_up(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn take_prefetched(&mut self, lane: &Lane<S>) {
        // Negative responses never count. The maximum also keeps compilers from copying the loaded
        // values, which would wait for the next load.
        self.now = self.ahead.map(|row| row.map(|response| response.max(NO_RESPONSE)));
        // Loads the next batch at once, as a batch takes less time than a load.
        self.row += ROWS as i32;
        self.ahead = self.load(lane);
    }

    #[inline(always)]
    fn prefetch(&mut self, _: &Lane<S>, _: i32, _: RowKind) {}

    #[inline(always)]
    fn step(&mut self, _: &Lane<S>, _: i32, i: usize, row_kind: RowKind) -> (bool, [f32; LANE_COLUMNS]) {
        let valid = row_kind.is_valid();
        (valid, if valid { self.now[i] } else { [NO_RESPONSE; LANE_COLUMNS] })
    }
}

impl<S: Simt> ResponseMapSource<S> {
    /// Loads the next batch. Rows outside are clamped to the image.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>) -> [[f32; LANE_COLUMNS]; ROWS] {
        let last = lane.args.size.height as i32 - 1;
        array::from_fn(|i| {
            let y = (self.row + i as i32).max(0).min(last) as u32;
            let start = lane.s.mul_wide(y, lane.args.pitch) as usize;
            if self.reads_four {
                return lane.s.load_four_words_streaming(self.map, start + self.columns[0] as usize);
            }
            self.columns.map(|column| lane.s.load_constant(self.map, start + column as usize))
        })
    }
}
