//! Pixels of an image, and the border rules for samples outside it.

use super::choices::match_border;
use super::number::Number;
use crate::{Simt, Word};

/// Width and height of an image.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl Size {
    /// Number of pixels.
    #[inline(always)]
    pub(crate) fn pixels(self) -> u32 {
        self.width * self.height
    }

    /// Index of the pixel at column `x` and row `y`, in row order.
    #[inline(always)]
    pub(crate) fn index(self, x: u32, y: u32) -> u32 {
        y * self.width + x
    }

    /// Column and row of the pixel with index `i`.
    #[inline(always)]
    pub(crate) fn place(self, i: u32) -> (u32, u32) {
        (i % self.width, i / self.width)
    }

    /// Whether the pixel lies outside a frame of the image.
    ///
    /// The frame is `before` pixels wide at the left and upper edges, and `behind` pixels at the
    /// others.
    #[inline(always)]
    pub(crate) fn within_frame(self, (before, behind): (u32, u32), x: u32, y: u32) -> bool {
        let inside = |i: u32, len: u32| i >= before && len - i > behind;
        inside(x, self.width) && inside(y, self.height)
    }

    /// Whether the pixel lies at least `frame` pixels away from all edges.
    #[inline(always)]
    pub(crate) fn within(self, frame: u32, x: u32, y: u32) -> bool {
        let inside = |i: u32, len: u32| i >= frame && len - i > frame;
        inside(x, self.width) && inside(y, self.height)
    }
}

/// Index of the sample that stands for sample `i` of a line of `len` samples; none if the sample is
/// zero.
///
/// `rule` is a border rule of [`abi::border`](crate::abi::border).
#[inline(always)]
pub(crate) fn inside(rule: u32, i: i32, len: u32) -> Option<u32> {
    if (i as u32) < len {
        return Some(i as u32);
    }
    match_border!(rule, {
        REFLECT => {
            // A line of one sample has period 1: all its samples are that one.
            let last = len as i32 - 1;
            let period = (2 * last).max(1);
            let index = i % period;
            let index = if index < 0 { index + period } else { index };
            Some(if index > last { period - index } else { index } as u32)
        },
        REPLICATE => Some(if i < 0 { 0 } else { len - 1 }),
        ZERO => None,
    })
}

/// A plane of a stack, with a border rule for samples outside it.
#[derive(Clone, Copy)]
pub(crate) struct Plane<S: Simt, T: Word> {
    s: S,
    buffer: S::Buffer<T>,
    start: usize,
    size: Size,
    rule: u32,
}

impl<S: Simt, T: Number> Plane<S, T> {
    /// The plane whose index in the stack is the block's row in the grid.
    #[inline(always)]
    pub(crate) fn new(s: S, buffer: S::Buffer<T>, size: Size, rule: u32) -> Self {
        Self::at(s, buffer, size, rule, s.block_row())
    }

    /// The plane with index `plane` in the stack.
    #[inline(always)]
    pub(crate) fn at(s: S, buffer: S::Buffer<T>, size: Size, rule: u32, plane: u32) -> Self {
        Self { s, buffer, start: plane as usize * size.pixels() as usize, size, rule }
    }

    /// The column that stands for column `x`; none if its samples are zero.
    #[inline(always)]
    pub(crate) fn column(self, x: i32) -> Option<u32> {
        inside(self.rule, x, self.size.width)
    }

    /// The row that stands for row `y`; none if its samples are zero.
    #[inline(always)]
    pub(crate) fn row(self, y: i32) -> Option<u32> {
        inside(self.rule, y, self.size.height)
    }

    /// The sample at a row and a column; zero if either is none.
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

/// Index of the first sample of the plane that belongs to the block's row in the grid.
#[inline(always)]
pub(crate) fn start<S: Simt>(s: S, size: Size) -> usize {
    s.block_row() as usize * size.pixels() as usize
}
