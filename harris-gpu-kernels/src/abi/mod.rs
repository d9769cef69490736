//! The interface between kernels and the host: the kernels with their arguments, constants that
//! both sides share, and the layout of shared buffers.

#[macro_use]
mod kernels;

pub mod border_band;
pub mod boxes;
pub mod buckets;
mod choices;
pub mod early_start;
pub mod fused;
pub mod gaussians;
mod kernel;
pub mod large;
pub mod matching;
pub mod order;
pub mod prediction;
pub mod pyramid;
pub mod refine;
pub mod specialise;
pub mod state;
pub mod surf;

pub use choices::{axis, border, gradient, measure, plateau, threshold};
pub use kernel::Kernel;
