//! NEON: 128 bits, on every 64-bit ARM processor.

#![allow(unsafe_code)]

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::vector::{Simd, SimdKernel};

/// Proof that the processor has NEON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Neon(());

impl Neon {
    /// The proof, where the processor can give it.
    pub(super) fn new() -> Option<Self> {
        let has = is_aarch64_feature_detected!("neon");
        has.then_some(Self(()))
    }
}

impl Simd for Neon {
    const LANES: usize = 4;
    type I16 = int16x8_t;
    type I32 = int32x4_t;
    type F32 = float32x4_t;
    type F64 = float64x2_t;

    #[inline(always)]
    fn enter<K: SimdKernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "neon")]
        fn compiled<K: SimdKernel>(v: Neon, kernel: K) -> K::Output {
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
        unsafe { vreinterpretq_s16_u16(vmovl_u8(vld1_u8(row.as_ptr()))) }
    }

    #[inline(always)]
    fn load_widened(self, row: &[f32], i: usize) -> Self::F64 {
        let row = &row[i..i + 2];
        // SAFETY: `self` proves the instructions; the slice holds as many elements as are read, at
        // any alignment.
        unsafe { vcvt_f64_f32(vld1_f32(row.as_ptr())) }
    }

    memory! {
        load_i16 = vld1q_s16, store_i16 = vst1q_s16: [i16; 8] as I16;
        load_i32 = vld1q_s32, store_i32 = vst1q_s32: [i32; 4] as I32;
        load_f32 = vld1q_f32, store_f32 = vst1q_f32: [f32; 4] as F32;
        load_f64 = vld1q_f64, store_f64 = vst1q_f64: [f64; 2] as F64;
    }

    splats! {
        splat_i16 = vdupq_n_s16: i16 as I16;
        splat_i32 = vdupq_n_s32: i32 as I32;
        splat_f32 = vdupq_n_f32: f32 as F32;
        splat_f64 = vdupq_n_f64: f64 as F64;
    }

    #[inline(always)]
    fn narrow(self, [low, high]: [Self::F64; 2]) -> Self::F32 {
        // SAFETY: `self` proves the instructions.
        unsafe { vcvt_high_f32_f64(vcvt_f32_f64(low), high) }
    }

    #[inline(always)]
    fn shifted_i32(self, a: Self::I32, n: usize) -> Self::I32 {
        // SAFETY: `self` proves the instructions.
        unsafe {
            match n {
                1 => vextq_s32::<1>(a, a),
                // Shifts by more lanes leave no lane that means anything.
                _ => vextq_s32::<2>(a, a),
            }
        }
    }

    lanes! {
        add_i16(a: I16, b: I16) -> Self::I16 = vaddq_s16(a, b);
        sub_i16(a: I16, b: I16) -> Self::I16 = vsubq_s16(a, b);
        shift_right_4(a: I16) -> Self::I16 = vreinterpretq_s16_u16(vshrq_n_u16::<4>(vreinterpretq_u16_s16(a)));
        shift_right_8(a: I16) -> Self::I16 = vreinterpretq_s16_u16(vshrq_n_u16::<8>(vreinterpretq_u16_s16(a)));
        mul_i16(a: I16, b: I16) -> Self::I16 = vmulq_s16(a, b);
        rounded_sixteenth(a: I16) -> Self::I16 = vrshrq_n_s16::<4>(a);
        next_i16(a: I16) -> Self::I16 = vextq_s16::<1>(a, a);
        odd_lanes(a: I16) -> Self::I16 = odd_lanes(a);
        max_i16(a: I16, b: I16) -> Self::I16 = vmaxq_s16(a, b);
        greater_i16(a: I16, b: I16) -> u32 = bits_of_8(vcgtq_s16(a, b));
        equal_i16(a: I16, b: I16) -> u32 = bits_of_8(vceqq_s16(a, b));
        upper_halves(low: F32, high: F32) -> Self::I16 = vuzp2q_s16(vreinterpretq_s16_f32(low), vreinterpretq_s16_f32(high));
        dot(a: I16, b: I16) -> Self::I32 = dot(a, b);
        dot_add(acc: I32, a: I16, b: I16) -> Self::I32 = vaddq_s32(acc, dot(a, b));
        add_i32(a: I32, b: I32) -> Self::I32 = vaddq_s32(a, b);
        sub_i32(a: I32, b: I32) -> Self::I32 = vsubq_s32(a, b);
        prefix_sums_i32(before: I32, a: I32) -> Self::I32 = {
            let zero = vdupq_n_s32(0);
            let a = vaddq_s32(a, vextq_s32::<3>(zero, a));
            let a = vaddq_s32(a, vextq_s32::<2>(zero, a));
            vaddq_s32(vdupq_laneq_s32::<3>(before), a)
        };
        to_f32(a: I32) -> Self::F32 = vcvtq_f32_s32(a);
        add(a: F32, b: F32) -> Self::F32 = vaddq_f32(a, b);
        sub(a: F32, b: F32) -> Self::F32 = vsubq_f32(a, b);
        mul(a: F32, b: F32) -> Self::F32 = vmulq_f32(a, b);
        div(a: F32, b: F32) -> Self::F32 = vdivq_f32(a, b);
        sqrt(a: F32) -> Self::F32 = vsqrtq_f32(a);
        max(a: F32, b: F32) -> Self::F32 = vmaxq_f32(a, b);
        interleave(even: F32, odd: F32) -> [Self::F32; 2] = [vzip1q_f32(even, odd), vzip2q_f32(even, odd)];
        to_i32(a: F32) -> Self::I32 = vcvtq_s32_f32(a);
        add_f64(a: F64, b: F64) -> Self::F64 = vaddq_f64(a, b);
        sub_f64(a: F64, b: F64) -> Self::F64 = vsubq_f64(a, b);
        mul_f64(a: F64, b: F64) -> Self::F64 = vmulq_f64(a, b);
        add_product(acc: F64, a: F64, b: F64) -> Self::F64 = vfmaq_f64(acc, a, b);
        sub_product(acc: F64, a: F64, b: F64) -> Self::F64 = vfmsq_f64(acc, a, b);
        prefix_sums_f64(a: F64) -> Self::F64 = vaddq_f64(a, vextq_f64::<1>(vdupq_n_f64(0.0), a));
        last_f64(a: F64) -> Self::F64 = vdupq_laneq_f64::<1>(a);
        min_i32(a: I32, b: I32) -> Self::I32 = vminq_s32(a, b);
        max_i32(a: I32, b: I32) -> Self::I32 = vmaxq_s32(a, b);
        greater_i32(a: I32, b: I32) -> u32 = bits(vcgtq_s32(a, b));
        greater(a: F32, b: F32) -> u32 = bits(vcgtq_f32(a, b));
        at_least(a: F32, b: F32) -> u32 = bits(vcgeq_f32(a, b));
    }
}

