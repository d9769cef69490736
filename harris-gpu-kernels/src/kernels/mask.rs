//! The mask of pixels where corners may lie.

use crate::Simt;

/// A mask, a byte a pixel: 0 where no corner may lie. The row pitch is a multiple of 4.
#[derive(Clone, Copy)]
pub(super) struct Mask<S: Simt> {
    s: S,
    bytes: S::Buffer<u8>,
    /// Bytes from one row to the next; 0 if there is no mask.
    pitch: u32,
}

impl<S: Simt> Mask<S> {
    #[inline(always)]
    pub(super) fn new(s: S, bytes: S::Buffer<u8>, pitch: u32) -> Self {
        Self { s, bytes, pitch }
    }

    /// Whether there is a mask.
    #[inline(always)]
    pub(super) fn exists(self) -> bool {
        self.pitch != 0
    }

    /// Whether a corner may lie at `x`, `y`.
    #[inline(always)]
    pub(super) fn allows(self, x: u32, y: u32) -> bool {
        !self.exists()
            || self.s.load_constant(self.bytes, self.s.mul_wide(y, self.pitch) as usize + x as usize) != 0
    }

    /// Whether a corner may lie at `x`, `y` of the image whose index in a stack is the block's row
    /// in the grid.
    ///
    /// The images of the stack are `height` rows high.
    #[inline(always)]
    pub(super) fn allows_in_stack(self, height: u32, x: u32, y: u32) -> bool {
        !self.exists() || self.four_bytes(height, x & !3, y) >> (8 * (x & 3)) & 0xFF != 0
    }

    /// Four bytes of row `y` from column `x`, a multiple of 4, on, the first in the low end.
    ///
    /// The image is the one whose index in a stack is the block's row in the grid; the images are
    /// `height` rows high.
    #[inline(always)]
    pub(super) fn four_bytes(self, height: u32, x: u32, y: u32) -> u32 {
        let above = self.s.block_row() as usize * height as usize + y as usize;
        self.s.load_four_bytes(self.bytes, above * self.pitch as usize + x as usize)
    }
}
