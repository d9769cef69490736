//! The choices, each with what follows from it: radius, norm, sum of weights, validity.

use std::ops::RangeInclusive;

use super::limits::{
    APERTURES, BOX_GRADIENT_APERTURES, BOX_WINDOW_SIZES, FORSTNER_RADII, ROSIN_BINS, SIGMA_RANGE,
};
use crate::error::Error;

/// How the image is smoothed before its gradient is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Smoothing {
    /// Not at all.
    None,
    /// \[1 2 1\] ⊗ \[1 2 1\] / 16, rounded for integer images; OpenCV's `GaussianBlur` of size 3, sigma 0.
    Binomial3,
    /// \[1 2 1\] ⊗ \[1 2 1\] / 16 without rounding, as programs that smooth in floats have it. Responses have the units that they have
    /// with [`Smoothing::Binomial3`]. As sums are sixteen times as great, [`Gradient::Sobel7`] goes with a Gaussian window or
    /// a box of 2, and wide box gradients with narrow windows ([`Error::TensorOverflow`](crate::Error::TensorOverflow)).
    Binomial3Exact,
    /// \[1 4 6 4 1\] ⊗ \[1 4 6 4 1\] / 256, rounded for integer images; OpenCV's `GaussianBlur` of size 5, sigma 0.
    Binomial5,
    /// A sampled Gaussian of sum 1; the image is float from here on.
    Gaussian {
        /// Aperture in pixels, odd, 3 to 127.
        size: u32,
        /// Standard deviation in pixels, 0.1 to 1000.
        sigma: f64,
    },
}

impl Smoothing {
    /// Pixels that it reaches to each side.
    #[must_use]
    pub fn radius(self) -> usize {
        match self {
            Self::None => 0,
            Self::Binomial3 | Self::Binomial3Exact => 1,
            Self::Binomial5 => 2,
            Self::Gaussian { size, .. } => (size / 2) as usize,
        }
    }

    /// What the smoothed image, as backends have it, is to be divided by: 16 for [`Smoothing::Binomial3Exact`], whose sums are not
    /// divided, else 1.
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

/// How the gradient is taken: gx is right minus left, gy lower minus upper.
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
    /// The sum of a box on one side minus that on the other, the centre line left out (LoCoCo: Mainali
    /// et al. 2010, Phull et al. 2011).
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
    /// Pixels that it reaches to each side.
    #[must_use]
    pub fn radius(self) -> usize {
        match self {
            Self::Sobel3 | Self::Scharr3 | Self::Central => 1,
            Self::Sobel5 => 2,
            Self::Sobel7 => 3,
            Self::Box { size } | Self::GaussianDerivative { size, .. } => (size / 2) as usize,
        }
    }

    /// What divides the gradient so that it is twice the slope of a ramp.
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

    /// The greatest gradient of an image in 0..1, by which integers are chosen that hold it; `None` where weights are floats.
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

/// Over which window the products of the gradient are summed to the structure tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Window {
    /// All weights equal. Of an even size there is one column, and one row, more before a pixel than behind it: OpenCV's
    /// block of that size.
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
    /// The most pixels that it reaches to a side: to the left and above.
    #[must_use]
    pub fn radius(self) -> usize {
        let (Self::Box { size } | Self::Binomial { size } | Self::Gaussian { size, .. }) = self;
        (size / 2) as usize
    }

    /// Whether it reaches as far to every side: all but boxes of even sizes.
    #[must_use]
    pub fn is_centred(self) -> bool {
        let (Self::Box { size } | Self::Binomial { size } | Self::Gaussian { size, .. }) = self;
        size % 2 == 1
    }

    /// Pixels that it reaches before a pixel, to the left and above, and behind it.
    #[must_use]
    pub fn reach(self) -> [usize; 2] {
        let before = self.radius();
        [before, before - usize::from(!self.is_centred())]
    }

