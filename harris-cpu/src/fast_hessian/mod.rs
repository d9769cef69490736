//! The Fast-Hessian detector: an integral image, the layers' determinants row by row, and the peaks
//! between them.

mod detector;
mod peaks;
mod responses;

pub use detector::CpuFastHessian;
