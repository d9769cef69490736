//! The choices of the Fast-Hessian detector.

use std::ops::RangeInclusive;

use super::sampling::{Grid, Sampling, filter};
use crate::error::Error;
use crate::image::{ImageView, Sample};
use crate::integral::levels;

/// Octaves, each sampled at twice the distance of the one before.
pub const OCTAVES: RangeInclusive<u32> = 1..=7;
/// Filters of an octave.
pub const INTERVALS: RangeInclusive<u32> = 3..=15;
/// Pixels between the samples of the first octave.
pub const STEPS: RangeInclusive<u32> = 1..=6;

/// A valid configuration of the Fast-Hessian detector.
///
/// The default is OpenSURF's last release (Evans 2009) with the parameters that Hofmann (2009)
/// used: 4 octaves of 4 filters (9 to 195 pixels wide), sampled every 2 pixels, and a threshold of
/// 0.0004. Hofmann's own detector differs in where it samples and in what negative determinants
/// count: [`presets::hofmann_2009`](super::presets::hofmann_2009).
///
/// ```
/// use harris_core::fast_hessian::FastHessianConfig;
///
/// let config = FastHessianConfig::builder().threshold(0.001).max_keypoints(500).build()?;
/// assert_eq!(config.octaves(), 4);
/// assert!(FastHessianConfig::builder().octaves(8).build().is_err());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(try_from = "FastHessianConfigBuilder", into = "FastHessianConfigBuilder")
)]
pub struct FastHessianConfig {
    choices: FastHessianConfigBuilder,
}

/// Choices that are not yet validated; [`build`](Self::build) does it.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[must_use]
pub struct FastHessianConfigBuilder {
    octaves: u32,
    intervals: u32,
    step: u32,
    sampling: Sampling,
    clamp_negative: bool,
    threshold: f32,
    max_keypoints: Option<usize>,
}

impl Default for FastHessianConfigBuilder {
    fn default() -> Self {
        Self {
            octaves: 4,
            intervals: 4,
            step: 2,
            sampling: Sampling::Multiples,
            clamp_negative: false,
            threshold: 0.0004,
            max_keypoints: None,
        }
    }
}

impl FastHessianConfigBuilder {
    /// How many octaves, 1 to 7.
    ///
    /// Box sums limit octaves and intervals together: see [`FastHessianConfig::check_image`].
    pub fn octaves(mut self, octaves: u32) -> Self {
        self.octaves = octaves;
        self
    }

    /// Filters of an octave, 3 to 15; blobs are found between the smallest and the largest.
    pub fn intervals(mut self, intervals: u32) -> Self {
        self.intervals = intervals;
        self
    }

    /// Pixels between the samples of the first octave, 1 to 6.
    pub fn step(mut self, pixels: u32) -> Self {
        self.step = pixels;
        self
    }

    /// Which pixels the filters of an octave are taken at.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Whether determinants below 0 become 0, before they are compared and interpolated (Hofmann
    /// 2009).
    pub fn clamp_negative(mut self, clamp: bool) -> Self {
        self.clamp_negative = clamp;
        self
    }

    /// Which determinants are strong enough: those above it, in the units of an image in 0..1.
    pub fn threshold(mut self, threshold: f32) -> Self {
        self.threshold = threshold;
        self
    }

    /// The most keypoints wanted, the strongest being kept; `None` for all.
    pub fn max_keypoints(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.max_keypoints = limit.into();
        self
    }

