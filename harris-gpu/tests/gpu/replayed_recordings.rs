//! Work that repeats is recorded and replayed: corners are those of the image at hand, whatever
//! came between.

use crate::test_device::{Memory, TestDevice};
use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::features::{DetectAndDescribe, FeatureConfig, ReferenceFeatures};
use harris_core::surf::SurfConfig;
use harris_core::{Detector, HarrisConfig, Keypoint, Order, ReferenceDetector, Subpixel};
use harris_gpu::{
    DetectOnDevice, Device, GpuDetector, GpuFastHessian, GpuFeatures, Resident, RowSource, Rows,
};

fn picture(seed: u64, width: usize, height: usize) -> Picture {
    Picture::draw(Depth::U8, (width, height, 1), |x, y, _| noise(seed, x / 3, y / 3, 0))
}

fn expected(picture: &Picture) -> Vec<Keypoint> {
    ReferenceDetector::new(HarrisConfig::default()).detect(&picture.view()).unwrap()
}

#[test]
fn sizes_that_alternate_are_replayed() {
    let device = TestDevice::default();
    let mut detector = GpuDetector::new(device.clone(), HarrisConfig::default());
    // One is uploaded in one block, the other in several.
    for (i, size) in (0..12).map(|i| (i, [(48, 40), (80, 70)][i as usize % 2])) {
        let picture = picture(i, size.0, size.1);
        let corners = detector.detect(&picture.view()).unwrap();
        assert!(!corners.is_empty() && corners == expected(&picture), "image {i}");
    }
    // Of each size the first image may allocate memory, the next is only noted, and the next is
    // recorded.
    assert!(device.replays() >= 6, "{} replayed", device.replays());
}

/// Images of one size and in one place, also where corners are found in the response map.
#[test]
fn sample_types_that_alternate_are_replayed() {
    let default = HarrisConfig::builder();
    for builder in
        [default.clone(), default.clone().subpixel(Subpixel::Quadratic), default.suppression_radius(4)]
    {
        let config = builder.build().unwrap();
        let mut reference = ReferenceDetector::new(config.clone());
        let device = TestDevice::default();
        let mut detector = GpuDetector::new(device.clone(), config);
        for i in 0..18 {
            // The longest samples first: the others fit into the same memory.
            let depth = [Depth::F32, Depth::U16, Depth::U8][i as usize % 3];
            let picture = Picture::draw(depth, (64, 40, 1), |x, y, _| noise(i, x / 3, y / 3, 0));
            let expected = reference.detect(&picture.view()).unwrap();
            assert!(
                !expected.is_empty() && detector.detect(&picture.view()).unwrap() == expected,
                "image {i}"
            );
        }
        assert!(device.replays() >= 9, "{} replayed", device.replays());
    }
}

#[test]
fn borrowed_and_copied_uploads_that_alternate_are_replayed() {
    let device = TestDevice::default();
    let mut detector = GpuDetector::new(device.clone(), HarrisConfig::default());
    for i in 0..16 {
        let picture = picture(i, 64, 24);
        let expected = expected(&picture);
        let found = if i % 2 == 0 {
            detector.detect(&picture.view()).unwrap()
        } else {
            detector.begin(&[picture.view()], false).unwrap();
            detector.finish().unwrap().remove(0)
        };
        assert!(!expected.is_empty() && found == expected, "image {i}");
    }
    assert!(device.replays() >= 10, "{} replayed", device.replays());
}

fn resident(picture: &Picture, memory: &Memory) -> Resident<Memory> {
    let view = picture.view();
    let (width, height) = (view.width(), view.height());
    let lines = [RowSource::of(&view)];
    let rows = Rows { images: &lines, rows: 0..height, pitch: width, offset: 0, borrowed: false };
    TestDevice::default().upload(memory, rows).unwrap();
    Resident {
        memory: memory.clone(),
        width,
        height,
        channels: 1,
        pitch: width,
        depth: harris_gpu::Depth::U8,
        mask: None,
    }
}

