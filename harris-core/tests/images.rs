//! Images: valid layouts, and the errors of invalid ones.

use harris_core::{Detector, Error, HarrisConfig, ImageView, MAX_SIDE, ReferenceDetector, Samples};
use ndarray::{Array2, Array3, s};

fn rows(image: &ImageView<'_>) -> Vec<Vec<u8>> {
    let Samples::U8(raster) = image.samples() else { panic!("8-bit samples") };
    (0..raster.height()).map(|y| raster.row(y).to_vec()).collect()
}

#[test]
fn rows_of_a_view_are_those_of_its_slice() {
    let samples: Vec<u8> = (0..20).collect();
    let image = ImageView::strided(&samples, 2, 3, 1, 7).unwrap();
    assert_eq!(rows(&image), [[0, 1], [7, 8], [14, 15]]);
    let image = ImageView::rgb(&samples, 3, 2).unwrap();
    assert_eq!(rows(&image), [(0..9).collect::<Vec<_>>(), (9..18).collect()]);
    // The last row needs no gap after it; one row needs no stride.
    assert!(ImageView::strided(&samples, 6, 3, 1, 7).is_ok());
    assert!(
        ImageView::strided(&samples, 20, 1, 1, usize::MAX / 2).is_ok_and(|image| rows(&image)[0] == samples)
    );
}

#[test]
fn each_invalid_layout_has_its_own_error() {
    let samples = [0_u8; 100];
    let error = |width, height, channels, stride| {
        ImageView::strided(&samples, width, height, channels, stride).unwrap_err()
    };
    assert!(matches!(error(0, 5, 1, 5), Error::EmptyImage { width: 0, height: 5 }));
    assert!(matches!(error(5, 0, 1, 5), Error::EmptyImage { width: 5, height: 0 }));
    assert!(matches!(error(5, 5, 2, 10), Error::Channels { channels: 2 }));
    assert!(matches!(error(5, 5, 0, 10), Error::Channels { channels: 0 }));
    assert!(matches!(error(5, 5, 1, 4), Error::StrideTooShort { stride: 4, needed: 5 }));
    assert!(matches!(error(5, 5, 3, 14), Error::StrideTooShort { stride: 14, needed: 15 }));
    assert!(matches!(error(10, 11, 1, 10), Error::SliceTooShort { len: 100, needed: 110 }));
    assert!(matches!(error(9, 9, 1, 12), Error::SliceTooShort { len: 100, needed: 105 }));
    assert!(matches!(error(MAX_SIDE + 1, 1, 1, MAX_SIDE + 1), Error::ImageTooLarge { .. }));
    assert!(matches!(error(usize::MAX, usize::MAX, 3, usize::MAX), Error::ImageTooLarge { .. }));
    assert!(matches!(error(4, 4, 1, usize::MAX / 2), Error::ImageTooLarge { .. }));
    assert!(matches!(ImageView::rgb(&samples, usize::MAX, 2).unwrap_err(), Error::ImageTooLarge { .. }));
}

#[test]
fn arrays_and_their_parts_are_images() {
    let plane = Array2::from_shape_fn((6, 8), |(y, x)| (10 * y + x) as u8);
    assert_eq!(rows(&ImageView::try_from(&plane).unwrap())[5], [50, 51, 52, 53, 54, 55, 56, 57]);
    let part = ImageView::try_from(plane.slice(s![1..6;2, 2..5])).unwrap();
    assert_eq!(rows(&part), [[12, 13, 14], [32, 33, 34], [52, 53, 54]]);
    let upside_down = ImageView::try_from(plane.slice(s![..;-1, 6..])).unwrap();
    assert_eq!(rows(&upside_down)[0], [56, 57]);
    let colour = Array3::from_shape_fn((4, 5, 3), |(y, x, c)| (100 * y + 10 * x + c) as u8);
    let part = ImageView::try_from(colour.slice(s![1..3, 1..3, ..])).unwrap();
    assert_eq!(rows(&part), [[110, 111, 112, 120, 121, 122], [210, 211, 212, 220, 221, 222]]);
    assert_eq!((part.width(), part.height(), part.channels()), (2, 2, 3));
}

#[test]
fn arrays_of_other_layouts_are_refused() {
    let plane = Array2::<f32>::zeros((6, 8));
    assert!(matches!(ImageView::try_from(plane.t()).unwrap_err(), Error::RowsNotContiguous));
    assert!(matches!(ImageView::try_from(plane.slice(s![.., ..;2])).unwrap_err(), Error::RowsNotContiguous));
    assert!(matches!(ImageView::try_from(plane.slice(s![..0, ..])).unwrap_err(), Error::EmptyImage { .. }));
    let repeated = plane.slice(s![..1, ..]);
    let repeated = repeated.broadcast((6, 8)).unwrap();
    assert!(matches!(
        ImageView::try_from(repeated).unwrap_err(),
        Error::StrideTooShort { stride: 0, needed: 8 }
    ));
    let alpha = Array3::<u16>::zeros((4, 4, 4));
    assert!(matches!(ImageView::try_from(&alpha).unwrap_err(), Error::Channels { channels: 4 }));
}

