//! Suppression over the response map: of all pixels, or around the candidates of a sweep.

use harris_core::Error;
use harris_gpu_kernels::abi::{Kernel, fused};
use harris_gpu_kernels::simt::WARP;

use crate::device::Device;
use crate::exec::capacity::CandidateLists;
use crate::exec::context::{Context, Run};
use crate::exec::workspace::Slot;
use crate::launch::{self, thread_per_column};
use crate::plan::arguments::{plateau_of, threshold_of};

/// Fills [`Slot::Keys`] with all corners of the map, in no order. The threshold is in the state.
pub(crate) fn find_corners<D: Device>(run: &mut Run<'_, D>) -> Result<(), Error> {
    run.workspace.fit::<u64>(run.device, Slot::Keys, run.capacity.corners)?;
    let Context { config, shape, .. } = run.context;
    let frame = run.context.frame();
    let (grid, rows) = thread_per_column(run.device, (shape.width, shape.height), 1);
    let (mask, mask_pitch) = run.mask();
    launch::suppress(
        run.device,
        grid,
        run.workspace.buffer(Slot::Response),
        mask,
        run.workspace.buffer(Slot::State),
        run.workspace.buffer(Slot::Keys),
        run.capacity.corners as u32,
        shape.width,
        shape.height,
        rows,
        frame[0],
        frame[1],
        run.context.margin(),
        run.context.suppression_radius(),
        plateau_of(config),
        mask_pitch,
    )
}

/// Removes candidates that are not the strongest within the whole radius of suppression.
pub(crate) fn suppress_ring<D: Device>(run: &mut Run<'_, D>, lists: CandidateLists) -> Result<(), Error> {
    let Context { config, shape, .. } = run.context;
    let (threshold, value) = threshold_of(config);
    let (mask, mask_pitch) = run.mask();
    launch::suppress_candidates(
        run.device,
        launch::grid(
            Kernel::suppress_candidates,
            lists.count * fused::SUPPRESSION_WARPS as usize * WARP as usize,
            1,
        ),
        run.workspace.buffer(Slot::Response),
        mask,
        run.workspace.buffer(Slot::State),
        run.workspace.buffer(Slot::Candidates),
        run.workspace.buffer(Slot::Counts),
        lists.count as u32,
        lists.capacity as u32,
        shape.width,
        shape.height,
        run.context.frame()[0],
        run.context.suppression_radius(),
        plateau_of(config),
        threshold,
        value,
        mask_pitch,
    )
}
