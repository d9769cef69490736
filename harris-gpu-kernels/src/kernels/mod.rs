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
