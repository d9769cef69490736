//! From candidates to lists of keypoints: order, selection, refinement, and the way to the host.

mod buckets;
mod min_distance;
pub(crate) mod outcome;
mod refinement;
mod selection;
pub(crate) mod sort;

use harris_core::{Error, Order};
use harris_gpu_kernels::abi::{Kernel, bins, state};
use harris_gpu_kernels::simt::WARP;

use crate::device::Device;
use crate::exec::capacity::CandidateLists;
use crate::exec::context::{PendingLists, Run};
use crate::exec::workspace::Slot;
use crate::launch::{self, grid};
use crate::plan::arguments::threshold_of;
use sort::{KeyLists, SortOrder};

/// Bytes of a keypoint as kernels write it, and of an image's state.
const KEYPOINT_BYTES: usize = size_of::<[f32; 4]>();
const STATE_BYTES: usize = size_of::<[u32; state::WORDS]>();

/// Sorts and selects a sweep's candidates. Fetches the lengths of the lists, and the lists where they go `to_host`.
///
/// Where the sweep `predicts` the next image's threshold, that is left in the state.
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

/// Sorts and selects what is in [`Slot::Keys`]. Fetches the lengths of the lists, and the lists where they go `to_host`.
pub(crate) fn from_keys<D: Device>(run: &mut Run<'_, D>, to_host: bool) -> Result<PendingLists<D>, Error> {
    fit_keys(run)?;
    let order = first_order(run);
    let keys = sort(run, (Slot::Keys, Slot::OtherKeys), all_keys(run), order)?;
    selection::select(run, keys, order, None)?;
    let keypoints = if to_host { Some(fetch_keypoints(run)?) } else { None };
    let states = run.workspace.buffer::<u32>(Slot::State).memory;
    let states = run.device.fetch(states, STATE_BYTES * run.images())?;
    Ok(PendingLists { states, keypoints })
}

/// Fills [`Slot::Keys`] with the candidates above the threshold, which is known by now.
fn compact_above_threshold<D: Device>(run: &mut Run<'_, D>, candidates: CandidateLists) -> Result<(), Error> {
    let (images, corners) = (run.images(), run.capacity.corners);
    run.workspace.fit::<u64>(run.device, Slot::Keys, corners * images)?;
    let (threshold, value) = threshold_of(run.context.config);
    launch::exceed(
        run.device,
        grid(Kernel::exceed, candidates.count * WARP as usize, images),
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

/// The order in which lists are sorted first.
fn first_order<D: Device>(run: &Run<'_, D>) -> SortOrder {
    match run.context.config.order() {
        Order::Raster if is_sorted_once(run) => SortOrder::Raster,
        Order::Raster | Order::Response => SortOrder::Response(run.context.config.ties()),
    }
}

/// Whether lists are complete when they are sorted once.
fn is_sorted_once<D: Device>(run: &Run<'_, D>) -> bool {
    let config = run.context.config;
    let is_in_order = match config.order() {
        Order::Response => true,
        Order::Raster => config.max_corners().is_none(),
    };
    is_in_order && !selection::enforces_distances(config)
}

/// All keys of the lists.
fn all_keys<D: Device>(run: &Run<'_, D>) -> KeyLists {
    let corners = run.capacity.corners;
    KeyLists { count: run.images(), pitch: corners, limit: corners }
}

/// The first keys of the lists, as many as there may be corners.
fn selected_keys<D: Device>(run: &Run<'_, D>) -> KeyLists {
    let all = all_keys(run);
    KeyLists { limit: run.context.config.max_corners().unwrap_or(all.limit), ..all }
}

/// Sorts the keys in the first slot by way of the other; returns the slot where they are, and the other one.
fn sort<D: Device>(
    run: &mut Run<'_, D>,
    keys: (Slot, Slot),
    lists: KeyLists,
    order: SortOrder,
) -> Result<(Slot, Slot), Error> {
    let keys = lists.sort(run.device, run.workspace, keys, order)?;
    if run.capacity.needs_splitters() && order == first_order(run) {
        find_splitters(run, keys.0, order)?;
    }
    Ok(keys)
}

/// Leaves keys that divide the lists of images like these evenly into buckets.
fn find_splitters<D: Device>(run: &mut Run<'_, D>, keys: Slot, order: SortOrder) -> Result<(), Error> {
    let (most, images) = (bins::MOST as usize, run.images());
    run.capacity.split_images = 0;
    run.workspace.fit::<u64>(run.device, Slot::Splitters, most * images)?;
    launch::divide(
        run.device,
        grid(Kernel::divide, most, images),
        run.workspace.buffer(keys),
        run.workspace.buffer(Slot::Splitters),
        run.workspace.buffer(Slot::State),
        run.capacity.corners as u32,
        order.number(),
    )?;
    run.capacity.split_images = images;
    Ok(())
}

fn fit_keys<D: Device>(run: &mut Run<'_, D>) -> Result<(), Error> {
    let keys = run.capacity.corners * run.images();
    for slot in [Slot::Keys, Slot::OtherKeys] {
        run.workspace.fit::<u64>(run.device, slot, keys)?;
    }
    Ok(())
}

fn fit_keypoints<D: Device>(run: &mut Run<'_, D>) -> Result<(), Error> {
    // More of them are fetched than there are.
    let words = 4 * run.capacity.corners * run.images();
    run.workspace.fit_cleared::<f32>(run.device, Slot::Keypoints, words).map(drop)
}

/// Fetches as many keypoints as are expected of a single image, or all that lists hold; returns how many of each image.
fn fetch_keypoints<D: Device>(run: &mut Run<'_, D>) -> Result<(D::Fetched, usize), Error> {
    let corners = run.capacity.corners;
    let each = if run.images() == 1 { run.capacity.expected_corners().min(corners) } else { corners };
    let bytes = KEYPOINT_BYTES * each * run.images();
    let keypoints = run.workspace.buffer::<f32>(Slot::Keypoints).memory;
    Ok((run.device.fetch(keypoints, bytes)?, each))
}
