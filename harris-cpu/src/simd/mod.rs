//! Vectors: one trait for the row kernels, one file per instruction set.
//!
//! Kernels need operations that portable SIMD crates lack: products of 16-bit pairs summed to 32
//! bits, widening loads, comparisons to bits. Hence this trait, with these alone. A value that
//! implements [`Simd`] exists only where the processor has its instructions: it proves that they
//! may run. Loads and stores check their bounds, so that kernels need no unsafe code.

/// Loads and stores of [`Simd`], each by one instruction, at any alignment.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! memory {
    ($($load:ident = $read:ident, $store:ident = $write:ident: [$element:ty; $lanes:expr] as $vector:ident;)*) => {
        $(#[inline(always)]
        fn $load(self, row: &[$element], i: usize) -> Self::$vector {
            let row = &row[i..i + $lanes];
            // SAFETY: `self` proves the instruction; the slice holds as many elements as are read.
            unsafe { $read(row.as_ptr().cast()) }
        }

        #[inline(always)]
        fn $store(self, row: &mut [$element], i: usize, v: Self::$vector) {
            let row = &mut row[i..i + $lanes];
            // SAFETY: `self` proves the instruction; the slice holds as many elements as are
            // written.
            unsafe { $write(row.as_mut_ptr().cast(), v) }
        })*
    };
}

/// Vectors of [`Simd`] with one number in all lanes, each by one instruction.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! splats {
    ($($name:ident = $fill:ident: $element:ty as $vector:ident;)*) => {
        $(#[inline(always)]
        fn $name(self, v: $element) -> Self::$vector {
            // SAFETY: `self` proves the instruction.
            unsafe { $fill(v) }
        })*
    };
}

/// Methods of [`Simd`] on lanes alone.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! lanes {
    ($($name:ident($($arg:ident: $type:ident),*) -> $result:ty = $body:expr;)*) => {
        $(#[inline(always)]
        fn $name(self, $($arg: Self::$type),*) -> $result {
            // SAFETY: `self` proves the instructions.
            unsafe { $body }
        })*
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod level;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(feature = "portable", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod portable;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod vector;

pub use level::{Level, UnknownLevel};
pub(crate) use vector::{Simd, SimdKernel, WithSimd, vectors};
