//! Binomial and Gaussian windows over the gradients of 8-bit samples.

use core::array;

use super::arguments::SweepArguments;
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::window::Window;
use crate::kernels::number::Number;
use crate::kernels::response::measure;
use crate::{Simt, Word};

/// Weights of a window, and the numbers it computes with.
pub(super) trait WindowWeights {
    /// Type of products and their sums.
    type Sum: Number;

    /// Weight at a distance from the centre.
    fn weight(args: &SweepArguments, radius: usize, distance: usize) -> Self::Sum;
    fn from_gradient(gradient: i32) -> Self::Sum;
    /// Sum of two sums.
    fn plus(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// Sum of gx·gy as a float, and sum of squares as a float.
    fn float(sum: Self::Sum) -> f32;
    fn float_of_squares(sum: Self::Sum) -> f32;
}

/// Binomial weights, with exact sums. Sobel's gradients of 8-bit samples give sums below 2³⁰ with
/// radius 2. With radius 3 squares stay below 2³² and gx·gy within 2³¹ of 0: see
/// docs/arithmetic.md.
pub(super) enum Binomial {}

impl WindowWeights for Binomial {
    type Sum = i32;

    #[inline(always)]
    fn weight(_: &SweepArguments, radius: usize, distance: usize) -> i32 {
        [[2, 1, 0, 0], [6, 4, 1, 0], [20, 15, 6, 1]][radius - 1][distance]
    }
    #[inline(always)]
    fn from_gradient(gradient: i32) -> i32 {
        gradient
    }
    #[inline(always)]
    fn plus(a: i32, b: i32) -> i32 {
        a.wrapping_add(b)
    }
    #[inline(always)]
    fn float(sum: i32) -> f32 {
        sum as f32
    }
    #[inline(always)]
    fn float_of_squares(sum: i32) -> f32 {
        sum as u32 as f32
    }
}

/// Gaussian weights, with sums of floats. Products are below 2²⁴, and so exact before they are
/// weighted.
pub(super) enum Gaussian {}

impl WindowWeights for Gaussian {
    type Sum = f32;

    #[inline(always)]
    fn weight(args: &SweepArguments, _: usize, distance: usize) -> f32 {
        args.taps[distance]
    }
    #[inline(always)]
    fn from_gradient(gradient: i32) -> f32 {
        gradient as f32
    }
    #[inline(always)]
    fn plus(a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline(always)]
    fn float(sum: f32) -> f32 {
        sum
    }
    #[inline(always)]
    fn float_of_squares(sum: f32) -> f32 {
        sum
    }
}

/// Window of weights `W`.
pub(super) struct WeightedWindow<W: WindowWeights, const RADIUS: usize> {
    /// Least trace that a response above the threshold needs.
    trace_bound: f32,
    /// Partial column sums of the windows that end with the next rows, the next one first. There
    /// are twice as many as the radius.
    sums: [[[W::Sum; LANE_COLUMNS]; 6]; 3],
}

impl<S: Simt, W: WindowWeights, const RADIUS: usize> Window<S> for WeightedWindow<W, RADIUS> {
    type Gradient = [i32; LANE_COLUMNS];
    type Sum = W::Sum;
    const RADIUS: usize = RADIUS;

    #[inline(always)]
    fn new(_: &Lane<S>) -> Self {
        const { assert!(RADIUS >= 1 && RADIUS <= 3, "the partial sums fit in the array") };
        Self { trace_bound: 0.0, sums: [[[W::Sum::ZERO; LANE_COLUMNS]; 6]; 3] }
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, trace_bound: f32) {
        self.trace_bound = trace_bound;
    }

    #[inline(always)]
    fn add_row(
        &mut self,
        lane: &Lane<S>,
        gx: [i32; LANE_COLUMNS],
        gy: [i32; LANE_COLUMNS],
    ) -> [[W::Sum; LANE_COLUMNS]; 3] {
        let (gx, gy) = (gx.map(W::from_gradient), gy.map(W::from_gradient));
        let products: [[W::Sum; LANE_COLUMNS]; 3] = [
            array::from_fn(|i| gx[i] * gx[i]),
            array::from_fn(|i| gx[i] * gy[i]),
            array::from_fn(|i| gy[i] * gy[i]),
        ];
        let mut down = products;
        for product in 0..3 {
            down[product] = Self::push_row(&lane.args, &mut self.sums[product], products[product]);
        }
        down
    }

