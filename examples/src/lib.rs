//! What the example programs share: options, image files, result files, overlays.

pub mod cli;
pub mod files;
pub mod input;
pub mod options;
pub mod overlay;
