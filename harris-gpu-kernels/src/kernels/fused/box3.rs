//! Box windows of size 3 over the gradients of 8-bit samples, with exact integer sums.

use core::array;

use super::arguments::SweepArguments;
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::window::Window;
use crate::Simt;
use crate::abi::{gradient, measure as measures};
use crate::kernels::choices::knows_all_measures;
use crate::kernels::response::{measure_of_halves, scale_of_squares};
use crate::kernels::thread_per_column::push;

/// Bound that no trace reaches and that fits in 31 bits.
pub(super) const MAX_TRACE: f32 = 1_073_741_824.0;

/// Bits of 2²³ and of 2²³ + 2²² as floats. Adding an integer to the bits adds it to the float. The
/// first serves integers from 0 to 2²³, the second those within 2²² of 0.
const UNSIGNED_BIAS: i32 = 0x4B00_0000;
const SIGNED_BIAS: i32 = 0x4B40_0000;

/// Inverse of 9 modulo 2³².
const INVERSE_OF_9: i32 = 0x38E3_8E39;

/// Radius of the window.
const RADIUS: usize = 1;

/// Box window of size 3. The ring holds the latest row first.
pub(super) struct Box3 {
    /// Least trace that a response above the threshold needs.
    trace_bound: i32,
    /// Products of the window's rows, the latest first.
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

    /// Only Noble's measure, with its division, takes longer than the test.
    #[inline(always)]
    fn uses_trace_bound(args: &SweepArguments) -> bool {
        knows_all_measures!();
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
        array::from_fn(|k| array::from_fn(|i| lane.s.add3(latest[k][i], middle[k][i], first[k][i])))
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
            // Offset of the sum of nine products.
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
    /// Whether window sums of squares are below 2²³, and those of gx·gy within 2²² of 0.
    ///
    /// Sobel's gx of samples smoothed by 1 2 1 is at most 4·255·3/4, plus 4 for the roundings:
    /// 9·769² < 2²³. A wider binomial makes it less.
    ///
    /// |gx| + |gy| is at most 255·70/16, the sum of the positive taps, plus 8. Then |gx·gy| is at
    /// most half of half its square: 9·562² < 2²².
    #[inline(always)]
    fn sums_fit_mantissa(args: &SweepArguments) -> bool {
        args.smoothing > 0 && args.gradient == gradient::SOBEL
    }

    /// Offsets of squares and of gx·gy that make window sums the bits of floats.
    #[inline(always)]
    fn offsets(args: &SweepArguments) -> [i32; 2] {
        if Self::sums_fit_mantissa(args) {
            [UNSIGNED_BIAS.wrapping_mul(INVERSE_OF_9), SIGNED_BIAS.wrapping_mul(INVERSE_OF_9)]
        } else {
            [0; 2]
        }
    }

    #[inline(always)]
    fn measure<S: Simt>(lane: &Lane<S>, sums: [[i32; LANE_COLUMNS]; 3]) -> [f32; LANE_COLUMNS] {
        let sums_fit_mantissa = Self::sums_fit_mantissa(&lane.args);
        // The offset is 0, a power of two or three times one. Its product is thus exact, and the
        // difference is rounded once.
        let scaled = |sum: i32, offset: i32, scale: f32| {
            let (sum, offset) = if sums_fit_mantissa {
                (f32::from_bits(sum as u32), f32::from_bits(offset as u32))
            } else {
                (sum as f32, 0.0)
            };
            lane.s.fma(sum, scale, -(offset * scale))
        };
        tensor_responses(lane, |i, scale_of_squares| {
            let [xx, xy, yy] = sums.map(|sums| sums[i]);
            let (a, c) =
                (scaled(xx, UNSIGNED_BIAS, scale_of_squares), scaled(yy, UNSIGNED_BIAS, scale_of_squares));
            (a, scaled(xy, SIGNED_BIAS, lane.args.scale), c)
        })
    }
}

/// Sums a row of column sums across the window.
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
            // Wider windows share sums of two.
            sum = if WINDOW == 1 { s.add3(sum, before, after) } else { sum + before + after };
        }
        sum
    })
}

/// Whether the trace of any lane in a valid row reaches the bound.
///
/// A response never exceeds what its trace allows. A row without such a trace has no corner, and no
/// response that a corner could lose to.
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

/// Responses of a lane's columns. `tensor` gives the tensor of a column, with its squares scaled by
/// its second argument.
#[inline(always)]
pub(super) fn tensor_responses<S: Simt>(
    lane: &Lane<S>,
    tensor: impl Fn(usize, f32) -> (f32, f32, f32),
) -> [f32; LANE_COLUMNS] {
    array::from_fn(|i| tensor_response(lane, lane.args.measure, |scale| tensor(i, scale)))
}

/// Response of a tensor by a measure. `tensor` scales the squares by its argument.
///
/// The sums are integers below 2³⁴, and the scale is from 2⁻⁴⁰ to 1. Halves are then exact, and the
/// argument of a root is 0 or a normal number.
#[inline(always)]
fn tensor_response<S: Simt>(lane: &Lane<S>, by: u32, tensor: impl Fn(f32) -> (f32, f32, f32)) -> f32 {
    let (a, b, c) = tensor(lane.args.scale * scale_of_squares(by));
    measure_of_halves(|square| lane.s.sqrt_in_range(square), by, lane.args.parameter, a, b, c)
}
