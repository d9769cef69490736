//! Images in the device's memory, and frames that are matched there, on the host device.

use std::sync::Arc;

use crate::test_device::{InjectedFault, TestDevice};
use harris_conformance::pictures::{DEPTHS, Depth, Picture, noise};
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::features::{DetectAndDescribe, FeatureConfig, Features, ReferenceFeatures};
use harris_core::matching::{Match, MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::SurfConfig;
use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, ReferenceDetector, Subpixel};
use harris_gpu::{
    DetectOnDevice, Device, GpuDetector, GpuFastHessian, GpuFeatures, GpuMatchedFeatures, GpuPipeline,
    MatchedFeatureConfig, Resident, RowSource, Rows, TrainSet,
};
use harris_gpu_host::HostDevice;

type Memory = <HostDevice as Device>::Memory;

/// Uploads rows `pitch` bytes apart, as a caller might.
fn place(lines: RowSource<'_>, height: usize, pitch: usize) -> Memory {
    let mut device = HostDevice;
    let memory = device.allocate(pitch * height).unwrap();
    device.clear(&memory, pitch * height / 4).unwrap();
    let rows = Rows { images: &[lines], rows: 0..height, pitch, offset: 0, borrowed: true };
    device.upload(&memory, rows).unwrap();
    memory
}

/// An image in the device's memory, with gaps between its rows and those of its mask.
fn resident(image: &ImageView<'_>) -> Resident<Memory> {
    let (width, height, channels) = (image.width(), image.height(), image.channels());
    let pitch = |bytes: usize| bytes.next_multiple_of(4) + 12;
    let lines = RowSource::of(image);
    let row = pitch(lines.row(0).len());
    Resident {
        memory: place(lines, height, row),
        width,
        height,
        channels,
        pitch: row,
        depth: harris_gpu::Depth::of(image),
        mask: image.mask().map(|mask| (place(RowSource::U8(mask), height, pitch(width)), pitch(width))),
    }
}

fn keypoints(memory: &Memory, count: usize) -> Vec<Keypoint> {
    let mut words = vec![[0_f32; 4]; count];
    HostDevice.download(memory, bytemuck::cast_slice_mut(&mut words)).unwrap();
    words.into_iter().map(|[x, y, scale, response]| Keypoint { x, y, scale, response }).collect()
}

fn pictures() -> Vec<Picture> {
    let sizes = [(60, 40, 1), (41, 57, 3), (33, 70, 1)];
    let draw =
        |depth: Depth, size, seed| Picture::draw(depth, size, move |x, y, c| noise(seed, x / 3, y / 3, c));
    let mut pictures: Vec<_> = sizes
        .into_iter()
        .zip(1..)
        .flat_map(|(size, seed)| DEPTHS.map(|depth| draw(depth, size, seed)))
        .collect();
    let masked = draw(Depth::U8, (60, 40, 1), 4).with_mask(|x, y| noise(8, x / 7, y / 5, 0) > 0.4);
    pictures.insert(2, masked);
    pictures
}

fn blobs() -> FastHessianConfig {
    FastHessianConfig::builder().threshold(0.0).step(1).build().unwrap()
}

fn feature_configs() -> [FeatureConfig; 3] {
    let refined = HarrisConfig::builder().subpixel(Subpixel::Quadratic).build().unwrap();
    [
        FeatureConfig::new(blobs(), SurfConfig::default()),
        FeatureConfig::new(HarrisConfig::default(), SurfConfig::default()),
        FeatureConfig::new(refined, SurfConfig::default()),
    ]
}

/// Detects in images on the device and on the host by turns.
fn check_keypoints(
    mut detector: impl DetectOnDevice<Device = HostDevice> + Detector,
    mut reference: impl Detector,
) {
    for picture in &pictures() {
        let expected = reference.detect(&picture.view()).unwrap();
        let count = detector.detect_on_device(resident(&picture.view())).unwrap();
        assert!(keypoints(detector.keypoints_on_device(), count) == expected, "{picture:?}");
        assert!(detector.detect(&picture.view()).unwrap() == expected, "{picture:?}");
        // Begun and dropped.
        detector.begin_on_device(resident(&picture.view()), false).unwrap();
    }
}

#[test]
fn images_on_the_device_give_the_keypoints_of_the_reference() {
    check_keypoints(
        GpuDetector::new(HostDevice, HarrisConfig::default()),
        ReferenceDetector::new(HarrisConfig::default()),
    );
    check_keypoints(GpuFastHessian::new(HostDevice, blobs()), ReferenceFastHessian::new(blobs()));
}