/// Masks come and go, in one place and in others, with images that stay where they are.
#[test]
fn resident_masks_that_change_place_are_told_apart() {
    let (width, height) = (64, 40);
    let device = TestDevice::default();
    let config = HarrisConfig::default().to_builder().order(Order::Raster).build().unwrap();
    let mut reference = ReferenceDetector::new(config.clone());
    let mut detector = GpuDetector::new(device.clone(), config);
    let place = |pitch| device.allocate(pitch * height).unwrap();
    let (image, masks) = (place(width), [68, 68].map(place));
    let bytes = |memory: &Memory| (0..68 * height).map(|i| memory.byte(i)).collect::<Vec<_>>();
    for mask in &masks {
        device.clear(mask, 17 * height).unwrap();
    }
    for i in 0..72 {
        let mut picture = picture(i, width, height);
        if i % 3 != 0 {
            picture = picture.with_mask(|x, y| noise(i, x / 5, y / 5, 1) > 0.4);
        }
        let expected = reference.detect(&picture.view()).unwrap();
        assert!(!expected.is_empty());
        if i < 30 && i % 5 == 4 {
            let before = masks.each_ref().map(bytes);
            assert!(detector.detect(&picture.view()).unwrap() == expected, "image {i}, uploaded");
            assert!(before == masks.each_ref().map(bytes), "image {i}: the caller's masks are written");
            continue;
        }
        let mut on_device = resident(&picture, &image);
        if let Some(mask) = &picture.mask {
            let (memory, pitch) = (&masks[i as usize / 3 % 2], [64, 68][i as usize % 2]);
            let lines = [RowSource::Packed(mask, width)];
            let rows = Rows { images: &lines, rows: 0..height, pitch, offset: 0, borrowed: false };
            TestDevice::default().upload(memory, rows).unwrap();
            on_device.mask = Some((memory.clone(), pitch));
        }
        let len = detector.detect_on_device(on_device).unwrap();
        assert!(read_keypoints(&detector, len) == expected, "image {i}");
    }
    assert!(device.replays() >= 24, "{} replayed", device.replays());
}

/// The keypoints that a detector left in the device's memory.
fn read_keypoints(detector: &GpuDetector<TestDevice>, len: usize) -> Vec<Keypoint> {
    let words: Vec<f32> = (0..4 * len)
        .map(|i| {
            f32::from_le_bytes([0, 1, 2, 3].map(|byte| detector.keypoints_on_device().byte(4 * i + byte)))
        })
        .collect();
    (words.chunks(4))
        .map(|word| Keypoint { x: word[0], y: word[1], scale: word[2], response: word[3] })
        .collect()
}

/// As from a decoder that has several pictures in flight.
#[test]
fn resident_images_are_replayed_by_place() {
    for (places, at_least) in [(1, 20), (3, 14), (12, 0)] {
        let device = TestDevice::default();
        let config = HarrisConfig::default().to_builder().order(Order::Raster).build().unwrap();
        let mut reference = ReferenceDetector::new(config.clone());
        let mut detector = GpuDetector::new(device.clone(), config);
        let memory: Vec<_> = (0..places).map(|_| device.allocate(64 * 40).unwrap()).collect();
        for i in 0..24 {
            let picture = picture(i, 64, 40);
            let len = detector.detect_on_device(resident(&picture, &memory[i as usize % places])).unwrap();
            assert!(
                len > 0 && read_keypoints(&detector, len) == reference.detect(&picture.view()).unwrap(),
                "image {i} of {places}"
            );
        }
        assert!(device.replays() >= at_least, "{} of {places} replayed", device.replays());
    }
}

/// Images of several sizes, types and masks by turns, some with many blobs and some with few.
#[test]
fn replayed_blobs_and_features_equal_the_reference() {
    let draw = |depth, size, seed, step: usize| {
        Picture::draw(depth, size, move |x, y, c| noise(seed, x / step, y / step, c))
    };
    let masked = draw(Depth::U8, (60, 40, 1), 1, 3).with_mask(|x, y| noise(8, x / 7, y / 5, 0) > 0.4);
    let pictures = [
        draw(Depth::U8, (60, 40, 1), 2, 3),
        masked,
        draw(Depth::U8, (60, 40, 1), 3, 20),
        draw(Depth::F32, (60, 40, 1), 4, 3),
        draw(Depth::U8, (47, 61, 3), 5, 3),
        draw(Depth::U8, (60, 40, 1), 6, 4),
    ];
    let blobs = FastHessianConfig::builder().threshold(0.0).step(1).build().unwrap();
    let device = TestDevice::default();
    let mut detector = GpuFastHessian::new(device.clone(), blobs.clone());
    let mut reference = ReferenceFastHessian::new(blobs.clone());
    let expected = pictures.each_ref().map(|picture| reference.detect(&picture.view()).unwrap());
    for round in 0..60 {
        let i = (round * round / 3 + round / 7) % pictures.len();
        assert!(detector.detect(&pictures[i].view()).unwrap() == expected[i], "round {round}");
    }
    let replays = device.replays();
    assert!(replays > 20, "{replays} replays");
    let config = FeatureConfig::new(blobs, SurfConfig::default());
    let mut features = GpuFeatures::new(device.clone(), config.clone());
    let mut reference = ReferenceFeatures::new(config);
    let expected = pictures.each_ref().map(|picture| reference.detect_and_describe(&picture.view()).unwrap());
    for round in 0..60 {
        let i = (round * round / 3 + round / 7) % pictures.len();
        if round % 9 == 5 {
            // Descriptors that stay on the device are another recording.
            assert!(features.describe_on_device(&pictures[i].view()).unwrap() == expected[i].keypoints);
            continue;
        }
        let found = features.detect_and_describe(&pictures[i].view()).unwrap();
        assert!(found == expected[i], "round {round}");
    }
    assert!(device.replays() - replays > 20, "{} replays", device.replays() - replays);
}
