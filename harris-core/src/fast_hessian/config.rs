//! Configuration of the Fast-Hessian detector.

use std::ops::RangeInclusive;

use super::sampling::{Grid, Sampling, filter};
use crate::error::Error;
use crate::image::{ImageView, Sample};
use crate::integral::levels;

/// Numbers of octaves.
///
/// Each octave has twice the step of the one before.
pub const OCTAVES: RangeInclusive<u32> = 1..=7;
/// Numbers of filters in an octave.
pub const INTERVALS: RangeInclusive<u32> = 3..=15;
/// Steps: pixels between the samples of the first octave.
pub const STEPS: RangeInclusive<u32> = 1..=6;

/// A valid configuration of the Fast-Hessian detector.
///
/// The default is OpenSURF's last release (Evans 2009) with the parameters that Hofmann (2009)
/// used. It has 4 octaves of 4 filters (9 to 195 pixels wide), sampled every 2 pixels, and a
/// threshold of 0.0004.
///
/// Hofmann's own detector has other samples, and sets negative determinants to 0:
/// [`presets::hofmann_2009`](super::presets::hofmann_2009).
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

/// Collects the choices of a [`FastHessianConfig`]; [`build`](Self::build) validates them.
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
    /// Number of octaves, 1 to 7, by default 4.
    ///
    /// Box sums limit octaves and intervals together: see [`FastHessianConfig::check_image`].
    pub fn octaves(mut self, octaves: u32) -> Self {
        self.octaves = octaves;
        self
    }

    /// Filters of an octave, 3 to 15, by default 4.
    ///
    /// Blobs are found between the smallest and the largest filter.
    pub fn intervals(mut self, intervals: u32) -> Self {
        self.intervals = intervals;
        self
    }

    /// Pixels between the samples of the first octave, 1 to 6, by default 2.
    pub fn step(mut self, pixels: u32) -> Self {
        self.step = pixels;
        self
    }

    /// The sample grid of an octave, by default [`Sampling::Multiples`].
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.sampling = sampling;
        self
    }

    /// Whether determinants below 0 become 0, before they are compared and interpolated (Hofmann
    /// 2009).
    ///
    /// They do not by default.
    pub fn clamp_negative(mut self, clamp: bool) -> Self {
        self.clamp_negative = clamp;
        self
    }

    /// Threshold that a peak's determinant exceeds, in the units of an image in 0..1.
    ///
    /// Finite and at least 0, by default 0.0004.
    pub fn threshold(mut self, threshold: f32) -> Self {
        self.threshold = threshold;
        self
    }

    /// The greatest number of keypoints, at least 1, the strongest being kept.
    ///
    /// The default is `None`, for all.
    pub fn max_keypoints(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.max_keypoints = limit.into();
        self
    }

    /// Validates the choices.
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
    /// Starts a builder from the default.
    pub fn builder() -> FastHessianConfigBuilder {
        FastHessianConfigBuilder::default()
    }

    /// Starts a builder from this configuration.
    pub fn to_builder(&self) -> FastHessianConfigBuilder {
        self.choices.clone()
    }

    /// Number of octaves.
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

    /// The sample grid of an octave.
    #[must_use]
    pub fn sampling(&self) -> Sampling {
        self.choices.sampling
    }

    /// Whether determinants below 0 become 0.
    #[must_use]
    pub fn clamp_negative(&self) -> bool {
        self.choices.clamp_negative
    }

    /// Lower limit of determinants: 0 where negative ones are clamped, else negative infinity.
    #[doc(hidden)]
    #[must_use]
    pub fn min_determinant(&self) -> f32 {
        if self.choices.clamp_negative { 0.0 } else { f32::NEG_INFINITY }
    }

    /// Threshold that a peak's determinant exceeds.
    #[must_use]
    pub fn threshold(&self) -> f32 {
        self.choices.threshold
    }

    /// The greatest number of keypoints; `None` for all.
    #[must_use]
    pub fn max_keypoints(&self) -> Option<usize> {
        self.choices.max_keypoints
    }

    /// Checks that this configuration can run on `image`.
    ///
    /// # Errors
    /// - [`Error::FilterTooLarge`] where the largest filter is too wide for sums of the sample
    ///   type: 4353 pixels for 8 bits, 267 for 16 bits and floats.
    /// - [`Error::ImageTooSmall`] where the first octave has no sample at which peaks are sought.
    /// - [`Error::NonFinite`] and [`Error::SampleOutOfRange`] for float samples.
    pub fn check_image(&self, image: &ImageView<'_>) -> Result<(), Error> {
        self.check_size(image.width(), image.height(), levels(image))?;
        image.check_levels()
    }

    /// Checks that this configuration can run on images of a size whose full brightness is so many
    /// [`levels`].
    ///
    /// # Errors
    /// [`Error::FilterTooLarge`] and [`Error::ImageTooSmall`], as
    /// [`FastHessianConfig::check_image`].
    pub fn check_size(&self, width: usize, height: usize, levels: u32) -> Result<(), Error> {
        check_sums(self.octaves(), self.intervals(), levels)?;
        let needed = Grid::min_side(self.step(), self.intervals(), self.sampling());
        if width < needed || height < needed {
            return Err(Error::ImageTooSmall { width, height, needed });
        }
        Ok(())
    }
}

/// Checks that sums under the largest filter fit in signed 32-bit integers: docs/arithmetic.md,
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
