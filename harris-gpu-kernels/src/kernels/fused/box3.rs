//! Box windows of 3 rows of 8-bit samples: exact sums, as integers.

use core::array;

use super::arguments::SweepArguments;
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::window::Window;
use crate::Simt;
use crate::abi::{gradient, measure as measures};
use crate::kernels::response::measure_of_halves;
use crate::kernels::thread_per_column::push;

/// What no trace reaches, and fits in 31 bits.
pub(super) const MAX_TRACE: f32 = 1_073_741_824.0;

/// The bits of floats that are 2²³, and 2²³ + 2²², more than the integer that is added to them: for those from 0 to 2²³, and for
/// those less than 2²² away from 0.
const FROM_0: i32 = 0x4B00_0000;
const AROUND_0: i32 = 0x4B40_0000;

/// What nine times is 1, modulo 2³².
const NINTH: i32 = 0x38E3_8E39;

/// The radius of the windows.
const RADIUS: usize = 1;

/// A lane's part of it. The ring has the latest row first.
pub(super) struct Box3 {
    /// What the trace of the sums around a corner reaches.
    trace_bound: i32,
    /// Products of gradients: of a window's rows, the lowest of which is the last taken.
    products: [[[i32; LANE_COLUMNS]; 3]; 2 * RADIUS + 1],
}

impl<S: Simt> Window<S> for Box3 {
    type Gradient = [i32; LANE_COLUMNS];
    type Sum = i32;
    const RADIUS: usize = RADIUS;
    const BATCHES_ROWS: bool = true;

    #[inline(always)]
    fn new(_: &Lane<S>) -> Self {
        Self { trace_bound: 0, products: [[[0; LANE_COLUMNS]; 3]; 2 * RADIUS + 1] }
    }

    /// Quotients take longer than to ask whether any may count.
    #[inline(always)]
    fn uses_trace_bound(args: &SweepArguments) -> bool {
        args.measure == measures::NOBLE
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, trace_bound: f32) {
        self.trace_bound = trace_bound.min(MAX_TRACE) as i32;
    }

    #[inline(always)]
    fn add_row(
        &mut self,
        lane: &Lane<S>,
        gx: [i32; LANE_COLUMNS],
        gy: [i32; LANE_COLUMNS],
    ) -> [[i32; LANE_COLUMNS]; 3] {
        let [square, other] = Self::offsets(&lane.args);
        let products = [
            array::from_fn(|i| (gx[i] * gx[i]).wrapping_add(square)),
            array::from_fn(|i| (gx[i] * gy[i]).wrapping_add(other)),
            array::from_fn(|i| (gy[i] * gy[i]).wrapping_add(square)),
        ];
        push(&mut self.products, products);
        let [latest, middle, first] = &self.products;
        array::from_fn(|k| array::from_fn(|i| lane.s.add(latest[k][i], middle[k][i], first[k][i])))
    }

    #[inline(always)]
    fn responses(
        &self,
        lane: &Lane<S>,
        sums: [[i32; LANE_COLUMNS]; 3],
        row_kind: RowKind,
    ) -> (bool, [f32; LANE_COLUMNS]) {
        let sums = sums.map(|sums| across::<S, RADIUS>(lane.s, sums));
        if <Self as Window<S>>::uses_trace_bound(&lane.args) {
            // What nine products have more.
            let offset = Self::offsets(&lane.args)[0].wrapping_mul(9);
            let [xx, _, yy] = sums.map(|sums| sums.map(|sum| sum.wrapping_sub(offset)));
            if !any_trace_reaches(lane, self.trace_bound, xx, yy, row_kind) {
                return (true, [NO_RESPONSE; LANE_COLUMNS]);
            }
        }
        let responses = Self::measure(lane, sums);
        (true, responses.map(|response| if row_kind.is_valid() { response } else { NO_RESPONSE }))
    }
}

impl Box3 {
    /// Whether all window sums of squares are less than 2²³ and those of gx·gy less than 2²² away from 0.
    ///
    /// Sobel's gx of samples smoothed by 1 2 1 is at most 4·255·3/4, and 4 more for the roundings: 9·769² < 2²³; a wider binomial makes
    /// it less. |gx| + |gy| is at most 255·70/16, the sum of the positive taps, and 8 more, so that |gx·gy| is at most half of it squared:
    /// 9·562² < 2²².
    #[inline(always)]
    fn sums_fit_mantissa(args: &SweepArguments) -> bool {
        args.smoothing > 0 && args.gradient == gradient::SOBEL
    }

