//! The rows between samples and peaks.

use std::mem::size_of;
use std::ops::Range;

use super::{MOST_RADIUS, MOST_WINDOW};

/// Columns of a strip. With it the rows of all rings fit in the first cache together.
pub(super) const STRIP: usize = 768;
/// Elements before the strip's first column: its halo, rounded up to whole vectors.
pub(super) const LEAD: usize = 64;
/// Elements of a row: lead, strip, halo, and what a last vector reads beyond it. Rows are 1920 or 3840 bytes apart, so
/// that no two of a ring lie a multiple of 4096 bytes apart, where a load would wait for an unrelated store.
const ROW: usize = LEAD + STRIP + 128;

// 2 columns of smoothing, 1 of gradient, window, suppression.
const _: () = assert!(2 + 1 + MOST_WINDOW + MOST_RADIUS < LEAD);

/// Rows of one kind, aligned to cache lines.
#[derive(Debug)]
pub(super) struct Rows<T> {
    data: Vec<T>,
    first: usize,
    length: usize,
}

impl<T: Copy> Rows<T> {
    /// `number` rows of `length` elements of a value.
    fn new(number: usize, length: usize, value: T) -> Self {
        let line = 64 / size_of::<T>();
        let data = vec![value; number * length + line];
        // The vector never grows, so that its first aligned element stays where it is.
        let first = data.as_ptr().align_offset(64).min(line);
        Self { data, first, length }
    }

    pub(super) fn row(&self, i: usize) -> &[T] {
        &self.data[self.range(i)]
    }

    pub(super) fn row_mut(&mut self, i: usize) -> &mut [T] {
        let range = self.range(i);
        &mut self.data[range]
    }

    fn range(&self, i: usize) -> Range<usize> {
        let start = self.first + i * self.length;
        start..start + self.length
    }
}

/// The scratch memory of one band: about 190 KiB, of which a configuration uses a part.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Samples summed down the columns; one row.
    pub(super) column_sums: Rows<i16>,
    /// Smoothed rows y − 1 to y + 1, by y mod 3.
    pub(super) smoothed: Rows<i16>,
    /// Weighted sums and differences of three smoothed rows; two rows.
    pub(super) lines: [Rows<i16>; 2],
    /// gx and gy of the rows in the window and the one that leaves it, by y mod their number.
    pub(super) gradients: [Rows<i16>; 2],
    /// A row of zeros.
    pub(super) zero: Rows<i16>,
    /// Of gx², gx·gy, gy², summed down the window: pairs of columns, and odd columns alone; one row each.
    pub(super) pairs: [Rows<i32>; 3],
    pub(super) odds: [Rows<i32>; 3],
    /// Responses of the rows in the suppression's neighbourhood, by y mod their number.
    pub(super) responses: Rows<f32>,
    /// A row that suppresses nothing.
    pub(super) nothing: Rows<f32>,
    /// For each row of `responses`, where vectors start that hold a candidate.
    pub(super) hits: Vec<Vec<usize>>,
}

impl Default for Scratch {
    fn default() -> Self {
        let sums = || Rows::new(1, ROW / 2, 0);
        let gradients = || Rows::new(2 * MOST_WINDOW + 2, ROW, 0);
        Self {
            column_sums: Rows::new(1, ROW, 0),
            smoothed: Rows::new(3, ROW, 0),
            lines: [Rows::new(1, ROW, 0), Rows::new(1, ROW, 0)],
            gradients: [gradients(), gradients()],
            zero: Rows::new(1, ROW, 0),
            pairs: [sums(), sums(), sums()],
            odds: [sums(), sums(), sums()],
            responses: Rows::new(2 * MOST_RADIUS + 1, ROW, 0.0),
            nothing: Rows::new(1, ROW, f32::NEG_INFINITY),
            hits: vec![Vec::new(); 2 * MOST_RADIUS + 1],
        }
    }
}
