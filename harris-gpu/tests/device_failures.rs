//! A device that fails: the image that it fails on has the error, and the others have their
//! corners.

mod test_device;

use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{Detector, Error, HarrisConfig, ReferenceDetector, Threshold, presets};
use harris_gpu::{GpuDetector, GpuPipeline};
use test_device::{InjectedFault, TestDevice};

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
