//! Responses by a sweep down strips of the image.

use std::ops::Range;

use harris_core::Error;

use super::border_band;
use crate::device::{Buffer, Device};
use crate::exec::context::Context;
use crate::exec::tile_heights::TileHeights;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch::{
    self, CandidateRules, ImageLayout, ResponseMeasure, StateUpdates, SweepBuffers, TileLists, TileRows,
};
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
    // No candidates are written.
    let unused = response;
    launch::fused(
        device,
        sweep,
        [(strips * heights.count(rows.len())) as u32, 1],
        SweepBuffers {
            input: workspace.buffer::<u8>(Slot::Image).memory,
            state: workspace.buffer(Slot::State),
            keys: Buffer::new(unused),
            counts: Buffer::new(unused),
            response: Buffer::new(response),
            mask: (Buffer::new(unused), 0),
        },
        ImageLayout { width: shape.width, height: shape.height, pitch: shape.stride as u32, stride: 0 },
        TileRows { first: rows.start as u32, last: rows.end as u32, heights },
        ResponseMeasure {
            scale: context.scale(),
            measure,
            parameter,
            frame,
            taps: window_taps(config.window()),
        },
        CandidateRules::UNUSED,
        TileLists::UNUSED,
        StateUpdates { counters_start: 0, counters: 0, finds_range },
    )?;
    match border_band {
        Some(band) if rows.end == shape.height as usize => {
            border_band::write_responses(device, workspace, context, band)
        }
        Some(_) | None => Ok(()),
    }
}
