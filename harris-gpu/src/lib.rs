//! Harris corner detection and SURF features on a GPU, whichever driver runs it.
//!
//! [`GpuDetector`] is a [`Detector`](harris_core::Detector) over any [`Device`]: it allocates
//! memory, launches the kernels of `harris-gpu-kernels` and reads back keypoints. All work is done
//! on the device. Only the number of corners, which sizes the lists, is read back before.
//! [`GpuFastHessian`], [`GpuSurf`] and [`GpuMatcher`] are for blobs, descriptors and matches, and
//! [`GpuFeatures`] for keypoints with their descriptors. [`GpuPipeline`] runs any [`FrameWorker`].
//!
//! `harris-cuda` implements [`Device`] with NVIDIA's driver. The crate `harris-gpu-host`
//! has a device that runs kernels on the CPU, thousands of times slower, and checks every access to
//! memory.
//!
//! # Where to look
//!
//! A module imports only from those below it in this list.
//!
//! | module | content |
//! | --- | --- |
//! | `pipeline` | several frames in flight |
//! | `matched_features` | features of frames, matched with a set or the frame before |
//! | `features` | an image in, keypoints and their descriptors out |
//! | `fast_hessian`, `surf`, `matching` | blobs, descriptors, matches |
//! | `detector` | an image in, corners out |
//! | `frame_worker`, `detect_on_device` | traits: what runs on a frame; images on the device |
//! | `integral`, `keypoint_mask` | integral images; keypoints as a mask |
//! | `list` | order, selection, refinement, the way to the host |
//! | `search` | thresholds of the response map, suppression, the fused sweep |
//! | `respond` | each way to the response map |
//! | `exec` | memory, uploads, tiles of rows, recordings, predicted thresholds |
//! | `plan` | which kernels run for a configuration |
//! | `launch`, `device` | one function a kernel; what a GPU must do |

#![forbid(unsafe_code)]

mod detect_on_device;
mod detector;
mod device;
mod error;
mod exec;
mod fast_hessian;
mod features;
mod frame_worker;
mod integral;
mod keypoint_mask;
mod launch;
mod list;
mod matched_features;
mod matching;
mod pipeline;
#[doc(hidden)]
pub mod plan;
mod respond;
mod search;
mod surf;

pub use detect_on_device::DetectOnDevice;
pub use detector::GpuDetector;
pub use device::{Argument, Depth, Device, Mark, Resident, RowSource, Rows};
pub use error::GpuError;
pub use exec::upload::UploadMode;
pub use fast_hessian::GpuFastHessian;
pub use features::GpuFeatures;
pub use frame_worker::FrameWorker;
pub use keypoint_mask::MaskSample;
pub use matched_features::{GpuMatchedFeatures, MatchedFeatureConfig, MatchedFeatures, TrainSet};
pub use matching::{DescriptorSet, GpuMatcher};
pub use pipeline::{FinishedFrame, GpuPipeline};
pub use surf::GpuSurf;
