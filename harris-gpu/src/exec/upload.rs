//! Uploads: samples and masks, at once or in blocks of rows while kernels work on the blocks
//! before.

use harris_core::{Error, ImageView};

use super::context::Execution;
use super::overlap::RowBlock;
use super::workspace::{Slot, Workspace};
use crate::device::{Device, Mark, RowSource, Rows};
use crate::plan::{Shape, mask_pitch};

/// How samples get to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UploadMode {
    /// By way of a copy: the caller may change them at once.
    Copied,
    /// Straight from the caller's memory, which stays as it is until the results are there.
    Borrowed,
    /// Borrowed samples of a single image, uploaded in blocks while kernels work on the blocks
    /// before.
    Overlapped,
}

impl UploadMode {
    /// Whether samples stay as they are until the results are there.
    pub(crate) fn is_borrowed(self) -> bool {
        match self {
            Self::Copied => false,
            Self::Borrowed | Self::Overlapped => true,
        }
    }
}

/// Uploads an image to [`Slot::Image`]. Whether samples are `borrowed`: see [`Rows::borrowed`].
pub(crate) fn samples<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    image: &ImageView<'_>,
    shape: &Shape,
    borrowed: bool,
) -> Result<(), Error> {
    // More is read between rows than is written.
    workspace.fit_cleared::<u8>(device, Slot::Image, shape.bytes())?;
    let rows = Rows {
        images: &[RowSource::of(image)],
        rows: 0..image.height(),
        pitch: shape.pitch(),
        offset: 0,
        borrowed,
    };
    device.upload(workspace.buffer::<u8>(Slot::Image).memory, rows)?;
    device.mark(Mark::Uploaded)
}

/// Uploads the image's mask, if it has one, to [`Slot::Mask`].
pub(crate) fn mask<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    image: &ImageView<'_>,
    borrowed: bool,
) -> Result<(), Error> {
    let Some(mask) = image.mask() else { return Ok(()) };
    let pitch = mask_pitch(image);
    workspace.fit::<u8>(device, Slot::Mask, pitch * mask.height())?;
    let rows = Rows { images: &[RowSource::U8(mask)], rows: 0..mask.height(), pitch, offset: 0, borrowed };
    device.upload(workspace.buffer::<u8>(Slot::Mask).memory, rows)
}

/// Uploads words to a slot.
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
    device.upload(memory, Rows::copied(&RowSource::words(words), 1))
}

/// Uploads images of one shape, and their masks. In a queue of its own where that `overlaps` with
/// earlier work.
pub(crate) fn images<D: Device>(
    execution: &mut Execution<'_, D>,
    images: &[ImageView<'_>],
    borrowed: bool,
    overlaps: bool,
) -> Result<(), Error> {
    let planes = prepare(execution, images)?;
    let height = execution.context.shape.height as usize;
    for Plane { slot, images, pitch } in &planes {
        let memory = execution.workspace.buffer::<u8>(*slot).memory;
        let rows = Rows { images, rows: 0..height, pitch: *pitch, offset: 0, borrowed };
        if overlaps {
            execution.device.upload_on_copy_stream(memory, rows)?;
        } else {
            execution.device.upload(memory, rows)?;
        }
    }
    if overlaps {
        execution.device.await_uploads()?;
    }
    execution.device.mark(Mark::Uploaded)
}

/// Uploads a single image of borrowed samples in blocks. After each but the last, `work` asks for
/// the work on it.
///
/// The work on the last block is to wait for [`Device::await_signal`].
pub(crate) fn in_blocks<D: Device>(
    execution: &mut Execution<'_, D>,
    image: &ImageView<'_>,
    blocks: impl Iterator<Item = RowBlock>,
    mut work: impl FnMut(&mut Execution<'_, D>, &RowBlock) -> Result<(), Error>,
) -> Result<(), Error> {
    let planes = prepare(execution, std::slice::from_ref(image))?;
    let mut start = 0;
    for block in blocks {
        for Plane { slot, images, pitch } in &planes {
            let memory = execution.workspace.buffer::<u8>(*slot).memory;
            let rows =
                Rows { images, rows: start..block.end, pitch: *pitch, offset: start * pitch, borrowed: true };
            execution.device.upload_on_copy_stream(memory, rows)?;
        }
        if block.end == image.height() {
            return execution.device.signal_uploads(Mark::Uploaded);
        }
        start = block.end;
        work(execution, &block)?;
    }
    Ok(())
}

/// Samples or masks of images to be uploaded.
struct Plane<'a> {
    slot: Slot,
    images: Vec<RowSource<'a>>,
    /// Bytes from row to row on the device.
    pitch: usize,
}

/// Makes room for images, and lists what is to be uploaded of them.
fn prepare<'a, D: Device>(
    execution: &mut Execution<'_, D>,
    images: &[ImageView<'a>],
) -> Result<Vec<Plane<'a>>, Error> {
    let shape = execution.context.shape;
    let (pitch, mask_pitch) = (shape.pitch(), shape.mask_pitch);
    // Kernels read words across the ends of rows, and rows ahead of those that they sweep.
    let rows = shape.height as usize * shape.images;
    let image_is_new = execution.workspace.fit_cleared::<u8>(execution.device, Slot::Image, pitch * rows)?;
    let mask_is_new = shape.is_masked()
        && execution.workspace.fit_cleared::<u8>(execution.device, Slot::Mask, mask_pitch * rows)?;
    if image_is_new || mask_is_new {
        // Rows may arrive before the queue comes to the clearing.
        execution.device.wait()?;
    }
    // Masks first: what the device waits for at last are samples.
    let masks: Vec<_> = images.iter().filter_map(|image| image.mask().map(RowSource::U8)).collect();
    let samples = Plane { slot: Slot::Image, images: images.iter().map(RowSource::of).collect(), pitch };
    Ok(if masks.is_empty() {
        vec![samples]
    } else {
        vec![Plane { slot: Slot::Mask, images: masks, pitch: mask_pitch }, samples]
    })
}
