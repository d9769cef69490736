//! Gradients of planes, into [`Slot::GradientX`] and [`Slot::GradientY`].

use harris_core::Error;
use harris_core::pipeline::numerics::NumberKind;
use harris_core::pipeline::taps;
use harris_gpu_kernels::abi::{Kernel, axis, boxes};

use super::planes::Planes;
use crate::device::Device;
use crate::exec::workspace::Slot;
use crate::launch;
use crate::plan::GradientStage;

/// Computes the gradients of all channels.
pub(crate) fn differentiate<D: Device>(
    planes: &mut Planes<'_, '_, D>,
    stage: GradientStage,
) -> Result<(), Error> {
    let Planes { width, height, border, .. } = *planes;
    let (grid, rows) = planes.grid(planes.channels);
    macro_rules! differentiate {
        ($kernel:ident, $taps:expr) => {{
            let from = planes.workspace.buffer(planes.planes);
            let (gx, gy) =
                (planes.workspace.buffer(Slot::GradientX), planes.workspace.buffer(Slot::GradientY));
            launch::$kernel(planes.device, grid, from, gx, gy, width, height, rows, $taps, border)
        }};
    }
    match stage {
        GradientStage::FixedTaps { number: NumberKind::Integer, gradient } => {
            differentiate!(gradient_i32, gradient)
        }
        GradientStage::FixedTaps { number: NumberKind::Float, gradient } => {
            differentiate!(gradient_f32, gradient)
        }
        GradientStage::Sobel { number: NumberKind::Integer, size } => differentiate!(sobel_i32, size),
        GradientStage::Sobel { number: NumberKind::Float, size } => differentiate!(sobel_f32, size),
        GradientStage::BoxI32 { size } => {
            let (grid, rows) = planes.box_grid(planes.channels, size);
            differentiate_boxes(planes, grid, rows, size)
        }
        GradientStage::BoxF32 { size } => {
            let (from, between) = (planes.planes, planes.spare);
            sum_boxes(planes, from, between, axis::Y, size, boxes::SUM)?;
            sum_boxes(planes, between, Slot::GradientX, axis::X, size, boxes::DIFFERENCE)?;
            sum_boxes(planes, from, between, axis::X, size, boxes::SUM)?;
            sum_boxes(planes, between, Slot::GradientY, axis::Y, size, boxes::DIFFERENCE)
        }
        GradientStage::Weighted { converts, size, sigma } => {
            if converts {
                convert_to_floats(planes)?;
            }
            planes.upload_taps(Slot::Taps, &taps::gaussian(size, sigma))?;
            planes.upload_taps(Slot::OtherTaps, &taps::gaussian_derivative(size, sigma))?;
            let (from, between) = (planes.planes, planes.spare);
            planes.weigh(from, between, Slot::Taps, axis::Y, size)?;
            planes.weigh(between, Slot::GradientX, Slot::OtherTaps, axis::X, size)?;
            planes.weigh(from, between, Slot::OtherTaps, axis::Y, size)?;
            planes.weigh(between, Slot::GradientY, Slot::Taps, axis::X, size)
        }
    }
}

/// Box gradients of planes of integers.
fn differentiate_boxes<D: Device>(
    planes: &Planes<'_, '_, D>,
    grid: [u32; 2],
    rows: u32,
    size: u32,
) -> Result<(), Error> {
    let Planes { device, workspace, width, height, border, .. } = planes;
    let from = workspace.buffer(planes.planes);
    let (gx, gy) = (workspace.buffer(Slot::GradientX), workspace.buffer(Slot::GradientY));
    launch::box_gradient(&**device, grid, from, gx, gy, *width, *height, rows, size, *border)
}

/// Sums of boxes of planes of floats along an axis, or differences of a box's sides: `shape` is one
/// of [`boxes`].
fn sum_boxes<D: Device>(
    planes: &Planes<'_, '_, D>,
    from: Slot,
    to: Slot,
    axis: u32,
    size: u32,
    shape: u32,
) -> Result<(), Error> {
    let Planes { device, workspace, width, height, channels, border, .. } = planes;
    let (grid, rows) = planes.grid(*channels);
    let (from, to) = (workspace.buffer(from), workspace.buffer(to));
    launch::box_f32(&**device, grid, from, to, *width, *height, rows, axis, size, shape, *border)
}

/// Converts planes of integers to floats.
fn convert_to_floats<D: Device>(planes: &mut Planes<'_, '_, D>) -> Result<(), Error> {
    let count = planes.width as usize * planes.height as usize * planes.channels;
    let (from, to) = (planes.workspace.buffer(planes.planes), planes.workspace.buffer(planes.spare));
    launch::integers_to_f32(
        planes.device,
        launch::grid(Kernel::integers_to_f32, count, 1),
        from,
        to,
        count as u64,
    )?;
    planes.swap();
    Ok(())
}
