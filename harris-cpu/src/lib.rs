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
//! The image is cut into bands of rows for several threads. The vector instructions ([`Level`]) are
//! chosen at run time. The result depends on neither: it equals that of
//! [`harris_core::ReferenceDetector`] to the bit, for every configuration and sample type.
//!
//! [`CpuFastHessian`] finds blobs, [`CpuSurf`] describes keypoints of any detector, and
//! [`CpuFeatures`] does both in one call. [`CpuMatcher`] finds matching descriptors. Their results equal those of the references in
//! [`harris_core`] to the bit.
//!
//! Most configurations are computed in one pass, from samples to corners, which writes nothing of
//! the size of the image. It is fastest for 8-bit gray images with box windows.
//!
//! Stage by stage go box gradients of floats, `Sobel5` and `Sobel7`, boxes of even sizes, and very
//! wide gradients and windows. Rosin's threshold, `Quadratic` and suppression radii above 8 need a
//! response map. [`Detector::describe`] shows the choice after an image.
//!
//! A detector keeps its memory from one image to the next. After the first image of a size it
//! allocates nothing but the lists of keypoints, where no response map is needed and threads are
//! its own. [`Detector::response_into`] writes a response map into an array that the caller
//! supplies.
//!
//! [`Detector::shrink_to_fit`] frees that memory, as after an image that was much larger than those
//! to come. Memory that cannot be had is [`Error::OutOfMemory`].
//!
//! The caller's floating-point mode (rounding, subnormal numbers) changes no result:
//! [`harris_core::float_mode`].
//!
//! A process may fork while no detection is going on. The child has none of the threads of its
//! parent's pools, so that there all detectors share a new pool, which starts when it is needed.
//! Detectors of the parent can be used in the child. Rayon's shared pool is replaced only if the
//! parent made a detector before.
//!
//! # Features
//! - `image`: conversions from the `image` crate's buffers.
//! - `approximate`: `ApproximateMatcher`, an index of many descriptors that finds most matches.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "approximate")]
mod approximate;
mod bands;
mod buffers;
#[doc(hidden)]
pub mod coverage;
mod detector;
mod error;
mod fast_hessian;
mod features;
mod forstner;
mod integral;
mod matching;
mod peaks;
#[doc(hidden)]
pub mod plan;
mod pools;
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
pub use error::{MAX_THREADS, PoolError};
pub use fast_hessian::CpuFastHessian;
pub use features::CpuFeatures;
#[doc(no_inline)]
pub use harris_core::{self, Detector, Error, HarrisConfig, ImageView, Keypoint};
pub use matching::CpuMatcher;
pub use simd::{Level, UnknownLevel};
pub use surf::CpuSurf;

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
