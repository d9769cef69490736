//! Numbers on which stages compute.

use core::ops::{Add, Mul, Sub};

use crate::Word;

/// Exact integers and floats.
pub(crate) trait Number: Word + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> {
    const ZERO: Self;
    /// What changes no number that it is added to, not even one that is zero.
    const NOTHING: Self;
    fn weight(value: u8) -> Self;
    /// What the sum of a binomial of radius 1 or 2 over both axes becomes: rounded, where it is an integer.
    fn mean(self, radius: usize) -> Self;
}

impl Number for i32 {
    const ZERO: Self = 0;
    const NOTHING: Self = 0;
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
    const NOTHING: Self = 0;
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
    const NOTHING: Self = -0.0;
    #[inline(always)]
    fn weight(value: u8) -> Self {
        value.into()
    }
    #[inline(always)]
    fn mean(self, radius: usize) -> Self {
        self * if radius == 1 { 1.0 / 16.0 } else { 1.0 / 256.0 }
    }
}

/// Bits that compare as finite numbers do.
#[inline(always)]
pub(crate) fn ordered(value: f32) -> u32 {
    let bits = value.to_bits();
    bits ^ ((bits as i32 >> 31) as u32 | 1 << 31)
}

/// The number of such bits.
#[inline(always)]
pub(crate) fn unordered(bits: u32) -> f32 {
    f32::from_bits(if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits })
}
