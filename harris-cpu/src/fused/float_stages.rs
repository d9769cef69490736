//! From samples to gradients in registers, as floats: as [`super::stages`], of all samples.
//!
//! A row is two vectors: of the lanes that a stage loses, where it moves some to reach neighbours, there are half as many, and the processor
//! has two chains of operations to work on. Operations on float samples are those of the contract, in its order; sums of integers are
//! exact in any.

use std::marker::PhantomData;

use harris_core::{Gradient, MAX_SAMPLE, Smoothing};

use super::by_tiles::Edges;
use super::floats::{binomial5, weigh};
use super::scratch::Aligned;
use super::stages::smooths;
use crate::simd::Simd;

/// Columns of a row at most: two vectors of 512 bits.
pub(super) const LANES: usize = 32;

/// A row of two vectors.
pub(super) type Two<F> = [F; 2];

/// A value for each of two vectors: closures would not be compiled for their instructions.
macro_rules! both {
    ($half:ident => $value:expr) => {
        [
            {
                let $half = 0;
                $value
            },
            {
                let $half = 1;
                $value
            },
        ]
    };
}
pub(super) use both;

/// What samples are summed in.
pub(super) trait Sums<V: Simd>: Copy {
    type Sample;
    /// A vector in memory.
    type Kept: Copy + Default + std::fmt::Debug;

    fn load(v: V, row: &[Self::Sample], i: usize) -> Self;
    fn load_kept(v: V, row: &[Self::Kept; LANES], i: usize) -> Self;
    fn store_kept(self, v: V, row: &mut [Self::Kept; LANES], i: usize);
    /// pair + 2·centre
    fn three(v: V, pair: [Self; 2], centre: Self) -> Self;
    /// far + 4·near + 6·centre
    fn five(v: V, far: [Self; 2], near: [Self; 2], centre: Self) -> Self;
    fn float(self, v: V) -> V::F32;
    /// The mean, of sums of weights that add up to 16 or 256; or the sum, where that is to stay.
    fn mean(self, v: V, smoothing: Smoothing) -> V::F32;
    /// Whether all are valid samples.
    fn are_valid(self, v: V) -> bool;
}

/// Samples that are integers.
pub(super) trait Integer: Copy {
    /// Those of a vector, widened.
    fn load<V: Simd>(v: V, row: &[Self], i: usize) -> V::I32;
}

impl Integer for u8 {
    #[inline(always)]
    fn load<V: Simd>(v: V, row: &[u8], i: usize) -> V::I32 {
        v.load_bytes(row, i)
    }
}

impl Integer for u16 {
    #[inline(always)]
    fn load<V: Simd>(v: V, row: &[u16], i: usize) -> V::I32 {
        v.load_u16(row, i)
    }
}

/// Sums of integers.
#[derive(Clone, Copy)]
pub(super) struct Whole<V: Simd, T>(V::I32, PhantomData<T>);

impl<V: Simd, T> Whole<V, T> {
    #[inline(always)]
    fn new(sums: V::I32) -> Self {
        Self(sums, PhantomData)
    }
}

impl<V: Simd, T: Integer> Sums<V> for Whole<V, T> {
    type Sample = T;
    type Kept = i32;

    #[inline(always)]
    fn load(v: V, row: &[T], i: usize) -> Self {
        Self::new(T::load(v, row, i))
    }

    #[inline(always)]
    fn load_kept(v: V, row: &[i32; LANES], i: usize) -> Self {
        Self::new(v.load_i32(row, i))
    }

    #[inline(always)]
    fn store_kept(self, v: V, row: &mut [i32; LANES], i: usize) {
        v.store_i32(row, i, self.0);
    }

    #[inline(always)]
    fn three(v: V, [Self(a, _), Self(b, _)]: [Self; 2], Self(centre, _): Self) -> Self {
        Self::new(v.add_i32(v.add_i32(a, b), v.add_i32(centre, centre)))
    }

    #[inline(always)]
    fn five(
        v: V,
        [Self(a, _), Self(e, _)]: [Self; 2],
        [Self(b, _), Self(d, _)]: [Self; 2],
        Self(c, _): Self,
    ) -> Self {
        // 2·(2·(b + d + c) + c)
        let inner = v.add_i32(v.add_i32(b, d), c);
        let half = v.add_i32(v.add_i32(inner, inner), c);
        Self::new(v.add_i32(v.add_i32(a, e), v.add_i32(half, half)))
    }

    #[inline(always)]
    fn float(self, v: V) -> V::F32 {
        v.to_f32(self.0)
    }

