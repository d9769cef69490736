//! Weighted sums of floats along lines, down or across, in the order of docs/arithmetic.md.

use crate::rows::FloatRow;
use crate::simd::Simd;

/// The weights of the 2r + 1 places of a line, and the order in which they are summed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weights<T> {
    /// All 1, from the first place on.
    Box,
    /// Pairs from the outer to the inner, then the centre.
    Binomial,
    /// Taps, from the first on.
    Taps(T),
}

/// Taps, each as a vector with it in all lanes.
pub(crate) trait Taps<V: Simd> {
    fn tap(&self, v: V, place: usize) -> V::F32;
}

/// The most taps that are held in registers: those of a radius of 4.
const MAX_HELD: usize = 9;

/// Taps in registers.
#[derive(Clone, Copy)]
pub(crate) struct HeldTaps<V: Simd>([V::F32; MAX_HELD]);

impl<V: Simd> HeldTaps<V> {
    #[inline(always)]
    pub(crate) fn new(v: V, taps: &[f32]) -> Self {
        let mut held = [v.splat_f32(0.0); MAX_HELD];
        for (held, &tap) in held.iter_mut().zip(taps) {
            *held = v.splat_f32(tap);
        }
        Self(held)
    }
}

impl<V: Simd> Taps<V> for HeldTaps<V> {
    #[inline(always)]
    fn tap(&self, _: V, place: usize) -> V::F32 {
        self.0[place]
    }
}

impl<V: Simd> Taps<V> for &[f32] {
    #[inline(always)]
    fn tap(&self, v: V, place: usize) -> V::F32 {
        v.splat_f32(self[place])
    }
}

/// Binomial weights of radius r, from the centre outwards, without the outermost, which is 1.
pub(crate) const fn binomial(radius: usize) -> &'static [f32] {
    match radius {
        1 => &[2.0],
        2 => &[6.0, 4.0],
        _ => &[20.0, 15.0, 6.0],
    }
}

/// A line around element i: one element of several rows, or several elements of one row.
pub(crate) trait Line<V: Simd> {
    fn at(&self, v: V, place: usize, i: usize) -> V::F32;
}

/// Elements of a row.
pub(crate) struct OneRow<'a> {
    pub(crate) row: &'a FloatRow,
    pub(crate) radius: usize,
}

impl<V: Simd> Line<V> for OneRow<'_> {
    #[inline(always)]
    fn at(&self, v: V, place: usize, i: usize) -> V::F32 {
        v.load_f32(self.row, i + place - self.radius)
    }
}

/// The weighted sum of 2r + 1 places, in the order of docs/arithmetic.md.
#[inline(always)]
pub(crate) fn line_sum<V: Simd, T: Taps<V>>(
    v: V,
    line: &impl Line<V>,
    radius: usize,
    weights: &Weights<T>,
    i: usize,
) -> V::F32 {
    match weights {
        Weights::Box => {
            let mut sum = line.at(v, 0, i);
            for place in 1..=2 * radius {
                sum = v.add(sum, line.at(v, place, i));
            }
            sum
        }
        Weights::Binomial => {
            let mut sum = v.add(line.at(v, 0, i), line.at(v, 2 * radius, i));
            for distance in (1..radius).rev() {
                let pair = v.add(line.at(v, radius - distance, i), line.at(v, radius + distance, i));
                sum = v.add(sum, v.mul(v.splat_f32(binomial(radius)[distance]), pair));
            }
            v.add(sum, v.mul(v.splat_f32(binomial(radius)[0]), line.at(v, radius, i)))
        }
        Weights::Taps(taps) => {
            let mut sum = v.mul(taps.tap(v, 0), line.at(v, 0, i));
            for place in 1..=2 * radius {
                sum = v.add(sum, v.mul(taps.tap(v, place), line.at(v, place, i)));
            }
            sum
        }
    }
}