    #[inline(always)]
    fn responses(
        &self,
        lane: &Lane<S>,
        [xx, xy, yy]: [[W::Sum; LANE_COLUMNS]; 3],
        row_kind: RowKind,
    ) -> (bool, [f32; LANE_COLUMNS]) {
        let [xx, yy] = [xx, yy].map(|sums| Self::across(lane, sums).map(W::float_of_squares));
        let mut greatest = f32::MIN;
        for i in 0..LANE_COLUMNS {
            greatest = greatest.max(xx[i] + yy[i]);
        }
        let has_candidates = lane.s.any(row_kind.is_valid() && greatest >= self.trace_bound);
        let mut responses = [NO_RESPONSE; LANE_COLUMNS];
        if has_candidates {
            let xy = Self::across(lane, lane.negate_outside(xy)).map(W::float);
            let scale = lane.args.scale;
            responses = array::from_fn(|i| {
                let (a, b, c) = (xx[i] * scale, xy[i] * scale, yy[i] * scale);
                measure(|square| lane.s.sqrt(square), lane.args.measure, lane.args.parameter, a, b, c)
            });
        }
        (has_candidates, responses)
    }
}

impl<W: WindowWeights, const RADIUS: usize> WeightedWindow<W, RADIUS> {
    /// Adds a row of products, and returns the sums of the window that ends with it.
    #[inline(always)]
    fn push_row(
        args: &SweepArguments,
        sums: &mut [[W::Sum; LANE_COLUMNS]; 6],
        own: [W::Sum; LANE_COLUMNS],
    ) -> [W::Sum; LANE_COLUMNS] {
        let weighted = |distance| own.map(|product| product * W::weight(args, RADIUS, distance));
        let plus =
            |sums: [W::Sum; LANE_COLUMNS], own: [W::Sum; LANE_COLUMNS]| array::from_fn(|i| sums[i] + own[i]);
        // Each window is summed from its highest row on. This row is the highest of the last
        // window.
        let ended = plus(sums[0], weighted(RADIUS));
        for window in 1..2 * RADIUS {
            sums[window - 1] = plus(sums[window], weighted(window.abs_diff(RADIUS)));
        }
        sums[2 * RADIUS - 1] = weighted(RADIUS);
        ended
    }

    /// Sums a row of column sums across the window, from left to right.
    #[inline(always)]
    fn across<S: Simt>(lane: &Lane<S>, own: [W::Sum; LANE_COLUMNS]) -> [W::Sum; LANE_COLUMNS] {
        let exchanged = |word: W::Sum, shuffle: fn(S, u32, u32) -> u32| {
            W::Sum::from_bits(shuffle(lane.s, word.into_bits() as u32, 1).into())
        };
        let (mut left, mut right) = ([W::Sum::ZERO; 3], [W::Sum::ZERO; 3]);
        for d in 0..RADIUS {
            left[d] = exchanged(own[LANE_COLUMNS - 1 - d], S::shuffle_up);
            right[d] = exchanged(own[d], S::shuffle_down);
        }
        let weighted = |i: usize, at: usize| {
            // Position counted from the first neighbour on the left.
            let position = i + at;
            let number = if position < RADIUS {
                left[RADIUS - 1 - position]
            } else if position < RADIUS + LANE_COLUMNS {
                own[position - RADIUS]
            } else {
                right[position - RADIUS - LANE_COLUMNS]
            };
            number * W::weight(&lane.args, RADIUS, at.abs_diff(RADIUS))
        };
        array::from_fn(|i| {
            let mut sum = weighted(i, 0);
            for at in 1..=2 * RADIUS {
                sum = W::plus(sum, weighted(i, at));
            }
            sum
        })
    }
}
