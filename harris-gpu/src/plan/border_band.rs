//! The border band: pixels along the edges that depend on samples outside the image.

use std::fmt;

use harris_core::{Border, HarrisConfig, Window};
use harris_gpu_kernels::abi::{Kernel, border, border_band};

use super::arguments::gradient_of;
use super::shape::Shape;
use crate::device::Depth;

/// Pixels along the edges for which kernels of their own apply the border rule, beside a sweep over
/// the inside.
///
/// Sweeps mirror samples. Under [`Border::Replicate`] and [`Border::Zero`] they leave these pixels
/// out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BorderBand {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of the border rule, as kernels take it.
    pub(crate) rule: u32,
    /// Number of the gradient, as kernels take it.
    pub(crate) gradient: u32,
    /// Pixels from an edge on whose responses depend on the rule.
    pub(crate) support: usize,
    /// Radius of suppression; 0 where the band writes responses.
    pub(crate) suppression: usize,
}

impl BorderBand {
    /// Whether a border rule needs a band beside sweeps.
    pub(crate) fn is_needed(config: &HarrisConfig) -> bool {
        band_rule(config).is_some()
    }

    /// The band of images beside a sweep with a radius of suppression; `None` where sweeps cover
    /// the whole image.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig, suppression: usize) -> Option<Self> {
        let rule = band_rule(config)?;
        let gradient = gradient_of(config.gradient())?;
        let kernel = match (shape.depth, config.window()) {
            (Depth::U8, Window::Gaussian { .. }) => Kernel::border_band_rounded_u8,
            (Depth::U8, Window::Box { .. } | Window::Binomial { .. }) => Kernel::border_band_u8,
            (Depth::U16, Window::Box { .. } | Window::Binomial { .. } | Window::Gaussian { .. }) => {
                Kernel::border_band_u16
            }
            (Depth::F32, Window::Box { .. } | Window::Binomial { .. } | Window::Gaussian { .. }) => {
                Kernel::border_band_f32
            }
        };
        Some(Self { kernel, rule, gradient, support: config.support_radius(), suppression })
    }

    /// Pixels from an edge on whose responses the sweep leaves out.
    pub(crate) fn frame(self) -> u32 {
        self.support as u32
    }

    /// Pixels from an edge on whose corners the sweep leaves out.
    pub(crate) fn depth(self) -> u32 {
        (self.support + self.suppression) as u32
    }

    /// Tiles of an image.
    pub(crate) fn tiles(self, shape: &Shape) -> usize {
        border_band::tiles(shape.width, shape.height, self.depth()) as usize
    }
}

impl fmt::Display for BorderBand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "border band {} of {} pixels", self.kernel.name(), self.depth())
    }
}

/// Number of the border rule that needs a band; `None` for rules that sweeps apply.
fn band_rule(config: &HarrisConfig) -> Option<u32> {
    match config.border() {
        Border::Replicate => Some(border::REPLICATE),
        Border::Zero => Some(border::ZERO),
        Border::Reflect101 | Border::Skip => None,
    }
}
