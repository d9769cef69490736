//! Samples on their way to the device.

use harris_core::{Error, ImageView, Raster, Sample, Samples};

use crate::device::{Depth, Device, Mark, Rows};
use crate::workspace::{Slot, Workspace};

/// The bytes of each row.
pub(crate) fn rows<'a>(image: &ImageView<'a>) -> Vec<&'a [u8]> {
    match image.samples() {
        Samples::U8(raster) => rows_of(raster),
        Samples::U16(raster) => rows_of(raster),
        Samples::F32(raster) => rows_of(raster),
    }
}

/// The bytes of the first row.
pub(crate) fn first_row<'a>(image: &ImageView<'a>) -> &'a [u8] {
    match image.samples() {
        Samples::U8(raster) => bytemuck::cast_slice(raster.row(0)),
        Samples::U16(raster) => bytemuck::cast_slice(raster.row(0)),
        Samples::F32(raster) => bytemuck::cast_slice(raster.row(0)),
    }
}

fn rows_of<T: Sample + bytemuck::Pod>(raster: Raster<'_, T>) -> Vec<&[u8]> {
    (0..raster.height()).map(|y| bytemuck::cast_slice(raster.row(y))).collect()
}

/// Brings samples to the slot `Image`, rows without gaps. Where they are `lasting`, see [`Rows`].
pub(crate) fn samples<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    image: &ImageView<'_>,
    lasting: bool,
) -> Result<(), Error> {
    let pitch = Depth::of(image).bytes() * image.width() * image.channels();
    workspace.fit::<u8>(device, Slot::Image, pitch * image.height())?;
    let rows = rows(image);
    let rows = Rows { rows: &rows, pitch, offset: 0, each: rows.len(), lasting };
    device.upload(workspace.buffer::<u8>(Slot::Image).memory, rows)?;
    device.mark(Mark::Uploaded)
}

/// Brings the image's mask to the slot `Mask`, which has one byte where there is none.
pub(crate) fn mask<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    image: &ImageView<'_>,
) -> Result<(), Error> {
    let bytes = image.mask().map_or(1, |mask| mask.width() * mask.height());
    workspace.fit::<u8>(device, Slot::Mask, bytes)?;
    let Some(mask) = image.mask() else { return Ok(()) };
    let rows =
        Rows { rows: &rows_of(mask), pitch: mask.width(), offset: 0, each: mask.height(), lasting: false };
    device.upload(workspace.buffer::<u8>(Slot::Mask).memory, rows)
}

/// Brings words to a slot.
pub(crate) fn words<D: Device, T: bytemuck::Pod + harris_gpu_kernels::Word>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    slot: Slot,
    words: &[T],
) -> Result<(), Error> {
    workspace.fit::<T>(device, slot, words.len())?;
    if words.is_empty() {
        return Ok(());
    }
    let memory = workspace.buffer::<T>(slot).memory;
    device.upload(memory, Rows::single(&bytemuck::cast_slice(words)))
}
