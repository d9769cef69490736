//! Responses by box gradients and box windows that are too large for sweeps.

use std::fmt;

use harris_core::{Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::{Kernel, fused, large};

use super::border_band::BorderBand;
use super::shape::Shape;
use crate::device::Depth;

/// The kernel for large boxes, and the radii of gradient and window in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LargeBoxes {
    /// Radius of the gradient.
    pub gradient: u32,
    /// Radius of the window.
    pub window: u32,
}

impl LargeBoxes {
    /// The kernel.
    pub const KERNEL: Kernel = Kernel::map_boxes31;

    /// Large boxes for images under a configuration, if the kernel computes it.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let is_plain =
            (shape.depth, shape.channels) == (Depth::U8, 1) && config.smoothing() == Smoothing::None;
        let are_boxes =
            matches!((config.gradient(), config.window()), (Gradient::Box { .. }, Window::Box { .. }));
        // The kernels of border bands have no box gradients.
        if !is_plain
            || !are_boxes
            || !config.window().is_centred()
            || BorderBand::is_needed(config)
            || !shape.is_aligned()
        {
            return None;
        }
        let (gradient, window) = (config.gradient().radius() as u32, config.window().radius() as u32);
        let boxes = Self { gradient, window };
        // One reflection at each edge, and rows of several words.
        let fits = gradient.max(window) <= large::MAX_RADIUS
            && shape.width.min(shape.height) >= 2 * boxes.support_radius().max(fused::MAX_SUPPORT_RADIUS);
        fits.then_some(boxes)
    }

    /// Columns and rows from a response to the farthest sample on which it depends.
    pub(crate) fn support_radius(self) -> u32 {
        self.gradient + self.window
    }
}

impl fmt::Display for LargeBoxes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", Self::KERNEL.name())
    }
}
