//! Row kernels on 32-bit floats: every sample type and window.
//!
//! Samples and gradients of integer images are integers below 2²⁴ here, so that floats hold them exactly; the sums of
//! their products are 64-bit floats ([`super::wide`]). Float images take the operations in the order of the contract
//! (docs/arithmetic.md), which all of these kernels keep: their smoothing goes across first, their windows down.

use std::ops::Range;

use harris_core::{Gradient, Measure, Smoothing};

use super::FusedSample;
use super::loud::{Heard, Loud};
use super::responses::{Responses, Words};
use super::samples::vectors;
use super::scratch::{FloatRow, IntegerRow};
use super::tensor::{Formula, Harris, Noble, ShiTomasi};
use super::weighted::{Held, OneRow, Taps, Weights, line_sum};
use crate::simd::{Simd, Work};

/// A channel of a row of samples as floats; tells whether all are valid.
pub(super) struct Take<'a, T> {
    /// From the first pixel that is taken.
    pub(super) samples: &'a [T],
    pub(super) channel: usize,
    pub(super) channels: usize,
    pub(super) out: &'a mut [f32],
}

impl<T: FusedSample> Work for Take<'_, T> {
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

impl<T: FusedSample> Take<'_, T> {
    /// Of `C` channels, channel `I`.
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

/// The binomial sum across, not divided.
pub(super) struct Across<'a> {
    pub(super) smoothing: Smoothing,
    pub(super) row: &'a FloatRow,
    pub(super) out: &'a mut FloatRow,
    pub(super) span: Range<usize>,
}

impl Work for Across<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { smoothing, row, out, span } = self;
        for i in vectors(span, V::LANES) {
            let near = v.add(v.load_f32(row, i - 1), v.load_f32(row, i + 1));
            let centre = v.load_f32(row, i);
            let sum = if matches!(smoothing, Smoothing::Binomial5) {
                binomial5(v, v.add(v.load_f32(row, i - 2), v.load_f32(row, i + 2)), near, centre)
            } else {
                v.add_twice(near, centre)
            };
            v.store_f32(out, i, sum);
        }
    }
}

/// (pairs two away) + 4 · (neighbours) + 6 · centre
#[inline(always)]
pub(super) fn binomial5<V: Simd>(v: V, far: V::F32, near: V::F32, centre: V::F32) -> V::F32 {
    let outer = v.add(far, v.mul(v.splat_f32(4.0), near));
    v.add(outer, v.mul(v.splat_f32(6.0), centre))
}

/// The binomial sum down, and its division where it is not to stay: integers round to nearest, halves up.
pub(super) struct Down<'a> {
    pub(super) smoothing: Smoothing,
    pub(super) exact: bool,
    /// Sums across of the rows y − 2 to y + 2, of which the smoothing uses those of its aperture.
    pub(super) rows: [&'a FloatRow; 5],
    pub(super) out: &'a mut FloatRow,
    pub(super) span: Range<usize>,
}

impl Work for Down<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { smoothing, exact, rows, out, span } = self;
        let is_wide = matches!(smoothing, Smoothing::Binomial5);
        let (half, part) = if is_wide { (128.0, 1.0 / 256.0) } else { (8.0, 1.0 / 16.0) };
        let (half, part) = (v.splat_f32(half), v.splat_f32(part));
        for i in vectors(span, V::LANES) {
            let near = v.add(v.load_f32(rows[1], i), v.load_f32(rows[3], i));
            let centre = v.load_f32(rows[2], i);
            let sum = if is_wide {
                binomial5(v, v.add(v.load_f32(rows[0], i), v.load_f32(rows[4], i)), near, centre)
            } else {
                v.add_twice(near, centre)
            };
            let mean = if matches!(smoothing, Smoothing::Binomial3Exact) {
                sum
            } else if exact {
                v.to_f32(v.to_i32(v.mul(v.add(sum, half), part)))
            } else {
                v.mul(sum, part)
            };
            v.store_f32(out, i, mean);
        }
    }
}

/// What the gradient makes of a smoothed row: differences across for gx, weighted sums across for gy.
pub(super) struct Slopes<'a> {
    pub(super) gradient: Gradient,
    pub(super) smoothed: &'a FloatRow,
    pub(super) differences: &'a mut FloatRow,
    pub(super) sums: &'a mut FloatRow,
    pub(super) span: Range<usize>,
}

impl Work for Slopes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { gradient, smoothed, differences, sums, span } = self;
        for i in vectors(span, V::LANES) {
            let [left, right] = [v.load_f32(smoothed, i - 1), v.load_f32(smoothed, i + 1)];
            let centre = v.load_f32(smoothed, i);
            v.store_f32(differences, i, v.sub(right, left));
            v.store_f32(sums, i, weigh(v, gradient, v.add(left, right), centre));
        }
    }
}

