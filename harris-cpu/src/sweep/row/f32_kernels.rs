//! Row kernels on 32-bit floats: every sample type and window.
//!
//! Samples and gradients of integer images are integers below 2²⁴ here, so that floats hold them
//! exactly; the sums of their products are 64-bit floats ([`super::f64_sums`]). Float images take
//! the operations in the order of docs/arithmetic.md: smoothing across first, windows down first.

use std::ops::Range;

use harris_core::Measure;

use crate::peaks::ring::{ResponseRing, WordLayout};
use crate::rows::{FloatRow, IntegerRow};
use crate::simd::{Simd, SimdKernel, vectors};
use crate::sweep::gate::{ActiveBlocks, ActiveMask};
use crate::sweep::lines::{HeldTaps, OneRow, Taps, Weights, line_sum};
use crate::sweep::measure::{response, upper_bound};
use crate::sweep::sample::SweepSample;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps, specialize_taps};
use crate::sweep::vectors_f32::{binomial5, weigh};

/// Loads a channel of a row of samples as floats; returns whether all are valid.
pub(crate) struct LoadChannel<'a, T> {
    /// Samples from the first pixel on.
    pub(crate) samples: &'a [T],
    pub(crate) channel: usize,
    pub(crate) channels: usize,
    pub(crate) out: &'a mut [f32],
}

impl<T: SweepSample> SimdKernel for LoadChannel<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Simd>(self, _: V) -> bool {
        match (self.channels, self.channel) {
            (1, _) => self.of::<1, 0>(),
            (_, 0) => self.of::<3, 0>(),
            (_, 1) => self.of::<3, 1>(),
            (_, _) => self.of::<3, 2>(),
        }
    }
}

impl<T: SweepSample> LoadChannel<'_, T> {
    /// Loads channel `I` of `C`.
    #[inline(always)]
    fn of<const C: usize, const I: usize>(self) -> bool {
        let mut all_valid = true;
        for (out, pixel) in self.out.iter_mut().zip(self.samples.as_chunks::<C>().0) {
            *out = pixel[I].float();
            all_valid &= pixel[I].is_valid();
        }
        all_valid
    }
}

/// Sums a row across by a binomial, without division.
pub(crate) struct BinomialAcross<'a> {
    pub(crate) smoothing: StageSmoothing,
    pub(crate) row: &'a FloatRow,
    pub(crate) out: &'a mut FloatRow,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for BinomialAcross<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { smoothing, row, out, span } = self;
        for i in vectors(span, V::LANES) {
            let near = v.add(v.load_f32(row, i - 1), v.load_f32(row, i + 1));
            let centre = v.load_f32(row, i);
            let sum = if smoothing.has_five_taps() {
                binomial5(v, v.add(v.load_f32(row, i - 2), v.load_f32(row, i + 2)), near, centre)
            } else {
                v.add_twice(near, centre)
            };
            v.store_f32(out, i, sum);
        }
    }
}

/// Sums rows down by a binomial, and divides but for `Binomial3Exact`: integers round to nearest,
/// halves up.
pub(crate) struct BinomialDown<'a> {
    pub(crate) smoothing: StageSmoothing,
    pub(crate) exact: bool,
    /// Sums across of the rows y − 2 to y + 2; smoothing uses those of its aperture.
    pub(crate) rows: [&'a FloatRow; 5],
    pub(crate) out: &'a mut FloatRow,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for BinomialDown<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { smoothing, exact, rows, out, span } = self;
        let has_five_taps = smoothing.has_five_taps();
        let (half, reciprocal) = if has_five_taps { (128.0, 1.0 / 256.0) } else { (8.0, 1.0 / 16.0) };
        let (half, reciprocal) = (v.splat_f32(half), v.splat_f32(reciprocal));
        for i in vectors(span, V::LANES) {
            let near = v.add(v.load_f32(rows[1], i), v.load_f32(rows[3], i));
            let centre = v.load_f32(rows[2], i);
            let sum = if has_five_taps {
                binomial5(v, v.add(v.load_f32(rows[0], i), v.load_f32(rows[4], i)), near, centre)
            } else {
                v.add_twice(near, centre)
            };
            let mean = if smoothing.keeps_sums() {
                sum
            } else if exact {
                v.to_f32(v.to_i32(v.mul(v.add(sum, half), reciprocal)))
            } else {
                v.mul(sum, reciprocal)
            };
            v.store_f32(out, i, mean);
        }
    }
}

