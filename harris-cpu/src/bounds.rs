//! Which numbers hold the sums of a configuration.

use harris_core::{Gradient, HarrisConfig};

/// The greatest gradient of an image in 0..1; `None` where its weights are floats.
pub(crate) fn gain(gradient: Gradient) -> Option<f64> {
    match gradient {
        Gradient::Sobel3 => Some(4.0),
        Gradient::Scharr3 => Some(16.0),
        Gradient::Central => Some(1.0),
        Gradient::Box { size } => Some(f64::from(size * (size / 2))),
        Gradient::GaussianDerivative { .. } => None,
    }
}

/// The greatest window sum of an integer image: channels · (gain · full scale)² · Σ weights.
fn greatest_sum(config: &HarrisConfig, channels: usize, full_scale: f64) -> Option<f64> {
    let greatest = gain(config.gradient())? * full_scale;
    Some(channels as f64 * (greatest * greatest) * config.window().weight_sum())
}

/// Whether every window sum of an integer image fits in 31 bits.
pub(crate) fn fits_i32(config: &HarrisConfig, channels: usize, full_scale: f64) -> bool {
    greatest_sum(config, channels, full_scale).is_some_and(|sum| sum <= f64::from(i32::MAX))
}

/// Whether 64-bit floats hold every window sum of an integer image exactly, and so the running sums over `columns`
/// columns of the sums down them.
pub(crate) fn fits_f64(config: &HarrisConfig, channels: usize, full_scale: f64, columns: usize) -> bool {
    const EXACT: f64 = (1_u64 << 53) as f64;
    let down = config.window().weight_sum().sqrt();
    greatest_sum(config, channels, full_scale)
        .is_some_and(|sum| sum.max(sum / down * columns as f64) <= EXACT)
}
