//! Columns that threads go down: places are counted on, not divided anew for each pixel, and several rows asked for at once.

use core::array;

use super::geometry::Size;
use crate::Simt;

/// Rows that are asked for before the first of them is used, where each is a few words.
pub(crate) const AT_ONCE: usize = 4;

/// Rows of a column. Threads of a block are neighbouring columns.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) x: u32,
    pub(crate) top: u32,
    pub(crate) bottom: u32,
}

impl Run {
    /// The thread's, of `rows` rows at most: of none where it lies beyond the right edge, or all rows are others'.
    #[inline(always)]
    pub(crate) fn new<S: Simt>(s: S, size: Size, rows: u32) -> Self {
        let strips = size.width.div_ceil(s.threads());
        let (strip, part) = (s.block() % strips, s.block() / strips);
        let x = strip * s.threads() + s.thread();
        let top = (part * rows).min(size.height);
        let bottom = if x < size.width { size.height.min(top + rows) } else { top };
        Self { x, top, bottom }
    }

    /// Goes down its rows: `fetch` asks for what `step` takes.
    #[inline(always)]
    pub(crate) fn down<T: Copy>(self, fetch: impl Fn(u32) -> T, mut step: impl FnMut(u32, T)) {
        let last = self.bottom as i32 - 1;
        down(self.top as i32, last + 1, |y| fetch(y.min(last) as u32), |y, row| step(y as u32, row));
    }
}

/// Goes down the rows from `first` to the one before `last`: `fetch`, which is asked for some of those after them, too, asks for what `step`
/// takes.
#[inline(always)]
pub(crate) fn down<T: Copy>(first: i32, last: i32, fetch: impl Fn(i32) -> T, mut step: impl FnMut(i32, T)) {
    at_once(first, last, fetch, |y, rows: [T; AT_ONCE]| {
        for i in 0..AT_ONCE {
            if y + (i as i32) < last {
                step(y + i as i32, rows[i]);
            }
        }
    });
}

/// The same by groups of rows, of which the last may reach beyond.
#[inline(always)]
pub(crate) fn at_once<T: Copy, const ROWS: usize>(
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

/// A new row at the head of a ring, whose rows are the latest first.
#[inline(always)]
pub(crate) fn push<T: Copy, const ROWS: usize>(ring: &mut [T; ROWS], row: T) {
    for i in (1..ROWS).rev() {
        ring[i] = ring[i - 1];
    }
    ring[0] = row;
}