/// Computes a row's differences across for gx, and its weighted sums across for gy.
pub(crate) struct RowSlopes<'a> {
    pub(crate) gradient: ThreeTaps,
    pub(crate) smoothed: &'a FloatRow,
    pub(crate) differences: &'a mut FloatRow,
    pub(crate) sums: &'a mut FloatRow,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for RowSlopes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        specialize_taps!(self.gradient, gradient => self.by(v, gradient));
    }
}

impl RowSlopes<'_> {
    #[inline(always)]
    fn by<V: Simd>(self, v: V, gradient: ThreeTaps) {
        let Self { smoothed, differences, sums, span, .. } = self;
        for i in vectors(span, V::LANES) {
            let [left, right] = [v.load_f32(smoothed, i - 1), v.load_f32(smoothed, i + 1)];
            let centre = v.load_f32(smoothed, i);
            v.store_f32(differences, i, v.sub(right, left));
            v.store_f32(sums, i, weigh(v, gradient, v.add(left, right), centre));
        }
    }
}

/// Takes gx and gy of a row.
pub(crate) trait GradientSink {
    /// Takes a vector of each from element `i` on.
    fn put<V: Simd>(&mut self, v: V, i: usize, gx: V::F32, gy: V::F32);
}

/// Marks the elements whose gx² + gy² exceeds a bound.
pub(crate) struct MarkActive<'a> {
    pub(crate) bound: f32,
    /// Whether to add to the marks of other channels.
    pub(crate) adds: bool,
    pub(crate) active: &'a mut ActiveMask,
}

impl MarkActive<'_> {
    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, i: usize, [xx, yy]: [V::F32; 2]) {
        let active = v.greater(v.add(xx, yy), v.splat_f32(self.bound));
        self.active.set(i, V::LANES, active, self.adds);
    }
}

/// Stores gradients as they are.
pub(crate) struct StoreGradients<'a> {
    pub(crate) gx: &'a mut FloatRow,
    pub(crate) gy: &'a mut FloatRow,
    pub(crate) mark: Option<MarkActive<'a>>,
}

impl GradientSink for StoreGradients<'_> {
    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, i: usize, gx: V::F32, gy: V::F32) {
        v.store_f32(self.gx, i, gx);
        v.store_f32(self.gy, i, gy);
        if let Some(mark) = &mut self.mark {
            mark.put(v, i, [v.mul(gx, gx), v.mul(gy, gy)]);
        }
    }
}

/// Stores gx², gx·gy and gy².
pub(crate) struct StoreProducts<'a> {
    /// Whether to add to the products of other channels.
    pub(crate) adds: bool,
    pub(crate) rows: [&'a mut FloatRow; 3],
    pub(crate) mark: Option<MarkActive<'a>>,
}

impl GradientSink for StoreProducts<'_> {
    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, i: usize, gx: V::F32, gy: V::F32) {
        let products = [v.mul(gx, gx), v.mul(gx, gy), v.mul(gy, gy)];
        if let Some(mark) = &mut self.mark {
            mark.put(v, i, [products[0], products[2]]);
        }
        for (row, product) in self.rows.iter_mut().zip(products) {
            let row: &mut FloatRow = row;
            let sum = if self.adds { v.add(v.load_f32(row, i), product) } else { product };
            v.store_f32(row, i, sum);
        }
    }
}

/// Computes gx and gy of a row.
pub(crate) struct Differentiate<'a, G> {
    pub(crate) gradient: ThreeTaps,
    /// Differences across of the rows above, at and below.
    pub(crate) differences: [&'a FloatRow; 3],
    /// Weighted sums across of the rows above and below.
    pub(crate) sums: [&'a FloatRow; 2],
    pub(crate) out: G,
    pub(crate) span: Range<usize>,
}

impl<G: GradientSink> SimdKernel for Differentiate<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        specialize_taps!(self.gradient, gradient => self.by(v, gradient));
    }
}

