//! Borrowed images: samples of three types, gray or colour, with any row stride.

use std::ops::RangeInclusive;

use ndarray::{Array2, Array3, ArrayBase, ArrayView2, ArrayView3, Axis, Ix3, ShapeBuilder, ViewRepr};

use crate::error::Error;

pub use crate::limits::{MAX_SAMPLE, MAX_SIDE, MIN_RANGE};

mod sealed {
    pub trait Sealed {}
    impl Sealed for u8 {}
    impl Sealed for u16 {}
    impl Sealed for f32 {}
}

/// A sample type: `u8`, `u16` or `f32`.
pub trait Sample: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// The sample of full brightness: 255, 65535 and 1. Responses are in the units of an image
    /// divided by it.
    const FULL_SCALE: f64;

    /// The integer level of full brightness: 255 for `u8`, 65535 for `u16` and `f32`.
    const LEVELS: u32;

    /// The sample as an integer level, for sums that must be exact.
    ///
    /// Integers stay as they are. A float in 0..=1 is multiplied by 65535 and rounded to nearest
    /// even.
    fn level(self) -> u32;

    /// Tags a raster with its sample type.
    fn tag(raster: Raster<'_, Self>) -> Samples<'_>
    where
        Self: Sized;
}

impl Sample for u8 {
    const FULL_SCALE: f64 = 255.0;
    const LEVELS: u32 = 255;
    fn level(self) -> u32 {
        self.into()
    }
    fn tag(raster: Raster<'_, u8>) -> Samples<'_> {
        Samples::U8(raster)
    }
}

impl Sample for u16 {
    const FULL_SCALE: f64 = 65535.0;
    const LEVELS: u32 = 65535;
    fn level(self) -> u32 {
        self.into()
    }
    fn tag(raster: Raster<'_, u16>) -> Samples<'_> {
        Samples::U16(raster)
    }
}

impl Sample for f32 {
    const FULL_SCALE: f64 = 1.0;
    const LEVELS: u32 = 65535;
    fn level(self) -> u32 {
        (self * 65535.0).round_ties_even() as u32
    }
    fn tag(raster: Raster<'_, f32>) -> Samples<'_> {
        Samples::F32(raster)
    }
}

/// Samples of one type, H × W × C, the channels of a pixel and the pixels of a row side by side in
/// memory.
#[derive(Clone, Copy, Debug)]
pub struct Raster<'a, T> {
    // `ArrayView3<'a, T>` with its element type written out: by its default, a projection, the view
    // would not be covariant in 'a.
    view: ArrayBase<ViewRepr<&'a T>, Ix3, T>,
}

impl<'a, T: Sample> Raster<'a, T> {
    fn new(view: ArrayView3<'a, T>) -> Result<Self, Error> {
        let (height, width, channels) = view.dim();
        check_dimensions(width, height, channels, view.strides()[0].unsigned_abs())?;
        let raster = Self { view };
        if view.index_axis(Axis(0), 0).to_slice().is_none() {
            return Err(Error::RowsNotContiguous);
        }
        let (stride, needed) = (raster.row_stride().unsigned_abs(), width * channels);
        if height > 1 && stride < needed {
            return Err(Error::StrideTooShort { stride, needed });
        }
        Ok(raster)
    }

    /// Pixels in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.view.dim().1
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.view.dim().0
    }

    /// Samples per pixel: 1 or 3.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.view.dim().2
    }

    /// Samples from the start of one row to the start of the next.
    ///
    /// Negative where the image is upside down in memory.
    #[must_use]
    pub fn row_stride(&self) -> isize {
        self.view.strides()[0]
    }

    /// The samples of row `y`, channels interleaved: width · channels samples.
    ///
    /// # Panics
    /// Where there is no row `y`.
    #[must_use]
    pub fn row(&self, y: usize) -> &'a [T] {
        self.view.index_axis_move(Axis(0), y).to_slice().expect("rows are contiguous: checked when built")
    }
}

