//! Configurations of Harris-type detectors, and the choices they are made of.
//!
//! A [`HarrisConfig`] is validated when it is built. It then gives equal results on every backend.
//! All lengths are in pixels. Responses and thresholds are in the units of an image in 0..1,
//! whatever its samples are.
//!
//! | option | choices | as text |
//! | --- | --- | --- |
//! | [`smoothing`](HarrisConfigBuilder::smoothing) | [`Smoothing`] | `none`, `binomial3`, `binomial3-exact`, `binomial5`, `gaussian:SIZE:SIGMA` |
//! | [`gradient`](HarrisConfigBuilder::gradient) | [`Gradient`] | `sobel3`, `sobel5`, `sobel7`, `scharr3`, `central`, `box:SIZE`, `gaussian-derivative:SIZE:SIGMA` |
//! | [`window`](HarrisConfigBuilder::window) | [`Window`] | `box:SIZE`, `binomial:SIZE`, `gaussian:SIZE:SIGMA` |
//! | [`measure`](HarrisConfigBuilder::measure) | [`Measure`] | `harris:K`, `shi-tomasi`, `noble:EPS`, `triggs:ALPHA` |
//! | [`threshold`](HarrisConfigBuilder::threshold) | [`Threshold`] | `absolute:VALUE`, `relative:QUALITY`, `rosin:BINS`, `none` |
//! | [`border`](HarrisConfigBuilder::border) | [`Border`] | `reflect101`, `replicate`, `zero`, `skip` |
//! | [`plateau`](HarrisConfigBuilder::plateau) | [`Plateau`] | `first`, `all` |
//! | [`ties`](HarrisConfigBuilder::ties) | [`Ties`] | `ascending`, `descending` |
//! | [`order`](HarrisConfigBuilder::order) | [`Order`] | `response`, `raster` |
//! | [`subpixel`](HarrisConfigBuilder::subpixel) | [`Subpixel`] | `none`, `quadratic`, `forstner:RADIUS` |
//!
//! The texts are read by [`FromStr`](std::str::FromStr) and written by
//! [`Display`](std::fmt::Display):
//!
//! ```
//! use harris_core::{HarrisConfig, Measure, Window};
//!
//! let (window, measure): (Window, Measure) = ("gaussian:5:1.5".parse()?, "shi-tomasi".parse()?);
//! let config = HarrisConfig::builder().window(window).measure(measure).build()?;
//! assert_eq!(config.window().to_string(), "gaussian:5:1.5");
//! # Ok::<(), harris_core::Error>(())
//! ```

mod choices;
mod measure;
mod notation;

pub use crate::limits::{
    APERTURES, BOX_GRADIENT_APERTURES, BOX_WINDOW_SIZES, FORSTNER_RADII, ROSIN_BINS, SIGMA_RANGE,
};
pub use choices::{Border, Gradient, Order, Plateau, Smoothing, Subpixel, Threshold, Ties, Window};
pub use measure::{Measure, MeasureKind};

use crate::error::Error;
use crate::image::ImageView;

/// A valid configuration of a Harris-type detector.
///
/// The default has the parameters of table 4.3 of Loundagin (2015): binomial smoothing 3 × 3,
/// Sobel 3 × 3, Harris with k = 0.04 and suppression in 5 × 5.
///
/// Four choices are this library's own: the box window of 3 × 3, the threshold of 1 % of the
/// greatest response, smoothing that is rounded for integer images, and [`Plateau::First`].
/// Published systems are in [`presets`](crate::presets).
///
/// ```
/// use harris_core::{HarrisConfig, Measure, Window};
///
/// let config = HarrisConfig::builder()
///     .window(Window::Gaussian { size: 5, sigma: 1.0 })
///     .measure(Measure::ShiTomasi)
///     .max_corners(500)
///     .build()?;
/// assert_eq!(config.window(), Window::Gaussian { size: 5, sigma: 1.0 });
/// assert_eq!(config.max_corners(), Some(500));
///
/// // An invalid value is an error here, never later.
/// assert!(HarrisConfig::builder().measure(Measure::Harris { k: f32::NAN }).build().is_err());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "HarrisConfigBuilder", into = "HarrisConfigBuilder"))]
pub struct HarrisConfig {
    choices: HarrisConfigBuilder,
}

