//! The sweep by tiles: columns as wide as a vector, block of rows by block of rows.
//!
//! Lane i of a vector is column i of its tile. Stages shift lanes to reach their right neighbours,
//! so that the first column is always lane 0, and fewer lanes mean something after each stage. The
//! next tile begins where these end.
//!
//! - [`driver`]: the strip, its blocks and their tiles, for numbers of either kind.
//! - [`arithmetic`]: the trait by which kinds of numbers differ. [`i16_arithmetic`] and
//!   [`f32_arithmetic`] implement it.
//! - [`i16_stages`], [`f32_stages`]: from samples to gradients, in registers.
//! - [`i16_windows`], [`f32_windows`]: from gradients to responses, where one may exceed the
//!   threshold.
//! - [`border`]: what stands beyond the image under `Replicate` and `Zero`.
//!
//! Stages and windows are written once for each kind of number. Sums of i16 are kept for pairs of
//! columns, by the instruction that multiplies and adds pairs, a row a vector; floats need two
//! vectors a row, sums of 64 bits, or the order of docs/arithmetic.md. What registers hold decides
//! their form, and one form for both would spill.

pub(crate) mod arithmetic;
pub(crate) mod border;
pub(crate) mod driver;
pub(crate) mod f32_arithmetic;
pub(crate) mod f32_stages;
pub(crate) mod f32_windows;
pub(crate) mod i16_arithmetic;
pub(crate) mod i16_stages;
pub(crate) mod i16_windows;
