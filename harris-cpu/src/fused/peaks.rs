//! Row kernels on responses: candidates and suppression.

use super::MOST_RADIUS;
use super::scratch::{Candidates, LEAD, ResponseRow};
use crate::simd::{Simd, Work};

/// Marks the responses of the strip above a threshold and returns the greatest.
pub(super) struct Scan<'a> {
    pub(super) responses: &'a ResponseRow,
    pub(super) threshold: f32,
    pub(super) candidates: &'a mut Candidates,
    /// Columns of the strip; what lies beyond them in their last 64 counts too.
    pub(super) width: usize,
}

impl Work for Scan<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> f32 {
        let limit = v.splat_f32(self.threshold);
        // Two maxima, as one would wait for itself.
        let mut most = [v.splat_f32(f32::NEG_INFINITY); 2];
        for word in LEAD / 64..(LEAD + self.width).div_ceil(64) {
            let mut bits = 0;
            let mut i = 0;
            while i < 64 {
                let low = v.load_f32(self.responses, 64 * word + i);
                let high = v.load_f32(self.responses, 64 * word + i + V::LANES);
                most = [v.max(most[0], low), v.max(most[1], high)];
                bits |= u64::from(v.greater(low, limit)) << i
                    | u64::from(v.greater(high, limit)) << (i + V::LANES);
                i += 2 * V::LANES;
            }
            self.candidates[word] = bits;
        }
        let mut lanes = [f32::NEG_INFINITY; 16];
        v.store_f32(&mut lanes, 0, v.max(most[0], most[1]));
        lanes.into_iter().fold(f32::NEG_INFINITY, f32::max)
    }
}

/// Finds the candidates that win their neighbourhood: greater than all before them within the radius and at least equal
/// to all after them. Leaves the winners in `candidates`.
pub(super) struct Suppress<'a> {
    /// The rows of the neighbourhood, 2 · radius + 1 of them.
    pub(super) rows: [&'a ResponseRow; 2 * MOST_RADIUS + 1],
    pub(super) radius: usize,
    pub(super) threshold: f32,
    pub(super) candidates: &'a mut Candidates,
    /// Columns of the strip.
    pub(super) width: usize,
}

impl Work for Suppress<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.radius {
            0 => self.within::<V, 0>(v),
            1 => self.within::<V, 1>(v),
            2 => self.within::<V, 2>(v),
            3 => self.within::<V, 3>(v),
            _ => self.within::<V, MOST_RADIUS>(v),
        }
    }
}

impl Suppress<'_> {
    #[inline(always)]
    fn within<V: Simd, const R: usize>(self, v: V) {
        let limit = v.splat_f32(self.threshold);
        let lanes = u64::MAX >> (64 - V::LANES);
        for word in LEAD / 64..(LEAD + self.width).div_ceil(64) {
            let (mut left, mut winners) = (self.candidates[word], 0);
            while left != 0 {
                let i = left.trailing_zeros() as usize / V::LANES * V::LANES;
                left &= !(lanes << i);
                winners |= u64::from(self.winners::<V, R>(v, 64 * word + i, limit)) << i;
            }
            self.candidates[word] &= winners;
        }
    }

    #[inline(always)]
    fn winners<V: Simd, const R: usize>(&self, v: V, x: usize, limit: V::F32) -> u32 {
        let r = v.load_f32(self.rows[R], x);
        let mut before = limit;
        let mut after = v.splat_f32(f32::NEG_INFINITY);
        for row in &self.rows[..R] {
            for u in x - R..=x + R {
                before = v.max(before, v.load_f32(*row, u));
            }
        }
        for dx in 1..=R {
            before = v.max(before, v.load_f32(self.rows[R], x - dx));
            after = v.max(after, v.load_f32(self.rows[R], x + dx));
        }
        for row in &self.rows[R + 1..2 * R + 1] {
            for u in x - R..=x + R {
                after = v.max(after, v.load_f32(*row, u));
            }
        }
        v.greater(r, before) & v.at_least(r, after)
    }
}
