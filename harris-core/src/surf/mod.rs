//! The SURF descriptor: 64 values that tell the surroundings of a keypoint from those of others.
//!
//! After Bay et al. 2008, with the overlapping subregions of Agrawal, Konolige and Blas 2008 (CenSurE), as OpenSURF has them.
//! The arithmetic is in docs/arithmetic.md, section 12. Keypoints may come from any detector.
//!
//! ```
//! use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
//! use harris_core::{ImageView, Keypoint};
//!
//! let samples: Vec<u8> = (0..64 * 64).map(|i| (i * i / 97 % 256) as u8).collect();
//! let image = ImageView::gray(&samples, 64, 64)?;
//! let keypoints = [Keypoint::new(30.0, 31.5, 1.0), Keypoint::new(12.25, 40.0, 1.0)];
//! let descriptors = ReferenceSurf::new(SurfConfig::default()).extract(&image, &keypoints)?;
//! assert_eq!(descriptors.dim(), (2, 64));
//! // Of length 1.
//! let length: f32 = descriptors.row(0).iter().map(|v| v * v).sum();
//! assert!((length - 1.0).abs() < 1e-5);
//! # Ok::<(), harris_core::Error>(())
//! ```

mod config;
mod reference;
mod tables;

use ndarray::Array2;

pub use config::{MAGNIFICATIONS, MAX_SCALE, SurfConfig, SurfConfigBuilder};
pub use reference::{Frame, ReferenceSurf};
pub use tables::{CIRCLE, DIRECTIONS, GRID, REGION, REGIONS, SPACING, Tables};

use crate::{Error, ImageView, Keypoint};

/// Values of a descriptor: Σdx, Σdy, Σ|dx| and Σ|dy| of 4 × 4 subregions.
pub const LENGTH: usize = 64;

/// What computes descriptors; all implementations give the same to the bit.
pub trait Extractor: Send {
    /// The descriptors of `keypoints`, N × 64, a row each, in their order: of length 1, or all zeros where the image is flat.
    ///
    /// The image is taken to be 0 beyond its edges.
    ///
    /// # Errors
    /// [`Error::KeypointOutside`], [`Error::KeypointScale`]; [`Error::NonFinite`] and [`Error::SampleOutOfRange`] for float
    /// samples; [`Error::Backend`] where the backend itself fails.
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error>;
}
