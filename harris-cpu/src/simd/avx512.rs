//! AVX-512 with VNNI: 512 bits (Cascade Lake, Ice Lake, Zen 4 and later).

#![allow(unsafe_code)]

use std::arch::asm;
use std::arch::x86_64::*;

use super::sse2::prefetch;
use super::vector::{Simd, SimdKernel, align_frame};

/// Proof that the processor has AVX-512 F, BW and VNNI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Avx512(());

impl Avx512 {
    /// The proof, where the processor can give it.
    pub(super) fn new() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vnni");
        has.then_some(Self(()))
    }
}

impl Simd for Avx512 {
    const LANES: usize = 16;
    type I16 = __m512i;
    type I32 = __m512i;
    type F32 = __m512;
    type F64 = __m512d;

    #[inline(always)]
    fn enter<K: SimdKernel>(self, kernel: K) -> K::Output {
        // Never inlined: kernels need the registers to themselves even where the caller has the
        // features.
        #[inline(never)]
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        fn compiled<K: SimdKernel>(v: Avx512, kernel: K) -> K::Output {
            align_frame();
            kernel.run(v)
        }
        // SAFETY: `self` proves that the processor has the features that `compiled` is compiled
        // for.
        unsafe { compiled(self, kernel) }
    }

    #[inline(always)]
    fn load_u8(self, row: &[u8], i: usize) -> Self::I16 {
        let row = &row[i..i + 32];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm512_cvtepu8_epi16(_mm256_loadu_si256(row.as_ptr().cast())) }
    }

    #[inline(always)]
    fn prefetch<T>(self, row: &[T], i: usize) {
        prefetch(row, i);
    }

    #[inline(always)]
    fn shifted_i32(self, a: Self::I32, n: usize) -> Self::I32 {
        // SAFETY: `self` proves the instructions.
        unsafe {
            match n {
                1 => _mm512_alignr_epi32::<1>(a, a),
                2 => _mm512_alignr_epi32::<2>(a, a),
                4 => _mm512_alignr_epi32::<4>(a, a),
                _ => _mm512_alignr_epi32::<5>(a, a),
            }
        }
    }

    #[inline(always)]
    fn shifted_i16<const K: usize>(self, a: Self::I16) -> Self::I16 {
        // SAFETY: `self` proves the instructions.
        unsafe { _mm512_permutexvar_epi16(lane_indices::<K, 1>(), a) }
    }

    #[inline(always)]
    fn load_widened(self, row: &[f32], i: usize) -> Self::F64 {
        let row = &row[i..i + 8];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm512_cvtps_pd(_mm256_loadu_ps(row.as_ptr())) }
    }

    #[inline(always)]
    fn shifted<const K: usize>(self, a: Self::F32, behind: Self::F32) -> Self::F32 {
        // SAFETY: `self` proves the instructions.
        unsafe { shifted_f32::<K>(a, behind) }
    }

    #[inline(always)]
    fn load_bytes(self, row: &[u8], i: usize) -> Self::I32 {
        let row = &row[i..i + 16];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm512_cvtepu8_epi32(_mm_loadu_si128(row.as_ptr().cast())) }
    }

    #[inline(always)]
    fn load_u16(self, row: &[u16], i: usize) -> Self::I32 {
        let row = &row[i..i + 16];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { _mm512_cvtepu16_epi32(_mm256_loadu_si256(row.as_ptr().cast())) }
    }

    #[inline(always)]
    fn shift_right_i32<const K: i32>(self, a: Self::I32) -> Self::I32 {
        // SAFETY: `self` proves the instructions.
        unsafe { _mm512_srl_epi32(a, _mm_cvtsi32_si128(K)) }
    }

    #[inline(always)]
    fn unsigned_to_f32(self, a: Self::I32) -> Self::F32 {
        // SAFETY: `self` proves the instructions.
        unsafe { _mm512_cvtepu32_ps(a) }
    }

    #[inline(always)]
    fn neighbors_f64<const K: usize>(self, row: &[f64], i: usize) -> [[Self::F64; 2]; 2] {
        // Loads of whole cache lines, then lanes are shifted: a load across two lines takes as long
        // as two.
        let [before, a] = [self.load_f64(row, i - 8), self.load_f64(row, i)];
        let [b, behind] = [self.load_f64(row, i + 8), self.load_f64(row, i + 16)];
        // SAFETY: `self` proves the instructions.
        unsafe {
            [
                [shifted_back_f64::<K>(before, a), shifted_back_f64::<K>(a, b)],
                [shifted_f64::<K>(a, b), shifted_f64::<K>(b, behind)],
            ]
        }
    }

    memory! {
        load_i16 = _mm512_loadu_si512, store_i16 = _mm512_storeu_si512: [i16; 32] as I16;
        load_i32 = _mm512_loadu_si512, store_i32 = _mm512_storeu_si512: [i32; 16] as I32;
        load_f32 = _mm512_loadu_ps, store_f32 = _mm512_storeu_ps: [f32; 16] as F32;
        load_f64 = _mm512_loadu_pd, store_f64 = _mm512_storeu_pd: [f64; 8] as F64;
    }

    splats! {
        splat_i16 = _mm512_set1_epi16: i16 as I16;
        splat_i32 = _mm512_set1_epi32: i32 as I32;
        splat_f32 = _mm512_set1_ps: f32 as F32;
        splat_f64 = _mm512_set1_pd: f64 as F64;
    }

    #[inline(always)]
    fn narrow(self, [low, high]: [Self::F64; 2]) -> Self::F32 {
        // SAFETY: `self` proves the instructions.
        unsafe {
            let low = _mm512_castpd256_pd512(_mm256_castps_pd(_mm512_cvtpd_ps(low)));
            _mm512_castpd_ps(_mm512_insertf64x4::<1>(low, _mm256_castps_pd(_mm512_cvtpd_ps(high))))
        }
    }

    lanes! {
        add_i16(a: I16, b: I16) -> Self::I16 = _mm512_add_epi16(a, b);
        sub_i16(a: I16, b: I16) -> Self::I16 = _mm512_sub_epi16(a, b);
        shift_right_4(a: I16) -> Self::I16 = _mm512_srli_epi16::<4>(a);
        shift_right_8(a: I16) -> Self::I16 = _mm512_srli_epi16::<8>(a);
        mul_i16(a: I16, b: I16) -> Self::I16 = _mm512_mullo_epi16(a, b);
        rounded_sixteenth(a: I16) -> Self::I16 = _mm512_mulhrs_epi16(a, _mm512_set1_epi16(1 << 11));
        next_i16(a: I16) -> Self::I16 = _mm512_permutexvar_epi16(lane_indices::<1, 1>(), a);
        odd_lanes(a: I16) -> Self::I16 = _mm512_and_si512(a, _mm512_set1_epi32(0xFFFF_0000_u32 as i32));
        max_i16(a: I16, b: I16) -> Self::I16 = _mm512_max_epi16(a, b);
        greater_i16(a: I16, b: I16) -> u32 = _mm512_cmpgt_epi16_mask(a, b);
        equal_i16(a: I16, b: I16) -> u32 = _mm512_cmpeq_epi16_mask(a, b);
        upper_halves(low: F32, high: F32) -> Self::I16 = _mm512_permutex2var_epi16(_mm512_castps_si512(low), lane_indices::<1, 2>(), _mm512_castps_si512(high));
        dot(a: I16, b: I16) -> Self::I32 = _mm512_madd_epi16(a, b);
        dot_add(acc: I32, a: I16, b: I16) -> Self::I32 = dot_add(acc, a, b);
        add_i32(a: I32, b: I32) -> Self::I32 = _mm512_add_epi32(a, b);
        sub_i32(a: I32, b: I32) -> Self::I32 = _mm512_sub_epi32(a, b);
        prefix_sums_i32(before: I32, a: I32) -> Self::I32 = {
            let zero = _mm512_setzero_si512();
            let a = _mm512_add_epi32(a, _mm512_alignr_epi32::<15>(a, zero));
            let a = _mm512_add_epi32(a, _mm512_alignr_epi32::<14>(a, zero));
            let a = _mm512_add_epi32(a, _mm512_alignr_epi32::<12>(a, zero));
            let a = _mm512_add_epi32(a, _mm512_alignr_epi32::<8>(a, zero));
            // Added last, so that a vector waits for the one before by one addition alone.
            _mm512_add_epi32(a, last_lane(before))
        };
        to_f32(a: I32) -> Self::F32 = _mm512_cvtepi32_ps(a);
        add(a: F32, b: F32) -> Self::F32 = _mm512_add_ps(a, b);
        sub(a: F32, b: F32) -> Self::F32 = _mm512_sub_ps(a, b);
        add_twice(acc: F32, a: F32) -> Self::F32 = _mm512_fmadd_ps(a, _mm512_set1_ps(2.0), acc);
        abs(a: F32) -> Self::F32 = _mm512_abs_ps(a);
        next_f64(a: F64, behind: F64) -> Self::F64 = shifted_f64::<1>(a, behind);
        mul(a: F32, b: F32) -> Self::F32 = _mm512_mul_ps(a, b);
        div(a: F32, b: F32) -> Self::F32 = _mm512_div_ps(a, b);
        sqrt(a: F32) -> Self::F32 = _mm512_sqrt_ps(a);
        max(a: F32, b: F32) -> Self::F32 = _mm512_max_ps(a, b);
        interleave(even: F32, odd: F32) -> [Self::F32; 2] = {
            let low = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
            let high = _mm512_set_epi32(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8);
            [_mm512_permutex2var_ps(even, low, odd), _mm512_permutex2var_ps(even, high, odd)]
        };
        to_i32(a: F32) -> Self::I32 = _mm512_cvttps_epi32(a);
        add_f64(a: F64, b: F64) -> Self::F64 = _mm512_add_pd(a, b);
        sub_f64(a: F64, b: F64) -> Self::F64 = _mm512_sub_pd(a, b);
        mul_f64(a: F64, b: F64) -> Self::F64 = _mm512_mul_pd(a, b);
        add_product(acc: F64, a: F64, b: F64) -> Self::F64 = _mm512_fmadd_pd(a, b, acc);
        sub_product(acc: F64, a: F64, b: F64) -> Self::F64 = _mm512_fnmadd_pd(a, b, acc);
        prefix_sums_f64(a: F64) -> Self::F64 = {
            let zero = _mm512_setzero_pd();
            let a = _mm512_add_pd(a, shifted_back_f64::<1>(zero, a));
            let a = _mm512_add_pd(a, shifted_back_f64::<2>(zero, a));
            _mm512_add_pd(a, shifted_back_f64::<4>(zero, a))
        };
        last_f64(a: F64) -> Self::F64 = _mm512_permutexvar_pd(_mm512_set1_epi64(7), a);
        min_i32(a: I32, b: I32) -> Self::I32 = _mm512_min_epi32(a, b);
        max_i32(a: I32, b: I32) -> Self::I32 = _mm512_max_epi32(a, b);
        greater_i32(a: I32, b: I32) -> u32 = u32::from(_mm512_cmpgt_epi32_mask(a, b));
        greater(a: F32, b: F32) -> u32 = u32::from(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(a, b));
        at_least(a: F32, b: F32) -> u32 = u32::from(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(a, b));
    }
}

