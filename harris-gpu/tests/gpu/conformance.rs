//! The tests of every backend, with kernels run and checked on the CPU.

use harris_conformance::boundaries::{Size, around_changes};
use harris_conformance::pictures::{Depth, Picture, Pixels, noise};
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::{
    Border, Detector, Gradient, HarrisConfig, Keypoint, ReferenceDetector, Subpixel, Threshold, Window,
    presets,
};
use harris_gpu::plan::{Plan, Shape};
use harris_gpu::{
    Depth as DeviceDepth, DetectOnDevice, Device, GpuDetector, GpuFastHessian, GpuFeatures, GpuMatcher,
    GpuPipeline, GpuSurf, Resident,
};
use harris_gpu_host::HostDevice;

harris_conformance::suite!(
    host,
    |config| Box::new(GpuDetector::new(HostDevice, config)),
    || true,
    |config, depth, channels| around_changes(|size| plan(config, depth, channels, size))
);

/// The text of the plan for an image.
fn plan(config: &HarrisConfig, depth: Depth, channels: usize, (width, height): Size) -> String {
    let depth = match depth {
        Depth::U8 => DeviceDepth::U8,
        Depth::U16 => DeviceDepth::U16,
        Depth::F32 => DeviceDepth::F32,
    };
    let shape = Shape {
        width: width as u32,
        height: height as u32,
        channels: channels as u32,
        depth,
        stride: (width * channels).next_multiple_of(4),
        mask_pitch: 0,
        images: 1,
    };
    Plan::of(&shape, config).to_string()
}

#[test]
fn the_default_plan_changes_with_the_size() {
    let config = HarrisConfig::default();
    assert!(!around_changes(|size| plan(&config, Depth::U8, 1, size)).is_empty());
}

/// More corners than lists hold at first.
#[test]
fn overflowed_lists_are_rebuilt() {
    let (width, height) = (640, 480);
    let picture = Picture::draw(Depth::U8, (width, height, 1), |x, y, _| noise(1, x, y, 0));
    let config = presets::opencv_gftt().to_builder().threshold(Threshold::None).build().unwrap();
    let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
    assert!(expected.len() > width * height / 32 + 1024, "only {} corners", expected.len());
    for mut detector in
        [GpuDetector::new(HostDevice, config.clone()), GpuDetector::new(HostDevice, config).staged()]
    {
        for _ in 0..2 {
            assert!(detector.detect(&picture.view()).unwrap() == expected);
        }
    }
}

/// More corners than the image before had, so that fewer are expected: also where keypoints are
/// copied to the host.
#[test]
fn lists_longer_than_expected_are_complete() {
    let draw = |few: bool| {
        let spots =
            move |x: usize, y: usize, c| if few && (x > 30 || y > 30) { 0.0 } else { noise(1, x, y, c) };
        Picture::draw(Depth::U8, (240, 160, 1), spots)
    };
    let (many, few) = (draw(false), draw(true));
    for subpixel in [Subpixel::None, Subpixel::Forstner { radius: 3 }] {
        let config = presets::opencv_gftt().to_builder().threshold(Threshold::None).subpixel(subpixel);
        let config = config.build().unwrap();
        let expected =
            |picture: &Picture| ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
        let expected = [expected(&many), expected(&few)];
        assert!(expected[0].len() > 1500 && expected[1].len() < 500, "{:?}", expected.map(|list| list.len()));
        let mut detector = GpuDetector::new(HostDevice, config);
        for i in [0, 0, 1, 0, 1] {
            assert!(detector.detect(&[&many, &few][i].view()).unwrap() == expected[i], "{subpixel:?}, {i}");
        }
    }
}

/// Images high enough for short tiles below the others, of all heights that leave different numbers
/// of rows for the last.
#[test]
fn tiles_of_different_heights_miss_no_row() {
    for config in [presets::opencv_gftt(), HarrisConfig::default()] {
        let config = config.to_builder().threshold(Threshold::None).margin(0).build().unwrap();
        for height in 380..400 {
            let picture = Picture::draw(Depth::U8, (130, height, 1), |x, y, _| noise(1, x, y, 0));
            let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
            let mut detector = GpuDetector::new(HostDevice, config.clone());
            assert!(detector.detect(&picture.view()).unwrap() == expected, "{config:?}, {height} rows");
        }
    }
}

