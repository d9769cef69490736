//! The kinds of detectors, and a configuration of any of them.

use clap::ValueEnum;
use harris_core::HarrisConfig;
use harris_core::fast_hessian::FastHessianConfig;
use serde::{Deserialize, Serialize};

/// A kind of detector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Corners
    #[default]
    Harris,
    /// Blobs of several scales
    FastHessian,
}

/// The configuration of a detector.
#[derive(Clone, Debug)]
pub enum Detection {
    /// Corners.
    Harris(HarrisConfig),
    /// Blobs.
    FastHessian(FastHessianConfig),
}

impl Detection {
    /// Returns the kind of detector.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Harris(_) => Kind::Harris,
            Self::FastHessian(_) => Kind::FastHessian,
        }
    }
}

/// What the options choose.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The detector's configuration.
    pub detection: Detection,
    /// Whether the configuration uses the colours of colour images. If not, it uses their luma.
    pub color: bool,
}
