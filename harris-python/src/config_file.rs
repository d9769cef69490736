//! Configuration files in JSON, as the library's program reads and writes them.

use harris::HarrisConfig;
use harris::fast_hessian::FastHessianConfig;
use serde::{Deserialize, Serialize};

use crate::errors::{Failure, Result};

/// A configuration file: the kind of detector, and a section for each kind.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConfigFile {
    pub(crate) detector: Kind,
    /// Whether the program uses the colours of colour images. Here the shape of an array tells that.
    pub(crate) color: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) harris: Option<HarrisConfig>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fast_hessian: Option<FastHessianConfig>,
}

/// A kind of detector.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    #[default]
    Harris,
    FastHessian,
}

impl ConfigFile {
    /// Reads a file's text, which must be of this kind.
    ///
    /// # Errors
    /// [`Failure::Config`] for a text that is not valid, or is of the other kind.
    pub(crate) fn read(text: &str, kind: Kind) -> Result<Self> {
        let file: Self = serde_json::from_str(text).map_err(|error| Failure::Config(error.to_string()))?;
        if file.detector == kind {
            return Ok(file);
        }
        let (found, class) = match file.detector {
            Kind::Harris => ("Harris", "Config"),
            Kind::FastHessian => ("Fast-Hessian", "FastHessianConfig"),
        };
        Err(Failure::Config(format!(
            "the text configures the {found} detector; read it with {class}.from_json"
        )))
    }

    /// The file's text.
    ///
    /// # Errors
    /// Never for configurations that were built.
    pub(crate) fn text(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(|error| Failure::Config(error.to_string()))?;
        Ok(text + "\n")
    }
}
