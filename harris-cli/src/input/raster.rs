//! Decoded samples, and what is done with them: colours, alpha, orientation.

use anyhow::{Context, Result};
use image::metadata::Orientation;
use image::{DynamicImage, ImageBuffer};

use super::limits::zeros;
use super::picture::Picture;

/// Samples by their type.
pub(super) enum Samples {
    U8(Vec<u8>),
    U16(Vec<u16>),
    F32(Vec<f32>),
}

/// An image with 1 to 4 interleaved channels: gray, gray and alpha, RGB, RGB and alpha.
pub(super) struct Raster {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: usize,
    pub(super) samples: Samples,
}

/// Applies an expression to the samples, whatever their type, which it changes or keeps.
macro_rules! map {
    ($samples:expr, $values:ident => $body:expr) => {
        match $samples {
            Samples::U8($values) => Samples::U8($body),
            Samples::U16($values) => Samples::U16($body),
            Samples::F32($values) => Samples::F32($body),
        }
    };
}

impl Raster {
    /// Drops the alpha channel. Samples stay as they are stored: nothing is blended.
    pub(super) fn without_alpha(self) -> Self {
        let (from, to) = match self.channels {
            2 => (2, 1),
            4 => (4, 3),
            _ => return self,
        };
        Self { channels: to, samples: map!(self.samples, v => drop_alpha(v, from, to)), ..self }
    }

    /// Converts RGB to luma. Gray stays as it is.
    pub(super) fn luma(self) -> Self {
        if self.channels != 3 {
            return self;
        }
        let samples = match self.samples {
            Samples::U8(v) => Samples::U8(weigh(v, |[r, g, b]| fixed([r, g, b].map(u32::from)) as u8)),
            Samples::U16(v) => Samples::U16(weigh(v, |[r, g, b]| fixed([r, g, b].map(u32::from)) as u16)),
            Samples::F32(v) => Samples::F32(weigh(v, |[r, g, b]| 0.299 * r + 0.587 * g + 0.114 * b)),
        };
        Self { channels: 1, samples, ..self }
    }

    /// Turns the image as its Exif orientation says.
    pub(super) fn turned(self, orientation: Orientation) -> Result<Self> {
        use Orientation as O;
        let swapped = match orientation {
            O::NoTransforms => return Ok(self),
            O::FlipHorizontal | O::Rotate180 | O::FlipVertical => false,
            O::Rotate90FlipH | O::Rotate90 | O::Rotate270FlipH | O::Rotate270 => true,
        };
        let (columns, rows) = (self.width, self.height);
        let (width, height) = if swapped { (rows, columns) } else { (columns, rows) };
        // Where the pixel at (x, y) of the result is stored.
        let source = |x: usize, y: usize| match orientation {
            O::NoTransforms => (x, y),
            O::FlipHorizontal => (columns - 1 - x, y),
            O::Rotate180 => (columns - 1 - x, rows - 1 - y),
            O::FlipVertical => (x, rows - 1 - y),
            O::Rotate90FlipH => (y, x),
            O::Rotate90 => (y, rows - 1 - x),
            O::Rotate270FlipH => (columns - 1 - y, rows - 1 - x),
            O::Rotate270 => (columns - 1 - y, x),
        };
        let channels = self.channels;
        let samples = map!(self.samples, old => {
            let mut new = zeros(old.len())?;
            for y in 0..height {
                let line = &mut new[y * width * channels..][..width * channels];
                for (x, pixel) in line.chunks_exact_mut(channels).enumerate() {
                    let (from_x, from_y) = source(x, y);
                    pixel.copy_from_slice(&old[(from_y * columns + from_x) * channels..][..channels]);
                }
            }
            new
        });
        Ok(Self { width, height, channels, samples })
    }

    /// Returns a gray or RGB image for detection.
    pub(super) fn picture(self) -> Result<Picture> {
        let (width, height) = (u32::try_from(self.width)?, u32::try_from(self.height)?);
        /// Makes a buffer of this variant.
        macro_rules! image {
            ($variant:ident, $samples:expr) => {
                ImageBuffer::from_raw(width, height, $samples).map(|b| DynamicImage::$variant(b).into())
            };
        }
        let picture = match (self.samples, self.channels) {
            (Samples::U8(v), 1) => image!(ImageLuma8, v),
            (Samples::U8(v), _) => image!(ImageRgb8, v),
            (Samples::U16(v), 1) => image!(ImageLuma16, v),
            (Samples::U16(v), _) => image!(ImageRgb16, v),
            (Samples::F32(v), 1) => return Picture::gray_f32(width, height, v),
            (Samples::F32(v), _) => image!(ImageRgb32F, v),
        };
        picture.context("the decoder gave too few samples")
    }

    /// Returns a mask: 255 where a sample is not zero, else 0.
    pub(super) fn mask(self) -> Result<image::GrayImage> {
        fn nonzero<T: Default + PartialEq>(v: &[T], channels: usize, mask: &mut [u8]) {
            for (inside, pixel) in mask.iter_mut().zip(v.chunks_exact(channels)) {
                *inside = if pixel.iter().all(|sample| *sample == T::default()) { 0 } else { 255 };
            }
        }
        let mut mask = zeros(self.width * self.height)?;
        match &self.samples {
            Samples::U8(v) => nonzero(v, self.channels, &mut mask),
            Samples::U16(v) => nonzero(v, self.channels, &mut mask),
            Samples::F32(v) => nonzero(v, self.channels, &mut mask),
        }
        ImageBuffer::from_raw(u32::try_from(self.width)?, u32::try_from(self.height)?, mask)
            .context("the decoder gave too few samples")
    }
}

/// Keeps the first `to` of `from` channels, in place.
fn drop_alpha<T: Copy>(mut samples: Vec<T>, from: usize, to: usize) -> Vec<T> {
    let pixels = samples.len() / from;
    for pixel in 0..pixels {
        samples.copy_within(pixel * from..pixel * from + to, pixel * to);
    }
    samples.truncate(pixels * to);
    samples.shrink_to_fit();
    samples
}

/// Replaces each pixel of three samples by one, in place.
fn weigh<T: Copy>(mut samples: Vec<T>, luma: impl Fn([T; 3]) -> T) -> Vec<T> {
    let pixels = samples.len() / 3;
    for pixel in 0..pixels {
        let at = pixel * 3;
        samples[pixel] = luma([samples[at], samples[at + 1], samples[at + 2]]);
    }
    samples.truncate(pixels);
    samples.shrink_to_fit();
    samples
}

/// Computes ITU-R BT.601 luma in 15-bit integers, 0.299 R + 0.587 G + 0.114 B: the gray of OpenCV's
/// `cvtColor`.
fn fixed([r, g, b]: [u32; 3]) -> u32 {
    (9798 * r + 19235 * g + 3735 * b + (1 << 14)) >> 15
}
