//! The sweep by rows: a kernel for each stage, from a few rows in memory to the next.
//!
//! - [`driver`]: the way down a strip, which both engines share.
//! - [`i16_sweep`]: 8-bit samples, 16-bit gradients, 32-bit sums; its kernels are in
//!   [`i16_kernels`], [`i16_gradients`] and [`i16_tensor`].
//! - [`f32_sweep`]: every sample type and window, with its gradients in [`f32_gradients`]; its
//!   kernels are in [`f32_kernels`], [`f32_weighted`] and [`f64_sums`].

mod driver;
mod f32_gradients;
mod f32_kernels;
mod f32_memory;
pub(crate) mod f32_sweep;
mod f32_weighted;
mod f64_sums;
mod i16_gradients;
mod i16_kernels;
pub(crate) mod i16_sweep;
mod i16_tensor;
mod next_rows;

pub(crate) use f32_memory::Memory as F32Memory;
pub(crate) use i16_sweep::Memory as I16Memory;