    /// What squares and gx·gy have more than they, so that the sums of a window are bits of floats.
    #[inline(always)]
    fn offsets(args: &SweepArguments) -> [i32; 2] {
        if Self::sums_fit_mantissa(args) {
            [FROM_0.wrapping_mul(NINTH), AROUND_0.wrapping_mul(NINTH)]
        } else {
            [0; 2]
        }
    }

    #[inline(always)]
    fn measure<S: Simt>(lane: &Lane<S>, sums: [[i32; LANE_COLUMNS]; 3]) -> [f32; LANE_COLUMNS] {
        let sums_fit_mantissa = Self::sums_fit_mantissa(&lane.args);
        // The offset is 0, a power of two, or three times one, so that its product is exact, and so is the difference before it is rounded.
        let scaled = |sum: i32, offset: i32, scale: f32| {
            let (sum, offset) = if sums_fit_mantissa {
                (f32::from_bits(sum as u32), f32::from_bits(offset as u32))
            } else {
                (sum as f32, 0.0)
            };
            lane.s.exact_fma(sum, scale, -(offset * scale))
        };
        tensor_responses(lane, |i, scale_of_squares| {
            let [xx, xy, yy] = sums.map(|sums| sums[i]);
            let (a, c) = (scaled(xx, FROM_0, scale_of_squares), scaled(yy, FROM_0, scale_of_squares));
            (a, scaled(xy, AROUND_0, lane.args.scale), c)
        })
    }
}

/// Sums across, of what the lanes have of a row.
#[inline(always)]
pub(super) fn across<S: Simt, const WINDOW: usize>(s: S, own: [i32; LANE_COLUMNS]) -> [i32; LANE_COLUMNS] {
    let (mut left, mut right) = ([0; 3], [0; 3]);
    for d in 0..WINDOW {
        left[d] = s.shuffle_up(own[LANE_COLUMNS - 1 - d] as u32, 1) as i32;
        right[d] = s.shuffle_down(own[d] as u32, 1) as i32;
    }
    array::from_fn(|i| {
        let mut sum = own[i];
        for d in 1..=WINDOW {
            let before = if d <= i { own[i - d] } else { left[d - i - 1] };
            let after = if i + d < LANE_COLUMNS { own[i + d] } else { right[i + d - LANE_COLUMNS] };
            // In wider windows sums of two serve several.
            sum = if WINDOW == 1 { s.add(sum, before, after) } else { sum + before + after };
        }
        sum
    })
}

/// Whether any lane's trace of a row, of sums of gx² and gy², reaches the least around a corner. No response is greater than the trace
/// allows: a row of which none does has no corner, and no response that a corner could lose to.
#[inline(always)]
pub(super) fn any_trace_reaches<S: Simt>(
    lane: &Lane<S>,
    trace_bound: i32,
    xx: [i32; LANE_COLUMNS],
    yy: [i32; LANE_COLUMNS],
    row_kind: RowKind,
) -> bool {
    let mut greatest = i32::MIN;
    for i in 0..LANE_COLUMNS {
        greatest = greatest.max(xx[i].wrapping_add(yy[i]));
    }
    lane.s.any(row_kind.is_valid() && greatest >= trace_bound)
}

/// The responses of a lane's columns, whose tensors a closure tells by their numbers, as [`tensor_response`] has them.
#[inline(always)]
pub(super) fn tensor_responses<S: Simt>(
    lane: &Lane<S>,
    tensor: impl Fn(usize, f32) -> (f32, f32, f32),
) -> [f32; LANE_COLUMNS] {
    array::from_fn(|i| tensor_response(lane, lane.args.measure, |scale| tensor(i, scale)))
}

/// The response by a measure of a tensor, whose squares a closure scales by what it is told. It comes of integers below 2³⁴, and the scale
/// is from 2⁻⁴⁰ to 1: halves are exact, and what roots are drawn of is 0 or far from denormal.
#[inline(always)]
fn tensor_response<S: Simt>(lane: &Lane<S>, by: u32, tensor: impl Fn(f32) -> (f32, f32, f32)) -> f32 {
    let scale = lane.args.scale * if by == measures::SHI_TOMASI { 0.5 } else { 1.0 };
    let (a, b, c) = tensor(scale);
    measure_of_halves(|square| lane.s.sqrt_of_normal(square), by, lane.args.parameter, a, b, c)
}
