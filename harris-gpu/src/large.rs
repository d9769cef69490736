//! Responses by box gradients and box windows that are too large for other walks, by a kernel of their own.

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
fn radii(shape: &Shape, config: &HarrisConfig) -> Option<[u32; 2]> {
    let is_plain = (shape.depth, shape.channels) == (Depth::U8, 1) && config.smoothing() == Smoothing::None;
    let are_boxes =
        matches!((config.gradient(), config.window()), (Gradient::Box { .. }, Window::Box { .. }));
    // No rim knows of it.
    if !is_plain || !are_boxes || Rim::new(config, 0).is_some() || !shape.stride.is_multiple_of(ALIGNMENT) {
        return None;
    }
    let radii = [config.gradient().radius() as u32, config.window().radius() as u32];
    let reach = radii[0] + radii[1];
    // Samples are mirrored once at each edge, and rows have some words.
    let suits = radii.into_iter().all(|radius| radius <= large::MOST)
        && shape.width.min(shape.height) >= 2 * reach.max(fused::MOST_REACH);
    suits.then_some(radii)
}

/// Fills the slot `Response` from the slot `Image`, where there is a kernel for it; tells whether there is.
pub(crate) fn respond<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    shape: &Shape,
) -> Result<bool, Error> {
    let Some([gradient, window]) = radii(shape, config) else { return Ok(false) };
    workspace.fit::<f32>(device, Slot::Response, shape.pixels())?;
    let (strips, height) =
        (shape.width.div_ceil(large::own(gradient + window)) as usize, shape.height as usize);
    let rows = rows_at_once(height, strips, large::BLOCKS * device.multiprocessors(), MOST_ROWS);
    let (measure, parameter) = measure_of(config);
    launch::map_boxes31(
        device,
        [(strips * height.div_ceil(rows)) as u32, 1],
        workspace.buffer(Slot::Image),
        workspace.buffer(Slot::Response),
        shape.width,
        shape.height,
        shape.stride as u32,
        rows as u32,
        gradient,
        window,
        config.tensor_scale(shape.depth.full_scale()),
        measure,
        parameter,
        config.invalid_frame() as u32,
    )?;
    Ok(true)
}
