//! Arithmetic on vectors of 32-bit floats that tiles and rows share.

use harris_core::Gradient;

use crate::simd::Simd;

/// (pairs two away) + 4 · (neighbours) + 6 · centre
#[inline(always)]
pub(crate) fn binomial5<V: Simd>(v: V, far: V::F32, near: V::F32, centre: V::F32) -> V::F32 {
    let outer = v.add(far, v.mul(v.splat_f32(4.0), near));
    v.add(outer, v.mul(v.splat_f32(6.0), centre))
}

/// w₁ · pair + w₀ · centre; of central differences, the centre.
#[inline(always)]
pub(crate) fn weigh<V: Simd>(v: V, gradient: Gradient, pair: V::F32, centre: V::F32) -> V::F32 {
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
