//! Size, sample type and memory layout of the images that an execution works on.

use harris_core::ImageView;

use crate::device::{Depth, Resident};

/// Samples: rows of images that are uploaded start at multiples of so many.
pub(crate) const ROW_ALIGNMENT: usize = 4;

/// Bytes: rows of masks that are uploaded start at multiples of so many.
const MASK_ALIGNMENT: usize = 4;

/// Size, sample type and memory layout of images on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// One or three.
    pub channels: u32,
    /// Sample type.
    pub depth: Depth,
    /// Samples from row to row.
    pub stride: usize,
    /// Bytes from row to row of the mask; 0 where there is none.
    pub mask_pitch: usize,
    /// Number of images that are worked on together.
    pub images: usize,
}

impl Shape {
    /// Shape of `images` images like this one, when they are uploaded.
    #[must_use]
    pub fn new(image: &ImageView<'_>, images: usize) -> Self {
        Self {
            width: image.width() as u32,
            height: image.height() as u32,
            channels: image.channels() as u32,
            depth: Depth::of(image),
            stride: (image.width() * image.channels()).next_multiple_of(ROW_ALIGNMENT),
            mask_pitch: mask_pitch(image),
            images,
        }
    }

    /// Shape of an image that is in the device's memory.
    #[must_use]
    pub fn resident<M>(image: &Resident<M>) -> Self {
        Self {
            width: image.width as u32,
            height: image.height as u32,
            channels: image.channels as u32,
            depth: image.depth,
            stride: image.pitch / image.depth.bytes(),
            mask_pitch: image.mask.as_ref().map_or(0, |&(_, pitch)| pitch),
            images: 1,
        }
    }

    /// Whether images have a mask.
    #[must_use]
    pub fn is_masked(&self) -> bool {
        self.mask_pitch > 0
    }

    /// Pixels of one image.
    pub(crate) fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Bytes from row to row of the samples.
    pub(crate) fn pitch(&self) -> usize {
        self.stride * self.depth.bytes()
    }

    /// Bytes of one image.
    pub(crate) fn bytes(&self) -> usize {
        self.pitch() * self.height as usize
    }

    /// Whether all rows start at a multiple of [`ROW_ALIGNMENT`] samples.
    pub(crate) fn is_aligned(&self) -> bool {
        self.stride.is_multiple_of(ROW_ALIGNMENT)
    }
}

/// Bytes from row to row of an uploaded mask; 0 where the image has none.
pub(crate) fn mask_pitch(image: &ImageView<'_>) -> usize {
    image.mask().map_or(0, |mask| mask.width().next_multiple_of(MASK_ALIGNMENT))
}
