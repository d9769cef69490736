//! Row kernels on 32-bit floats: every sample type and window.
//!
//! Samples and gradients of integer images are integers below 2²⁴ here, so that floats hold them exactly; the sums of
//! their products are 64-bit floats ([`super::wide`]). Float images take the operations in the order of the contract
//! (docs/arithmetic.md), which all of these kernels keep: their smoothing goes across first, their windows down.

use std::ops::Range;

use harris_core::{Gradient, Measure, Smoothing};

use super::FusedSample;
use super::responses::{Responses, Words};
use super::samples::vectors;
use super::scratch::{FloatRow, FloatRows, IntegerRow};
use super::tensor::{Formula, Harris, Noble, ShiTomasi};
use crate::simd::{Simd, Work};

/// Vectors that are summed together.
const TOGETHER: usize = 4;

/// A channel of a row of samples as floats.
pub(super) struct Take<'a, T> {
    /// From the first pixel that is taken.
    pub(super) samples: &'a [T],
    pub(super) channel: usize,
    pub(super) channels: usize,
    pub(super) out: &'a mut [f32],
}

impl<T: FusedSample> Work for Take<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, _: V) {
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
    fn of<const C: usize, const I: usize>(self) {
        for (out, pixel) in self.out.iter_mut().zip(self.samples.as_chunks::<C>().0) {
            *out = pixel[I].float();
        }
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
                v.add(near, v.add(centre, centre))
            };
            v.store_f32(out, i, sum);
        }
    }
}

/// (pairs two away) + 4 · (neighbours) + 6 · centre
#[inline(always)]
fn binomial5<V: Simd>(v: V, far: V::F32, near: V::F32, centre: V::F32) -> V::F32 {
    let outer = v.add(far, v.mul(v.splat_f32(4.0), near));
    v.add(outer, v.mul(v.splat_f32(6.0), centre))
}

/// The binomial sum down, and its division: integers round to nearest, halves up.
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
                v.add(near, v.add(centre, centre))
            };
            let mean =
                if exact { v.to_f32(v.to_i32(v.mul(v.add(sum, half), part))) } else { v.mul(sum, part) };
            v.store_f32(out, i, mean);
        }
    }
}

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
fn weigh<V: Simd>(v: V, gradient: Gradient, pair: V::F32, centre: V::F32) -> V::F32 {
    match gradient {
        Gradient::Central => centre,
        Gradient::Scharr3 => v.add(v.mul(v.splat_f32(3.0), pair), v.mul(v.splat_f32(10.0), centre)),
        Gradient::Sobel3 | Gradient::Box { .. } | Gradient::GaussianDerivative { .. } => {
            v.add(pair, v.add(centre, centre))
        }
    }
}

/// gx and gy of a row.
pub(super) struct Differentiate<'a> {
    pub(super) gradient: Gradient,
    /// Of the rows above, at and below.
    pub(super) differences: [&'a FloatRow; 3],
    /// Of the rows above and below.
    pub(super) sums: [&'a FloatRow; 2],
    pub(super) gx: &'a mut FloatRow,
    pub(super) gy: &'a mut FloatRow,
    pub(super) span: Range<usize>,
}

impl Work for Differentiate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { gradient, differences: [up, here, down], sums: [above, below], gx, gy, span } = self;
        for i in vectors(span, V::LANES) {
            let pair = v.add(v.load_f32(up, i), v.load_f32(down, i));
            v.store_f32(gx, i, weigh(v, gradient, pair, v.load_f32(here, i)));
            v.store_f32(gy, i, v.sub(v.load_f32(below, i), v.load_f32(above, i)));
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
    pub(super) gx: &'a mut FloatRow,
    pub(super) gy: &'a mut FloatRow,
    pub(super) span: Range<usize>,
}

impl Work for Boxes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { half: h, running: [columns, differences], gx, gy, span } = self;
        for i in vectors(span, V::LANES) {
            let after = v.sub_i32(v.load_i32(columns, i + h), v.load_i32(columns, i));
            let before = v.sub_i32(v.load_i32(columns, i - 1), v.load_i32(columns, i - 1 - h));
            let lower = v.sub_i32(v.load_i32(differences, i + h), v.load_i32(differences, i - 1 - h));
            v.store_f32(gx, i, v.to_f32(v.sub_i32(after, before)));
            v.store_f32(gy, i, v.to_f32(lower));
        }
    }
}

