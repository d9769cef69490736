//! The traversal of the staged kernels: each thread sweeps down one column.
//!
//! Indices are incremented from row to row, not divided anew for each pixel. Several rows are
//! fetched at once, so that their loads overlap.

use core::array;

use super::geometry::Size;
use crate::Simt;

/// Rows that are fetched before the first of them is used, for rows of a few words.
pub(crate) const ROWS_AT_ONCE: usize = 4;

/// The rows of a column that a thread sweeps. The threads of a block have neighbouring columns.
#[derive(Clone, Copy)]
pub(crate) struct ColumnSweep {
    /// The column.
    pub(crate) x: u32,
    /// The first row.
    pub(crate) top: u32,
    /// The row after the last.
    pub(crate) bottom: u32,
}

impl ColumnSweep {
    /// The thread's rows, at most `rows`. There are none if its column lies outside the image.
    #[inline(always)]
    pub(crate) fn new<S: Simt>(s: S, size: Size, rows: u32) -> Self {
        let strips = size.width.div_ceil(s.threads());
        let (strip, part) = (s.block() % strips, s.block() / strips);
        let x = strip * s.threads() + s.thread();
        let top = (part * rows).min(size.height);
        let bottom = if x < size.width { size.height.min(top + rows) } else { top };
        Self { x, top, bottom }
    }

    /// Sweeps down the rows: `fetch` loads what `step` processes.
    #[inline(always)]
    pub(crate) fn down<T: Copy>(self, fetch: impl Fn(u32) -> T, mut step: impl FnMut(u32, T)) {
        let last = self.bottom as i32 - 1;
        down(self.top as i32, last + 1, |y| fetch(y.min(last) as u32), |y, row| step(y as u32, row));
    }
}

/// Sweeps down the rows `first..last`: `fetch` loads what `step` processes.
///
/// `fetch` is also called for a few rows after the last.
#[inline(always)]
pub(crate) fn down<T: Copy>(first: i32, last: i32, fetch: impl Fn(i32) -> T, mut step: impl FnMut(i32, T)) {
    sweep_groups(first, last, fetch, |y, rows: [T; ROWS_AT_ONCE]| {
        for i in 0..ROWS_AT_ONCE {
            if y + (i as i32) < last {
                step(y + i as i32, rows[i]);
            }
        }
    });
}

/// Sweeps down the rows `first..last` in groups of `ROWS`. The last group may contain rows after
/// the last.
#[inline(always)]
pub(crate) fn sweep_groups<T: Copy, const ROWS: usize>(
    first: i32,
    last: i32,
    fetch: impl Fn(i32) -> T,
    mut step: impl FnMut(i32, [T; ROWS]),
) {
    let mut y = first;
    while y < last {
        step(y, array::from_fn(|i| fetch(y + i as i32)));
        y += ROWS as i32;
    }
}

/// Adds a row to a ring of the latest rows, the newest first, and drops the oldest.
#[inline(always)]
pub(crate) fn push<T: Copy, const ROWS: usize>(ring: &mut [T; ROWS], row: T) {
    for i in (1..ROWS).rev() {
        ring[i] = ring[i - 1];
    }
    ring[0] = row;
}
