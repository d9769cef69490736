//! Suppression over the response map: of all pixels, or around the candidates of a sweep.

use harris_core::Error;
use harris_gpu_kernels::abi::{Kernel, fused};
use harris_gpu_kernels::simt::WARP;

use crate::device::Device;
use crate::exec::capacity::CandidateLists;
use crate::exec::context::{Context, Execution};
use crate::exec::workspace::Slot;
use crate::launch::{self, thread_per_column};
use crate::plan::arguments::{plateau_of, threshold_of};

/// Fills [`Slot::Keys`] with all corners of the map, in no order. The threshold is in the state.
pub(crate) fn find_corners<D: Device>(execution: &mut Execution<'_, D>) -> Result<(), Error> {
    execution.workspace.fit::<u64>(execution.device, Slot::Keys, execution.capacity.corners)?;
    let Context { config, shape, .. } = execution.context;
    let frame = execution.context.frame();
    let (grid, rows) = thread_per_column(execution.device, (shape.width, shape.height), 1);
    let (mask, mask_pitch) = execution.mask();
    launch::suppress(
        execution.device,
        grid,
        execution.workspace.buffer(Slot::Response),
        mask,
        execution.workspace.buffer(Slot::State),
        execution.workspace.buffer(Slot::Keys),
        execution.capacity.corners as u32,
        shape.width,
        shape.height,
        rows,
        frame[0],
        frame[1],
        execution.context.margin(),
        execution.context.suppression_radius(),
        plateau_of(config),
        mask_pitch,
    )
}

/// Removes candidates that are not the strongest within the whole radius of suppression.
pub(crate) fn suppress_ring<D: Device>(
    execution: &mut Execution<'_, D>,
    lists: CandidateLists,
) -> Result<(), Error> {
    let Context { config, shape, .. } = execution.context;
    let (threshold, value) = threshold_of(config);
    let (mask, mask_pitch) = execution.mask();
    launch::suppress_candidates(
        execution.device,
        launch::grid(
            Kernel::suppress_candidates,
            lists.count * fused::SUPPRESSION_WARPS as usize * WARP as usize,
            1,
        ),
        execution.workspace.buffer(Slot::Response),
        mask,
        execution.workspace.buffer(Slot::State),
        execution.workspace.buffer(Slot::Candidates),
        execution.workspace.buffer(Slot::Counts),
        lists.count as u32,
        lists.capacity as u32,
        shape.width,
        shape.height,
        execution.context.frame()[0],
        execution.context.suppression_radius(),
        plateau_of(config),
        threshold,
        value,
        mask_pitch,
    )
}
