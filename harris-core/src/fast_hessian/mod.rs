//! SURF's Fast-Hessian detector: blobs in scale space, from box filters on an integral image.
//!
//! After Bay, Ess, Tuytelaars and Van Gool 2008 ("Speeded-Up Robust Features"). The default has the
//! layers and samples of OpenSURF's last release (Evans 2009) and the parameters that Hofmann
//! (2009) used. [`presets::hofmann_2009`] is his own detector for CUDA, which samples at other
//! pixels. The arithmetic is in docs/arithmetic.md, section 11.
//!
//! Colours count by their mean; float samples must be in 0..=1, as sums are exact. A mask bars
//! keypoints whose sample lies outside it, but those outside still compete, unlike for corners:
//! filters reach across a mask's edge anyway.

mod config;
mod extrema;
pub mod presets;
mod pyramid;
mod reference;
mod response;
mod sampling;

pub use config::{FastHessianConfig, FastHessianConfigBuilder, INTERVALS, OCTAVES, STEPS};
pub use extrema::{Cube, Offset, is_peak, offset};
pub use pyramid::{Layer, Pyramid, Triple};
pub use reference::ReferenceFastHessian;
pub use response::{Hessian, unit};
pub use sampling::Sampling;

use std::time::Duration;

/// How long each step of a detection took, as Hofmann (2009, figure 19) divides it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepTimes {
    /// The integral image.
    pub integral: Duration,
    /// The determinants of all layers.
    pub responses: Duration,
    /// The search for peaks and their places between samples.
    pub peaks: Duration,
    /// The list in its order.
    pub list: Duration,
}
