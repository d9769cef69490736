//! Decodes image files of all formats, after the checks of each.

use std::cell::Cell;
use std::io::Cursor;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use anyhow::{Context, Result, anyhow, bail, ensure};
use image::codecs::bmp::BmpDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ColorType, ImageDecoder, Limits};
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::format::Format;
use super::limits::{check_length, check_size, probe, zeros};
use super::raster::{Raster, Samples};
use super::{bmp, jpeg, png, pnm, tiff, webp};

/// Memory that decoders take besides samples, at most.
const WORKSPACE: u64 = 1 << 20;

/// Tells a format by the first 12 bytes of a file.
///
/// # Errors
/// It is none that can be read.
pub(super) fn format(start: &[u8]) -> Result<Format> {
    Format::of(start).context("it is not a PNG, JPEG, BMP, TIFF, WebP, PBM, PGM, PPM or PAM file")
}

/// Decodes a file. Returns its image as it is stored, and the orientation of its tag.
///
/// # Errors
/// The file is damaged or truncated, of an unsupported kind, or claims more pixels than it can hold
/// or than are allowed; there is not enough memory.
pub(super) fn decode(bytes: &[u8], max_pixels: u64) -> Result<(Raster, Orientation)> {
    let format = format(bytes)?;
    without_panic(|| match format {
        Format::Pnm => Ok((pnm::read(bytes, max_pixels)?, Orientation::NoTransforms)),
        Format::Tiff => tiff::read(bytes, max_pixels),
        Format::Jpeg => read_jpeg(bytes, max_pixels),
        Format::Png => {
            let checked = png::check(bytes, max_pixels)?;
            let limits = limits(max_pixels);
            Ok((read(PngDecoder::with_limits(Cursor::new(bytes), limits)?, 1)?, orientation(checked.exif)))
        }
        Format::WebP => {
            let checked = webp::check(bytes, max_pixels)?;
            // Planes, a frame and the canvas of an animation, each of at most four bytes a pixel.
            Ok((read(WebPDecoder::new(Cursor::new(bytes))?, 4)?, orientation(checked.exif)))
        }
        Format::Bmp => {
            bmp::check(bytes, max_pixels)?;
            let decoder = BmpDecoder::new(Cursor::new(bytes))?;
            let palette = decoder.get_palette();
            let gray = palette.is_some_and(|colors| colors.iter().all(|[r, g, b]| r == g && g == b));
            let raster = read(decoder, 1)?;
            // A palette of grays makes a gray image: all weights are of equal samples.
            Ok((if gray { raster.luma() } else { raster }, Orientation::NoTransforms))
        }
    })
}

/// Reads the orientation in Exif data; none if they have no valid one.
fn orientation(exif: Option<&[u8]>) -> Orientation {
    exif.and_then(Orientation::from_exif_chunk).unwrap_or(Orientation::NoTransforms)
}

/// Limits of the decoders of the crate `image`: 8 bytes a pixel, which is RGB and alpha of 16 bits.
fn limits(max_pixels: u64) -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(max_pixels.saturating_mul(8).saturating_add(WORKSPACE));
    limits
}

fn read_jpeg(bytes: &[u8], max_pixels: u64) -> Result<(Raster, Orientation)> {
    let (mut size, mut channels, mut coefficients) = ((0, 0), 0, 0);
    let checked = jpeg::check(bytes, |frame| {
        size = (frame.width.into(), frame.height.into());
        check_size(size.0, size.1, max_pixels)?;
        check_length(size, frame.blocks(), bytes.len() as u64, 8)?;
        channels = if frame.channels() == 1 { 1 } else { 3 };
        // A progressive decoder keeps all coefficients, of two bytes each.
        coefficients = if frame.is_progressive() { frame.blocks() * 128 } else { 0 };
        Ok(())
    })?;
    let (width, height) = (usize::try_from(size.0)?, usize::try_from(size.1)?);
    let number = width * height * channels;
    let samples = if checked.usual {
        let mut samples: Vec<u8> = zeros(number)?;
        probe(coefficients + size.0 * 512 + WORKSPACE)?;
        let color = if channels == 1 { ColorSpace::Luma } else { ColorSpace::RGB };
        let options = DecoderOptions::default()
            .set_strict_mode(false)
            .set_max_width(1 << 16)
            .set_max_height(1 << 16)
            .jpeg_set_out_colorspace(color);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(&checked.bytes[..]), options);
        let decoded = decoder.decode_into(&mut samples);
        decoded.map_err(|error| anyhow!("the JPEG is damaged or not supported: {error:?}"))?;
        samples
    } else {
        // Coefficients or planes, and samples twice.
        probe(coefficients + 4 * number as u64 + size.0 * 512 + WORKSPACE)?;
        let mut decoder = jpeg_decoder::Decoder::new(&checked.bytes[..]);
        let samples = decoder.decode()?;
        ensure!(samples.len() == number, "JPEG of this kind in CMYK is not supported");
        samples
    };
    Ok((Raster { width, height, channels, samples: Samples::U8(samples) }, orientation(checked.exif)))
}

/// Reads the image of a decoder, which needs up to `factor` times the memory of its samples.
fn read(mut decoder: impl ImageDecoder, factor: u64) -> Result<Raster> {
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    let total = decoder.total_bytes();
    decoder.set_limits(limits(total))?;
    let (channels, number) = (color.channel_count().into(), usize::try_from(total)?);
    let samples = match color {
        ColorType::L8 | ColorType::La8 | ColorType::Rgb8 | ColorType::Rgba8 => {
            let mut samples = zeros(number)?;
            probe(total * (factor - 1) + WORKSPACE)?;
            decoder.read_image(&mut samples)?;
            Samples::U8(samples)
        }
        ColorType::L16 | ColorType::La16 | ColorType::Rgb16 | ColorType::Rgba16 => {
            let mut samples: Vec<u16> = zeros(number / 2)?;
            probe(total * (factor - 1) + WORKSPACE)?;
            decoder.read_image(bytemuck::cast_slice_mut(&mut samples))?;
            Samples::U16(samples)
        }
        other => bail!("images of {other:?} samples are not supported"),
    };
    Ok(Raster { width: width as usize, height: height as usize, channels, samples })
}

thread_local! {
    /// Whether this thread is in a decoder, whose panics are errors.
    static DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder. A panic in it, which is a fault of its crate, becomes an error of the file.
fn without_panic<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !DECODING.get() {
                usual(info);
            }
        }));
    });
    let outer = DECODING.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    DECODING.set(outer);
    result.ok().context("it is damaged: its decoder gave up")?
}
