//! Selection: which corners of a sorted list stay, and their keypoints in the order asked for.

use harris_core::{Error, Order, Subpixel};
use harris_gpu_kernels::abi::Kernel;

use super::keys::{fit_keypoints, selected_keys, sort};
use super::min_distance::{self, Separation};
use super::refinement;
use super::sort::{KeyLists, SortOrder};
use crate::device::Device;
use crate::exec::context::{Context, Execution};
use crate::exec::workspace::Slot;
use crate::launch;

/// Fills [`Slot::Keypoints`] from keys in their first order. The number of corners that stay is
/// also written to a report, if there is one.
pub(super) fn select<D: Device>(
    execution: &mut Execution<'_, D>,
    mut keys: (Slot, Slot),
    order: SortOrder,
    report: Option<&D::Memory>,
) -> Result<(), Error> {
    let config = execution.context.config;
    let lists = selected_keys(execution);
    if let Some(squared) = min_distance::squared_distance(config) {
        min_distance::enforce(execution, keys, Separation::Pixels { squared }, report)?;
        keys = (keys.1, keys.0);
    }
    let most = lists.most() as u32;
    match config.subpixel() {
        Subpixel::Forstner { radius } if config.merges_places() => {
            // Places are computed to be compared, and then for the corners that stay, in the order
            // of the list.
            write_keypoints(execution, keys.0, lists)?;
            refinement::refine(execution, most, radius)?;
            let places = Separation::Places { distance: config.min_distance(), radius, limit: most };
            min_distance::enforce(execution, keys, places, report)?;
            keys = (keys.1, keys.0);
        }
        Subpixel::None | Subpixel::Quadratic | Subpixel::Forstner { .. } => {}
    }
    match config.order() {
        Order::Raster if order != SortOrder::Raster => {
            keys = sort(execution, keys, lists, SortOrder::Raster)?;
        }
        Order::Raster | Order::Response => {}
    }
    write_keypoints(execution, keys.0, lists)?;
    refinement::finish(execution, most)
}

/// Fills [`Slot::Keypoints`] from sorted keys, refined in the response map where that is asked for.
fn write_keypoints<D: Device>(
    execution: &mut Execution<'_, D>,
    keys: Slot,
    lists: KeyLists,
) -> Result<(), Error> {
    fit_keypoints(execution)?;
    // Not read where corners stay at pixel centres, but an argument all the same.
    execution.workspace.fit::<f32>(execution.device, Slot::Response, 1)?;
    let Context { config, shape, .. } = execution.context;
    let frame = execution.context.frame();
    let refines_in_map = match config.subpixel() {
        Subpixel::Quadratic => true,
        Subpixel::None | Subpixel::Forstner { .. } => false,
    };
    launch::write_keypoints(
        execution.device,
        lists.grid(Kernel::write_keypoints, 1),
        execution.workspace.buffer(keys),
        execution.workspace.buffer(Slot::Response),
        execution.workspace.buffer(Slot::Keypoints),
        execution.workspace.buffer(Slot::State),
        execution.capacity.corners as u32,
        lists.most() as u32,
        shape.width,
        shape.height,
        frame[0],
        frame[1],
        refines_in_map.into(),
    )
}
