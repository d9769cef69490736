//! Images in a GPU's memory, and keypoints that stay there.

mod gpu;

use harris_conformance::pictures::{DEPTHS, Depth, Picture, noise};
use harris_core::{Border, Order, Subpixel, Threshold, presets};
use harris_cpu::CpuDetector;
use harris_cuda::{
    CudaDetector, CudaError, CudaImage, Detector, Error, HarrisConfig, ImageView, devices, harris_core,
};
use ndarray::Array2;

fn picture(depth: Depth, (width, height, channels): (usize, usize, usize)) -> Picture {
    Picture::draw(depth, (width, height, channels), |x, y, c| noise(7, x / 3, y / 3, c))
}

fn layout_error(error: &Error) -> bool {
    match error {
        Error::Backend(cause) => matches!(cause.downcast_ref(), Some(CudaError::Layout { .. })),
        _ => false,
    }
}

#[test]
fn images_on_the_device_give_the_corners_of_the_cpu() {
    if !gpu::present() {
        return;
    }
    let default = HarrisConfig::default().to_builder();
    let configs = [
        default.clone(),
        presets::opencv_gftt().to_builder(),
        presets::chahuara_2017().to_builder(),
        presets::lococo_2011().to_builder(),
        default.clone().order(Order::Raster).max_corners(Some(20)),
        default.clone().min_distance(7.0),
        default.clone().threshold(Threshold::None),
        default.clone().border(Border::Zero),
        default.clone().subpixel(Subpixel::Quadratic),
        default.clone().suppression_radius(5),
        default.subpixel(Subpixel::Forstner { radius: 4 }),
    ];
    for config in configs {
        let config = config.build().unwrap();
        let mut detector = CudaDetector::new(config.clone()).unwrap();
        let mut cpu = CpuDetector::new(config.clone());
        for size in [(16, 16, 1), (17, 33, 1), (321, 203, 1), (130, 70, 3), (1919, 1080, 1)] {
            for depth in DEPTHS {
                let plain = picture(depth, size).with_gap(3);
                let masked = picture(depth, size).with_mask(|x, y| noise(8, x / 7, y / 5, 0) > 0.5);
                for picture in [plain, masked] {
                    let expected = cpu.detect(&picture.view()).unwrap();
                    let image = CudaImage::upload(0, &picture.view()).unwrap();
                    for _ in 0..2 {
                        let found = detector.detect_on_device(&image).unwrap();
                        assert_eq!((found.len(), found.is_empty()), (expected.len(), expected.is_empty()));
                        assert!(found.pointer() != 0);
                        assert!(found.to_vec().unwrap() == expected, "{config:?}, {picture:?}");
                    }
                }
            }
        }
        // And the detector takes other images as before.
        let picture = picture(Depth::U8, (321, 203, 1));
        assert_eq!(detector.detect(&picture.view()).unwrap(), cpu.detect(&picture.view()).unwrap());
    }
}

/// Response maps that are copied to the host, at once or in parts, and maps that stay on the
/// device.
#[test]
fn response_maps_equal_those_of_the_cpu() {
    if !gpu::present() {
        return;
    }
    let default = HarrisConfig::default().to_builder();
    for config in [default.clone(), default.border(Border::Replicate), presets::lococo_2011().to_builder()] {
        let config = config.build().unwrap();
        let mut detector = CudaDetector::new(config.clone()).unwrap();
        let mut cpu = CpuDetector::new(config.clone());
        let mut map = Array2::default((0, 0));
        for size in [(130, 71, 3), (724, 724, 1), (725, 724, 1), (4097, 2051, 1), (1919, 1080, 1)] {
            let picture = picture(Depth::U8, size).with_gap(3);
            let expected = cpu.response(&picture.view()).unwrap();
            for _ in 0..2 {
                detector.response_into(&picture.view(), &mut map).unwrap();
                assert!(map == expected, "{config:?}, {size:?}");
                map.fill(f32::NAN);
            }
            let image = CudaImage::upload(0, &picture.view()).unwrap();
            let mut responses = detector.response_on_device(&image).unwrap();
            assert_eq!((responses.width(), responses.height()), (size.0, size.1));
            assert!(responses.pointer() != 0);
            assert!(responses.to_array().unwrap() == expected, "{config:?}, {size:?}");
            assert!(
                detector.detect_on_device(&image).unwrap().to_vec().unwrap()
                    == cpu.detect(&picture.view()).unwrap()
            );
        }
    }
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let config = HarrisConfig::default();
    let picture = picture(Depth::U8, (1919, 1080, 1));
    let map =
        one_thread.install(|| CudaDetector::new(config.clone()).unwrap().response(&picture.view())).unwrap();
    assert!(map == CpuDetector::new(config).response(&picture.view()).unwrap());
}

