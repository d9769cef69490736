//! Sources of frames: a folder of images, a Y4M file, standard input.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::input;
use anyhow::{Context, Result};
use image::{DynamicImage, GrayImage, ImageBuffer, Luma};

/// A source of frames.
pub(crate) enum Frames {
    /// Image files in the order of their names, and whether their colours are used.
    Files(std::vec::IntoIter<PathBuf>, bool),
    /// A video, of which only the luma is used.
    Video(Box<y4m::Decoder<Box<dyn Read>>>),
}

impl Frames {
    /// Opens a folder of images, an image, a Y4M file, or, for `-`, standard input in Y4M. `color`
    /// tells whether the colours of images are used.
    pub(crate) fn open(path: &Path, color: bool) -> Result<Self> {
        if path.is_dir() || is_image(path) {
            return Ok(Self::Files(input::expand(&[path.to_owned()])?.into_iter(), color));
        }
        let bytes: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            Box::new(BufReader::with_capacity(1 << 20, file))
        };
        let decoder = y4m::decode(bytes)
            .map_err(|error| anyhow::anyhow!("{} is not a Y4M video: {error}", path.display()))?;
        Ok(Self::Video(Box::new(decoder)))
    }

    /// Returns the next frame, of 8 or 16 bits; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Result<DynamicImage>> {
        match self {
            Self::Files(files, color) => Some(input::read_image(&files.next()?, *color)),
            Self::Video(decoder) => {
                let (width, height) = (decoder.get_width(), decoder.get_height());
                let depth = decoder.get_bit_depth();
                match decoder.read_frame() {
                    Ok(frame) => Some(luma(frame.get_y_plane(), width, height, depth)),
                    Err(y4m::Error::EOF) => None,
                    Err(error) => Some(Err(anyhow::anyhow!("the video ends early: {error}"))),
                }
            }
        }
    }
}

fn is_image(path: &Path) -> bool {
    image::ImageFormat::from_path(path).is_ok_and(|format| format.reading_enabled())
}

/// Converts a plane of samples of `depth` bits to 8 or 16 bits. Samples of more than 8 bits take
/// two bytes.
fn luma(plane: &[u8], width: usize, height: usize, depth: usize) -> Result<DynamicImage> {
    let (columns, rows) = (u32::try_from(width)?, u32::try_from(height)?);
    let message = "the video's frames do not have its size";
    if depth == 8 {
        let image = GrayImage::from_raw(columns, rows, plane.to_vec()).context(message)?;
        return Ok(DynamicImage::ImageLuma8(image));
    }
    let shift = 16_usize.checked_sub(depth).context("samples of more than 16 bits")?;
    let samples = plane.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]]) << shift).collect();
    let image: ImageBuffer<Luma<u16>, Vec<u16>> =
        ImageBuffer::from_raw(columns, rows, samples).context(message)?;
    Ok(DynamicImage::ImageLuma16(image))
}
