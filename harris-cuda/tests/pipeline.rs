//! Streams and batches of frames, images in pinned memory, and several GPUs.

mod gpu;

use harris_conformance::pictures::{Depth, Picture, Pixels, noise};
use harris_core::fast_hessian::FastHessianConfig;
use harris_core::features::{DetectAndDescribe, FeatureConfig};
use harris_core::matching::{MatchConfig, Matcher};
use harris_core::surf::SurfConfig;
use harris_cpu::{CpuDetector, CpuFastHessian, CpuFeatures, CpuMatcher};
use harris_cuda::{
    CudaDescriptors, CudaDetector, CudaFastHessian, CudaFeatures, CudaImage, CudaMatcher, CudaPipeline,
    Detector, Error, HarrisConfig, ImageView, Keypoint, PinnedImage, devices,
};
use ndarray::Array2;

fn picture(seed: u64, width: usize, height: usize) -> Picture {
    Picture::draw(Depth::U8, (width, height, 1), |x, y, c| noise(seed, x / 3, y / 3, c))
}

fn samples(picture: &Picture) -> &[u8] {
    match &picture.samples {
        Pixels::U8(samples) => samples,
        _ => unreachable!("drawn with 8 bits"),
    }
}

fn pinned(picture: &Picture) -> PinnedImage {
    PinnedImage::from_samples(samples(picture), picture.width, picture.height, 1).unwrap()
}

/// Copies rows of bytes to pinned memory, with gaps of five bytes.
fn with_row_gaps(bytes: &[u8], width: usize) -> PinnedImage<u8> {
    let rows: Vec<u8> = bytes.chunks(width).flat_map(|row| [row, &[7; 5]].concat()).collect();
    PinnedImage::from_samples(&rows, width + 5, bytes.len() / width, 1).unwrap()
}

fn on_cpu(config: &HarrisConfig, image: &ImageView<'_>) -> Vec<Keypoint> {
    CpuDetector::new(config.clone()).detect(image).unwrap()
}

#[test]
fn without_a_device_all_constructors_say_so() {
    if gpu::present() {
        return;
    }
    let reason = devices().unwrap_err();
    let is_reason = |error: Error| match error {
        Error::Backend(cause) => cause.downcast_ref() == Some(&reason),
        _ => false,
    };
    assert!(is_reason(CudaPipeline::<u8>::new(HarrisConfig::default()).unwrap_err()));
    assert!(is_reason(CudaDetector::on_devices(&[0, 1], HarrisConfig::default()).unwrap_err()));
    assert!(is_reason(PinnedImage::<u8>::gray(8, 8).unwrap_err()));
}

#[test]
fn pinned_image_sizes_are_checked_before_a_device_is_opened() {
    assert!(matches!(PinnedImage::<u8>::gray(0, 8), Err(Error::EmptyImage { .. })));
    let huge = PinnedImage::<f32>::rgb(usize::MAX / 2, 3).unwrap_err();
    assert!(!matches!(huge, Error::Backend(_)), "{huge}");
    assert!(PinnedImage::from_samples(&[0_u8; 7], 4, 2, 1).is_err());
}

