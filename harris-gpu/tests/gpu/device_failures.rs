//! A device that fails: the image that it fails on has the error, and the others have their
//! corners.

use crate::test_device::{InjectedFault, TestDevice};
use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::fast_hessian::FastHessianConfig;
use harris_core::features::{DetectAndDescribe, FeatureConfig, ReferenceFeatures};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::SurfConfig;
use harris_core::{Detector, Error, HarrisConfig, ReferenceDetector, Threshold, presets};
use harris_gpu::{
    DescriptorSet, Device, FrameWorker, GpuDetector, GpuFastHessian, GpuFeatures, GpuMatcher, GpuPipeline,
    UploadMode,
};

fn picture(seed: u64) -> Picture {
    Picture::draw(Depth::U8, (60, 40, 1), |x, y, _| noise(seed, x / 3, y / 3, 0))
}

fn configs() -> [HarrisConfig; 3] {
    let usual = HarrisConfig::default();
    let spaced = usual.to_builder().min_distance(5.0).build().unwrap();
    let rosin = usual.to_builder().threshold(Threshold::Rosin { bins: 64 }).build().unwrap();
    [usual, spaced, rosin]
}

#[test]
fn a_failure_at_any_call_is_returned_and_the_next_image_succeeds() {
    // At a detector's first image, at one that is recorded, and at one that is replayed.
    for (config, before) in
        configs().into_iter().flat_map(|config| [0, 2, 3].map(|before| (config.clone(), before)))
    {
        let (first, second) = (picture(1), picture(2));
        let mut reference = ReferenceDetector::new(config.clone());
        let [expected, other] = [&first, &second].map(|picture| reference.detect(&picture.view()).unwrap());
        assert!(!expected.is_empty() && expected != other);
        let device = TestDevice::default();
        // The first call that is too late for the fault ends it.
        let failed = (1..500).take_while(|&call| {
            let mut detector = GpuDetector::new(device.clone(), config.clone());
            for _ in 0..before {
                assert!(detector.detect(&second.view()).unwrap() == other);
            }
            device.fail_at(call);
            let found = detector.detect(&first.view());
            let over = device.has_failed();
            device.fail_at(0);
            match &found {
                Err(Error::Backend(cause)) => assert!(over && cause.is::<InjectedFault>(), "{cause}"),
                found => assert!(!over && *found.as_ref().unwrap() == expected, "call {call}"),
            }
            assert!(detector.detect(&second.view()).unwrap() == other, "after a fault at call {call}");
            assert!(detector.detect(&first.view()).unwrap() == expected, "after a fault at call {call}");
            over
        });
        let least = if before > 2 { 4 } else { 10 };
        let count = failed.count();
        assert!((least..499).contains(&count), "{count} of {before}");
    }
}

#[test]
fn a_failed_frame_has_the_error_in_its_place_and_the_stream_goes_on() {
    let config = presets::opencv_gftt();
    let mut reference = ReferenceDetector::new(config.clone());
    let pictures: Vec<_> = (0..9).map(picture).collect();
    let expected: Vec<_> =
        pictures.iter().map(|picture| reference.detect(&picture.view()).unwrap()).collect();
    let device = TestDevice::default();
    for call in 1..12 {
        let detectors = (0..3).map(|_| GpuDetector::new(device.clone(), config.clone())).collect();
        let mut pipeline = GpuPipeline::new([detectors]);
        let mut landed = Vec::new();
        for (i, picture) in pictures.iter().enumerate() {
            if i == 4 {
                device.fail_at(call);
            }
            landed.extend(pipeline.push(&[picture.view()], true, i));
        }
        landed.extend(std::iter::from_fn(|| pipeline.next()));
        assert!(device.has_failed());
        assert!(landed.iter().map(|(number, _)| *number).eq(0..9));
        let failed = landed.iter().filter(|(_, result)| result.is_err()).count();
        assert_eq!(failed, 1, "a fault at call {call}");
        for (number, result) in landed {
            if let Ok(lists) = result {
                assert!(lists == [expected[number].clone()], "frame {number}, a fault at call {call}");
            }
        }
    }
}