/// w₁ · pair + w₀ · centre; of central differences, the centre.
#[inline(always)]
pub(super) fn weigh<V: Simd>(v: V, gradient: Gradient, pair: V::F32, centre: V::F32) -> V::F32 {
    // Questions one by one: the compiler makes a jump through a table of a match of them all.
    if matches!(gradient, Gradient::Central) {
        centre
    } else if matches!(gradient, Gradient::Box { .. }) {
        // Of integers, as for others the order is another.
        v.add(pair, centre)
    } else if matches!(gradient, Gradient::Scharr3) {
        v.add(v.mul(v.splat_f32(3.0), pair), v.mul(v.splat_f32(10.0), centre))
    } else {
        v.add_twice(pair, centre)
    }
}

/// Where gx and gy of a row go.
pub(super) trait Gradients {
    /// Takes those from element `i` on.
    fn put<V: Simd>(&mut self, v: V, i: usize, gx: V::F32, gy: V::F32);
}

/// Where it is told which of them have a gx² + gy² above a limit.
pub(super) struct Hear<'a> {
    pub(super) limit: f32,
    /// Whether to add to what stands in `heard`, of other channels.
    pub(super) adds: bool,
    pub(super) heard: &'a mut Heard,
}

impl Hear<'_> {
    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, i: usize, [xx, yy]: [V::F32; 2]) {
        let heard = v.greater(v.add(xx, yy), v.splat_f32(self.limit));
        self.heard.put(i, V::LANES, heard, self.adds);
    }
}

/// As they are.
pub(super) struct Kept<'a> {
    pub(super) gx: &'a mut FloatRow,
    pub(super) gy: &'a mut FloatRow,
    pub(super) hear: Option<Hear<'a>>,
}

impl Gradients for Kept<'_> {
    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, i: usize, gx: V::F32, gy: V::F32) {
        v.store_f32(self.gx, i, gx);
        v.store_f32(self.gy, i, gy);
        if let Some(hear) = &mut self.hear {
            hear.put(v, i, [v.mul(gx, gx), v.mul(gy, gy)]);
        }
    }
}

/// As gx², gx·gy and gy².
pub(super) struct Products<'a> {
    /// Whether to add to what stands in `rows`, of other channels.
    pub(super) adds: bool,
    pub(super) rows: [&'a mut FloatRow; 3],
    pub(super) hear: Option<Hear<'a>>,
}

impl Gradients for Products<'_> {
    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, i: usize, gx: V::F32, gy: V::F32) {
        let products = [v.mul(gx, gx), v.mul(gx, gy), v.mul(gy, gy)];
        if let Some(hear) = &mut self.hear {
            hear.put(v, i, [products[0], products[2]]);
        }
        for (row, product) in self.rows.iter_mut().zip(products) {
            let row: &mut FloatRow = row;
            let sum = if self.adds { v.add(v.load_f32(row, i), product) } else { product };
            v.store_f32(row, i, sum);
        }
    }
}

/// gx and gy of a row.
pub(super) struct Differentiate<'a, G> {
    pub(super) gradient: Gradient,
    /// Of the rows above, at and below.
    pub(super) differences: [&'a FloatRow; 3],
    /// Of the rows above and below.
    pub(super) sums: [&'a FloatRow; 2],
    pub(super) out: G,
    pub(super) span: Range<usize>,
}

impl<G: Gradients> Work for Differentiate<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { gradient, differences: [up, here, down], sums: [above, below], mut out, span } = self;
        for i in vectors(span, V::LANES) {
            let pair = v.add(v.load_f32(up, i), v.load_f32(down, i));
            let gx = weigh(v, gradient, pair, v.load_f32(here, i));
            out.put(v, i, gx, v.sub(v.load_f32(below, i), v.load_f32(above, i)));
        }
    }
}

/// A row of whole numbers as integers.
pub(super) struct Whole<'a> {
    pub(super) row: &'a FloatRow,
    pub(super) out: &'a mut IntegerRow,
    pub(super) span: Range<usize>,
}

impl Work for Whole<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        for i in vectors(self.span, V::LANES) {
            v.store_i32(self.out, i, v.to_i32(v.load_f32(self.row, i)));
        }
    }
}

/// Brings the box gradient's sums down the columns to the next row, and their running sums across.
///
/// `columns` are sums of 2h + 1 rows, `differences` the h rows below the row less the h above it.
pub(super) struct SlideBoxes<'a> {
    /// The rows y + h, y, y − 1, y − 1 − h.
    pub(super) rows: [&'a IntegerRow; 4],
    pub(super) columns: &'a mut IntegerRow,
    pub(super) differences: &'a mut IntegerRow,
    pub(super) running: [&'a mut IntegerRow; 2],
    pub(super) span: Range<usize>,
}

impl Work for SlideBoxes<'_> {
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
            running_column = v.run_on_i32(running_column, column);
            running_difference = v.run_on_i32(running_difference, difference);
            v.store_i32(rc, i, running_column);
            v.store_i32(rd, i, running_difference);
        }
    }
}

