//! Harris corner detection on NVIDIA GPUs; SURF's blobs, descriptors and matching by [`CudaFastHessian`], [`CudaSurf`] and
//! [`CudaMatcher`].
//!
//! ```no_run
//! use harris_cuda::{CudaDetector, Detector, HarrisConfig, ImageView};
//!
//! let samples = vec![0_u8; 640 * 480];
//! let image = ImageView::gray(&samples, 640, 480)?;
//! let mut detector = CudaDetector::new(HarrisConfig::default())?;
//! let corners = detector.detect(&image)?;
//! # Ok::<(), harris_cuda::Error>(())
//! ```
//!
//! The result equals that of [`harris_core::ReferenceDetector`] and of `harris-cpu` to the bit, for every configuration
//! and sample type, so that a program can choose at run time:
//!
//! ```no_run
//! use harris_cuda::{CudaDetector, Detector, HarrisConfig};
//! # use harris_core::ReferenceDetector as CpuDetector;
//!
//! let config = HarrisConfig::default();
//! let detector: Box<dyn Detector> = match CudaDetector::new(config.clone()) {
//!     Ok(detector) => Box::new(detector),
//!     Err(_) => Box::new(CpuDetector::new(config)),
//! };
//! println!("{}", detector.describe());
//! ```
//!
//! Kernels are written in Rust (`harris-gpu-kernels`) and come with this crate as PTX, which the driver compiles for the
//! GPU that it finds: no CUDA toolkit is needed, only a driver of CUDA 11.8 or later and a GPU of compute capability 7.5
//! or later. To link, a machine without a driver needs a stand-in for it (see the README).

#![deny(unsafe_code)]

mod detector;
mod device;
mod driver;
mod error;
mod features;
mod pinned;
mod pipeline;
mod resident;
mod staging;

pub use detector::CudaDetector;
pub use driver::{DeviceInfo, devices, is_available};
pub use error::CudaError;
pub use features::{CudaFastHessian, CudaMatcher, CudaSurf};
#[doc(no_inline)]
pub use harris_core::{self, Detector, Error, HarrisConfig, ImageView, Keypoint};
pub use harris_gpu::GpuError;
pub use pinned::PinnedImage;
pub use pipeline::{CudaPipeline, Detection};
pub use resident::{CudaImage, CudaKeypoints, CudaPending, CudaResponses};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
