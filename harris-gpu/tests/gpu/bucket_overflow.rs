//! More equal responses than a bucket holds: the list is merged once, and splitters from it divide
//! the buckets of later images.

use crate::test_device::{InjectedFault, TestDevice};
use harris_conformance::pictures::{Depth, Picture, dots, noise};
use harris_core::{
    Detector, Error, HarrisConfig, Keypoint, Order, ReferenceDetector, Subpixel, Threshold, presets,
};
use harris_gpu::GpuDetector;
use harris_gpu_kernels::abi::buckets;

fn expected(config: &HarrisConfig, picture: &Picture) -> Vec<Keypoint> {
    ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap()
}

fn assert_overflows(corners: &[Keypoint]) {
    let equal = corners.iter().filter(|corner| corner.response == corners[corners.len() / 2].response);
    let equal = equal.count();
    assert!(equal > buckets::CAPACITY as usize, "only {equal} equal responses");
}

#[test]
fn overflowed_buckets_are_merged_once_and_then_split_evenly() {
    let config = presets::opencv_gftt().to_builder();
    let configs = [
        config.clone(),
        config.clone().max_corners(70).order(Order::Raster),
        config.clone().subpixel(Subpixel::Quadratic),
        config.clone().subpixel(Subpixel::Forstner { radius: 3 }),
        config.min_distance(11.0),
    ];
    for config in configs.map(|config| config.build().unwrap()) {
        assert_overflows(&expected(&presets::opencv_gftt(), &dots(0, 3)));
        let device = TestDevice::default();
        let mut detector = GpuDetector::new(device.clone(), config.clone());
        // A second sort in raster order is by merging always, of the first image twice.
        let second = |times| if config.order() == Order::Raster { times } else { 0 };
        for i in 0..7 {
            let picture = dots(i / 2, 3);
            let found = detector.detect(&picture.view()).unwrap();
            assert!(found == expected(&config, &picture), "{config:?}, image {i}");
            assert_eq!(device.merge_sorts(), 1 + second(2 + i), "{config:?}, image {i}");
        }
        assert!(device.replays() > 0);
    }
}

/// Rows with more corners than a bucket of so many pixels holds, in raster order.
#[test]
fn overflowed_rows_are_merged_once() {
    let is_dot = |x: usize, y: usize| x.is_multiple_of(4) && (y == 200 || y == 204);
    let dot = |x, y| if is_dot(x, y) { 0.2 + 0.8 * noise(1, x, y, 0) } else { 0.0 };
    let picture = Picture::draw(Depth::U8, (2048, 560, 1), |x, y, _| dot(x, y));
    let config = presets::opencv_gftt().to_builder().threshold(Threshold::None).order(Order::Raster);
    for subpixel in [Subpixel::None, Subpixel::Quadratic] {
        let config = config.clone().subpixel(subpixel).build().unwrap();
        let device = TestDevice::default();
        let mut detector = GpuDetector::new(device.clone(), config.clone());
        let expected = expected(&config, &picture);
        for i in 0..3 {
            assert!(detector.detect(&picture.view()).unwrap() == expected, "{config:?}, image {i}");
        }
        assert_eq!(device.merge_sorts(), 1, "{config:?}: {} corners", expected.len());
    }
}

/// Corners that all lie between two splitters are merged, and equal steps are tried again.
#[test]
fn splitters_that_no_longer_fit_are_given_up() {
    let config = presets::opencv_gftt();
    let weak = Picture::draw(Depth::U8, (200, 120, 1), |x, y, _| 0.1 * noise(1, x / 5, y / 5, 0));
    let device = TestDevice::default();
    let mut detector = GpuDetector::new(device.clone(), config.clone());
    let mut merged = Vec::new();
    for levels in [3, 3, 9, 9, 9, 0, 0, 3, 3] {
        let picture = if levels > 0 { dots(0, levels) } else { weak.clone() };
        assert!(detector.detect(&picture.view()).unwrap() == expected(&config, &picture));
        merged.push(device.merge_sorts());
    }
    // Stronger corners are all before the first splitter, and overflow equal steps, too. Weaker
    // ones are all behind the last.
    assert_eq!(merged, [1, 1, 2, 3, 3, 4, 4, 5, 5]);
}

/// Batches of several sizes, in each of which buckets of some images overflow.
#[test]
fn splitters_serve_batches_of_any_size() {
    let config = HarrisConfig::default().to_builder().suppression_radius(1).build().unwrap();
    let pictures: Vec<_> = (0..5).map(|i| dots(i, [3, 0, 8, 3, 3][i])).collect();
    let views: Vec<_> = pictures.iter().map(Picture::view).collect();
    let lists: Vec<_> = pictures.iter().map(|picture| expected(&config, picture)).collect();
    assert_overflows(&lists[0]);
    let device = TestDevice::default();
    let mut detector = GpuDetector::new(device.clone(), config);
    for (i, count) in [3, 3, 5, 5, 2, 5].into_iter().enumerate() {
        assert!(detector.detect_batch(&views[..count]).unwrap() == lists[..count], "batch {i} of {count}");
    }
    assert_eq!(device.merge_sorts(), 2);
}

/// Splitters are used only where the calls that compute them succeeded.
#[test]
fn a_failure_at_any_call_leaves_no_invalid_splitters() {
    let config = presets::opencv_gftt();
    let pictures = [dots(0, 3), dots(1, 3)];
    let [first, second] = pictures.each_ref().map(|picture| expected(&config, picture));
    for before in [0, 1, 4] {
        let device = TestDevice::default();
        let failed = (1..200).take_while(|&call| {
            let mut detector = GpuDetector::new(device.clone(), config.clone());
            for _ in 0..before {
                assert!(detector.detect(&pictures[1].view()).unwrap() == second);
            }
            device.fail_at(call);
            let found = detector.detect(&pictures[0].view());
            let over = device.has_failed();
            device.fail_at(0);
            match &found {
                Err(Error::Backend(cause)) => assert!(over && cause.is::<InjectedFault>(), "{cause}"),
                found => assert!(!over && *found.as_ref().unwrap() == first, "call {call}"),
            }
            for _ in 0..2 {
                assert!(detector.detect(&pictures[1].view()).unwrap() == second, "after call {call}");
                assert!(detector.detect(&pictures[0].view()).unwrap() == first, "after call {call}");
            }
            over
        });
        let count = failed.count();
        assert!((4..199).contains(&count), "{count} of {before}");
    }
}
