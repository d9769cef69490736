//! Responses by box gradients and box windows that are too large for other walks, by a kernel of their own.

use std::ops::Range;

use harris_core::{Error, Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::{fused, large};

use crate::device::{Depth, Device};
use crate::fused::ALIGNMENT;
use crate::launch;
use crate::pieces::rows_at_once;
use crate::rim::Rim;
use crate::room::Shape;
use crate::staged::measure_of;
use crate::workspace::{Slot, Workspace};

/// The most rows of a piece.
const MOST_ROWS: usize = 128;

/// Radii of the gradient and the window of images that the kernel is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Boxes {
    gradient: u32,
    window: u32,
}

impl Boxes {
    /// Those of images under a configuration, where there is a kernel for it.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let is_plain =
            (shape.depth, shape.channels) == (Depth::U8, 1) && config.smoothing() == Smoothing::None;
        let are_boxes =
            matches!((config.gradient(), config.window()), (Gradient::Box { .. }, Window::Box { .. }));
        // No rim knows of it.
        if !is_plain
            || !are_boxes
            || !config.window().is_centred()
            || Rim::new(config, 0).is_some()
            || !shape.stride.is_multiple_of(ALIGNMENT)
        {
            return None;
        }
        let (gradient, window) = (config.gradient().radius() as u32, config.window().radius() as u32);
        let boxes = Self { gradient, window };
        // Samples are mirrored once at each edge, and rows have some words.
        let suits = gradient.max(window) <= large::MOST
            && shape.width.min(shape.height) >= 2 * boxes.reach().max(fused::MOST_REACH);
        suits.then_some(boxes)
    }

    /// Columns and rows from a response to the farthest sample on which it depends.
    pub(crate) fn reach(self) -> u32 {
        self.gradient + self.window
    }

    /// Leaves the responses of some rows in the slot `Response`, from the slot `Image`.
    pub(crate) fn leave<D: Device>(
        self,
        device: &D,
        workspace: &Workspace<D>,
        config: &HarrisConfig,
        shape: &Shape,
        rows: Range<usize>,
    ) -> Result<(), Error> {
        let strips = shape.width.div_ceil(large::own(self.reach())) as usize;
        let of_piece = rows_at_once(rows.len(), strips, large::BLOCKS * device.multiprocessors(), MOST_ROWS);
        let (measure, parameter) = measure_of(config);
        launch::map_boxes31(
            device,
            [(strips * rows.len().div_ceil(of_piece)) as u32, 1],
            workspace.buffer(Slot::Image),
            workspace.buffer(Slot::Response),
            shape.width,
            shape.height,
            shape.stride as u32,
            rows.start as u32,
            rows.end as u32,
            of_piece as u32,
            self.gradient,
            self.window,
            config.tensor_scale(shape.depth.full_scale()),
            measure,
            parameter,
            config.invalid_frame()[0] as u32,
        )
    }
}
