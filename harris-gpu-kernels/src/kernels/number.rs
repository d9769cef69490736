//! The number types of the stages, and floats as integers that compare alike.

use core::ops::{Add, Mul, Sub};

use crate::Word;

/// A number type of a stage: an exact integer or `f32`.
pub(crate) trait Number: Word + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    /// Zero: the value of samples under the border rule zero.
    const ZERO: Self;
    /// The neutral element of addition: −0 for floats, because −0 + x is x also for x = −0.
    const NEUTRAL: Self;
    /// A weight of a filter.
    fn weight(value: u8) -> Self;
    /// The weighted mean for a sum of a binomial of radius 1 or 2 over both axes: rounded if it is
    /// an integer.
    fn mean(self, radius: usize) -> Self;
}

impl Number for i32 {
    const ZERO: Self = 0;
    const NEUTRAL: Self = 0;
    #[inline(always)]
    fn weight(value: u8) -> Self {
        value.into()
    }
    #[inline(always)]
    fn mean(self, radius: usize) -> Self {
        (self + (1 << (4 * radius - 1))) >> (4 * radius)
    }
}

impl Number for i64 {
    const ZERO: Self = 0;
    const NEUTRAL: Self = 0;
    #[inline(always)]
    fn weight(value: u8) -> Self {
        value.into()
    }
    #[inline(always)]
    fn mean(self, radius: usize) -> Self {
        (self + (1 << (4 * radius - 1))) >> (4 * radius)
    }
}

impl Number for f32 {
    const ZERO: Self = 0.0;
    const NEUTRAL: Self = -0.0;
    #[inline(always)]
    fn weight(value: u8) -> Self {
        value.into()
    }
    #[inline(always)]
    fn mean(self, radius: usize) -> Self {
        self * if radius == 1 { 1.0 / 16.0 } else { 1.0 / 256.0 }
    }
}

/// Bits of a float that compare as unsigned integers like finite floats do.
#[inline(always)]
pub(crate) fn to_ordered_bits(value: f32) -> u32 {
    let bits = value.to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
}

/// The float of bits that [`to_ordered_bits`] returned.
#[inline(always)]
pub(crate) fn from_ordered_bits(bits: u32) -> f32 {
    f32::from_bits(if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits })
}
