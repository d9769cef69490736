//! Command-line options that choose a detector, its configuration and a backend.

mod backend;
mod config_file;
mod detection;
mod kind;
mod timed;
mod values;

pub use backend::BackendOptions;
pub use config_file::{ConfigFile, Format};
pub use detection::{BlobOptions, ColorOptions, ConfigOptions, DetectorOptions};
pub use kind::{Choice, Detection, Kind};
pub use timed::Timed;
pub(crate) use values::{number, whole};
