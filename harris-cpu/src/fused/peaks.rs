//! Row kernels on responses: candidates and suppression.

use std::ops::Range;

use super::samples::vectors;
use crate::simd::Simd;

/// The greatest of the responses of `span` and of `greatest`; `hits` are filled with the places of the vectors that
/// hold one above `threshold`.
#[inline(always)]
pub(super) fn scan<V: Simd>(
    v: V,
    responses: &[f32],
    span: Range<usize>,
    threshold: f32,
    greatest: f32,
    hits: &mut Vec<usize>,
) -> f32 {
    hits.clear();
    let limit = v.splat_f32(threshold);
    let mut most = v.splat_f32(greatest);
    for i in vectors(span, V::LANES) {
        let r = v.load_f32(responses, i);
        most = v.max(most, r);
        if v.greater(r, limit) != 0 {
            hits.push(i);
        }
    }
    let mut lanes = [0.0; 16];
    v.store_f32(&mut lanes, 0, most);
    lanes[..V::LANES].iter().copied().fold(greatest, f32::max)
}

/// Bit i: the response at place x + i exceeds `threshold`, is greater than all before it within the radius and at
/// least equal to all after it. `rows` are those of the neighbourhood, 2 · radius + 1 of them.
#[inline(always)]
pub(super) fn suppress<V: Simd>(v: V, rows: &[&[f32]], radius: usize, x: usize, threshold: f32) -> u32 {
    let r = v.load_f32(rows[radius], x);
    let mut before = v.splat_f32(threshold);
    let mut after = v.splat_f32(f32::NEG_INFINITY);
    for row in &rows[..radius] {
        for u in x - radius..=x + radius {
            before = v.max(before, v.load_f32(row, u));
        }
    }
    for dx in 1..=radius {
        before = v.max(before, v.load_f32(rows[radius], x - dx));
        after = v.max(after, v.load_f32(rows[radius], x + dx));
    }
    for row in &rows[radius + 1..] {
        for u in x - radius..=x + radius {
            after = v.max(after, v.load_f32(row, u));
        }
    }
    v.greater(r, before) & v.at_least(r, after)
}