    #[inline(always)]
    fn mean(self, v: V, smoothing: Smoothing) -> V::F32 {
        let mean = if matches!(smoothing, Smoothing::Binomial3Exact) {
            self.0
        } else if matches!(smoothing, Smoothing::Binomial5) {
            v.shift_right_i32::<8>(v.add_i32(self.0, v.splat_i32(128)))
        } else {
            v.shift_right_i32::<4>(v.add_i32(self.0, v.splat_i32(8)))
        };
        v.to_f32(mean)
    }

    #[inline(always)]
    fn are_valid(self, _: V) -> bool {
        true
    }
}

/// Floats.
#[derive(Clone, Copy)]
pub(super) struct Real<V: Simd>(V::F32);

impl<V: Simd> Sums<V> for Real<V> {
    type Sample = f32;
    type Kept = f32;

    #[inline(always)]
    fn load(v: V, row: &[f32], i: usize) -> Self {
        Self(v.load_f32(row, i))
    }

    #[inline(always)]
    fn load_kept(v: V, row: &[f32; LANES], i: usize) -> Self {
        Self(v.load_f32(row, i))
    }

    #[inline(always)]
    fn store_kept(self, v: V, row: &mut [f32; LANES], i: usize) {
        v.store_f32(row, i, self.0);
    }

    #[inline(always)]
    fn three(v: V, [Self(a), Self(b)]: [Self; 2], Self(centre): Self) -> Self {
        Self(v.add_twice(v.add(a, b), centre))
    }

    #[inline(always)]
    fn five(v: V, [Self(a), Self(e)]: [Self; 2], [Self(b), Self(d)]: [Self; 2], Self(c): Self) -> Self {
        Self(binomial5(v, v.add(a, e), v.add(b, d), c))
    }

    #[inline(always)]
    fn float(self, _: V) -> V::F32 {
        self.0
    }

    #[inline(always)]
    fn mean(self, v: V, smoothing: Smoothing) -> V::F32 {
        if matches!(smoothing, Smoothing::Binomial3Exact) {
            return self.0;
        }
        let part = if matches!(smoothing, Smoothing::Binomial5) { 1.0 / 256.0 } else { 1.0 / 16.0 };
        v.mul(self.0, v.splat_f32(part))
    }

    #[inline(always)]
    fn are_valid(self, v: V) -> bool {
        v.at_least(v.splat_f32(MAX_SAMPLE), v.abs(self.0)) == u32::MAX >> (32 - V::LANES)
    }
}

/// Which of the slopes that are kept is the last smoothed row.
const SMOOTHED: usize = 4;

/// What is kept in memory.
#[derive(Clone, Debug)]
pub(super) struct Kept<K> {
    across: [Aligned<K, LANES>; 4],
    slopes: [Aligned<f32, LANES>; 5],
}

impl<K: Copy + Default> Kept<K> {
    pub(super) fn none() -> Self {
        Self { across: [Aligned([K::default(); LANES]); 4], slopes: [Aligned([0.0; LANES]); 5] }
    }
}

/// Puts what stands for the last smoothed row beyond the image.
pub(super) fn extend<K>(edges: &Edges, kept: &mut Kept<K>) {
    edges.extend_smoothed(&mut kept.slopes[SMOOTHED].0);
}

/// What the stages keep of the rows above.
pub(super) struct Stages<V: Simd, S> {
    /// The last rows, smoothed across, the latest first.
    across: [Two<S>; 4],
    /// The last smoothed row.
    smoothed: Two<V::F32>,
    /// Differences and weighted sums across of the last two smoothed rows before it.
    differences: [Two<V::F32>; 2],
    sums: [Two<V::F32>; 2],
}

/// Turns between a row of samples that completes a row of gradients and that row.
pub(super) const fn delay(smoothing: Smoothing) -> usize {
    if smooths(smoothing) { 1 } else { 0 }
}

impl<V: Simd, S: Sums<V>> Stages<V, S> {
    #[inline(always)]
    pub(super) fn load(v: V, kept: &Kept<S::Kept>) -> Self {
        let zero = [v.splat_f32(0.0); 2];
        let mut stages = Self {
            across: [both!(h => S::load_kept(v, &kept.across[0].0, h * V::LANES)); 4],
            smoothed: zero,
            differences: [zero; 2],
            sums: [zero; 2],
        };
        for (row, kept) in stages.across.iter_mut().zip(&kept.across) {
            *row = both!(h => S::load_kept(v, &kept.0, h * V::LANES));
        }
        let slopes = stages.differences.iter_mut().chain(&mut stages.sums).chain([&mut stages.smoothed]);
        for (row, kept) in slopes.zip(&kept.slopes) {
            *row = both!(h => v.load_f32(&kept.0, h * V::LANES));
        }
        stages
    }