/// The sizes are around those from which the upload overlaps with kernels.
#[test]
fn pinned_and_ordinary_images_give_equal_corners() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let mut detector = CudaDetector::new(config.clone()).unwrap();
    for (width, height) in [
        (17, 16),
        (640, 480),
        (2048, 1023),
        (2048, 1024),
        (2048, 1025),
        (1999, 1101),
        (1920, 1080),
        (3840, 2160),
    ] {
        let picture = picture(1, width, height);
        let expected = on_cpu(&config, &picture.view());
        let image = pinned(&picture);
        for _ in 0..2 {
            assert!(detector.detect(&image.view()).unwrap() == expected, "{width} x {height}");
            assert!(detector.detect(&picture.view()).unwrap() == expected, "{width} x {height}, not pinned");
        }
        // A pinned mask with gaps between its rows, and one in ordinary memory.
        let masked = self::picture(1, width, height).with_mask(|x, y| noise(2, x / 9, y / 7, 0) > 0.5);
        let expected = on_cpu(&config, &masked.view());
        let mask = with_row_gaps(masked.mask.as_ref().unwrap(), width);
        let mask = ImageView::strided(mask.samples(), width, height, 1, width + 5).unwrap();
        for _ in 0..2 {
            let view = image.view().with_mask(mask).unwrap();
            assert!(detector.detect(&view).unwrap() == expected, "{width} x {height}, masked");
            assert!(
                detector.detect(&masked.view()).unwrap() == expected,
                "{width} x {height}, masked, not pinned"
            );
        }
        // Rows with gaps, and a part of the image.
        let part = |samples| ImageView::strided(samples, width - 1, height, 1, width).unwrap();
        let expected = on_cpu(&config, &part(samples(&picture)));
        assert!(detector.detect(&part(image.samples())).unwrap() == expected, "{width} x {height}, a part");
    }
    // Rows in reverse order.
    let picture = picture(2, 300, 200);
    let image = pinned(&picture);
    let rows: Vec<u8> = (0..200).rev().flat_map(|y| samples(&picture)[300 * y..][..300].to_vec()).collect();
    let reversed = ndarray::ArrayView2::from_shape((200, 300), image.samples()).unwrap();
    let reversed = reversed.slice(ndarray::s![..;-1, ..]);
    let view = ImageView::try_from(reversed).unwrap();
    let expected = on_cpu(&config, &ImageView::gray(&rows, 300, 200).unwrap());
    assert!(detector.detect(&view).unwrap() == expected);
}

