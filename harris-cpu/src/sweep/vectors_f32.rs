//! Arithmetic on vectors of 32-bit floats that tiles and rows share.

use crate::simd::Simd;
use crate::sweep::stage_kinds::ThreeTaps;

/// (pairs two away) + 4 · (neighbours) + 6 · centre
#[inline(always)]
pub(crate) fn binomial5<V: Simd>(v: V, far: V::F32, near: V::F32, centre: V::F32) -> V::F32 {
    let outer = v.add(far, v.mul(v.splat_f32(4.0), near));
    v.add(outer, v.mul(v.splat_f32(6.0), centre))
}

/// The gradient's weights along a line: w₁ · pair + w₀ · centre, or the centre of central
/// differences.
///
/// Callers know the gradient when they are compiled: else the match would be a jump through a
/// table.
#[inline(always)]
pub(crate) fn weigh<V: Simd>(v: V, gradient: ThreeTaps, pair: V::F32, centre: V::F32) -> V::F32 {
    match gradient {
        ThreeTaps::Sobel => v.add_twice(pair, centre),
        ThreeTaps::Scharr => v.add(v.mul(v.splat_f32(3.0), pair), v.mul(v.splat_f32(10.0), centre)),
        // Boxes of integers; boxes of floats have another order.
        ThreeTaps::Box => v.add(pair, centre),
        ThreeTaps::Central => centre,
    }
}
