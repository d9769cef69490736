//! The choices of the Fast-Hessian detector.

use std::ops::RangeInclusive;

use crate::{Error, ImageView};

use super::Pyramid;

/// Octaves, each sampled at twice the distance of the one before.
pub const OCTAVES: RangeInclusive<u32> = 1..=4;
/// Filters of an octave.
pub const INTERVALS: RangeInclusive<u32> = 3..=4;
/// Pixels between the samples of the first octave.
pub const STEPS: RangeInclusive<u32> = 1..=6;

/// A valid configuration of the Fast-Hessian detector.
///
/// The default is Hofmann's (2009) and OpenSURF's: 4 octaves of 4 filters (9 to 195 pixels wide), sampled every 2 pixels,
/// and a threshold of 0.0004.
///
/// ```
/// use harris_core::fast_hessian::FastHessianConfig;
///
/// let config = FastHessianConfig::builder().threshold(0.001).max_keypoints(500).build()?;
/// assert_eq!(config.octaves(), 4);
/// assert!(FastHessianConfig::builder().octaves(7).build().is_err());
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
    threshold: f32,
    max_keypoints: Option<usize>,
}

impl Default for FastHessianConfigBuilder {
    fn default() -> Self {
        Self { octaves: 4, intervals: 4, step: 2, threshold: 0.0004, max_keypoints: None }
    }
}

impl FastHessianConfigBuilder {
    /// How many octaves, 1 to 4.
    pub fn octaves(mut self, octaves: u32) -> Self {
        self.octaves = octaves;
        self
    }

    /// Filters of an octave, 3 or 4; blobs are found between the smallest and the largest.
    pub fn intervals(mut self, intervals: u32) -> Self {
        self.intervals = intervals;
        self
    }

    /// Pixels between the samples of the first octave, 1 to 6.
    pub fn step(mut self, pixels: u32) -> Self {
        self.step = pixels;
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
    /// [`Error::Count`], [`Error::AbsoluteThreshold`], [`Error::MaxCorners`].
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
    /// [`Error::ImageTooSmall`] where no sample has the filters of the first octave around it, [`Error::NonFinite`] and
    /// [`Error::SampleOutOfRange`] for float samples.
    pub fn check_image(&self, image: &ImageView<'_>) -> Result<(), Error> {
        let (width, height) = (image.width(), image.height());
        let needed = Pyramid::least_side(self);
        if width < needed || height < needed {
            return Err(Error::ImageTooSmall { width, height, needed });
        }
        image.check_levels()
    }
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
