//! Thresholds predicted from the images before: verified, or the image is searched again.

use crate::test_device::{InjectedFault, TestDevice};
use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, Keypoint, Measure, Order, ReferenceDetector, Subpixel,
    Threshold, presets,
};
use harris_gpu::{DetectOnDevice, Device, GpuDetector, Resident, RowSource};
use harris_gpu_kernels::abi::prediction::LEAST_HELD;

/// Images until a prediction is used: the first makes one, and it must hold for all the others.
const FIRST_USE: usize = LEAST_HELD as usize + 1;

/// Noise of a contrast around mid-gray.
fn picture(seed: u64, contrast: f64) -> Picture {
    Picture::draw(Depth::U8, (161, 97, 1), |x, y, _| 0.5 + contrast * (noise(seed, x / 3, y / 3, 0) - 0.5))
}

fn expected(config: &HarrisConfig, picture: &Picture) -> Vec<Keypoint> {
    ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap()
}

/// Finds the corners of images of some contrasts, one after the other; returns how many times each
/// was searched.
fn searches(config: &HarrisConfig, contrasts: &[f64]) -> Vec<usize> {
    let device = TestDevice::default();
    let mut detector = GpuDetector::new(device.clone(), config.clone());
    let mut find = |(i, &contrast): (usize, &f64)| {
        let (picture, before) = (picture(i as u64, contrast), device.bucket_sorts());
        let found = detector.detect(&picture.view()).unwrap();
        assert!(found == expected(config, &picture), "{config:?}, image {i} of contrast {contrast}");
        device.bucket_sorts() - before
    };
    contrasts.iter().enumerate().map(&mut find).collect()
}

/// The contrasts of `steady` alike images, followed by others.
fn after(steady: usize, others: &[f64]) -> Vec<f64> {
    let mut contrasts = vec![0.9; steady];
    contrasts.extend(others);
    contrasts
}

#[test]
fn mispredicted_threshold_reruns_search() {
    let config = HarrisConfig::default();
    // A response is of the contrast's fourth power: 0.8 is within what is allowed for, 0.3 is not.
    let contrasts = after(FIRST_USE, &[0.8, 0.9, 0.3, 0.3, 0.9]);
    let mut expected = vec![1; contrasts.len()];
    expected[FIRST_USE + 2] = 2;
    assert_eq!(searches(&config, &contrasts), expected);
    // One image less, and no prediction is used yet.
    assert_eq!(searches(&config, &after(FIRST_USE - 1, &[0.3])), vec![1; FIRST_USE]);
    // After a prediction failed, as many must hold again.
    let mut contrasts = after(FIRST_USE, &[0.3]);
    contrasts.extend(after(FIRST_USE - 2, &[0.3]));
    assert_eq!(searches(&config, &contrasts).iter().filter(|&&count| count > 1).count(), 1);
    // An image without any corner.
    let mut expected = vec![1; FIRST_USE + 3];
    expected[FIRST_USE] = 2;
    assert_eq!(searches(&config, &after(FIRST_USE, &[0.0, 0.0, 0.9])), expected);
}

#[test]
fn predictions_change_no_list_under_any_configuration() {
    let config = HarrisConfig::default().to_builder();
    let configs = [
        config.clone().order(Order::Raster),
        config.clone().order(Order::Raster).max_corners(20),
        config.clone().measure(Measure::ShiTomasi).subpixel(Subpixel::Quadratic),
        config.clone().subpixel(Subpixel::Forstner { radius: 3 }),
        config.clone().min_distance(9.0),
        config.clone().border(Border::Replicate),
        config.clone().border(Border::Zero).suppression_radius(6),
        config.clone().suppression_radius(3),
        presets::lococo_2011().to_builder(),
        presets::lococo_2011().to_builder().gradient(Gradient::Box { size: 11 }),
    ];
    for config in configs {
        let contrasts = after(FIRST_USE, &[0.9, 0.2, 0.9, 0.0]);
        let again = searches(&config.build().unwrap(), &contrasts).iter().filter(|&&count| count > 1).count();
        assert_eq!(again, 1);
    }
}

#[test]
fn only_relative_thresholds_are_predicted() {
    let config = HarrisConfig::default().to_builder();
    for threshold in [Threshold::Absolute(1e-4), Threshold::None, Threshold::Rosin { bins: 64 }] {
        let config = config.clone().threshold(threshold).build().unwrap();
        assert_eq!(searches(&config, &after(FIRST_USE, &[0.3, 0.0])), vec![1; FIRST_USE + 2]);
    }
}