/// Collects the choices of a [`HarrisConfig`]; see [`HarrisConfig::builder`].
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[must_use]
pub struct HarrisConfigBuilder {
    smoothing: Smoothing,
    gradient: Gradient,
    window: Window,
    measure: Measure,
    threshold: Threshold,
    border: Border,
    margin: u32,
    suppression_radius: u32,
    plateau: Plateau,
    ties: Ties,
    min_distance: f64,
    max_corners: Option<usize>,
    order: Order,
    subpixel: Subpixel,
}

impl Default for HarrisConfigBuilder {
    fn default() -> Self {
        Self {
            smoothing: Smoothing::Binomial3,
            gradient: Gradient::Sobel3,
            window: Window::Box { size: 3 },
            measure: Measure::Harris { k: 0.04 },
            threshold: Threshold::Relative(0.01),
            border: Border::Reflect101,
            margin: 0,
            suppression_radius: 2,
            plateau: Plateau::First,
            ties: Ties::Ascending,
            min_distance: 0.0,
            max_corners: None,
            order: Order::Response,
            subpixel: Subpixel::None,
        }
    }
}

impl HarrisConfigBuilder {
    /// The smoothing of the image, by default [`Smoothing::Binomial3`].
    pub fn smoothing(mut self, smoothing: Smoothing) -> Self {
        self.smoothing = smoothing;
        self
    }

    /// The gradient operator, by default [`Gradient::Sobel3`].
    pub fn gradient(mut self, gradient: Gradient) -> Self {
        self.gradient = gradient;
        self
    }

    /// The window over which the structure tensor is summed, by default a box of 3 × 3.
    pub fn window(mut self, window: Window) -> Self {
        self.window = window;
        self
    }

    /// The measure of the structure tensor that is the response, by default Harris with k = 0.04.
    pub fn measure(mut self, measure: Measure) -> Self {
        self.measure = measure;
        self
    }

    /// The threshold that a corner's response exceeds, by default 1 % of the greatest response.
    pub fn threshold(mut self, threshold: Threshold) -> Self {
        self.threshold = threshold;
        self
    }

    /// The border rule: how every stage extends its input beyond the image.
    ///
    /// The default is [`Border::Reflect101`].
    pub fn border(mut self, border: Border) -> Self {
        self.border = border;
        self
    }

    /// Width in pixels of the margin along each edge in which no corner is reported, by default 0.
    ///
    /// Pixels of the margin still suppress others and count for the threshold.
    pub fn margin(mut self, pixels: u32) -> Self {
        self.margin = pixels;
        self
    }

    /// Radius in pixels of the square in which a corner has the greatest response, by default 2.
    ///
    /// 0 keeps every pixel whose response exceeds the threshold.
    pub fn suppression_radius(mut self, pixels: u32) -> Self {
        self.suppression_radius = pixels;
        self
    }

    /// The plateau rule: which of neighbouring pixels of equal response stay.
    ///
    /// The default is [`Plateau::First`].
    pub fn plateau(mut self, plateau: Plateau) -> Self {
        self.plateau = plateau;
        self
    }

    /// The order of ties: which of equal responses comes first.
    ///
    /// The default is [`Ties::Ascending`].
    pub fn ties(mut self, ties: Ties) -> Self {
        self.ties = ties;
        self
    }

    /// Least Euclidean distance in pixels between corners, finite and at least 0.
    ///
    /// The default is 0, for none.
    ///
    /// Of two nearer corners the stronger is kept. The distance holds between pixels, and again
    /// between the places of [`Subpixel::Forstner`]. So fewer than
    /// [`max_corners`](Self::max_corners) may be left.
    pub fn min_distance(mut self, pixels: f64) -> Self {
        self.min_distance = pixels;
        self
    }

    /// The greatest number of corners, at least 1, the strongest being kept.
    ///
    /// The default is `None`, for all.
    ///
    /// The CPU backend is faster where few corners are wanted.
    pub fn max_corners(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.max_corners = limit.into();
        self
    }

