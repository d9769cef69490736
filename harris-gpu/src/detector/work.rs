//! What the device is asked for in one go: a search and the lists that follow it.

use harris_core::Error;

use crate::device::{Device, Mark};
use crate::exec::context::{Destination, Execution, PendingLists};
use crate::exec::recordings::Recordings;
use crate::search::tiles::{RemainingRows, WorkTiles};
use crate::search::{map_threshold, suppression, sweep};
use crate::{list, respond};

/// Asks for what remains to be done of images that are on the device, or on their way, and for
/// their lists.
pub(super) fn find<D: Device>(
    execution: &mut Execution<'_, D>,
    recordings: &mut Recordings<D, PendingLists<D>>,
    tiles: &WorkTiles,
    remaining: RemainingRows,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    if !remaining.has_states {
        execution.prepare_states(tiles.predicts)?;
    }
    let key = tiles.key(execution, destination);
    let lists = recordings.run(execution, key, |execution| {
        if tiles.is_overlapped {
            execution.device.await_signal()?;
        }
        sweep::find_candidates(execution, tiles, remaining)?;
        list::from_candidates(execution, tiles.lists, tiles.predicts, destination)
    })?;
    execution.keep_states(tiles.predicts);
    Ok(lists)
}

/// Asks for the response map, stage by stage, of an image that is on the device, and for the lists
/// of a sweep over it.
pub(super) fn find_after_stages<D: Device>(
    execution: &mut Execution<'_, D>,
    tiles: &WorkTiles,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    execution.prepare_states(tiles.predicts)?;
    respond::write_all(execution.device, execution.workspace, &execution.context)?;
    sweep::find_in_map(execution, tiles, RemainingRows::ALL)?;
    execution.device.mark(Mark::Searched)?;
    let lists = list::from_candidates(execution, tiles.lists, tiles.predicts, destination)?;
    execution.keep_states(tiles.predicts);
    Ok(lists)
}

/// Asks for the response map of an image that is on the device, and for its lists by suppression
/// with a thread a column.
pub(super) fn find_without_sweep<D: Device>(
    execution: &mut Execution<'_, D>,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    execution.clear_states()?;
    respond::write_all(execution.device, execution.workspace, &execution.context)?;
    map_threshold::find(execution)?;
    suppression::find_corners(execution)?;
    execution.device.mark(Mark::Searched)?;
    list::from_keys(execution, destination)
}

/// Asks again for the lists of an image that is still on the device, as is its response map, if
/// that was needed. Returns its tiles, too.
pub(super) fn search_again<D: Device>(
    execution: &mut Execution<'_, D>,
    tiles: &WorkTiles,
    destination: Destination,
) -> Result<(WorkTiles, PendingLists<D>), Error> {
    let tiles = WorkTiles::new(execution, false, tiles.predicts).expect("a plan with a sweep");
    execution.prepare_states(tiles.predicts)?;
    sweep::find_in_map(execution, &tiles, RemainingRows::ALL)?;
    let lists = list::from_candidates(execution, tiles.lists, tiles.predicts, destination)?;
    execution.keep_states(tiles.predicts);
    Ok((tiles, lists))
}

/// Asks again for the lists of an image that is searched without a sweep.
pub(super) fn search_again_without_sweep<D: Device>(
    execution: &mut Execution<'_, D>,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    suppression::find_corners(execution)?;
    list::from_keys(execution, destination)
}

/// Asks again for lists that overflowed, from the same candidates.
pub(super) fn rebuild_lists<D: Device>(
    execution: &mut Execution<'_, D>,
    tiles: &WorkTiles,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    list::from_candidates_by_merging(execution, tiles.lists, destination)
}
