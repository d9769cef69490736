//! Configuration of the descriptor.

use crate::error::Error;
use crate::image::ImageView;
use crate::keypoint::Keypoint;
use crate::limits::{MAGNIFICATIONS, MAX_SCALE};

/// A valid configuration of the SURF descriptor.
///
/// The default rotates windows with the image and takes scales as they are.
///
/// ```
/// use harris_core::surf::SurfConfig;
///
/// // Harris corners have no scale of their own: windows of 24 · 2.5 pixels.
/// let config = SurfConfig::builder().upright(true).magnification(2.5).build()?;
/// assert!(config.upright());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "SurfConfigBuilder", into = "SurfConfigBuilder"))]
pub struct SurfConfig {
    choices: SurfConfigBuilder,
}

/// Collects the choices of a [`SurfConfig`]; [`build`](Self::build) validates them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[must_use]
pub struct SurfConfigBuilder {
    upright: bool,
    magnification: f32,
}

impl Default for SurfConfigBuilder {
    fn default() -> Self {
        Self { upright: false, magnification: 1.0 }
    }
}

impl SurfConfigBuilder {
    /// Whether windows stay upright (U-SURF); they do not by default.
    ///
    /// Upright windows are faster, and more distinctive where images are not rotated.
    pub fn upright(mut self, upright: bool) -> Self {
        self.upright = upright;
        self
    }

    /// Factor of the keypoints' scales, 0.1 to 64, by default 1.
    ///
    /// The window is 24 scales wide.
    pub fn magnification(mut self, magnification: f32) -> Self {
        self.magnification = magnification;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// [`Error::Magnification`].
    pub fn build(self) -> Result<SurfConfig, Error> {
        if !MAGNIFICATIONS.contains(&self.magnification) {
            return Err(Error::Magnification { magnification: self.magnification });
        }
        Ok(SurfConfig { choices: self })
    }
}

impl SurfConfig {
    /// Starts a builder from the default.
    pub fn builder() -> SurfConfigBuilder {
        SurfConfigBuilder::default()
    }

    /// Whether windows stay upright.
    #[must_use]
    pub fn upright(&self) -> bool {
        self.choices.upright
    }

    /// Factor of the keypoints' scales.
    #[must_use]
    pub fn magnification(&self) -> f32 {
        self.choices.magnification
    }

    /// Checks that `keypoints` of `image` can be described.
    ///
    /// # Errors
    /// The errors of [`Extractor::extract`](super::Extractor::extract), except those of a backend.
    pub fn check(&self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<(), Error> {
        image.check_levels()?;
        self.check_keypoints(keypoints, image.width(), image.height())
    }

    /// Checks that `keypoints` of an image of this size can be described, whatever its samples are.
    ///
    /// # Errors
    /// [`Error::KeypointOutside`], [`Error::KeypointScale`].
    pub fn check_keypoints(&self, keypoints: &[Keypoint], width: usize, height: usize) -> Result<(), Error> {
        for (index, &Keypoint { x, y, scale, .. }) in keypoints.iter().enumerate() {
            let inside = |place: f32, len: usize| (-0.5..=len as f32 - 0.5).contains(&place);
            if !(inside(x, width) && inside(y, height)) {
                return Err(Error::KeypointOutside { index, x, y, width, height });
            }
            let scale = scale * self.magnification();
            if !(scale > 0.0 && scale <= MAX_SCALE) {
                return Err(Error::KeypointScale { index, scale });
            }
        }
        Ok(())
    }
}

impl TryFrom<SurfConfigBuilder> for SurfConfig {
    type Error = Error;

    fn try_from(builder: SurfConfigBuilder) -> Result<Self, Error> {
        builder.build()
    }
}

impl From<SurfConfig> for SurfConfigBuilder {
    fn from(config: SurfConfig) -> Self {
        config.choices
    }
}
