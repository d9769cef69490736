//! Reading image files: 8- and 16-bit PNG, JPEG, PGM and PPM.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use image::{DynamicImage, ImageBuffer, ImageFormat, ImageReader, Limits, Luma, Rgb};

/// File extensions of images.
const ENDINGS: [&str; 7] = ["png", "jpg", "jpeg", "pgm", "ppm", "pnm", "pbm"];

/// Reads an image for detection. A gray file stays gray. A colour file becomes RGB if `color` is
/// true, else luma.
///
/// An alpha channel is dropped. Samples stay 8- or 16-bit.
///
/// # Errors
/// The file cannot be read, is truncated, has an unknown format, or a format other than its name
/// says.
pub fn read_image(path: &Path, color: bool) -> Result<DynamicImage> {
    let image = decode(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(match (image.color().has_color(), color) {
        (false, _) => without_alpha(image),
        (true, true) => rgb(image),
        (true, false) => luma(image),
    })
}

/// Reads a mask: 255 where a sample of the file is not zero, else 0.
///
/// # Errors
/// See [`read_image`].
pub fn read_mask(path: &Path) -> Result<image::GrayImage> {
    let mask = rgb(read_image(path, true)?).into_rgb16();
    Ok(ImageBuffer::from_fn(mask.width(), mask.height(), |x, y| {
        Luma([if mask.get_pixel(x, y).0 == [0; 3] { 0 } else { 255 }])
    }))
}

/// Lists the files to read: each input that is a file, and the image files, by name, of each that
/// is a folder.
///
/// # Errors
/// A folder cannot be listed, or has no image.
pub fn expand(inputs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            files.push(input.clone());
            continue;
        }
        let entries = fs::read_dir(input).with_context(|| format!("cannot list {}", input.display()))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("cannot list {}", input.display()))?.path();
            if path.is_file() && ending(&path).is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
                found.push(path);
            }
        }
        ensure!(!found.is_empty(), "{} has no PNG, JPEG, PGM or PPM file", input.display());
        found.sort();
        files.append(&mut found);
    }
    Ok(files)
}

fn decode(path: &Path) -> Result<DynamicImage> {
    let bytes = fs::read(path)?;
    let mut reader = ImageReader::new(Cursor::new(&bytes)).with_guessed_format()?;
    let Some(format) = reader.format() else {
        bail!("it is not a PNG, JPEG, PGM or PPM file");
    };
    if let Some(named) = ending(path).and_then(ImageFormat::from_extension)
        && named != format
    {
        bail!("its extension is that of {named:?}, but its content is {format:?}");
    }
    if format == ImageFormat::Jpeg {
        check_jpeg(&bytes)?;
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(4 << 30);
    reader.limits(limits);
    Ok(reader.decode()?)
}

/// Checks that a JPEG is complete. The decoder of `image` would fill missing parts with gray; this
/// one has a strict mode.
fn check_jpeg(bytes: &[u8]) -> Result<()> {
    use zune_jpeg::JpegDecoder;
    use zune_jpeg::zune_core::bytestream::ZCursor;
    use zune_jpeg::zune_core::options::DecoderOptions;

    let options =
        DecoderOptions::default().set_strict_mode(true).set_max_width(1 << 16).set_max_height(1 << 16);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    match decoder.decode() {
        Ok(_) => Ok(()),
        Err(error) => bail!("the JPEG is damaged or truncated: {error:?}"),
    }
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}

fn without_alpha(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageLumaA8(_) => image.into_luma8().into(),
        DynamicImage::ImageLumaA16(_) => image.into_luma16().into(),
        gray => gray,
    }
}

fn rgb(image: DynamicImage) -> DynamicImage {
    match image {
        DynamicImage::ImageRgb16(_) | DynamicImage::ImageRgba16(_) | DynamicImage::ImageLuma16(_) => {
            image.into_rgb16().into()
        }
        other => other.into_rgb8().into(),
    }
}

/// Computes ITU-R BT.601 luma in 15-bit integers, 0.299 R + 0.587 G + 0.114 B: the gray of OpenCV's
/// `cvtColor`.
fn luma(image: DynamicImage) -> DynamicImage {
    let weigh = |Rgb([r, g, b]): Rgb<u32>| (9798 * r + 19235 * g + 3735 * b + (1 << 14)) >> 15;
    match rgb(image) {
        DynamicImage::ImageRgb16(buffer) => ImageBuffer::from_fn(buffer.width(), buffer.height(), |x, y| {
            Luma([weigh(Rgb(buffer.get_pixel(x, y).0.map(u32::from))) as u16])
        })
        .into(),
        other => {
            let buffer = other.into_rgb8();
            ImageBuffer::from_fn(buffer.width(), buffer.height(), |x, y| {
                Luma([weigh(Rgb(buffer.get_pixel(x, y).0.map(u32::from))) as u8])
            })
            .into()
        }
    }
}