    /// The sum of its weights: n² for a box, (Σ taps)² for a binomial, 1 for a Gaussian.
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

/// Which responses are strong enough to be corners: those greater than a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Threshold {
    /// Greater than this value, finite and at least 0, in the units of an image scaled to 0..1.
    Absolute(f32),
    /// Greater than this part, 0 to 1, of the greatest response.
    Relative(f64),
    /// Rosin's unimodal threshold: the corner of the responses' histogram (Rosin 2001, Chahuara 2017).
    Rosin {
        /// Bins of the histogram, 2 to 65536.
        bins: u32,
    },
    /// Greater than 0.
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

/// How every stage extends its own input beyond the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Border {
    /// Mirrored about the edge pixel: dcb|abcd|cba.
    Reflect101,
    /// The edge pixel again and again: aaa|abcd|ddd.
    Replicate,
    /// Zeros.
    Zero,
    /// Not at all: only pixels whose whole support lies in the image have a response.
    Skip,
}

/// Whether and how corners are placed between pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Subpixel {
    /// At the pixel's centre.
    None,
    /// At the vertex, within half a pixel, of the parabola through three responses, for each axis.
    Quadratic,
    /// Where the edges around meet (Förstner & Gülch 1987): the point to which the lines along the edges come nearest, in least
    /// squares over a ring of samples. A response's maximum lies up to a few pixels inside of a corner; this does not. A corner
    /// moves by at most the radius, so that several maxima of one junction may come to lie on one point: with a
    /// [`min_distance`](crate::HarrisConfigBuilder::min_distance) the strongest of them stays.
    Forstner {
        /// Radius of the ring in pixels, 3 to 15, usually 5.
        radius: u32,
    },
}

/// Which pixels of a plateau, neighbours of exactly equal response, stay in the suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Plateau {
    /// The first from top to bottom, then from left to right, of all within the suppression radius.
    First,
    /// All of them, so that corners may touch, as in OpenCV.
    All,
}

/// Which of equal responses comes first in the order of strength, by which lists are cut short and spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Ties {
    /// The first from top to bottom, then from left to right.
    Ascending,
    /// The last from top to bottom, then from left to right, as in OpenCV.
    Descending,
}

/// In which order the corners come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Order {
    /// The strongest first; equals as [`Ties`] says.
    Response,
    /// From top to bottom, then from left to right; the same corners.
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

/// Backends may sum the products of integer images in 64 bits: three channels of (gain · 65535)², summed over
/// a window whose taps sum to `taps` along each axis, stay below 2⁶³. The gain is that of smoothing and gradient.
pub(super) fn check_tensor(smoothing: Smoothing, gradient: Gradient, window: Window) -> Result<(), Error> {
    let Some(gain) = gradient.gain() else { return Ok(()) };
    let taps = match window {
        Window::Box { size } => size,
        Window::Binomial { size } => 1 << (size - 1),
        Window::Gaussian { .. } => return Ok(()),
    };
    let most = most_taps((smoothing.norm() * gain) as u32);
    if taps > most { Err(Error::TensorOverflow { smoothing, gradient, taps, most }) } else { Ok(()) }
}

/// The greatest sum of taps for which 3 · (gain · 65535)² · taps² < 2⁶³.
const fn most_taps(gain: u32) -> u32 {
    let mut taps = 1;
    while tensor_bound(gain, taps + 1) < 1 << 63 {
        taps += 1;
    }
    taps
}

const fn tensor_bound(gain: u32, taps: u32) -> u128 {
    let (g, t) = (gain as u128 * 65535, taps as u128);
    3 * g * g * t * t
}

// Of fixed gradients Sobel 7 has the greatest gain, 640, and Sobel 5 the next, 48, with which every window fits.
const _: () = assert!(tensor_bound(48, *BOX_WINDOW_SIZES.end()) < 1 << 63);
const _: () = assert!(most_taps(640) == 41);
// The gradient itself fits in 32 bits.
const _: () = assert!((16 * 640 * 65535_u64) < 1 << 31 && *BOX_GRADIENT_APERTURES.end() == 31);
