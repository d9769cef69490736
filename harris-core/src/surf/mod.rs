//! The SURF descriptor: 64 values that describe the surroundings of a keypoint.
//!
//! After Bay et al. 2008, with the overlapping subregions of Agrawal, Konolige and Blas 2008
//! (CenSurE), as OpenSURF has them. The arithmetic is in docs/arithmetic.md, section 12. Keypoints
//! may come from any detector.
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
mod extractor;
mod reference;
mod tables;

pub use config::{SurfConfig, SurfConfigBuilder};
pub use extractor::Extractor;
#[doc(hidden)]
pub use reference::Frame;
pub use reference::ReferenceSurf;
#[doc(hidden)]
pub use tables::{CIRCLE, DIRECTIONS, GRID, REGION, REGIONS, SPACING, Tables};

pub use crate::limits::{LENGTH, MAGNIFICATIONS, MAX_SCALE};
