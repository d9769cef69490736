//! The sweep to corners: launches that fill the lists of candidates.

use std::ops::Range;

use harris_core::{Error, ImageView, Threshold};

use super::tiles::{RemainingRows, WorkTiles};
use super::{map_threshold, suppression};
use crate::device::{Buffer, Device};
use crate::exec::context::{Context, Execution};
use crate::exec::overlap::RowBlock;
use crate::exec::upload;
use crate::exec::workspace::Slot;
use crate::launch::{
    self, CandidateRules, ImageLayout, ResponseMeasure, StateUpdates, SweepBuffers, TileLists, TileRows,
};
use crate::plan::arguments::{measure_of, plateau_of, threshold_bound, trace_factor, window_taps};
use crate::respond;

/// Uploads a single image of borrowed samples in blocks, and asks for the work on each as it
/// arrives. Returns what remains to be done when the last has arrived.
pub(crate) fn upload_overlapped<D: Device>(
    execution: &mut Execution<'_, D>,
    image: &ImageView<'_>,
    tiles: &WorkTiles,
) -> Result<RemainingRows, Error> {
    let mut remaining = RemainingRows::ALL;
    upload::in_blocks(execution, image, tiles.row_blocks(image.height()), |execution, block: &RowBlock| {
        if !remaining.has_states {
            execution.prepare_states(tiles.predicts)?;
            remaining.has_states = true;
        }
        execution.device.await_uploads()?;
        write_responses(execution, tiles, remaining.unmapped..block.mapped)?;
        remaining.tile += sweep_rows(execution, tiles, remaining.tile, remaining.unswept..block.searched)?;
        (remaining.unmapped, remaining.unswept) = (block.mapped, block.searched);
        Ok(())
    })?;
    Ok(remaining)
}

/// Writes the responses that remain, if the map is needed, and fills the lists of candidates.
pub(crate) fn find_candidates<D: Device>(
    execution: &mut Execution<'_, D>,
    tiles: &WorkTiles,
    remaining: RemainingRows,
) -> Result<(), Error> {
    let height = execution.context.shape.height as usize;
    write_responses(execution, tiles, remaining.unmapped..height)?;
    find_in_map(execution, tiles, remaining)
}

/// Fills the lists of candidates. The response map is complete, if it is needed.
pub(crate) fn find_in_map<D: Device>(
    execution: &mut Execution<'_, D>,
    tiles: &WorkTiles,
    remaining: RemainingRows,
) -> Result<(), Error> {
    match execution.context.config.threshold() {
        Threshold::Rosin { bins } => map_threshold::find_by_histogram(execution, bins, tiles.finds_range)?,
        Threshold::Absolute(_) | Threshold::Relative(_) | Threshold::None => {}
    }
    let height = execution.context.shape.height as usize;
    let swept = sweep_rows(execution, tiles, remaining.tile, remaining.unswept..height)?;
    if let Some(band) = tiles.border_band {
        let first = remaining.tile + swept;
        let Execution { device, workspace, context, .. } = execution;
        respond::border_band::find_candidates(&**device, workspace, context, band, first, tiles.lists)?;
    }
    if execution.context.config.suppression_radius() > tiles.sweep.suppression {
        suppression::suppress_ring(execution, tiles.lists)?;
    }
    Ok(())
}

/// Writes the responses of some rows, if the map is needed.
fn write_responses<D: Device>(
    execution: &mut Execution<'_, D>,
    tiles: &WorkTiles,
    rows: Range<usize>,
) -> Result<(), Error> {
    if tiles.map.is_none() || rows.is_empty() {
        return Ok(());
    }
    respond::write_rows(execution.device, execution.workspace, &execution.context, rows, tiles.finds_range)
}

/// Fills [`Slot::Candidates`] and [`Slot::Counts`] from number `tile` on for some rows; returns how
/// many tiles these have.
fn sweep_rows<D: Device>(
    execution: &mut Execution<'_, D>,
    tiles: &WorkTiles,
    tile: usize,
    rows: Range<usize>,
) -> Result<usize, Error> {
    if rows.is_empty() {
        return Ok(0);
    }
    let Context { config, shape, .. } = execution.context;
    let all = tiles.lists.count * shape.images;
    let scale = execution.context.scale();
    execution.workspace.fit::<u64>(execution.device, Slot::Candidates, tiles.lists.capacity * all)?;
    execution.workspace.fit::<u32>(execution.device, Slot::Counts, all)?;
    let workspace = &*execution.workspace;
    let (measure, parameter) = measure_of(config);
    let (threshold_kind, threshold_value) = threshold_bound(config);
    let (counters_start, counter_words) = execution.counters();
    let (input, pitch) = match tiles.reads_responses {
        true => (Slot::Response, u64::from(shape.width)),
        false => (Slot::Image, shape.stride as u64),
    };
    // Pixels of the border band are left to its own kernel.
    let (frame, margin) = match tiles.border_band {
        Some(band) => (band.frame(), execution.context.margin().max(band.depth())),
        None => (execution.context.frame()[0], execution.context.margin()),
    };
    let heights = tiles.heights(rows.len());
    let count = tiles.sweep.strips(shape.width) * heights.count(rows.len());
    launch::fused(
        execution.device,
        tiles.sweep,
        [count as u32, shape.images as u32],
        SweepBuffers {
            input: workspace.buffer::<u8>(input).memory,
            state: workspace.buffer(Slot::State),
            keys: workspace.buffer(Slot::Candidates),
            counts: workspace.buffer(Slot::Counts),
            // No responses are written.
            response: Buffer::new(workspace.buffer::<u64>(Slot::Candidates).memory),
            mask: workspace.mask(shape.mask_pitch),
        },
        ImageLayout {
            width: shape.width,
            height: shape.height,
            pitch: pitch as u32,
            stride: pitch * u64::from(shape.height),
        },
        TileRows { first: rows.start as u32, last: rows.end as u32, heights },
        ResponseMeasure { scale, measure, parameter, frame, taps: window_taps(config.window()) },
        CandidateRules {
            margin,
            plateau: plateau_of(config),
            threshold_kind,
            threshold_value,
            trace_factor: trace_factor(config, scale),
        },
        TileLists {
            first_tile: tile as u32,
            tiles: tiles.lists.count as u32,
            capacity: tiles.lists.capacity as u32,
        },
        // The first tiles clear the counters.
        StateUpdates {
            counters_start,
            counters: if tile == 0 { counter_words } else { 0 },
            finds_range: false,
        },
    )?;
    Ok(count)
}