fn feature_configs() -> [FeatureConfig; 2] {
    let blobs = FastHessianConfig::builder().threshold(0.0).step(1).build().unwrap();
    [
        FeatureConfig::new(blobs, SurfConfig::default()),
        FeatureConfig::new(HarrisConfig::default(), SurfConfig::default()),
    ]
}

#[test]
fn features_work_after_a_failure_at_any_call() {
    let [blobs, corners] = feature_configs();
    // At a first image, at one that is recorded, and at one that is replayed.
    for (config, before) in [(&blobs, 0), (&blobs, 2), (&blobs, 3), (&corners, 3)] {
        let (first, second) = (picture(1), picture(2));
        let mut reference = ReferenceFeatures::new(config.clone());
        let [expected, other] =
            [&first, &second].map(|picture| reference.detect_and_describe(&picture.view()).unwrap());
        assert!(!expected.keypoints.is_empty() && expected != other);
        let device = TestDevice::default();
        let failed = (1..500).take_while(|&call| {
            let mut features = GpuFeatures::new(device.clone(), config.clone());
            for _ in 0..before {
                assert!(features.detect_and_describe(&second.view()).unwrap() == other);
            }
            device.fail_at(call);
            let found = features.detect_and_describe(&first.view());
            let over = device.has_failed();
            device.fail_at(0);
            match &found {
                Err(Error::Backend(cause)) => assert!(over && cause.is::<InjectedFault>(), "{cause}"),
                found => assert!(!over && *found.as_ref().unwrap() == expected, "call {call}"),
            }
            assert!(
                features.detect_and_describe(&second.view()).unwrap() == other,
                "after a fault at call {call}"
            );
            over
        });
        let count = failed.count();
        // Upload, replay and wait, at least.
        let least = if before == 3 { 3 } else { 8 };
        assert!((least..499).contains(&count), "{count} of {before}");
    }
}

#[test]
fn features_wait_for_the_device_once_and_keep_their_memory() {
    for config in feature_configs() {
        let device = TestDevice::default();
        let mut features = GpuFeatures::new(device.clone(), config);
        for seed in 0..3 {
            features.detect_and_describe(&picture(seed).view()).unwrap();
        }
        let epoch = features.device().recording_epoch();
        for seed in 3..9 {
            let before = device.waits();
            assert!(!features.detect_and_describe(&picture(seed).view()).unwrap().keypoints.is_empty());
            assert_eq!(device.waits() - before, 1);
        }
        assert_eq!(features.device().recording_epoch(), epoch, "memory was allocated");
    }
}