/// acc + a₂ᵢ·b₂ᵢ + a₂ᵢ₊₁·b₂ᵢ₊₁ by inline assembly: the compiler makes a product and an addition of
/// the intrinsic.
#[inline]
#[target_feature(enable = "avx512f,avx512vnni")]
fn dot_add(mut acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the instruction, whose feature the function has, reads and writes these registers
    // alone.
    unsafe {
        asm!(
            "vpdpwssd {acc}, {a}, {b}",
            acc = inout(zmm_reg) acc, a = in(zmm_reg) a, b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    acc
}

/// The last lane in all lanes, by inline assembly: the compiler makes two instructions of the
/// intrinsic, on which others wait.
#[inline]
#[target_feature(enable = "avx512f")]
fn last_lane(a: __m512i) -> __m512i {
    let last = _mm512_set1_epi32(15);
    let all;
    // SAFETY: the instruction, whose feature the function has, reads and writes these registers
    // alone.
    unsafe {
        asm!(
            "vpermd {all}, {last}, {a}",
            all = lateout(zmm_reg) all, last = in(zmm_reg) last, a = in(zmm_reg) a,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    all
}

/// The last K lanes of `before`, then the first of `a`.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifted_back_f64<const K: usize>(before: __m512d, a: __m512d) -> __m512d {
    align::<8, K>(before, a)
}

/// The last lanes of `a`, from lane K on, then the first of `behind`.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifted_f64<const K: usize>(a: __m512d, behind: __m512d) -> __m512d {
    align::<K, 0>(a, behind)
}

/// The last lanes of `a`, from lane K on, then the first of `behind`, by inline assembly: the
/// compiler makes other instructions of the intrinsic, which need a register for indices.
#[inline]
#[target_feature(enable = "avx512f")]
fn shifted_f32<const K: usize>(a: __m512, behind: __m512) -> __m512 {
    let aligned;
    // SAFETY: the instruction, whose feature the function has, reads and writes these registers
    // alone.
    unsafe {
        asm!(
            "valignd {aligned}, {behind}, {a}, {lanes}",
            aligned = lateout(zmm_reg) aligned, behind = in(zmm_reg) behind, a = in(zmm_reg) a, lanes = const K,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    aligned
}

/// Lanes of `a` and `b` from lane FROM − BACK on, by inline assembly. Of the intrinsic the compiler
/// makes `vexpandpd` where `a` is zero, which takes Zen 5 ten times as long.
#[inline]
#[target_feature(enable = "avx512f")]
fn align<const FROM: usize, const BACK: usize>(a: __m512d, b: __m512d) -> __m512d {
    let aligned;
    // SAFETY: the instruction, whose feature the function has, reads and writes these registers
    // alone.
    unsafe {
        asm!(
            "valignq {aligned}, {b}, {a}, {lanes}",
            aligned = lateout(zmm_reg) aligned, b = in(zmm_reg) b, a = in(zmm_reg) a, lanes = const FROM - BACK,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    aligned
}

/// FIRST, FIRST + STEP, ...
#[inline]
#[target_feature(enable = "avx512f")]
fn lane_indices<const FIRST: usize, const STEP: usize>() -> __m512i {
    // SAFETY: the array has as many bytes as are read.
    unsafe { _mm512_loadu_si512(LaneIndices::<FIRST, STEP>::INDICES.as_ptr().cast()) }
}

struct LaneIndices<const FIRST: usize, const STEP: usize>;

impl<const FIRST: usize, const STEP: usize> LaneIndices<FIRST, STEP> {
    const INDICES: [i16; 32] = {
        let mut places = [0; 32];
        let mut i = 0;
        while i < 32 {
            places[i] = (FIRST + STEP * i) as i16;
            i += 1;
        }
        places
    };
}
