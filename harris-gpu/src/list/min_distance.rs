//! Minimum distances: from the strongest corner on, one that is too near to a corner that stays is
//! removed.
//!
//! Corners are inserted into a grid of cells, so that each is compared with those in the cells
//! around.

use harris_core::{Error, HarrisConfig};
use harris_gpu_kernels::abi::{Kernel, order};
use harris_gpu_kernels::simt::WARP;

use crate::device::{Buffer, Device};
use crate::exec::capacity::most_in_line;
use crate::exec::context::{Context, Execution};
use crate::exec::workspace::Slot;
use crate::launch::{self, grid};

/// Shares of a list for each multiprocessor, and how many corners a share has at least. Each warp
/// of its block has one corner at a time.
const SHARES_PER_MULTIPROCESSOR: usize = 64;
const MIN_SHARE_KEYS: usize = 8;

/// Whether corners that are too near to others are removed from lists.
pub(super) fn is_enforced(config: &HarrisConfig) -> bool {
    squared_distance(config).is_some() || config.merges_places()
}

/// The square of the least distance between pixels, rounded up; `None` where every distance is
/// enough.
///
/// Squared distances between pixels are integers (docs/arithmetic.md, order and selection).
pub(super) fn squared_distance(config: &HarrisConfig) -> Option<u64> {
    let distance = config.min_distance();
    let squared = (distance * distance).ceil();
    (squared > 1.0).then_some(squared as u64)
}

/// What is to be far enough apart.
#[derive(Clone, Copy)]
pub(super) enum Separation {
    /// Pixels.
    Pixels {
        /// The square of the least distance.
        squared: u64,
    },
    /// Places in [`Slot::Keypoints`] to which pixels were moved.
    Places {
        /// The least distance.
        distance: f64,
        /// How far pixels were moved at most, each way.
        radius: u32,
        /// The first so many corners of the list have places.
        limit: u32,
    },
}

/// Writes the corners of the first slot, sorted by response, that stay, to the other in their
/// order. Their number goes to the state, and to a report, if there is one.
pub(super) fn enforce<D: Device>(
    execution: &mut Execution<'_, D>,
    (keys, to): (Slot, Slot),
    separation: Separation,
    report: Option<&D::Memory>,
) -> Result<(), Error> {
    let Context { config, shape, .. } = execution.context;
    // Pixels that are too near lie in the cells around: these are as long as such pixels may be
    // apart, or as the image.
    let longest = shape.width.max(shape.height);
    let distance = match separation {
        Separation::Pixels { squared } => (squared as f64).sqrt(),
        Separation::Places { distance, radius, .. } => distance + 2.0 * f64::from(radius),
    };
    let side = distance.ceil().clamp(1.0, longest.into()) as u32;
    let (columns, rows) = (shape.width.div_ceil(side), shape.height.div_ceil(side));
    let most = execution.capacity.corners;
    let in_line = most_in_line(side as usize, config, config.suppression_radius());
    let cell_capacity = (in_line * in_line).min(most);
    let cells = columns as usize * rows as usize;
    let max_shares = SHARES_PER_MULTIPROCESSOR * execution.device.multiprocessors() as usize;
    let shares =
        most.div_ceil(MIN_SHARE_KEYS).min(max_shares).next_multiple_of(order::SHARES_PER_COUNT as usize);
    execution.workspace.fit::<u64>(execution.device, Slot::GridCells, cells * cell_capacity)?;
    execution.workspace.fit::<u32>(execution.device, Slot::GridCounts, cells)?;
    execution.workspace.fit::<u32>(execution.device, Slot::Decisions, most)?;
    execution.workspace.fit::<u32>(
        execution.device,
        Slot::ShareCounts,
        1 + shares / order::SHARES_PER_COUNT as usize,
    )?;
    let (device, workspace) = (&*execution.device, &*execution.workspace);
    let (state, decisions) = (workspace.buffer(Slot::State), workspace.buffer(Slot::Decisions));
    let (counts, share_counts) = (workspace.buffer(Slot::GridCounts), workspace.buffer(Slot::ShareCounts));
    let (width, most, shares) = (shape.width, most as u32, shares as u32);
    let cell_capacity = cell_capacity as u32;
    let (limit, is_first) = match separation {
        Separation::Pixels { .. } => (u32::MAX, true),
        Separation::Places { limit, .. } => (limit, squared_distance(config).is_none()),
    };
    device.clear(counts.memory, cells)?;
    launch::grid_insert(
        device,
        grid(Kernel::grid_insert, most as usize, 1),
        workspace.buffer(keys),
        workspace.buffer(Slot::GridCells),
        counts,
        decisions,
        share_counts,
        state,
        most,
        shares,
        width,
        side,
        columns,
        cell_capacity,
        limit,
        is_first.into(),
    )?;
    let (listed, cells) = (workspace.buffer(keys), workspace.buffer(Slot::GridCells));
    match separation {
        Separation::Pixels { squared } => launch::min_distance_propagate(
            device,
            [shares, 1],
            listed,
            cells,
            counts,
            decisions,
            share_counts,
            state,
            most,
            shares,
            width,
            side,
            columns,
            rows,
            cell_capacity,
            squared,
        )?,
        Separation::Places { distance, .. } => launch::min_distance_propagate_subpixel(
            device,
            [shares, 1],
            listed,
            workspace.buffer(Slot::Keypoints),
            cells,
            counts,
            decisions,
            share_counts,
            state,
            most,
            shares,
            width,
            side,
            columns,
            rows,
            cell_capacity,
            distance * distance,
        )?,
    }
    launch::min_distance_compact(
        device,
        grid(Kernel::min_distance_compact, (shares / order::SHARES_PER_COUNT) as usize * WARP as usize, 1),
        workspace.buffer(keys),
        workspace.buffer(to),
        decisions,
        share_counts,
        state,
        report.map_or(state, Buffer::new),
        most,
        shares,
    )
}
