//! Samples on their way to the device.

use harris_core::{Error, ImageView};

use crate::device::{Device, Lines, Mark, Rows};
use crate::room::Shape;
use crate::workspace::{Slot, Workspace};

/// Rows of masks on the device are a multiple of so many bytes apart.
const MASK_ALIGNMENT: usize = 4;

/// Brings samples to the slot `Image`, rows as far apart as the image's shape has it. Where they are `lasting`, see [`Rows`].
pub(crate) fn samples<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    image: &ImageView<'_>,
    shape: &Shape,
    lasting: bool,
) -> Result<(), Error> {
    // More is read between rows than is written.
    workspace.fit_cleared::<u8>(device, Slot::Image, shape.bytes())?;
    let pitch = shape.stride * shape.depth.bytes();
    let rows = Rows { images: &[Lines::of(image)], rows: 0..image.height(), pitch, offset: 0, lasting };
    device.upload(workspace.buffer::<u8>(Slot::Image).memory, rows)?;
    device.mark(Mark::Uploaded)
}

/// Bytes from row to row of a mask on the device, as kernels take it; 0 where there is none.
pub(crate) fn mask_pitch(image: &ImageView<'_>) -> usize {
    image.mask().map_or(0, |mask| mask.width().next_multiple_of(MASK_ALIGNMENT))
}

/// Brings the image's mask, where it has one, to the slot `Mask`.
pub(crate) fn mask<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    image: &ImageView<'_>,
    lasting: bool,
) -> Result<(), Error> {
    let Some(mask) = image.mask() else { return Ok(()) };
    let pitch = mask_pitch(image);
    workspace.fit::<u8>(device, Slot::Mask, pitch * mask.height())?;
    let rows = Rows { images: &[Lines::U8(mask)], rows: 0..mask.height(), pitch, offset: 0, lasting };
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
    device.upload(memory, Rows::copied(&Lines::words(words), 1))
}