    /// Checks the choices.
    ///
    /// # Errors
    /// [`Error::Count`], [`Error::FilterTooLarge`] where not even the sums of 8-bit samples fit,
    /// [`Error::AbsoluteThreshold`], [`Error::MaxCorners`].
    pub fn build(self) -> Result<FastHessianConfig, Error> {
        for (what, value, range) in [
            ("octaves", self.octaves, OCTAVES),
            ("intervals", self.intervals, INTERVALS),
            ("pixels between samples", self.step, STEPS),
        ] {
            if !range.contains(&value) {
                return Err(Error::Count { what, value, least: *range.start(), most: *range.end() });
            }
        }
        check_sums(self.octaves as usize, self.intervals as usize, u8::LEVELS)?;
        if !(self.threshold.is_finite() && self.threshold >= 0.0) {
            return Err(Error::AbsoluteThreshold { value: self.threshold });
        }
        if self.max_keypoints == Some(0) {
            return Err(Error::MaxCorners);
        }
        Ok(FastHessianConfig { choices: self })
    }
}

impl FastHessianConfig {
    /// Starts from the default.
    pub fn builder() -> FastHessianConfigBuilder {
        FastHessianConfigBuilder::default()
    }

    /// Starts from this configuration.
    pub fn to_builder(&self) -> FastHessianConfigBuilder {
        self.choices.clone()
    }

    /// How many octaves.
    #[must_use]
    pub fn octaves(&self) -> usize {
        self.choices.octaves as usize
    }

    /// Filters of an octave.
    #[must_use]
    pub fn intervals(&self) -> usize {
        self.choices.intervals as usize
    }

    /// Pixels between the samples of the first octave.
    #[must_use]
    pub fn step(&self) -> usize {
        self.choices.step as usize
    }

    /// Which pixels the filters of an octave are taken at.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        self.choices.sampling
    }

    /// Whether determinants below 0 become 0.
    #[must_use]
    pub fn clamp_negative(&self) -> bool {
        self.choices.clamp_negative
    }

    /// The least determinant: one that is not above it becomes it.
    #[must_use]
    pub fn least_determinant(&self) -> f32 {
        if self.choices.clamp_negative { 0.0 } else { f32::NEG_INFINITY }
    }

    /// What a determinant must exceed.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        self.choices.threshold
    }

    /// The most keypoints wanted; `None` for all.
    #[must_use]
    pub fn max_keypoints(&self) -> Option<usize> {
        self.choices.max_keypoints
    }

    /// Checks that this configuration can run on `image`.
    ///
    /// # Errors
    /// [`Error::FilterTooLarge`] where the largest filter is wider than the sums of the image's
    /// sample type allow: 4353 pixels for 8 bits, 267 for 16 bits and floats.
    /// [`Error::ImageTooSmall`] where no sample has the filters of the first octave around it,
    /// [`Error::NonFinite`] and [`Error::SampleOutOfRange`] for float samples.
    pub fn check_image(&self, image: &ImageView<'_>) -> Result<(), Error> {
        check_sums(self.octaves(), self.intervals(), levels(image))?;
        let (width, height) = (image.width(), image.height());
        let needed = Grid::least_side(self.step(), self.intervals(), self.sampling());
        if width < needed || height < needed {
            return Err(Error::ImageTooSmall { width, height, needed });
        }
        image.check_levels()
    }
}

/// Checks that the sums under the largest filter fit in 31 bits and a sign: docs/arithmetic.md,
/// section 11.
fn check_sums(octaves: usize, intervals: usize, levels: u32) -> Result<(), Error> {
    let fits = |lobe: &u64| 2 * lobe * (2 * lobe - 1) * u64::from(levels) < 1 << 31;
    let widest = filter(octaves - 1, intervals - 1);
    if fits(&(widest as u64 / 3)) {
        return Ok(());
    }
    let most = 3 * (1_u64..).step_by(2).take_while(fits).last().unwrap_or(1);
    Err(Error::FilterTooLarge { filter: widest, most: most as usize, levels })
}

impl TryFrom<FastHessianConfigBuilder> for FastHessianConfig {
    type Error = Error;

    fn try_from(builder: FastHessianConfigBuilder) -> Result<Self, Error> {
        builder.build()
    }
}

impl From<FastHessianConfig> for FastHessianConfigBuilder {
    fn from(config: FastHessianConfig) -> Self {
        config.choices
    }
}
