//! Window sums of products of gradients, and responses, into [`Slot::Response`].

use harris_core::Error;
use harris_core::pipeline::taps;
use harris_gpu_kernels::abi::axis;

use super::planes::Planes;
use crate::device::{Device, Mark};
use crate::exec::workspace::Slot;
use crate::launch;
use crate::plan::arguments::measure_of;
use crate::plan::{WeightedSums, WindowStage};

/// Computes window sums and responses.
pub(crate) fn respond<D: Device>(planes: &mut Planes<'_, '_, D>, stage: WindowStage) -> Result<(), Error> {
    match stage {
        WindowStage::RunningBox { size, is_i64 } => respond_running_box(planes, size, is_i64),
        WindowStage::Pairs { size } => respond_pairs(planes, size),
        WindowStage::Weighted(sums) => respond_weighted(planes, sums),
    }
}

/// Weighted sums down the window, then across it, where they become responses.
fn respond_weighted<D: Device>(planes: &mut Planes<'_, '_, D>, sums: WeightedSums) -> Result<(), Error> {
    let taps = taps::window(planes.context.config.window());
    let size = taps.len() as u32;
    planes.upload_taps(Slot::Taps, &taps)?;
    let Planes { width, height, border, .. } = *planes;
    let channels = planes.channels as u32;
    let (grid, rows) = planes.grid(1);
    let (scale, (measure, parameter)) = (planes.context.scale(), measure_of(planes.context.config));
    let frame = planes.context.frame();
    let (device, buffers) = (&mut *planes.device, &*planes.workspace);
    macro_rules! down {
        ($kernel:ident) => {{
            let (gx, gy) = (buffers.buffer(Slot::GradientX), buffers.buffer(Slot::GradientY));
            let (sums, taps) = (buffers.buffer(Slot::Sums), buffers.buffer(Slot::Taps));
            launch::$kernel(device, grid, gx, gy, sums, taps, width, height, rows, channels, size, border)?
        }};
    }
    match sums {
        WeightedSums::I32 => down!(window_columns_i32),
        WeightedSums::I64 => down!(window_columns_i64),
        WeightedSums::Rounded => down!(window_columns_rounded),
        WeightedSums::F32 => down!(window_columns_f32),
    }
    device.mark(Mark::Summed)?;
    let to = buffers.buffer(Slot::Response);
    macro_rules! across {
        ($kernel:ident) => {{
            let (sums, taps) = (buffers.buffer(Slot::Sums), buffers.buffer(Slot::Taps));
            launch::$kernel(
                device, grid, sums, to, taps, width, height, rows, size, border, scale, measure, parameter,
                frame[0], frame[1],
            )
        }};
    }
    match sums {
        WeightedSums::I32 => across!(window_rows_response_i32),
        WeightedSums::I64 => across!(window_rows_response_i64),
        WeightedSums::Rounded | WeightedSums::F32 => across!(window_rows_response_f32),
    }
}

/// Running sums of a box of integers, which become responses in the same kernel.
fn respond_running_box<D: Device>(
    planes: &mut Planes<'_, '_, D>,
    size: u32,
    is_i64: bool,
) -> Result<(), Error> {
    let Planes { width, height, border, .. } = *planes;
    let (grid, rows) = planes.box_grid(1, size);
    let (scale, (measure, parameter)) = (planes.context.scale(), measure_of(planes.context.config));
    let frame = planes.context.frame();
    let (device, buffers, channels) = (&*planes.device, &*planes.workspace, planes.channels as u32);
    let (gx, gy) = (buffers.buffer(Slot::GradientX), buffers.buffer(Slot::GradientY));
    let to = buffers.buffer(Slot::Response);
    macro_rules! respond {
        ($kernel:ident) => {
            launch::$kernel(
                device, grid, gx, gy, to, width, height, rows, channels, size, border, scale, measure,
                parameter, frame[0],
            )?
        };
    }
    if is_i64 {
        respond!(box_response_i64);
    } else {
        respond!(box_response_i32);
    }
    planes.device.mark(Mark::Summed)
}

/// Binomial sums of floats, whose terms are added in pairs, and then responses.
fn respond_pairs<D: Device>(planes: &mut Planes<'_, '_, D>, size: u32) -> Result<(), Error> {
    let Planes { width, height, border, .. } = *planes;
    let pixels = width as usize * height as usize;
    planes.workspace.fit::<f32>(planes.device, Slot::OtherSums, 3 * pixels)?;
    let workspace = &*planes.workspace;
    let (gx, gy) = (workspace.buffer(Slot::GradientX), workspace.buffer(Slot::GradientY));
    let (sums, between) = (workspace.buffer(Slot::Sums), workspace.buffer(Slot::OtherSums));
    let (grid, rows) = planes.grid(1);
    let channels = planes.channels as u32;
    launch::gradient_products_f32(planes.device, grid, gx, gy, sums, width, height, rows, channels)?;
    let (grid, rows) = planes.grid(3);
    let device = &*planes.device;
    launch::binomial_f32(device, grid, sums, between, width, height, rows, axis::Y, size, border)?;
    launch::binomial_f32(device, grid, between, sums, width, height, rows, axis::X, size, border)?;
    planes.device.mark(Mark::Summed)?;
    let (grid, rows) = planes.grid(1);
    let (scale, (measure, parameter)) = (planes.context.scale(), measure_of(planes.context.config));
    let frame = planes.context.frame();
    let to = planes.workspace.buffer(Slot::Response);
    let sums = planes.workspace.buffer(Slot::Sums);
    launch::response_f32(
        planes.device,
        grid,
        sums,
        to,
        width,
        height,
        rows,
        scale,
        measure,
        parameter,
        frame[0],
        frame[1],
    )
}
