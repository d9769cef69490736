//! Images whose greatest response those before them foretell: it holds, or the image is looked at again.

mod faulty;

use faulty::{Fault, Faulty};
use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{
    Border, Detector, Error, Gradient, HarrisConfig, Keypoint, Measure, Order, ReferenceDetector, Subpixel,
    Threshold, presets,
};
use harris_gpu::{Device, GpuDetector, Lines, Resident};
use harris_gpu_kernels::abi::foretold::STEADY;

/// As many images as it takes until one relies on those before: the first foretells, and all after it hold.
const UNTIL: usize = STEADY as usize + 1;

/// A noise of some contrast.
fn picture(seed: u64, contrast: f64) -> Picture {
    Picture::draw(Depth::U8, (161, 97, 1), |x, y, _| 0.5 + contrast * (noise(seed, x / 3, y / 3, 0) - 0.5))
}

fn expected(config: &HarrisConfig, picture: &Picture) -> Vec<Keypoint> {
    ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap()
}

/// Finds the corners of images of some contrasts, one after the other; returns how many times each list was made.
fn times(config: &HarrisConfig, contrasts: &[f64]) -> Vec<usize> {
    let device = Faulty::default();
    let mut detector = GpuDetector::new(device.clone(), config.clone());
    let mut find = |(i, &contrast): (usize, &f64)| {
        let (picture, before) = (picture(i as u64, contrast), device.gathered());
        let found = detector.detect(&picture.view()).unwrap();
        assert!(found == expected(config, &picture), "{config:?}, image {i} of contrast {contrast}");
        device.gathered() - before
    };
    contrasts.iter().enumerate().map(&mut find).collect()
}

fn after(steady: usize, others: &[f64]) -> Vec<f64> {
    let mut contrasts = vec![0.9; steady];
    contrasts.extend(others);
    contrasts
}

#[test]
fn what_does_not_hold_is_looked_at_again() {
    let config = HarrisConfig::default();
    // A response is of the contrast's fourth power: 0.8 is within what is allowed for, 0.3 is not.
    let contrasts = after(UNTIL, &[0.8, 0.9, 0.3, 0.3, 0.9]);
    let mut expected = vec![1; contrasts.len()];
    expected[UNTIL + 2] = 2;
    assert_eq!(times(&config, &contrasts), expected);
    // One less, and nothing is relied on yet.
    assert_eq!(times(&config, &after(UNTIL - 1, &[0.3])), vec![1; UNTIL]);
    // Nor is it again before as many have held.
    let mut contrasts = after(UNTIL, &[0.3]);
    contrasts.extend(after(UNTIL - 2, &[0.3]));
    assert_eq!(times(&config, &contrasts).iter().filter(|&&times| times > 1).count(), 1);
    // An image without any corner.
    let mut expected = vec![1; UNTIL + 3];
    expected[UNTIL] = 2;
    assert_eq!(times(&config, &after(UNTIL, &[0.0, 0.0, 0.9])), expected);
}

/// Whatever corners are made of, and whatever becomes of them.
#[test]
fn lists_are_those_of_any_detector() {
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
        let contrasts = after(UNTIL, &[0.9, 0.2, 0.9, 0.0]);
        let again = times(&config.build().unwrap(), &contrasts).iter().filter(|&&times| times > 1).count();
        assert_eq!(again, 1);
    }
}

/// What has another threshold needs none to be foretold.
#[test]
fn nothing_is_foretold_of_other_thresholds() {
    let config = HarrisConfig::default().to_builder();
    for threshold in [Threshold::Absolute(1e-4), Threshold::None, Threshold::Rosin { bins: 64 }] {
        let config = config.clone().threshold(threshold).build().unwrap();
        assert_eq!(times(&config, &after(UNTIL, &[0.3, 0.0])), vec![1; UNTIL + 2]);
    }
}

