//! Published Fast-Hessian detectors as configurations.
//!
//! ```
//! use harris_core::fast_hessian::presets;
//!
//! let config = presets::hofmann_2009().to_builder().max_keypoints(200).build()?;
//! assert_eq!(presets::named("hofmann_2009")?, presets::hofmann_2009());
//! # Ok::<(), harris_core::Error>(())
//! ```

use super::config::FastHessianConfig;
use super::sampling::Sampling;
use crate::error::Error;

/// A published detector: name, citation and configuration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The name, as in [`named`].
    pub name: &'static str,
    /// The publication that describes the detector.
    pub citation: &'static str,
    /// Makes its configuration.
    pub config: fn() -> FastHessianConfig,
}

/// All presets, the default first.
pub const ALL: &[Preset] = &[
    Preset {
        name: "default",
        citation: "C. Evans, Notes on the OpenSURF Library, University of Bristol, 2009: its last release, with the \
                   parameters of Hofmann 2009",
        config: FastHessianConfig::default,
    },
    Preset {
        name: "hofmann_2009",
        citation: "R. Hofmann, Implementierung des SURF-Feature-Detektors auf der GPU mit Hilfe von CUDA, Koblenz, \
                   2009, appendix A",
        config: hofmann_2009,
    },
];

/// The names of all presets, separated by commas.
#[must_use]
pub fn names() -> String {
    ALL.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}

/// The configuration of the preset called `name`.
///
/// # Errors
/// [`Error::UnknownFastHessianPreset`], which lists the names.
pub fn named(name: &str) -> Result<FastHessianConfig, Error> {
    let preset = ALL.iter().find(|preset| preset.name == name);
    let unknown = || Error::UnknownFastHessianPreset { name: name.to_owned(), known: names() };
    preset.map(|preset| (preset.config)()).ok_or_else(unknown)
}

/// Hofmann's detector for CUDA: 4 octaves of 4 filters, step 2, threshold 0.0004.
///
/// Samples start at each octave's border ([`Sampling::Border`]), and determinants below 0 become 0
/// ([`clamp_negative`](super::FastHessianConfigBuilder::clamp_negative)).
///
/// Three things differ from his program:
/// - His sums are f32; here sums are exact.
/// - His list is ordered by column, row and octave; here the strongest come first.
/// - His list also has the peaks that the interpolation rejects, marked. Here
///   [`Detector::rejected_peaks`](crate::Detector::rejected_peaks) counts them.
#[must_use]
pub fn hofmann_2009() -> FastHessianConfig {
    FastHessianConfig::builder()
        .octaves(4)
        .intervals(4)
        .step(2)
        .threshold(0.0004)
        .sampling(Sampling::Border)
        .clamp_negative(true)
        .build()
        .expect("presets are valid: held by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_found_by_name() {
        for preset in ALL {
            assert_eq!(named(preset.name).unwrap(), (preset.config)());
            (preset.config)().to_builder().build().unwrap();
        }
        let error = named("opencv_gftt").unwrap_err().to_string();
        assert!(error.contains("hofmann_2009"), "{error}");
    }
}
