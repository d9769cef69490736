//! From 8-bit samples to the list of corners in one walk.

use harris_core::{
    Border, Error, Gradient, HarrisConfig, ImageView, Raster, Samples, Smoothing, Subpixel, Window,
};
use harris_gpu_kernels::abi::{Kernel, fused, gradient};

use crate::corners::{Search, simple_threshold};
use crate::device::{Device, Mark, Rows};
use crate::staged::measure_of;
use crate::workspace::Slot;
use crate::{launch, upload};

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

/// Rows below the last one whose corners are sought that the walk looks at.
const AHEAD: usize = fused::SIDE as usize + 4;

/// Brings images to the device that are [`covered`], for [`again`] to walk on them. Whether samples are `lasting`: see [`Rows`].
pub(crate) fn start<D: Device>(
    search: &mut Search<'_, D>,
    images: &[Raster<'_, u8>],
    lasting: bool,
) -> Result<(), Error> {
    let pitch = prepare(search)?;
    let rows: Vec<&[u8]> = images.iter().flat_map(|image| upload::rows(*image)).collect();
    let memory = search.workspace.buffer::<u8>(Slot::Image).memory;
    search
        .device
        .upload(memory, Rows { rows: &rows, pitch, offset: 0, each: search.height as usize, lasting })?;
    search.device.mark(Mark::Uploaded)
}

/// Whether it is worth while to [`hurry`].
pub(crate) fn can_hurry<D: Device>(device: &D, image: Raster<'_, u8>) -> bool {
    image.width() * image.height() >= 2 * device.portion(image.row(0))
}

/// Brings a single image to the device whose samples are lasting, and walks on its first rows while others are on their way;
/// [`exceed`] follows.
pub(crate) fn hurry<D: Device>(
    search: &mut Search<'_, D>,
    image: Raster<'_, u8>,
    kernel: Kernel,
) -> Result<(), Error> {
    let pitch = prepare(search)?;
    search.clear()?;
    let portion = search.device.portion(image.row(0));
    let (rows, height) = (upload::rows(image), image.height());
    let (mut sent, mut walked) = (0, 0);
    for rows in rows.chunks((portion / pitch).max(LEAST_ROWS)) {
        let memory = search.workspace.buffer::<u8>(Slot::Image).memory;
        search
            .device
            .send(memory, Rows { rows, pitch, offset: sent * pitch, each: rows.len(), lasting: true })?;
        search.device.arrive()?;
        sent += rows.len();
        if sent == height {
            search.device.mark(Mark::Uploaded)?;
        }
        let ready = if sent == height { height } else { sent.saturating_sub(AHEAD) };
        if ready > walked {
            walk(search, kernel, walked, ready)?;
            walked = ready;
        }
    }
    Ok(())
}

/// Makes room for images; returns how many bytes rows are apart.
fn prepare<D: Device>(search: &mut Search<'_, D>) -> Result<usize, Error> {
    let pitch = pitch(search);
    search.stride = pitch as u64;
    search.workspace.fit::<u8>(search.device, Slot::Image, pitch * search.height as usize * search.images)?;
    Ok(pitch)
}

/// Walks on images that are there, with what is known of them.
pub(crate) fn again<D: Device>(search: &mut Search<'_, D>, kernel: Kernel) -> Result<(), Error> {
    walk(search, kernel, 0, search.height as usize)?;
    exceed(search)
}

/// Bytes from row to row.
fn pitch<D: Device>(search: &Search<'_, D>) -> usize {
    (search.width as usize).next_multiple_of(4)
}

/// Adds the corners of some rows to the slot `Candidates`.
fn walk<D: Device>(
    search: &mut Search<'_, D>,
    kernel: Kernel,
    first: usize,
    last: usize,
) -> Result<(), Error> {
    let (pitch, found) = (pitch(search), search.room.found);
    search.workspace.fit::<u64>(search.device, Slot::Candidates, found * search.images)?;
    let (workspace, config) = (&*search.workspace, search.config);
    let (_, parameter) = measure_of(config);
    let strips = search.width.div_ceil(fused::OWN) as usize;
    let multiprocessors = search.device.multiprocessors() as usize;
    let rows = rows_of_piece(last - first, strips * search.images, multiprocessors, kernel);
    let pieces = strips * (last - first).div_ceil(rows);
    launch::fused(
        search.device,
        kernel,
        [pieces as u32, search.images as u32],
        workspace.buffer(Slot::Image),
        workspace.buffer(Slot::State),
        workspace.buffer(Slot::Candidates),
        ((pitch * search.height as usize) as u64, search.width, search.height, pitch as u32),
        (first as u32, last as u32, rows as u32),
        (config.tensor_scale(255.0), parameter),
        (search.frame, search.margin()),
        simple_threshold(config).expect("covered"),
        found as u32,
    )
}

/// Fills the slot `Keys` with those candidates that exceed the threshold, now that it is known.
pub(crate) fn exceed<D: Device>(search: &mut Search<'_, D>) -> Result<(), Error> {
    let (images, found, kept) = (search.images, search.room.found, search.room.kept);
    search.workspace.fit::<u64>(search.device, Slot::Keys, kept * images)?;
    let (threshold, value) = simple_threshold(search.config).expect("covered");
    let most = (2 * search.device.multiprocessors()).div_ceil(images as u32);
    let blocks = launch::grid(Kernel::exceed, found, 1)[0].min(most);
    launch::exceed(
        search.device,
        [blocks, images as u32],
        search.workspace.buffer(Slot::Candidates),
        search.workspace.buffer(Slot::Keys),
        search.workspace.buffer(Slot::State),
        found as u32,
        kept as u32,
        threshold,
        value,
    )
}

/// So many that all pieces run at once, or in a few turns.
fn rows_of_piece(height: usize, strips: usize, multiprocessors: usize, kernel: Kernel) -> usize {
    let warps = multiprocessors * kernel.blocks_held().unwrap_or(1) as usize;
    (height * strips).div_ceil(warps).clamp(LEAST_ROWS, MOST_ROWS)
}
