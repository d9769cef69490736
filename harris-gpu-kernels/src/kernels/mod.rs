//! Bodies of the kernels, generic over [`Simt`](crate::Simt), one file a stage.

pub(crate) mod bins;
pub(crate) mod boxes;
pub(crate) mod fused;
mod geometry;
pub(crate) mod gradient;
pub(crate) mod hessian;
#[cfg(feature = "host")]
mod host_kernel;
pub(crate) mod integral;
pub(crate) mod keypoint_mask;
pub(crate) mod lines;
pub(crate) mod load;
mod mask;
pub(crate) mod nearest;
mod number;
pub(crate) mod order;
pub(crate) mod queue;
pub(crate) mod refine;
pub(crate) mod response;
pub(crate) mod rim;
mod runs;
pub(crate) mod smoothing;
pub(crate) mod suppression;
pub(crate) mod surf;
pub(crate) mod tensor;
pub(crate) mod threshold;
