//! Harris corner detection on NVIDIA GPUs, and SURF: blobs ([`CudaFastHessian`]), descriptors
//! ([`CudaSurf`]), both in one call ([`CudaFeatures`]) and matching ([`CudaMatcher`]).
//! [`CudaPipeline`] runs any of them on a stream of frames.
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
//! Results are bit-identical to those of [`harris_core::ReferenceDetector`] and of `harris-cpu`,
//! for every configuration and sample type. So a program can choose the backend at run time:
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
//! The kernels are written in Rust (`harris-gpu-kernels`) and come with this crate as PTX. The
//! driver compiles it for the GPU that it finds.
//!
//! # Requirements
//! - To build: only Rust. The crate builds on machines without CUDA, also on macOS, Windows and
//!   aarch64.
//! - To run: an NVIDIA driver for CUDA 11.8 or later, and a GPU of compute capability 7.5 or later.
//!   The driver's library (`libcuda.so.1`, `nvcuda.dll`) is loaded at the first call. Without it
//!   every call returns [`CudaError::NoDriver`].
//!
//! # Contexts
//! The crate uses each device's primary context, as CUDA's runtime, PyTorch, CuPy and cust do. So
//! memory and streams can be shared with them. Every call restores the thread's current context.
//!
//! # Forks
//! CUDA does not work in a child of a process that has used it. There every call returns
//! [`CudaError::Forked`]. Start workers as new programs, or fork before CUDA is used.
//!
//! # Features
//! - `image`: conversions from the `image` crate's buffers.
//! - `cust`: conversions from and to images, keypoints, streams and contexts of Rust-CUDA's cust
//!   0.3. cust links the driver's library, and builds only with a CUDA toolkit.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cust")]
mod cust;
mod descriptors;
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
mod rows;
mod staging;

#[cfg(feature = "cust")]
pub use cust::CudaImageRef;
pub use descriptors::{
    CudaDescriptorSet, CudaDescriptors, CudaFeaturesOnDevice, CudaInput, CudaPendingFeatures,
};
pub use detector::CudaDetector;
pub use driver::{DeviceInfo, devices, is_available};
pub use error::CudaError;
pub use features::{CudaFastHessian, CudaFeatures, CudaMatcher, CudaSurf};
#[doc(no_inline)]
pub use harris_core::{self, Detector, Error, HarrisConfig, ImageView, Keypoint};
pub use harris_gpu::{GpuError, MaskSample, MatchedFeatureConfig, MatchedFeatures, TrainSet};
#[doc(no_inline)]
pub use ndarray;
pub use on_device::{AsCudaStream, CudaImage, CudaKeypointMask, CudaKeypoints, CudaPending, CudaResponses};
pub use pinned::PinnedImage;
pub use pipeline::{CudaPipeline, Frame, FrameTask, MAX_IN_FLIGHT};
pub use rows::{CudaRows, device_of_pointer};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
