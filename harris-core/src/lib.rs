//! Harris corner detection and related detectors: the part that all backends share.
//!
//! ```
//! use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
//!
//! // A gray image of 8-bit samples: a white square on black.
//! let (width, height) = (64, 48);
//! let samples: Vec<u8> = (0..width * height)
//!     .map(|i| if (16..40).contains(&(i % width)) && (12..36).contains(&(i / width)) { 255 } else { 0 })
//!     .collect();
//! let image = ImageView::gray(&samples, width, height)?;
//!
//! let mut detector = ReferenceDetector::new(HarrisConfig::default());
//! let corners = detector.detect(&image)?;
//! assert_eq!(corners.len(), 4);
//! assert_eq!((corners[0].x, corners[0].y), (16.0, 12.0));
//! # Ok::<(), harris_core::Error>(())
//! ```
//!
//! - [`ImageView`] borrows an image: u8, u16 or f32 samples, gray or three channels, any row
//!   stride, an optional mask.
//! - [`HarrisConfig`] says what to compute; [`presets`] has published systems.
//! - [`Detector`] is the trait that backends implement. [`ReferenceDetector`] is the readable one,
//!   in [`pipeline`]; `harris-cpu` is the fast one. All give equal [`Keypoint`]s, bit for bit.
//! - [`fast_hessian`] finds blobs and [`surf`] describes keypoints; [`features`] does both in one
//!   call. [`matching`] pairs descriptors of two images and finds the homography between them.
//!
//! # Features
//! - `image`: conversions from the `image` crate's buffers.
//! - `cust_core`: [`Keypoint`] implements Rust-CUDA's `DeviceCopy`, so that device memory can hold
//!   it. Nothing is linked.
//! - `serde`: reads and writes configurations and keypoints. Configurations are validated when
//!   read.

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
