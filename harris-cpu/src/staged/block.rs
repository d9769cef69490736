//! Consecutive rows of one plane, padded at both ends.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, Error, HarrisConfig, Raster, Sample};

use super::line::{self, Convert, Element};
use crate::buffers::Buffers;

/// Rows `rows` of a plane, each with `pad` elements before and after it.
pub(crate) struct Block<T> {
    data: Vec<T>,
    rows: Range<usize>,
    width: usize,
    pad: usize,
    /// Of the whole plane, in rows.
    height: usize,
    border: Border,
}

impl<T: Element> Block<T> {
    /// Rows to be computed, of a plane with the size and the border of `like`.
    pub(crate) fn like<U>(
        like: &Block<U>,
        rows: Range<usize>,
        pad: usize,
        buffers: &mut Buffers,
    ) -> Result<Self, Error> {
        Self::new(rows, like.width, like.height, pad, like.border, buffers)
    }

    fn new(
        rows: Range<usize>,
        width: usize,
        height: usize,
        pad: usize,
        border: Border,
        buffers: &mut Buffers,
    ) -> Result<Self, Error> {
        let stride = width + 2 * pad;
        // One more row of zeros stands for rows beyond the edges.
        let mut data = buffers.take::<T>((rows.len() + 1) * stride)?;
        data[rows.len() * stride..].fill(T::ZERO);
        Ok(Self { data, rows, width, pad, height, border })
    }

    /// Rows of one channel of an image.
    pub(crate) fn load<U: Sample>(
        image: Raster<'_, U>,
        channel: usize,
        rows: Range<usize>,
        config: &HarrisConfig,
        buffers: &mut Buffers,
    ) -> Result<Self, Error>
    where
        T: Convert<U>,
    {
        let pad = config.smoothing().radius();
        let mut block = Self::new(rows, image.width(), image.height(), pad, config.border(), buffers)?;
        block.compute(|y, out| {
            let samples = image.row(y).iter().skip(channel).step_by(image.channels());
            out.iter_mut().zip(samples).for_each(|(out, &sample)| *out = T::convert(sample));
        });
        Ok(block)
    }

    /// Computes every row, `row(y, out)`, and extends it by the border rule.
    pub(crate) fn compute(&mut self, mut row: impl FnMut(usize, &mut [T])) {
        let (pad, width, border) = (self.pad, self.width, self.border);
        for (y, padded) in self.rows.clone().zip(self.data.chunks_exact_mut(width + 2 * pad)) {
            row(y, &mut padded[pad..pad + width]);
            line::extend(padded, pad, border);
        }
    }

    /// The row y of the extended plane with its padding: p(x, y) is element x + pad.
    pub(crate) fn padded(&self, y: isize) -> &[T] {
        let stride = self.width + 2 * self.pad;
        let i = match border::inside(self.border, y, self.height) {
            Some(y) => y - self.rows.start,
            None => self.rows.len(),
        };
        &self.data[i * stride..(i + 1) * stride]
    }

    /// The row y of the extended plane, moved by dx: p(x + dx, y) is element x.
    pub(crate) fn row(&self, dx: isize, y: isize) -> &[T] {
        &self.padded(y)[self.pad.wrapping_add_signed(dx)..][..self.width]
    }

    pub(crate) fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn border(&self) -> Border {
        self.border
    }

    /// Returns the memory to the buffers.
    pub(crate) fn put(self, buffers: &mut Buffers) {
        buffers.put(self.data);
    }
}
