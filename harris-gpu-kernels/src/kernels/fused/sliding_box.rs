//! Box windows of size 5 and 7 over the gradients of 8-bit samples: running column sums, added up
//! across the window.

use super::box3::{MAX_TRACE, across, any_trace_reaches, tensor_responses};
use super::integer_gradients::PAIRS;
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::running_products::RunningProducts;
use super::window::Window;
use crate::Simt;

/// Box window of radius `WINDOW`.
pub(super) struct SlidingBox<const WINDOW: usize> {
    /// Least trace that a response above the threshold needs.
    trace_bound: i32,
    running: RunningProducts<0>,
}

impl<const WINDOW: usize> SlidingBox<WINDOW> {
    const ROWS: u32 = 2 * WINDOW as u32 + 1;
}

impl<S: Simt, const WINDOW: usize> Window<S> for SlidingBox<WINDOW> {
    type Gradient = [u32; PAIRS];
    type Sum = i32;
    const RADIUS: usize = WINDOW;

    #[inline(always)]
    fn new(lane: &Lane<S>) -> Self {
        Self { trace_bound: 0, running: RunningProducts::new(lane.s, Self::ROWS) }
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, trace_bound: f32) {
        self.trace_bound = trace_bound.min(MAX_TRACE) as i32;
    }

    #[inline(always)]
    fn warm_up(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) {
        self.running.warm_up(lane.s, (gx, gy), Self::ROWS);
    }

    #[inline(always)]
    fn add_row(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) -> [[i32; LANE_COLUMNS]; 3] {
        self.running.add_row(lane.s, (gx, gy), Self::ROWS);
        self.running.sums
    }

    #[inline(always)]
    fn responses(
        &self,
        lane: &Lane<S>,
        [xx, twice_xy, yy]: [[i32; LANE_COLUMNS]; 3],
        row_kind: RowKind,
    ) -> (bool, [f32; LANE_COLUMNS]) {
        let (xx, yy) = (across::<S, WINDOW>(lane.s, xx), across::<S, WINDOW>(lane.s, yy));
        let has_candidates = any_trace_reaches(lane, self.trace_bound, xx, yy, row_kind);
        let mut responses = [NO_RESPONSE; LANE_COLUMNS];
        if has_candidates {
            let twice_xy = across::<S, WINDOW>(lane.s, lane.negate_outside(twice_xy));
            responses = tensor_responses(lane, |i, scale_of_squares| {
                let [a, c] = [xx[i], yy[i]].map(|sum| sum as f32 * scale_of_squares);
                (a, twice_xy[i] as f32 * (0.5 * lane.args.scale), c)
            });
        }
        (has_candidates, responses)
    }
}
