//! Sources of frames: a folder of images, a Y4M file, standard input.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::input::{self, Picture, ReadOptions};
use anyhow::{Context, Result};
use image::{DynamicImage, GrayImage, ImageBuffer, Luma};

/// A source of frames.
pub(crate) enum Frames {
    /// Image files in the order of their names, whether their colours are used, and how they are
    /// read.
    Files(std::vec::IntoIter<PathBuf>, bool, ReadOptions),
    /// Raw gray frames, and their size.
    Raw(input::raw::Frames<Box<dyn Read>>, input::raw::FrameSize),
    /// A video, of which only the luma is used.
    Video(Box<y4m::Decoder<Box<dyn Read>>>),
}

impl Frames {
    /// Opens a folder of images, an image, a Y4M file, or, for `-`, standard input in Y4M. `color`
    /// tells whether the colours of images are used.
    pub(crate) fn open(path: &Path, color: bool, read: &ReadOptions) -> Result<Self> {
        if path.is_dir() || (read.raw.is_none() && input::Format::of_file(path).is_some()) {
            return Ok(Self::Files(input::expand(&[path.to_owned()])?.into_iter(), color, read.clone()));
        }
        let bytes: Box<dyn Read> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            Box::new(BufReader::with_capacity(1 << 20, file))
        };
        if let Some(size) = read.raw {
            let frames = input::raw::Frames::new(bytes, size, read.max_pixels);
            return Ok(Self::Raw(frames.with_context(|| input::name(path))?, size));
        }
        let decoder = y4m::decode(bytes)
            .map_err(|error| anyhow::anyhow!("{} is not a Y4M video: {error}", path.display()))?;
        Ok(Self::Video(Box::new(decoder)))
    }

    /// Returns the next frame, of 8 or 16 bits; `None` after the last.
    pub(crate) fn next(&mut self) -> Option<Result<Picture>> {
        match self {
            Self::Files(files, color, read) => Some(input::read_image(&files.next()?, *color, read)),
            Self::Raw(frames, size) => match frames.read() {
                Ok(samples) => {
                    Some(luma(&samples?, size.width as usize, size.height as usize, 8).map(Picture::from))
                }
                Err(error) => Some(Err(error)),
            },
            Self::Video(decoder) => {
                let (width, height) = (decoder.get_width(), decoder.get_height());
                let depth = decoder.get_bit_depth();
                match decoder.read_frame() {
                    Ok(frame) => Some(luma(frame.get_y_plane(), width, height, depth).map(Picture::from)),
                    Err(y4m::Error::EOF) => None,
                    Err(error) => Some(Err(anyhow::anyhow!("the video ends early: {error}"))),
                }
            }
        }
    }
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
