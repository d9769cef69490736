//! Devices: their errors, sharing them between threads, and repeated use.

mod gpu;

use std::time::Duration;

use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::{Threshold, presets};
use harris_cpu::CpuDetector;
use harris_cuda::harris_core::StageTimes;
use harris_cuda::{
    CudaDetector, CudaError, Detector, Error, GpuError, HarrisConfig, ImageView, devices, is_available,
};

fn cause(error: &Error) -> &CudaError {
    match error {
        Error::Backend(error) => error.downcast_ref().expect("an error of CUDA"),
        error => panic!("{error}"),
    }
}

fn picture(seed: u64, width: usize, height: usize) -> Picture {
    Picture::draw(Depth::U8, (width, height, 1), |x, y, c| noise(seed, x / 3, y / 3, c))
}

#[test]
fn without_a_device_every_call_says_so() {
    if gpu::present() {
        assert!(is_available());
        for (ordinal, device) in (0..).zip(devices().unwrap()) {
            assert_eq!(device.ordinal, ordinal);
            assert!(
                !device.name.is_empty() && device.memory > 1 << 28 && device.compute_capability >= (3, 0)
            );
        }
        return;
    }
    assert!(!is_available());
    let reason = devices().unwrap_err();
    assert!(matches!(reason, CudaError::NoDevice | CudaError::NoDriver { .. }), "{reason}");
    for ordinal in [0, 7] {
        let error = CudaDetector::on_device(ordinal, HarrisConfig::default()).unwrap_err();
        assert_eq!(*cause(&error), reason);
        assert_eq!(error.to_string(), reason.to_string());
    }
}

#[test]
fn a_device_that_does_not_exist_is_an_error() {
    if !gpu::present() {
        return;
    }
    let count = devices().unwrap().len() as u32;
    let error = CudaDetector::on_device(count, HarrisConfig::default()).unwrap_err();
    assert_eq!(*cause(&error), CudaError::NoSuchDevice { ordinal: count, count });
}

#[test]
fn an_image_that_is_too_large_is_an_error_and_the_next_works() {
    if !gpu::present() {
        return;
    }
    let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
    let good = picture(1, 64, 48);
    let expected = detector.detect(&good.view()).unwrap();
    // The samples are never touched, so they take no memory.
    let (width, height) = (1 << 16, 1 << 15);
    let samples = vec![0_u8; width * height];
    let error = detector.detect(&ImageView::gray(&samples, width, height).unwrap()).unwrap_err();
    let Error::Backend(cause) = &error else { panic!("{error}") };
    assert!(matches!(cause.downcast_ref(), Some(GpuError::ImageTooLarge { .. })), "{error}");
    assert_eq!(detector.detect(&good.view()).unwrap(), expected);
}

#[test]
fn a_thousand_runs_on_one_image_are_equal() {
    if !gpu::present() {
        return;
    }
    let config = HarrisConfig::builder().min_distance(6.0).build().unwrap();
    for config in [HarrisConfig::default(), config] {
        let mut detector = CudaDetector::new(config).unwrap();
        let picture = picture(2, 301, 233);
        let expected = detector.detect(&picture.view()).unwrap();
        assert!(expected.len() > 100);
        for i in 0..1000 {
            assert!(detector.detect(&picture.view()).unwrap() == expected, "differs in run {i}");
        }
    }
}

/// Long lists are copied to the host, and short ones are written there by kernels. Each must be
/// right after an image with a list of the other length.
#[test]
fn short_and_long_lists_are_complete() {
    if !gpu::present() {
        return;
    }
    let size = (1900, 1000, 1);
    let many = Picture::draw(Depth::U8, size, |x, y, c| noise(3, x, y, c));
    let few = Picture::draw(Depth::U8, size, |x, y, c| if x < 100 { noise(4, x, y, c) } else { 0.0 });
    let config = presets::opencv_gftt().to_builder().threshold(Threshold::None).build().unwrap();
    let mut cpu = CpuDetector::new(config.clone());
    let expected = [&many, &few].map(|picture| cpu.detect(&picture.view()).unwrap());
    assert!(
        expected[0].len() > 40_000 && expected[1].len() < 20_000,
        "{:?}",
        expected.map(|list| list.len())
    );
    let mut detector = CudaDetector::new(config).unwrap();
    for i in [0, 0, 0, 1, 1, 0, 1, 0] {
        assert!(detector.detect(&[&many, &few][i].view()).unwrap() == expected[i], "{i}");
    }
}

#[test]
fn detectors_run_in_parallel_and_move_between_threads() {
    if !gpu::present() {
        return;
    }
    let pictures: Vec<_> = (0..4).map(|i| picture(i, 200 + 31 * i as usize, 150)).collect();
    let mut one = CudaDetector::new(HarrisConfig::default()).unwrap();
    let expected: Vec<_> = pictures.iter().map(|picture| one.detect(&picture.view()).unwrap()).collect();
    std::thread::scope(|scope| {
        for i in 0..4 {
            let (pictures, expected) = (&pictures, &expected);
            // Made on this thread and used on another.
            let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
            scope.spawn(move || {
                for round in 0..50 {
                    let which = (i + round) % 4;
                    assert!(detector.detect(&pictures[which].view()).unwrap() == expected[which]);
                }
            });
        }
    });
    let views: Vec<_> = pictures.iter().map(Picture::view).collect();
    assert_eq!(one.detect_batch(&views).unwrap(), expected);
}

#[test]
fn stage_times_add_up_to_the_device_time() {
    if !gpu::present() {
        return;
    }
    let image = picture(5, 1024, 768);
    let mut fused = CudaDetector::new(HarrisConfig::default()).unwrap();
    fused.detect(&image.view()).unwrap();
    assert_eq!(fused.device_time(), Err(CudaError::NotTimed));
    fused.set_timed(true);
    for _ in 0..4 {
        // Recorded work has times, too.
        fused.detect(&image.view()).unwrap();
        assert!(!fused.device_time().unwrap().is_zero());
    }
    assert_eq!(fused.stage_times().unwrap(), None);
    let mut staged = CudaDetector::new(HarrisConfig::default()).unwrap().staged();
    staged.detect(&image.view()).unwrap();
    assert_eq!(staged.stage_times(), Err(CudaError::NotTimed));
    staged.set_timed(true);
    staged.detect(&image.view()).unwrap();
    let StageTimes { smoothing, gradient, tensor, response, suppression, selection, .. } =
        staged.stage_times().unwrap().unwrap();
    let stages = [smoothing, gradient, tensor, response, suppression, selection];
    assert!(stages.iter().all(|time| !time.is_zero()), "{stages:?}");
    let (sum, whole) = (stages.iter().sum::<Duration>(), staged.device_time().unwrap());
    assert!(sum.abs_diff(whole) < Duration::from_micros(20), "{sum:?} of {whole:?}");
}