/// Images of a batch predict nothing, nor do resident images whose content may have changed.
#[test]
fn images_that_cannot_be_searched_again_use_no_prediction() {
    let config = HarrisConfig::default();
    let device = TestDevice::default();
    let mut detector = GpuDetector::new(device.clone(), config.clone());
    let pictures = [picture(0, 0.9), picture(1, 0.9), picture(2, 0.1)];
    let views = [0, 1, 2].map(|i| pictures[i].view());
    let lists = [0, 1, 2].map(|i| expected(&config, &pictures[i]));
    for i in 0..FIRST_USE + 3 {
        let dark = usize::from(i > FIRST_USE);
        let found = detector.detect_batch(&views[dark..dark + 2]).unwrap();
        assert!(found == lists[dark..dark + 2], "batch {i}");
    }
    assert_eq!(device.bucket_sorts(), FIRST_USE + 3);
    let [bright, _, dark] = pictures.each_ref().map(|picture| resident(&device, picture));
    let image = |i: usize| if i > FIRST_USE { (&dark, lists[2].len()) } else { (&bright, lists[0].len()) };
    let before = device.bucket_sorts();
    for i in 0..FIRST_USE + 3 {
        let (image, count) = image(i);
        detector.begin_on_device(lent(image), false).unwrap();
        assert_eq!(detector.finish_on_device().unwrap(), count, "image {i}");
    }
    assert_eq!(device.bucket_sorts(), before + FIRST_USE + 3);
    // Images that are waited for stay as they are.
    for i in 0..FIRST_USE + 3 {
        let (image, count) = image(i);
        assert_eq!(detector.detect_on_device(lent(image)).unwrap(), count, "image {i}");
    }
    assert_eq!(device.bucket_sorts(), before + 2 * (FIRST_USE + 3) + 1);
    // No prediction passes between images that are waited for and images that are not.
    for i in 0..4 * FIRST_USE {
        detector.detect_on_device(lent(&bright)).unwrap();
        if i > 2 * FIRST_USE {
            detector.begin_on_device(lent(if i % 2 == 0 { &bright } else { &dark }), false).unwrap();
            assert_eq!(detector.finish_on_device().unwrap(), lists[if i % 2 == 0 { 0 } else { 2 }].len());
        }
    }
    let all = before + 2 * (FIRST_USE + 3) + 1 + 4 * FIRST_USE + 2 * FIRST_USE - 1;
    assert_eq!(device.bucket_sorts(), all);
}

/// A picture in the device's memory.
fn resident(device: &TestDevice, picture: &Picture) -> Resident<crate::test_device::Memory> {
    let view = picture.view();
    let (width, height) = (view.width(), view.height());
    let pitch = width.next_multiple_of(4);
    let memory = device.allocate(pitch * height).unwrap();
    for y in 0..height {
        let lines = RowSource::of(&view);
        let row = lines.row(y).iter().chain(&[0; 4]);
        for (x, &sample) in row.take(pitch).enumerate() {
            memory.set_byte(y * pitch + x, sample);
        }
    }
    Resident { memory, width, height, channels: 1, pitch, depth: harris_gpu::Depth::U8, mask: None }
}

/// The image in the same memory.
fn lent(image: &Resident<crate::test_device::Memory>) -> Resident<crate::test_device::Memory> {
    let &Resident { ref memory, width, height, channels, pitch, depth, .. } = image;
    Resident { memory: memory.clone(), width, height, channels, pitch, depth, mask: None }
}

#[test]
fn a_failure_at_any_call_leaves_no_wrong_prediction() {
    let config = HarrisConfig::default();
    let (bright, dark) = (picture(0, 0.9), picture(1, 0.2));
    let [of_bright, of_dark] = [&bright, &dark].map(|picture| expected(&config, picture));
    let device = TestDevice::default();
    let failed = (1..100).take_while(|&call| {
        let mut detector = GpuDetector::new(device.clone(), config.clone());
        for _ in 0..FIRST_USE {
            assert!(detector.detect(&bright.view()).unwrap() == of_bright);
        }
        device.fail_at(call);
        let found = detector.detect(&dark.view());
        let over = device.has_failed();
        device.fail_at(0);
        match &found {
            Err(Error::Backend(cause)) => assert!(over && cause.is::<InjectedFault>(), "{cause}"),
            found => assert!(!over && *found.as_ref().unwrap() == of_dark, "call {call}"),
        }
        assert!(detector.detect(&bright.view()).unwrap() == of_bright, "after call {call}");
        assert!(detector.detect(&dark.view()).unwrap() == of_dark, "after call {call}");
        over
    });
    let count = failed.count();
    assert!((8..99).contains(&count), "{count}");
}
