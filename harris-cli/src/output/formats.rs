//! The formats of results: CSV, PNG, JPEG, .npy and TIFF.

use std::io::{self, Cursor, Write};

use anyhow::{Context, Result, bail};
use harris_core::Keypoint;
use image::codecs::{jpeg::JpegEncoder, png::PngEncoder};
use image::{ExtendedColorType, ImageEncoder, RgbImage};
use ndarray::Array2;
use ndarray_npy::WriteNpyExt;
use tiff::encoder::{TiffEncoder, colortype::Gray32Float};

use super::target::Format;

/// Quality of JPEGs, of 100: thin coloured lines stay clear.
const JPEG_QUALITY: u8 = 95;

/// Writes keypoints as CSV: the header `x,y,response,scale`, then one line for each, in order.
///
/// # Errors
/// The error of `out`.
pub fn csv(keypoints: &[Keypoint], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "x,y,response,scale")?;
    for k in keypoints {
        writeln!(out, "{}", row(k))?;
    }
    Ok(())
}

/// Formats a keypoint as `x,y,response,scale`. Each number has the fewest digits that parse
/// to the same bits, and no exponent.
#[must_use]
pub fn row(keypoint: &Keypoint) -> String {
    let Keypoint { x, y, response, scale } = *keypoint;
    [x, y, response, scale].map(|number| number.to_string()).join(",")
}

/// Writes an RGB image as PNG or JPEG.
///
/// # Errors
/// The error of `out`, an image that the format cannot hold, or another format.
pub fn picture(image: &RgbImage, format: Format, out: &mut dyn Write) -> Result<()> {
    let (width, height) = image.dimensions();
    match format {
        Format::Png => PngEncoder::new(out).write_image(image, width, height, ExtendedColorType::Rgb8)?,
        Format::Jpeg => JpegEncoder::new_with_quality(out, JPEG_QUALITY).encode(
            image,
            width,
            height,
            ExtendedColorType::Rgb8,
        )?,
        Format::Csv | Format::Npy | Format::Tiff | Format::Parquet | Format::Y4m => {
            bail!("a picture cannot be written as {format:?}")
        }
    }
    Ok(())
}

/// Writes a response map.
///
/// | format | what is written |
/// | --- | --- |
/// | .npy | f32, of shape (height, width) |
/// | TIFF | f32, one sample a pixel |
/// | PNG | a gray picture: 128 is 0, lighter is positive, on a scale of the fourth root |
///
/// # Errors
/// The error of `out`, memory that cannot be had, or another format.
pub fn response(response: &Array2<f32>, format: Format, out: &mut dyn Write) -> Result<()> {
    let (height, width) = response.dim();
    let (columns, rows) = (u32::try_from(width)?, u32::try_from(height)?);
    match format {
        Format::Npy => response.write_npy(out)?,
        Format::Tiff => {
            let standard = response.as_standard_layout();
            let samples = standard.as_slice().context("the response map is not contiguous")?;
            // The encoder goes back to write the directory, which a pipe cannot.
            let mut file = Cursor::new(reserve(4 * samples.len() + 4096)?);
            TiffEncoder::new(&mut file)?.write_image::<Gray32Float>(columns, rows, samples)?;
            out.write_all(file.get_ref())?;
        }
        Format::Png => {
            let picture = visible(response)?;
            PngEncoder::new(out).write_image(&picture, columns, rows, ExtendedColorType::L8)?;
        }
        Format::Csv | Format::Jpeg | Format::Parquet | Format::Y4m => {
            bail!("a response map cannot be written as {format:?}")
        }
    }
    Ok(())
}

