//! TIFF and `BigTIFF`: gray and RGB, with or without alpha, of 8 and 16 bits and of floats.
//!
//! Only the first image of a file is read. Gray of fewer bits is scaled to 8.

use std::io::Cursor;

use anyhow::{Result, bail, ensure};
use image::metadata::Orientation;
use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::tags::Tag;

use super::limits::{check_length, check_size, probe, zeros};
use super::raster::{Raster, Samples};

/// Reads an image and its orientation.
///
/// # Errors
/// The file is damaged or truncated, of an unsupported kind, or claims more pixels than it can hold
/// or than are allowed.
pub(super) fn read(bytes: &[u8], max_pixels: u64) -> Result<(Raster, Orientation)> {
    let mut decoder = Decoder::new(Cursor::new(bytes))?;
    let (width, height) = decoder.dimensions()?;
    let size = (u64::from(width), u64::from(height));
    check_size(size.0, size.1, max_pixels)?;
    let (channels, bits) = match decoder.colortype()? {
        ColorType::Gray(bits) => (1, bits),
        ColorType::GrayA(bits) => (2, bits),
        ColorType::RGB(bits) => (3, bits),
        ColorType::RGBA(bits) => (4, bits),
        other => bail!("TIFF of the colour type {other:?} is not supported"),
    };
    ensure!(
        matches!(bits, 8 | 16 | 32 | 64) || (channels == 1 && matches!(bits, 1 | 2 | 4)),
        "TIFF of {bits} bits a sample is not supported"
    );
    claims(&mut decoder, size, channels * u64::from(bits), bytes.len() as u64)?;
    let orientation = decoder.find_tag_unsigned::<u8>(Tag::Orientation).ok().flatten();
    let orientation = orientation.and_then(Orientation::from_exif).unwrap_or(Orientation::NoTransforms);

    let row = (size.0 * channels * u64::from(bits)).div_ceil(8);
    let total = row * size.1;
    // The samples, and a strip or tile of any size.
    probe(2 * total)?;
    let most = usize::try_from(total)?;
    let mut limits = Limits::default();
    limits.decoding_buffer_size = most;
    limits.intermediate_buffer_size = most.saturating_add(1 << 20);
    let mut decoder = decoder.with_limits(limits);
    let mut result = DecodingResult::U8(Vec::new());
    let planes = decoder.read_image_to_buffer(&mut result)?.planes;
    let samples = match result {
        DecodingResult::U8(v) if bits < 8 => Samples::U8(unpack(&v, width as usize, row as usize, bits)?),
        DecodingResult::U8(v) => Samples::U8(interleave(v, planes)?),
        DecodingResult::U16(v) => Samples::U16(interleave(v, planes)?),
        DecodingResult::F32(v) => Samples::F32(interleave(v, planes)?),
        DecodingResult::F16(v) => Samples::F32(interleave(convert(&v, |sample| sample.to_f32())?, planes)?),
        DecodingResult::F64(v) => Samples::F32(interleave(convert(&v, |sample| *sample as f32)?, planes)?),
        _ => bail!("TIFF of signed integers, or of integers of more than 16 bits, is not supported"),
    };
    let channels = usize::try_from(channels)?;
    Ok((Raster { width: width as usize, height: height as usize, channels, samples }, orientation))
}

/// Checks that the file can hold the picture, and that all its parts lie in the file.
fn claims(
    decoder: &mut Decoder<Cursor<&[u8]>>,
    size: (u64, u64),
    bits_per_pixel: u64,
    length: u64,
) -> Result<()> {
    let compression = decoder.find_tag_unsigned::<u16>(Tag::Compression)?.unwrap_or(1);
    let sample_bytes = (size.0 * size.1).saturating_mul(bits_per_pixel).div_ceil(8);
    let (needed, per_byte) = match compression {
        1 => (sample_bytes, 1),
        // CCITT: a bit for each row, at least.
        2..=4 => (size.1, 8),
        5 => (sample_bytes, 2731),
        6 | 7 => (size.0 * size.1, 8 * 64),
        8 | 32946 => (sample_bytes, 1032),
        32773 => (sample_bytes, 64),
        other => bail!("TIFF with the compression {other} is not supported"),
    };
    check_length(size, needed, length, per_byte)?;
    for (offsets, counts) in
        [(Tag::StripOffsets, Tag::StripByteCounts), (Tag::TileOffsets, Tag::TileByteCounts)]
    {
        let offsets = decoder.find_tag_unsigned_vec::<u64>(offsets)?.unwrap_or_default();
        let counts = decoder.find_tag_unsigned_vec::<u64>(counts)?.unwrap_or_default();
        let within =
            |(offset, count): (&u64, &u64)| offset.checked_add(*count).is_some_and(|end| end <= length);
        ensure!(offsets.iter().zip(&counts).all(within), "the TIFF is truncated: it lacks picture data");
    }
    Ok(())
}

/// Interleaves planes, one for each channel.
fn interleave<T: Copy + Default>(planar: Vec<T>, planes: usize) -> Result<Vec<T>> {
    if planes <= 1 {
        return Ok(planar);
    }
    let mut samples = zeros(planar.len())?;
    let plane = planar.len() / planes;
    for (channel, values) in planar.chunks_exact(plane).take(planes).enumerate() {
        for (pixel, value) in samples.chunks_exact_mut(planes).zip(values) {
            pixel[channel] = *value;
        }
    }
    Ok(samples)
}

fn convert<T>(samples: &[T], to: impl Fn(&T) -> f32) -> Result<Vec<f32>> {
    let mut converted = zeros(samples.len())?;
    for (new, old) in converted.iter_mut().zip(samples) {
        *new = to(old);
    }
    Ok(converted)
}

/// Scales samples of 1, 2 or 4 bits, in rows of whole bytes, to 8 bits.
fn unpack(packed: &[u8], width: usize, row: usize, bits: u8) -> Result<Vec<u8>> {
    let mut samples = zeros(width * (packed.len() / row))?;
    let (bits, most) = (usize::from(bits), (1_u8 << bits) - 1);
    for (line, packed) in samples.chunks_exact_mut(width).zip(packed.chunks_exact(row)) {
        for (x, sample) in line.iter_mut().enumerate() {
            let shift = 8 - bits - x * bits % 8;
            *sample = (packed[x * bits / 8] >> shift & most) * (255 / most);
        }
    }
    Ok(samples)
}
