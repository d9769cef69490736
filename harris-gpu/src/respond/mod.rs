//! From samples to the response map, in one of the ways of [`Responses`].

pub(crate) mod border_band;
mod float_window;
mod large_boxes;
mod staged;
mod strips;

use std::ops::Range;

use harris_core::Error;

use crate::device::Device;
use crate::exec::context::Context;
use crate::exec::workspace::{Slot, Workspace};
use crate::plan::Responses;

/// Writes the responses of some rows of a single image, from [`Slot::Image`] to [`Slot::Response`].
///
/// The stages write all rows at once. Kernels of floats note in the state when a sample is not
/// valid. Where this `finds_range`, the state gets the range of the valid responses, but for a
/// border band's.
pub(crate) fn write_rows<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    context: &Context<'_>,
    rows: Range<usize>,
    finds_range: bool,
) -> Result<(), Error> {
    let one_pass =
        |workspace: &mut Workspace<D>| workspace.fit::<f32>(device, Slot::Response, context.shape.pixels());
    match &context.plan.responses {
        Responses::Strips { sweep, border_band } => {
            one_pass(workspace)?;
            strips::write_rows(device, workspace, context, *sweep, *border_band, rows, finds_range)
        }
        Responses::LargeBoxes(boxes) => {
            one_pass(workspace)?;
            large_boxes::write_rows(device, workspace, context, *boxes, rows)
        }
        Responses::FloatWindow(window) => {
            one_pass(workspace)?;
            float_window::write_rows(device, workspace, context, window, rows, finds_range)
        }
        Responses::Staged(stages) => staged::write_all(device, workspace, context, stages),
    }
}

/// Writes all responses of a single image.
pub(crate) fn write_all<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    context: &Context<'_>,
) -> Result<(), Error> {
    write_rows(device, workspace, context, 0..context.shape.height as usize, false)
}