/// gx², gx·gy and gy² of a channel, as floats.
pub(super) struct Multiply<'a> {
    pub(super) gx: &'a FloatRow,
    pub(super) gy: &'a FloatRow,
    /// Whether to add to what stands in `products`.
    pub(super) adds: bool,
    pub(super) products: [&'a mut FloatRow; 3],
    pub(super) span: Range<usize>,
}

impl Work for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { gx, gy, adds, products: [a, b, c], span } = self;
        for i in vectors(span, V::LANES) {
            let [x, y] = [v.load_f32(gx, i), v.load_f32(gy, i)];
            let [mut xx, mut xy, mut yy] = [v.mul(x, x), v.mul(x, y), v.mul(y, y)];
            if adds {
                xx = v.add(v.load_f32(a, i), xx);
                xy = v.add(v.load_f32(b, i), xy);
                yy = v.add(v.load_f32(c, i), yy);
            }
            v.store_f32(a, i, xx);
            v.store_f32(b, i, xy);
            v.store_f32(c, i, yy);
        }
    }
}

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

trait Taps<V: Simd> {
    fn tap(&self, v: V, place: usize) -> V::F32;
}

/// The most taps that are kept in registers, those of a radius of 4.
const MOST_HELD: usize = 9;

/// Taps in registers.
#[derive(Clone, Copy)]
struct Held<V: Simd>([V::F32; MOST_HELD]);

impl<V: Simd> Held<V> {
    #[inline(always)]
    fn new(v: V, taps: &[f32]) -> Self {
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
trait Line<V: Simd> {
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

struct OneRow<'a> {
    row: &'a FloatRow,
    radius: usize,
}

impl<V: Simd> Line<V> for OneRow<'_> {
    #[inline(always)]
    fn at(&self, v: V, place: usize, i: usize) -> V::F32 {
        v.load_f32(self.row, i + place - self.radius)
    }
}

/// The weighted sum of 2r + 1 places, in the order of the contract.
#[inline(always)]
fn line_sum<V: Simd, T: Taps<V>>(
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
    pub(super) span: Range<usize>,
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
            for i in vectors(self.span.clone(), V::LANES) {
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

    #[inline(always)]
    fn any<V: Simd>(self, v: V, weight: impl Fn(usize) -> f32) {
        const TOGETHER: usize = 2;
        let size = self.slots.len() + 1 - DOWN;
        for (ring, out) in self.products.iter().zip(self.out) {
            for i in vectors(self.span.clone(), TOGETHER * V::LANES) {
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
    /// Responses that do not exceed this need not be computed.
    pub(super) quiet: f32,
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
        let Self { measure, responses, slot, words, span, .. } = self;
        let (scale, limit) = (v.splat_f32(self.scale), v.splat_f32(self.threshold));
        let quiet = v.splat_f32(self.quiet);
        for i in vectors(span, 2 * V::LANES) {
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
fn response<V: Simd>(v: V, measure: Measure, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
    match measure {
        Measure::Harris { k } => Harris { k: v.splat_f32(k) }.response(v, a, b, c),
        Measure::ShiTomasi => ShiTomasi { half: v.splat_f32(0.5) }.response(v, a, b, c),
        Measure::Noble { eps } => Noble { two: v.splat_f32(2.0), eps: v.splat_f32(eps) }.response(v, a, b, c),
    }
}

/// What the response does not exceed, whatever b is and however small the numbers are: its operations without b, which round to no
/// less for no more.
#[inline(always)]
fn bound<V: Simd>(v: V, measure: Measure, a: V::F32, c: V::F32) -> V::F32 {
    match measure {
        Measure::Harris { .. } => v.mul(a, c),
        Measure::ShiTomasi => v.mul(v.add(a, c), v.splat_f32(0.5)),
        Measure::Noble { eps } => {
            v.div(v.mul(v.splat_f32(2.0), v.mul(a, c)), v.add(v.add(a, c), v.splat_f32(eps)))
        }
    }
}
