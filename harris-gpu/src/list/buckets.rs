//! Lists by a bucket sort: candidates are distributed to buckets, and each warp sorts the keys of
//! some.

use harris_core::{Error, Subpixel};
use harris_gpu_kernels::abi::{Kernel, buckets};
use harris_gpu_kernels::simt::WARP;

use super::keypoints::KEYPOINT_BYTES;
use super::keys::{self, STATE_BYTES};
use super::{refinement, selection};
use crate::device::{Buffer, Device};
use crate::exec::capacity::{CandidateLists, KEYS_PER_BUCKET};
use crate::exec::context::{Destination, Execution, PendingLists};
use crate::exec::workspace::Slot;
use crate::launch::{self, grid};
use crate::plan::arguments::threshold_of;

/// The most keypoints expected of an image for which kernels write them to the host's memory. More
/// are quicker copied, and do not hold up uploads.
const MAX_WRITTEN_TO_HOST: usize = 1 << 15;

/// The most keypoints that are given room in that memory, for all that images could have.
const MAX_HOST_CAPACITY: usize = 1 << 20;

/// Sorts and selects a sweep's candidates by way of `buckets` buckets. Fetches the lists where they
/// go to the host.
///
/// Where the sweep `predicts` the next image's threshold, the image stays on the device until that
/// is verified.
pub(super) fn from_candidates<D: Device>(
    execution: &mut Execution<'_, D>,
    buckets: usize,
    candidates: CandidateLists,
    predicts: bool,
    destination: Destination,
) -> Result<PendingLists<D>, Error> {
    let (config, shape, images) = (execution.context.config, execution.context.shape, execution.images());
    execution.workspace.fit::<u64>(execution.device, Slot::Buckets, buckets * KEYS_PER_BUCKET * images)?;
    let (refines_in_map, refines) = match config.subpixel() {
        Subpixel::None => (false, false),
        Subpixel::Quadratic => (true, true),
        Subpixel::Forstner { .. } => (false, true),
    };
    // Refinement in the response map starts from keys, too.
    let once = keys::is_sorted_once(execution) && !refines_in_map;
    let lists = if once { keys::selected_keys(execution) } else { keys::all_keys(execution) };
    let is_short = (images > 1 || execution.capacity.expected_corners() <= MAX_WRITTEN_TO_HOST)
        && lists.pitch * images <= MAX_HOST_CAPACITY;
    // Straight to the host, unless they are read again on the device.
    let host_body = if destination == Destination::Host && is_short && once && !refines {
        let (memory, fetched) = execution.device.mapped_memory(KEYPOINT_BYTES * lists.pitch * images)?;
        Some((memory, (fetched, lists.pitch)))
    } else {
        keys::fit_keypoints(execution)?;
        None
    };
    if once {
        // Not written then, but an argument all the same.
        execution.workspace.fit::<u64>(execution.device, Slot::Keys, 1)?;
    } else {
        keys::fit_keys(execution)?;
    }
    let (report, states) = execution.device.mapped_memory(STATE_BYTES * images)?;
    let (bucketed, state) =
        (execution.workspace.buffer(Slot::Buckets), execution.workspace.buffer(Slot::State));
    let (threshold, value) = threshold_of(config);
    let order = keys::first_order(execution);
    let (counters, _) = execution.counters();
    let uses_splitters = execution.capacity.uses_splitters(images);
    let step = if uses_splitters { buckets::MAX / buckets as u32 } else { 0 };
    // Not read without splitters, but an argument all the same.
    let splitters = execution.workspace.buffer(if uses_splitters { Slot::Splitters } else { Slot::Buckets });
    launch::bucket_scatter(
        execution.device,
        grid(
            Kernel::bucket_scatter,
            candidates.count * buckets::WARPS_PER_TILE as usize * WARP as usize,
            images,
        ),
        execution.workspace.buffer(Slot::Candidates),
        execution.workspace.buffer(Slot::Counts),
        bucketed,
        state,
        splitters,
        candidates.count as u32,
        candidates.capacity as u32,
        counters,
        buckets as u32,
        step,
        threshold,
        value,
        order.code(),
        shape.pixels() as u32,
    )?;
    let most = lists.most() as u32;
    let keypoints = match &host_body {
        Some((memory, _)) => Buffer::new(memory),
        None => execution.workspace.buffer(Slot::Keypoints),
    };
    launch::bucket_gather(
        execution.device,
        grid(Kernel::bucket_gather, buckets / buckets::PER_WARP as usize * WARP as usize, images),
        bucketed,
        execution.workspace.buffer(Slot::Keys),
        keypoints,
        state,
        Buffer::new(&report),
        counters,
        buckets as u32,
        order.code(),
        lists.pitch as u32,
        most,
        shape.width,
        u32::from(!once),
        u32::from(predicts),
    )?;
    if once {
        refinement::finish(execution, most)?;
    } else {
        selection::select(execution, (Slot::Keys, Slot::OtherKeys), order, Some(&report))?;
    }
    let keypoints = match host_body {
        Some((_, fetched)) => Some(fetched),
        None if destination.includes_host() => Some(keys::fetch_keypoints(execution)?),
        None => None,
    };
    Ok(PendingLists { states, keypoints })
}