/// Corners at pixels and between them; some, none, and more than the list's first capacity.
#[test]
fn keypoint_masks_equal_those_of_the_cpu() {
    if !gpu::present() {
        return;
    }
    let builder = presets::opencv_gftt().to_builder();
    for config in [
        builder.clone(),
        builder.clone().threshold(Threshold::None),
        builder.clone().subpixel(Subpixel::Forstner { radius: 5 }).max_corners(300),
        builder.threshold(Threshold::Absolute(f32::MAX)),
    ] {
        let config = config.build().unwrap();
        let mut detector = CudaDetector::new(config.clone()).unwrap();
        let mut cpu = CpuDetector::new(config.clone());
        for size in [(130, 71, 1), (1919, 1080, 1), (67, 33, 3)] {
            let picture = picture(Depth::U8, size);
            let expected = cpu.keypoint_mask(&picture.view()).unwrap();
            assert_eq!(detector.keypoint_mask(&picture.view()).unwrap(), expected, "{config:?}, {size:?}");
            let image = CudaImage::upload(0, &picture.view()).unwrap();
            let mut mask = detector.keypoint_mask_on_device::<u8>(&image).unwrap();
            assert_eq!((mask.width(), mask.height()), (size.0, size.1));
            assert!(mask.pointer() != 0);
            assert_eq!(mask.to_array().unwrap(), expected, "{config:?}, {size:?}");
            let mut floats = detector.keypoint_mask_on_device::<f32>(&image).unwrap();
            assert_eq!(floats.to_array().unwrap(), expected.mapv(f32::from), "{config:?}, {size:?}");
        }
    }
}

/// A decoder gives images in several places. A recording for one place or size must not be used for
/// another.
#[test]
fn images_in_several_places_and_sizes_are_not_confused() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let (mut detector, mut cpu) =
        (CudaDetector::new(config.clone()).unwrap(), CpuDetector::new(config.clone()));
    let draw = |size: (usize, usize), seed| {
        Picture::draw(Depth::U8, (size.0, size.1, 1), move |x, y, _| noise(seed, x / 3, y / 3, 0))
    };
    let sizes = [(320, 200), (321, 203), (320, 200), (640, 480)];
    let pictures: Vec<_> = (0..).zip(sizes).map(|(seed, size)| draw(size, seed)).collect();
    let expected: Vec<_> = pictures.iter().map(|picture| cpu.detect(&picture.view()).unwrap()).collect();
    let images: Vec<_> =
        pictures.iter().map(|picture| CudaImage::upload(0, &picture.view()).unwrap()).collect();
    for round in 0..40 {
        let i = round * 7 % 4;
        if round % 5 == 4 {
            // An image from the host in between.
            assert!(detector.detect(&pictures[i].view()).unwrap() == expected[i], "round {round}");
        }
        let found = detector.detect_on_device(&images[i]).unwrap();
        assert!(found.to_vec().unwrap() == expected[i], "round {round}");
    }
    // New images at the addresses of freed ones.
    let (pointers, first): (Vec<_>, _) = (images.iter().map(CudaImage::pointer).collect(), draw(sizes[0], 9));
    drop(images);
    let again: Vec<_> = (0..8).map(|_| CudaImage::upload(0, &first.view()).unwrap()).collect();
    println!(
        "{} images are at addresses of earlier ones",
        again.iter().filter(|image| pointers.contains(&image.pointer())).count()
    );
    for image in &again {
        let found = detector.detect_on_device(image).unwrap();
        assert!(found.to_vec().unwrap() == cpu.detect(&first.view()).unwrap());
    }
}

