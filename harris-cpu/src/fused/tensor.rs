//! Row kernels on gradients: window sums and response.
//!
//! A sum row has an element for each pair of columns: `pairs` the sum of both columns, `odds` that of the odd one.
//! The even one is their difference.

use std::ops::Range;

use harris_core::Measure;

use super::samples::vectors;
use super::scratch::Rows;
use crate::simd::Simd;

/// Adds the products of the row that enters the window to its sums, and takes off those of the row that leaves it;
/// each row is its gx and gy.
#[inline(always)]
pub(super) fn slide<V: Simd>(
    v: V,
    enters: [&[i16]; 2],
    leaves: [&[i16]; 2],
    pairs: &mut [Rows<i32>; 3],
    odds: &mut [Rows<i32>; 3],
    span: Range<usize>,
) {
    let [aa, bb, cc] = pairs.each_mut().map(|rows| rows.row_mut(0));
    let [ao, bo, co] = odds.each_mut().map(|rows| rows.row_mut(0));
    let none = v.splat_i16(0);
    for i in vectors(span, 2 * V::LANES) {
        let [gx, gy] = [v.load_i16(enters[0], i), v.load_i16(enters[1], i)];
        let [lx, ly] = [v.load_i16(leaves[0], i), v.load_i16(leaves[1], i)];
        let [nx, ny] = [v.sub_i16(none, lx), v.sub_i16(none, ly)];
        let [ox, oy] = [v.odd_lanes(gx), v.odd_lanes(gy)];
        let [mx, my] = [v.odd_lanes(nx), v.odd_lanes(ny)];
        let j = i / 2;
        v.store_i32(aa, j, v.dot_add(v.dot_add(v.load_i32(aa, j), gx, gx), lx, nx));
        v.store_i32(bb, j, v.dot_add(v.dot_add(v.load_i32(bb, j), gx, gy), ly, nx));
        v.store_i32(cc, j, v.dot_add(v.dot_add(v.load_i32(cc, j), gy, gy), ly, ny));
        v.store_i32(ao, j, v.dot_add(v.dot_add(v.load_i32(ao, j), ox, gx), lx, mx));
        v.store_i32(bo, j, v.dot_add(v.dot_add(v.load_i32(bo, j), ox, gy), ly, mx));
        v.store_i32(co, j, v.dot_add(v.dot_add(v.load_i32(co, j), oy, gy), ly, my));
    }
}

/// Sums over the window across, converts, and computes the responses of the columns of `span`.
#[inline(always)]
pub(super) fn respond<V: Simd>(
    v: V,
    measure: Measure,
    radius: usize,
    scale: f32,
    pairs: &[Rows<i32>; 3],
    odds: &[Rows<i32>; 3],
    out: &mut [f32],
    span: Range<usize>,
) {
    match radius {
        1 => respond_within::<V, 1>(v, measure, scale, pairs, odds, out, span),
        2 => respond_within::<V, 2>(v, measure, scale, pairs, odds, out, span),
        _ => respond_within::<V, 3>(v, measure, scale, pairs, odds, out, span),
    }
}

#[inline(always)]
fn respond_within<V: Simd, const R: usize>(
    v: V,
    measure: Measure,
    scale: f32,
    pairs: &[Rows<i32>; 3],
    odds: &[Rows<i32>; 3],
    out: &mut [f32],
    span: Range<usize>,
) {
    match measure {
        Measure::Harris { k } => {
            let harris = Harris { k: v.splat_f32(k) };
            respond_by::<V, Harris<V>, R>(v, harris, scale, pairs, odds, out, span);
        }
        Measure::ShiTomasi => {
            let shi_tomasi = ShiTomasi { half: v.splat_f32(0.5) };
            respond_by::<V, ShiTomasi<V>, R>(v, shi_tomasi, scale, pairs, odds, out, span);
        }
        Measure::Noble { eps } => {
            let noble = Noble { two: v.splat_f32(2.0), eps: v.splat_f32(eps) };
            respond_by::<V, Noble<V>, R>(v, noble, scale, pairs, odds, out, span);
        }
    }
}

