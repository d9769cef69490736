//! Published systems as configurations.
//!
//! ```
//! use harris_core::presets;
//!
//! let config = presets::opencv_gftt();
//! // A preset is a start: what differs is changed by name.
//! let config = config.to_builder().min_distance(10.0).max_corners(200).build()?;
//! assert_eq!(presets::named("opencv_gftt")?, presets::opencv_gftt());
//! # Ok::<(), harris_core::Error>(())
//! ```

use crate::Error;
use crate::config::{
    Border, Gradient, HarrisConfig, HarrisConfigBuilder, Measure, Plateau, Smoothing, Threshold, Ties, Window,
};

/// A published system: its name, where it is described, its configuration.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name, as in [`named`].
    pub name: &'static str,
    /// Where the system is described.
    pub citation: &'static str,
    /// Makes its configuration.
    pub config: fn() -> HarrisConfig,
}

/// All presets, the default first.
pub const ALL: [Preset; 6] = [
    Preset {
        name: "default",
        citation: "J. Loundagin, Optimizing Harris Corner Detection on GPGPUs Using CUDA, \
                   California Polytechnic State University, 2015, table 4.3",
        config: HarrisConfig::default,
    },
    Preset {
        name: "opencv_gftt",
        citation: "OpenCV, goodFeaturesToTrack with useHarrisDetector and qualityLevel 0.01",
        config: opencv_gftt,
    },
    Preset {
        name: "jobanputra_stentz",
        citation: "Jobanputra and Stentz, Parallel Corner Detection: serial, multi-threaded and GPU Harris, \
                   Carnegie Mellon University course project",
        config: jobanputra_stentz,
    },
    Preset {
        name: "harris_phull_2011",
        citation: "R. Phull, P. Mainali, Q. Yang et al., Low Complexity Corner Detector Using CUDA for \
                   Multimedia Applications, 2011: the Harris detector that LoCoCo is compared with",
        config: harris_phull_2011,
    },
    Preset {
        name: "lococo_2011",
        citation: "R. Phull, P. Mainali, Q. Yang et al., Low Complexity Corner Detector Using CUDA for \
                   Multimedia Applications, 2011: LoCoCo",
        config: lococo_2011,
    },
    Preset {
        name: "chahuara_2017",
        citation: "Chahuara 2017: Harris on CUDA with a colour tensor, Rosin's automatic threshold, block \
                   suppression and the strongest N",
        config: chahuara_2017,
    },
];

/// The names of all presets, separated by commas.
#[must_use]
pub fn names() -> String {
    ALL.map(|preset| preset.name).join(", ")
}

/// The configuration of the preset called `name`.
///
/// # Errors
/// [`Error::UnknownPreset`], which lists the names.
pub fn named(name: &str) -> Result<HarrisConfig, Error> {
    let preset = ALL.iter().find(|preset| preset.name == name);
    preset.map(|preset| (preset.config)()).ok_or_else(|| Error::UnknownPreset { name: name.to_owned() })
}

/// OpenCV's `goodFeaturesToTrack(image, 0, 0.01, 0, useHarrisDetector = true, k = 0.04)`.
///
/// Corners and their order follow from the response map by OpenCV's rules, exactly. Response maps differ from
/// OpenCV's by rounding, so that lists may differ where responses tie, or nearly so, as they do in drawn images.
///
/// No smoothing, Sobel 3 × 3, box window 3 × 3, k = 0.04, relative threshold 0.01, suppression radius 1,
/// margin 1. Set [`min_distance`](HarrisConfigBuilder::min_distance) and
/// [`max_corners`](HarrisConfigBuilder::max_corners) to what is passed to OpenCV, and
/// [`Measure::ShiTomasi`] for OpenCV's default measure. [`Window::Box`] is OpenCV's `blockSize`, even sizes included.
///
/// OpenCV scales gradients of apertures 5 and 7 ([`Gradient::Sobel5`], [`Gradient::Sobel7`]) differently: its Harris
/// responses are 2⁸ and 2¹⁶ times these, its least eigenvalues 2⁴ and 2⁸ times. Such factors change no corner.
#[must_use]
pub fn opencv_gftt() -> HarrisConfig {
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .suppression_radius(1)
            .plateau(Plateau::All)
            .ties(Ties::Descending)
            .margin(1),
    )
}

/// Jobanputra & Stentz's GPU pipeline: Sobel 3 × 3 on an unsmoothed image extended by its edge pixels, box
/// window 3 × 3, k = 0.04, suppression 3 × 3.
///
/// Its tensor sums squared slopes over the window, ours is the mean of squares of twice the slope, hence 4/9 of
/// it; its threshold of 0.2 on the response is 0.2 · (4/9)² here.
#[must_use]
pub fn jobanputra_stentz() -> HarrisConfig {
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .border(Border::Replicate)
            .threshold(Threshold::Absolute(0.2 * 16.0 / 81.0))
            .suppression_radius(1),
    )
}

/// The Harris detector that Phull et al. compare LoCoCo with: 9 × 9 Gaussian derivative, 9 × 9 Gaussian window,
/// radius 4.
///
/// The paper gives apertures; sigma is 1.5 here, so that they span three of it to each side.
#[must_use]
pub fn harris_phull_2011() -> HarrisConfig {
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .gradient(Gradient::GaussianDerivative { size: 9, sigma: 1.5 })
            .window(Window::Gaussian { size: 9, sigma: 1.5 })
            .suppression_radius(4),
    )
}

/// LoCoCo: box gradient 9 × 9 and box window 9 × 9, both sums of an integral image, radius 4.
#[must_use]
pub fn lococo_2011() -> HarrisConfig {
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .gradient(Gradient::Box { size: 9 })
            .window(Window::Box { size: 9 })
            .suppression_radius(4),
    )
}

/// Chahuara's: central differences, the structure tensor summed over the channels of a colour image, a
/// Gaussian window 5 × 5 with sigma 1.5, k = 0.04, Rosin's threshold on 256 bins, radius 4, the 200
/// strongest.
#[must_use]
pub fn chahuara_2017() -> HarrisConfig {
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .gradient(Gradient::Central)
            .window(Window::Gaussian { size: 5, sigma: 1.5 })
            .measure(Measure::Harris { k: 0.04 })
            .threshold(Threshold::Rosin { bins: 256 })
            .suppression_radius(4)
            .max_corners(200),
    )
}

fn valid(builder: HarrisConfigBuilder) -> HarrisConfig {
    builder.build().expect("presets are valid: held by a test")
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
        let error = named("gftt").unwrap_err().to_string();
        assert!(error.contains("opencv_gftt"), "{error}");
    }
}