/// Frames of several sizes, pinned and not, some of which fail, on all devices.
#[test]
fn frames_and_failures_come_back_in_order() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let all: Vec<u32> = (0..devices().unwrap().len() as u32).collect();
    for (ordinals, in_flight) in [(&all[..1], 1), (&all[..1], 3), (&all[..], 2), (&all[..], 6)] {
        let mut pipeline = CudaPipeline::<u8>::on_devices(ordinals, in_flight, config.clone()).unwrap();
        assert_eq!(pipeline.max_in_flight(), ordinals.len() * in_flight);
        // Every sixth frame has a NaN.
        let nan = [[0.5_f32; 400], [f32::NAN; 400]].concat();
        let nan = ImageView::gray(&nan, 40, 20).unwrap();
        let sizes = [(640, 480), (64, 64), (40, 20), (1921, 1081), (300, 17), (640, 480)];
        let pictures: Vec<_> =
            (0..40).map(|i| picture(i, sizes[i as usize % 6].0, sizes[i as usize % 6].1)).collect();
        let mut finished = Vec::new();
        for (i, picture) in pictures.iter().enumerate() {
            if i % 6 == 2 {
                finished.extend(pipeline.push(&nan));
            } else if i % 2 == 0 {
                finished.extend(pipeline.push(&picture.view()));
            } else {
                finished.extend(pipeline.push_pinned(pinned(picture)));
            }
            assert!(pipeline.in_flight() <= pipeline.max_in_flight());
            if i % 7 == 0 {
                finished.extend(pipeline.try_next());
            }
        }
        finished.extend(std::iter::from_fn(|| pipeline.next()));
        assert_eq!((finished.len(), pipeline.in_flight()), (40, 0));
        for (i, (picture, detection)) in pictures.iter().zip(finished).enumerate() {
            assert_eq!(detection.image.is_some(), i % 2 == 1);
            if let Some(image) = detection.image {
                assert!(image.samples() == samples(picture));
            }
            match detection.result {
                Ok(found) => assert!(i % 6 != 2 && found == on_cpu(&config, &picture.view()), "{i}"),
                Err(Error::NonFinite { x: 0, y: 10, .. }) => assert_eq!(i % 6, 2),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Frames with masks among others without, in pinned and in ordinary memory. The sizes and
/// configurations select overlapped and plain uploads, fused kernels with and without a border
/// band, and the staged kernels.
#[test]
fn masks_of_frames_are_applied() {
    if !gpu::present() {
        return;
    }
    let staged = HarrisConfig::builder().gradient(harris_core::Gradient::Box { size: 5 }).build().unwrap();
    let with_border_band = HarrisConfig::builder().border(harris_core::Border::Replicate).build().unwrap();
    for config in [HarrisConfig::default(), with_border_band, staged] {
        for (width, height) in [(641, 480), (1923, 1080)] {
            let mut pipeline = CudaPipeline::<u8>::new(config.clone()).unwrap();
            let frames: Vec<_> = (0..16_u64)
                .map(|i| {
                    let picture = picture(i, width, height);
                    let masked = picture.clone().with_mask(|x, y| noise(i, x / 40, y / 30, 1) < 0.5);
                    if i % 3 == 0 { picture } else { masked }
                })
                .collect();
            let mut finished = Vec::new();
            for (i, frame) in frames.iter().enumerate() {
                finished.extend(match &frame.mask {
                    Some(mask) if i % 3 == 1 => {
                        let mut image = pinned(frame).with_mask().unwrap();
                        assert!(image.mask().unwrap().iter().all(|&byte| byte == 255));
                        image.mask_mut().unwrap().copy_from_slice(mask);
                        pipeline.push_pinned(image)
                    }
                    Some(_) => pipeline.push(&frame.view()),
                    None => pipeline.push_pinned(pinned(frame)),
                });
            }
            finished.extend(std::iter::from_fn(|| pipeline.next()));
            for (i, (frame, detection)) in frames.iter().zip(finished).enumerate() {
                assert!(detection.result.unwrap() == on_cpu(&config, &frame.view()), "{width}, {i}");
                assert_eq!(detection.image.is_some_and(|image| image.mask().is_some()), i % 3 == 1);
            }
        }
    }
}

#[test]
fn batches_on_one_and_all_devices_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let pictures: Vec<_> = (0..200).map(|i| picture(i, 320, 240)).collect();
    let pinned: Vec<_> = pictures[..50].iter().map(pinned).collect();
    let mut views: Vec<_> = pictures.iter().map(Picture::view).collect();
    views.extend(pinned.iter().map(PinnedImage::view));
    let mut cpu = CpuDetector::new(config.clone());
    let expected = cpu.detect_batch(&views).unwrap();
    let all: Vec<u32> = (0..devices().unwrap().len() as u32).collect();
    for ordinals in [&all[..1], &all[..]] {
        let mut detector = CudaDetector::on_devices(ordinals, config.clone()).unwrap();
        for _ in 0..2 {
            assert!(detector.detect_batch(&views).unwrap() == expected);
        }
        // A failing image ends the batch, and the detector still works.
        let mut with_bad = views.clone();
        with_bad[120] = ImageView::gray(&[0.5, f32::NAN], 2, 1).unwrap();
        assert!(matches!(detector.detect_batch(&with_bad), Err(Error::NonFinite { x: 1, .. })));
        assert!(detector.detect_batch(&views[..30]).unwrap() == expected[..30]);
    }
}

/// Repeated work is recorded. The result must be that of the image, whatever ran in between.
#[test]
fn recordings_serve_sizes_and_stacks_in_any_order() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let sizes = [(640, 480), (150, 90), (1280, 720)];
    let pictures = sizes.map(|(width, height)| picture(5, width, height));
    let expected = pictures.each_ref().map(|picture| on_cpu(&config, &picture.view()));
    assert!(expected[2].len() > 1024 && expected[1].len() < expected[0].len());
    let mut detector = CudaDetector::new(config.clone()).unwrap();
    // The largest comes first, so that no memory is allocated later.
    for (turn, i) in [2, 2, 2, 2, 0, 0, 0, 1, 0, 2, 1, 1, 1, 0, 1, 1, 2, 2, 0, 2].into_iter().enumerate() {
        assert!(detector.detect(&pictures[i].view()).unwrap() == expected[i], "turn {turn}");
    }
    let small: Vec<_> = (0..12).map(|i| picture(i, 200, 100)).collect();
    let views: Vec<_> = small.iter().map(Picture::view).collect();
    let expected: Vec<_> = views.iter().map(|view| on_cpu(&config, view)).collect();
    for (turn, count) in [12, 12, 12, 3, 12, 3, 3, 3, 12, 1, 1, 1, 12, 12, 3].into_iter().enumerate() {
        assert!(detector.detect_batch(&views[..count]).unwrap() == expected[..count], "turn {turn}");
    }
}

/// A threshold predicted from earlier frames does not hold once the scene is darker.
#[test]
fn mispredicted_threshold_reruns_search() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let scenes = [1.0, 0.2, 1.0, 0.0, 0.05].map(|contrast| {
        let brightness = |x, y, c| 0.5 + contrast * (noise(7, x / 3, y / 3, c) - 0.5);
        Picture::draw(Depth::U8, (2048, 1100, 1), brightness)
    });
    let lists = scenes.each_ref().map(|picture| on_cpu(&config, &picture.view()));
    // Each scene is long enough for all detectors of the pipeline.
    let frames = || (0..scenes.len() * 40).map(|i| i / 40);
    for in_flight in [1, 3] {
        let mut pipeline = CudaPipeline::<u8>::on_devices(&[0], in_flight, config.clone()).unwrap();
        let mut finished = Vec::new();
        for scene in frames() {
            finished.extend(pipeline.push(&scenes[scene].view()));
        }
        finished.extend(std::iter::from_fn(|| pipeline.next()));
        for (scene, finished) in frames().zip(finished) {
            assert!(finished.result.unwrap() == lists[scene], "scene {scene}, {in_flight} in flight");
        }
    }
    let images = scenes.each_ref().map(pinned);
    let device_images = images.each_ref().map(|image| CudaImage::upload(0, &image.view()).unwrap());
    let mut detector = CudaDetector::new(config.clone()).unwrap();
    let mut on_device = CudaDetector::new(config).unwrap();
    for scene in frames() {
        assert!(detector.detect(&images[scene].view()).unwrap() == lists[scene], "scene {scene}");
        let keypoints = on_device.detect_on_device(&device_images[scene]).unwrap();
        assert!(keypoints.to_vec().unwrap() == lists[scene], "scene {scene}");
    }
}

