//! Sub-pixel corners where edges meet ([`harris_core::Subpixel::Forstner`]), by vectors.

use std::ops::Range;

use harris_core::config::FORSTNER_RADII;
use harris_core::pipeline::subpixel::{Around, place};
use harris_core::{Keypoint, Raster};

use crate::simd::{Simd, SimdKernel, WithSimd};
use crate::sweep::sample::SweepSample;

/// Pixels of a neighbourhood along an axis.
const SIDE: usize = 2 * *FORSTNER_RADII.end() as usize + 1;
/// Elements of a row of products: whole vectors.
const ROW: usize = 32;
/// Elements of a row of samples: those of products, a neighbour to each side, and what the last
/// vector reads beyond.
const SAMPLES: usize = 48;
const _: () = assert!(SIDE <= ROW && ROW + 2 <= SAMPLES);

/// Offsets from the first column.
static OFFSETS: [f32; ROW] = {
    let mut offsets = [0.0; ROW];
    let mut i = 0;
    while i < ROW {
        offsets[i] = i as f32;
        i += 1;
    }
    offsets
};

/// Refines corners to sub-pixel places.
pub(crate) struct Refine<'a, T> {
    pub(crate) corners: &'a mut [Keypoint],
    pub(crate) image: Raster<'a, T>,
    pub(crate) radius: u32,
}

impl<T: SweepSample> WithSimd for Refine<'_, T> {
    type Output = ();

    fn with<V: Simd>(self, v: V) {
        let Self { corners, image, radius } = self;
        let mut patch = Patch::new();
        for corner in corners {
            let at = [corner.x as isize, corner.y as isize];
            patch.columns = 0..0;
            place(corner, (image.width(), image.height()), radius, |around| {
                v.enter(Sums { image, at, around, patch: &mut patch })
            });
        }
    }
}

/// The products of gradients around a corner.
struct Patch {
    /// The offsets of its pixels.
    columns: Range<isize>,
    rows: Range<isize>,
    /// gx², gx·gy and gy², summed over the channels.
    products: [[[f32; ROW]; SIDE]; 3],
    /// Samples of a channel, from one row above and one column before on.
    samples: [[f32; SAMPLES]; SIDE + 2],
}

impl Patch {
    fn new() -> Self {
        Self {
            columns: 0..0,
            rows: 0..0,
            products: [[[0.0; ROW]; SIDE]; 3],
            samples: [[0.0; SAMPLES]; SIDE + 2],
        }
    }
}

/// A, B, C, M and N: terms by vectors, added one after the other in the order of
/// docs/arithmetic.md.
struct Sums<'a, T> {
    image: Raster<'a, T>,
    at: [isize; 2],
    around: Around,
    patch: &'a mut Patch,
}

impl<T: SweepSample> SimdKernel for Sums<'_, T> {
    type Output = [f32; 5];

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> [f32; 5] {
        let Self { image, at, around: Around { place: [ex, ey], per_square, columns, rows }, patch } = self;
        // Most rounds have the neighbourhood of the one before.
        if (&columns, &rows) != (&patch.columns, &patch.rows) {
            (patch.columns, patch.rows) = (columns.clone(), rows.clone());
            match image.channels() {
                1 => patch.fill::<V, T, 1>(v, image, at),
                _ => patch.fill::<V, T, 3>(v, image, at),
            }
        }
        let column_count = columns.len();
        let (first, ex, per_square) =
            (v.splat_f32(columns.start as f32), v.splat_f32(ex), v.splat_f32(per_square));
        let (zero, one) = (v.splat_f32(0.0), v.splat_f32(1.0));
        let (mut terms, mut last) = ([[0.0; 4]; ROW], [0.0; ROW]);
        let (mut sums, mut n) = ([0.0; 4], 0.0);
        for (row, j) in rows.enumerate() {
            let down = v.splat_f32(j as f32 - ey);
            let [xx, xy, yy] = &patch.products;
            let (xx, xy, yy) = (&xx[row], &xy[row], &yy[row]);
            for i in (0..column_count).step_by(V::LANES) {
                let across = v.sub(v.add(first, v.load_f32(&OFFSETS, i)), ex);
                let square = v.mul(v.add(v.mul(across, across), v.mul(down, down)), per_square);
                // Terms with a weight of 0 change no sum.
                let inside = v.max(v.sub(one, square), zero);
                let weight = v.mul(v.mul(inside, inside), square);
                let p = v.mul(weight, v.load_f32(xx, i));
                let q = v.mul(weight, v.load_f32(xy, i));
                let s = v.mul(weight, v.load_f32(yy, i));
                let m = v.add(v.mul(p, across), v.mul(q, down));
                // Terms of a pixel lie side by side, so that they are added at once.
                let ([ps, next_ps], [qm, next_qm]) = (v.interleave(p, s), v.interleave(q, m));
                let (pairs, next_pairs) = (v.interleave(ps, qm), v.interleave(next_ps, next_qm));
                for (part, pair) in [pairs[0], pairs[1], next_pairs[0], next_pairs[1]].into_iter().enumerate()
                {
                    v.store_f32(terms.as_flattened_mut(), 4 * i + part * V::LANES, pair);
                }
                v.store_f32(&mut last, i, v.add(v.mul(q, across), v.mul(s, down)));
            }
            for (terms, last) in terms.iter().zip(&last).take(column_count) {
                for (sum, term) in sums.iter_mut().zip(terms) {
                    *sum += term;
                }
                n += last;
            }
        }
        let [a, b, c, m] = sums;
        [a, b, c, m, n]
    }
}

