//! An image that has been read: gray or RGB, of 8 or 16 bits or of floats.

use std::ops::Deref;

use anyhow::{Context, Result};
use harris_core::{Error, ImageView};
use image::{DynamicImage, GrayImage, ImageBuffer, Luma};

use super::limits::zeros;

/// An image that has been read: gray or RGB, of 8 or 16 bits or of floats.
///
/// It dereferences to an image to draw on. [`DynamicImage`] has no gray floats: their samples are
/// kept beside an 8-bit image of the same size, in which 1 is white. [`ImageView`] has the samples.
#[derive(Debug)]
pub struct Picture {
    shown: DynamicImage,
    gray_f32: Option<ImageBuffer<Luma<f32>, Vec<f32>>>,
}

impl Picture {
    pub(super) fn gray_f32(width: u32, height: u32, samples: Vec<f32>) -> Result<Self> {
        let mut shown = zeros(samples.len())?;
        for (shown, sample) in shown.iter_mut().zip(&samples) {
            // Not a number becomes 0.
            *shown = (sample.clamp(0.0, 1.0) * 255.0).round() as u8;
        }
        let message = "the decoder gave too few samples";
        let shown = GrayImage::from_raw(width, height, shown).context(message)?;
        let gray_f32 = ImageBuffer::from_raw(width, height, samples).context(message)?;
        Ok(Self { shown: shown.into(), gray_f32: Some(gray_f32) })
    }

    /// Returns the image to draw on. Gray floats become 8-bit.
    #[must_use]
    pub fn into_dynamic(self) -> DynamicImage {
        self.shown
    }

    /// Returns the image to draw on, which is drawn on in place.
    pub(crate) fn shown_mut(&mut self) -> &mut DynamicImage {
        &mut self.shown
    }
}

impl From<DynamicImage> for Picture {
    fn from(image: DynamicImage) -> Self {
        Self { shown: image, gray_f32: None }
    }
}

impl Deref for Picture {
    type Target = DynamicImage;

    fn deref(&self) -> &DynamicImage {
        &self.shown
    }
}

impl<'a> TryFrom<&'a Picture> for ImageView<'a> {
    type Error = Error;

    fn try_from(picture: &'a Picture) -> Result<Self, Error> {
        match &picture.gray_f32 {
            Some(samples) => ImageView::try_from(samples),
            None => ImageView::try_from(&picture.shown),
        }
    }
}
