//! Harris corner detection and SURF features on a GPU, whichever driver runs it.
//!
//! To use a GPU, take the crate `harris` or `harris-cuda`. This crate is for those who bring
//! another driver: it decides which kernels of `harris-gpu-kernels` run, in which order, on which
//! memory, and asks the trait [`Device`] for that work. `harris-cuda` implements the trait with
//! NVIDIA's driver.
//!
//! | type | does |
//! | --- | --- |
//! | [`GpuDetector`] | finds corners |
//! | [`GpuFastHessian`] | finds blobs |
//! | [`GpuSurf`] | describes keypoints |
//! | [`GpuFeatures`] | finds keypoints and describes them |
//! | [`GpuMatcher`] | matches descriptors |
//! | [`GpuMatchedFeatures`] | does both, frame after frame |
//! | [`GpuPipeline`] | runs any [`FrameWorker`] on several frames at a time |
//!
//! All work is done on the device. Only the number of corners, which sizes the lists, is read back
//! before.
//!
//! # Testing
//!
//! `harris-gpu-host`, in the same repository, is a device for tests. It runs kernels on the CPU,
//! thousands of times slower, and checks every access to memory. The examples here use it.
//!
//! # Modules
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
#![cfg_attr(docsrs, feature(doc_cfg))]

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
