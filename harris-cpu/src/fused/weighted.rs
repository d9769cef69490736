//! Weighted sums of floats along lines, down and across, in the order of the contract: Gaussians of all stages, windows of floats.

use std::ops::Range;

use super::loud::Loud;
use super::samples::vectors;
use super::scratch::{FloatRow, FloatRows};
use crate::simd::{Simd, Work};

/// How the 2r + 1 places of a line are weighed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Weights<T> {
    /// From the first on.
    Box,
    /// Pairs from the outer to the inner, then the centre.
    Binomial,
    /// Taps, from the first on.
    Taps(T),
}

/// Taps as vectors.
pub(super) trait Taps<V: Simd> {
    fn tap(&self, v: V, place: usize) -> V::F32;
}

/// The most taps that are kept in registers, those of a radius of 4.
const MOST_HELD: usize = 9;

/// Taps in registers.
#[derive(Clone, Copy)]
pub(super) struct Held<V: Simd>([V::F32; MOST_HELD]);

impl<V: Simd> Held<V> {
    #[inline(always)]
    pub(super) fn new(v: V, taps: &[f32]) -> Self {
        let mut held = [v.splat_f32(0.0); MOST_HELD];
        for (held, &tap) in held.iter_mut().zip(taps) {
            *held = v.splat_f32(tap);
        }
        Self(held)
    }
}

impl<V: Simd> Taps<V> for Held<V> {
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

/// The binomial weights of radius r, from the centre to the pair before the outermost, whose weight is 1.
pub(super) const fn binomial(radius: usize) -> &'static [f32] {
    match radius {
        1 => &[2.0],
        2 => &[6.0, 4.0],
        _ => &[20.0, 15.0, 6.0],
    }
}

/// The places of a line about element i: the same element of several rows, or several of one row.
pub(super) trait Line<V: Simd> {
    fn at(&self, v: V, place: usize, i: usize) -> V::F32;
}

/// Elements of rows that are in registers, from one of them on.
struct OneColumn<'a, V: Simd> {
    column: &'a [V::F32; MOST_ROWS],
    first: usize,
}

impl<V: Simd> Line<V> for OneColumn<'_, V> {
    #[inline(always)]
    fn at(&self, _: V, place: usize, _: usize) -> V::F32 {
        self.column[self.first + place]
    }
}

/// Elements of a row.
pub(super) struct OneRow<'a> {
    pub(super) row: &'a FloatRow,
    pub(super) radius: usize,
}

impl<V: Simd> Line<V> for OneRow<'_> {
    #[inline(always)]
    fn at(&self, v: V, place: usize, i: usize) -> V::F32 {
        v.load_f32(self.row, i + place - self.radius)
    }
}

/// The weighted sum of 2r + 1 places, in the order of the contract.
#[inline(always)]
pub(super) fn line_sum<V: Simd, T: Taps<V>>(
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

/// Rows whose sums down are computed together: of the rows that these are of, most are the same.
pub(super) const DOWN: usize = 4;
/// Rows of which they are, of windows whose size is known to the compiler.
const MOST_ROWS: usize = 9 + DOWN - 1;

/// The window's sums down the columns of the products, of [`DOWN`] rows.
pub(super) struct SumDown<'a> {
    pub(super) weights: Weights<&'a [f32]>,
    /// Rings of products, and the rows in them that the first row's window has, and then each of the others.
    pub(super) products: &'a [FloatRows; 3],
    pub(super) slots: &'a [usize],
    pub(super) out: [[&'a mut FloatRow; DOWN]; 3],
    /// What is needed of them.
    pub(super) needed: Loud,
}

impl Work for SumDown<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match (self.weights, self.slots.len() + 1 - DOWN) {
            (_, 3) => self.sized::<V, 3>(v),
            (_, 5) => self.sized::<V, 5>(v),
            (_, 7) => self.sized::<V, 7>(v),
            (_, 9) => self.sized::<V, 9>(v),
            (Weights::Taps(taps), _) => self.any(v, |place| taps[place]),
            // Products with 1 are exact. Binomials are among the above.
            (Weights::Box | Weights::Binomial, _) => self.any(v, |_| 1.0),
        }
    }
}

