//! The staged engine: one stage after the other for a block of rows, each from the rows of the one
//! before it.
//!
//! It computes every configuration; the plan leaves it those that no sweep computes. A stage
//! computes `rows` of its output from the rows of its input within its radius. Rows beyond the
//! image's edges are found by the border rule, columns beyond them are in the padding of each row.

mod block;
mod gradient;
mod line;
mod smoothing;
mod tensor;

use std::ops::Range;

use harris_core::pipeline::response;
use harris_core::{Error, HarrisConfig, ImageView, Raster, Sample, Samples};

use crate::buffers::Buffers;
use crate::plan::StageNumbers;
use block::Block;
use line::{Convert, Element};

/// The least number of rows of a block.
const BLOCK_ROWS: usize = 32;

/// Computes the responses of the rows `rows` of `image` into `out`.
pub(crate) fn responses(
    image: &ImageView<'_>,
    (config, numbers): (&HarrisConfig, StageNumbers),
    rows: Range<usize>,
    out: &mut [f32],
    buffers: &mut Buffers,
) -> Result<(), Error> {
    // No lower than the rows that blocks share with their neighbours.
    let height = BLOCK_ROWS.max(2 * config.support_radius());
    for (i, out) in out.chunks_mut(height * image.width()).enumerate() {
        let start = rows.start + i * height;
        let block = start..start + out.len() / image.width();
        match image.samples() {
            Samples::U8(raster) => integer_responses(raster, (config, numbers), block, out, buffers)?,
            Samples::U16(raster) => integer_responses(raster, (config, numbers), block, out, buffers)?,
            Samples::F32(raster) => {
                responses_as::<f32, f32, f32, f32, f32>(raster, config, block, out, buffers)?;
            }
        }
    }
    Ok(())
}

/// Computes responses of integer samples by the numbers of the plan.
fn integer_responses<T: Sample>(
    image: Raster<'_, T>,
    (config, numbers): (&HarrisConfig, StageNumbers),
    rows: Range<usize>,
    out: &mut [f32],
    buffers: &mut Buffers,
) -> Result<(), Error>
where
    i32: Convert<T>,
    f32: Convert<T>,
{
    match numbers {
        StageNumbers::Floats => responses_as::<T, f32, f32, f32, f32>(image, config, rows, out, buffers),
        StageNumbers::FloatGradients => {
            responses_as::<T, i32, f32, f32, f32>(image, config, rows, out, buffers)
        }
        StageNumbers::FloatSums => responses_as::<T, i32, i32, i64, f32>(image, config, rows, out, buffers),
        StageNumbers::Integers => responses_as::<T, i32, i32, i64, i64>(image, config, rows, out, buffers),
    }
}

/// The stages in order: samples as `S`, gradients as `G`, products as `P`, window sums as `W`.
fn responses_as<T, S, G, P, W>(
    image: Raster<'_, T>,
    config: &HarrisConfig,
    rows: Range<usize>,
    out: &mut [f32],
    buffers: &mut Buffers,
) -> Result<(), Error>
where
    T: Sample,
    S: Element + Convert<T>,
    G: Element + Convert<S>,
    P: Element + Convert<G>,
    W: Element + Convert<P>,
    f32: Convert<W>,
{
    let height = image.height();
    let reach = |rows: &Range<usize>, radius: usize| {
        rows.start.saturating_sub(radius)..(rows.end + radius).min(height)
    };
    let product_rows = reach(&rows, config.window().radius());
    let smoothed_rows = reach(&product_rows, config.gradient().radius());
    let sample_rows = reach(&smoothed_rows, config.smoothing().radius());

    let gradients = (0..image.channels())
        .map(|channel| {
            let samples = Block::<S>::load(image, channel, sample_rows.clone(), config, buffers)?;
            let smoothed = smoothing::smooth::<S, G>(samples, config, smoothed_rows.clone(), buffers)?;
            gradient::gradient(smoothed, config, product_rows.clone(), buffers)
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let products = tensor::products::<G, P, W>(&gradients, buffers)?;
    for (gx, gy) in gradients {
        gx.put(buffers);
        gy.put(buffers);
    }

    let width = image.width();
    let scale = config.tensor_scale(T::FULL_SCALE);
    let mut take = |len: usize| {
        Ok::<_, Error>([buffers.take::<W>(len)?, buffers.take::<W>(len)?, buffers.take::<W>(len)?])
    };
    let (mut sums, mut columns) = (take(width)?, take(width + 2 * config.window().radius())?);
    let first = rows.start;
    for (y, out) in rows.zip(out.chunks_mut(width)) {
        for ((sum, product), column) in sums.iter_mut().zip(&products).zip(&mut columns) {
            tensor::window_sum(product, config, y, y == first, column, sum);
        }
        let [a, b, c] = &sums;
        let measure = config.measure();
        for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
            let [a, b, c] = [a, b, c].map(|sum| <f32 as Convert<W>>::convert(sum) * scale);
            *out = response::measure(measure, a, b, c);
        }
    }
    products.into_iter().for_each(|product| product.put(buffers));
    sums.into_iter().for_each(|sum| buffers.put(sum));
    columns.into_iter().for_each(|column| buffers.put(column));
    Ok(())
}
