//! The trait of vectors, and the kernels that are compiled for them.

use std::ops::Range;

/// The most 32-bit lanes of any vector.
pub(super) const MAX_LANES: usize = 16;

/// Vectors of `LANES` 32-bit, twice as many 16-bit or half as many 64-bit numbers. Integers wrap.
pub(crate) trait Simd: Copy {
    /// 32-bit lanes.
    const LANES: usize;
    /// Whether vectors are registers.
    const IN_REGISTERS: bool = true;
    /// 2 · `LANES` 16-bit integers.
    type I16: Copy;
    /// `LANES` 32-bit integers.
    type I32: Copy;
    /// `LANES` floats.
    type F32: Copy;
    /// `LANES` / 2 floats of 64 bits.
    type F64: Copy;

    /// Runs `kernel` in a function of its own, compiled for these instructions.
    fn enter<K: SimdKernel>(self, kernel: K) -> K::Output;

    /// Widens the bytes from `row[i]` on.
    fn load_u8(self, row: &[u8], i: usize) -> Self::I16;
    /// Prefetches the cache line of `row[i]` to the second cache, if there is such an element and
    /// an instruction. The first cache holds no more than a few of rows that lie a power of two
    /// apart.
    #[inline(always)]
    fn prefetch<T>(self, _row: &[T], _i: usize) {}
    fn load_i16(self, row: &[i16], i: usize) -> Self::I16;
    fn store_i16(self, row: &mut [i16], i: usize, v: Self::I16);
    fn load_i32(self, row: &[i32], i: usize) -> Self::I32;
    fn store_i32(self, row: &mut [i32], i: usize, v: Self::I32);
    fn load_f32(self, row: &[f32], i: usize) -> Self::F32;
    fn store_f32(self, row: &mut [f32], i: usize, v: Self::F32);
    fn load_f64(self, row: &[f64], i: usize) -> Self::F64;
    /// Widens `LANES` / 2 floats, exactly.
    fn load_widened(self, row: &[f32], i: usize) -> Self::F64;
    fn store_f64(self, row: &mut [f64], i: usize, v: Self::F64);
    /// What stands K elements before and K behind the two vectors from `row[i]` on; K is less than
    /// `LANES` / 2.
    #[inline(always)]
    fn neighbors_f64<const K: usize>(self, row: &[f64], i: usize) -> [[Self::F64; 2]; 2] {
        let next = i + Self::LANES / 2;
        [
            [self.load_f64(row, i - K), self.load_f64(row, next - K)],
            [self.load_f64(row, i + K), self.load_f64(row, next + K)],
        ]
    }

    fn splat_i16(self, v: i16) -> Self::I16;
    fn splat_i32(self, v: i32) -> Self::I32;
    fn splat_f32(self, v: f32) -> Self::F32;
    fn splat_f64(self, v: f64) -> Self::F64;

