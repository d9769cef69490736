//! AVX2 with FMA: 256 bits (Haswell, Zen and later).

#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::sse2::prefetch;
use super::vector::{Simd, SimdKernel, align_frame};

/// Proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx2(());

impl Avx2 {
    /// The proof, where the processor can give it.
    pub(super) fn new() -> Option<Self> {
        let has = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        has.then_some(Self(()))
    }
}

impl Simd for Avx2 {
    const LANES: usize = 8;
    type I16 = __m256i;
    type I32 = __m256i;
    type F32 = __m256;
    type F64 = __m256d;

    #[inline(always)]
    fn enter<K: SimdKernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,fma")]
        fn compiled<K: SimdKernel>(v: Avx2, kernel: K) -> K::Output {
            align_frame();
            kernel.run(v)
        }
        // SAFETY: `self` proves that the processor has the features that `compiled` is compiled
        // for.
        unsafe { compiled(self, kernel) }
    }

    #[inline(always)]
    fn load_u8(self, row: &[u8], i: usize) -> Self::I16 {
        let row = &row[i..i + 16];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm256_cvtepu8_epi16(_mm_loadu_si128(row.as_ptr().cast())) }
    }

    #[inline(always)]
    fn prefetch<T>(self, row: &[T], i: usize) {
        prefetch(row, i);
    }

    #[inline(always)]
    fn load_widened(self, row: &[f32], i: usize) -> Self::F64 {
        let row = &row[i..i + 4];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm256_cvtps_pd(_mm_loadu_ps(row.as_ptr())) }
    }

    memory! {
        load_i16 = _mm256_loadu_si256, store_i16 = _mm256_storeu_si256: [i16; 16] as I16;
        load_i32 = _mm256_loadu_si256, store_i32 = _mm256_storeu_si256: [i32; 8] as I32;
        load_f32 = _mm256_loadu_ps, store_f32 = _mm256_storeu_ps: [f32; 8] as F32;
        load_f64 = _mm256_loadu_pd, store_f64 = _mm256_storeu_pd: [f64; 4] as F64;
    }

    splats! {
        splat_i16 = _mm256_set1_epi16: i16 as I16;
        splat_i32 = _mm256_set1_epi32: i32 as I32;
        splat_f32 = _mm256_set1_ps: f32 as F32;
        splat_f64 = _mm256_set1_pd: f64 as F64;
    }

    #[inline(always)]
    fn narrow(self, [low, high]: [Self::F64; 2]) -> Self::F32 {
        // SAFETY: `self` proves the instructions.
        unsafe { _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low)) }
    }

    #[inline(always)]
    fn shifted_i32(self, a: Self::I32, n: usize) -> Self::I32 {
        // SAFETY: `self` proves the instructions.
        unsafe {
            let turned = _mm256_permute2x128_si256::<0x01>(a, a);
            match n {
                1 => _mm256_alignr_epi8::<4>(turned, a),
                2 => _mm256_alignr_epi8::<8>(turned, a),
                4 => turned,
                _ => _mm256_alignr_epi8::<4>(a, turned),
            }
        }
    }

    lanes! {
        add_i16(a: I16, b: I16) -> Self::I16 = _mm256_add_epi16(a, b);
        sub_i16(a: I16, b: I16) -> Self::I16 = _mm256_sub_epi16(a, b);
        shift_right_4(a: I16) -> Self::I16 = _mm256_srli_epi16::<4>(a);
        shift_right_8(a: I16) -> Self::I16 = _mm256_srli_epi16::<8>(a);
        mul_i16(a: I16, b: I16) -> Self::I16 = _mm256_mullo_epi16(a, b);
        rounded_sixteenth(a: I16) -> Self::I16 = _mm256_mulhrs_epi16(a, _mm256_set1_epi16(1 << 11));
        next_i16(a: I16) -> Self::I16 = _mm256_alignr_epi8::<2>(_mm256_permute2x128_si256::<0x01>(a, a), a);
        odd_lanes(a: I16) -> Self::I16 = _mm256_and_si256(a, _mm256_set1_epi32(0xFFFF_0000_u32 as i32));
        max_i16(a: I16, b: I16) -> Self::I16 = _mm256_max_epi16(a, b);
        greater_i16(a: I16, b: I16) -> u32 = bits(_mm256_cmpgt_epi16(a, b));
        equal_i16(a: I16, b: I16) -> u32 = bits(_mm256_cmpeq_epi16(a, b));
        upper_halves(low: F32, high: F32) -> Self::I16 = {
            let low = _mm256_srai_epi32::<16>(_mm256_castps_si256(low));
            let high = _mm256_srai_epi32::<16>(_mm256_castps_si256(high));
            _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi32(low, high))
        };
        dot(a: I16, b: I16) -> Self::I32 = _mm256_madd_epi16(a, b);
        dot_add(acc: I32, a: I16, b: I16) -> Self::I32 = _mm256_add_epi32(acc, _mm256_madd_epi16(a, b));
        add_i32(a: I32, b: I32) -> Self::I32 = _mm256_add_epi32(a, b);
        sub_i32(a: I32, b: I32) -> Self::I32 = _mm256_sub_epi32(a, b);
        prefix_sums_i32(before: I32, a: I32) -> Self::I32 = {
            let a = _mm256_add_epi32(a, _mm256_slli_si256::<4>(a));
            let a = _mm256_add_epi32(a, _mm256_slli_si256::<8>(a));
            // The lower half's total, added to the upper half.
            let total = _mm256_shuffle_epi32::<0xFF>(_mm256_permute2x128_si256::<0x08>(a, a));
            let before = _mm256_permutevar8x32_epi32(before, _mm256_set1_epi32(7));
            _mm256_add_epi32(before, _mm256_add_epi32(a, total))
        };
        to_f32(a: I32) -> Self::F32 = _mm256_cvtepi32_ps(a);
        add(a: F32, b: F32) -> Self::F32 = _mm256_add_ps(a, b);
        sub(a: F32, b: F32) -> Self::F32 = _mm256_sub_ps(a, b);
        add_twice(acc: F32, a: F32) -> Self::F32 = _mm256_fmadd_ps(a, _mm256_set1_ps(2.0), acc);
        mul(a: F32, b: F32) -> Self::F32 = _mm256_mul_ps(a, b);
        div(a: F32, b: F32) -> Self::F32 = _mm256_div_ps(a, b);
        sqrt(a: F32) -> Self::F32 = _mm256_sqrt_ps(a);
        max(a: F32, b: F32) -> Self::F32 = _mm256_max_ps(a, b);
        interleave(even: F32, odd: F32) -> [Self::F32; 2] = {
            let (low, high) = (_mm256_unpacklo_ps(even, odd), _mm256_unpackhi_ps(even, odd));
            [_mm256_permute2f128_ps::<0x20>(low, high), _mm256_permute2f128_ps::<0x31>(low, high)]
        };
        to_i32(a: F32) -> Self::I32 = _mm256_cvttps_epi32(a);
        add_f64(a: F64, b: F64) -> Self::F64 = _mm256_add_pd(a, b);
        sub_f64(a: F64, b: F64) -> Self::F64 = _mm256_sub_pd(a, b);
        mul_f64(a: F64, b: F64) -> Self::F64 = _mm256_mul_pd(a, b);
        add_product(acc: F64, a: F64, b: F64) -> Self::F64 = _mm256_fmadd_pd(a, b, acc);
        sub_product(acc: F64, a: F64, b: F64) -> Self::F64 = _mm256_fnmadd_pd(a, b, acc);
        prefix_sums_f64(a: F64) -> Self::F64 = {
            let moved = _mm256_permute4x64_pd::<0b10_01_00_00>(a);
            let a = _mm256_add_pd(a, _mm256_blend_pd::<1>(moved, _mm256_setzero_pd()));
            _mm256_add_pd(a, _mm256_permute2f128_pd::<0x08>(a, a))
        };
        last_f64(a: F64) -> Self::F64 = _mm256_permute4x64_pd::<0xFF>(a);
        min_i32(a: I32, b: I32) -> Self::I32 = _mm256_min_epi32(a, b);
        max_i32(a: I32, b: I32) -> Self::I32 = _mm256_max_epi32(a, b);
        greater_i32(a: I32, b: I32) -> u32 = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b))) as u32;
        greater(a: F32, b: F32) -> u32 = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(a, b)) as u32;
        at_least(a: F32, b: F32) -> u32 = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(a, b)) as u32;
    }
}

/// Bit i: lane i, whose bits are all set or all clear.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(lanes: __m256i) -> u32 {
    let bytes = _mm_packs_epi16(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256::<1>(lanes));
    _mm_movemask_epi8(bytes) as u32
}
