//! The sweep to corners: launches that fill the lists of candidates.

use std::ops::Range;

use harris_core::{Error, ImageView, Threshold};

use super::tiles::{RemainingRows, WorkTiles};
use super::{map_threshold, suppression};
use crate::device::{Buffer, Device};
use crate::exec::context::{Context, Run};
use crate::exec::overlap::RowBlock;
use crate::exec::upload;
use crate::exec::workspace::Slot;
use crate::launch;
use crate::plan::arguments::{measure_of, plateau_of, threshold_bound, trace_factor, window_taps};
use crate::respond;

/// Uploads a single image of borrowed samples in blocks, and asks for the work on each as it
/// arrives. Returns what remains to be done when the last has arrived.
pub(crate) fn upload_overlapped<D: Device>(
    run: &mut Run<'_, D>,
    image: &ImageView<'_>,
    tiles: &WorkTiles,
) -> Result<RemainingRows, Error> {
    let mut remaining = RemainingRows::ALL;
    upload::in_blocks(run, image, tiles.row_blocks(image.height()), |run, block: &RowBlock| {
        if !remaining.has_states {
            run.prepare_states(tiles.predicts)?;
            remaining.has_states = true;
        }
        run.device.await_uploads()?;
        write_responses(run, tiles, remaining.unmapped..block.mapped)?;
        remaining.tile += sweep_rows(run, tiles, remaining.tile, remaining.unswept..block.searched)?;
        (remaining.unmapped, remaining.unswept) = (block.mapped, block.searched);
        Ok(())
    })?;
    Ok(remaining)
}

/// Writes the responses that remain, if the map is needed, and fills the lists of candidates.
pub(crate) fn find_candidates<D: Device>(
    run: &mut Run<'_, D>,
    tiles: &WorkTiles,
    remaining: RemainingRows,
) -> Result<(), Error> {
    let height = run.context.shape.height as usize;
    write_responses(run, tiles, remaining.unmapped..height)?;
    find_in_map(run, tiles, remaining)
}

/// Fills the lists of candidates. The response map is complete, if it is needed.
pub(crate) fn find_in_map<D: Device>(
    run: &mut Run<'_, D>,
    tiles: &WorkTiles,
    remaining: RemainingRows,
) -> Result<(), Error> {
    match run.context.config.threshold() {
        Threshold::Rosin { bins } => map_threshold::find_by_histogram(run, bins, tiles.finds_range)?,
        Threshold::Absolute(_) | Threshold::Relative(_) | Threshold::None => {}
    }
    let height = run.context.shape.height as usize;
    let swept = sweep_rows(run, tiles, remaining.tile, remaining.unswept..height)?;
    if let Some(band) = tiles.border_band {
        let first = remaining.tile + swept;
        let Run { device, workspace, context, .. } = run;
        respond::border_band::find_candidates(&**device, workspace, context, band, first, tiles.lists)?;
    }
    if run.context.config.suppression_radius() > tiles.sweep.suppression {
        suppression::suppress_ring(run, tiles.lists)?;
    }
    Ok(())
}

/// Writes the responses of some rows, if the map is needed.
fn write_responses<D: Device>(
    run: &mut Run<'_, D>,
    tiles: &WorkTiles,
    rows: Range<usize>,
) -> Result<(), Error> {
    if tiles.map.is_none() || rows.is_empty() {
        return Ok(());
    }
    respond::write_rows(run.device, run.workspace, &run.context, rows, tiles.finds_range)
}

/// Fills [`Slot::Candidates`] and [`Slot::Counts`] from number `tile` on for some rows; returns how
/// many tiles these have.
fn sweep_rows<D: Device>(
    run: &mut Run<'_, D>,
    tiles: &WorkTiles,
    tile: usize,
    rows: Range<usize>,
) -> Result<usize, Error> {
    if rows.is_empty() {
        return Ok(0);
    }
    let Context { config, shape, .. } = run.context;
    let all = tiles.lists.count * shape.images;
    let scale = run.context.scale();
    run.workspace.fit::<u64>(run.device, Slot::Candidates, tiles.lists.capacity * all)?;
    run.workspace.fit::<u32>(run.device, Slot::Counts, all)?;
    let workspace = &*run.workspace;
    let (measure, parameter) = measure_of(config);
    let (threshold, value) = threshold_bound(config);
    let (counters, counter_words) = run.counters();
    let (input, pitch) = match tiles.reads_responses {
        true => (Slot::Response, u64::from(shape.width)),
        false => (Slot::Image, shape.stride as u64),
    };
    // Pixels of the border band are left to its own kernel.
    let (frame, margin) = match tiles.border_band {
        Some(band) => (band.frame(), run.context.margin().max(band.depth())),
        None => (run.context.frame()[0], run.context.margin()),
    };
    let heights = tiles.heights(rows.len());
    let count = tiles.sweep.strips(shape.width) * heights.count(rows.len());
    launch::fused(
        run.device,
        tiles.sweep.kernel,
        [count as u32, shape.images as u32],
        workspace.buffer::<u8>(input).memory,
        workspace.buffer(Slot::State),
        workspace.buffer(Slot::Candidates),
        workspace.buffer(Slot::Counts),
        // No responses are written.
        Buffer::new(workspace.buffer::<u64>(Slot::Candidates).memory),
        (pitch * u64::from(shape.height), shape.width, shape.height, pitch as u32),
        tiles.sweep.strips_and_columns(shape.width),
        (rows.start as u32, rows.end as u32),
        (heights.tall as u32, heights.tall_count as u32, heights.short as u32),
        (scale, measure, parameter),
        frame,
        tiles.sweep.stages(),
        (margin, plateau_of(config)),
        (threshold, value, trace_factor(config, scale)),
        (tile as u32, tiles.lists.count as u32, tiles.lists.capacity as u32),
        // The first tiles clear the counters.
        (counters, if tile == 0 { counter_words } else { 0 }, 0),
        workspace.mask(shape.mask_pitch),
        window_taps(config.window()),
    )?;
    Ok(count)
}