    fn add_i16(self, a: Self::I16, b: Self::I16) -> Self::I16;
    fn sub_i16(self, a: Self::I16, b: Self::I16) -> Self::I16;
    /// a >> 4 of unsigned lanes.
    fn shift_right_4(self, a: Self::I16) -> Self::I16;
    /// a >> 8 of unsigned lanes.
    fn shift_right_8(self, a: Self::I16) -> Self::I16;
    fn mul_i16(self, a: Self::I16, b: Self::I16) -> Self::I16;
    /// (a + 8) >> 4 of lanes from 0 to 16 · 255.
    fn rounded_sixteenth(self, a: Self::I16) -> Self::I16;
    /// aᵢ₊₁ in lane i; the last lane means nothing.
    fn next_i16(self, a: Self::I16) -> Self::I16;
    /// Sets even lanes to zero.
    fn odd_lanes(self, a: Self::I16) -> Self::I16;
    /// aᵢ₊ₖ in lane i, K at most 8; the last K lanes mean nothing.
    #[inline(always)]
    fn shifted_i16<const K: usize>(self, mut a: Self::I16) -> Self::I16 {
        for _ in 0..K {
            a = self.next_i16(a);
        }
        a
    }
    /// The greater.
    fn max_i16(self, a: Self::I16, b: Self::I16) -> Self::I16;
    /// Bit i: aᵢ > bᵢ.
    fn greater_i16(self, a: Self::I16, b: Self::I16) -> u32;
    /// Bit i: aᵢ = bᵢ.
    fn equal_i16(self, a: Self::I16, b: Self::I16) -> u32;
    /// The upper 16 bits of each lane of both.
    fn upper_halves(self, low: Self::F32, high: Self::F32) -> Self::I16;
    /// a₂ᵢ·b₂ᵢ + a₂ᵢ₊₁·b₂ᵢ₊₁ in lane i.
    fn dot(self, a: Self::I16, b: Self::I16) -> Self::I32;
    /// acc + a₂ᵢ·b₂ᵢ + a₂ᵢ₊₁·b₂ᵢ₊₁ in lane i.
    fn dot_add(self, acc: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32;

    fn add_i32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    fn sub_i32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    /// aᵢ₊ₙ in lane i; n is 1, 2, 4 or 5 and a constant to the compiler; the last n lanes mean
    /// nothing.
    fn shifted_i32(self, a: Self::I32, n: usize) -> Self::I32;
    /// Prefix sums: the last lane of `before` + a₀ + ... + aᵢ in lane i.
    fn prefix_sums_i32(self, before: Self::I32, a: Self::I32) -> Self::I32;
    /// Rounds to nearest even.
    fn to_f32(self, a: Self::I32) -> Self::F32;

    fn add(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn sub(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// acc + 2·a, rounded once: twice a number is exact.
    #[inline(always)]
    fn add_twice(self, acc: Self::F32, a: Self::F32) -> Self::F32 {
        self.add(acc, self.add(a, a))
    }
    fn mul(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn div(self, a: Self::F32, b: Self::F32) -> Self::F32;
    fn sqrt(self, a: Self::F32) -> Self::F32;
    /// The greater; neither is NaN.
    fn max(self, a: Self::F32, b: Self::F32) -> Self::F32;
    /// even₀ odd₀ even₁ odd₁ ..., its lower and its upper half.
    fn interleave(self, even: Self::F32, odd: Self::F32) -> [Self::F32; 2];
    /// Rounds towards zero; below 2³¹ in magnitude.
    fn to_i32(self, a: Self::F32) -> Self::I32;
    /// The lower and the upper half, rounded to nearest even.
    fn narrow(self, a: [Self::F64; 2]) -> Self::F32;
    fn add_f64(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn sub_f64(self, a: Self::F64, b: Self::F64) -> Self::F64;
    fn mul_f64(self, a: Self::F64, b: Self::F64) -> Self::F64;
    /// acc + a·b, for integers below 2⁵³: their products and sums are exact, however they are
    /// rounded.
    fn add_product(self, acc: Self::F64, a: Self::F64, b: Self::F64) -> Self::F64;
    /// acc − a·b, for integers below 2⁵³.
    fn sub_product(self, acc: Self::F64, a: Self::F64, b: Self::F64) -> Self::F64;
    /// Prefix sums: a₀ + ... + aᵢ in lane i, for integers below 2⁵³.
    fn prefix_sums_f64(self, a: Self::F64) -> Self::F64;
    /// The last lane in all lanes.
    fn last_f64(self, a: Self::F64) -> Self::F64;
    fn min_i32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    fn max_i32(self, a: Self::I32, b: Self::I32) -> Self::I32;
    /// Bit i: aᵢ > bᵢ.
    fn greater_i32(self, a: Self::I32, b: Self::I32) -> u32;
    /// Bit i: aᵢ > bᵢ.
    fn greater(self, a: Self::F32, b: Self::F32) -> u32;
    /// Bit i: aᵢ ≥ bᵢ.
    fn at_least(self, a: Self::F32, b: Self::F32) -> u32;

    // Only tiles of the longest vectors call these; others have no instructions for them.

    /// Widens the `LANES` bytes from `row[i]` on.
    #[inline(always)]
    fn load_bytes(self, row: &[u8], i: usize) -> Self::I32 {
        let mut wide = [0; MAX_LANES];
        for (wide, &number) in wide.iter_mut().zip(&row[i..i + Self::LANES]) {
            *wide = number.into();
        }
        self.load_i32(&wide, 0)
    }
    /// Widens the `LANES` numbers from `row[i]` on.
    #[inline(always)]
    fn load_u16(self, row: &[u16], i: usize) -> Self::I32 {
        let mut wide = [0; MAX_LANES];
        for (wide, &number) in wide.iter_mut().zip(&row[i..i + Self::LANES]) {
            *wide = number.into();
        }
        self.load_i32(&wide, 0)
    }
    /// a >> K of unsigned lanes.
    #[inline(always)]
    fn shift_right_i32<const K: i32>(self, a: Self::I32) -> Self::I32 {
        let mut row = [0; MAX_LANES];
        self.store_i32(&mut row, 0, a);
        for number in &mut row {
            *number = (number.cast_unsigned() >> K).cast_signed();
        }
        self.load_i32(&row, 0)
    }
    /// Converts unsigned lanes.
    #[inline(always)]
    fn unsigned_to_f32(self, a: Self::I32) -> Self::F32 {
        let (mut row, mut floats) = ([0; MAX_LANES], [0.0; MAX_LANES]);
        self.store_i32(&mut row, 0, a);
        for (float, number) in floats.iter_mut().zip(row) {
            *float = number.cast_unsigned() as f32;
        }
        self.load_f32(&floats, 0)
    }
    #[inline(always)]
    fn abs(self, a: Self::F32) -> Self::F32 {
        let mut row = [0.0; MAX_LANES];
        self.store_f32(&mut row, 0, a);
        for number in &mut row {
            *number = f32::abs(*number);
        }
        self.load_f32(&row, 0)
    }
    /// aᵢ₊ₖ in lane i, and the first K lanes of `behind` in the last; K is less than `LANES`.
    #[inline(always)]
    fn shifted<const K: usize>(self, a: Self::F32, behind: Self::F32) -> Self::F32 {
        let mut row = [0.0; 2 * MAX_LANES];
        self.store_f32(&mut row, 0, a);
        self.store_f32(&mut row, Self::LANES, behind);
        self.load_f32(&row, K)
    }
    /// aᵢ₊₁ in lane i, and the first lane of `behind` in the last.
    #[inline(always)]
    fn next_f64(self, a: Self::F64, behind: Self::F64) -> Self::F64 {
        let mut row = [0.0; MAX_LANES];
        self.store_f64(&mut row, 0, a);
        self.store_f64(&mut row, Self::LANES / 2, behind);
        self.load_f64(&row, 1)
    }
}

/// A kernel: its rows, and what it computes of them by vectors.
///
/// Implementations of `run`, and all that they call on vectors, must be `#[inline(always)]`: only
/// what is inlined into [`Simd::enter`] is compiled for an instruction set. Each kernel is entered
/// by itself, so that it has all registers.
pub(crate) trait SimdKernel {
    type Output;
    fn run<V: Simd>(self, v: V) -> Self::Output;
}

/// The first elements of the whole vectors that cover `span`.
#[inline(always)]
pub(crate) fn vectors(span: Range<usize>, lanes: usize) -> impl Iterator<Item = usize> {
    (span.start / lanes * lanes..span.end).step_by(lanes)
}

/// A task that is compiled for the vectors of each level.
pub(crate) trait WithSimd {
    type Output;
    fn with<V: Simd>(self, v: V) -> Self::Output;
}

/// Makes the compiler align the frame of the function that this is inlined into to cache lines.
/// Vectors that no register holds would else lie across two lines, wherever the caller's frame
/// ends.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn align_frame() {
    #[repr(align(64))]
    struct Line(u8);
    let line = Line(0);
    std::hint::black_box(&line.0);
}
