//! Lists of keys on the device: memory for them, the orders they are sorted in, and the keypoints
//! made of them.

use harris_core::{Error, Order};
use harris_gpu_kernels::abi::{Kernel, buckets, state};

use super::keypoints::KEYPOINT_BYTES;
use super::min_distance::is_enforced;
use super::sort::{KeyLists, SortOrder};
use crate::device::Device;
use crate::exec::context::Execution;
use crate::exec::workspace::Slot;
use crate::launch::{self, grid};

/// Bytes of an image's state.
pub(super) const STATE_BYTES: usize = size_of::<[u32; state::WORDS]>();

/// The order in which lists are sorted first.
pub(super) fn first_order<D: Device>(execution: &Execution<'_, D>) -> SortOrder {
    match execution.context.config.order() {
        Order::Raster if is_sorted_once(execution) => SortOrder::Raster,
        Order::Raster | Order::Response => SortOrder::Response(execution.context.config.ties()),
    }
}

/// Whether lists are complete when they are sorted once.
pub(super) fn is_sorted_once<D: Device>(execution: &Execution<'_, D>) -> bool {
    let config = execution.context.config;
    let is_in_order = match config.order() {
        Order::Response => true,
        Order::Raster => config.max_corners().is_none(),
    };
    is_in_order && !is_enforced(config)
}

/// All keys of the lists.
pub(super) fn all_keys<D: Device>(execution: &Execution<'_, D>) -> KeyLists {
    let corners = execution.capacity.corners;
    KeyLists { count: execution.images(), pitch: corners, limit: corners }
}

/// The first keys of the lists, as many as there may be corners.
pub(super) fn selected_keys<D: Device>(execution: &Execution<'_, D>) -> KeyLists {
    let all = all_keys(execution);
    KeyLists { limit: execution.context.config.max_corners().unwrap_or(all.limit), ..all }
}

/// Sorts the keys in the first slot by way of the other; returns the slot where they are, and the
/// other one.
pub(super) fn sort<D: Device>(
    execution: &mut Execution<'_, D>,
    keys: (Slot, Slot),
    lists: KeyLists,
    order: SortOrder,
) -> Result<(Slot, Slot), Error> {
    let keys = lists.sort(execution.device, execution.workspace, keys, order)?;
    if execution.capacity.needs_splitters() && order == first_order(execution) {
        find_splitters(execution, keys.0, order)?;
    }
    Ok(keys)
}

/// Picks the keys that divide the lists of images like these evenly into buckets.
fn find_splitters<D: Device>(
    execution: &mut Execution<'_, D>,
    keys: Slot,
    order: SortOrder,
) -> Result<(), Error> {
    let (most, images) = (buckets::MAX as usize, execution.images());
    execution.capacity.split_images = 0;
    execution.workspace.fit::<u64>(execution.device, Slot::Splitters, most * images)?;
    launch::select_splitters(
        execution.device,
        grid(Kernel::select_splitters, most, images),
        execution.workspace.buffer(keys),
        execution.workspace.buffer(Slot::Splitters),
        execution.workspace.buffer(Slot::State),
        execution.capacity.corners as u32,
        order.code(),
    )?;
    execution.capacity.split_images = images;
    Ok(())
}

/// Makes room for all keys.
pub(super) fn fit_keys<D: Device>(execution: &mut Execution<'_, D>) -> Result<(), Error> {
    let keys = execution.capacity.corners * execution.images();
    for slot in [Slot::Keys, Slot::OtherKeys] {
        execution.workspace.fit::<u64>(execution.device, slot, keys)?;
    }
    Ok(())
}

/// Makes room for all keypoints.
pub(super) fn fit_keypoints<D: Device>(execution: &mut Execution<'_, D>) -> Result<(), Error> {
    // More of them are fetched than there are.
    let words = 4 * execution.capacity.corners * execution.images();
    execution.workspace.fit_cleared::<f32>(execution.device, Slot::Keypoints, words).map(drop)
}

/// Fetches as many keypoints as are expected of a single image, or all that lists hold; returns how
/// many of each image.
pub(super) fn fetch_keypoints<D: Device>(
    execution: &mut Execution<'_, D>,
) -> Result<(D::Fetched, usize), Error> {
    let corners = execution.capacity.corners;
    let each =
        if execution.images() == 1 { execution.capacity.expected_corners().min(corners) } else { corners };
    let bytes = KEYPOINT_BYTES * each * execution.images();
    let keypoints = execution.workspace.buffer::<f32>(Slot::Keypoints).memory;
    Ok((execution.device.fetch(keypoints, bytes)?, each))
}
