//! Responses by large box gradients and box windows.

use std::ops::Range;

use harris_core::Error;
use harris_gpu_kernels::abi::large;

use crate::device::Device;
use crate::exec::context::Context;
use crate::exec::tile_heights::equal_tile_rows;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch;
use crate::plan::LargeBoxes;
use crate::plan::arguments::measure_of;

/// The most rows of a tile.
const MAX_ROWS: usize = 128;

/// Writes the responses of some rows.
pub(crate) fn write_rows<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    context: &Context<'_>,
    boxes: LargeBoxes,
    rows: Range<usize>,
) -> Result<(), Error> {
    let Context { config, shape, .. } = context;
    let strips = shape.width.div_ceil(large::own(boxes.support_radius())) as usize;
    let tile_rows = equal_tile_rows(rows.len(), strips, large::BLOCKS * device.multiprocessors(), MAX_ROWS);
    let (measure, parameter) = measure_of(config);
    launch::map_boxes31(
        device,
        [(strips * rows.len().div_ceil(tile_rows)) as u32, 1],
        workspace.buffer(Slot::Image),
        workspace.buffer(Slot::Response),
        shape.width,
        shape.height,
        shape.stride as u32,
        rows.start as u32,
        rows.end as u32,
        tile_rows as u32,
        boxes.gradient,
        boxes.window,
        context.scale(),
        measure,
        parameter,
        context.frame()[0],
    )
}
