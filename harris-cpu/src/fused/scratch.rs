//! The rows between samples and peaks.

use std::mem::size_of;

use super::{MOST_RADIUS, MOST_WINDOW};

/// Columns of a strip: the number that measured best (BENCHMARKING.md). The rows that a kernel uses together fit in the
/// first cache, those of all rings in the second.
pub(super) const STRIP: usize = 1024;
/// Elements before the strip's first column: its halo, rounded up to whole vectors.
pub(super) const LEAD: usize = 128;
/// Elements of a row: lead, strip, halo, and what a last vector reads beyond it. Rows are 2688 or 5376 bytes apart, so
/// that no two that a kernel uses together lie a multiple of 4096 bytes apart, where a load would wait for an
/// unrelated store.
const ROW: usize = LEAD + STRIP + 192;

const _: () = assert!(ROW.is_multiple_of(64));

// 2 columns of smoothing, 1 of gradient, window, suppression.
const _: () = assert!(2 + 1 + MOST_WINDOW + MOST_RADIUS < LEAD);

/// A row of 16-bit integers, of sums of pairs of columns, of responses. Their lengths are constants, so that the bounds
/// of a kernel's loads are checked once for all of its rows.
pub(super) type Row16 = [i16; ROW];
pub(super) type SumRow = [i32; ROW / 2];
pub(super) type ResponseRow = [f32; ROW];
pub(super) type Candidates = [u64; ROW / 64];

/// Rows of one kind, aligned to cache lines.
#[derive(Debug)]
pub(super) struct Rows<T, const LENGTH: usize> {
    data: Vec<T>,
    first: usize,
}

impl<T: Copy, const LENGTH: usize> Rows<T, LENGTH> {
    /// `number` rows of a value.
    fn new(number: usize, value: T) -> Self {
        let line = 64 / size_of::<T>();
        let data = vec![value; number * LENGTH + line];
        // The vector never grows, so that its first aligned element stays where it is.
        let first = data.as_ptr().align_offset(64).min(line);
        Self { data, first }
    }

    pub(super) fn row(&self, i: usize) -> &[T; LENGTH] {
        let rest = &self.data[self.first + i * LENGTH..];
        rest.first_chunk().expect("there is such a row")
    }

    pub(super) fn row_mut(&mut self, i: usize) -> &mut [T; LENGTH] {
        let rest = &mut self.data[self.first + i * LENGTH..];
        rest.first_chunk_mut().expect("there is such a row")
    }
}

type Rows16 = Rows<i16, ROW>;
type SumRows = Rows<i32, { ROW / 2 }>;
type ResponseRows = Rows<f32, ROW>;

/// The scratch memory of one band: 95 KiB, and 5 KiB for each row of the window.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Samples summed down the columns; one row.
    pub(super) column_sums: Rows16,
    /// Smoothed rows y − 1 to y + 1, by y mod 3.
    pub(super) smoothed: Rows16,
    /// Weighted sums and differences of three smoothed rows; two rows.
    pub(super) lines: [Rows16; 2],
    /// gx and gy of the rows in the window and the one that leaves it, by y mod their number.
    pub(super) gradients: [Rows16; 2],
    /// A row of zeros.
    pub(super) zero: Rows16,
    /// Of gx², gx·gy, gy², summed down the window: pairs of columns, and odd columns alone; one row each.
    pub(super) pairs: [SumRows; 3],
    pub(super) odds: [SumRows; 3],
    /// Running sums across of `pairs`, for wide windows.
    pub(super) prefixes: [SumRows; 3],
    /// Responses of the rows in the suppression's neighbourhood, by y mod their number.
    pub(super) responses: ResponseRows,
    /// A row that suppresses nothing.
    pub(super) nothing: ResponseRows,
    /// For each row of `responses`, which are candidates: bit i of word j is element 64·j + i.
    pub(super) candidates: Vec<Candidates>,
}

impl Default for Scratch {
    fn default() -> Self {
        let sums = || Rows::new(1, 0);
        Self {
            column_sums: Rows::new(1, 0),
            smoothed: Rows::new(3, 0),
            lines: [Rows::new(1, 0), Rows::new(1, 0)],
            gradients: [Rows::new(0, 0), Rows::new(0, 0)],
            zero: Rows::new(1, 0),
            pairs: [sums(), sums(), sums()],
            odds: [sums(), sums(), sums()],
            prefixes: [sums(), sums(), sums()],
            responses: Rows::new(2 * MOST_RADIUS + 1, 0.0),
            nothing: Rows::new(1, f32::NEG_INFINITY),
            candidates: vec![[0; ROW / 64]; 2 * MOST_RADIUS + 1],
        }
    }
}

impl Scratch {
    /// Makes room for the gradients of a window of `radius`.
    pub(super) fn reserve(&mut self, radius: usize) {
        for rows in &mut self.gradients {
            let number = 2 * radius + 2;
            if rows.data.len() < number * ROW {
                *rows = Rows::new(number, 0);
            }
        }
    }
}
