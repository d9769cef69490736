//! Which numbers hold the sums of a configuration.

use harris_core::HarrisConfig;

/// Whether every window sum of an integer image fits in 31 bits.
pub(crate) fn fits_i32(config: &HarrisConfig, channels: usize, full_scale: f64) -> bool {
    config.greatest_sum(channels, full_scale).is_some_and(|sum| sum <= f64::from(i32::MAX))
}

/// Whether 64-bit floats hold every window sum of an integer image exactly, and so the running sums over `columns`
/// columns of the sums down them.
pub(crate) fn fits_f64(config: &HarrisConfig, channels: usize, full_scale: f64, columns: usize) -> bool {
    const EXACT: f64 = (1_u64 << 53) as f64;
    let down = config.window().weight_sum().sqrt();
    config.greatest_sum(channels, full_scale).is_some_and(|sum| sum.max(sum / down * columns as f64) <= EXACT)
}