/// The samples of an image, by their type.
#[derive(Clone, Copy, Debug)]
pub enum Samples<'a> {
    /// 8-bit samples, 255 at full brightness.
    U8(Raster<'a, u8>),
    /// 16-bit samples, 65535 at full brightness.
    U16(Raster<'a, u16>),
    /// Float samples, 1 at full brightness (not enforced), finite and at most [`MAX_SAMPLE`] in
    /// magnitude.
    F32(Raster<'a, f32>),
}

/// Runs one expression for whichever sample type an image has.
macro_rules! for_samples {
    ($samples:expr, $raster:ident => $body:expr) => {
        match $samples {
            Samples::U8($raster) => $body,
            Samples::U16($raster) => $body,
            Samples::F32($raster) => $body,
        }
    };
}

/// A borrowed image, gray or of three channels, with an optional mask.
///
/// Made from slices, from `ndarray` views (H × W or H × W × C, also parts of larger arrays), and
/// with the feature `image` from the `image` crate's buffers. Nothing is copied.
///
/// ```
/// use harris_core::ImageView;
/// use ndarray::{Array2, s};
///
/// // 8-bit gray, rows without gaps.
/// let image = ImageView::gray(&[0_u8; 640 * 480], 640, 480)?;
/// assert_eq!((image.width(), image.height(), image.channels()), (640, 480, 1));
///
/// // 16-bit colour, rows 2048 samples apart.
/// let frame = vec![0_u16; 2048 * 480];
/// let image = ImageView::strided(&frame, 640, 480, 3, 2048)?;
/// assert_eq!(image.channels(), 3);
///
/// // A part of a float array.
/// let plane = Array2::<f32>::zeros((480, 640));
/// let image = ImageView::try_from(plane.slice(s![100..200, 50..150]))?;
/// assert_eq!(image.width(), 100);
///
/// // Only where the mask is not zero.
/// let mask = vec![1_u8; 100 * 100];
/// let image = image.with_mask(ImageView::gray(&mask, 100, 100)?)?;
/// assert!(image.mask().is_some());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ImageView<'a> {
    samples: Samples<'a>,
    mask: Option<Raster<'a, u8>>,
}

impl<'a> ImageView<'a> {
    /// Borrows a gray image whose rows follow each other without gaps.
    ///
    /// # Errors
    /// The errors of [`ImageView::strided`].
    pub fn gray<T: Sample>(samples: &'a [T], width: usize, height: usize) -> Result<Self, Error> {
        Self::strided(samples, width, height, 1, width)
    }

    /// Borrows an image of three interleaved channels whose rows follow each other without gaps.
    ///
    /// The order of the channels does not matter.
    ///
    /// # Errors
    /// The errors of [`ImageView::strided`].
    pub fn rgb<T: Sample>(samples: &'a [T], width: usize, height: usize) -> Result<Self, Error> {
        Self::strided(samples, width, height, 3, width.saturating_mul(3))
    }

    /// Borrows an image of 1 or 3 interleaved channels whose rows start `stride` samples apart.
    ///
    /// # Errors
    /// [`Error::EmptyImage`], [`Error::Channels`], [`Error::ImageTooLarge`],
    /// [`Error::StrideTooShort`], [`Error::SliceTooShort`].
    pub fn strided<T: Sample>(
        samples: &'a [T],
        width: usize,
        height: usize,
        channels: usize,
        stride: usize,
    ) -> Result<Self, Error> {
        let needed = check_dimensions(width, height, channels, stride)?;
        let row = width * channels;
        if stride < row {
            return Err(Error::StrideTooShort { stride, needed: row });
        }
        if samples.len() < needed {
            return Err(Error::SliceTooShort { len: samples.len(), needed });
        }
        // A single row needs no stride, so any stride is valid.
        let stride = if height == 1 { row } else { stride };
        let shape = (height, width, channels).strides((stride, channels, 1));
        let view =
            ArrayView3::from_shape(shape, samples).expect("shape, strides and length fit: checked above");
        Ok(Self { samples: T::tag(Raster { view }), mask: None })
    }

    /// Restricts the search for corners to pixels where `mask` is not zero.
    ///
    /// Responses are computed from all pixels. Pixels outside the mask are no corners. They still
    /// suppress their neighbours, and they do not count for the threshold. For blobs see
    /// [`fast_hessian`](crate::fast_hessian).
    ///
    /// # Errors
    /// [`Error::MaskFormat`] unless the mask is 8-bit gray, [`Error::MaskSize`] unless it has the
    /// image's size.
    pub fn with_mask(self, mask: ImageView<'a>) -> Result<Self, Error> {
        let Samples::U8(raster) = mask.samples else { return Err(Error::MaskFormat) };
        if raster.channels() != 1 {
            return Err(Error::MaskFormat);
        }
        if (raster.width(), raster.height()) != (self.width(), self.height()) {
            return Err(Error::MaskSize {
                mask_width: raster.width(),
                mask_height: raster.height(),
                width: self.width(),
                height: self.height(),
            });
        }
        Ok(Self { mask: Some(raster), ..self })
    }

    /// Pixels in a row.
    #[must_use]
    pub fn width(&self) -> usize {
        for_samples!(self.samples, raster => raster.width())
    }

    /// Rows.
    #[must_use]
    pub fn height(&self) -> usize {
        for_samples!(self.samples, raster => raster.height())
    }

    /// Samples per pixel: 1 or 3.
    #[must_use]
    pub fn channels(&self) -> usize {
        for_samples!(self.samples, raster => raster.channels())
    }

    /// The sample of full brightness: 255, 65535 or 1.
    #[must_use]
    pub fn full_scale(&self) -> f64 {
        match self.samples {
            Samples::U8(_) => u8::FULL_SCALE,
            Samples::U16(_) => u16::FULL_SCALE,
            Samples::F32(_) => f32::FULL_SCALE,
        }
    }

    /// The samples.
    #[must_use]
    pub fn samples(&self) -> Samples<'a> {
        self.samples
    }

    /// The mask: H × W × 1, zero where no corner is wanted.
    #[must_use]
    pub fn mask(&self) -> Option<Raster<'a, u8>> {
        self.mask
    }

    /// Checks that every float sample is finite and at most [`MAX_SAMPLE`] in magnitude; integer
    /// samples always are.
    ///
    /// # Errors
    /// [`Error::NonFinite`] and [`Error::SampleTooLarge`], naming the first such sample.
    pub fn check_samples(&self) -> Result<(), Error> {
        self.check_floats(-MAX_SAMPLE..=MAX_SAMPLE, |x, y, channel, value| Error::SampleTooLarge {
            x,
            y,
            channel,
            value,
        })
    }

    /// Checks that every float sample is in 0..=1, as detectors on exact integral images require.
    ///
    /// # Errors
    /// [`Error::NonFinite`] and [`Error::SampleOutOfRange`], naming the first such sample.
    pub fn check_levels(&self) -> Result<(), Error> {
        self.check_floats(0.0..=1.0, |x, y, channel, value| Error::SampleOutOfRange { x, y, channel, value })
    }

    fn check_floats(
        &self,
        range: RangeInclusive<f32>,
        error: fn(usize, usize, usize, f32) -> Error,
    ) -> Result<(), Error> {
        let Samples::F32(raster) = self.samples else { return Ok(()) };
        for y in 0..raster.height() {
            let row = raster.row(y);
            // NaN is in no range. A loop without an early exit is vectorised.
            if row.iter().fold(true, |all, v| all & (*range.start() <= *v) & (*v <= *range.end())) {
                continue;
            }
            let (i, &value) = (row.iter().enumerate().find(|(_, v)| !range.contains(v)))
                .expect("the row has such a sample: found above");
            let (x, channel) = (i / raster.channels(), i % raster.channels());
            return Err(if value.is_finite() {
                error(x, y, channel, value)
            } else {
                Error::NonFinite { x, y, channel, value }
            });
        }
        Ok(())
    }
}

