//! Fused sweeps: one pass down strips of an image, from samples to corners or responses, or from
//! responses to corners.

use std::fmt;

use harris_core::pipeline::numerics::Numerics;
use harris_core::{Border, Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::fused::{self, Input, Strips, Weights};
use harris_gpu_kernels::abi::{Kernel, gradient};

use super::arguments::{gradient_of, simple_threshold};
use super::border_band::BorderBand;
use super::shape::Shape;
use crate::device::Depth;

/// A fused kernel and the stages that it is launched with; radii are in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sweep {
    /// The kernel.
    pub kernel: Kernel,
    /// Radius of the binomial smoothing; 0 where there is none.
    pub smoothing: u32,
    /// Number of the gradient, of [`harris_gpu_kernels::abi::gradient`]; any for box gradients.
    pub gradient: u32,
    /// Radius of the gradient; 0 where the input is a response map.
    pub gradient_radius: u32,
    /// Radius of the window; 0 where the input is a response map.
    pub window: u32,
    /// Radius of suppression, or [`fused::NO_SUPPRESSION`] where the sweep writes responses.
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
        let within = |suppression: usize| {
            let kernel = source.corner_kernel(suppression)?;
            Self { suppression, ..source.sweep(kernel, config) }.if_large_enough(shape)
        };
        let radius = config.suppression_radius();
        // A sweep over responses sees competitors of smaller radii itself.
        let is_far = radius > fused::MAX_RADIUS_IN_MAP;
        within(radius).or_else(|| if is_far { within(fused::MAX_RADIUS) } else { None })
    }

    /// The sweep from samples to the response map, if there is a kernel for it.
    pub(crate) fn to_responses(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let source = ResponseSource::of(shape, config)?;
        let kernel = source.kernel(fused::NO_SUPPRESSION as usize)?;
        source.sweep(kernel, config).if_large_enough(shape)
    }

    /// The sweep from the response map to corners, if images are large enough for it.
    pub(crate) fn over_responses(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let [before, behind] = config.invalid_frame();
        if before != behind {
            return None;
        }
        let suppression = config.suppression_radius().min(fused::MAX_RADIUS_IN_MAP);
        let gradient = gradient::SOBEL;
        let responses = ResponseSource { input: Input::ResponseMap, gradient, window: (Weights::Box, 0) };
        let kernel = responses.corner_kernel(suppression)?;
        let sweep = Self { kernel, smoothing: 0, gradient, gradient_radius: 0, window: 0, suppression };
        sweep.if_large_enough(shape)
    }

    /// This sweep, if each edge of the image needs one reflection at most.
    fn if_large_enough(self, shape: &Shape) -> Option<Self> {
        let side = shape.width.min(shape.height) as usize;
        (side >= 2 * self.margin()).then_some(self)
    }

    /// Columns and rows that kernels may look at beyond a pixel: the sweep's own, and at least
    /// those of any sweep of narrow windows.
    fn margin(self) -> usize {
        self.support_radius().max(fused::MAX_SUPPORT_RADIUS as usize)
    }

    /// Rows below the last one swept that a sweep may look at.
    pub(crate) fn lookahead(self) -> usize {
        self.margin() + 8
    }

    /// Strips of an image, side by side.
    pub(crate) fn strips(self, width: u32) -> usize {
        self.layout(width).count as usize
    }

    /// How the columns of an image are divided into strips.
    pub(crate) fn layout(self, width: u32) -> Strips {
        let (support_radius, suppression) = (self.support_radius() as u32, self.suppression as u32);
        self.kernel.strips(support_radius, suppression, width).expect("a fused kernel")
    }

    /// Columns and rows from a corner, or a response, to the farthest sample on which it depends.
    pub(crate) fn support_radius(self) -> usize {
        (self.smoothing + self.gradient_radius + self.window) as usize + self.suppression
    }

    /// Rows that a warp sweeps before the first of its tile and after the last.
    pub(crate) fn warm_up_rows(self) -> usize {
        2 * self.support_radius()
    }

    /// Blocks that a multiprocessor holds at a time.
    pub(crate) fn blocks_held(self) -> usize {
        let held = if self.writes_responses() {
            self.kernel.blocks_held_writing_responses()
        } else {
            self.kernel.blocks_held()
        };
        held.expect("a fused kernel") as usize
    }

    /// Whether it writes responses, and finds no corners.
    fn writes_responses(self) -> bool {
        self.suppression == fused::NO_SUPPRESSION as usize
    }
}

