//! From candidates to lists of keypoints: order, selection, refinement, and the way to the host.

mod buckets;
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
use crate::exec::context::{PendingLists, Run};
use crate::exec::workspace::Slot;
use crate::launch::{self, grid};
use crate::plan::arguments::threshold_of;

/// Sorts and selects a sweep's candidates. Fetches the lengths of the lists, and the lists where
/// they go `to_host`.
///
/// Where the sweep `predicts` the next image's threshold, the prediction is written to the state.
pub(crate) fn from_candidates<D: Device>(
    run: &mut Run<'_, D>,
    candidates: CandidateLists,
    predicts: bool,
    to_host: bool,
) -> Result<PendingLists<D>, Error> {
    match run.buckets() {
        Some(buckets) => buckets::from_candidates(run, buckets, candidates, predicts, to_host),
        None => from_candidates_by_merging(run, candidates, to_host),
    }
}

/// Sorts and selects a sweep's candidates without buckets.
pub(crate) fn from_candidates_by_merging<D: Device>(
    run: &mut Run<'_, D>,
    candidates: CandidateLists,
    to_host: bool,
) -> Result<PendingLists<D>, Error> {
    compact_above_threshold(run, candidates)?;
    from_keys(run, to_host)
}

/// Sorts and selects what is in [`Slot::Keys`]. Fetches the lengths of the lists, and the lists
/// where they go `to_host`.
pub(crate) fn from_keys<D: Device>(run: &mut Run<'_, D>, to_host: bool) -> Result<PendingLists<D>, Error> {
    keys::fit_keys(run)?;
    let order = keys::first_order(run);
    let keys = keys::sort(run, (Slot::Keys, Slot::OtherKeys), keys::all_keys(run), order)?;
    selection::select(run, keys, order, None)?;
    let keypoints = if to_host { Some(keys::fetch_keypoints(run)?) } else { None };
    let states = run.workspace.buffer::<u32>(Slot::State).memory;
    let states = run.device.fetch(states, keys::STATE_BYTES * run.images())?;
    Ok(PendingLists { states, keypoints })
}

/// Fills [`Slot::Keys`] with the candidates above the threshold, which is known by now.
fn compact_above_threshold<D: Device>(run: &mut Run<'_, D>, candidates: CandidateLists) -> Result<(), Error> {
    let (images, corners) = (run.images(), run.capacity.corners);
    run.workspace.fit::<u64>(run.device, Slot::Keys, corners * images)?;
    let (threshold, value) = threshold_of(run.context.config);
    launch::threshold_compact(
        run.device,
        grid(Kernel::threshold_compact, candidates.count * WARP as usize, images),
        run.workspace.buffer(Slot::Candidates),
        run.workspace.buffer(Slot::Counts),
        run.workspace.buffer(Slot::Keys),
        run.workspace.buffer(Slot::State),
        candidates.count as u32,
        candidates.capacity as u32,
        corners as u32,
        threshold,
        value,
    )
}
