//! Row kernels for weighted sums of floats: Gaussians of all stages, windows of float products.

use std::ops::Range;

use crate::rows::{FloatRow, FloatRows};
use crate::simd::{Simd, SimdKernel, vectors};
use crate::sweep::gate::ActiveBlocks;
use crate::sweep::lines::{HeldTaps, Line, OneRow, Taps, Weights, line_sum};

/// Rows whose sums down are computed together: most of their terms are the same rows.
pub(crate) const ROWS_AT_ONCE: usize = 4;
/// The most rows that are summed then, of windows whose size is a constant.
const MAX_ROWS: usize = 9 + ROWS_AT_ONCE - 1;

/// One element of several rows, in registers, from row `first` on.
struct OneColumn<'a, V: Simd> {
    column: &'a [V::F32; MAX_ROWS],
    first: usize,
}

impl<V: Simd> Line<V> for OneColumn<'_, V> {
    #[inline(always)]
    fn at(&self, _: V, place: usize, _: usize) -> V::F32 {
        self.column[self.first + place]
    }
}

/// Sums the window's products down the columns, for [`ROWS_AT_ONCE`] rows.
pub(crate) struct SumDown<'a> {
    pub(crate) weights: Weights<&'a [f32]>,
    /// Rings of products.
    pub(crate) products: &'a [FloatRows; 3],
    /// The rows of the first row's window in them, then one more for each other row.
    pub(crate) slots: &'a [usize],
    pub(crate) out: [[&'a mut FloatRow; ROWS_AT_ONCE]; 3],
    /// The elements that are needed.
    pub(crate) needed: ActiveBlocks,
}

impl SimdKernel for SumDown<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match (self.weights, self.slots.len() + 1 - ROWS_AT_ONCE) {
            (_, 3) => self.sized::<V, 3>(v),
            (_, 5) => self.sized::<V, 5>(v),
            (_, 7) => self.sized::<V, 7>(v),
            (_, 9) => self.sized::<V, 9>(v),
            (Weights::Taps(taps), _) => self.any(v, |place| taps[place]),
            // Products with 1 are exact. All binomials have one of the sizes above.
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
            Weights::Taps(taps) => self.within::<V, N>(v, &Weights::Taps(HeldTaps::new(v, taps))),
        }
    }

    #[inline(always)]
    fn within<V: Simd, const N: usize>(self, v: V, weights: &Weights<HeldTaps<V>>) {
        for (ring, out) in self.products.iter().zip(self.out) {
            let mut rows = [ring.row(self.slots[0]); MAX_ROWS];
            for (row, &slot) in rows.iter_mut().zip(self.slots) {
                *row = ring.row(slot);
            }
            for run in self.needed.runs() {
                for i in vectors(run, V::LANES) {
                    let mut column = [v.splat_f32(0.0); MAX_ROWS];
                    for place in 0..N + ROWS_AT_ONCE - 1 {
                        column[place] = v.load_f32(rows[place], i);
                    }
                    for first in 0..ROWS_AT_ONCE {
                        let line = OneColumn::<V> { column: &column, first };
                        v.store_f32(out[first], i, line_sum(v, &line, N / 2, weights, i));
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn any<V: Simd>(self, v: V, weight: impl Fn(usize) -> f32) {
        const VECTORS_PER_PASS: usize = 2;
        let size = self.slots.len() + 1 - ROWS_AT_ONCE;
        for (ring, out) in self.products.iter().zip(self.out) {
            for i in self.needed.runs().flat_map(|run| vectors(run, VECTORS_PER_PASS * V::LANES)) {
                let mut sums = [[v.splat_f32(0.0); VECTORS_PER_PASS]; ROWS_AT_ONCE];
                for (place, &slot) in self.slots.iter().enumerate() {
                    let row = ring.row(slot);
                    let samples = [v.load_f32(row, i), v.load_f32(row, i + V::LANES)];
                    for first in 0..ROWS_AT_ONCE {
                        let place = place.wrapping_sub(first);
                        if place >= size {
                            continue;
                        }
                        let weight = v.splat_f32(weight(place));
                        for j in 0..VECTORS_PER_PASS {
                            let weighted = v.mul(weight, samples[j]);
                            sums[first][j] =
                                if place == 0 { weighted } else { v.add(sums[first][j], weighted) };
                        }
                    }
                }
                for first in 0..ROWS_AT_ONCE {
                    for j in 0..VECTORS_PER_PASS {
                        v.store_f32(out[first], i + j * V::LANES, sums[first][j]);
                    }
                }
            }
        }
    }
}

/// Vectors that are summed together.
const VECTORS_PER_PASS: usize = 4;

/// Weighted sums of a ring's rows down the columns, by `N` sets of taps.
pub(crate) struct WeightedDown<'a, const N: usize> {
    pub(crate) taps: [&'a [f32]; N],
    pub(crate) ring: &'a FloatRows,
    /// The rows that are summed.
    pub(crate) slots: &'a [usize],
    pub(crate) out: [&'a mut FloatRow; N],
    pub(crate) span: Range<usize>,
}

impl<const N: usize> SimdKernel for WeightedDown<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { taps, ring, slots, out, span } = self;
        // Several vectors of a row together, so that its address is computed once for all.
        for i in vectors(span, VECTORS_PER_PASS * V::LANES) {
            let mut sums = [[v.splat_f32(0.0); VECTORS_PER_PASS]; N];
            for (place, &slot) in slots.iter().enumerate() {
                let row = ring.row(slot);
                for j in 0..VECTORS_PER_PASS {
                    let sample = v.load_f32(row, i + j * V::LANES);
                    for n in 0..N {
                        let weighted = v.mul(v.splat_f32(taps[n][place]), sample);
                        sums[n][j] = if place == 0 { weighted } else { v.add(sums[n][j], weighted) };
                    }
                }
            }
            for n in 0..N {
                for j in 0..VECTORS_PER_PASS {
                    v.store_f32(out[n], i + j * V::LANES, sums[n][j]);
                }
            }
        }
    }
}

/// Weighted sums of a row across.
pub(crate) struct WeightedAcross<'a> {
    pub(crate) taps: &'a [f32],
    pub(crate) row: &'a FloatRow,
    pub(crate) out: &'a mut FloatRow,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for WeightedAcross<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let held = HeldTaps::new(v, self.taps);
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

impl WeightedAcross<'_> {
    #[inline(always)]
    fn within<V: Simd>(self, v: V, radius: usize, taps: impl Taps<V>) {
        let Self { row, out, span, .. } = self;
        let (line, weights) = (OneRow { row, radius }, Weights::Taps(taps));
        for i in vectors(span, V::LANES) {
            v.store_f32(out, i, line_sum(v, &line, radius, &weights, i));
        }
    }
}
