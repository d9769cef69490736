//! Harris corner detection on the CPU.
//!
//! ```
//! use harris_cpu::{CpuDetector, Detector, HarrisConfig, ImageView};
//!
//! // A gray image: here a white square on black, as 8-bit samples.
//! let (width, height) = (64, 48);
//! let samples: Vec<u8> = (0..width * height)
//!     .map(|i| if (16..40).contains(&(i % width)) && (12..36).contains(&(i / width)) { 255 } else { 0 })
//!     .collect();
//! let image = ImageView::gray(&samples, width, height)?;
//!
//! let mut detector = CpuDetector::new(HarrisConfig::default());
//! let corners = detector.detect(&image)?;
//! assert_eq!(corners.len(), 4);
//! assert_eq!((corners[0].x, corners[0].y), (16.0, 12.0));
//! # Ok::<(), harris_cpu::Error>(())
//! ```
//!
//! The image is cut into bands of rows, one or a few a thread; the result depends neither on their number nor on the instruction
//! set ([`Level`]), which is chosen at run time. It equals that of [`harris_core::ReferenceDetector`] to the bit, for
//! every configuration and sample type.
//!
//! [`CpuFastHessian`] finds blobs, [`CpuSurf`] describes keypoints of any detector, [`CpuMatcher`] finds which belong
//! together; these, too, equal their references in [`harris_core`] to the bit.
//!
//! Nearly all configurations take a fused path, from samples to corners in one walk (not: box gradients of floats, Sobel's of 5 and 7 taps, boxes of even sizes, and windows or
//! gradients so wide that 64-bit floats do not hold their sums, or strips of columns what they reach). It is fastest for 8-bit gray images with box windows. It writes nothing
//! of the image's size but for Rosin's threshold, `Quadratic` and suppression radii above 8, which need the map of responses.
//!
//! A detector keeps its memory from one image to the next: after the first image of a size it allocates the lists of keypoints
//! alone (where no map is needed; pools of threads take some of their own to hand work over). For maps of responses there is
//! [`Detector::response_into`].
//!
//! # Features
//! - `image`: conversions from the `image` crate's buffers.
//! - `approximate`: `ApproximateMatcher`, an index of very many descriptors that finds most matches.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "approximate")]
mod approximate;
mod bands;
#[doc(hidden)]
pub mod coverage;
mod detector;
mod error;
mod fast_hessian;
mod forstner;
mod integral;
mod matching;
mod peaks;
#[doc(hidden)]
pub mod plan;
mod rows;
mod simd;
mod staged;
mod surf;
mod sweep;
mod workers;
mod workspace;

#[cfg(feature = "approximate")]
pub use approximate::{ApproximateIndex, ApproximateMatcher};
pub use detector::CpuDetector;
pub use error::PoolError;
pub use fast_hessian::CpuFastHessian;
#[doc(no_inline)]
pub use harris_core::{self, Detector, Error, HarrisConfig, ImageView, Keypoint};
pub use matching::CpuMatcher;
pub use simd::{Level, UnknownLevel};
pub use surf::CpuSurf;

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
