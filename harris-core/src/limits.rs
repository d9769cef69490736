//! Ranges of images, of parameters and of descriptors: outside them is an error.
//!
//! docs/arithmetic.md tells why each limit is where it is.

use std::ops::RangeInclusive;

/// The longest side of an image, in pixels: 2²⁴, up to which f32 holds every coordinate exactly.
pub const MAX_SIDE: usize = 1 << 24;

/// The greatest magnitude of an f32 sample, up to which no response can overflow, whatever the
/// configuration.
pub const MAX_SAMPLE: f32 = 1e8;

/// The least range of f32 samples below which corners may be lost: 2⁻²⁴.
///
/// A corner has a response of about the fourth power of its contrast, or of the second. Here a
/// contrast of a thirtieth of the range still gives responses that are normal numbers.
pub const MIN_RANGE: f32 = 1.0 / 16_777_216.0;

/// Apertures (odd) of Gaussian smoothing, Gaussian derivative and Gaussian window, in pixels.
pub const APERTURES: RangeInclusive<u32> = 3..=127;
/// Sizes, odd and even, of the box window, in pixels.
pub const BOX_WINDOW_SIZES: RangeInclusive<u32> = 2..=127;
/// Apertures (odd) of the box gradient, in pixels.
pub const BOX_GRADIENT_APERTURES: RangeInclusive<u32> = 3..=31;
/// Standard deviations, in pixels.
pub const SIGMA_RANGE: RangeInclusive<f64> = 0.1..=1000.0;
/// Radii of the ring of samples that [`Subpixel::Forstner`](crate::Subpixel::Forstner) reads, in
/// pixels.
pub const FORSTNER_RADII: RangeInclusive<u32> = 3..=15;
/// Bins of Rosin's histogram.
pub const ROSIN_BINS: RangeInclusive<u32> = 2..=65536;

/// Values of a SURF descriptor: Σdx, Σdy, Σ|dx| and Σ|dy| of 4 × 4 subregions.
pub const LENGTH: usize = 64;
/// Factors by which keypoint scales may be multiplied for a descriptor.
pub const MAGNIFICATIONS: RangeInclusive<f32> = 0.1..=64.0;
/// The greatest scale of a keypoint after magnification, up to which sums of 16-bit samples are
/// exact.
pub const MAX_SCALE: f32 = 64.0;

/// Greatest distances of an inlier of a homography, in pixels.
pub const INLIER_DISTANCES: RangeInclusive<f64> = 1e-9..=1e6;
/// Samples that RANSAC may draw.
pub const RANSAC_SAMPLES: RangeInclusive<u32> = 1..=10_000_000;