#[test]
fn a_pipeline_of_features_returns_frames_in_order_with_failures_in_their_places() {
    for config in feature_configs() {
        let device = TestDevice::default();
        let worker = |_| GpuFeatures::new(device.clone(), config.clone());
        let mut pipeline = GpuPipeline::new([(0..3).map(worker).collect()]);
        let nan = [f32::NAN; 60 * 40];
        let nan = harris_core::ImageView::gray(&nan, 60, 40).unwrap();
        let pictures: Vec<_> = (0..9).map(picture).collect();
        let mut finished = Vec::new();
        for (i, picture) in pictures.iter().enumerate() {
            let image = if i % 4 == 2 { nan } else { picture.view() };
            finished.extend(pipeline.push(&[image], i % 2 == 0, i));
        }
        finished.extend(std::iter::from_fn(|| pipeline.next()));
        assert_eq!(finished.len(), 9);
        let mut reference = ReferenceFeatures::new(config);
        for (i, (frame, result)) in finished.into_iter().enumerate() {
            assert_eq!(frame, i);
            match result {
                Ok(found) => {
                    assert!(
                        i % 4 != 2 && found == [reference.detect_and_describe(&pictures[i].view()).unwrap()]
                    );
                }
                Err(Error::NonFinite { x: 0, y: 0, .. }) => assert_eq!(i % 4, 2),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

#[test]
fn work_that_is_begun_again_or_dropped_leaves_nothing_behind() {
    let config = FastHessianConfig::builder().threshold(0.0).step(1).build().unwrap();
    let (first, second) = (picture(1), picture(2));
    let expected =
        harris_core::fast_hessian::ReferenceFastHessian::new(config.clone()).detect(&second.view()).unwrap();
    let mut detector = GpuFastHessian::new(TestDevice::default(), config);
    detector.begin(&[first.view()], UploadMode::Borrowed).unwrap();
    detector.begin(&[second.view()], UploadMode::Copied).unwrap();
    assert!(detector.finish().unwrap() == [expected.clone()]);
    detector.begin(&[first.view()], UploadMode::Borrowed).unwrap();
    detector.shrink_to_fit();
    assert!(detector.detect(&second.view()).unwrap() == expected);
}

#[test]
fn descriptors_on_the_device_match_like_those_on_the_host() {
    for config in feature_configs() {
        let pictures = [picture(1), picture(2)];
        let mut first = GpuFeatures::new(TestDevice::default(), config.clone());
        let mut second = GpuFeatures::new(TestDevice::default(), config.clone());
        let mut reference = ReferenceFeatures::new(config);
        let [a, b] = [0, 1].map(|i| reference.detect_and_describe(&pictures[i].view()).unwrap());
        assert!(first.describe_on_device(&pictures[0].view()).unwrap() == a.keypoints);
        assert!(second.describe_on_device(&pictures[1].view()).unwrap() == b.keypoints);
        assert!(first.read_descriptors(a.keypoints.len()).unwrap() == a.descriptors);
        let matching = MatchConfig::nearest();
        let expected =
            ReferenceMatcher::new(matching).matches(a.descriptors.view(), b.descriptors.view()).unwrap();
        assert!(!expected.is_empty());
        let mut matcher = GpuMatcher::new(TestDevice::default(), matching);
        let on_device = |features: &GpuFeatures<TestDevice>, len| DescriptorSet::Device {
            memory: features.descriptors_on_device().clone(),
            len,
        };
        let sets = |i: usize| {
            [on_device(&first, a.keypoints.len()), DescriptorSet::Host(a.descriptors.view())]
                .into_iter()
                .nth(i)
                .unwrap()
        };
        let train = |i: usize| {
            [on_device(&second, b.keypoints.len()), DescriptorSet::Host(b.descriptors.view())]
                .into_iter()
                .nth(i)
                .unwrap()
        };
        for (query, trained) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            assert!(
                matcher.matches_of(sets(query), train(trained)).unwrap() == expected,
                "{query}, {trained}"
            );
        }
    }
}

/// A worker that panics at its third frame, and counts those that are begun and not finished.
#[derive(Debug, Default)]
struct Panics {
    begun: usize,
    unfinished: usize,
}

impl FrameWorker for Panics {
    type Output = ();

    fn batch_len(&self, images: &[harris_core::ImageView<'_>]) -> usize {
        images.len().min(1)
    }

    fn begin(&mut self, _: &[harris_core::ImageView<'_>], _: UploadMode) -> Result<(), Error> {
        self.begun += 1;
        assert!(self.begun != 3, "the third frame");
        self.unfinished += 1;
        Ok(())
    }

    fn is_done(&self) -> bool {
        true
    }

    fn finish(&mut self) -> Result<Vec<()>, Error> {
        self.unfinished -= 1;
        Ok(vec![()])
    }

    fn describe_device(&self) -> String {
        "a test".to_owned()
    }
}

/// Samples of a batch are borrowed: no frame of it may be in flight once it is left.
#[test]
fn a_panic_in_a_batch_leaves_no_frame_in_flight() {
    let picture = picture(1);
    let mut pipeline = GpuPipeline::new([(0..2).map(|_| Panics::default()).collect::<Vec<_>>()]);
    let views = vec![picture.view(); 9];
    let left = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pipeline.run_batch(&views)));
    assert!(left.is_err() && pipeline.in_flight() == 0);
    assert_eq!(pipeline.run_batch(&views[..1]).unwrap(), [()]);
}