/// gx and gy of boxes, from running sums.
pub(super) struct Boxes<'a> {
    pub(super) half: usize,
    pub(super) running: [&'a IntegerRow; 2],
    pub(super) out: Kept<'a>,
    pub(super) span: Range<usize>,
}

impl Work for Boxes<'_> {
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

/// The products of gradients that stand in rows.
pub(super) struct Multiply<'a> {
    pub(super) gx: &'a FloatRow,
    pub(super) gy: &'a FloatRow,
    pub(super) out: Products<'a>,
    pub(super) span: Range<usize>,
}

impl Work for Multiply<'_> {
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
pub(super) struct Respond<'a> {
    pub(super) weights: Weights<&'a [f32]>,
    pub(super) radius: usize,
    /// Sums down the columns.
    pub(super) columns: [&'a FloatRow; 3],
    pub(super) out: Output<'a>,
}

impl Work for Respond<'_> {
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
    /// For radii whose taps are held.
    #[inline(always)]
    fn sized<V: Simd>(self, v: V, radius: usize) {
        let Self { weights, columns, out, .. } = self;
        match weights {
            Weights::Box => out.respond(v, &FloatSums { radius, weights: Weights::<Held<V>>::Box, columns }),
            Weights::Binomial => {
                out.respond(v, &FloatSums { radius, weights: Weights::<Held<V>>::Binomial, columns });
            }
            Weights::Taps(taps) => {
                out.respond(v, &FloatSums { radius, weights: Weights::Taps(Held::new(v, taps)), columns });
            }
        }
    }
}

/// Where responses go.
pub(super) struct Output<'a> {
    pub(super) measure: Measure,
    pub(super) threshold: f32,
    /// Responses that do not exceed this need not be computed, nor any where nothing is loud.
    pub(super) quiet: f32,
    pub(super) loud: Loud,
    pub(super) scale: f32,
    pub(super) responses: &'a mut Responses,
    pub(super) slot: usize,
    pub(super) words: Words,
    pub(super) span: Range<usize>,
}

/// The window's sums of gx², gx·gy or gy² about the elements from i on.
pub(super) trait Sums<V: Simd> {
    fn sum(&self, v: V, of: usize, i: usize) -> V::F32;
}

impl Output<'_> {
    /// Computes the responses of the columns of `span`; those of vectors that are all quiet are nothing.
    #[inline(always)]
    pub(super) fn respond<V: Simd>(self, v: V, sums: &impl Sums<V>) {
        let Self { measure, responses, slot, words, loud, span, .. } = self;
        let (scale, limit) = (v.splat_f32(self.scale), v.splat_f32(self.threshold));
        let quiet = v.splat_f32(self.quiet);
        for i in vectors(span, 2 * V::LANES) {
            if !loud.any::<V>(i) {
                responses.leave(v, slot, i);
                continue;
            }
            let next = i + V::LANES;
            let [a, a_next] = [v.mul(sums.sum(v, 0, i), scale), v.mul(sums.sum(v, 0, next), scale)];
            let [c, c_next] = [v.mul(sums.sum(v, 2, i), scale), v.mul(sums.sum(v, 2, next), scale)];
            if v.greater(v.max(bound(v, measure, a, c), bound(v, measure, a_next, c_next)), quiet) == 0 {
                responses.leave(v, slot, i);
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

#[inline(always)]
pub(super) fn response<V: Simd>(v: V, measure: Measure, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
    match measure {
        Measure::Harris { k } => Harris { k: v.splat_f32(k) }.response(v, a, b, c),
        Measure::ShiTomasi => ShiTomasi { half: v.splat_f32(0.5) }.response(v, a, b, c),
        Measure::Noble { eps } => Noble { two: v.splat_f32(2.0), eps: v.splat_f32(eps) }.response(v, a, b, c),
    }
}

/// What the response does not exceed, whatever b is and however small the numbers are: its operations without b, which round to no
/// less for no more.
#[inline(always)]
pub(super) fn bound<V: Simd>(v: V, measure: Measure, a: V::F32, c: V::F32) -> V::F32 {
    match measure {
        Measure::Harris { .. } => v.mul(a, c),
        Measure::ShiTomasi => v.mul(v.add(a, c), v.splat_f32(0.5)),
        Measure::Noble { eps } => {
            v.div(v.mul(v.splat_f32(2.0), v.mul(a, c)), v.add(v.add(a, c), v.splat_f32(eps)))
        }
    }
}
