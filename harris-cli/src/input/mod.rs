//! Reading images: PNG, JPEG, BMP, TIFF, WebP, PBM, PGM, PPM, PAM and raw gray frames.
//!
//! - The content of a file tells its format. Names matter only for what is read from folders.
//! - Truncated and damaged files are errors, never images with parts filled in.
//! - What a header claims is checked before memory is taken: see [`MAX_PIXELS`].
//! - An alpha channel is dropped. The other samples stay as they are stored: nothing is blended.
//! - An image is turned as its Exif data say, unless [`ReadOptions::no_orientation`] is set.

mod bmp;
mod decode;
mod files;
mod format;
mod jpeg;
mod limits;
mod picture;
mod png;
mod pnm;
mod raster;
pub mod raw;
mod tiff;
mod webp;

use std::path::Path;

use anyhow::{Context, Result};
use clap::Args;

pub use files::{ENDINGS, expand, has_image_ending, is_stdin, name, name_for_programs};
pub use format::Format;
pub use limits::MAX_PIXELS;
pub use picture::Picture;

use files::Limit;
use raster::Raster;

/// How images are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub struct ReadOptions {
    /// Leave images as they are stored, instead of turning them as their Exif data say
    #[arg(long)]
    pub no_orientation: bool,
    /// Largest number of pixels of an image; larger ones are errors
    #[arg(long, value_name = "NUMBER", default_value_t = MAX_PIXELS, value_parser = limits::max_pixels)]
    pub max_pixels: u64,
    /// Read inputs as raw 8-bit gray frames of this size, without a header
    #[arg(long, value_name = "WxH")]
    pub raw: Option<raw::FrameSize>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { no_orientation: false, max_pixels: MAX_PIXELS, raw: None }
    }
}

/// Reads an image for detection, or standard input for `-`. A gray file stays gray. A colour file
/// becomes RGB if `color` is true, else luma.
///
/// Samples stay 8- or 16-bit or floats. An alpha channel is dropped.
///
/// # Errors
/// The file cannot be read, is damaged or truncated, has an unknown format, or claims more pixels
/// than it can hold or than are allowed. There is not enough memory.
pub fn read_image(path: &Path, color: bool, options: &ReadOptions) -> Result<Picture> {
    with_name(path, || {
        let raster = match options.raw {
            Some(size) => {
                let bytes = files::read(path, &size.limit(options.max_pixels)?, |_| Ok(()))?;
                raw::read(bytes.as_ref(), size)?
            }
            None => read(path, options)?,
        };
        if color { raster.picture() } else { raster.luma().picture() }
    })
}

/// Reads a mask: 255 where a sample of the file is not zero, else 0. An alpha channel does not
/// count.
///
/// # Errors
/// See [`read_image`].
pub fn read_mask(path: &Path, options: &ReadOptions) -> Result<image::GrayImage> {
    with_name(path, || read(path, options)?.mask())
}

/// Decodes an image from memory, as [`read_image`] does from a file.
///
/// # Errors
/// See [`read_image`].
pub fn decode_image(bytes: &[u8], color: bool, options: &ReadOptions) -> Result<Picture> {
    let raster = decode_raster(bytes, options)?;
    if color { raster.picture() } else { raster.luma().picture() }
}

fn with_name<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    read().with_context(|| format!("cannot read {}", name(path)))
}

/// Bytes of a file that are no picture, at most: colour profiles, previews, notes, further images.
const OTHER_BYTES: u64 = 1 << 28;

/// Reads a file of no more bytes than the largest image needs, which is 18 a pixel in plain PPM.
fn read(path: &Path, options: &ReadOptions) -> Result<Raster> {
    let bytes = options.max_pixels.saturating_mul(18).saturating_add(OTHER_BYTES);
    let limit = Limit { bytes, of: "an image of --max-pixels needs".to_owned() };
    let bytes = files::read(path, &limit, |start| decode::format(start).map(drop))?;
    decode_raster(bytes.as_ref(), options)
}

/// Decodes an image, drops its alpha channel and turns it.
fn decode_raster(bytes: &[u8], options: &ReadOptions) -> Result<Raster> {
    let (raster, orientation) = decode::decode(bytes, options.max_pixels)?;
    let raster = raster.without_alpha();
    if options.no_orientation { Ok(raster) } else { raster.turned(orientation) }
}