#[test]
fn images_on_the_device_give_the_features_of_the_reference() {
    for config in feature_configs() {
        let mut features = GpuFeatures::new(HostDevice, config.clone());
        let mut reference = ReferenceFeatures::new(config);
        for picture in &pictures() {
            let expected = reference.detect_and_describe(&picture.view()).unwrap();
            let count = expected.keypoints.len();
            features.begin_on_device(resident(&picture.view()), false).unwrap();
            assert!(features.finish_on_device().unwrap() == expected.keypoints, "{picture:?}");
            assert!(features.read_descriptors(count).unwrap() == expected.descriptors, "{picture:?}");
            assert!(keypoints(features.keypoints_on_device(), count) == expected.keypoints);
            let (state, at) = features.count_on_device();
            let mut words = vec![0_u8; at + 4];
            HostDevice.download(state, &mut words).unwrap();
            assert!(u32::from_ne_bytes(words[at..].try_into().unwrap()) as usize >= count);
            features.begin_on_device(resident(&picture.view()), false).unwrap();
            assert!(features.detect_and_describe(&picture.view()).unwrap() == expected, "{picture:?}");
        }
    }
}

#[test]
fn images_on_the_device_that_are_too_small_are_errors_and_the_next_works() {
    let small = Picture::draw(Depth::U8, (6, 5, 1), |x, y, _| noise(1, x, y, 0));
    let good = Picture::draw(Depth::U8, (60, 40, 1), |x, y, _| noise(1, x / 3, y / 3, 0));
    let mut detector = GpuFastHessian::new(HostDevice, blobs());
    let error = detector.detect_on_device(resident(&small.view())).unwrap_err();
    assert!(matches!(error, Error::ImageTooSmall { .. }), "{error}");
    assert!(detector.detect_on_device(resident(&good.view())).unwrap() > 0);
    let mut features = GpuFeatures::new(HostDevice, FeatureConfig::new(blobs(), SurfConfig::default()));
    let error = features.begin_on_device(resident(&small.view()), true).unwrap_err();
    assert!(matches!(error, Error::ImageTooSmall { .. }), "{error}");
    assert!(!features.detect_and_describe(&good.view()).unwrap().keypoints.is_empty());
}

/// Frames with and without features, at changing sizes; each matches in part with the one before.
fn frames() -> Vec<Picture> {
    let frame = |i: usize| {
        let size = [(60, 40, 1), (70, 50, 1), (33, 33, 1)][i % 3];
        Picture::draw(
            Depth::U8,
            size,
            move |x, y, _| if i == 4 { 0.5 } else { noise(1, (x + i) / 3, y / 3, 0) },
        )
    };
    (0..9).map(frame).collect()
}

/// Features and matches of each frame, by the reference; frame 6 fails.
fn expected_matches(
    config: &FeatureConfig,
    matching: MatchConfig,
    fixed: Option<&Features>,
) -> Vec<(Features, Vec<Match>)> {
    let mut reference = ReferenceFeatures::new(config.clone());
    let mut matcher = ReferenceMatcher::new(matching);
    let mut before =
        fixed.cloned().unwrap_or_else(|| Features::new(Vec::new(), ndarray::Array2::zeros((0, 64))));
    let mut all = Vec::new();
    for (i, frame) in frames().iter().enumerate() {
        let found = reference.detect_and_describe(&frame.view()).unwrap();
        let matches = matcher.matches(found.descriptors.view(), before.descriptors.view()).unwrap();
        if fixed.is_none() && i != 6 {
            before = found.clone();
        }
        all.push((found, matches));
    }
    all
}

