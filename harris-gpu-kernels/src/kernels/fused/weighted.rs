//! Binomial and Gaussian windows of 8-bit samples.

use core::array;

use super::arguments::Settings;
use super::lane::{EACH, Lane, NEVER, Place};
use super::window::Window;
use crate::kernels::number::Number;
use crate::kernels::response::measure;
use crate::{Simt, Word};

/// What a window weighs products by, and on what it computes.
pub(super) trait Weights {
    /// Products, and sums of them.
    type Sum: Number;

    /// Of what is so far from the centre.
    fn weight(set: &Settings, radius: usize, distance: usize) -> Self::Sum;
    fn number(gradient: i32) -> Self::Sum;
    /// The sum of sums.
    fn plus(a: Self::Sum, b: Self::Sum) -> Self::Sum;
    /// A sum of gx·gy, and one of squares.
    fn float(sum: Self::Sum) -> f32;
    fn float_of_squares(sum: Self::Sum) -> f32;
}

/// Exact sums: Sobel's gradients of 8 bits give less than 2³⁰ with radius 2, and with radius 3 squares less than 2³², and gx·gy less than 2³¹
/// away from 0, as docs/arithmetic.md shows.
pub(super) enum Binomial {}

impl Weights for Binomial {
    type Sum = i32;

    #[inline(always)]
    fn weight(_: &Settings, radius: usize, distance: usize) -> i32 {
        [[2, 1, 0, 0], [6, 4, 1, 0], [20, 15, 6, 1]][radius - 1][distance]
    }
    #[inline(always)]
    fn number(gradient: i32) -> i32 {
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

/// Sums of floats: products are less than 2²⁴, and so exact before they are weighed.
pub(super) enum Gaussian {}

impl Weights for Gaussian {
    type Sum = f32;

    #[inline(always)]
    fn weight(set: &Settings, _: usize, distance: usize) -> f32 {
        set.taps[distance]
    }
    #[inline(always)]
    fn number(gradient: i32) -> f32 {
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

/// A lane's part of it.
pub(super) struct Weighted<W: Weights, const RADIUS: usize> {
    /// What the trace of the sums around a corner reaches.
    least: f32,
    /// Sums down as far as rows have come, of as many windows as end with the next rows, twice the radius: the next one first.
    sums: [[[W::Sum; EACH]; 6]; 3],
}

impl<S: Simt, W: Weights, const RADIUS: usize> Window<S> for Weighted<W, RADIUS> {
    type Gradient = [i32; EACH];
    type Sum = W::Sum;
    const RADIUS: usize = RADIUS;

    #[inline(always)]
    fn new(_: &Lane<S>) -> Self {
        const { assert!(RADIUS >= 1 && RADIUS <= 3, "there is room for as many sums") };
        Self { least: 0.0, sums: [[[W::Sum::ZERO; EACH]; 6]; 3] }
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        self.least = least;
    }

    #[inline(always)]
    fn down(&mut self, lane: &Lane<S>, gx: [i32; EACH], gy: [i32; EACH]) -> [[W::Sum; EACH]; 3] {
        let (gx, gy) = (gx.map(W::number), gy.map(W::number));
        let products: [[W::Sum; EACH]; 3] = [
            array::from_fn(|i| gx[i] * gx[i]),
            array::from_fn(|i| gx[i] * gy[i]),
            array::from_fn(|i| gy[i] * gy[i]),
        ];
        let mut down = products;
        for product in 0..3 {
            down[product] = Self::end(&lane.set, &mut self.sums[product], products[product]);
        }
        down
    }

    #[inline(always)]
    fn respond(
        &self,
        lane: &Lane<S>,
        [xx, xy, yy]: [[W::Sum; EACH]; 3],
        place: Place,
    ) -> (bool, [f32; EACH]) {
        let [xx, yy] = [xx, yy].map(|sums| Self::across(lane, sums).map(W::float_of_squares));
        let mut greatest = f32::MIN;
        for i in 0..EACH {
            greatest = greatest.max(xx[i] + yy[i]);
        }
        let strong = lane.s.any(place.is_valid() && greatest >= self.least);
        let mut responses = [NEVER; EACH];
        if strong {
            let xy = Self::across(lane, lane.turn(xy)).map(W::float);
            let scale = lane.set.scale;
            responses = array::from_fn(|i| {
                let (a, b, c) = (xx[i] * scale, xy[i] * scale, yy[i] * scale);
                measure(|square| lane.s.sqrt(square), lane.set.measure, lane.set.parameter, a, b, c)
            });
        }
        (strong, responses)
    }
}

impl<W: Weights, const RADIUS: usize> Weighted<W, RADIUS> {
    /// Adds a row of products to those of a kind, and returns the sums of the window that ends with it.
    #[inline(always)]
    fn end(set: &Settings, sums: &mut [[W::Sum; EACH]; 6], own: [W::Sum; EACH]) -> [W::Sum; EACH] {
        let weighted = |distance| own.map(|product| product * W::weight(set, RADIUS, distance));
        let plus = |sums: [W::Sum; EACH], own: [W::Sum; EACH]| array::from_fn(|i| sums[i] + own[i]);
        // Each window's from its highest row on, which is this one for the last of them.
        let ended = plus(sums[0], weighted(RADIUS));
        for window in 1..2 * RADIUS {
            sums[window - 1] = plus(sums[window], weighted(window.abs_diff(RADIUS)));
        }
        sums[2 * RADIUS - 1] = weighted(RADIUS);
        ended
    }

    /// Sums across, of what the lanes have of a row, from the left on.
    #[inline(always)]
    fn across<S: Simt>(lane: &Lane<S>, own: [W::Sum; EACH]) -> [W::Sum; EACH] {
        let exchanged = |word: W::Sum, shuffle: fn(S, u32, u32) -> u32| {
            W::Sum::from_bits(shuffle(lane.s, word.into_bits() as u32, 1).into())
        };
        let (mut left, mut right) = ([W::Sum::ZERO; 3], [W::Sum::ZERO; 3]);
        for d in 0..RADIUS {
            left[d] = exchanged(own[EACH - 1 - d], S::shuffle_up);
            right[d] = exchanged(own[d], S::shuffle_down);
        }
        let weighted = |i: usize, at: usize| {
            // Its place from the first that is seen on.
            let place = i + at;
            let number = if place < RADIUS {
                left[RADIUS - 1 - place]
            } else if place < RADIUS + EACH {
                own[place - RADIUS]
            } else {
                right[place - RADIUS - EACH]
            };
            number * W::weight(&lane.set, RADIUS, at.abs_diff(RADIUS))
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
