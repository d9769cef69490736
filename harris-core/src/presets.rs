//! Published systems as configurations, by name.
//!
//! | name | system |
//! | --- | --- |
//! | `default` | [`HarrisConfig::default`], this library's own |
//! | `opencv_gftt` | [`opencv_gftt`]: OpenCV's `goodFeaturesToTrack` |
//! | `loundagin_2015` | [`loundagin_2015`]: the C listing of a thesis on Harris with CUDA |
//! | `jobanputra_stentz` | [`jobanputra_stentz`]: serial, OpenMP and CUDA programs |
//! | `harris_phull_2011` | [`harris_phull_2011`]: the Harris detector that LoCoCo is compared with |
//! | `lococo_2011` | [`lococo_2011`]: box filters for low complexity |
//! | `chahuara_2017` | [`chahuara_2017`]: Gaussian window and Rosin's threshold, on colours |
//!
//! Each function's page says what the paper tells and what is this library's own.
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

use crate::config::{
    Border, Gradient, HarrisConfig, HarrisConfigBuilder, Measure, Order, Plateau, Smoothing, Threshold, Ties,
    Window,
};
use crate::error::Error;

/// A published system: name, citation and configuration.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Preset {
    /// The name, as in [`named`].
    pub name: &'static str,
    /// The publication that describes the system.
    pub citation: &'static str,
    /// Function that makes its configuration.
    pub config: fn() -> HarrisConfig,
    /// Whether the system uses the channels of a colour image; if not, it uses the luma.
    pub color: bool,
}

/// All presets, the default first.
pub const ALL: &[Preset] = &[
    Preset {
        name: "default",
        citation: "this library's own; apertures, k and neighbourhood of J. Loundagin, Optimizing Harris Corner Detection \
                   on GPGPUs Using CUDA, California Polytechnic State University, 2015, table 4.3",
        config: HarrisConfig::default,
        color: false,
    },
    Preset {
        name: "opencv_gftt",
        citation: "OpenCV, goodFeaturesToTrack with useHarrisDetector and qualityLevel 0.01",
        config: opencv_gftt,
        color: false,
    },
    Preset {
        name: "loundagin_2015",
        citation: "J. Loundagin, Optimizing Harris Corner Detection on GPGPUs Using CUDA, \
                   California Polytechnic State University, 2015, table 4.3 and appendix B",
        config: loundagin_2015,
        color: false,
    },
    Preset {
        name: "jobanputra_stentz",
        citation: "K. Jobanputra and R. Stentz, Parallel Corner Detection: serial, OpenMP and CUDA programs, \
                   project report",
        config: jobanputra_stentz,
        color: false,
    },
    Preset {
        name: "harris_phull_2011",
        citation: "R. Phull, P. Mainali, Q. Yang et al., Low Complexity Corner Detector Using CUDA for \
                   Multimedia Applications, MMEDIA 2011: the Harris detector that LoCoCo is compared with",
        config: harris_phull_2011,
        color: false,
    },
    Preset {
        name: "lococo_2011",
        citation: "R. Phull, P. Mainali, Q. Yang et al., Low Complexity Corner Detector Using CUDA for \
                   Multimedia Applications, MMEDIA 2011: LoCoCo",
        config: lococo_2011,
        color: false,
    },
    Preset {
        name: "chahuara_2017",
        citation: "H. F. Chahuara Silva, Implementación del detector de esquinas de Harris en la plataforma Jetson \
                   TK1, Pontificia Universidad Católica del Perú, Lima, 2017: the C program",
        config: chahuara_2017,
        color: true,
    },
];

/// The names of all presets, separated by commas.
#[must_use]
pub fn names() -> String {
    ALL.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}

/// The preset called `name`.
///
/// # Errors
/// [`Error::UnknownPreset`], which lists the names.
pub fn find(name: &str) -> Result<Preset, Error> {
    let preset = ALL.iter().find(|preset| preset.name == name);
    preset.copied().ok_or_else(|| Error::UnknownPreset { name: name.to_owned(), known: names() })
}

/// The configuration of the preset called `name`.
///
/// # Errors
/// [`Error::UnknownPreset`], which lists the names.
pub fn named(name: &str) -> Result<HarrisConfig, Error> {
    find(name).map(|preset| (preset.config)())
}

/// OpenCV's `goodFeaturesToTrack(image, 0, 0.01, 0, useHarrisDetector = true, k = 0.04)`.
///
/// From equal response maps the corners and their order are exactly OpenCV's. Response maps differ
/// from OpenCV's by rounding, so lists may differ where responses are equal or nearly so, as in
/// drawn images.
///
/// No smoothing, Sobel 3 × 3, box window 3 × 3, k = 0.04, relative threshold 0.01, suppression
/// radius 1, margin 1. OpenCV's arguments become:
///
/// | OpenCV | here |
/// | --- | --- |
/// | `image` | a gray image; OpenCV takes one channel |
/// | `maxCorners` | [`max_corners`](HarrisConfigBuilder::max_corners), `None` for 0 |
/// | `qualityLevel` | [`Threshold::Relative`] |
/// | `minDistance` | [`min_distance`](HarrisConfigBuilder::min_distance) |
/// | `mask` | [`ImageView::with_mask`](crate::ImageView::with_mask) |
/// | `blockSize` | [`Window::Box`], 2 to 127, to 41 with [`Gradient::Sobel7`] |
/// | `gradientSize` | [`Gradient::Sobel3`], [`Gradient::Sobel5`], [`Gradient::Sobel7`] |
/// | `useHarrisDetector`, `k` | [`Measure::Harris`], or [`Measure::ShiTomasi`], which is OpenCV's default |
///
/// OpenCV scales gradients of apertures 5 and 7 ([`Gradient::Sobel5`], [`Gradient::Sobel7`])
/// differently. Its Harris responses are 2⁸ and 2¹⁶ times as great, its least eigenvalues 2⁴ and 2⁸
/// times. Such factors change no corner.
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

