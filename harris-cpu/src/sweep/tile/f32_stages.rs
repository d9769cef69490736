//! From samples to gradients of 32-bit floats in registers, for all samples.
//!
//! A row is two vectors: of the lanes that a stage loses where it shifts lanes there are half as
//! many, and the processor has two chains of operations at a time. Operations on float samples are
//! those of docs/arithmetic.md, in its order; sums of integers are exact in any.

use std::marker::PhantomData;

use harris_core::MAX_SAMPLE;

use super::arithmetic::Pair;
use super::border::TileBorder;
use crate::plan::TILE_LANES;
use crate::rows::Aligned;
use crate::simd::Simd;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};
use crate::sweep::vectors_f32::{binomial5, weigh};

/// A row of two vectors.
pub(crate) type TwoVectors<F> = [F; 2];

/// Computes a value for each of two vectors; a closure would not be compiled for their
/// instructions.
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
pub(crate) use both;

/// A vector of sums of samples.
pub(crate) trait Sums<V: Simd>: Copy {
    type Sample: Copy;
    /// A number of it in memory.
    type Number: Copy + Default + std::fmt::Debug;

    fn load(v: V, row: &[Self::Sample], i: usize) -> Self;
    fn load_carry(v: V, row: &[Self::Number; TILE_LANES], i: usize) -> Self;
    fn store_carry(self, v: V, row: &mut [Self::Number; TILE_LANES], i: usize);
    /// pair + 2·centre
    fn binomial3(v: V, pair: [Self; 2], centre: Self) -> Self;
    /// far + 4·near + 6·centre
    fn binomial5_sum(v: V, far: [Self; 2], near: [Self; 2], centre: Self) -> Self;
    fn float(self, v: V) -> V::F32;
    /// The mean, of sums whose weights add up to 16 or 256; the sum itself for `Binomial3Exact`.
    fn mean(self, v: V, smoothing: StageSmoothing) -> V::F32;
    /// Whether all are valid samples.
    fn are_valid(self, v: V) -> bool;
}

/// Integer samples.
pub(crate) trait Integer: Copy {
    /// Loads a vector of samples, widened.
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

/// Sums of integer samples.
#[derive(Clone, Copy)]
pub(crate) struct IntegerSums<V: Simd, T>(V::I32, PhantomData<T>);

impl<V: Simd, T> IntegerSums<V, T> {
    #[inline(always)]
    fn new(sums: V::I32) -> Self {
        Self(sums, PhantomData)
    }
}

impl<V: Simd, T: Integer> Sums<V> for IntegerSums<V, T> {
    type Sample = T;
    type Number = i32;

    #[inline(always)]
    fn load(v: V, row: &[T], i: usize) -> Self {
        Self::new(T::load(v, row, i))
    }

    #[inline(always)]
    fn load_carry(v: V, row: &[i32; TILE_LANES], i: usize) -> Self {
        Self::new(v.load_i32(row, i))
    }

    #[inline(always)]
    fn store_carry(self, v: V, row: &mut [i32; TILE_LANES], i: usize) {
        v.store_i32(row, i, self.0);
    }

    #[inline(always)]
    fn binomial3(v: V, [Self(a, _), Self(b, _)]: [Self; 2], Self(centre, _): Self) -> Self {
        Self::new(v.add_i32(v.add_i32(a, b), v.add_i32(centre, centre)))
    }