/// Images wider and higher than a tile of box sums, with rows that are aligned to words and rows
/// that are not.
#[test]
fn box_sums_of_several_tiles_equal_the_reference() {
    let configs = [
        presets::lococo_2011().to_builder(),
        HarrisConfig::builder().gradient(Gradient::Box { size: 31 }).window(Window::Box { size: 57 }),
        HarrisConfig::builder().window(Window::Box { size: 127 }),
        HarrisConfig::builder().gradient(Gradient::Scharr3).window(Window::Box { size: 3 }),
    ];
    for (i, (width, height)) in [(1536, 11), (1540, 33), (769, 40), (772, 90)].into_iter().enumerate() {
        for (depth, channels) in [(Depth::U8, 1), (Depth::U16, 3)] {
            let picture =
                Picture::draw(depth, (width, height, channels), |x, y, c| noise(i as u64, x / 3, y / 3, c));
            for (j, builder) in configs.iter().enumerate() {
                let border = [Border::Reflect101, Border::Replicate, Border::Zero][(i + j) % 3];
                let config = builder.clone().border(border).build().unwrap();
                let expected = ReferenceDetector::new(config.clone()).response(&picture.view()).unwrap();
                let found = GpuDetector::new(HostDevice, config).response(&picture.view()).unwrap();
                assert!(found == expected, "{width} x {height}, {channels} channels, configuration {j}");
            }
        }
    }
}

/// Images whose responses mostly fall into one of Rosin's bins, which differs from place to place.
#[test]
fn histograms_with_one_dominant_bin_are_complete() {
    for seed in 0..6 {
        let uniform = move |x: usize, y: usize, c: usize| match (x + 7 * seed) % 90 {
            0..60 => 0.3,
            // Along a slanted edge responses are alike, too, and not those of a flat area.
            60..80 => f64::from(u8::from((y + x / 8) % 4 < 2)),
            _ => noise(seed as u64, x, y, c),
        };
        let picture = Picture::draw(Depth::U8, (300, 40, 1), uniform);
        for bins in [8, 64, 1000, 65_536] {
            let config = HarrisConfig::builder().threshold(Threshold::Rosin { bins }).build().unwrap();
            let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
            assert!(!expected.is_empty(), "nothing to compare");
            let found = GpuDetector::new(HostDevice, config).detect(&picture.view()).unwrap();
            assert!(found == expected, "{bins} bins, seed {seed}: {} for {}", found.len(), expected.len());
        }
    }
}

/// Frames through several detectors, whose results come in order, failures in their places.
#[test]
fn frames_come_back_in_order() {
    let config = presets::opencv_gftt();
    let detectors = |count| (0..count).map(|_| GpuDetector::new(HostDevice, config.clone())).collect();
    let mut pipeline = GpuPipeline::new([detectors(2), detectors(1)]);
    let pictures: Vec<_> = (0..7)
        .map(|seed| {
            Picture::draw(Depth::U8, (20 + seed, 18, 1), |x, y, _| noise(seed as u64, x / 2, y / 2, 0))
        })
        .collect();
    let bad = [f32::NAN; 64];
    let bad = harris_core::ImageView::gray(&bad, 8, 8).unwrap();
    let mut landed = Vec::new();
    for (i, picture) in pictures.iter().enumerate() {
        let image = if i == 3 { bad } else { picture.view() };
        landed.extend(pipeline.push(&[image], i % 2 == 0, i));
        assert_eq!(pipeline.in_flight(), (i + 1).min(3));
    }
    landed.extend(std::iter::from_fn(|| pipeline.next()));
    assert_eq!(landed.len(), 7);
    for (i, (number, result)) in landed.into_iter().enumerate() {
        assert_eq!(number, i);
        match result {
            Ok(lists) => {
                let expected = ReferenceDetector::new(config.clone()).detect(&pictures[i].view()).unwrap();
                assert!(i != 3 && lists == [expected]);
            }
            Err(error) => assert!(i == 3 && matches!(error, harris_core::Error::NonFinite { .. })),
        }
    }
}

