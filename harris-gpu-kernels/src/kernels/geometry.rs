//! Places in an image, and what stands for those outside.

use super::number::Number;
use crate::abi::border;
use crate::{Simt, Word};

/// The size of an image.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Size {
    #[inline(always)]
    pub(crate) fn pixels(self) -> u32 {
        self.width * self.height
    }

    /// The number of the pixel at column x, row y.
    #[inline(always)]
    pub(crate) fn number(self, x: u32, y: u32) -> u32 {
        y * self.width + x
    }

    /// Column and row of pixel number `i`.
    #[inline(always)]
    pub(crate) fn place(self, i: u32) -> (u32, u32) {
        (i % self.width, i / self.width)
    }

    /// Whether the pixel lies at least so many pixels away from the left and upper edges, and so many from the others.
    #[inline(always)]
    pub(crate) fn within_frame(self, (before, behind): (u32, u32), x: u32, y: u32) -> bool {
        let inside = |i: u32, len: u32| i >= before && len - i > behind;
        inside(x, self.width) && inside(y, self.height)
    }

    /// Whether the pixel lies at least `frame` pixels away from the edges.
    #[inline(always)]
    pub(crate) fn within(self, frame: u32, x: u32, y: u32) -> bool {
        let inside = |i: u32, len: u32| i >= frame && len - i > frame;
        inside(x, self.width) && inside(y, self.height)
    }
}

/// Where place `i` of a line of `len` samples is read; `None` where it is zero.
#[inline(always)]
pub(crate) fn inside(rule: u32, i: i32, len: u32) -> Option<u32> {
    if (i as u32) < len {
        return Some(i as u32);
    }
    match rule {
        border::REFLECT => {
            // A line of one sample repeats it: the period is then 1.
            let last = len as i32 - 1;
            let period = (2 * last).max(1);
            let place = i % period;
            let place = if place < 0 { place + period } else { place };
            Some(if place > last { period - place } else { place } as u32)
        }
        border::REPLICATE => Some(if i < 0 { 0 } else { len - 1 }),
        _ => None,
    }
}

/// A plane of a stack that goes on beyond its edges.
#[derive(Clone, Copy)]
pub(crate) struct Plane<S: Simt, T: Word> {
    s: S,
    buffer: S::Buffer<T>,
    start: usize,
    size: Size,
    rule: u32,
}

impl<S: Simt, T: Number> Plane<S, T> {
    /// The plane that belongs to the thread's row of blocks.
    #[inline(always)]
    pub(crate) fn new(s: S, buffer: S::Buffer<T>, size: Size, rule: u32) -> Self {
        Self::numbered(s, buffer, size, rule, s.block_row())
    }

    /// Plane number `plane`.
    #[inline(always)]
    pub(crate) fn numbered(s: S, buffer: S::Buffer<T>, size: Size, rule: u32, plane: u32) -> Self {
        Self { s, buffer, start: plane as usize * size.pixels() as usize, size, rule }
    }

    /// The column that stands for column x; none where samples are zero.
    #[inline(always)]
    pub(crate) fn column(self, x: i32) -> Option<u32> {
        inside(self.rule, x, self.size.width)
    }

    /// The row that stands for row y; none where samples are zero.
    #[inline(always)]
    pub(crate) fn row(self, y: i32) -> Option<u32> {
        inside(self.rule, y, self.size.height)
    }

    /// The sample there.
    #[inline(always)]
    pub(crate) fn sample(self, row: Option<u32>, column: Option<u32>) -> T {
        match (row, column) {
            (Some(row), Some(column)) => {
                let row = self.start + row as usize * self.size.width as usize;
                self.s.load_constant(self.buffer, row + column as usize)
            }
            _ => T::ZERO,
        }
    }
}

/// Where the plane of the thread's row of blocks starts in a stack.
#[inline(always)]
pub(crate) fn start<S: Simt>(s: S, size: Size) -> usize {
    s.block_row() as usize * size.pixels() as usize
}
