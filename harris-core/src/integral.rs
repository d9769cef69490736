//! Exact integral images of any size, for the Fast-Hessian detector and the SURF descriptor.

use ndarray::Array2;

use crate::error::Error;
use crate::image::{ImageView, Raster, Sample, Samples};
use crate::memory;

/// The integral image: sums of gray levels above and to the left, (H + 1) × (W + 1), modulo 2³².
///
/// The sum over a box is exact as long as it is below 2³² itself, however large the image is,
/// because overflows cancel. The image is taken to be 0 beyond its edges.
///
/// ```
/// use harris_core::ImageView;
/// use harris_core::integral::Integral;
///
/// let integral = Integral::new(&ImageView::gray(&[1_u8, 2, 3, 4, 5, 6], 3, 2)?)?;
/// assert_eq!(integral.sum(0, 0, 2, 2), 1 + 2 + 4 + 5);
/// assert_eq!(integral.sum(2, -7, 9, 1), 3);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Integral {
    sums: Array2<u32>,
}

impl Integral {
    /// Computes the integral image of the [gray](gray()) levels of `image`.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::SampleOutOfRange`], [`Error::OutOfMemory`].
    pub fn new(image: &ImageView<'_>) -> Result<Self, Error> {
        image.check_levels()?;
        match image.samples() {
            Samples::U8(raster) => Self::of(raster),
            Samples::U16(raster) => Self::of(raster),
            Samples::F32(raster) => Self::of(raster),
        }
    }

    fn of<T: Sample>(raster: Raster<'_, T>) -> Result<Self, Error> {
        let mut sums = memory::zeros::<u32>((raster.height() + 1, raster.width() + 1))?;
        for y in 0..raster.height() {
            let mut row = 0_u32;
            for (x, pixel) in raster.row(y).chunks_exact(raster.channels()).enumerate() {
                row = row.wrapping_add(gray(pixel));
                sums[[y + 1, x + 1]] = sums[[y, x + 1]].wrapping_add(row);
            }
        }
        Ok(Self { sums })
    }

    /// The sum over columns `left..right` and rows `top..bottom`, modulo 2³².
    ///
    /// The box may reach beyond the image.
    #[must_use]
    pub fn sum(&self, left: i32, top: i32, right: i32, bottom: i32) -> u32 {
        let (a, b) = (self.at(left, top), self.at(right, top));
        let (c, d) = (self.at(left, bottom), self.at(right, bottom));
        d.wrapping_sub(b).wrapping_sub(c).wrapping_add(a)
    }

    fn at(&self, x: i32, y: i32) -> u32 {
        let (rows, columns) = self.sums.dim();
        let clamp = |i: i32, len: usize| usize::try_from(i).unwrap_or(0).min(len - 1);
        self.sums[[clamp(y, rows), clamp(x, columns)]]
    }
}

/// The gray level of a pixel of 1 or 3 channels.
///
/// The sample's [level](Sample::level), or the mean of three levels to the nearest integer,
/// ⌊(a + b + c + 1) / 3⌋.
///
/// # Panics
/// Where the pixel has no channel.
#[must_use]
pub fn gray<T: Sample>(pixel: &[T]) -> u32 {
    match *pixel {
        [a, b, c] => (a.level() + b.level() + c.level() + 1) / 3,
        _ => pixel[0].level(),
    }
}

/// The gray level of full brightness for an image's sample type: 255 or 65535.
#[must_use]
pub fn levels(image: &ImageView<'_>) -> u32 {
    match image.samples() {
        Samples::U8(_) => u8::LEVELS,
        Samples::U16(_) => u16::LEVELS,
        Samples::F32(_) => f32::LEVELS,
    }
}