#[test]
fn a_pipeline_can_be_dropped_with_frames_in_flight() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::default();
    let picture = picture(3, 1920, 1080);
    let expected = on_cpu(&config, &picture.view());
    for frames in 1..6 {
        let mut pipeline = CudaPipeline::<u8>::on_devices(&[0], 4, config.clone()).unwrap();
        for i in 0..frames {
            let finished = match i % 2 {
                0 => pipeline.push_pinned(pinned(&picture)),
                _ => pipeline.push(&picture.view()),
            };
            assert!(finished.is_none_or(|finished| finished.result.unwrap() == expected));
        }
    }
    let mut detector = CudaDetector::new(config).unwrap();
    assert!(detector.detect(&picture.view()).unwrap() == expected);
}

/// Blobs, and keypoints with descriptors, of frames and batches of several sizes.
#[test]
fn blobs_and_features_stream_and_batch_like_single_images() {
    if !gpu::present() {
        return;
    }
    let features = FeatureConfig::default();
    let blobs = FastHessianConfig::default();
    let corners = FeatureConfig::new(HarrisConfig::default(), SurfConfig::default());
    let sizes = [(640, 480), (64, 64), (1921, 1081), (300, 217), (640, 480)];
    let pictures: Vec<_> =
        (0..25).map(|i| picture(i, sizes[i as usize % 5].0, sizes[i as usize % 5].1)).collect();
    let views: Vec<_> = pictures.iter().map(Picture::view).collect();
    for config in [features, corners] {
        let mut cpu = CpuFeatures::new(config.clone());
        let expected: Vec<_> = views.iter().map(|view| cpu.detect_and_describe(view).unwrap()).collect();
        let mut pipeline = CudaPipeline::<u8, _>::on_devices(&[0], 4, config.clone()).unwrap();
        let mut found = Vec::new();
        for (i, picture) in pictures.iter().enumerate() {
            let frame = if i % 2 == 0 {
                pipeline.push(&picture.view())
            } else {
                pipeline.push_pinned(pinned(picture))
            };
            found.extend(frame.map(|frame| frame.result.unwrap()));
        }
        found.extend(std::iter::from_fn(|| pipeline.next()).map(|frame| frame.result.unwrap()));
        assert!(found == expected);
        let mut one = CudaFeatures::new(config).unwrap();
        assert!(one.detect_and_describe_batch(&views).unwrap() == expected);
    }
    let mut cpu = CpuFastHessian::new(blobs.clone());
    let expected: Vec<_> = views.iter().map(|view| cpu.detect(view).unwrap()).collect();
    assert!(CudaFastHessian::new(blobs.clone()).unwrap().detect_batch(&views).unwrap() == expected);
    let mut pipeline = CudaPipeline::<u8, _>::new(blobs).unwrap();
    let mut found: Vec<_> = views.iter().filter_map(|view| pipeline.push(view)).collect();
    found.extend(std::iter::from_fn(|| pipeline.next()));
    assert!(found.into_iter().map(|frame| frame.result.unwrap()).eq(expected));
}

