//! Arithmetic on vectors of 16-bit integers that tiles and rows share.

use crate::plan::MAX_PAIRWISE_RADIUS;
use crate::simd::Simd;
use crate::sweep::stage_kinds::ThreeTaps;

/// The most rows of a binomial window.
const MAX_ROWS: usize = 2 * MAX_PAIRWISE_RADIUS + 1;

/// The weights along a line: `1 2 1` of Sobel, `3 10 3` of Scharr, `1 1 1` of a box, `1`
/// of central differences.
#[inline(always)]
pub(crate) fn weigh<V: Simd>(
    v: V,
    gradient: ThreeTaps,
    before: V::I16,
    centre: V::I16,
    after: V::I16,
) -> V::I16 {
    let outer = v.add_i16(before, after);
    let twice = v.add_i16(centre, centre);
    match gradient {
        ThreeTaps::Sobel => v.add_i16(outer, twice),
        ThreeTaps::Scharr => {
            let four = v.add_i16(twice, twice);
            let ten = v.add_i16(v.add_i16(four, four), twice);
            v.add_i16(v.add_i16(v.add_i16(outer, outer), outer), ten)
        }
        ThreeTaps::Box => v.add_i16(outer, centre),
        ThreeTaps::Central => centre,
    }
}

/// Adds the products of gradients and weighted gradients to sums of pairs and of odd columns.
#[inline(always)]
pub(crate) fn add_products<V: Simd>(
    v: V,
    [x, y]: [V::I16; 2],
    [wx, wy]: [V::I16; 2],
    pair_sums: &mut [V::I32; 3],
    odd_sums: &mut [V::I32; 3],
) {
    let [ox, oy] = [v.odd_lanes(wx), v.odd_lanes(wy)];
    pair_sums[0] = v.dot_add(pair_sums[0], x, wx);
    pair_sums[1] = v.dot_add(pair_sums[1], y, wx);
    pair_sums[2] = v.dot_add(pair_sums[2], y, wy);
    odd_sums[0] = v.dot_add(odd_sums[0], x, ox);
    odd_sums[1] = v.dot_add(odd_sums[1], y, ox);
    odd_sums[2] = v.dot_add(odd_sums[2], y, oy);
}

/// A gradient times the weight of a row of a binomial window of S rows.
///
/// 16 bits hold it where 32 hold the window's sums: the gradient times the weights of all rows is
/// then below 2¹⁵·⁵, and no row has more than half of the weights.
#[inline(always)]
pub(crate) fn weighted<V: Simd, const S: usize>(v: V, gradient: V::I16, row: usize) -> V::I16 {
    let weights: [i16; MAX_ROWS] = match S {
        3 => [1, 2, 1, 0, 0, 0, 0],
        5 => [1, 4, 6, 4, 1, 0, 0],
        _ => [1, 6, 15, 20, 15, 6, 1],
    };
    match weights[row] {
        1 => gradient,
        2 => v.add_i16(gradient, gradient),
        weight => v.mul_i16(gradient, v.splat_i16(weight)),
    }
}

/// The greatest min(A, C) of the two columns of each pair.
#[inline(always)]
pub(crate) fn greatest_lesser<V: Simd>(v: V, a: [V::I32; 2], c: [V::I32; 2]) -> V::I32 {
    v.max_i32(v.min_i32(a[0], c[0]), v.min_i32(a[1], c[1]))
}

/// The window's sums as floats, scaled.
#[inline(always)]
pub(crate) fn scaled<V: Simd>(v: V, sums: [V::I32; 2], scale: V::F32) -> [V::F32; 2] {
    [v.mul(v.to_f32(sums[0]), scale), v.mul(v.to_f32(sums[1]), scale)]
}
