//! The choices of a configuration, with their radii, norms, sums of weights and ranges.

use std::ops::RangeInclusive;

use crate::error::Error;
use crate::limits::{
    APERTURES, BOX_GRADIENT_APERTURES, BOX_WINDOW_SIZES, FORSTNER_RADII, ROSIN_BINS, SIGMA_RANGE,
};

/// Smoothing of the image before the gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Smoothing {
    /// No smoothing.
    None,
    /// \[1 2 1\] ⊗ \[1 2 1\] / 16, rounded for integer images; OpenCV's `GaussianBlur` of size 3,
    /// sigma 0.
    Binomial3,
    /// \[1 2 1\] ⊗ \[1 2 1\] / 16 without rounding, as in programs that smooth in floats.
    ///
    /// Responses have the units of [`Smoothing::Binomial3`]. Integer sums are 16 times as great,
    /// which limits the window: [`Gradient::Sobel7`] takes a Gaussian or a box of 2, and wide box
    /// gradients take narrow windows ([`Error::TensorOverflow`](crate::Error::TensorOverflow)).
    Binomial3Exact,
    /// \[1 4 6 4 1\] ⊗ \[1 4 6 4 1\] / 256, rounded for integer images; OpenCV's `GaussianBlur` of
    /// size 5, sigma 0.
    Binomial5,
    /// A sampled Gaussian of sum 1; it makes the image float.
    Gaussian {
        /// Aperture in pixels, odd, 3 to 127.
        size: u32,
        /// Standard deviation in pixels, 0.1 to 1000.
        sigma: f64,
    },
}

impl Smoothing {
    /// Radius in pixels.
    #[must_use]
    pub fn radius(self) -> usize {
        match self {
            Self::None => 0,
            Self::Binomial3 | Self::Binomial3Exact => 1,
            Self::Binomial5 => 2,
            Self::Gaussian { size, .. } => (size / 2) as usize,
        }
    }

    /// The divisor that brings the smoothed image back to the units of its samples.
    ///
    /// 16 for [`Smoothing::Binomial3Exact`], whose sums are not divided, else 1.
    #[must_use]
    pub fn norm(self) -> f64 {
        match self {
            Self::Binomial3Exact => 16.0,
            Self::None | Self::Binomial3 | Self::Binomial5 | Self::Gaussian { .. } => 1.0,
        }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::None | Self::Binomial3 | Self::Binomial3Exact | Self::Binomial5 => Ok(()),
            Self::Gaussian { size, sigma } => {
                check_aperture("gaussian smoothing", size, APERTURES)?;
                check_sigma(sigma)
            }
        }
    }
}

/// Gradient operator: gx is right minus left, gy lower minus upper.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Gradient {
    /// \[-1 0 1\] across, \[1 2 1\] along (Sobel 1968).
    Sobel3,
    /// \[-1 -2 0 2 1\] across, \[1 4 6 4 1\] along; OpenCV's `Sobel` of aperture 5.
    Sobel5,
    /// \[-1 -4 -5 0 5 4 1\] across, \[1 6 15 20 15 6 1\] along; OpenCV's `Sobel` of aperture 7.
    Sobel7,
    /// \[-1 0 1\] across, \[3 10 3\] along (Scharr 2000).
    Scharr3,
    /// \[-1 0 1\] alone (Chahuara 2017).
    Central,
    /// Box gradient: the sum over a box on one side minus that on the other, without the centre
    /// line.
    ///
    /// LoCoCo's gradient (Mainali et al. 2010, Phull et al. 2011).
    Box {
        /// Aperture in pixels, odd, 3 to 31.
        size: u32,
    },
    /// The derivative of a Gaussian across, a Gaussian along.
    GaussianDerivative {
        /// Aperture in pixels, odd, 3 to 127.
        size: u32,
        /// Standard deviation in pixels, 0.1 to 1000.
        sigma: f64,
    },
}

impl Gradient {
    /// Radius in pixels.
    #[must_use]
    pub fn radius(self) -> usize {
        match self {
            Self::Sobel3 | Self::Scharr3 | Self::Central => 1,
            Self::Sobel5 => 2,
            Self::Sobel7 => 3,
            Self::Box { size } | Self::GaussianDerivative { size, .. } => (size / 2) as usize,
        }
    }

    /// The divisor that makes the gradient twice the slope of a ramp.
    #[must_use]
    pub fn norm(self) -> f64 {
        match self {
            Self::Sobel3 => 4.0,
            Self::Sobel5 => 64.0,
            Self::Sobel7 => 1024.0,
            Self::Scharr3 => 16.0,
            Self::Central | Self::GaussianDerivative { .. } => 1.0,
            Self::Box { size } => {
                let (n, h) = (f64::from(size), f64::from(size / 2));
                n * h * (h + 1.0) / 2.0
            }
        }
    }

