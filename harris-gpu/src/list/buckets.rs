//! Lists by a bucket sort: candidates are distributed to buckets, and each warp sorts the keys of
//! some.

use harris_core::{Error, Subpixel};
use harris_gpu_kernels::abi::{Kernel, buckets};
use harris_gpu_kernels::simt::WARP;

use super::keys::{self, KEYPOINT_BYTES, STATE_BYTES};
use super::{refinement, selection};
use crate::device::{Buffer, Device};
use crate::exec::capacity::{CandidateLists, KEYS_PER_BUCKET};
use crate::exec::context::{PendingLists, Run};
use crate::exec::workspace::Slot;
use crate::launch::{self, grid};
use crate::plan::arguments::threshold_of;

/// The most keypoints expected of an image for which kernels write them to the host's memory. More
/// are quicker copied, and do not hold up uploads.
const MAX_WRITTEN_TO_HOST: usize = 1 << 15;

/// The most keypoints that are given room in that memory, for all that images could have.
const MAX_HOST_CAPACITY: usize = 1 << 20;

/// Sorts and selects a sweep's candidates by way of `buckets` buckets. Fetches the lists where they
/// go `to_host`.
///
/// Where the sweep `predicts` the next image's threshold, the image stays on the device until that
/// is verified.
pub(super) fn from_candidates<D: Device>(
    run: &mut Run<'_, D>,
    buckets: usize,
    candidates: CandidateLists,
    predicts: bool,
    to_host: bool,
) -> Result<PendingLists<D>, Error> {
    let (config, shape, images) = (run.context.config, run.context.shape, run.images());
    run.workspace.fit::<u64>(run.device, Slot::Buckets, buckets * KEYS_PER_BUCKET * images)?;
    let (refines_in_map, refines) = match config.subpixel() {
        Subpixel::None => (false, false),
        Subpixel::Quadratic => (true, true),
        Subpixel::Forstner { .. } => (false, true),
    };
    // Refinement in the response map starts from keys, too.
    let once = keys::is_sorted_once(run) && !refines_in_map;
    let lists = if once { keys::selected_keys(run) } else { keys::all_keys(run) };
    let is_short = (images > 1 || run.capacity.expected_corners() <= MAX_WRITTEN_TO_HOST)
        && lists.pitch * images <= MAX_HOST_CAPACITY;
    // Straight to the host, unless they are read again on the device.
    let host_body = if to_host && is_short && once && !refines {
        let (memory, fetched) = run.device.mapped_memory(KEYPOINT_BYTES * lists.pitch * images)?;
        Some((memory, (fetched, lists.pitch)))
    } else {
        keys::fit_keypoints(run)?;
        None
    };
    if once {
        // Not written then, but an argument all the same.
        run.workspace.fit::<u64>(run.device, Slot::Keys, 1)?;
    } else {
        keys::fit_keys(run)?;
    }
    let (report, states) = run.device.mapped_memory(STATE_BYTES * images)?;
    let (bucketed, state) = (run.workspace.buffer(Slot::Buckets), run.workspace.buffer(Slot::State));
    let (threshold, value) = threshold_of(config);
    let order = keys::first_order(run);
    let (counters, _) = run.counters();
    let uses_splitters = run.capacity.uses_splitters(images);
    let step = if uses_splitters { buckets::MAX / buckets as u32 } else { 0 };
    // Not read without splitters, but an argument all the same.
    let splitters = run.workspace.buffer(if uses_splitters { Slot::Splitters } else { Slot::Buckets });
    launch::bucket_scatter(
        run.device,
        grid(
            Kernel::bucket_scatter,
            candidates.count * buckets::WARPS_PER_TILE as usize * WARP as usize,
            images,
        ),
        run.workspace.buffer(Slot::Candidates),
        run.workspace.buffer(Slot::Counts),
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
        order.number(),
        shape.pixels() as u32,
    )?;
    let most = lists.most() as u32;
    let keypoints = match &host_body {
        Some((memory, _)) => Buffer::new(memory),
        None => run.workspace.buffer(Slot::Keypoints),
    };
    launch::bucket_gather(
        run.device,
        grid(Kernel::bucket_gather, buckets / buckets::PER_WARP as usize * WARP as usize, images),
        bucketed,
        run.workspace.buffer(Slot::Keys),
        keypoints,
        state,
        Buffer::new(&report),
        counters,
        buckets as u32,
        order.number(),
        lists.pitch as u32,
        most,
        shape.width,
        u32::from(!once),
        u32::from(predicts),
    )?;
    if once {
        refinement::finish(run, most)?;
    } else {
        selection::select(run, (Slot::Keys, Slot::OtherKeys), order, Some(&report))?;
    }
    let keypoints = match host_body {
        Some((_, fetched)) => Some(fetched),
        None if to_host => Some(keys::fetch_keypoints(run)?),
        None => None,
    };
    Ok(PendingLists { states, keypoints })
}
