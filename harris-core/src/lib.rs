//! Harris corner detection and SURF: what all backends share, and a readable reference.
//!
//! To detect corners, use the crate `harris`. It re-exports these types and chooses a backend. This
//! crate is for other backends, and for programs that want the reference alone.
//!
//! ```
//! use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
//!
//! let photograph = image::open("../examples/data/camera.png")?.to_luma8();
//! let (width, height) = (photograph.width() as usize, photograph.height() as usize);
//! let image = ImageView::gray(photograph.as_raw(), width, height)?;
//!
//! let config = HarrisConfig::builder().max_corners(100).build()?;
//! let corners = ReferenceDetector::new(config).detect(&image)?;
//! assert_eq!(corners.len(), 100);
//! assert!(corners[0].response >= corners[99].response);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to start
//!
//! | item | is |
//! | --- | --- |
//! | [`ImageView`] | a borrowed image: u8, u16 or f32 samples, gray or three channels, any row stride, an optional mask |
//! | [`HarrisConfig`] | what to compute; [`presets`] has published systems |
//! | [`Detector`] | the trait that backends implement |
//! | [`ReferenceDetector`] | plain code, stage by stage in [`pipeline`]; every backend gives its results, bit for bit |
//! | [`Keypoint`] | a corner or a blob: place, scale, response |
//! | [`fast_hessian`] | blobs |
//! | [`surf`] | descriptors of keypoints |
//! | [`features`] | keypoints and their descriptors in one call |
//! | [`matching`] | matches of descriptors, and the homography between two images |
//! | [`Error`] | all errors, by cause |
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `image` | [`ImageView`] from buffers of the crate `image` 0.25 |
//! | `serde` | `Serialize` and `Deserialize` of the crate `serde` for configurations, keypoints and matches; configurations are validated when read |
//! | `cust_core` | Rust-CUDA's `DeviceCopy` for [`Keypoint`], so that device memory can hold it; nothing is linked |
//!
//! No feature is on by default.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod config;
mod detector;
mod error;
pub mod fast_hessian;
pub mod features;
pub mod float_mode;
mod image;
pub mod integral;
mod keypoint;
mod limits;
pub mod matching;
#[doc(hidden)]
pub mod memory;
pub mod pipeline;
pub mod presets;
mod reference;
pub mod surf;

#[doc(inline)]
pub use config::{
    Border, Gradient, HarrisConfig, HarrisConfigBuilder, Measure, MeasureKind, Order, Plateau, Smoothing,
    Subpixel, Threshold, Ties, Window,
};
pub use detector::{Detector, StageTimes};
pub use error::Error;
pub use image::{ImageView, MAX_SAMPLE, MAX_SIDE, MIN_RANGE, Raster, Sample, Samples};
pub use keypoint::Keypoint;
pub use reference::ReferenceDetector;

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
