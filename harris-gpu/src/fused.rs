//! From 8-bit samples to the list of corners in one walk.

use harris_core::{
    Border, Error, Gradient, HarrisConfig, ImageView, Keypoint, Raster, Samples, Smoothing, Subpixel, Window,
};
use harris_gpu_kernels::abi::{Kernel, fused, gradient, state};

use crate::corners::{Search, simple_threshold};
use crate::device::{Device, Mark};
use crate::launch;
use crate::staged::measure_of;
use crate::workspace::{Slot, Workspace};

/// The least side of an image for which one reflection at each edge is enough.
const LEAST_SIDE: usize = 2 * fused::SIDE as usize;

/// Rows of a strip that one warp walks: many enough that the rows before the first, which it walks too, count little.
const MOST_ROWS: usize = 128;
const LEAST_ROWS: usize = 16;

/// The kernel for an image under a configuration, where there is one, and the image's samples.
pub(crate) fn covered<'a>(image: &ImageView<'a>, config: &HarrisConfig) -> Option<(Kernel, Raster<'a, u8>)> {
    let Samples::U8(samples) = image.samples() else { return None };
    let smoothing = match config.smoothing() {
        Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5 => config.smoothing().radius(),
        Smoothing::Gaussian { .. } => return None,
    };
    let gradient = match config.gradient() {
        Gradient::Sobel3 => gradient::SOBEL,
        Gradient::Scharr3 => gradient::SCHARR,
        Gradient::Central => gradient::CENTRAL,
        Gradient::Box { .. } | Gradient::GaussianDerivative { .. } => return None,
    };
    let Window::Box { .. } = config.window() else { return None };
    let kernel = Kernel::fused(
        smoothing,
        gradient,
        config.window().radius(),
        measure_of(config).0,
        config.suppression_radius(),
    )?;
    let suits = samples.channels() == 1
        && image.mask().is_none()
        && image.width().min(image.height()) >= LEAST_SIDE
        && matches!(config.border(), Border::Reflect101 | Border::Skip)
        && config.subpixel() != Subpixel::Quadratic
        && simple_threshold(config).is_some();
    suits.then_some((kernel, samples))
}

/// The corners of an image that is [`covered`].
pub(crate) fn detect<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    image: &ImageView<'_>,
    (kernel, samples): (Kernel, Raster<'_, u8>),
) -> Result<Vec<Keypoint>, Error> {
    let mut search = Search::new(device, workspace, config, image);
    let pitch = samples.width().next_multiple_of(4);
    search.stride = pitch as u64;
    search.workspace.fit::<u8>(search.device, Slot::Image, pitch * samples.height())?;
    search.workspace.fit::<u32>(search.device, Slot::State, state::WORDS)?;
    let rows = (0..samples.height()).map(|y| samples.row(y));
    search.device.upload(search.workspace.buffer::<u8>(Slot::Image).memory, pitch, rows)?;
    search.set_state(state::START)?;
    search.device.mark(Mark::Uploaded)?;

    let usual = search.usual_corners();
    for slot in [Slot::Keys, Slot::OtherKeys] {
        search.workspace.fit::<u64>(search.device, slot, usual)?;
    }
    loop {
        let room =
            search.workspace.room::<u64>(Slot::Keys).min(search.workspace.room::<u64>(Slot::OtherKeys));
        let capacity = room.min(u32::MAX as usize) as u32;
        walk(&search, kernel, pitch as u32, capacity)?;
        let mut words = search.state()?;
        let found = words[state::FOUND] as usize;
        if found <= room {
            return search.list(Slot::OtherKeys, Slot::Keys, words[state::KEPT] as usize);
        }
        // Now that they are counted they fit; and as the greatest response is known, fewer will be found.
        words[state::FOUND] = 0;
        words[state::KEPT] = 0;
        search.set_state(words)?;
        for slot in [Slot::Keys, Slot::OtherKeys] {
            search.workspace.fit::<u64>(search.device, slot, found)?;
        }
    }
}

/// Fills the slot `OtherKeys` with corners, and the state with their number.
fn walk<D: Device>(search: &Search<'_, D>, kernel: Kernel, pitch: u32, capacity: u32) -> Result<(), Error> {
    let (workspace, config) = (&*search.workspace, search.config);
    let (image, state) = (workspace.buffer(Slot::Image), workspace.buffer(Slot::State));
    let (keys, kept) = (workspace.buffer(Slot::Keys), workspace.buffer(Slot::OtherKeys));
    let (_, parameter) = measure_of(config);
    let (threshold, value) = simple_threshold(config).expect("covered");
    let strips = search.width.div_ceil(fused::OWN) as usize;
    let rows =
        rows_of_piece(search.height as usize, strips, search.device.multiprocessors() as usize, kernel);
    let pieces = strips * (search.height as usize).div_ceil(rows);
    launch::fused(
        search.device,
        kernel,
        [pieces as u32, 1],
        image,
        state,
        keys,
        (search.width, search.height, pitch, rows as u32),
        (config.tensor_scale(255.0), parameter),
        (search.frame, search.margin()),
        (threshold, value),
        capacity,
    )?;
    let blocks =
        launch::grid(Kernel::exceed, capacity as usize, 1)[0].min(2 * search.device.multiprocessors());
    launch::exceed(search.device, [blocks, 1], keys, kept, state, capacity, threshold, value)
}

/// So many that all pieces run at once, or in a few turns.
fn rows_of_piece(height: usize, strips: usize, multiprocessors: usize, kernel: Kernel) -> usize {
    let warps = multiprocessors * kernel.blocks_held().unwrap_or(1) as usize;
    (height * strips).div_ceil(warps).clamp(LEAST_ROWS, MOST_ROWS)
}