/// Rows of bytes in the device's memory.
fn on_device(samples: &[u8], row: usize, pitch: usize) -> <HostDevice as Device>::Memory {
    // As of a part of an image at its end: behind the last row there is nothing.
    let bytes = (pitch * (samples.len() / row - 1) + row).next_multiple_of(4);
    let memory = HostDevice.allocate(bytes).unwrap();
    for (i, &sample) in samples.iter().enumerate() {
        memory.set_byte(i / row * pitch + i % row, sample);
    }
    // What lies between rows may be read, and has no part in anything.
    for i in 0..bytes {
        if memory.written(i).is_none() {
            memory.set_byte(i, 0xA5);
        }
    }
    memory
}

/// A picture of bytes in the device's memory, and its mask.
fn resident(picture: &Picture, pitch: usize) -> Resident<<HostDevice as Device>::Memory> {
    let Pixels::U8(samples) = &picture.samples else { unreachable!("drawn so") };
    let view = picture.view();
    let (width, height, channels) = (view.width(), view.height(), view.channels());
    let memory = on_device(samples, width * channels, pitch);
    let mask_pitch = (width + pitch % 8).next_multiple_of(4);
    let mask = picture.mask.as_ref().map(|mask| (on_device(mask, width, mask_pitch), mask_pitch));
    Resident { memory, width, height, channels, pitch, depth: DeviceDepth::U8, mask }
}

/// The keypoints that a detector left in the device's memory.
fn read_keypoints(detector: &GpuDetector<HostDevice>, count: usize) -> Vec<Keypoint> {
    let mut words = vec![[0_f32; 4]; count];
    let on_device = detector.keypoints_on_device().clone();
    HostDevice.download(&on_device, bytemuck::cast_slice_mut(&mut words)).unwrap();
    words.into_iter().map(|[x, y, scale, response]| Keypoint { x, y, scale, response }).collect()
}

/// Images that are in the device's memory, with the fused sweep and with one kernel a stage.
#[test]
fn resident_images_give_the_same_corners() {
    for ((width, height, channels), pitch, masked) in [
        ((45, 37, 1), 48, false),
        ((45, 37, 1), 47, false),
        ((20, 40, 1), 64, false),
        ((20, 16, 3), 64, false),
        ((45, 37, 1), 48, true),
        ((45, 37, 1), 52, true),
        ((44, 37, 1), 47, true),
        ((250, 30, 1), 256, true),
        ((131, 16, 3), 396, true),
    ] {
        let mut picture =
            Picture::draw(Depth::U8, (width, height, channels), |x, y, c| noise(5, x / 2, y / 2, c));
        if masked {
            picture = picture.with_mask(|x, y| noise(6, x / 3, y / 5, 0) > 0.5);
        }
        for config in [presets::opencv_gftt(), presets::chahuara_2017()] {
            let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
            let mut detector = GpuDetector::new(HostDevice, config);
            for _ in 0..2 {
                detector.begin_on_device(resident(&picture, pitch), false).unwrap();
                let (memory, at) = detector.count_on_device();
                let mut words = vec![0; at + 4];
                HostDevice.download(&memory.clone(), &mut words).unwrap();
                let count = u32::from_ne_bytes(words[at..].try_into().unwrap());
                assert_eq!(count as usize, expected.len());
                assert!(detector.keypoint_capacity() >= expected.len());
                let found = detector.finish_on_device().unwrap();
                assert_eq!(found, expected.len());
                assert_eq!(read_keypoints(&detector, found), expected);
                let mut mask = vec![7_u8; width * height];
                detector.keypoint_mask_on_device::<u8>(found, width, height).unwrap();
                detector.read_keypoint_mask(&mut mask).unwrap();
                let is_one = |i| {
                    u8::from(expected.iter().any(|k| (k.x, k.y) == ((i % width) as f32, (i / width) as f32)))
                };
                assert!(mask.iter().copied().eq((0..mask.len()).map(is_one)));
                let mut floats = vec![7.0_f32; width * height];
                detector.keypoint_mask_on_device::<f32>(found, width, height).unwrap();
                detector.read_keypoint_mask(&mut floats).unwrap();
                assert!(floats.into_iter().eq(mask.into_iter().map(f32::from)));
            }
            let map = detector.response(&picture.view()).unwrap();
            detector.respond_on_device(resident(&picture, pitch)).unwrap();
            let mut read = vec![f32::NAN; width * height];
            detector.read_responses(&mut read).unwrap();
            assert!(map.iter().eq(&read));
        }
    }
}

