//! SSE2: 128 bits, on every x86-64 processor.

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::vector::{Simd, SimdKernel};

/// Proof that the processor has SSE2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sse2(());

impl Sse2 {
    /// The proof, where the processor can give it.
    pub(super) fn new() -> Option<Self> {
        let has = is_x86_feature_detected!("sse2");
        has.then_some(Self(()))
    }
}

impl Simd for Sse2 {
    const LANES: usize = 4;
    type I16 = __m128i;
    type I32 = __m128i;
    type F32 = __m128;
    type F64 = __m128d;

    #[inline(always)]
    fn enter<K: SimdKernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "sse2")]
        fn compiled<K: SimdKernel>(v: Sse2, kernel: K) -> K::Output {
            kernel.run(v)
        }
        // SAFETY: `self` proves that the processor has the features that `compiled` is compiled
        // for.
        unsafe { compiled(self, kernel) }
    }

    #[inline(always)]
    fn load_u8(self, row: &[u8], i: usize) -> Self::I16 {
        let row = &row[i..i + 8];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm_unpacklo_epi8(_mm_loadl_epi64(row.as_ptr().cast()), _mm_setzero_si128()) }
    }

    #[inline(always)]
    fn prefetch<T>(self, row: &[T], i: usize) {
        prefetch(row, i);
    }

    #[inline(always)]
    fn load_widened(self, row: &[f32], i: usize) -> Self::F64 {
        let row = &row[i..i + 2];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(row.as_ptr().cast()))) }
    }

    memory! {
        load_i16 = _mm_loadu_si128, store_i16 = _mm_storeu_si128: [i16; 8] as I16;
        load_i32 = _mm_loadu_si128, store_i32 = _mm_storeu_si128: [i32; 4] as I32;
        load_f32 = _mm_loadu_ps, store_f32 = _mm_storeu_ps: [f32; 4] as F32;
        load_f64 = _mm_loadu_pd, store_f64 = _mm_storeu_pd: [f64; 2] as F64;
    }

    splats! {
        splat_i16 = _mm_set1_epi16: i16 as I16;
        splat_i32 = _mm_set1_epi32: i32 as I32;
        splat_f32 = _mm_set1_ps: f32 as F32;
        splat_f64 = _mm_set1_pd: f64 as F64;
    }

    #[inline(always)]
    fn narrow(self, [low, high]: [Self::F64; 2]) -> Self::F32 {
        // SAFETY: `self` proves the instructions.
        unsafe { _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high)) }
    }

    #[inline(always)]
    fn shifted_i32(self, a: Self::I32, n: usize) -> Self::I32 {
        // SAFETY: `self` proves the instructions.
        unsafe {
            match n {
                1 => _mm_srli_si128::<4>(a),
                // Shifts by more lanes leave no lane that means anything.
                _ => _mm_srli_si128::<8>(a),
            }
        }
    }

    lanes! {
        add_i16(a: I16, b: I16) -> Self::I16 = _mm_add_epi16(a, b);
        sub_i16(a: I16, b: I16) -> Self::I16 = _mm_sub_epi16(a, b);
        shift_right_4(a: I16) -> Self::I16 = _mm_srli_epi16::<4>(a);
        shift_right_8(a: I16) -> Self::I16 = _mm_srli_epi16::<8>(a);
        mul_i16(a: I16, b: I16) -> Self::I16 = _mm_mullo_epi16(a, b);
        rounded_sixteenth(a: I16) -> Self::I16 = _mm_srli_epi16::<4>(_mm_add_epi16(a, _mm_set1_epi16(8)));
        next_i16(a: I16) -> Self::I16 = _mm_srli_si128::<2>(a);
        odd_lanes(a: I16) -> Self::I16 = _mm_and_si128(a, _mm_set1_epi32(0xFFFF_0000_u32 as i32));
        max_i16(a: I16, b: I16) -> Self::I16 = _mm_max_epi16(a, b);
        greater_i16(a: I16, b: I16) -> u32 = bits(_mm_cmpgt_epi16(a, b));
        equal_i16(a: I16, b: I16) -> u32 = bits(_mm_cmpeq_epi16(a, b));
        upper_halves(low: F32, high: F32) -> Self::I16 = {
            let (low, high) = (_mm_castps_si128(low), _mm_castps_si128(high));
            _mm_packs_epi32(_mm_srai_epi32::<16>(low), _mm_srai_epi32::<16>(high))
        };
        dot(a: I16, b: I16) -> Self::I32 = _mm_madd_epi16(a, b);
        dot_add(acc: I32, a: I16, b: I16) -> Self::I32 = _mm_add_epi32(acc, _mm_madd_epi16(a, b));
        add_i32(a: I32, b: I32) -> Self::I32 = _mm_add_epi32(a, b);
        sub_i32(a: I32, b: I32) -> Self::I32 = _mm_sub_epi32(a, b);
        prefix_sums_i32(before: I32, a: I32) -> Self::I32 = {
            let a = _mm_add_epi32(a, _mm_slli_si128::<4>(a));
            let a = _mm_add_epi32(a, _mm_slli_si128::<8>(a));
            _mm_add_epi32(_mm_shuffle_epi32::<0xFF>(before), a)
        };
        to_f32(a: I32) -> Self::F32 = _mm_cvtepi32_ps(a);
        add(a: F32, b: F32) -> Self::F32 = _mm_add_ps(a, b);
        sub(a: F32, b: F32) -> Self::F32 = _mm_sub_ps(a, b);
        mul(a: F32, b: F32) -> Self::F32 = _mm_mul_ps(a, b);
        div(a: F32, b: F32) -> Self::F32 = _mm_div_ps(a, b);
        sqrt(a: F32) -> Self::F32 = _mm_sqrt_ps(a);
        max(a: F32, b: F32) -> Self::F32 = _mm_max_ps(a, b);
        interleave(even: F32, odd: F32) -> [Self::F32; 2] = [_mm_unpacklo_ps(even, odd), _mm_unpackhi_ps(even, odd)];
        to_i32(a: F32) -> Self::I32 = _mm_cvttps_epi32(a);
        add_f64(a: F64, b: F64) -> Self::F64 = _mm_add_pd(a, b);
        sub_f64(a: F64, b: F64) -> Self::F64 = _mm_sub_pd(a, b);
        mul_f64(a: F64, b: F64) -> Self::F64 = _mm_mul_pd(a, b);
        add_product(acc: F64, a: F64, b: F64) -> Self::F64 = _mm_add_pd(acc, _mm_mul_pd(a, b));
        sub_product(acc: F64, a: F64, b: F64) -> Self::F64 = _mm_sub_pd(acc, _mm_mul_pd(a, b));
        prefix_sums_f64(a: F64) -> Self::F64 = _mm_add_pd(a, _mm_castsi128_pd(_mm_slli_si128::<8>(_mm_castpd_si128(a))));
        last_f64(a: F64) -> Self::F64 = _mm_unpackhi_pd(a, a);
        min_i32(a: I32, b: I32) -> Self::I32 = either(_mm_cmpgt_epi32(a, b), b, a);
        max_i32(a: I32, b: I32) -> Self::I32 = either(_mm_cmpgt_epi32(a, b), a, b);
        greater_i32(a: I32, b: I32) -> u32 = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpgt_epi32(a, b))) as u32;
        greater(a: F32, b: F32) -> u32 = _mm_movemask_ps(_mm_cmpgt_ps(a, b)) as u32;
        at_least(a: F32, b: F32) -> u32 = _mm_movemask_ps(_mm_cmpge_ps(a, b)) as u32;
    }
}

/// Bit i: lane i, whose bits are all set or all clear.
#[inline]
#[target_feature(enable = "sse2")]
fn bits(lanes: __m128i) -> u32 {
    _mm_movemask_epi8(_mm_packs_epi16(lanes, _mm_setzero_si128())) as u32
}

/// Lanes of a where `which` is all ones, of b where it is zero.
#[inline]
#[target_feature(enable = "sse2")]
fn either(which: __m128i, a: __m128i, b: __m128i) -> __m128i {
    _mm_or_si128(_mm_and_si128(which, a), _mm_andnot_si128(which, b))
}

/// Prefetches the cache line of `row[i]`, if there is one.
#[inline(always)]
pub(super) fn prefetch<T>(row: &[T], i: usize) {
    // SAFETY: every x86-64 processor has the instruction, which touches no memory that the program
    // sees.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(row.as_ptr().wrapping_add(i).cast()) }
}