/// Any mix of sets on the host and on the device, from blobs and corners, one after the other.
#[test]
fn descriptors_on_the_device_match_like_those_on_the_host() {
    if !gpu::present() {
        return;
    }
    let corners = FeatureConfig::new(HarrisConfig::default(), SurfConfig::default());
    for (config, cross_check) in [(FeatureConfig::default(), false), (corners, true)] {
        let matching = MatchConfig::builder().cross_check(cross_check).build().unwrap();
        let mut matcher = CudaMatcher::new(matching).unwrap();
        let mut features = CudaFeatures::new(config.clone()).unwrap();
        let (mut cpu, mut cpu_matcher) = (CpuFeatures::new(config.clone()), CpuMatcher::new(matching));
        let object = cpu.detect_and_describe(&picture(7, 320, 240).view()).unwrap().descriptors;
        let uploaded = CudaDescriptors::upload(0, object.view()).unwrap();
        assert_eq!(uploaded.len(), object.nrows());
        let wide = picture(3, 1000, 700);
        for (seed, width, height) in [(7, 320, 240), (8, 900, 700), (9, 64, 48)] {
            let picture = picture(seed, width, height);
            let expected = cpu.detect_and_describe(&picture.view()).unwrap();
            let mut found = features.detect_and_describe_on_device(&picture.view()).unwrap();
            assert!(found.keypoints() == expected.keypoints);
            assert!(found.descriptors().unwrap() == expected.descriptors);
            let expected = cpu_matcher.matches(expected.descriptors.view(), object.view()).unwrap();
            assert!(matcher.matches_on_device(&found, &uploaded).unwrap() == expected);
            assert!(matcher.matches_on_device(&found, &object).unwrap() == expected);
            let on_host = found.descriptors().unwrap();
            assert!(matcher.matches_on_device(&on_host, &uploaded).unwrap() == expected);
            assert!(matcher.matches(on_host.view(), object.view()).unwrap() == expected);
            // Descriptors that are kept while other images are described.
            let (_, kept) =
                features.detect_and_describe_on_device(&picture.view()).unwrap().into_descriptors();
            features.detect_and_describe(&wide.view()).unwrap();
            assert!(matcher.matches_on_device(&kept, &uploaded).unwrap() == expected);
            // SAFETY: `kept` outlives it.
            #[allow(unsafe_code)]
            let raw = unsafe { CudaDescriptors::from_raw(0, kept.pointer(), kept.len()) }.unwrap();
            assert!(matcher.matches_on_device(&raw, &uploaded).unwrap() == expected);
        }
    }
    let none = CudaDescriptors::upload(0, Array2::zeros((0, 64)).view()).unwrap();
    assert!(none.is_empty());
    assert_eq!(
        CudaMatcher::new(MatchConfig::default()).unwrap().matches_on_device(&none, &none).unwrap(),
        []
    );
    assert!(CudaDescriptors::upload(0, Array2::zeros((3, 63)).view()).is_err());
}