    /// The greatest |gx| and |gy| of an image in 0..1; `None` where weights are floats.
    ///
    /// Backends choose integer types by it.
    #[must_use]
    pub fn gain(self) -> Option<f64> {
        match self {
            Self::Sobel3 => Some(4.0),
            Self::Sobel5 => Some(48.0),
            Self::Sobel7 => Some(640.0),
            Self::Scharr3 => Some(16.0),
            Self::Central => Some(1.0),
            Self::Box { size } => Some(f64::from(size * (size / 2))),
            Self::GaussianDerivative { .. } => None,
        }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::Sobel3 | Self::Sobel5 | Self::Sobel7 | Self::Scharr3 | Self::Central => Ok(()),
            Self::Box { size } => check_aperture("box gradient", size, BOX_GRADIENT_APERTURES),
            Self::GaussianDerivative { size, sigma } => {
                check_aperture("gaussian derivative", size, APERTURES)?;
                check_sigma(sigma)
            }
        }
    }
}

/// Window over which products of the gradient are summed to the structure tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Window {
    /// Equal weights.
    ///
    /// An even size has one more column to the left of a pixel than to its right, and one more row
    /// above it than below, as OpenCV's block of that size.
    Box {
        /// Aperture in pixels, 2 to 127.
        size: u32,
    },
    /// Binomial weights.
    Binomial {
        /// Aperture in pixels: 3, 5 or 7.
        size: u32,
    },
    /// A sampled Gaussian of sum 1.
    Gaussian {
        /// Aperture in pixels, odd, 3 to 127.
        size: u32,
        /// Standard deviation in pixels, 0.1 to 1000.
        sigma: f64,
    },
}

impl Window {
    /// Radius in pixels: the extent to the left and above, the greatest of any side.
    #[must_use]
    pub fn radius(self) -> usize {
        let (Self::Box { size } | Self::Binomial { size } | Self::Gaussian { size, .. }) = self;
        (size / 2) as usize
    }

    /// Whether the extent is equal on all sides: false for boxes of even size.
    #[must_use]
    pub fn is_centred(self) -> bool {
        let (Self::Box { size } | Self::Binomial { size } | Self::Gaussian { size, .. }) = self;
        size % 2 == 1
    }

    /// Extents in pixels around a pixel: to the left and above, and to the right and below.
    #[must_use]
    pub fn reach(self) -> [usize; 2] {
        let before = self.radius();
        [before, before - usize::from(!self.is_centred())]
    }

    /// The sum of the weights: n² for a box, (Σ taps)² for a binomial, 1 for a Gaussian.
    #[must_use]
    pub fn weight_sum(self) -> f64 {
        match self {
            Self::Box { size } => f64::from(size) * f64::from(size),
            // Row n of Pascal's triangle sums to 2ⁿ⁻¹ across and down.
            Self::Binomial { size } => f64::from(1_u32 << (2 * (size - 1))),
            Self::Gaussian { .. } => 1.0,
        }
    }

    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::Box { size } if BOX_WINDOW_SIZES.contains(&size) => Ok(()),
            Self::Box { size } => Err(Error::BoxWindowSize { size }),
            Self::Binomial { size: 3 | 5 | 7 } => Ok(()),
            Self::Binomial { size } => Err(Error::BinomialSize { size }),
            Self::Gaussian { size, sigma } => {
                check_aperture("gaussian window", size, APERTURES)?;
                check_sigma(sigma)
            }
        }
    }
}

/// Threshold that the response of a corner exceeds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Threshold {
    /// An absolute value, finite and at least 0, in the units of an image in 0..1.
    Absolute(f32),
    /// A fraction of the greatest response, 0 to 1.
    Relative(f64),
    /// Rosin's unimodal threshold: the elbow of the responses' histogram (Rosin 2001, Chahuara
    /// 2017).
    Rosin {
        /// Bins of the histogram, 2 to 65536.
        bins: u32,
    },
    /// 0: every positive response.
    None,
}

impl Threshold {
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::Absolute(value) if !(value.is_finite() && value >= 0.0) => {
                Err(Error::AbsoluteThreshold { value })
            }
            Self::Relative(quality) if !(0.0..=1.0).contains(&quality) => {
                Err(Error::RelativeThreshold { quality })
            }
            Self::Rosin { bins } if !ROSIN_BINS.contains(&bins) => Err(Error::RosinBins { bins }),
            Self::Absolute(_) | Self::Relative(_) | Self::Rosin { .. } | Self::None => Ok(()),
        }
    }
}

