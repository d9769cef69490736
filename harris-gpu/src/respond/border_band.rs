//! Launches of the border band: responses or candidates near the edges of images.

use harris_core::{Error, Window};
use harris_gpu_kernels::abi::Kernel;

use crate::device::Device;
use crate::exec::capacity::CandidateLists;
use crate::exec::context::Context;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch;
use crate::plan::BorderBand;
use crate::plan::arguments::{measure_of, plateau_of, threshold_bound, window_taps};

/// Writes the band's responses from [`Slot::Image`] to [`Slot::Response`].
pub(crate) fn write_responses<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    context: &Context<'_>,
    band: BorderBand,
) -> Result<(), Error> {
    let lists = CandidateLists { count: band.tiles(&context.shape), capacity: 0 };
    // Arguments that a kernel does not use are any memory.
    launch_band(device, workspace, context, band, (Slot::Response, Slot::State, Slot::State), (0, lists), 0)
}

/// Finds the band's candidates in [`Slot::Image`]. It fills the lists of [`Slot::Candidates`] from
/// number `first` on.
pub(crate) fn find_candidates<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    context: &Context<'_>,
    band: BorderBand,
    first: usize,
    lists: CandidateLists,
) -> Result<(), Error> {
    let slots = (Slot::State, Slot::Candidates, Slot::Counts);
    launch_band(device, workspace, context, band, slots, (first, lists), context.shape.mask_pitch)
}

fn launch_band<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    context: &Context<'_>,
    band: BorderBand,
    (response, keys, counts): (Slot, Slot, Slot),
    (first, lists): (usize, CandidateLists),
    mask_pitch: usize,
) -> Result<(), Error> {
    let Context { config, shape, .. } = context;
    let tiles = band.tiles(shape) as u32;
    let (measure, parameter) = measure_of(config);
    let (threshold_kind, threshold_value) = threshold_bound(config);
    let [tap0, tap1, tap2, tap3] = window_taps(config.window());
    let (mask, mask_pitch) = workspace.mask(mask_pitch);
    macro_rules! launch {
        ($kernel:ident) => {
            launch::$kernel(
                device,
                [tiles, shape.images as u32],
                workspace.buffer(Slot::Image),
                workspace.buffer(Slot::State),
                workspace.buffer(keys),
                workspace.buffer(counts),
                workspace.buffer(response),
                shape.stride as u64 * u64::from(shape.height),
                shape.width,
                shape.height,
                shape.stride as u32,
                shape.channels,
                band.rule,
                config.smoothing().radius() as u32,
                band.gradient,
                config.window().radius() as u32,
                matches!(config.window(), Window::Box { .. }).into(),
                band.suppression as u32,
                context.scale(),
                measure,
                parameter,
                context.margin(),
                plateau_of(config),
                threshold_kind,
                threshold_value,
                first as u32,
                lists.count as u32,
                lists.capacity as u32,
                mask,
                mask_pitch,
                tap0,
                tap1,
                tap2,
                tap3,
            )
        };
    }
    match band.kernel {
        Kernel::border_band_rounded_u8 => launch!(border_band_rounded_u8),
        Kernel::border_band_u8 => launch!(border_band_u8),
        Kernel::border_band_u16 => launch!(border_band_u16),
        Kernel::border_band_f32 => launch!(border_band_f32),
        other => unreachable!("{other:?} is no kernel of border bands"),
    }
}