/// Images of a stack foretell nothing, nor do those that may not be there any more.
#[test]
fn nothing_is_foretold_of_what_cannot_be_looked_at_again() {
    let config = HarrisConfig::default();
    let device = Faulty::default();
    let mut detector = GpuDetector::new(device.clone(), config.clone());
    let pictures = [picture(0, 0.9), picture(1, 0.9), picture(2, 0.1)];
    let views = [0, 1, 2].map(|i| pictures[i].view());
    let lists = [0, 1, 2].map(|i| expected(&config, &pictures[i]));
    for i in 0..UNTIL + 3 {
        let dark = usize::from(i > UNTIL);
        let found = detector.detect_batch(&views[dark..dark + 2]).unwrap();
        assert!(found == lists[dark..dark + 2], "batch {i}");
    }
    assert_eq!(device.gathered(), UNTIL + 3);
    let [bright, _, dark] = pictures.each_ref().map(|picture| resident(&device, picture));
    let image = |i: usize| if i > UNTIL { (&dark, lists[2].len()) } else { (&bright, lists[0].len()) };
    let before = device.gathered();
    for i in 0..UNTIL + 3 {
        let (image, count) = image(i);
        detector.begin_on_device(lent(image)).unwrap();
        assert_eq!(detector.finish_on_device().unwrap(), count, "image {i}");
    }
    assert_eq!(device.gathered(), before + UNTIL + 3);
    // What is waited for is there.
    for i in 0..UNTIL + 3 {
        let (image, count) = image(i);
        assert_eq!(detector.detect_on_device(lent(image)).unwrap(), count, "image {i}");
    }
    assert_eq!(device.gathered(), before + 2 * (UNTIL + 3) + 1);
    // One that is waited for foretells nothing of one that is not, wherever it lies, and the other way round.
    for i in 0..4 * UNTIL {
        detector.detect_on_device(lent(&bright)).unwrap();
        if i > 2 * UNTIL {
            detector.begin_on_device(lent(if i % 2 == 0 { &bright } else { &dark })).unwrap();
            assert_eq!(detector.finish_on_device().unwrap(), lists[if i % 2 == 0 { 0 } else { 2 }].len());
        }
    }
    let all = before + 2 * (UNTIL + 3) + 1 + 4 * UNTIL + 2 * UNTIL - 1;
    assert_eq!(device.gathered(), all);
}

/// A picture in the device's memory.
fn resident(device: &Faulty, picture: &Picture) -> Resident<faulty::Memory> {
    let view = picture.view();
    let (width, height) = (view.width(), view.height());
    let pitch = width.next_multiple_of(4);
    let memory = device.allocate(pitch * height).unwrap();
    for y in 0..height {
        let lines = Lines::of(&view);
        let row = lines.row(y).iter().chain(&[0; 4]);
        for (x, &sample) in row.take(pitch).enumerate() {
            memory.set_byte(y * pitch + x, sample);
        }
    }
    Resident { memory, width, height, channels: 1, pitch, depth: harris_gpu::Depth::U8, mask: None }
}

/// The same memory again.
fn lent(image: &Resident<faulty::Memory>) -> Resident<faulty::Memory> {
    let &Resident { ref memory, width, height, channels, pitch, depth, .. } = image;
    Resident { memory: memory.clone(), width, height, channels, pitch, depth, mask: None }
}

#[test]
fn a_fault_at_any_call_leaves_nothing_that_does_not_hold() {
    let config = HarrisConfig::default();
    let (bright, dark) = (picture(0, 0.9), picture(1, 0.2));
    let [of_bright, of_dark] = [&bright, &dark].map(|picture| expected(&config, picture));
    let device = Faulty::default();
    let failed = (1..100).take_while(|&call| {
        let mut detector = GpuDetector::new(device.clone(), config.clone());
        for _ in 0..UNTIL {
            assert!(detector.detect(&bright.view()).unwrap() == of_bright);
        }
        device.set(call);
        let found = detector.detect(&dark.view());
        let over = device.is_over();
        device.set(0);
        match &found {
            Err(Error::Backend(cause)) => assert!(over && cause.is::<Fault>(), "{cause}"),
            found => assert!(!over && *found.as_ref().unwrap() == of_dark, "call {call}"),
        }
        assert!(detector.detect(&bright.view()).unwrap() == of_bright, "after call {call}");
        assert!(detector.detect(&dark.view()).unwrap() == of_dark, "after call {call}");
        over
    });
    let count = failed.count();
    assert!((8..99).contains(&count), "{count}");
}
