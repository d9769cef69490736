//! The stages of the detector, one file each, as plain code that follows docs/arithmetic.md.
//!
//! [`ReferenceDetector`](crate::ReferenceDetector) calls them in order. They are slow: they are
//! there to be read and to be compared with.
//!
//! Backends share some of them: [`selection`], [`subpixel`], [`taps`], and the choice of a
//! threshold from a summary of the responses in [`threshold`], and the check of [`range`]. Two
//! modules are for backends alone:
//! [`numerics`] has the number type of each stage, and [`bound`] what a response above a threshold
//! needs at least.

pub mod border;
pub mod bound;
pub mod gradient;
pub mod numerics;
pub mod plane;
pub mod range;
pub mod response;
pub mod selection;
pub mod smoothing;
pub mod subpixel;
pub mod suppression;
pub mod taps;
pub mod tensor;
pub mod threshold;