/// A measure of the tensor [a b; b c], one operation each in the order of the contract.
trait Formula<V: Simd> {
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32;
}

struct Harris<V: Simd> {
    k: V::F32,
}

impl<V: Simd> Formula<V> for Harris<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let trace = v.add(a, c);
        let det = v.sub(v.mul(a, c), v.mul(b, b));
        v.sub(det, v.mul(v.mul(self.k, trace), trace))
    }
}

struct ShiTomasi<V: Simd> {
    half: V::F32,
}

impl<V: Simd> Formula<V> for ShiTomasi<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let mean = v.mul(v.add(a, c), self.half);
        let d = v.mul(v.sub(a, c), self.half);
        v.sub(mean, v.sqrt(v.add(v.mul(d, d), v.mul(b, b))))
    }
}

struct Noble<V: Simd> {
    two: V::F32,
    eps: V::F32,
}

impl<V: Simd> Formula<V> for Noble<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let trace = v.add(a, c);
        let det = v.sub(v.mul(a, c), v.mul(b, b));
        v.div(v.mul(self.two, det), v.add(trace, self.eps))
    }
}

#[inline(always)]
fn respond_by<V: Simd, F: Formula<V>, const R: usize>(
    v: V,
    formula: F,
    scale: f32,
    pairs: &[Rows<i32>; 3],
    odds: &[Rows<i32>; 3],
    out: &mut [f32],
    span: Range<usize>,
) {
    let scale = v.splat_f32(scale);
    let [aa, bb, cc] = pairs.each_ref().map(|rows| rows.row(0));
    let [ao, bo, co] = odds.each_ref().map(|rows| rows.row(0));
    for i in vectors(span, 2 * V::LANES) {
        let a = across::<V, R>(v, aa, ao, i / 2, scale);
        let b = across::<V, R>(v, bb, bo, i / 2, scale);
        let c = across::<V, R>(v, cc, co, i / 2, scale);
        let even = formula.response(v, a[0], b[0], c[0]);
        let odd = formula.response(v, a[1], b[1], c[1]);
        let [low, high] = v.interleave(even, odd);
        v.store_f32(out, i, low);
        v.store_f32(out, i + V::LANES, high);
    }
}

/// The scaled sums over 2·R + 1 columns about the even and about the odd columns of the pairs from j on.
#[inline(always)]
fn across<V: Simd, const R: usize>(
    v: V,
    pairs: &[i32],
    odds: &[i32],
    j: usize,
    scale: V::F32,
) -> [V::F32; 2] {
    let centre = v.load_i32(pairs, j);
    let [even, odd] = match R {
        1 => {
            let next = v.sub_i32(v.load_i32(pairs, j + 1), v.load_i32(odds, j + 1));
            [v.add_i32(centre, v.load_i32(odds, j - 1)), v.add_i32(centre, next)]
        }
        2 => {
            let after = v.load_i32(pairs, j + 1);
            let next = v.sub_i32(after, v.load_i32(odds, j + 1));
            let before = v.add_i32(v.load_i32(pairs, j - 1), centre);
            [v.add_i32(before, next), v.add_i32(v.add_i32(v.load_i32(odds, j - 1), centre), after)]
        }
        _ => {
            let three = v.add_i32(v.add_i32(v.load_i32(pairs, j - 1), centre), v.load_i32(pairs, j + 1));
            let next = v.sub_i32(v.load_i32(pairs, j + 2), v.load_i32(odds, j + 2));
            [v.add_i32(three, v.load_i32(odds, j - 2)), v.add_i32(three, next)]
        }
    };
    [v.mul(v.to_f32(even), scale), v.mul(v.to_f32(odd), scale)]
}
