//! Ranges of the choices' parameters.

use std::ops::RangeInclusive;

/// Apertures (odd) of Gaussian smoothing, Gaussian derivative and Gaussian window, in pixels.
pub const APERTURES: RangeInclusive<u32> = 3..=127;
/// Sizes, odd and even, of the box window, in pixels.
pub const BOX_WINDOW_SIZES: RangeInclusive<u32> = 2..=127;
/// Apertures (odd) of the box gradient, in pixels.
pub const BOX_GRADIENT_APERTURES: RangeInclusive<u32> = 3..=31;
/// Standard deviations, in pixels.
pub const SIGMA_RANGE: RangeInclusive<f64> = 0.1..=1000.0;
/// Radii of the ring of samples that [`Subpixel::Forstner`](super::Subpixel::Forstner) reads, in pixels.
pub const FORSTNER_RADII: RangeInclusive<u32> = 3..=15;
/// Bins of Rosin's histogram.
pub const ROSIN_BINS: RangeInclusive<u32> = 2..=65536;
