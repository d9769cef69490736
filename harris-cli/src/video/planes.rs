//! What a frame has beside its luma, and drawing on all of its planes.

use image::{DynamicImage, ImageBuffer, RgbImage};

use super::header::Header;

/// What a frame of a video has beside its luma, as it is stored: planes of chroma and of alpha, and
/// the parameters of its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planes {
    pub(super) parameters: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

/// A colour of 8 bits: luma, and the differences of blue and of red from it, of which 128 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ycbcr(pub [u8; 3]);

impl Ycbcr {
    /// Converts a colour, as JPEG files have it: BT.601, full range.
    #[must_use]
    pub fn of([r, g, b]: [u8; 3]) -> Self {
        let [r, g, b] = [r, g, b].map(f32::from);
        let y = 0.299 * r + 0.587 * g + 0.114 * b;
        let level = |value: f32| value.round().clamp(0.0, 255.0) as u8;
        Self([level(y), level(128.0 + (b - y) / 1.772), level(128.0 + (r - y) / 1.402)])
    }
}

impl Planes {
    /// Converts a picture to a frame of a video with the header [`Header::of_pictures`].
    #[must_use]
    pub fn of_picture(picture: &RgbImage) -> (DynamicImage, Self) {
        let (width, height) = picture.dimensions();
        let [luma, blue, red] =
            [0, 1, 2].map(|i| picture.pixels().map(|pixel| Ycbcr::of(pixel.0).0[i]).collect::<Vec<u8>>());
        let luma = ImageBuffer::from_raw(width, height, luma).map(DynamicImage::ImageLuma8);
        let luma = luma.expect("a sample for each pixel");
        (luma, Self { parameters: Vec::new(), bytes: [blue, red].concat() })
    }

    /// Draws a colour on a frame: opaque where `coverage`, which has a value for each pixel, is 255,
    /// and not at all where it is 0.
    ///
    /// # Panics
    /// If the frame is not one of a video with this header, or `coverage` has another size.
    pub fn draw(&mut self, header: &Header, luma: &mut DynamicImage, coverage: &[u8], color: Ycbcr) {
        let layout = header.layout;
        assert_eq!(coverage.len() as u64, layout.pixels(), "a value for each pixel");
        let Ycbcr([y, differences @ ..]) = color;
        match luma {
            DynamicImage::ImageLuma8(luma) => {
                for (sample, &coverage) in luma.iter_mut().zip(coverage) {
                    *sample = mix(u32::from(*sample), y.into(), coverage.into(), 255) as u8;
                }
            }
            DynamicImage::ImageLuma16(luma) => {
                // What was shifted to 16 bits stays a multiple of its step.
                let (shift, y) = (16 - layout.bits, u32::from(y) << (layout.bits - 8));
                for (sample, &coverage) in luma.iter_mut().zip(coverage) {
                    let mixed = mix(u32::from(*sample) >> shift, y, coverage.into(), 255);
                    *sample = (mixed << shift) as u16;
                }
            }
            _ => unreachable!("luma has 8 or 16 bits"),
        }
        let [blue, red] = differences.map(|level| u32::from(level) << (layout.bits - 8));
        let opaque = (1 << layout.bits) - 1;
        let (columns, rows, _) = layout.chroma.sampling();
        let [width, columns, rows] = [layout.width, columns, rows].map(|number| number as usize);
        let [bytes, plane] = [layout.sample_bytes(), layout.plane()].map(|number| number as usize);
        for (samples, level) in self.bytes.chunks_exact_mut(plane).zip([blue, red, opaque]) {
            let lines = samples.chunks_exact_mut(width.div_ceil(columns) * bytes);
            for (line, covered) in lines.zip(coverage.chunks(width * rows)) {
                if covered.iter().all(|&coverage| coverage == 0) {
                    continue;
                }
                for (i, sample) in line.chunks_exact_mut(bytes).enumerate() {
                    let (mut sum, mut whole) = (0, 0);
                    for row in covered.chunks_exact(width) {
                        let block = &row[i * columns..width.min((i + 1) * columns)];
                        sum += block.iter().map(|&coverage| u32::from(coverage)).sum::<u32>();
                        whole += 255 * block.len() as u32;
                    }
                    match sample {
                        [only] => *only = mix((*only).into(), level, sum, whole) as u8,
                        [low, high] => {
                            let old = u16::from_le_bytes([*low, *high]);
                            [*low, *high] = (mix(old.into(), level, sum, whole) as u16).to_le_bytes();
                        }
                        _ => unreachable!("a sample has one or two bytes"),
                    }
                }
            }
        }
    }
}

/// Mixes two levels: `part` of `whole` of the new one. Levels have 16 bits.
fn mix(old: u32, new: u32, part: u32, whole: u32) -> u32 {
    let sum = u64::from(old) * u64::from(whole - part) + u64::from(new) * u64::from(part);
    ((sum + u64::from(whole / 2)) / u64::from(whole)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gray_has_no_colour_and_colours_have_their_luma() {
        for level in 0..=255 {
            assert_eq!(Ycbcr::of([level; 3]), Ycbcr([level, 128, 128]));
        }
        assert_eq!(Ycbcr::of([255, 0, 0]), Ycbcr([76, 85, 255]));
        assert_eq!(Ycbcr::of([0, 0, 255]), Ycbcr([29, 255, 107]));
    }

    #[test]
    fn mixtures_are_rounded_and_their_ends_exact() {
        for whole in [255, 510, 1020] {
            assert_eq!((mix(0, 65535, 0, whole), mix(0, 65535, whole, whole)), (0, 65535));
            assert_eq!((mix(7, 65535, 0, whole), mix(65535, 3, whole, whole)), (7, 3));
        }
        assert_eq!(mix(0, 100, 51, 255), 20);
    }
}
