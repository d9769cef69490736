//! Refinement by Förstner: corners move to where the edges around them meet.

use harris_core::config::FORSTNER_RADII;
use harris_core::{Error, Subpixel};
use harris_gpu_kernels::abi::refine;

use crate::device::{Depth, Device, Mark};
use crate::exec::context::{Context, Execution};
use crate::exec::workspace::Slot;
use crate::launch;

/// Blocks, one a corner at a time, for each multiprocessor.
const BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
const _: () = assert!(refine::MAX_RADIUS == *FORSTNER_RADII.end());

/// Refines the first `most` keypoints where that is asked for. They are then complete.
pub(super) fn finish<D: Device>(execution: &mut Execution<'_, D>, most: u32) -> Result<(), Error> {
    match execution.context.config.subpixel() {
        Subpixel::Forstner { radius } => refine(execution, most, radius)?,
        // The response map has refined them before, or nothing does.
        Subpixel::None | Subpixel::Quadratic => {}
    }
    execution.device.mark(Mark::Done)
}

/// Refines the first `most` keypoints of [`Slot::Keypoints`].
pub(super) fn refine<D: Device>(execution: &Execution<'_, D>, most: u32, radius: u32) -> Result<(), Error> {
    let keypoints = execution.workspace.buffer(Slot::Keypoints);
    let Context { shape, .. } = execution.context;
    let grid = [most.clamp(1, BLOCKS_PER_MULTIPROCESSOR * execution.device.multiprocessors()), 1];
    macro_rules! refine {
        ($kernel:ident) => {{
            let image = execution.workspace.buffer(Slot::Image);
            launch::$kernel(
                execution.device,
                grid,
                image,
                keypoints,
                execution.workspace.buffer(Slot::State),
                most,
                shape.width,
                shape.height,
                shape.channels,
                shape.stride as u64,
                radius,
            )
        }};
    }
    match shape.depth {
        Depth::U8 => refine!(refine_u8),
        Depth::U16 => refine!(refine_u16),
        Depth::F32 => refine!(refine_f32),
    }
}
