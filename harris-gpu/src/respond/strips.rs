//! Responses by a sweep down strips of the image.

use std::ops::Range;

use harris_core::Error;
use harris_gpu_kernels::abi::{plateau, threshold};

use super::border_band;
use crate::device::{Buffer, Device};
use crate::exec::context::Context;
use crate::exec::tile_heights::TileHeights;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch;
use crate::plan::arguments::{measure_of, window_taps};
use crate::plan::{BorderBand, Sweep};

/// Writes the responses of some rows, and after the last row the border band's.
pub(crate) fn write_rows<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    context: &Context<'_>,
    sweep: Sweep,
    border_band: Option<BorderBand>,
    rows: Range<usize>,
    finds_range: bool,
) -> Result<(), Error> {
    let Context { config, shape, .. } = context;
    let strips = sweep.strips(shape.width);
    let heights = TileHeights::new(sweep, rows.len(), strips, true, device.multiprocessors() as usize);
    let (measure, parameter) = measure_of(config);
    let frame = border_band.map_or(context.frame()[0], BorderBand::frame);
    let response = workspace.buffer::<u8>(Slot::Response).memory;
    launch::fused(
        device,
        sweep.kernel,
        [(strips * heights.count(rows.len())) as u32, 1],
        workspace.buffer::<u8>(Slot::Image).memory,
        workspace.buffer(Slot::State),
        // No candidates are written.
        Buffer::new(response),
        Buffer::new(response),
        Buffer::new(response),
        (0, shape.width, shape.height, shape.stride as u32),
        sweep.strips_and_columns(shape.width),
        (rows.start as u32, rows.end as u32),
        (heights.tall as u32, heights.tall_count as u32, heights.short as u32),
        (context.scale(), measure, parameter),
        frame,
        sweep.stages(),
        (0, plateau::FIRST),
        (threshold::ABSOLUTE, 0.0, 0.0),
        (0, 0, 0),
        (0, 0, finds_range.into()),
        (Buffer::new(response), 0),
        window_taps(config.window()),
    )?;
    match border_band {
        Some(band) if rows.end == shape.height as usize => {
            border_band::write_responses(device, workspace, context, band)
        }
        Some(_) | None => Ok(()),
    }
}