/// What one image leaves in the device's memory does not change the next one's list, resident or
/// uploaded.
#[test]
fn images_do_not_affect_later_lists() {
    let size = (300, 200, 1);
    let strong = Picture::draw(Depth::U8, size, |x, y, _| noise(5, x / 3, y / 3, 0));
    let weak = Picture::draw(Depth::U8, size, |x, y, _| 0.5 + 0.05 * noise(6, x / 3, y / 3, 0));
    let equal = Picture::draw(Depth::U8, size, |x, y, _| f64::from(u8::from(x % 8 == 4 && y % 8 == 4)));
    let small = Picture::draw(Depth::U8, (70, 50, 1), |x, y, _| 0.3 * noise(7, x / 2, y / 2, 0));
    let many = Picture::draw(Depth::U8, size, |x, y, _| noise(8, x, y, 0));
    let pictures = [strong, weak, equal, small, many];
    let config = presets::opencv_gftt();
    let expected = pictures
        .each_ref()
        .map(|picture| ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap());
    assert!(expected.iter().all(|list| list.len() > 50), "{:?}", expected.map(|list| list.len()));
    assert!(expected[4].len() > 300 * 200 / 32 + 1024, "lists have room for {}", expected[4].len());
    // Equal responses overflow a bucket. Many corners overflow the list.
    for special in [1, 2, 4] {
        let mut detector = GpuDetector::new(HostDevice, config.clone());
        for (i, on_device) in [
            (0, true),
            (1, true),
            (0, true),
            (1, false),
            (1, true),
            (0, false),
            (special, true),
            (1, true),
            (3, true),
            (1, true),
            (0, true),
            (1, false),
            (3, true),
            (1, true),
        ] {
            let picture = &pictures[i];
            let found = if on_device {
                let found = detector.detect_on_device(resident(picture, picture.view().width())).unwrap();
                read_keypoints(&detector, found)
            } else {
                detector.detect(&picture.view()).unwrap()
            };
            assert!(
                found == expected[i],
                "{special}, {i}, {on_device}: {} of {}",
                found.len(),
                expected[i].len()
            );
        }
    }
}

/// More blobs than the list holds at first.
#[test]
fn overflowed_lists_of_blobs_are_rebuilt() {
    let picture = Picture::draw(Depth::U8, (260, 250, 1), |x, y, _| noise(1, x, y, 0));
    let config = FastHessianConfig::builder().step(1).threshold(0.0).build().unwrap();
    let expected = ReferenceFastHessian::new(config.clone()).detect(&picture.view()).unwrap();
    // More than the list holds at first: a 256th of the samples that are compared, fewer than three
    // times the pixels, and 256.
    assert!(expected.len() > 3 * 260 * 250 / 256 + 256, "only {} blobs", expected.len());
    let mut detector = GpuFastHessian::new(HostDevice, config);
    for _ in 0..2 {
        assert!(detector.detect(&picture.view()).unwrap() == expected);
    }
}

harris_conformance::features!(
    host_features,
    harris_conformance::Features {
        detector: |config| Box::new(GpuFastHessian::new(HostDevice, config)),
        extractor: |config| Box::new(GpuSurf::new(HostDevice, config)),
        matcher: |config| Box::new(GpuMatcher::new(HostDevice, config)),
        features: |config| Box::new(GpuFeatures::new(HostDevice, config)),
    }
);
