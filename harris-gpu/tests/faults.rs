//! A device that fails: the image that it fails on has the error, and those around it have their corners.

mod faulty;

use faulty::{Fault, Faulty};
use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{Detector, Error, HarrisConfig, ReferenceDetector, Threshold, presets};
use harris_gpu::{GpuDetector, GpuPipeline};

fn picture(seed: u64) -> Picture {
    Picture::draw(Depth::U8, (60, 40, 1), |x, y, _| noise(seed, x / 3, y / 3, 0))
}

fn configs() -> [HarrisConfig; 3] {
    let usual = HarrisConfig::default();
    let spaced = usual.to_builder().min_distance(5.0).build().unwrap();
    let by_stages = usual.to_builder().threshold(Threshold::Rosin { bins: 64 }).build().unwrap();
    [usual, spaced, by_stages]
}

/// Wherever the device fails, the detector tells of it, and finds the next image's corners as ever.
#[test]
fn a_fault_at_any_call_is_an_error_and_passes() {
    // At a detector's first image, at one whose work it records, at one whose work it has recorded.
    for (config, before) in
        configs().into_iter().flat_map(|config| [0, 2, 3].map(|before| (config.clone(), before)))
    {
        let (first, second) = (picture(1), picture(2));
        let mut reference = ReferenceDetector::new(config.clone());
        let [expected, other] = [&first, &second].map(|picture| reference.detect(&picture.view()).unwrap());
        assert!(!expected.is_empty() && expected != other);
        let device = Faulty::default();
        // The first call that is too late for the fault ends it.
        let failed = (1..500).take_while(|&call| {
            let mut detector = GpuDetector::new(device.clone(), config.clone());
            for _ in 0..before {
                assert!(detector.detect(&second.view()).unwrap() == other);
            }
            device.set(call);
            let found = detector.detect(&first.view());
            let over = device.is_over();
            device.set(0);
            match &found {
                Err(Error::Backend(cause)) => assert!(over && cause.is::<Fault>(), "{cause}"),
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

/// A frame on which the device fails has the error in its place, and the stream goes on.
#[test]
fn a_stream_goes_on_after_a_fault() {
    let config = presets::opencv_gftt();
    let mut reference = ReferenceDetector::new(config.clone());
    let pictures: Vec<_> = (0..9).map(picture).collect();
    let expected: Vec<_> =
        pictures.iter().map(|picture| reference.detect(&picture.view()).unwrap()).collect();
    let device = Faulty::default();
    for call in 1..12 {
        let detectors = (0..3).map(|_| GpuDetector::new(device.clone(), config.clone())).collect();
        let mut pipeline = GpuPipeline::new([detectors]);
        let mut landed = Vec::new();
        for (i, picture) in pictures.iter().enumerate() {
            if i == 4 {
                device.set(call);
            }
            landed.extend(pipeline.push(&[picture.view()], true, i));
        }
        landed.extend(std::iter::from_fn(|| pipeline.next()));
        assert!(device.is_over());
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
