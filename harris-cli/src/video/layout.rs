//! The size of frames and its limits.

use super::error::Error;

/// The largest side of a frame: the library's limit.
pub const MAX_SIDE: u32 = harris_core::MAX_SIDE as u32;

/// The size of frames, and how their samples are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Bits of a sample. Those of more than 8 take two bytes, the low one first.
    pub(super) bits: u32,
    /// Bytes of chroma and alpha after the luma.
    pub(super) rest: u64,
}

impl Layout {
    /// Checks the sides and the number of pixels, before memory is taken for them.
    pub(super) fn check(self, max_pixels: u64) -> Result<Self, Error> {
        for (name, side) in [("width", self.width), ("height", self.height)] {
            if !(1..=MAX_SIDE).contains(&side) {
                return Err(Error::Header(format!("the {name} {side} is not from 1 to {MAX_SIDE}")));
            }
        }
        let (width, height) = (self.width, self.height);
        if self.pixels() > max_pixels {
            return Err(Error::Header(format!(
                "a frame of {width} x {height} has more than the limit of {max_pixels} pixels"
            )));
        }
        Ok(self)
    }

    pub(super) fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}