    /// The order of the list of corners, by default [`Order::Response`].
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// The sub-pixel refinement of corners, by default [`Subpixel::None`].
    pub fn subpixel(mut self, subpixel: Subpixel) -> Self {
        self.subpixel = subpixel;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// - [`Error::Aperture`], [`Error::BoxWindowSize`], [`Error::BinomialSize`] and
    ///   [`Error::Sigma`] for the sizes of filters and windows.
    /// - [`Error::TensorOverflow`] where smoothing, gradient and window together have sums beyond 64
    ///   bits.
    /// - [`Error::MeasureParameter`] for the measure.
    /// - [`Error::AbsoluteThreshold`], [`Error::RelativeThreshold`] and [`Error::RosinBins`] for the
    ///   threshold.
    /// - [`Error::MinDistance`] and [`Error::MaxCorners`].
    /// - [`Error::Count`] for the radius of [`Subpixel::Forstner`].
    pub fn build(self) -> Result<HarrisConfig, Error> {
        self.smoothing.check()?;
        self.gradient.check()?;
        self.window.check()?;
        self.measure.check()?;
        self.threshold.check()?;
        self.subpixel.check()?;
        choices::check_tensor(self.smoothing, self.gradient, self.window)?;
        if !(self.min_distance.is_finite() && self.min_distance >= 0.0) {
            return Err(Error::MinDistance { distance: self.min_distance });
        }
        if self.max_corners == Some(0) {
            return Err(Error::MaxCorners);
        }
        Ok(HarrisConfig { choices: self })
    }
}

impl HarrisConfig {
    /// Starts a builder from the default.
    pub fn builder() -> HarrisConfigBuilder {
        HarrisConfigBuilder::default()
    }

    /// Starts a builder from this configuration.
    pub fn to_builder(&self) -> HarrisConfigBuilder {
        self.choices.clone()
    }

    /// The smoothing of the image.
    #[must_use]
    pub fn smoothing(&self) -> Smoothing {
        self.choices.smoothing
    }

    /// The gradient operator.
    #[must_use]
    pub fn gradient(&self) -> Gradient {
        self.choices.gradient
    }

    /// The window over which the structure tensor is summed.
    #[must_use]
    pub fn window(&self) -> Window {
        self.choices.window
    }

    /// The measure of the structure tensor that is the response.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.choices.measure
    }

