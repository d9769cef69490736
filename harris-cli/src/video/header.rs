//! What a video says of all its frames.

use super::layout::{ChromaFormat, Layout};

/// What a video says of all its frames: their size, how their samples are stored, their rate and
/// more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub(super) layout: Layout,
    /// The parameters of its line in Y4M, each after a space.
    pub(super) parameters: Vec<u8>,
}

impl Header {
    /// The header of 8-bit gray frames.
    pub(super) fn gray(width: u32, height: u32) -> Self {
        Self::of(Layout { width, height, bits: 8, chroma: ChromaFormat::None }, "mono")
    }

    /// The header of a video of pictures, in colour: 4:4:4, 8 bits, full range. It has 25 frames a
    /// second, as pictures tell no rate.
    #[must_use]
    pub fn of_pictures(width: u32, height: u32) -> Self {
        Self::of(Layout { width, height, bits: 8, chroma: ChromaFormat::Subsampled(1, 1) }, "444")
    }

    fn of(layout: Layout, colour_space: &str) -> Self {
        let Layout { width, height, .. } = layout;
        let parameters =
            format!(" W{width} H{height} F25:1 Ip A1:1 C{colour_space} XCOLORRANGE=FULL").into_bytes();
        Self { layout, parameters }
    }

    /// Returns the width and height of frames.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        (self.layout.width, self.layout.height)
    }
}