#[test]
fn frames_of_a_pipeline_match_a_fixed_set_or_the_frame_before() {
    let nan = [f32::NAN; 60 * 40];
    let nan = ImageView::gray(&nan, 60, 40).unwrap();
    for (config, cross_check) in feature_configs().into_iter().zip([false, true, false]) {
        let matching = MatchConfig::builder().ratio(1.0).cross_check(cross_check).build().unwrap();
        let object = Picture::draw(Depth::U8, (60, 40, 1), |x, y, _| noise(1, (x + 4) / 3, y / 3, 0));
        let object = ReferenceFeatures::new(config.clone()).detect_and_describe(&object.view()).unwrap();
        let none = Features::new(Vec::new(), ndarray::Array2::zeros((0, 64)));
        for fixed in [None, Some(&object), Some(&none)] {
            let train = match fixed {
                Some(features) => TrainSet::Fixed(Arc::new(features.descriptors.clone())),
                None => TrainSet::PreviousFrame,
            };
            let expected = expected_matches(&config, matching, fixed);
            let matched = expected.iter().filter(|(_, matches)| !matches.is_empty()).count();
            assert!(
                fixed.is_some_and(|set| set.keypoints.is_empty()) || matched > 4,
                "{matched} frames match"
            );
            let config = MatchedFeatureConfig::new(config.clone(), matching, train).unwrap();
            for queues in [1, 3] {
                let workers = GpuMatchedFeatures::workers(vec![HostDevice; queues], &config);
                let mut pipeline = GpuPipeline::new([workers]);
                let mut finished = Vec::new();
                for (i, frame) in frames().iter().enumerate() {
                    let image = if i == 6 { nan } else { frame.view() };
                    finished.extend(pipeline.push(&[image], i % 2 == 0, i));
                }
                finished.extend(std::iter::from_fn(|| pipeline.next()));
                assert_eq!(finished.len(), expected.len());
                for (i, ((frame, result), (features, matches))) in
                    finished.into_iter().zip(&expected).enumerate()
                {
                    assert_eq!(frame, i);
                    match result {
                        Ok(found) => {
                            let found = &found[0];
                            assert!(
                                i != 6 && found.features == *features && found.matches == *matches,
                                "frame {i}"
                            );
                            let before = if i == 7 { 5 } else { i.wrapping_sub(1) };
                            let before = expected.get(before).filter(|_| fixed.is_none());
                            let keypoints = before.map(|(features, _)| &features.keypoints[..]);
                            assert!(found.previous.as_deref() == keypoints, "frame {i}");
                        }
                        Err(Error::NonFinite { .. }) => assert_eq!(i, 6),
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        }
    }
}

/// A failure at any call has its error in a frame's place; frames after it match as before.
#[test]
fn matched_frames_work_after_a_failure_at_any_call() {
    let config = FeatureConfig::new(HarrisConfig::default(), SurfConfig::default());
    let pictures = [1, 2, 1].map(|shift| {
        Picture::draw(Depth::U8, (60, 40, 1), move |x, y, _| noise(1, (x + shift) / 3, y / 3, 0))
    });
    let mut reference = ReferenceFeatures::new(config.clone());
    let [a, b, _] = [0, 1, 2].map(|i| reference.detect_and_describe(&pictures[i].view()).unwrap());
    let mut matcher = ReferenceMatcher::new(MatchConfig::nearest());
    let mut matches = |query: &Features, train: &Features| {
        matcher.matches(query.descriptors.view(), train.descriptors.view()).unwrap()
    };
    let after_a = [matches(&a, &a), matches(&b, &a)];
    let after_b = matches(&a, &b);
    for fixed in [false, true] {
        let train = match fixed {
            true => TrainSet::Fixed(Arc::new(a.descriptors.clone())),
            false => TrainSet::PreviousFrame,
        };
        let matching = MatchedFeatureConfig::new(config.clone(), MatchConfig::nearest(), train).unwrap();
        let device = TestDevice::default();
        let failed = (1..500).take_while(|&call| {
            let workers = GpuMatchedFeatures::workers(vec![device.clone(), device.clone()], &matching);
            let mut pipeline = GpuPipeline::new([workers]);
            let mut run = |i: usize| {
                assert!(pipeline.push(&[pictures[i].view()], true, ()).is_none());
                pipeline.next().unwrap().1
            };
            run(0).unwrap();
            device.fail_at(call);
            let second = run(1);
            let over = device.has_failed();
            device.fail_at(0);
            match &second {
                Err(Error::Backend(cause)) => assert!(over && cause.is::<InjectedFault>(), "{cause}"),
                second => {
                    assert!(!over && second.as_ref().unwrap()[0].matches == after_a[1], "call {call}");
                }
            }
            let third = run(2).unwrap().remove(0);
            let expected = if fixed || over { &after_a[0] } else { &after_b };
            assert!(third.features == a && third.matches == *expected, "after a fault at call {call}");
            over
        });
        let count = failed.count();
        assert!((10..499).contains(&count), "{count}");
    }
}