    /// The threshold that a corner's response exceeds.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.choices.threshold
    }

    /// The border rule: how every stage extends its input beyond the image.
    #[must_use]
    pub fn border(&self) -> Border {
        self.choices.border
    }

    /// Width in pixels of the margin along each edge in which no corner is reported.
    #[must_use]
    pub fn margin(&self) -> usize {
        self.choices.margin as usize
    }

    /// Radius in pixels of the square in which a corner has the greatest response.
    #[must_use]
    pub fn suppression_radius(&self) -> usize {
        self.choices.suppression_radius as usize
    }

    /// The plateau rule: which of neighbouring pixels of equal response stay.
    #[must_use]
    pub fn plateau(&self) -> Plateau {
        self.choices.plateau
    }

    /// The order of ties: which of equal responses comes first.
    #[must_use]
    pub fn ties(&self) -> Ties {
        self.choices.ties
    }

    /// Least distance in pixels between corners; 0 for none.
    #[must_use]
    pub fn min_distance(&self) -> f64 {
        self.choices.min_distance
    }

    /// The greatest number of corners; `None` for all.
    #[must_use]
    pub fn max_corners(&self) -> Option<usize> {
        self.choices.max_corners
    }

    /// The order of the list of corners.
    #[must_use]
    pub fn order(&self) -> Order {
        self.choices.order
    }

    /// The sub-pixel refinement of corners.
    #[must_use]
    pub fn subpixel(&self) -> Subpixel {
        self.choices.subpixel
    }

    /// Whether the least distance holds between refined places, too, as under
    /// [`Subpixel::Forstner`].
    #[doc(hidden)]
    #[must_use]
    pub fn merges_places(&self) -> bool {
        match self.subpixel() {
            Subpixel::None | Subpixel::Quadratic => false,
            Subpixel::Forstner { .. } => self.min_distance() > 0.0,
        }
    }

    /// Support radius in pixels: how far from a pixel its response depends on the image.
    ///
    /// The sum of the radii of smoothing, gradient and window. For a box window of even size the
    /// support reaches one pixel less to the right and below.
    #[must_use]
    pub fn support_radius(&self) -> usize {
        self.smoothing().radius() + self.gradient().radius() + self.window().radius()
    }

    /// Widths in pixels of the invalid frame: at the left and top edges, and at the right and
    /// bottom edges.
    ///
    /// Responses in the frame are not valid. Under [`Border::Skip`] it is as wide as the support
    /// reaches; under the other border rules it is 0.
    #[must_use]
    pub fn invalid_frame(&self) -> [usize; 2] {
        match self.border() {
            Border::Skip => self
                .window()
                .reach()
                .map(|reach| self.smoothing().radius() + self.gradient().radius() + reach),
            Border::Reflect101 | Border::Replicate | Border::Zero => [0; 2],
        }
    }

    /// The factor s2 that scales window sums to the units of an image in 0..1 (docs/arithmetic.md,
    /// section 5).
    ///
    /// 1 / ((norm · full scale)² · sum of weights), computed in f64. The norm is the smoothing's
    /// times the gradient's.
    #[must_use]
    pub fn tensor_scale(&self, full_scale: f64) -> f32 {
        let unit = self.smoothing().norm() * self.gradient().norm() * full_scale;
        (1.0 / (unit * unit * self.window().weight_sum())) as f32
    }

    /// The greatest |gx| and |gy| of an integer image; `None` where the gradient has float weights.
    ///
    /// Backends choose number types by it.
    #[doc(hidden)]
    #[must_use]
    pub fn max_gradient(&self, full_scale: f64) -> Option<f64> {
        self.gradient().gain().map(|gain| self.smoothing().norm() * gain * full_scale)
    }

    /// The greatest window sum of gx² or gy² of an integer image; `None` where the gradient has
    /// float weights.
    ///
    /// channels · (greatest gradient)² · sum of weights. Backends choose number types by it.
    ///
    /// ```
    /// use harris_core::HarrisConfig;
    ///
    /// // Sobel's gradient, 4 · 255 at most, in a window of 3 × 3.
    /// assert_eq!(HarrisConfig::default().max_window_sum(1, 255.0), Some(9.0 * 1020.0 * 1020.0));
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub fn max_window_sum(&self, channels: usize, full_scale: f64) -> Option<f64> {
        let greatest = self.max_gradient(full_scale)?;
        Some(channels as f64 * (greatest * greatest) * self.window().weight_sum())
    }

    /// Checks that this configuration can run on `image`.
    ///
    /// # Errors
    /// [`Error::ImageTooSmall`] where [`Border::Skip`] leaves no pixel, [`Error::NonFinite`] and
    /// [`Error::SampleTooLarge`] for float samples.
    pub fn check_image(&self, image: &ImageView<'_>) -> Result<(), Error> {
        self.check_size(image.width(), image.height())?;
        image.check_samples()
    }

    /// Checks that this configuration can run on images of `width` times `height` pixels.
    ///
    /// # Errors
    /// [`Error::ImageTooSmall`] where [`Border::Skip`] leaves no pixel.
    pub fn check_size(&self, width: usize, height: usize) -> Result<(), Error> {
        let needed = self.invalid_frame().iter().sum::<usize>() + 1;
        if width < needed || height < needed {
            return Err(Error::ImageTooSmall { width, height, needed });
        }
        Ok(())
    }
}

impl TryFrom<HarrisConfigBuilder> for HarrisConfig {
    type Error = Error;

    fn try_from(builder: HarrisConfigBuilder) -> Result<Self, Error> {
        builder.build()
    }
}

impl From<HarrisConfig> for HarrisConfigBuilder {
    fn from(config: HarrisConfig) -> Self {
        config.choices
    }
}
