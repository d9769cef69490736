//! From candidates to lists of keypoints: order, selection, refinement, and the way to the host.

mod buckets;
pub(crate) mod keypoints;
mod keys;
mod min_distance;
pub(crate) mod outcome;
mod refinement;
mod selection;
pub(crate) mod sort;

use harris_core::Error;
use harris_gpu_kernels::abi::Kernel;
use harris_gpu_kernels::simt::WARP;

use crate::device::Device;
use crate::exec::capacity::CandidateLists;
use crate::exec::context::{Destination, Execution, PendingLists};
use crate::exec::workspace::Slot;
use crate::launch::{self, grid};
use crate::plan::arguments::threshold_of;

/// Sorts and selects a sweep's candidates. Fetches the lengths of the lists, and the lists where
/// they go to the host.
///
/// Where the sweep `predicts` the next image's threshold, the prediction is written to the state.
pub(crate) fn from_candidates<D: Device>(
    execution: &mut Execution<'_, D>,
    candidates: CandidateLists,
    predicts: bool,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    match execution.buckets() {
        Some(buckets) => buckets::from_candidates(execution, buckets, candidates, predicts, destination),
        None => from_candidates_by_merging(execution, candidates, destination),
    }
}

/// Sorts and selects a sweep's candidates without buckets.
pub(crate) fn from_candidates_by_merging<D: Device>(
    execution: &mut Execution<'_, D>,
    candidates: CandidateLists,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    compact_above_threshold(execution, candidates)?;
    from_keys(execution, destination)
}

/// Sorts and selects what is in [`Slot::Keys`]. Fetches the lengths of the lists, and the lists
/// where they go to the host.
pub(crate) fn from_keys<D: Device>(
    execution: &mut Execution<'_, D>,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    keys::fit_keys(execution)?;
    let order = keys::first_order(execution);
    let keys = keys::sort(execution, (Slot::Keys, Slot::OtherKeys), keys::all_keys(execution), order)?;
    selection::select(execution, keys, order, None)?;
    let keypoints = if destination.includes_host() { Some(keys::fetch_keypoints(execution)?) } else { None };
    let states = execution.workspace.buffer::<u32>(Slot::State).memory;
    let states = execution.device.fetch(states, keys::STATE_BYTES * execution.images())?;
    Ok(PendingLists { states, keypoints })
}

/// Fills [`Slot::Keys`] with the candidates above the threshold, which is known by now.
fn compact_above_threshold<D: Device>(
    execution: &mut Execution<'_, D>,
    candidates: CandidateLists,
) -> Result<(), Error> {
    let (images, corners) = (execution.images(), execution.capacity.corners);
    execution.workspace.fit::<u64>(execution.device, Slot::Keys, corners * images)?;
    let (threshold, value) = threshold_of(execution.context.config);
    launch::threshold_compact(
        execution.device,
        grid(Kernel::threshold_compact, candidates.count * WARP as usize, images),
        execution.workspace.buffer(Slot::Candidates),
        execution.workspace.buffer(Slot::Counts),
        execution.workspace.buffer(Slot::Keys),
        execution.workspace.buffer(Slot::State),
        candidates.count as u32,
        candidates.capacity as u32,
        corners as u32,
        threshold,
        value,
    )
}
