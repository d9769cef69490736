//! Places in an image, and what stands for those outside.

use super::number::Number;
use crate::abi::{axis, border};
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

    /// Column and row of pixel number `i`.
    #[inline(always)]
    pub(crate) fn place(self, i: u32) -> (u32, u32) {
        (i % self.width, i / self.width)
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
        Self { s, buffer, start: start(s, size), size, rule }
    }

    /// The sample at x, y.
    #[inline(always)]
    pub(crate) fn at(self, x: i32, y: i32) -> T {
        match (inside(self.rule, x, self.size.width), inside(self.rule, y, self.size.height)) {
            (Some(x), Some(y)) => {
                let i = self.start + y as usize * self.size.width as usize + x as usize;
                self.s.load_constant(self.buffer, i)
            }
            _ => T::ZERO,
        }
    }

    /// The sample `i` places further along an axis.
    #[inline(always)]
    pub(crate) fn along(self, along: u32, x: u32, y: u32, i: i32) -> T {
        let (dx, dy) = if along == axis::ACROSS { (i, 0) } else { (0, i) };
        self.at(x as i32 + dx, y as i32 + dy)
    }
}

/// Where the plane of the thread's row of blocks starts in a stack.
#[inline(always)]
pub(crate) fn start<S: Simt>(s: S, size: Size) -> usize {
    s.block_row() as usize * size.pixels() as usize
}