    #[inline(always)]
    fn binomial5_sum(
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
    fn mean(self, v: V, smoothing: StageSmoothing) -> V::F32 {
        let mean = if smoothing.keeps_sums() {
            self.0
        } else if smoothing.has_five_taps() {
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

/// Sums of float samples.
#[derive(Clone, Copy)]
pub(crate) struct FloatSums<V: Simd>(V::F32);

impl<V: Simd> Sums<V> for FloatSums<V> {
    type Sample = f32;
    type Number = f32;

    #[inline(always)]
    fn load(v: V, row: &[f32], i: usize) -> Self {
        Self(v.load_f32(row, i))
    }

    #[inline(always)]
    fn load_carry(v: V, row: &[f32; TILE_LANES], i: usize) -> Self {
        Self(v.load_f32(row, i))
    }

    #[inline(always)]
    fn store_carry(self, v: V, row: &mut [f32; TILE_LANES], i: usize) {
        v.store_f32(row, i, self.0);
    }

    #[inline(always)]
    fn binomial3(v: V, [Self(a), Self(b)]: [Self; 2], Self(centre): Self) -> Self {
        Self(v.add_twice(v.add(a, b), centre))
    }

    #[inline(always)]
    fn binomial5_sum(
        v: V,
        [Self(a), Self(e)]: [Self; 2],
        [Self(b), Self(d)]: [Self; 2],
        Self(c): Self,
    ) -> Self {
        Self(binomial5(v, v.add(a, e), v.add(b, d), c))
    }

    #[inline(always)]
    fn float(self, _: V) -> V::F32 {
        self.0
    }

    #[inline(always)]
    fn mean(self, v: V, smoothing: StageSmoothing) -> V::F32 {
        if smoothing.keeps_sums() {
            return self.0;
        }
        let reciprocal = if smoothing.has_five_taps() { 1.0 / 256.0 } else { 1.0 / 16.0 };
        v.mul(self.0, v.splat_f32(reciprocal))
    }

    #[inline(always)]
    fn are_valid(self, v: V) -> bool {
        v.at_least(v.splat_f32(MAX_SAMPLE), v.abs(self.0)) == u32::MAX >> (32 - V::LANES)
    }
}

/// The one of the carried slopes that is the last smoothed row.
const SMOOTHED: usize = 4;

/// Carried vectors in memory.
#[derive(Clone, Debug)]
pub(crate) struct Carry<K> {
    across: [Aligned<K, TILE_LANES>; 4],
    slopes: [Aligned<f32, TILE_LANES>; 5],
}

impl<K: Copy + Default> Carry<K> {
    /// The carry above the first row.
    pub(crate) fn zero() -> Self {
        Self { across: [Aligned([K::default(); TILE_LANES]); 4], slopes: [Aligned([0.0; TILE_LANES]); 5] }
    }
}

/// Fills the last smoothed row beyond the image.
pub(crate) fn extend<K>(border: &TileBorder, carry: &mut Carry<K>) {
    border.extend_smoothed(&mut carry.slopes[SMOOTHED].0);
}

/// What the stages carry from the rows above, in registers.
pub(crate) struct Stages<V: Simd, S> {
    /// The last rows of sums across, the latest first.
    across: [TwoVectors<S>; 4],
    /// The last smoothed row.
    smoothed: TwoVectors<V::F32>,
    /// Differences across of the last two smoothed rows before it.
    differences: [TwoVectors<V::F32>; 2],
    /// Weighted sums across of these rows.
    sums: [TwoVectors<V::F32>; 2],
}

/// Iterations between a row of samples that completes a row of gradients and the one that gives it.
pub(crate) const fn latency(smoothing: StageSmoothing) -> usize {
    if smoothing.smooths() { 1 } else { 0 }
}

impl<V: Simd, S: Sums<V>> Stages<V, S> {
    #[inline(always)]
    pub(crate) fn load(v: V, carry: &Carry<S::Number>) -> Self {
        let zero = [v.splat_f32(0.0); 2];
        let mut stages = Self {
            across: [both!(h => S::load_carry(v, &carry.across[0].0, h * V::LANES)); 4],
            smoothed: zero,
            differences: [zero; 2],
            sums: [zero; 2],
        };
        for (row, carry) in stages.across.iter_mut().zip(&carry.across) {
            *row = both!(h => S::load_carry(v, &carry.0, h * V::LANES));
        }
        let slopes = stages.differences.iter_mut().chain(&mut stages.sums).chain([&mut stages.smoothed]);
        for (row, carry) in slopes.zip(&carry.slopes) {
            *row = both!(h => v.load_f32(&carry.0, h * V::LANES));
        }
        stages
    }

    #[inline(always)]
    pub(crate) fn store(self, v: V, carry: &mut Carry<S::Number>) {
        for (row, out) in self.across.into_iter().zip(&mut carry.across) {
            row[0].store_carry(v, &mut out.0, 0);
            row[1].store_carry(v, &mut out.0, V::LANES);
        }
        let slopes = self.differences.into_iter().chain(self.sums).chain([self.smoothed]);
        for ([low, high], out) in slopes.zip(&mut carry.slopes) {
            v.store_f32(&mut out.0, 0, low);
            v.store_f32(&mut out.0, V::LANES, high);
        }
    }

    /// Takes a row of samples, as many as there are lanes and
    /// [`extra_columns`](StageSmoothing::extra_columns) more, and gives a row of gx and gy: the one
    /// that was completed [`latency`] iterations before.
    #[inline(always)]
    pub(crate) fn push_row(
        &mut self,
        v: V,
        (smoothing, gradient): (StageSmoothing, ThreeTaps),
        samples: &[S::Sample],
    ) -> [TwoVectors<V::F32>; 2] {
        if !smoothing.smooths() {
            let [left, centre, right] = [two(v, samples, 0), two(v, samples, 1), two(v, samples, 2)];
            let [left, centre, right] = [floats::<V, S>(v, left), floats(v, centre), floats(v, right)];
            return self.differentiate(v, gradient, left, centre, right);
        }
        let left = self.smoothed;
        let gradients =
            self.differentiate(v, gradient, left, shifted::<1, V>(v, left), shifted::<2, V>(v, left));
        let across: TwoVectors<S>;
        let [a, b, c, d] = self.across;
        if smoothing.has_five_taps() {
            let p: [TwoVectors<S>; 5] = [
                two(v, samples, 0),
                two(v, samples, 1),
                two(v, samples, 2),
                two(v, samples, 3),
                two(v, samples, 4),
            ];
            across = both!(h => S::binomial5_sum(v, [p[0][h], p[4][h]], [p[1][h], p[3][h]], p[2][h]));
            self.smoothed =
                both!(h => S::binomial5_sum(v, [d[h], across[h]], [c[h], a[h]], b[h]).mean(v, smoothing));
        } else {
            let p: [TwoVectors<S>; 3] = [two(v, samples, 0), two(v, samples, 1), two(v, samples, 2)];
            across = both!(h => S::binomial3(v, [p[0][h], p[2][h]], p[1][h]));
            self.smoothed = both!(h => S::binomial3(v, [b[h], across[h]], a[h]).mean(v, smoothing));
        }
        self.across = [across, a, b, c];
        gradients
    }

    #[inline(always)]
    fn differentiate(
        &mut self,
        v: V,
        gradient: ThreeTaps,
        left: TwoVectors<V::F32>,
        centre: TwoVectors<V::F32>,
        right: TwoVectors<V::F32>,
    ) -> [TwoVectors<V::F32>; 2] {
        let difference = both!(h => v.sub(right[h], left[h]));
        let sum = both!(h => weigh(v, gradient, v.add(left[h], right[h]), centre[h]));
        self.down(v, gradient, [difference, sum])
    }

    /// gx and gy of the row above the one of these slopes.
    #[inline(always)]
    fn down(
        &mut self,
        v: V,
        gradient: ThreeTaps,
        [difference, sum]: [TwoVectors<V::F32>; 2],
    ) -> [TwoVectors<V::F32>; 2] {
        let [before, above] = self.differences;
        let gx = both!(h => weigh(v, gradient, v.add(above[h], difference[h]), before[h]));
        let gy = both!(h => v.sub(sum[h], self.sums[1][h]));
        self.differences = [difference, before];
        self.sums = [sum, self.sums[0]];
        [gx, gy]
    }

    /// Makes the last row whose slopes arrived the image's first: the row before it is equal, or 0.
    #[inline(always)]
    pub(crate) fn start_image(&mut self, v: V, gradient: ThreeTaps, border: &TileBorder) {
        let first = [self.differences[0], self.sums[0]];
        if !border.replicates() {
            self.down(v, gradient, [[v.splat_f32(0.0); 2]; 2]);
        }
        self.down(v, gradient, first);
    }

    /// gx and gy of the last row whose slopes arrived, as the image's last: the row behind it is
    /// equal, or 0.
    #[inline(always)]
    pub(crate) fn finish_image(
        &mut self,
        v: V,
        gradient: ThreeTaps,
        border: &TileBorder,
    ) -> [TwoVectors<V::F32>; 2] {
        let last = if border.replicates() {
            [self.differences[0], self.sums[0]]
        } else {
            [[v.splat_f32(0.0); 2]; 2]
        };
        self.down(v, gradient, last)
    }
}

#[inline(always)]
fn two<V: Simd, S: Sums<V>>(v: V, samples: &[S::Sample], place: usize) -> TwoVectors<S> {
    [S::load(v, samples, place), S::load(v, samples, place + V::LANES)]
}

#[inline(always)]
fn floats<V: Simd, S: Sums<V>>(v: V, [low, high]: TwoVectors<S>) -> TwoVectors<V::F32> {
    [low.float(v), high.float(v)]
}

/// aᵢ₊ₖ in lane i; the last K lanes mean nothing.
#[inline(always)]
pub(crate) fn shifted<const K: usize, V: Simd>(v: V, [low, high]: TwoVectors<V::F32>) -> TwoVectors<V::F32> {
    [v.shifted::<K>(low, high), v.shifted::<K>(high, high)]
}

/// gx and gy of a row of a tile.
#[inline(always)]
pub(crate) fn load<V: Simd>(v: V, pair: &Pair<f32>) -> [TwoVectors<V::F32>; 2] {
    both!(of => both!(h => v.load_f32(&pair.0[of], h * V::LANES)))
}

/// Stores gx and gy of a row of a tile.
#[inline(always)]
pub(crate) fn put<V: Simd>(v: V, gradients: [TwoVectors<V::F32>; 2], pair: &mut Pair<f32>) {
    for ([low, high], row) in gradients.into_iter().zip(&mut pair.0) {
        v.store_f32(row, 0, low);
        v.store_f32(row, V::LANES, high);
    }
}
