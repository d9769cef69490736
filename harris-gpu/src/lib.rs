//! Harris corner detection and SURF features on a GPU, whichever driver runs it.
//!
//! [`GpuDetector`] is a [`Detector`](harris_core::Detector) over any [`Device`]: it plans buffers, launches the kernels of
//! `harris-gpu-kernels` and brings back keypoints. The whole job stays on the device, but for the number of corners
//! found, by which lists are sized. [`GpuFastHessian`], [`GpuSurf`] and [`GpuMatcher`] do the same for blobs, descriptors and
//! matches.
//!
//! `harris-cuda` has the device that people use. With the feature `host` there is one that runs kernels on the CPU,
//! thousands of times slower, and checks everything they do.

#![forbid(unsafe_code)]

mod corners;
mod detector;
mod device;
mod error;
mod fast_hessian;
mod fused;
mod gaussians;
#[cfg(feature = "host")]
pub mod host;
mod integral;
mod keypoint_mask;
mod large;
mod launch;
mod lists;
mod maps;
mod matching;
mod pieces;
mod pipeline;
mod recordings;
mod rim;
mod room;
mod staged;
mod surf;
mod upload;
mod workspace;

pub use detector::GpuDetector;
pub use device::{Argument, Depth, Device, Lines, Mark, Resident, Rows};
pub use error::GpuError;
pub use fast_hessian::GpuFastHessian;
pub use keypoint_mask::MaskSample;
pub use matching::GpuMatcher;
pub use pipeline::{GpuPipeline, Landed};
pub use surf::GpuSurf;
