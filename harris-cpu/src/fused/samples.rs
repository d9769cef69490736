//! Row kernels on samples: smoothing and gradient, in 16-bit integers.
//!
//! All rows start at the same column, so that p(x + 1) is the next element; kernels work on the whole vectors that
//! cover `span`, and what they write around it means nothing.

use std::ops::Range;

use harris_core::{Gradient, Smoothing};

use crate::simd::Simd;

/// The first step of smoothing: the weighted sum of samples down each column, from the rows of the smoothing's
/// aperture (one for none), for the columns of the slices, into `out` from `start` on.
#[inline(always)]
pub(super) fn down<V: Simd>(v: V, smoothing: Smoothing, rows: &[&[u8]; 5], out: &mut [i16], start: usize) {
    let lanes = 2 * V::LANES;
    let width = rows[0].len();
    // Whole vectors, the last one moved back to end with the row; shorter rows go through a vector's worth of copies.
    if width < lanes {
        let mut copies = [[0; 64]; 5];
        for (copy, row) in copies.iter_mut().zip(rows) {
            copy[..width].copy_from_slice(row);
        }
        let sum = down_vector(v, smoothing, &copies.each_ref().map(|copy| &copy[..]), 0);
        v.store_i16(out, start, sum);
        return;
    }
    let mut i = 0;
    while i + lanes <= width {
        v.store_i16(out, start + i, down_vector(v, smoothing, rows, i));
        i += lanes;
    }
    if i < width {
        let i = width - lanes;
        v.store_i16(out, start + i, down_vector(v, smoothing, rows, i));
    }
}

#[inline(always)]
fn down_vector<V: Simd>(v: V, smoothing: Smoothing, rows: &[&[u8]; 5], i: usize) -> V::I16 {
    match smoothing {
        Smoothing::Binomial3 => {
            binomial3(v, v.load_u8(rows[1], i), v.load_u8(rows[2], i), v.load_u8(rows[3], i))
        }
        Smoothing::Binomial5 => {
            let [p0, p1, p2, p3, p4] = [
                v.load_u8(rows[0], i),
                v.load_u8(rows[1], i),
                v.load_u8(rows[2], i),
                v.load_u8(rows[3], i),
                v.load_u8(rows[4], i),
            ];
            binomial5(v, p0, p1, p2, p3, p4)
        }
        Smoothing::None | Smoothing::Gaussian { .. } => v.load_u8(rows[2], i),
    }
}

/// The second step: the weighted sum across, rounded.
#[inline(always)]
pub(super) fn across<V: Simd>(v: V, smoothing: Smoothing, sums: &[i16], out: &mut [i16], span: Range<usize>) {
    let lanes = 2 * V::LANES;
    match smoothing {
        Smoothing::Binomial3 => {
            let half = v.splat_i16(8);
            for i in vectors(span, lanes) {
                let sum = binomial3(v, v.load_i16(sums, i - 1), v.load_i16(sums, i), v.load_i16(sums, i + 1));
                v.store_i16(out, i, v.shift_right_4(v.add_i16(sum, half)));
            }
        }
        Smoothing::Binomial5 => {
            let half = v.splat_i16(128);
            for i in vectors(span, lanes) {
                let [p0, p1, p2] = [v.load_i16(sums, i - 2), v.load_i16(sums, i - 1), v.load_i16(sums, i)];
                let sum = binomial5(v, p0, p1, p2, v.load_i16(sums, i + 1), v.load_i16(sums, i + 2));
                // Up to 256 · 255 + 128: all 16 bits, unsigned.
                v.store_i16(out, i, v.shift_right_8(v.add_i16(sum, half)));
            }
        }
        Smoothing::None | Smoothing::Gaussian { .. } => {
            for i in vectors(span, lanes) {
                v.store_i16(out, i, v.load_i16(sums, i));
            }
        }
    }
}

#[inline(always)]
fn binomial3<V: Simd>(v: V, before: V::I16, centre: V::I16, after: V::I16) -> V::I16 {
    v.add_i16(v.add_i16(before, after), v.add_i16(centre, centre))
}

#[inline(always)]
fn binomial5<V: Simd>(v: V, p0: V::I16, p1: V::I16, p2: V::I16, p3: V::I16, p4: V::I16) -> V::I16 {
    // 4·(p₁ + p₃) + 6·p₂ = 2·(2·(p₁ + p₃ + p₂) + p₂)
    let inner = v.add_i16(v.add_i16(p1, p3), p2);
    let half = v.add_i16(v.add_i16(inner, inner), p2);
    v.add_i16(v.add_i16(p0, p4), v.add_i16(half, half))
}

/// gx and gy of a row from the three smoothed rows around it; `lines` are rows for what lies between.
#[inline(always)]
pub(super) fn gradient<V: Simd>(
    v: V,
    choice: Gradient,
    [up, here, down]: [&[i16]; 3],
    [sums, differences]: [&mut [i16]; 2],
    [gx, gy]: [&mut [i16]; 2],
    span: Range<usize>,
) {
    let lanes = 2 * V::LANES;
    if choice == Gradient::Central {
        for i in vectors(span, lanes) {
            v.store_i16(gx, i, v.sub_i16(v.load_i16(here, i + 1), v.load_i16(here, i - 1)));
            v.store_i16(gy, i, v.sub_i16(v.load_i16(down, i), v.load_i16(up, i)));
        }
        return;
    }
    // Down the columns first: the sums for gx, the differences for gy.
    let scharr = choice == Gradient::Scharr3;
    for i in vectors(span.start - 1..span.end + 1, lanes) {
        let (u, h, d) = (v.load_i16(up, i), v.load_i16(here, i), v.load_i16(down, i));
        v.store_i16(sums, i, weigh(v, scharr, u, h, d));
        v.store_i16(differences, i, v.sub_i16(d, u));
    }
    for i in vectors(span, lanes) {
        v.store_i16(gx, i, v.sub_i16(v.load_i16(sums, i + 1), v.load_i16(sums, i - 1)));
        let (l, c, r) =
            (v.load_i16(differences, i - 1), v.load_i16(differences, i), v.load_i16(differences, i + 1));
        v.store_i16(gy, i, weigh(v, scharr, l, c, r));
    }
}

/// [1 2 1], or Scharr's [3 10 3].
#[inline(always)]
fn weigh<V: Simd>(v: V, scharr: bool, before: V::I16, centre: V::I16, after: V::I16) -> V::I16 {
    let outer = v.add_i16(before, after);
    let twice = v.add_i16(centre, centre);
    if !scharr {
        return v.add_i16(outer, twice);
    }
    let four = v.add_i16(twice, twice);
    let ten = v.add_i16(v.add_i16(four, four), twice);
    v.add_i16(v.add_i16(v.add_i16(outer, outer), outer), ten)
}

/// Where the whole vectors start that cover `span`.
#[inline(always)]
pub(super) fn vectors(span: Range<usize>, lanes: usize) -> impl Iterator<Item = usize> {
    (span.start / lanes * lanes..span.end).step_by(lanes)
}
