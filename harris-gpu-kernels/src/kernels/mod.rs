//! Bodies of the kernels, generic over [`Simt`](crate::Simt), one file a stage.

mod border_area;
pub(crate) mod border_band;
mod border_band_stages;
mod border_corners;
pub(crate) mod boxes;
pub(crate) mod bucket_sort;
pub(crate) mod candidates;
mod choices;
mod corner_list;
pub(crate) mod fused;
mod geometry;
pub(crate) mod gradient;
pub(crate) mod hessian;
#[cfg(feature = "host")]
mod host_kernel;
pub(crate) mod integral;
pub(crate) mod keypoint_mask;
pub(crate) mod keypoints;
pub(crate) mod lines;
pub(crate) mod load;
mod mask;
pub(crate) mod min_distance;
pub(crate) mod nearest;
mod number;
pub(crate) mod refine;
pub(crate) mod response;
pub(crate) mod smoothing;
pub(crate) mod sort;
pub(crate) mod stream_wait;
pub(crate) mod suppression;
pub(crate) mod surf;
pub(crate) mod tensor;
mod thread_per_column;
pub(crate) mod threshold;

// Names of modules in the list of kernels, and in other files.
pub(crate) use border_band as rim;
pub(crate) use bucket_sort as bins;
pub(crate) use stream_wait as queue;
use thread_per_column as runs;

/// The modules whose entry points the list of kernels has under `order`.
pub(crate) mod order {
    pub(crate) use super::candidates::exceed;
    pub(super) use super::corner_list::lanes_below as below;
    pub(crate) use super::keypoints::emit;
    pub(crate) use super::min_distance::{file, keep, spread, spread_places};
    pub(crate) use super::sort::{merge, rank};
}
