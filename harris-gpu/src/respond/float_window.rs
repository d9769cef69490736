//! Responses by windows of floats that sweeps do not have.

use std::ops::Range;

use harris_core::Error;
use harris_gpu_kernels::abi::gaussians;

use crate::device::Device;
use crate::exec::context::Context;
use crate::exec::tile_heights::equal_tile_rows;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch;
use crate::plan::arguments::{border_of, measure_of};
use crate::plan::{Binomial, FloatWindow, GradientSource, IDENTITY, KernelSize};

/// The most rows of a tile.
const MAX_ROWS: usize = 512;

/// Writes the responses of some rows.
pub(crate) fn write_rows<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    context: &Context<'_>,
    window: &FloatWindow,
    rows: Range<usize>,
    finds_range: bool,
) -> Result<(), Error> {
    let Context { config, shape, .. } = context;
    let [gradient_radius, window_radius] = window.radii();
    let strips = shape.width.div_ceil(gaussians::own(gradient_radius, window_radius)) as usize;
    let held = window.kernel().blocks_held().expect("a kernel with a number of blocks to hold");
    let tile_rows = equal_tile_rows(rows.len(), strips, held * device.multiprocessors(), MAX_ROWS);
    let (measure, parameter) = measure_of(config);
    macro_rules! launch {
        ($kernel:ident $(, $weight:expr)*) => {
            launch::$kernel(
                device,
                [(strips * rows.len().div_ceil(tile_rows)) as u32, 1],
                workspace.buffer(Slot::Image),
                workspace.buffer(Slot::State),
                workspace.buffer(Slot::Response),
                shape.width,
                shape.height,
                shape.pitch() as u32,
                rows.start as u32,
                rows.end as u32,
                tile_rows as u32,
                border_of(config),
                context.scale(),
                measure,
                parameter,
                context.frame()[0],
                finds_range.into(),
                $($weight),*
            )
        };
    }
    let [w0, w1, w2, w3, w4] = window.window;
    match (window.source, window.size) {
        (GradientSource::WeightedSums { binomial, along, across }, KernelSize::Narrow) => {
            let Binomial { weights: [s0, s1, s2], unit } = binomial.unwrap_or(IDENTITY);
            let ([a0, a1, a2, ..], [_, d1, d2, ..]) = (along, across);
            launch!(map_binomial_gaussians5, s0, s1, s2, unit, a0, a1, a2, d1, d2, w0, w1, w2)
        }
        (GradientSource::WeightedSums { binomial, along, across }, KernelSize::Wide) => {
            let ([a0, a1, a2, a3, a4], [_, d1, d2, d3, d4]) = (along, across);
            match binomial {
                None => launch!(map_gaussians9, a0, a1, a2, a3, a4, d1, d2, d3, d4, w0, w1, w2, w3, w4),
                Some(Binomial { weights: [s0, s1, s2], unit }) => launch!(
                    map_binomial_gaussians9,
                    s0,
                    s1,
                    s2,
                    unit,
                    a0,
                    a1,
                    a2,
                    a3,
                    a4,
                    d1,
                    d2,
                    d3,
                    d4,
                    w0,
                    w1,
                    w2,
                    w3,
                    w4
                ),
            }
        }
        (GradientSource::SmoothedU8 { smoothing, taps: [outer, inner] }, size) => {
            let [s0, s1, s2, s3, s4] = smoothing;
            match size {
                KernelSize::Narrow => {
                    launch!(map_smoothed_window5, s0, s1, s2, s3, s4, outer, inner, w0, w1, w2)
                }
                KernelSize::Wide => {
                    launch!(map_smoothed_window9, s0, s1, s2, s3, s4, outer, inner, w0, w1, w2, w3, w4)
                }
            }
        }
        (GradientSource::SmoothedU16 { smoothing, taps: [outer, inner] }, size) => {
            let Binomial { weights: [s0, s1, s2], unit } = smoothing;
            match size {
                KernelSize::Narrow => launch!(map_u16_window5, s0, s1, s2, unit, outer, inner, w0, w1, w2),
                KernelSize::Wide => {
                    launch!(map_u16_window9, s0, s1, s2, unit, outer, inner, w0, w1, w2, w3, w4)
                }
            }
        }
        (GradientSource::SmoothedF32 { smoothing, taps: [outer, inner] }, size) => {
            let Binomial { weights: [s0, s1, s2], unit } = smoothing;
            match size {
                KernelSize::Narrow => launch!(map_f32_window5, s0, s1, s2, unit, outer, inner, w0, w1, w2),
                KernelSize::Wide => {
                    launch!(map_f32_window9, s0, s1, s2, unit, outer, inner, w0, w1, w2, w3, w4)
                }
            }
        }
        (GradientSource::Central, KernelSize::Narrow | KernelSize::Wide) => {
            launch!(map_central_gaussian5, w0, w1, w2)
        }
        (GradientSource::CentralRgb, KernelSize::Narrow | KernelSize::Wide) => {
            launch!(map_rgb_central_gaussian5, w0, w1, w2)
        }
    }
}