impl fmt::Display for Sweep {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kernel.name())
    }
}

/// What a sweep computes responses from.
struct ResponseSource {
    input: Input,
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
        match config.smoothing() {
            Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5 => {}
            Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => return None,
        }
        let gradient = match config.gradient() {
            // The kernels of border bands have no box gradients.
            Gradient::Box { .. } if BorderBand::is_needed(config) => return None,
            // Kernels of box gradients have no others.
            Gradient::Box { .. } => gradient::SOBEL,
            choice @ (Gradient::Sobel3
            | Gradient::Scharr3
            | Gradient::Central
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::GaussianDerivative { .. }) => gradient_of(choice)?,
        };
        let is_box = matches!(config.gradient(), Gradient::Box { .. });
        let is_plain_central =
            config.gradient() == Gradient::Central && config.smoothing() == Smoothing::None;
        let radius = config.window().radius();
        let window = match config.window() {
            Window::Box { .. } if is_box => {
                if radius.max(config.gradient().radius()) > fused::MAX_BOX_RADIUS {
                    return None;
                }
                (Weights::VariableBox, fused::MAX_BOX_RADIUS)
            }
            Window::Box { .. } if radius <= fused::MAX_NARROW_RADIUS => (Weights::Box, radius),
            Window::Box { .. } => (
                Weights::VariableBox,
                fused::VARIABLE_BOX_MAX_RADII.into_iter().find(|&most| radius <= most)?,
            ),
            Window::Binomial { .. } => (Weights::Binomial, radius),
            // The kernel of float windows for these holds more blocks.
            Window::Gaussian { .. } if is_plain_central && radius <= 2 => return None,
            Window::Gaussian { .. } => (Weights::Gaussian, radius),
        };
        let input = match (shape.depth, shape.channels) {
            (Depth::U8, 1) if is_box && config.smoothing() == Smoothing::None => Input::GrayU8BoxGradient,
            _ if is_box || !sums_fit(shape, config) => return None,
            (Depth::U8, 1) => Input::GrayU8,
            (Depth::U8, 3) => Input::RgbU8,
            (Depth::U16, 1) => Input::GrayU16,
            (Depth::F32, 1) => Input::GrayF32,
            (Depth::U8 | Depth::U16 | Depth::F32, _) => return None,
        };
        Some(Self { input, gradient, window })
    }

    /// The kernel that suppresses within a radius, at least 1.
    fn corner_kernel(&self, suppression: usize) -> Option<Kernel> {
        if suppression > 0 { self.kernel(suppression) } else { None }
    }

    /// The kernel that suppresses within a radius, or writes responses.
    fn kernel(&self, suppression: usize) -> Option<Kernel> {
        Kernel::fused(self.input, self.window, u32::try_from(suppression).ok()?)
    }

    /// The sweep that writes responses by a kernel.
    fn sweep(&self, kernel: Kernel, config: &HarrisConfig) -> Sweep {
        let radii = [config.smoothing().radius(), config.gradient().radius(), config.window().radius()];
        let [smoothing, gradient_radius, window] = radii.map(|radius| radius as u32);
        let suppression = fused::NO_SUPPRESSION as usize;
        Sweep { kernel, smoothing, gradient: self.gradient, gradient_radius, window, suppression }
    }
}

/// Whether the sums of the kernels' number types hold those of an image.
fn sums_fit(shape: &Shape, config: &HarrisConfig) -> bool {
    match shape.depth {
        // 64 bits, and floats.
        Depth::U16 | Depth::F32 => return true,
        Depth::U8 => {}
    }
    // Sweeps mirror samples under every border rule: the band along the edges is not theirs.
    let mirrored = config.to_builder().border(Border::Reflect101).build().expect("valid with any border");
    let numerics = Numerics::of(&mirrored, shape.depth.sample_type(), shape.channels as usize);
    match config.window() {
        // Gray images have traces, sums of two, in 32 bits with a sign.
        Window::Box { .. } if shape.channels == 1 => {
            numerics.max_window_sum.is_some_and(|sum| 2.0 * sum <= f64::from(i32::MAX))
        }
        Window::Box { .. } => numerics.sums_fit_i32(),
        Window::Binomial { .. } => numerics.sums_fit_u32(),
        // Products are exact as floats.
        Window::Gaussian { .. } => true,
    }
}