impl<G: GradientSink> Differentiate<'_, G> {
    #[inline(always)]
    fn by<V: Simd>(self, v: V, gradient: ThreeTaps) {
        let Self { differences: [up, here, down], sums: [above, below], mut out, span, .. } = self;
        for i in vectors(span, V::LANES) {
            let pair = v.add(v.load_f32(up, i), v.load_f32(down, i));
            let gx = weigh(v, gradient, pair, v.load_f32(here, i));
            out.put(v, i, gx, v.sub(v.load_f32(below, i), v.load_f32(above, i)));
        }
    }
}

/// Converts a row of floats with integer values to integers.
pub(crate) struct ToIntegers<'a> {
    pub(crate) row: &'a FloatRow,
    pub(crate) out: &'a mut IntegerRow,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for ToIntegers<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        for i in vectors(self.span, V::LANES) {
            v.store_i32(self.out, i, v.to_i32(v.load_f32(self.row, i)));
        }
    }
}

/// Brings the box gradient's sums down the columns to the next row, and computes their prefix sums
/// across.
///
/// `columns` are sums of 2h + 1 rows, `differences` the h rows below the row less the h above it.
pub(crate) struct SlideBoxSums<'a> {
    /// The rows y + h, y, y − 1, y − 1 − h.
    pub(crate) rows: [&'a IntegerRow; 4],
    pub(crate) columns: &'a mut IntegerRow,
    pub(crate) differences: &'a mut IntegerRow,
    pub(crate) running: [&'a mut IntegerRow; 2],
    pub(crate) span: Range<usize>,
}

impl SimdKernel for SlideBoxSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { rows: [enters, here, before, leaves], columns, differences, running: [rc, rd], span } =
            self;
        let (mut running_column, mut running_difference) = (v.splat_i32(0), v.splat_i32(0));
        for i in vectors(span, V::LANES) {
            let [enters, leaves] = [v.load_i32(enters, i), v.load_i32(leaves, i)];
            let passes = v.add_i32(v.load_i32(here, i), v.load_i32(before, i));
            let column = v.add_i32(v.load_i32(columns, i), v.sub_i32(enters, leaves));
            let more = v.sub_i32(v.add_i32(enters, leaves), passes);
            let difference = v.add_i32(v.load_i32(differences, i), more);
            v.store_i32(columns, i, column);
            v.store_i32(differences, i, difference);
            running_column = v.prefix_sums_i32(running_column, column);
            running_difference = v.prefix_sums_i32(running_difference, difference);
            v.store_i32(rc, i, running_column);
            v.store_i32(rd, i, running_difference);
        }
    }
}

/// Computes gx and gy of a box gradient from prefix sums.
pub(crate) struct BoxGradients<'a> {
    pub(crate) half: usize,
    pub(crate) running: [&'a IntegerRow; 2],
    pub(crate) out: StoreGradients<'a>,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for BoxGradients<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { half: h, running: [columns, differences], mut out, span } = self;
        for i in vectors(span, V::LANES) {
            let after = v.sub_i32(v.load_i32(columns, i + h), v.load_i32(columns, i));
            let before = v.sub_i32(v.load_i32(columns, i - 1), v.load_i32(columns, i - 1 - h));
            let lower = v.sub_i32(v.load_i32(differences, i + h), v.load_i32(differences, i - 1 - h));
            out.put(v, i, v.to_f32(v.sub_i32(after, before)), v.to_f32(lower));
        }
    }
}

/// Computes the products of gradients that are stored in rows.
pub(crate) struct Multiply<'a> {
    pub(crate) gx: &'a FloatRow,
    pub(crate) gy: &'a FloatRow,
    pub(crate) out: StoreProducts<'a>,
    pub(crate) span: Range<usize>,
}

impl SimdKernel for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { gx, gy, mut out, span } = self;
        for i in vectors(span, V::LANES) {
            out.put(v, i, v.load_f32(gx, i), v.load_f32(gy, i));
        }
    }
}