/// Makes a gray picture of a response map: 128 is 0, 255 and 1 are the largest magnitude, positive
/// and negative.
///
/// Between them the scale is the fourth root, since Harris's measure grows by the fourth power of
/// contrast.
fn visible(response: &Array2<f32>) -> Result<Vec<u8>> {
    let largest = response.iter().fold(0.0_f64, |most, &value| most.max(f64::from(value).abs()));
    let mut picture = reserve(response.len())?;
    picture.extend(response.iter().map(|&value| {
        let part = if largest > 0.0 { f64::from(value) / largest } else { 0.0 };
        (128.0 + 127.0 * part.abs().sqrt().sqrt().copysign(part)).round() as u8
    }));
    Ok(picture)
}

/// Returns an empty list with capacity for some bytes.
fn reserve(bytes: usize) -> Result<Vec<u8>> {
    let mut list = Vec::new();
    list.try_reserve_exact(bytes).with_context(|| format!("there is no memory for {bytes} bytes"))?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn numbers_are_short_decimals_that_parse_to_the_same_bits() {
        let of = |value: f32| row(&Keypoint { x: value, y: -value, response: value, scale: 1000.0 });
        assert_eq!(of(1000.0), "1000,-1000,1000,1000");
        assert_eq!(of(1e-5), "0.00001,-0.00001,0.00001,1000");
        assert_eq!(of(0.1), "0.1,-0.1,0.1,1000");
        assert_eq!(of(1e15), "1000000000000000,-1000000000000000,1000000000000000,1000");
        for bits in (0..0x7f80_0000_u32).step_by(65_537).chain([1, 0x7f7f_ffff]) {
            let row = of(f32::from_bits(bits));
            let is_plain = |c: char| c.is_ascii_digit() || ".,-".contains(c);
            assert!(row.chars().all(is_plain), "{row}");
            let numbers: Vec<f32> = row.split(',').map(|number| number.parse().unwrap()).collect();
            assert_eq!((numbers[0].to_bits(), numbers[2].to_bits()), (bits, bits));
            assert_eq!(numbers[1].to_bits(), bits | 1 << 31);
        }
    }

    #[test]
    fn response_maps_are_tiffs_of_the_same_bits() {
        let map = array![[1.0, -2.5e-9, 0.0], [f32::MAX, 1e-40, 7.25]];
        let mut file = Vec::new();
        response(&map, Format::Tiff, &mut file).unwrap();
        let mut decoder = tiff::decoder::Decoder::new(Cursor::new(file)).unwrap();
        assert_eq!(decoder.dimensions().unwrap(), (3, 2));
        let tiff::decoder::DecodingResult::F32(samples) = decoder.read_image().unwrap() else {
            panic!("the samples are f32")
        };
        assert!(samples.iter().zip(&map).all(|(a, b)| a.to_bits() == b.to_bits()));
    }

    #[test]
    fn pictures_of_response_maps_show_sign_and_magnitude() {
        assert_eq!(
            visible(&array![[16.0, 1.0, 0.0], [-1.0, -16.0, -0.0]]).unwrap(),
            [255, 192, 128, 65, 1, 128]
        );
        assert_eq!(visible(&array![[0.0, 0.0]]).unwrap(), [128, 128]);
        // Values whose quotient would overflow, or lose its digits, in f32.
        assert_eq!(visible(&array![[f32::MAX, 1e-45]]).unwrap(), [255, 128]);
        assert_eq!(visible(&array![[1e-45, -1e-45]]).unwrap(), [255, 1]);
    }

    #[test]
    fn pictures_are_of_the_format_asked_for() {
        let image = RgbImage::from_pixel(9, 5, image::Rgb([200, 30, 30]));
        for (format, expected) in
            [(Format::Png, image::ImageFormat::Png), (Format::Jpeg, image::ImageFormat::Jpeg)]
        {
            let mut file = Vec::new();
            picture(&image, format, &mut file).unwrap();
            assert_eq!(image::guess_format(&file).unwrap(), expected);
        }
        assert!(picture(&image, Format::Npy, &mut Vec::new()).is_err());
        assert!(picture(&RgbImage::new(70_000, 1), Format::Jpeg, &mut Vec::new()).is_err());
    }
}
