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
//! Kernels are written in Rust (`harris-gpu-kernels`) and come with this crate as PTX, which the driver compiles for
//! the GPU that it finds.
//!
//! # What it needs
//! - To build: Rust alone. The crate builds on machines without CUDA, and on macOS, Windows and aarch64.
//! - To run on a GPU: NVIDIA's driver of CUDA 11.8 or later, and a GPU of compute capability 7.5 or later. The driver's
//!   library (`libcuda.so.1`, `nvcuda.dll`) is loaded when it is first asked for. Where it is missing every call is an
//!   error, [`CudaError::NoDriver`].
//!
//! # Contexts
//! Each device's primary context is used, as by CUDA's runtime, PyTorch, CuPy and cust, so that memory and streams can be
//! shared. A thread's current context is after each call what it was before.
//!
//! # Forks
//! CUDA does not work in a child of a process that has used it. There every call is [`CudaError::Forked`]. Start
//! workers as new programs, or fork before CUDA is used.
//!
//! # Features
//! - `image`: conversions from the `image` crate's buffers.
//! - `cust`: images, keypoints, streams and contexts of Rust-CUDA's cust 0.3. cust links the driver's library, and
//!   builds only where a CUDA toolkit is.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cust")]
mod cust;
mod detector;
mod device;
mod driver;
mod error;
mod features;
mod on_device;
mod pinned;
mod pipeline;
#[doc(hidden)]
pub mod ptx;
mod staging;

#[cfg(feature = "cust")]
pub use cust::CudaImageRef;
pub use detector::CudaDetector;
pub use driver::{DeviceInfo, devices, is_available};
pub use error::CudaError;
pub use features::{CudaFastHessian, CudaMatcher, CudaSurf};
#[doc(no_inline)]
pub use harris_core::{self, Detector, Error, HarrisConfig, ImageView, Keypoint};
pub use harris_gpu::{GpuError, MaskSample};
pub use on_device::{AsCudaStream, CudaImage, CudaKeypointMask, CudaKeypoints, CudaPending, CudaResponses};
pub use pinned::PinnedImage;
pub use pipeline::{CudaPipeline, Detection};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
