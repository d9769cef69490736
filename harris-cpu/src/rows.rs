//! Rows of numbers in aligned memory, and the sizes that all sweeps share.
//!
//! All rows of a strip begin at the same column: element `LEFT_PADDING` of a row is the strip's
//! first column, so that p(x + 1) is the next element.

use harris_core::config::{APERTURES, BOX_GRADIENT_APERTURES};
use harris_core::{Error, memory};

/// The greatest suppression radius of corners that are found during the sweep.
pub(crate) const MAX_SUPPRESSION_RADIUS: usize = 8;
/// The radius within which suppression compares whole vectors; winners are compared with pixels
/// beyond it one by one.
pub(crate) const NEAR_RADIUS: usize = 4;
/// The greatest radius of a window.
pub(crate) const MAX_WINDOW_RADIUS: usize = (*APERTURES.end() / 2) as usize;
/// The greatest radius of a box gradient.
const MAX_BOX_GRADIENT_RADIUS: usize = (*BOX_GRADIENT_APERTURES.end() / 2) as usize;

/// Columns of a strip: the number that measured best (docs/log/cpu.md).
///
/// The rows that a kernel uses together fit in the first cache, those of all rings in the second.
pub(crate) const STRIP_COLUMNS: usize = 1024;
/// Elements before the strip's first column: its halo, rounded up to whole vectors.
pub(crate) const LEFT_PADDING: usize = 128;
/// Elements of a row: padding, strip, halo, and what a last vector reads beyond it.
///
/// Rows are 2688, 5376 or 10752 bytes apart, so that the few that a kernel uses together do not lie
/// a multiple of 4096 bytes apart, where a load would wait for an unrelated store.
pub(crate) const ROW_LENGTH: usize = LEFT_PADDING + STRIP_COLUMNS + 192;

const _: () = assert!(ROW_LENGTH.is_multiple_of(64));

/// The greatest support radius (smoothing, gradient and window, added up) that a row's padding has
/// room for.
///
/// Beyond it lie the suppression radius, the running sums of box gradients and whole vectors.
pub(crate) const MAX_SUPPORT_RADIUS: usize =
    LEFT_PADDING - MAX_SUPPRESSION_RADIUS - MAX_BOX_GRADIENT_RADIUS - 1 - 16;
// Widest windows and box gradients after a binomial.
const _: () = assert!(MAX_SUPPORT_RADIUS >= 2 + MAX_BOX_GRADIENT_RADIUS + MAX_WINDOW_RADIUS);
const _: () = assert!(LEFT_PADDING + STRIP_COLUMNS + LEFT_PADDING <= ROW_LENGTH);

/// The most rows of a block of tiles.
pub(crate) const BLOCK_ROWS: usize = 47;

/// Elements of a row of samples that tiles read: strip, halo, and what the last tile reads beyond
/// it.
pub(crate) const SAMPLE_ROW_LENGTH: usize = STRIP_COLUMNS + 192;

/// Elements of a row of sums of pairs of columns. Six such rows are written side by side: this
/// length keeps them as far apart, modulo 4096 bytes, as six can be.
const SUM_ROW_LENGTH: usize = 1024 + 11 * 16;
const _: () = assert!(ROW_LENGTH / 2 <= SUM_ROW_LENGTH);

/// 16-bit integers, an element a column. The lengths of rows are constants, so that a kernel's
/// bounds are checked once for all of its rows.
pub(crate) type Row16 = [i16; ROW_LENGTH];
/// 32-bit sums, an element a pair of columns.
pub(crate) type SumRow = [i32; SUM_ROW_LENGTH];
/// 32-bit floats, an element a column.
pub(crate) type FloatRow = [f32; ROW_LENGTH];
/// 32-bit integers, an element a column.
pub(crate) type IntegerRow = [i32; ROW_LENGTH];
/// 64-bit floats, an element a column.
pub(crate) type F64Row = [f64; ROW_LENGTH];

/// A row aligned to cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Aligned<T, const LENGTH: usize>(pub(crate) [T; LENGTH]);

/// Rows of one kind.
#[derive(Debug)]
pub(crate) struct Rows<T, const LENGTH: usize>(Vec<Aligned<T, LENGTH>>);

impl<T: Copy, const LENGTH: usize> Rows<T, LENGTH> {
    /// Allocates memory until there are `row_count` rows; earlier values are lost where there were
    /// fewer.
    pub(crate) fn reserve(&mut self, row_count: usize) -> Result<(), Error>
    where
        T: Default,
    {
        if self.0.len() < row_count {
            self.0 = memory::filled(row_count, Aligned([T::default(); LENGTH]))?;
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> &[T; LENGTH] {
        &self.0[i].0
    }

    #[inline(always)]
    pub(crate) fn row_mut(&mut self, i: usize) -> &mut [T; LENGTH] {
        &mut self.0[i].0
    }

    /// `N` rows from row `i` on.
    pub(crate) fn rows_mut<const N: usize>(&mut self, i: usize) -> [&mut [T; LENGTH]; N] {
        let rows: &mut [_; N] = (&mut self.0[i..i + N]).try_into().expect("a slice of N");
        rows.each_mut().map(|row| &mut row.0)
    }
}

impl<T, const LENGTH: usize> Default for Rows<T, LENGTH> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

pub(crate) type Rows16 = Rows<i16, ROW_LENGTH>;
pub(crate) type SumRows = Rows<i32, SUM_ROW_LENGTH>;
pub(crate) type FloatRows = Rows<f32, ROW_LENGTH>;
pub(crate) type SampleRows = Rows<u8, SAMPLE_ROW_LENGTH>;

/// An array on the heap from the start: one of this size has no place on the stack.
pub(crate) fn boxed<T: Clone + std::fmt::Debug, const N: usize>(row: T) -> Result<Box<[T; N]>, Error> {
    Ok(memory::filled(N, row)?.try_into().expect("as many rows as asked for"))
}
