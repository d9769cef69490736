//! Fused sweeps: one pass down strips of an image, from samples to corners or responses, or from
//! responses to corners.

use std::fmt;

use harris_core::{Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::fused::{self, Samples, Strips, Weights};
use harris_gpu_kernels::abi::{Kernel, gradient, measure};

use super::arguments::{gradient_of, measure_of, simple_threshold};
use super::border_band::BorderBand;
use super::shape::Shape;
use crate::device::Depth;

/// A fused kernel and the radii that it is launched with, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// The kernel.
    pub kernel: Kernel,
    /// Radius of the gradient; 0 where the input is a response map.
    pub gradient: u32,
    /// Radius of the window; 0 where the input is a response map.
    pub window: u32,
    /// Radius of suppression; 0 where the sweep writes responses.
    pub suppression: usize,
}

impl Sweep {
    /// The sweep from samples to corners, if there is a kernel for it.
    ///
    /// It suppresses within the radius asked for, or within the greatest that kernels have. The
    /// response map says the rest.
    pub(crate) fn to_corners(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        simple_threshold(config)?;
        let source = ResponseSource::of(shape, config)?;
        let measure = if shape.is_masked() { measure::ANY } else { measure_of(config).0 };
        let within = |suppression: usize| {
            let kernel = source.corner_kernel(measure, suppression)?;
            Self { suppression, ..Self::over_samples(kernel, config) }.if_large_enough(shape)
        };
        let radius = config.suppression_radius();
        // A sweep over responses sees competitors of smaller radii itself.
        let is_far = radius > fused::MOST_RADIUS_IN_MAP;
        within(radius).or_else(|| if is_far { within(fused::MOST_RADIUS) } else { None })
    }

    /// The sweep from samples to the response map, if there is a kernel for it.
    pub(crate) fn to_responses(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let kernel = ResponseSource::of(shape, config)?.map_kernel(measure_of(config).0)?;
        Self::over_samples(kernel, config).if_large_enough(shape)
    }

    /// The sweep from the response map to corners, if images are large enough for it.
    pub(crate) fn over_responses(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let [before, behind] = config.invalid_frame();
        if before != behind {
            return None;
        }
        let suppression = config.suppression_radius().min(fused::MOST_RADIUS_IN_MAP);
        let responses = ResponseSource {
            samples: Samples::Responses,
            smoothing: 0,
            gradient: gradient::CENTRAL,
            window: (Weights::Box, 0),
        };
        let kernel = responses.corner_kernel(measure::ANY, suppression)?;
        Self { kernel, gradient: 0, window: 0, suppression }.if_large_enough(shape)
    }

    fn over_samples(kernel: Kernel, config: &HarrisConfig) -> Self {
        let (gradient, window) = (config.gradient().radius() as u32, config.window().radius() as u32);
        Self { kernel, gradient, window, suppression: 0 }
    }

    /// This sweep, if each edge of the image needs one reflection at most.
    fn if_large_enough(self, shape: &Shape) -> Option<Self> {
        let side = shape.width.min(shape.height) as usize;
        (side >= 2 * self.margin()).then_some(self)
    }

    /// Columns and rows that kernels may look at beyond a pixel: the sweep's own, and at least
    /// those of any sweep of narrow windows.
    fn margin(self) -> usize {
        self.support_radius().max(fused::MOST_REACH as usize)
    }

    /// Rows below the last one swept that a sweep may look at.
    pub(crate) fn lookahead(self) -> usize {
        self.margin() + 8
    }

    /// Strips of an image, side by side.
    pub(crate) fn strips(self, width: u32) -> usize {
        self.layout(width).number as usize
    }

    /// How the columns of an image are divided into strips.
    pub(crate) fn layout(self, width: u32) -> Strips {
        self.kernel.strips(self.gradient, self.window, width).expect("a fused kernel")
    }

    /// Columns and rows from a corner, or a response, to the farthest sample on which it depends.
    pub(crate) fn support_radius(self) -> usize {
        self.kernel.reach(self.gradient, self.window).expect("a fused kernel") as usize
    }

    /// Rows that a warp sweeps before the first of its tile and after the last.
    pub(crate) fn warm_up_rows(self) -> usize {
        2 * self.support_radius()
    }

    /// Blocks that a multiprocessor holds at a time.
    pub(crate) fn blocks_held(self) -> usize {
        self.kernel.blocks_held().expect("a fused kernel") as usize
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kernel.name())
    }
}

/// What a sweep computes responses from, as [`Kernel::fused`] and [`Kernel::map`] are looked up.
struct ResponseSource {
    samples: Samples,
    /// Radius of the binomial.
    smoothing: usize,
    /// Number of the gradient.
    gradient: u32,
    /// Kind of the weights, and the greatest radius of the kernel.
    window: (Weights, usize),
}

impl ResponseSource {
    /// The source of images under a configuration; `None` where no sweep reads such samples or
    /// computes such sums.
    fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        if !shape.is_aligned() || !config.window().is_centred() {
            return None;
        }
        let smoothing = match config.smoothing() {
            Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5 => config.smoothing().radius(),
            Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => return None,
        };
        let gradient = match config.gradient() {
            // The kernels of border bands have no box gradients.
            Gradient::Box { .. } if BorderBand::is_needed(config) => return None,
            Gradient::Box { .. } => gradient::BOX,
            choice @ (Gradient::Sobel3
            | Gradient::Scharr3
            | Gradient::Central
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::GaussianDerivative { .. }) => gradient_of(choice)?,
        };
        let radius = config.window().radius();
        let window = match config.window() {
            Window::Box { .. } if gradient == gradient::BOX => {
                if radius.max(config.gradient().radius()) > fused::MOST_OF_BOXES {
                    return None;
                }
                (Weights::Wide, fused::MOST_OF_BOXES)
            }
            Window::Box { .. } if radius <= fused::MOST_NARROW => (Weights::Box, radius),
            Window::Box { .. } => (Weights::Wide, fused::WIDE.into_iter().find(|&most| radius <= most)?),
            Window::Binomial { .. } => (Weights::Binomial, radius),
            Window::Gaussian { .. } => (Weights::Gaussian, radius),
        };
        let samples = match (shape.depth, shape.channels) {
            (Depth::U8, 1) => Samples::Bytes,
            (Depth::U8, 3) => Samples::Colours,
            (Depth::U16, 1) => Samples::Words,
            (Depth::F32, 1) => Samples::Floats,
            (Depth::U8 | Depth::U16 | Depth::F32, _) => return None,
        };
        Some(Self { samples, smoothing, gradient, window })
    }

    /// The kernel that finds corners.
    fn corner_kernel(&self, measure: u32, suppression: usize) -> Option<Kernel> {
        let Self { samples, smoothing, gradient, window } = *self;
        Kernel::fused(samples, smoothing, gradient, window, measure, suppression)
    }

    /// The kernel that writes responses.
    fn map_kernel(&self, measure: u32) -> Option<Kernel> {
        let Self { samples, smoothing, gradient, window } = *self;
        Kernel::map(samples, smoothing, gradient, window, measure)
    }
}