/// A part of an image, given by its address: the pitch is larger than a row.
#[test]
fn foreign_memory_is_used_without_a_copy() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let whole = picture(Depth::U8, (640, 480, 1));
    let image = CudaImage::upload(0, &whole.view()).unwrap();
    let (pointer, pitch) = image.pointer();
    assert_eq!(
        (pitch, image.width(), image.height(), image.channels(), image.ordinal()),
        (640, 640, 480, 1, 0)
    );
    let mut detector = CudaDetector::new(config.clone()).unwrap();
    for (x, y, width, height) in [(0, 0, 640, 480), (40, 30, 401, 307), (44, 1, 17, 16), (600, 400, 40, 80)] {
        let start = pointer + (y * pitch + x) as u64;
        // SAFETY: the part is inside the image, which outlives it.
        #[allow(unsafe_code)]
        let part = unsafe { CudaImage::from_raw::<u8>(0, start, pitch, width, height, 1) }.unwrap();
        let harris_core::Samples::U8(raster) = whole.view().samples() else { unreachable!() };
        let samples: Vec<u8> =
            (y..y + height).flat_map(|row| raster.row(row)[x..x + width].to_vec()).collect();
        let view = ImageView::gray(&samples, width, height).unwrap();
        let expected = CpuDetector::new(config.clone()).detect(&view).unwrap();
        assert!(
            detector.detect_on_device(&part).unwrap().to_vec().unwrap() == expected,
            "{width} x {height}"
        );
        // With a mask from another image.
        let dark: Vec<u8> = samples.iter().rev().map(|&sample| sample & 0x80).collect();
        let mask = CudaImage::upload(0, &ImageView::gray(&dark, width, height).unwrap()).unwrap();
        let (pointer, pitch) = mask.pointer();
        // SAFETY: the mask outlives the part.
        #[allow(unsafe_code)]
        let part = unsafe { part.with_mask_from_raw(pointer, pitch) }.unwrap();
        let view = view.with_mask(ImageView::gray(&dark, width, height).unwrap()).unwrap();
        let masked = CpuDetector::new(config.clone()).detect(&view).unwrap();
        assert!(masked != expected || expected.len() < 10);
        assert!(
            detector.detect_on_device(&part).unwrap().to_vec().unwrap() == masked,
            "{width} x {height}, masked"
        );
    }
}

/// Detections on the default stream, some of them dropped before they finish.
#[test]
#[allow(unsafe_code)]
fn detections_on_the_default_stream_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let mut detector = CudaDetector::new(config.clone()).unwrap();
    let picture = picture(Depth::U8, (640, 481, 1));
    let expected = CpuDetector::new(config).detect(&picture.view()).unwrap();
    let image = CudaImage::upload(0, &picture.view()).unwrap();
    let stream = std::ptr::null_mut::<std::ffi::c_void>();
    for round in 0..6 {
        // SAFETY: nothing writes the image.
        let pending = unsafe { detector.detect_on_stream(&image, stream) }.unwrap();
        if round % 3 == 2 {
            drop(pending);
            continue;
        }
        assert!(pending.finish().unwrap().to_vec().unwrap() == expected, "round {round}");
    }
}

#[test]
fn impossible_layouts_are_errors_before_a_device_is_opened() {
    let good = (0x1000, 64, 60, 48, 1);
    for (pointer, pitch, width, height, channels) in [
        (0, 64, 60, 48, 1),
        (0x1002, 64, 60, 48, 1),
        (0x1000, 56, 60, 48, 1),
        (0x1000, 64, 60, 48, 2),
        (0x1000, 64, 60, 48, 3),
        (0x1000, 64, 0, 48, 1),
        (0x1000, 64, 60, 0, 1),
        (0x1000, 1 << 62, 60, 48, 1),
        (0x1000, 1 << 32, 60, 48, 1),
    ] {
        assert_ne!((pointer, pitch, width, height, channels), good);
        // SAFETY: nothing is read.
        #[allow(unsafe_code)]
        let error =
            unsafe { CudaImage::from_raw::<u8>(0, pointer, pitch, width, height, channels) }.unwrap_err();
        assert!(layout_error(&error), "{error}");
    }
    if !gpu::present() {
        let samples = [0_u8; 64];
        assert!(CudaImage::upload(0, &ImageView::gray(&samples, 8, 8).unwrap()).is_err());
    }
}

#[test]
fn invalid_images_are_errors_and_the_next_works() {
    if !gpu::present() {
        return;
    }
    let nan = [f32::NAN; 64];
    let error = CudaImage::upload(0, &ImageView::gray(&nan, 8, 8).unwrap()).unwrap_err();
    assert!(matches!(error, Error::NonFinite { .. }), "{error}");
    let config = HarrisConfig::builder().border(Border::Skip).build().unwrap();
    let mut detector = CudaDetector::new(config).unwrap();
    let small = CudaImage::upload(0, &picture(Depth::U8, (6, 6, 1)).view()).unwrap();
    let error = detector.detect_on_device(&small).unwrap_err();
    assert!(matches!(error, Error::ImageTooSmall { .. }), "{error}");
    let good = CudaImage::upload(0, &picture(Depth::U8, (64, 64, 1)).view()).unwrap();
    assert!(detector.detect_on_device(&good).unwrap().len() > 3);
    if devices().unwrap().len() > 1 {
        let elsewhere = CudaImage::upload(1, &picture(Depth::U8, (64, 64, 1)).view()).unwrap();
        let Error::Backend(cause) = detector.detect_on_device(&elsewhere).unwrap_err() else { panic!() };
        assert_eq!(cause.downcast_ref(), Some(&CudaError::OtherDevice { image: 1, detector: 0 }));
    }
}