impl SumDown<'_> {
    #[inline(always)]
    fn sized<V: Simd, const N: usize>(self, v: V) {
        match self.weights {
            Weights::Box => self.within::<V, N>(v, &Weights::Box),
            Weights::Binomial => self.within::<V, N>(v, &Weights::Binomial),
            Weights::Taps(taps) => self.within::<V, N>(v, &Weights::Taps(Held::new(v, taps))),
        }
    }

    #[inline(always)]
    fn within<V: Simd, const N: usize>(self, v: V, weights: &Weights<Held<V>>) {
        for (ring, out) in self.products.iter().zip(self.out) {
            let mut rows = [ring.row(self.slots[0]); MOST_ROWS];
            for (row, &slot) in rows.iter_mut().zip(self.slots) {
                *row = ring.row(slot);
            }
            for run in self.needed.runs() {
                for i in vectors(run, V::LANES) {
                    let mut column = [v.splat_f32(0.0); MOST_ROWS];
                    for place in 0..N + DOWN - 1 {
                        column[place] = v.load_f32(rows[place], i);
                    }
                    for first in 0..DOWN {
                        let line = OneColumn::<V> { column: &column, first };
                        v.store_f32(out[first], i, line_sum(v, &line, N / 2, weights, i));
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn any<V: Simd>(self, v: V, weight: impl Fn(usize) -> f32) {
        const TOGETHER: usize = 2;
        let size = self.slots.len() + 1 - DOWN;
        for (ring, out) in self.products.iter().zip(self.out) {
            for i in self.needed.runs().flat_map(|run| vectors(run, TOGETHER * V::LANES)) {
                let mut sums = [[v.splat_f32(0.0); TOGETHER]; DOWN];
                for (place, &slot) in self.slots.iter().enumerate() {
                    let row = ring.row(slot);
                    let samples = [v.load_f32(row, i), v.load_f32(row, i + V::LANES)];
                    for first in 0..DOWN {
                        let place = place.wrapping_sub(first);
                        if place >= size {
                            continue;
                        }
                        let weight = v.splat_f32(weight(place));
                        for j in 0..TOGETHER {
                            let weighted = v.mul(weight, samples[j]);
                            sums[first][j] =
                                if place == 0 { weighted } else { v.add(sums[first][j], weighted) };
                        }
                    }
                }
                for first in 0..DOWN {
                    for j in 0..TOGETHER {
                        v.store_f32(out[first], i + j * V::LANES, sums[first][j]);
                    }
                }
            }
        }
    }
}

/// Vectors that are summed together.
const TOGETHER: usize = 4;

/// Weighted sums down of rows of a ring, by each of some sets of taps.
pub(super) struct WeighDown<'a, const N: usize> {
    pub(super) taps: [&'a [f32]; N],
    pub(super) ring: &'a FloatRows,
    /// The rows in it.
    pub(super) slots: &'a [usize],
    pub(super) out: [&'a mut FloatRow; N],
    pub(super) span: Range<usize>,
}

impl<const N: usize> Work for WeighDown<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { taps, ring, slots, out, span } = self;
        // Several vectors of a row together, so that it is looked up once for all.
        for i in vectors(span, TOGETHER * V::LANES) {
            let mut sums = [[v.splat_f32(0.0); TOGETHER]; N];
            for (place, &slot) in slots.iter().enumerate() {
                let row = ring.row(slot);
                for j in 0..TOGETHER {
                    let sample = v.load_f32(row, i + j * V::LANES);
                    for n in 0..N {
                        let weighted = v.mul(v.splat_f32(taps[n][place]), sample);
                        sums[n][j] = if place == 0 { weighted } else { v.add(sums[n][j], weighted) };
                    }
                }
            }
            for n in 0..N {
                for j in 0..TOGETHER {
                    v.store_f32(out[n], i + j * V::LANES, sums[n][j]);
                }
            }
        }
    }
}

/// Weighted sums across.
pub(super) struct WeighAcross<'a> {
    pub(super) taps: &'a [f32],
    pub(super) row: &'a FloatRow,
    pub(super) out: &'a mut FloatRow,
    pub(super) span: Range<usize>,
}

impl Work for WeighAcross<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let held = Held::new(v, self.taps);
        match self.taps.len() {
            3 => self.within(v, 1, held),
            5 => self.within(v, 2, held),
            7 => self.within(v, 3, held),
            9 => self.within(v, 4, held),
            size => {
                let taps = self.taps;
                self.within(v, size / 2, taps);
            }
        }
    }
}

impl WeighAcross<'_> {
    #[inline(always)]
    fn within<V: Simd>(self, v: V, radius: usize, taps: impl Taps<V>) {
        let Self { row, out, span, .. } = self;
        let (line, weights) = (OneRow { row, radius }, Weights::Taps(taps));
        for i in vectors(span, V::LANES) {
            v.store_f32(out, i, line_sum(v, &line, radius, &weights, i));
        }
    }
}
