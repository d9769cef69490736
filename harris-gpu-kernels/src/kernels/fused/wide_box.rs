//! Wide box windows over the gradients of 8-bit samples, at a cost independent of their size.
//!
//! Column sums of products run on from row to row, and sums across are differences of prefix sums.
//! Shared memory holds the gradients that are still to leave. It also holds the prefix sums, which
//! are needed many lanes away.

use core::array;

use super::box3::{MAX_TRACE, tensor_responses};
use super::integer_gradients::PAIRS;
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::running_products::{RunningProducts, cell, pair};
use super::window::Window;
use crate::Simt;
use crate::simt::WARP;

/// Lanes of zeros at each side of the warp, for prefix sums beyond its columns.
const MARGIN_LANES: u32 = 4;
/// Prefix sums of a plane: one for each lane and each lane of zeros.
const PLANE: u32 = WARP + 2 * MARGIN_LANES;

/// Shared memory begins with the words of the traces' prefix sums, a plane for each column of a
/// lane. The cells of two products' prefix sums follow, then the rows of gradients.
const PRODUCTS: u32 = LANE_COLUMNS as u32 * PLANE / 2;
const GRADIENTS: u32 = PRODUCTS + LANE_COLUMNS as u32 * PLANE;

/// Box window of a radius of at most `MAX_RADIUS`, given by an argument.
pub(super) struct WideBox<const MAX_RADIUS: usize> {
    /// Least trace that a response above the threshold needs.
    trace_bound: i32,
    running: RunningProducts<GRADIENTS>,
}

impl<S: Simt, const MAX_RADIUS: usize> Window<S> for WideBox<MAX_RADIUS> {
    type Gradient = [u32; PAIRS];
    type Sum = i32;
    const RADIUS: usize = 0;

    #[inline(always)]
    fn new(lane: &Lane<S>) -> Self {
        const {
            assert!(
                MAX_RADIUS < MARGIN_LANES as usize * LANE_COLUMNS,
                "prefix sums are within the lanes of zeros"
            );
            // Sobel's gradients are at most 4 · 255. No other gradient has such a kernel.
            let most = 2 * (2 * MAX_RADIUS as i64 + 1).pow(2) * (4 * 255_i64).pow(2);
            assert!(most < 1 << 31, "traces of windows fit, and twice gx·gy is never greater");
        }
        let (s, l) = (lane.s, lane.s.lane());
        // One zero for each lane.
        const { assert!(LANE_COLUMNS as u32 * 2 * MARGIN_LANES == WARP) };
        let (plane, beside) = (l / (2 * MARGIN_LANES), l % (2 * MARGIN_LANES));
        let index = plane * PLANE + if beside < MARGIN_LANES { beside } else { WARP + beside };
        s.set_shared_word(index, 0);
        s.set_shared(PRODUCTS + index, 0);
        Self { trace_bound: 0, running: RunningProducts::new(s, 2 * lane.args.window + 1) }
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, trace_bound: f32) {
        self.trace_bound = trace_bound.min(MAX_TRACE) as i32;
    }

    #[inline(always)]
    fn warm_up(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) {
        // The window is not full yet, so no row leaves.
        self.running.warm_up(lane.s, (gx, gy), 2 * lane.args.window + 1);
    }

    #[inline(always)]
    fn add_row(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) -> [[i32; LANE_COLUMNS]; 3] {
        self.running.add_row(lane.s, (gx, gy), 2 * lane.args.window + 1);
        self.running.sums
    }

    #[inline(always)]
    fn responses(
        &self,
        lane: &Lane<S>,
        [xx, xy, yy]: [[i32; LANE_COLUMNS]; 3],
        row_kind: RowKind,
    ) -> (bool, [f32; LANE_COLUMNS]) {
        let s = lane.s;
        let own = |i: u32| i * PLANE + MARGIN_LANES + s.lane();
        let [before] = sums_before(s, [array::from_fn(|i| xx[i].wrapping_add(yy[i]))]);
        for i in 0..LANE_COLUMNS {
            s.set_shared_word(own(i as u32), before[i] as u32);
        }
        s.warp_barrier();
        let radius = lane.args.window;
        // Prefix sums at the end of a column's window and before its start.
        let indices: [[u32; 2]; LANE_COLUMNS] = array::from_fn(|i| {
            [i as u32 + radius, i as u32 + (MARGIN_LANES * LANE_COLUMNS as u32 - 1) - radius]
        });
        let indices = indices.map(|[last, first]| {
            let index =
                |column: u32| column % LANE_COLUMNS as u32 * PLANE + s.lane() + column / LANE_COLUMNS as u32;
            [index(last) + MARGIN_LANES, index(first)]
        });
        let traces: [i32; LANE_COLUMNS] = array::from_fn(|i| {
            let [last, first] = indices[i].map(|index| s.shared_word(index));
            last.wrapping_sub(first) as i32
        });
        let mut greatest = i32::MIN;
        for i in 0..LANE_COLUMNS {
            greatest = greatest.max(traces[i]);
        }
        let has_candidates = s.any(row_kind.is_valid() && greatest >= self.trace_bound);
        if has_candidates {
            let before = sums_before(s, [xx, lane.negate_outside(xy)]);
            for i in 0..LANE_COLUMNS {
                s.set_shared(PRODUCTS + own(i as u32), cell(before.map(|before| before[i] as u32)));
            }
        }
        // The next row overwrites what was read.
        s.warp_barrier();
        if !has_candidates {
            return (false, [NO_RESPONSE; LANE_COLUMNS]);
        }
        let products: [[i32; 2]; LANE_COLUMNS] = array::from_fn(|i| {
            let [last, first] = indices[i].map(|index| pair(s.shared(PRODUCTS + index)));
            array::from_fn(|product| last[product].wrapping_sub(first[product]) as i32)
        });
        let responses = tensor_responses(lane, |i, scale_of_squares| {
            let ([xx, twice_xy], trace) = (products[i], traces[i]);
            let [a, c] = [xx, trace.wrapping_sub(xx)].map(|sum| sum as f32 * scale_of_squares);
            (a, twice_xy as f32 * (0.5 * lane.args.scale), c)
        });
        (true, responses)
    }
}

/// Prefix sums of rows, from the warp's first column. They may wrap: their differences are exact
/// modulo 2³².
#[inline(always)]
pub(super) fn sums_before<S: Simt, const ROWS: usize>(
    s: S,
    mut own: [[i32; LANE_COLUMNS]; ROWS],
) -> [[i32; LANE_COLUMNS]; ROWS] {
    for row in 0..ROWS {
        for i in 1..LANE_COLUMNS {
            own[row][i] = own[row][i].wrapping_add(own[row][i - 1]);
        }
    }
    let last = own.map(|own| own[LANE_COLUMNS - 1]);
    let mut sums = last;
    let mut delta = 1;
    while delta < WARP {
        // Interleaved, as each step waits for the one before.
        sums = sums.map(|sum| s.add_lane_below(sum as u32, delta) as i32);
        delta *= 2;
    }
    array::from_fn(|row| own[row].map(|own| own.wrapping_add(sums[row].wrapping_sub(last[row]))))
}