    #[inline(always)]
    pub(super) fn store(self, v: V, kept: &mut Kept<S::Kept>) {
        for (row, out) in self.across.into_iter().zip(&mut kept.across) {
            row[0].store_kept(v, &mut out.0, 0);
            row[1].store_kept(v, &mut out.0, V::LANES);
        }
        let slopes = self.differences.into_iter().chain(self.sums).chain([self.smoothed]);
        for ([low, high], out) in slopes.zip(&mut kept.slopes) {
            v.store_f32(&mut out.0, 0, low);
            v.store_f32(&mut out.0, V::LANES, high);
        }
    }

    /// Takes a row of samples, as many as there are lanes and [`super::stages::beyond`] more, and gives gx and gy of the row that is [`delay`]
    /// turns above the one that it completes.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        v: V,
        (smoothing, gradient): (Smoothing, Gradient),
        samples: &[S::Sample],
    ) -> [Two<V::F32>; 2] {
        if !smooths(smoothing) {
            let [left, centre, right] = [two(v, samples, 0), two(v, samples, 1), two(v, samples, 2)];
            let [left, centre, right] = [floats::<V, S>(v, left), floats(v, centre), floats(v, right)];
            return self.differentiate(v, gradient, left, centre, right);
        }
        let left = self.smoothed;
        let gradients = self.differentiate(v, gradient, left, later::<1, V>(v, left), later::<2, V>(v, left));
        let across: Two<S>;
        let [a, b, c, d] = self.across;
        if matches!(smoothing, Smoothing::Binomial5) {
            let p: [Two<S>; 5] = [
                two(v, samples, 0),
                two(v, samples, 1),
                two(v, samples, 2),
                two(v, samples, 3),
                two(v, samples, 4),
            ];
            across = both!(h => S::five(v, [p[0][h], p[4][h]], [p[1][h], p[3][h]], p[2][h]));
            self.smoothed = both!(h => S::five(v, [d[h], across[h]], [c[h], a[h]], b[h]).mean(v, smoothing));
        } else {
            let p: [Two<S>; 3] = [two(v, samples, 0), two(v, samples, 1), two(v, samples, 2)];
            across = both!(h => S::three(v, [p[0][h], p[2][h]], p[1][h]));
            self.smoothed = both!(h => S::three(v, [b[h], across[h]], a[h]).mean(v, smoothing));
        }
        self.across = [across, a, b, c];
        gradients
    }

    #[inline(always)]
    fn differentiate(
        &mut self,
        v: V,
        gradient: Gradient,
        left: Two<V::F32>,
        centre: Two<V::F32>,
        right: Two<V::F32>,
    ) -> [Two<V::F32>; 2] {
        let difference = both!(h => v.sub(right[h], left[h]));
        let sum = both!(h => weigh(v, gradient, v.add(left[h], right[h]), centre[h]));
        self.down(v, gradient, [difference, sum])
    }

    /// gx and gy of the row above that of these slopes.
    #[inline(always)]
    fn down(&mut self, v: V, gradient: Gradient, [difference, sum]: [Two<V::F32>; 2]) -> [Two<V::F32>; 2] {
        let [before, above] = self.differences;
        let gx = both!(h => weigh(v, gradient, v.add(above[h], difference[h]), before[h]));
        let gy = both!(h => v.sub(sum[h], self.sums[1][h]));
        self.differences = [difference, before];
        self.sums = [sum, self.sums[0]];
        [gx, gy]
    }

    /// Makes the last row whose slopes came down the image's first: what stands before it is itself, or nothing.
    #[inline(always)]
    pub(super) fn begin(&mut self, v: V, gradient: Gradient, edges: &Edges) {
        let first = [self.differences[0], self.sums[0]];
        if !edges.repeats() {
            self.down(v, gradient, [[v.splat_f32(0.0); 2]; 2]);
        }
        self.down(v, gradient, first);
    }

    /// gx and gy of the last row whose slopes came down, as the image's last: what stands behind it is itself, or nothing.
    #[inline(always)]
    pub(super) fn end(&mut self, v: V, gradient: Gradient, edges: &Edges) -> [Two<V::F32>; 2] {
        let last =
            if edges.repeats() { [self.differences[0], self.sums[0]] } else { [[v.splat_f32(0.0); 2]; 2] };
        self.down(v, gradient, last)
    }
}

#[inline(always)]
fn two<V: Simd, S: Sums<V>>(v: V, samples: &[S::Sample], place: usize) -> Two<S> {
    [S::load(v, samples, place), S::load(v, samples, place + V::LANES)]
}

#[inline(always)]
fn floats<V: Simd, S: Sums<V>>(v: V, [low, high]: Two<S>) -> Two<V::F32> {
    [low.float(v), high.float(v)]
}

/// aᵢ₊ₖ in column i; what stands in the last K columns means nothing.
#[inline(always)]
pub(super) fn later<const K: usize, V: Simd>(v: V, [low, high]: Two<V::F32>) -> Two<V::F32> {
    [v.later::<K>(low, high), v.later::<K>(high, high)]
}