/// Checks an image's dimensions; returns how many samples it spans in memory.
fn check_dimensions(width: usize, height: usize, channels: usize, stride: usize) -> Result<usize, Error> {
    if channels != 1 && channels != 3 {
        return Err(Error::Channels { channels });
    }
    if width == 0 || height == 0 {
        return Err(Error::EmptyImage { width, height });
    }
    let too_large = Error::ImageTooLarge { width, height, channels, stride };
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(too_large);
    }
    let row = width * channels;
    let span = stride.checked_mul(height - 1).and_then(|rows| rows.checked_add(row));
    match span {
        Some(span) if isize::try_from(span).is_ok() => Ok(span),
        _ => Err(too_large),
    }
}

impl<'a, T: Sample> TryFrom<ArrayView3<'a, T>> for ImageView<'a> {
    type Error = Error;

    /// Borrows an H × W × C array. The samples of a row must lie side by side in memory; rows may
    /// have gaps.
    fn try_from(view: ArrayView3<'a, T>) -> Result<Self, Error> {
        Ok(Self { samples: T::tag(Raster::new(view)?), mask: None })
    }
}

impl<'a, T: Sample> TryFrom<ArrayView2<'a, T>> for ImageView<'a> {
    type Error = Error;

    /// Borrows an H × W array. The samples of a row must lie side by side in memory; rows may have
    /// gaps.
    fn try_from(view: ArrayView2<'a, T>) -> Result<Self, Error> {
        Self::try_from(view.insert_axis(Axis(2)))
    }
}

