//! Box windows of 3 rows of 8-bit samples: exact sums, as integers.

use core::array;

use super::arguments::Settings;
use super::lane::{EACH, Lane, NEVER, Place};
use super::window::Window;
use crate::Simt;
use crate::abi::{gradient, measure as measures};
use crate::kernels::response::measure_of_halves;
use crate::kernels::thread_per_column::push;

/// What no trace reaches, and fits in 31 bits.
pub(super) const MOST_TRACE: f32 = 1_073_741_824.0;

/// The bits of floats that are 2²³, and 2²³ + 2²², more than the integer that is added to them: for those from 0 to 2²³, and for
/// those less than 2²² away from 0.
const FROM_0: i32 = 0x4B00_0000;
const AROUND_0: i32 = 0x4B40_0000;

/// What nine times is 1, modulo 2³².
const NINTH: i32 = 0x38E3_8E39;

/// The radius of the windows.
const RADIUS: usize = 1;

/// A lane's part of it. The ring has the latest row first.
pub(super) struct Boxes {
    /// What the trace of the sums around a corner reaches.
    least: i32,
    /// Products of gradients: of a window's rows, the lowest of which is the last taken.
    products: [[[i32; EACH]; 3]; 2 * RADIUS + 1],
}

impl<S: Simt> Window<S> for Boxes {
    type Gradient = [i32; EACH];
    type Sum = i32;
    const RADIUS: usize = RADIUS;
    const AT_ONCE: bool = true;

    #[inline(always)]
    fn new(_: &Lane<S>) -> Self {
        Self { least: 0, products: [[[0; EACH]; 3]; 2 * RADIUS + 1] }
    }

    /// Quotients take longer than to ask whether any may count.
    #[inline(always)]
    fn asks_trace(set: &Settings) -> bool {
        set.measure == measures::NOBLE
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        self.least = least.min(MOST_TRACE) as i32;
    }

    #[inline(always)]
    fn down(&mut self, lane: &Lane<S>, gx: [i32; EACH], gy: [i32; EACH]) -> [[i32; EACH]; 3] {
        let [square, other] = Self::offsets(&lane.set);
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
    fn respond(&self, lane: &Lane<S>, sums: [[i32; EACH]; 3], place: Place) -> (bool, [f32; EACH]) {
        let sums = sums.map(|sums| across::<S, RADIUS>(lane.s, sums));
        if <Self as Window<S>>::asks_trace(&lane.set) {
            // What nine products have more.
            let offset = Self::offsets(&lane.set)[0].wrapping_mul(9);
            let [xx, _, yy] = sums.map(|sums| sums.map(|sum| sum.wrapping_sub(offset)));
            if !reached(lane, self.least, xx, yy, place) {
                return (true, [NEVER; EACH]);
            }
        }
        let responses = Self::measure(lane, sums);
        (true, responses.map(|response| if place.is_valid() { response } else { NEVER }))
    }
}

impl Boxes {
    /// Whether all window sums of squares are less than 2²³ and those of gx·gy less than 2²² away from 0.
    ///
    /// Sobel's gx of samples smoothed by 1 2 1 is at most 4·255·3/4, and 4 more for the roundings: 9·769² < 2²³; a wider binomial makes
    /// it less. |gx| + |gy| is at most 255·70/16, the sum of the positive taps, and 8 more, so that |gx·gy| is at most half of it squared:
    /// 9·562² < 2²².
    #[inline(always)]
    fn is_small(set: &Settings) -> bool {
        set.smoothing > 0 && set.gradient == gradient::SOBEL
    }

    /// What squares and gx·gy have more than they, so that the sums of a window are bits of floats.
    #[inline(always)]
    fn offsets(set: &Settings) -> [i32; 2] {
        if Self::is_small(set) { [FROM_0.wrapping_mul(NINTH), AROUND_0.wrapping_mul(NINTH)] } else { [0; 2] }
    }

    #[inline(always)]
    fn measure<S: Simt>(lane: &Lane<S>, sums: [[i32; EACH]; 3]) -> [f32; EACH] {
        let is_small = Self::is_small(&lane.set);
        // The offset is 0, a power of two, or three times one, so that its product is exact, and so is the difference before it is rounded.
        let scaled = |sum: i32, offset: i32, scale: f32| {
            let (sum, offset) = if is_small {
                (f32::from_bits(sum as u32), f32::from_bits(offset as u32))
            } else {
                (sum as f32, 0.0)
            };
            lane.s.exact_fma(sum, scale, -(offset * scale))
        };
        measured(lane, |i, scale_of_squares| {
            let [xx, xy, yy] = sums.map(|sums| sums[i]);
            let (a, c) = (scaled(xx, FROM_0, scale_of_squares), scaled(yy, FROM_0, scale_of_squares));
            (a, scaled(xy, AROUND_0, lane.set.scale), c)
        })
    }
}

/// Sums across, of what the lanes have of a row.
#[inline(always)]
pub(super) fn across<S: Simt, const WINDOW: usize>(s: S, own: [i32; EACH]) -> [i32; EACH] {
    let (mut left, mut right) = ([0; 3], [0; 3]);
    for d in 0..WINDOW {
        left[d] = s.shuffle_up(own[EACH - 1 - d] as u32, 1) as i32;
        right[d] = s.shuffle_down(own[d] as u32, 1) as i32;
    }
    array::from_fn(|i| {
        let mut sum = own[i];
        for d in 1..=WINDOW {
            let before = if d <= i { own[i - d] } else { left[d - i - 1] };
            let after = if i + d < EACH { own[i + d] } else { right[i + d - EACH] };
            // In wider windows sums of two serve several.
            sum = if WINDOW == 1 { s.add(sum, before, after) } else { sum + before + after };
        }
        sum
    })
}

/// Whether any lane's trace of a row, of sums of gx² and gy², reaches the least around a corner. No response is greater than the trace
/// allows: a row of which none does has no corner, and no response that a corner could lose to.
#[inline(always)]
pub(super) fn reached<S: Simt>(
    lane: &Lane<S>,
    least: i32,
    xx: [i32; EACH],
    yy: [i32; EACH],
    place: Place,
) -> bool {
    let mut greatest = i32::MIN;
    for i in 0..EACH {
        greatest = greatest.max(xx[i].wrapping_add(yy[i]));
    }
    lane.s.any(place.is_valid() && greatest >= least)
}

/// The responses of a lane's columns, whose tensors a closure tells by their numbers, as [`measured_by`] has them.
#[inline(always)]
pub(super) fn measured<S: Simt>(
    lane: &Lane<S>,
    tensor: impl Fn(usize, f32) -> (f32, f32, f32),
) -> [f32; EACH] {
    array::from_fn(|i| measured_by(lane, lane.set.measure, |scale| tensor(i, scale)))
}

/// The response by a measure of a tensor, whose squares a closure scales by what it is told. It comes of integers below 2³⁴, and the scale
/// is from 2⁻⁴⁰ to 1: halves are exact, and what roots are drawn of is 0 or far from denormal.
#[inline(always)]
fn measured_by<S: Simt>(lane: &Lane<S>, by: u32, tensor: impl Fn(f32) -> (f32, f32, f32)) -> f32 {
    let scale = lane.set.scale * if by == measures::SHI_TOMASI { 0.5 } else { 1.0 };
    let (a, b, c) = tensor(scale);
    measure_of_halves(|square| lane.s.sqrt_of_normal(square), by, lane.set.parameter, a, b, c)
}