/// Border rule: how every stage extends its own input beyond the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Border {
    /// Mirrored about the edge pixel: dcb|abcd|cba.
    Reflect101,
    /// The edge pixel repeated: aaa|abcd|ddd.
    Replicate,
    /// Zeros.
    Zero,
    /// No extension: only pixels whose whole support lies in the image have a response.
    Skip,
}

/// Sub-pixel refinement of corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Subpixel {
    /// No refinement: corners lie at the centres of their pixels.
    None,
    /// The vertex, within half a pixel, of the parabola through three responses along each axis.
    Quadratic,
    /// The point where the edges around a corner meet (Förstner & Gülch 1987).
    ///
    /// It is nearest to the lines along the edges, in least squares over a ring of samples. The
    /// maximum of a response lies up to a few pixels inside a corner; this point does not.
    ///
    /// A corner moves by at most the radius, so several maxima of one junction may move to one
    /// point. With a [`min_distance`](crate::HarrisConfigBuilder::min_distance) the strongest of
    /// them stays.
    Forstner {
        /// Radius of the ring in pixels, 3 to 15, usually 5.
        radius: u32,
    },
}

/// Plateau rule: which of neighbouring pixels of exactly equal response survive suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Plateau {
    /// The first in raster order of all within the suppression radius.
    First,
    /// All of them, so that corners may be neighbours, as in OpenCV.
    All,
}

/// Order of ties: which of equal responses comes first.
///
/// The order decides which corners a least distance and a greatest number keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Ties {
    /// The first in raster order.
    Ascending,
    /// The last in raster order, as in OpenCV.
    Descending,
}

/// Order of the list of corners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Order {
    /// By response, the strongest first, equal ones as [`Ties`] says.
    Response,
    /// Raster order: from top to bottom, then from left to right. The corners are those of
    /// `Response`.
    Raster,
}

impl Subpixel {
    pub(super) fn check(self) -> Result<(), Error> {
        match self {
            Self::Forstner { radius } if !FORSTNER_RADII.contains(&radius) => Err(Error::Count {
                what: "pixels of the sub-pixel radius",
                value: radius,
                least: *FORSTNER_RADII.start(),
                most: *FORSTNER_RADII.end(),
            }),
            Self::None | Self::Quadratic | Self::Forstner { .. } => Ok(()),
        }
    }
}

fn check_aperture(stage: &'static str, size: u32, range: RangeInclusive<u32>) -> Result<(), Error> {
    if size % 2 == 1 && range.contains(&size) {
        return Ok(());
    }
    Err(Error::Aperture { stage, size, least: *range.start(), most: *range.end() })
}

fn check_sigma(sigma: f64) -> Result<(), Error> {
    if SIGMA_RANGE.contains(&sigma) { Ok(()) } else { Err(Error::Sigma { sigma }) }
}

/// Checks that 64-bit integers hold every window sum of products, for 16-bit samples of three
/// channels.
///
/// The greatest sum is 3 · (gain · 65535)² · taps², where the gain is the smoothing's norm times
/// the gradient's gain, and `taps` is the sum of the window's weights along an axis.
pub(super) fn check_tensor(smoothing: Smoothing, gradient: Gradient, window: Window) -> Result<(), Error> {
    let Some(gain) = gradient.gain() else { return Ok(()) };
    let taps = match window {
        Window::Box { size } => size,
        Window::Binomial { size } => 1 << (size - 1),
        Window::Gaussian { .. } => return Ok(()),
    };
    let most = most_taps((smoothing.norm() * gain) as u32);
    if taps <= most {
        return Ok(());
    }
    Err(Error::TensorOverflow {
        smoothing: smoothing.to_string(),
        gradient: gradient.to_string(),
        taps,
        most,
    })
}

/// The greatest sum of taps for which 3 · (gain · 65535)² · taps² < 2⁶³.
const fn most_taps(gain: u32) -> u32 {
    let mut taps = 1;
    while tensor_bound(gain, taps + 1) < 1 << 63 {
        taps += 1;
    }
    taps
}

/// The greatest window sum: 3 · (gain · 65535)² · taps².
const fn tensor_bound(gain: u32, taps: u32) -> u128 {
    let (g, t) = (gain as u128 * 65535, taps as u128);
    3 * g * g * t * t
}

// Of fixed gradients Sobel 7 has the greatest gain, 640, and Sobel 5 the next, 48, with which every
// window fits.
const _: () = assert!(tensor_bound(48, *BOX_WINDOW_SIZES.end()) < 1 << 63);
const _: () = assert!(most_taps(640) == 41);
// The gradient itself fits in 32 bits.
const _: () = assert!((16 * 640 * 65535_u64) < 1 << 31 && *BOX_GRADIENT_APERTURES.end() == 31);
