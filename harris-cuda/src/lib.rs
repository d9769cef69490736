//! Harris corner detection and SURF features on NVIDIA GPUs.
//!
//! Results equal those of the reference in [`harris_core`] and of `harris-cpu` to the bit, for
//! every configuration and sample type. To choose between CPU and GPU at run time, use the crate
//! `harris`.
//!
//! ```
//! use harris_cuda::{CudaDetector, CudaError, Detector, Error, HarrisConfig, ImageView};
//!
//! // A white square on black has four corners.
//! let (width, height) = (64, 48);
//! let samples: Vec<u8> = (0..width * height)
//!     .map(|i| if (16..40).contains(&(i % width)) && (12..36).contains(&(i / width)) { 255 } else { 0 })
//!     .collect();
//! let image = ImageView::gray(&samples, width, height)?;
//!
//! match CudaDetector::new(HarrisConfig::default()) {
//!     Ok(mut detector) => assert_eq!(detector.detect(&image)?.len(), 4),
//!     // No driver, no GPU, or one that is too old: CudaError tells which.
//!     Err(Error::Backend(reason)) => println!("{reason}"),
//!     Err(other) => return Err(other),
//! }
//! # Ok::<(), Error>(())
//! ```
//!
//! | type | does |
//! | --- | --- |
//! | [`CudaDetector`] | finds corners of single images and of batches |
//! | [`CudaFastHessian`] | finds blobs |
//! | [`CudaSurf`] | describes keypoints |
//! | [`CudaFeatures`] | finds keypoints and describes them, from one upload |
//! | [`CudaMatcher`] | matches descriptors |
//! | [`CudaPipeline`] | does any of this to a stream of frames, on one GPU or on several |
//! | [`PinnedImage`] | an image in pinned memory, from which a GPU copies directly |
//! | [`CudaImage`] | an image in a GPU's memory; results can stay there |
//! | [`CudaDescriptors`] | descriptors in a GPU's memory, to match with |
//! | [`CudaError`], [`GpuError`] | what can go wrong, inside [`Error::Backend`] |
//!
//! The kernels are written in Rust (`harris-gpu-kernels`) and come with this crate as PTX. The
//! driver compiles it for the GPU that it finds.
//!
//! # Requirements
//!
//! - To build: only Rust. The crate builds on machines without CUDA, also on macOS, Windows and
//!   aarch64.
//! - To run: an NVIDIA driver for CUDA 11.8 or later, and a GPU of compute capability 7.5 or later.
//!   The driver's library (`libcuda.so.1`, `nvcuda.dll`) is loaded at the first call. Without it
//!   every call returns [`CudaError::NoDriver`].
//!
//! # Contexts
//!
//! The crate uses each device's primary context, as CUDA's runtime, PyTorch, CuPy and cust do. So
//! memory and streams can be shared with them. Every call restores the thread's current context.
//!
//! # Forks
//!
//! CUDA does not work in a child of a process that has used it. There every call returns
//! [`CudaError::Forked`]. Start workers as new programs, or fork before CUDA is used.
//!
//! # Features
//!
//! | feature | adds |
//! | --- | --- |
//! | `image` | [`ImageView`] from buffers of the crate `image` 0.25 |
//! | `cust` | conversions from and to images, keypoints, streams and contexts of Rust-CUDA's cust 0.3, which links the driver's library and builds only with a CUDA toolkit |
//!
//! No feature is on by default. Pages on docs.rs leave `cust` out, because it does not build there.

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
