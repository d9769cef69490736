//! Integral images on the device.

use harris_core::{Error, ImageView};
use harris_gpu_kernels::abi::Kernel;

use crate::device::{Depth, Device, Mark};
use crate::exec::upload;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch::{self, grid};
use crate::plan::Shape;

/// Least number of rows of a band.
const MIN_ROWS: usize = 32;
/// Most bands: each adds the totals of those above it.
const MAX_BANDS: usize = 64;
/// Words: rows of sums start at multiples of so many.
const ALIGNMENT: usize = 32;
/// Lanes of a warp, which sums a row.
const WARP: usize = 32;

/// Uploads an image and computes its integral image in [`Slot::Integral`]; returns the words from
/// row to row.
pub(crate) fn upload_and_integrate<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    image: &ImageView<'_>,
    borrowed: bool,
) -> Result<u32, Error> {
    let shape = Shape::new(image, 1);
    fit(device, workspace, &shape)?;
    upload::samples(device, workspace, image, &shape, borrowed)?;
    integrate(device, workspace, &shape)
}

/// Words from row to row of the integral image, rows of a band, and number of bands.
fn layout(shape: &Shape) -> (usize, usize, usize) {
    let (width, height) = (shape.width as usize, shape.height as usize);
    let rows = height.div_ceil(MAX_BANDS).max(MIN_ROWS);
    ((width + 1).next_multiple_of(ALIGNMENT), rows, height.div_ceil(rows))
}

/// Makes room for the integral image.
fn fit<D: Device>(device: &D, workspace: &mut Workspace<D>, shape: &Shape) -> Result<(), Error> {
    let (pitch, _, bands) = layout(shape);
    workspace.fit::<u32>(device, Slot::Integral, pitch * (shape.height as usize + 1))?;
    workspace.fit::<u32>(device, Slot::BandTotals, pitch * bands)
}

/// Computes the integral image, in [`Slot::Integral`], of the image in [`Slot::Image`]; returns the
/// words from row to row.
pub(crate) fn integrate<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    shape: &Shape,
) -> Result<u32, Error> {
    let (width, height) = (shape.width as usize, shape.height as usize);
    let (pitch, rows, bands) = layout(shape);
    fit(device, workspace, shape)?;
    macro_rules! sum {
        ($kernel:ident) => {{
            launch::$kernel(
                device,
                grid(Kernel::$kernel, height * WARP, 1),
                workspace.buffer(Slot::Image),
                workspace.buffer(Slot::Integral),
                width as u32,
                height as u32,
                shape.channels,
                shape.stride as u64,
                pitch as u32,
            )?;
        }};
    }
    match shape.depth {
        Depth::U8 => sum!(integral_rows_u8),
        Depth::U16 => sum!(integral_rows_u16),
        Depth::F32 => sum!(integral_rows_f32),
    }
    let (sums, totals) = (workspace.buffer(Slot::Integral), workspace.buffer(Slot::BandTotals));
    let (w, h, p, r) = (width as u32, height as u32, pitch as u32, rows as u32);
    launch::integral_bands(device, grid(Kernel::integral_bands, width + 1, bands), sums, totals, w, h, p, r)?;
    launch::integral_columns(
        device,
        grid(Kernel::integral_columns, width + 1, bands),
        sums,
        totals,
        w,
        h,
        p,
        r,
    )?;
    device.mark(Mark::Integrated)?;
    Ok(p)
}
