//! The stages, one file each, as plain code that reads like the definition in docs/arithmetic.md.
//!
//! [`ReferenceDetector`](crate::ReferenceDetector) calls them in order. They are slow and meant to be read
//! and compared with; [`selection`], [`subpixel`], [`taps`] and the choice of a threshold from a summary of
//! the responses ([`threshold`]) are also what backends use on their lists.

pub mod border;
pub mod gradient;
pub mod plane;
pub mod response;
pub mod selection;
pub mod smoothing;
pub mod subpixel;
pub mod suppression;
pub mod taps;
pub mod tensor;
pub mod threshold;