#[test]
fn masks_are_gray_bytes_of_the_images_size() {
    let samples = [0_u16; 12];
    let image = ImageView::gray(&samples, 4, 3).unwrap();
    let bytes = [1_u8; 36];
    assert!(image.with_mask(ImageView::gray(&bytes, 4, 3).unwrap()).is_ok());
    let error = image.with_mask(ImageView::gray(&bytes, 3, 4).unwrap()).unwrap_err();
    assert!(matches!(error, Error::MaskSize { mask_width: 3, mask_height: 4, width: 4, height: 3 }));
    assert!(matches!(image.with_mask(image).unwrap_err(), Error::MaskFormat));
    assert!(matches!(image.with_mask(ImageView::rgb(&bytes, 4, 3).unwrap()).unwrap_err(), Error::MaskFormat));
}

#[test]
fn an_empty_mask_leaves_no_corner() {
    let samples: Vec<u8> = (0..900).map(|i| if (i % 30 < 15) == (i / 30 < 15) { 200 } else { 0 }).collect();
    let image = ImageView::gray(&samples, 30, 30).unwrap();
    let mask = [0_u8; 900];
    let mut detector = ReferenceDetector::new(HarrisConfig::default());
    assert_eq!(detector.detect(&image).unwrap().len(), 1);
    let masked = image.with_mask(ImageView::gray(&mask, 30, 30).unwrap()).unwrap();
    assert_eq!(detector.detect(&masked).unwrap(), []);
}

#[test]
fn responses_of_the_greatest_samples_are_finite() {
    use harris_core::{Gradient, MAX_SAMPLE, Measure, MeasureKind, Smoothing, Window};

    // Signs that make the greatest gradients in both directions.
    let samples: Vec<f32> = (0..140 * 140 * 3)
        .map(|i| if (i / 3 % 140 < 70) == (i / 420 < 70) { MAX_SAMPLE } else { -MAX_SAMPLE })
        .collect();
    let image = ImageView::rgb(&samples, 140, 140).unwrap();
    for gradient in
        [Gradient::Sobel3, Gradient::Box { size: 31 }, Gradient::GaussianDerivative { size: 3, sigma: 0.1 }]
    {
        let extremes = [Measure::Harris { k: 0.2 }, Measure::Noble { eps: f32::MIN_POSITIVE }];
        for measure in MeasureKind::ALL.map(MeasureKind::usual).into_iter().chain(extremes) {
            let builder =
                HarrisConfig::builder().smoothing(Smoothing::None).gradient(gradient).measure(measure);
            let config = builder.window(Window::Box { size: 57 }).build().unwrap();
            let response = ReferenceDetector::new(config).response(&image).unwrap();
            assert!(response.iter().all(|r| r.is_finite()));
            assert!(response.iter().any(|r| *r > 1e12));
        }
    }
}

/// A view of long-lived samples can be used where a shorter lifetime is asked for.
#[test]
fn views_are_covariant() {
    fn shorter<'a>(image: ImageView<'static>, mask: &'a [u8]) -> Result<ImageView<'a>, Error> {
        image.with_mask(ImageView::gray(mask, 2, 2)?)
    }
    let mask = vec![1; 4];
    assert!(shorter(ImageView::gray(&[0_u8; 4], 2, 2).unwrap(), &mask).is_ok());
}

#[cfg(feature = "image")]
#[test]
fn buffers_of_the_image_crate_are_images() {
    use image::{DynamicImage, ImageBuffer, Luma, Rgb};

    let gray = ImageBuffer::from_fn(5, 4, |x, y| Luma([(10 * y + x) as u8]));
    assert_eq!(rows(&ImageView::try_from(&gray).unwrap())[3], [30, 31, 32, 33, 34]);
    let float: ImageBuffer<Luma<f32>, Vec<f32>> = ImageBuffer::new(5, 4);
    assert_eq!(ImageView::try_from(&float).unwrap().full_scale(), 1.0);
    let colour = ImageBuffer::from_pixel(5, 4, Rgb([1_u16, 2, 3]));
    assert_eq!(ImageView::try_from(&colour).unwrap().channels(), 3);
    let dynamic = DynamicImage::ImageRgb16(colour);
    assert_eq!(ImageView::try_from(&dynamic).unwrap().width(), 5);
    for (alpha, format, conversion) in [
        (DynamicImage::new_luma_a8(5, 4), "LumaA8", "to_luma8"),
        (DynamicImage::new_luma_a16(5, 4), "LumaA16", "to_luma16"),
        (DynamicImage::new_rgba8(5, 4), "Rgba8", "to_rgb8"),
        (DynamicImage::new_rgba16(5, 4), "Rgba16", "to_rgb16"),
        (DynamicImage::new_rgba32f(5, 4), "Rgba32F", "to_rgb32f"),
    ] {
        let error = ImageView::try_from(&alpha).unwrap_err();
        let text =
            format!("no detector takes an image of format {format}; convert it with `{conversion}()` first");
        assert_eq!(error.to_string(), text);
    }
    let empty = DynamicImage::new_luma8(0, 4);
    assert!(matches!(ImageView::try_from(&empty).unwrap_err(), Error::EmptyImage { .. }));
}