/// a₂ᵢ·b₂ᵢ + a₂ᵢ₊₁·b₂ᵢ₊₁ in lane i.
#[inline]
#[target_feature(enable = "neon")]
fn dot(a: int16x8_t, b: int16x8_t) -> int32x4_t {
    vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b))
}

/// Sets even lanes to zero.
#[inline]
#[target_feature(enable = "neon")]
fn odd_lanes(a: int16x8_t) -> int16x8_t {
    vandq_s16(a, vreinterpretq_s16_u32(vdupq_n_u32(0xFFFF_0000)))
}

/// Bit i: lane i, whose bits are all set or all clear.
#[inline]
#[target_feature(enable = "neon")]
fn bits(lanes: uint32x4_t) -> u32 {
    const LANE_BITS: [u32; 4] = [1, 2, 4, 8];
    // SAFETY: the array has as many elements as are read.
    let places = unsafe { vld1q_u32(LANE_BITS.as_ptr()) };
    vaddvq_u32(vandq_u32(lanes, places))
}

/// Bits of twice as many lanes: all set or all clear.
#[inline]
#[target_feature(enable = "neon")]
fn bits_of_8(lanes: uint16x8_t) -> u32 {
    const LANE_BITS: [u16; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: the array has as many elements as are read.
    let places = unsafe { vld1q_u16(LANE_BITS.as_ptr()) };
    vaddvq_u16(vandq_u16(lanes, places)).into()
}
