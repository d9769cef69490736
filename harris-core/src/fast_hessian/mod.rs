//! SURF's Fast-Hessian detector: blobs in scale space, from box filters on an integral image.
//!
//! ```
//! use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
//! use harris_core::{Detector, ImageView};
//!
//! // A light disc of radius 6 on black.
//! let disc: Vec<u8> = (0..64 * 64)
//!     .map(|i| if (i % 64 - 32_i32).pow(2) + (i / 64 - 30_i32).pow(2) <= 36 { 255 } else { 0 })
//!     .collect();
//! let mut detector = ReferenceFastHessian::new(FastHessianConfig::default());
//! let strongest = detector.detect(&ImageView::gray(&disc, 64, 64)?)?[0];
//! assert!((strongest.x - 32.0).abs() < 1.0 && (strongest.y - 30.0).abs() < 1.0);
//! // Its scale is half of the radius, and the response of light blobs is negative.
//! assert!((2.5..3.5).contains(&strongest.scale) && strongest.response < 0.0);
//! # Ok::<(), harris_core::Error>(())
//! ```
//!
//! After Bay, Ess, Tuytelaars and Van Gool 2008 ("Speeded-Up Robust Features"). The default has the
//! layers and samples of OpenSURF's last release (Evans 2009) and the parameters that Hofmann
//! (2009) used. [`presets::hofmann_2009`] is his own detector for CUDA, which samples at other
//! pixels. The arithmetic is in docs/arithmetic.md, section 11.
//!
//! A colour counts by its mean. Float samples must be in 0..=1, as sums are exact.
//!
//! A mask excludes keypoints whose sample lies outside it. Samples outside still compete and still
//! have determinants.

mod config;
mod extrema;
pub mod presets;
mod pyramid;
mod reference;
mod response;
mod sampling;

pub use config::{FastHessianConfig, FastHessianConfigBuilder, INTERVALS, OCTAVES, STEPS};
#[doc(hidden)]
pub use extrema::{Cube, Offset, is_peak, offset};
#[doc(hidden)]
pub use pyramid::{Layer, Pyramid, Triple};
pub use reference::ReferenceFastHessian;
#[doc(hidden)]
pub use response::{Hessian, unit};
pub use sampling::Sampling;

use std::time::Duration;

/// Duration of each step of a Fast-Hessian detection, as Hofmann (2009, figure 19) divides it.
///
/// Backends make it from [`StepTimes::default`], in which all are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepTimes {
    /// The integral image.
    pub integral: Duration,
    /// The determinants of all layers.
    pub responses: Duration,
    /// The search for peaks, and their interpolation between samples.
    pub peaks: Duration,
    /// Sorting the list.
    pub list: Duration,
}