/// Sums over the window across, and computes the responses of the columns of `span`.
pub(crate) struct Respond<'a> {
    pub(crate) weights: Weights<&'a [f32]>,
    pub(crate) radius: usize,
    /// Sums down the columns.
    pub(crate) columns: [&'a FloatRow; 3],
    pub(crate) out: ResponseOutput<'a>,
}

impl SimdKernel for Respond<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.radius {
            1 => self.sized(v, 1),
            2 => self.sized(v, 2),
            3 => self.sized(v, 3),
            4 => self.sized(v, 4),
            radius => {
                let Self { weights, columns, out, .. } = self;
                out.respond(v, &FloatSums { radius, weights, columns });
            }
        }
    }
}

impl Respond<'_> {
    /// For radii whose taps registers hold.
    #[inline(always)]
    fn sized<V: Simd>(self, v: V, radius: usize) {
        let Self { weights, columns, out, .. } = self;
        match weights {
            Weights::Box => {
                out.respond(v, &FloatSums { radius, weights: Weights::<HeldTaps<V>>::Box, columns });
            }
            Weights::Binomial => {
                out.respond(v, &FloatSums { radius, weights: Weights::<HeldTaps<V>>::Binomial, columns });
            }
            Weights::Taps(taps) => {
                out.respond(
                    v,
                    &FloatSums { radius, weights: Weights::Taps(HeldTaps::new(v, taps)), columns },
                );
            }
        }
    }
}

/// The responses of a row, but for those that are rejected.
pub(crate) struct ResponseOutput<'a> {
    pub(crate) measure: Measure,
    pub(crate) threshold: f32,
    /// Responses at most this are rejected.
    pub(crate) reject_below: f32,
    /// Responses of other blocks are rejected.
    pub(crate) active: ActiveBlocks,
    pub(crate) scale: f32,
    pub(crate) responses: &'a mut ResponseRing,
    pub(crate) slot: usize,
    pub(crate) words: WordLayout,
    pub(crate) span: Range<usize>,
}

/// The window's sums of gx² (`of` 0), gx·gy (1) or gy² (2) around the elements from i on.
pub(crate) trait Sums<V: Simd> {
    fn sum(&self, v: V, of: usize, i: usize) -> V::F32;
}

impl ResponseOutput<'_> {
    /// Computes the responses of the columns of `span`, a pair of vectors at a time.
    #[inline(always)]
    pub(crate) fn respond<V: Simd>(self, v: V, sums: &impl Sums<V>) {
        let Self { measure, responses, slot, words, active, span, .. } = self;
        let (scale, limit) = (v.splat_f32(self.scale), v.splat_f32(self.threshold));
        let reject_below = v.splat_f32(self.reject_below);
        for i in vectors(span, 2 * V::LANES) {
            if !active.any::<V>(i) {
                responses.put_none(v, slot, i);
                continue;
            }
            let next = i + V::LANES;
            let [a, a_next] = [v.mul(sums.sum(v, 0, i), scale), v.mul(sums.sum(v, 0, next), scale)];
            let [c, c_next] = [v.mul(sums.sum(v, 2, i), scale), v.mul(sums.sum(v, 2, next), scale)];
            if v.greater(
                v.max(upper_bound(v, measure, a, c), upper_bound(v, measure, a_next, c_next)),
                reject_below,
            ) == 0
            {
                responses.put_none(v, slot, i);
                continue;
            }
            let [b, b_next] = [v.mul(sums.sum(v, 1, i), scale), v.mul(sums.sum(v, 1, next), scale)];
            let [low, high] = [response(v, measure, a, b, c), response(v, measure, a_next, b_next, c_next)];
            responses.put_marked(v, (slot, i), words, [low, high], limit);
        }
    }
}

struct FloatSums<'a, T> {
    radius: usize,
    weights: Weights<T>,
    columns: [&'a FloatRow; 3],
}

impl<V: Simd, T: Taps<V>> Sums<V> for FloatSums<'_, T> {
    #[inline(always)]
    fn sum(&self, v: V, of: usize, i: usize) -> V::F32 {
        let row = OneRow { row: self.columns[of], radius: self.radius };
        line_sum(v, &row, self.radius, &self.weights, i)
    }
}
