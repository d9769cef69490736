//! The mask, which tells where corners are.

use crate::Simt;

/// Bytes, of which those that are not 0 let their pixels have a corner; rows are a multiple of 4 apart.
#[derive(Clone, Copy)]
pub(super) struct Mask<S: Simt> {
    s: S,
    bytes: S::Buffer<u8>,
    /// From row to row; 0 where there is no mask.
    pitch: u32,
}

impl<S: Simt> Mask<S> {
    #[inline(always)]
    pub(super) fn new(s: S, bytes: S::Buffer<u8>, pitch: u32) -> Self {
        Self { s, bytes, pitch }
    }

    /// Whether there is one.
    #[inline(always)]
    pub(super) fn exists(self) -> bool {
        self.pitch != 0
    }

    /// Whether the pixel at x, y may have a corner.
    #[inline(always)]
    pub(super) fn allows(self, x: u32, y: u32) -> bool {
        !self.exists()
            || self.s.load_constant(self.bytes, self.s.product(y, self.pitch) as usize + x as usize) != 0
    }

    /// The same of the image of this row of blocks, of those of a stack of images `height` high.
    #[inline(always)]
    pub(super) fn allows_in_stack(self, height: u32, x: u32, y: u32) -> bool {
        !self.exists() || self.four(height, x & !3, y) >> (8 * (x & 3)) & 0xFF != 0
    }

    /// Four bytes of row `y`, from column `x` on, a multiple of 4, of the mask of this row of blocks, of those of a stack of images `height` high.
    #[inline(always)]
    pub(super) fn four(self, height: u32, x: u32, y: u32) -> u32 {
        let above = self.s.block_row() as usize * height as usize + y as usize;
        self.s.load_four(self.bytes, above * self.pitch as usize + x as usize)
    }
}
