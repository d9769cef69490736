//! Code that the example programs share: options, image files, result files, overlays.

pub mod cli;
pub mod files;
pub mod input;
pub mod options;
pub mod overlay;

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
