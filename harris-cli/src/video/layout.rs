//! The size of frames, their planes, and their limits.

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
    /// What comes after the luma.
    pub(super) chroma: ChromaFormat,
}

/// The planes after the luma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChromaFormat {
    None,
    /// Two planes, of which a sample is for so many columns and rows.
    Subsampled(u32, u32),
    /// Two planes of chroma and one of alpha, of full size.
    FullWithAlpha,
}

impl ChromaFormat {
    /// Returns the columns and rows for which a sample is, and the number of planes.
    pub(super) fn sampling(self) -> (u32, u32, u32) {
        match self {
            Self::None => (1, 1, 0),
            Self::Subsampled(columns, rows) => (columns, rows, 2),
            Self::FullWithAlpha => (1, 1, 3),
        }
    }
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

    /// Returns the bytes of a sample.
    pub(super) fn sample_bytes(self) -> u64 {
        if self.bits > 8 { 2 } else { 1 }
    }

    /// Returns the bytes of a plane after the luma. Sides are at most 32 bits, so that they are at
    /// most 66 bits.
    pub(super) fn plane(self) -> u64 {
        let (columns, rows, _) = self.chroma.sampling();
        let samples =
            u64::from(self.width.div_ceil(columns)).saturating_mul(self.height.div_ceil(rows).into());
        samples.saturating_mul(self.sample_bytes())
    }

    /// Returns the bytes after the luma.
    pub(super) fn rest(self) -> u64 {
        self.plane().saturating_mul(self.chroma.sampling().2.into())
    }
}