/// Loundagin's detector, after his C listing.
///
/// **Paper** (table 4.3, appendix B):
/// - smoothing 3 × 3 in doubles, not rounded; Sobel 3 × 3; k = 0.04; an absolute threshold;
/// - a neighbourhood of 5 × 5, in which all of equal responses stay; the list in raster order.
///
/// **Ours**:
/// - the window of 3 × 3, as he does not give its width;
/// - [`Border::Skip`]. Each of his stages leaves a frame, which later stages read as zeros or
///   uninitialised memory;
/// - the threshold of 10⁷ in his units, one of the four that he chose by hand for each image.
///
/// Six pixels and more from the edges the corners equal those of the listing, which a test holds.
///
/// **Units**: his threshold T is for samples in 0..255, undivided gradients (a step of 1 gives 4)
/// and plain sums over a window of w × w. Here it is T / (1020² · w²)², where 1020 is 4 · 255. His
/// other thresholds are 10⁶, 2·10⁹ and 10¹⁰:
///
/// ```
/// use harris_core::{Threshold, presets};
///
/// let threshold = 2e9 / (1020.0_f64.powi(2) * 9.0).powi(2);
/// let config = presets::loundagin_2015().to_builder().threshold(Threshold::Absolute(threshold as f32)).build()?;
/// # Ok::<(), harris_core::Error>(())
/// ```
#[must_use]
pub fn loundagin_2015() -> HarrisConfig {
    let unit = 1020.0_f64.powi(2) * 9.0;
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::Binomial3Exact)
            .threshold(Threshold::Absolute((1e7 / (unit * unit)) as f32))
            .border(Border::Skip)
            .suppression_radius(2)
            .plateau(Plateau::All)
            .order(Order::Raster),
    )
}

/// Jobanputra & Stentz's pipeline.
///
/// **Paper**:
/// - a blur of 3 × 3 and Sobel 3 × 3 in floats, not rounded; plain window sums; det − k·trace²;
/// - a pixel stays where none around is greater, so that equal responses stay;
/// - a binary mask ([`Detector::keypoint_mask`](crate::Detector::keypoint_mask)), or a list in
///   raster order;
/// - an absolute threshold, which they found, as k, by trial.
///
/// **Ours**, as they give no values: k = 0.04, a threshold of 1 % of the greatest response, a
/// window and a neighbourhood of 3 × 3, the border extended by its edge pixels.
#[must_use]
pub fn jobanputra_stentz() -> HarrisConfig {
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::Binomial3Exact)
            .border(Border::Replicate)
            .suppression_radius(1)
            .plateau(Plateau::All)
            .order(Order::Raster),
    )
}

/// The Harris detector that Phull et al. compare LoCoCo with.
///
/// **Paper**: the derivative of a Gaussian 9 × 9; a box window; responses sorted, the strongest
/// first.
///
/// **Ours**, as they give no values:
/// - sigma = 1.5, so that the aperture has a radius of three sigma;
/// - the window of 9 × 9 and the neighbourhood of 9 × 9, which they give for LoCoCo;
/// - k = 0.04, a threshold of 1 % of the greatest response, the border, [`Plateau::First`].
#[must_use]
pub fn harris_phull_2011() -> HarrisConfig {
    valid(
        HarrisConfig::builder()
            .smoothing(Smoothing::None)
            .gradient(Gradient::GaussianDerivative { size: 9, sigma: 1.5 })
            .window(Window::Box { size: 9 })
            .suppression_radius(4),
    )
}

/// LoCoCo.
///
/// **Paper**:
/// - a box gradient 9 × 9 and a box window, both from integral images;
/// - a neighbourhood of 9 × 9, by blocks of 9 × 9 with one corner each at most;
/// - an absolute threshold, whose value they do not give; a list that is not sorted.
///
/// **Ours**:
/// - the window of 9 × 9; two corners may lie in one block, 5 pixels or more apart;
/// - k = 0.04, a threshold of 1 % of the greatest response, the strongest first, the border,
///   [`Plateau::First`].
///
/// The method that they cite for blocks of 9 has a neighbourhood of 17 × 17: suppression radius 8.
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

/// Chahuara's C program.
///
/// **Paper**:
/// - central differences; the structure tensor summed over the channels of a colour image, which
///   the caller gives in colour ([`Preset::color`]);
/// - a Gaussian window 5 × 5 with sigma 1.5; k = 0.04; Rosin's threshold on 256 bins;
/// - a neighbourhood of 9 × 9; the 200 strongest. Table 4.1 has precision and recall without that
///   limit.
///
/// His CUDA program suppresses more. Of blocks of 4 × 4 it keeps those whose greatest response
/// exceeds that of the 8 blocks around, so corners up to 7 pixels apart suppress each other.
///
/// **Ours**, as he does not give it: the border, mirrored; the threshold at the centre of Rosin's
/// bin, and at least 0; [`Plateau::First`].
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

/// Builds a preset.
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