impl Patch {
    /// Computes the products of a neighbourhood.
    #[inline(always)]
    fn fill<V: Simd, T: SweepSample, const C: usize>(
        &mut self,
        v: V,
        image: Raster<'_, T>,
        [x, y]: [isize; 2],
    ) {
        let (column_count, rows) = (self.columns.len(), self.rows.len());
        if column_count == 0 || rows == 0 {
            return;
        }
        let (left, top) = ((x + self.columns.start - 1) as usize, (y + self.rows.start - 1) as usize);
        for channel in 0..C {
            for (row, out) in self.samples[..rows + 2].iter_mut().enumerate() {
                let pixels = &image.row(top + row).as_chunks::<C>().0[left..left + column_count + 2];
                out.iter_mut().zip(pixels).for_each(|(out, pixel)| *out = pixel[channel].float());
            }
            for row in 0..rows {
                let (up, here, down) = (&self.samples[row], &self.samples[row + 1], &self.samples[row + 2]);
                for i in (0..column_count).step_by(V::LANES) {
                    let outer = v.add(difference(v, up, i), difference(v, down, i));
                    let x = weigh(v, outer, difference(v, here, i));
                    let y = v.sub(weighted(v, down, i), weighted(v, up, i));
                    let [xx, xy, yy] = &mut self.products;
                    add(v, &mut xx[row], i, v.mul(x, x), channel > 0);
                    add(v, &mut xy[row], i, v.mul(x, y), channel > 0);
                    add(v, &mut yy[row], i, v.mul(y, y), channel > 0);
                }
            }
        }
    }
}

/// Adds to the sums from element i on; without `some`, the sums are 0.
#[inline(always)]
fn add<V: Simd>(v: V, sums: &mut [f32; ROW], i: usize, product: V::F32, some: bool) {
    let sum = if some { v.load_f32(sums, i) } else { v.splat_f32(0.0) };
    v.store_f32(sums, i, v.add(sum, product));
}

/// The right neighbour less the left one, of element i + 1 and those behind it.
#[inline(always)]
fn difference<V: Simd>(v: V, row: &[f32; SAMPLES], i: usize) -> V::F32 {
    v.sub(v.load_f32(row, i + 2), v.load_f32(row, i))
}

/// 3 · neighbours + 10 · element, of element i + 1 and those behind it.
#[inline(always)]
fn weighted<V: Simd>(v: V, row: &[f32; SAMPLES], i: usize) -> V::F32 {
    weigh(v, v.add(v.load_f32(row, i), v.load_f32(row, i + 2)), v.load_f32(row, i + 1))
}

/// 3 · pair + 10 · centre
#[inline(always)]
fn weigh<V: Simd>(v: V, pair: V::F32, centre: V::F32) -> V::F32 {
    v.add(v.mul(v.splat_f32(3.0), pair), v.mul(v.splat_f32(10.0), centre))
}