impl<'a, T: Sample> TryFrom<&'a Array2<T>> for ImageView<'a> {
    type Error = Error;

    fn try_from(array: &'a Array2<T>) -> Result<Self, Error> {
        Self::try_from(array.view())
    }
}

impl<'a, T: Sample> TryFrom<&'a Array3<T>> for ImageView<'a> {
    type Error = Error;

    fn try_from(array: &'a Array3<T>) -> Result<Self, Error> {
        Self::try_from(array.view())
    }
}

#[cfg(feature = "image")]
mod image_crate {
    use std::ops::Deref;

    use image::{DynamicImage, ImageBuffer, Luma, Primitive, Rgb};

    use super::{ImageView, Sample};
    use crate::error::Error;

    impl<'a, T, C> TryFrom<&'a ImageBuffer<Luma<T>, C>> for ImageView<'a>
    where
        T: Sample + Primitive,
        C: Deref<Target = [T]>,
    {
        type Error = Error;

        fn try_from(buffer: &'a ImageBuffer<Luma<T>, C>) -> Result<Self, Error> {
            Self::gray(buffer.as_raw().deref(), buffer.width() as usize, buffer.height() as usize)
        }
    }

    impl<'a, T, C> TryFrom<&'a ImageBuffer<Rgb<T>, C>> for ImageView<'a>
    where
        T: Sample + Primitive,
        Rgb<T>: image::Pixel<Subpixel = T>,
        C: Deref<Target = [T]>,
    {
        type Error = Error;

        fn try_from(buffer: &'a ImageBuffer<Rgb<T>, C>) -> Result<Self, Error> {
            Self::rgb(buffer.as_raw().deref(), buffer.width() as usize, buffer.height() as usize)
        }
    }

    impl<'a> TryFrom<&'a DynamicImage> for ImageView<'a> {
        type Error = Error;

        /// Borrows a gray or RGB image, of u8, u16 or f32 samples.
        ///
        /// # Errors
        /// [`Error::PixelFormat`] for images with an alpha channel. It names the conversion that
        /// drops it.
        fn try_from(image: &'a DynamicImage) -> Result<Self, Error> {
            let (format, conversion) = match image {
                DynamicImage::ImageLuma8(buffer) => return Self::try_from(buffer),
                DynamicImage::ImageLuma16(buffer) => return Self::try_from(buffer),
                DynamicImage::ImageRgb8(buffer) => return Self::try_from(buffer),
                DynamicImage::ImageRgb16(buffer) => return Self::try_from(buffer),
                DynamicImage::ImageRgb32F(buffer) => return Self::try_from(buffer),
                DynamicImage::ImageLumaA8(_) => ("LumaA8", "to_luma8"),
                DynamicImage::ImageLumaA16(_) => ("LumaA16", "to_luma16"),
                DynamicImage::ImageRgba8(_) => ("Rgba8", "to_rgb8"),
                DynamicImage::ImageRgba16(_) => ("Rgba16", "to_rgb16"),
                DynamicImage::ImageRgba32F(_) => ("Rgba32F", "to_rgb32f"),
                // The enum is `#[non_exhaustive]`.
                _ => ("of a later version of `image`", "to_rgb8"),
            };
            Err(Error::PixelFormat { format, conversion })
        }
    }
}
