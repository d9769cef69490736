//! Which integers hold the sums of a configuration.

use harris_core::{Gradient, HarrisConfig};

/// Whether every window sum of an integer image fits in 31 bits: channels · (gain · full scale)² · Σ weights,
/// where gain is the greatest gradient of an image in 0..1.
pub(crate) fn fits_i32(config: &HarrisConfig, channels: usize, full_scale: f64) -> bool {
    let gain = match config.gradient() {
        Gradient::Sobel3 => 4.0,
        Gradient::Scharr3 => 16.0,
        Gradient::Central => 1.0,
        Gradient::Box { size } => f64::from(size * (size / 2)),
        Gradient::GaussianDerivative { .. } => return false,
    };
    let greatest = gain * full_scale;
    channels as f64 * (greatest * greatest) * config.window().weight_sum() <= f64::from(i32::MAX)
}
