//! Harris corner detection and SURF features on the CPU, with threads and vector instructions.
//!
//! Results equal those of the reference in [`harris_core`] to the bit, for every configuration and
//! sample type. To choose between CPU and GPU at run time, use the crate `harris`.
//!
//! ```
//! use harris_cpu::{CpuDetector, Detector, HarrisConfig, ImageView};
//!
//! let photograph = image::open("../examples/data/camera.png")?.to_luma8();
//! let (width, height) = (photograph.width() as usize, photograph.height() as usize);
//! let image = ImageView::gray(photograph.as_raw(), width, height)?;
//!
//! let config = HarrisConfig::builder().max_corners(100).build()?;
//! let mut detector = CpuDetector::new(config);
//! let corners = detector.detect(&image)?;
//! assert_eq!(corners.len(), 100);
//! println!("{} computes by {}", detector.describe(), harris_cpu::Level::best());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | type | does |
//! | --- | --- |
//! | [`CpuDetector`] | finds corners |
//! | [`CpuFastHessian`] | finds blobs |
//! | [`CpuSurf`] | describes keypoints of any detector |
//! | [`CpuFeatures`] | finds keypoints and describes them in one call |
//! | [`CpuMatcher`] | finds matching descriptors |
//! | `ApproximateMatcher`, `ApproximateIndex` | find most matches among very many descriptors, with the feature `approximate` |
//!
//! Configurations and traits are in [`harris_core`].
//!
//! # Speed
//!
//! The image is cut into bands of rows for several threads. The vector instructions ([`Level`]) are
//! chosen at run time. The result depends on neither.
//!
//! Most configurations are computed in one pass, from samples to corners, which writes nothing of
//! the size of the image. It is fastest for 8-bit gray images with box windows.
//! [`Detector::describe`] shows the choice after an image. These take longer:
//!
//! | configuration | why |
//! | --- | --- |
//! | box gradients of floats, `Sobel5` and `Sobel7`, boxes of even sizes, very wide gradients and windows | computed stage by stage |
//! | Rosin's threshold, `Quadratic`, suppression radii above 8 | need a response map |
//!
//! # Memory
//!
//! A detector keeps its memory from one image to the next. After the first image of a size it
//! allocates nothing but the lists of keypoints, where no response map is needed and threads are
//! its own. [`Detector::response_into`] writes a response map into an array that the caller
//! supplies.
//!
//! [`Detector::shrink_to_fit`] frees that memory, as after an image that was much larger than those
//! to come. Memory that cannot be had is [`Error::OutOfMemory`].
//!
//! # Processes
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
//!
//! | feature | adds |
//! | --- | --- |
//! | `image` | [`ImageView`] from buffers of the crate `image` 0.25 |
//! | `approximate` | `ApproximateMatcher`, an index of very many descriptors that finds most matches |
//! | `portable` | the level `portable` also where the processor has a better one: for tests |
//!
//! No feature is on by default.

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
