//! Images of floats far below 1, memory that is given back, and the caller's floating-point mode.

use harris_core::fast_hessian::FastHessianConfig;
use harris_core::{Detector, Error, HarrisConfig, ImageView, ReferenceDetector, Threshold};
use harris_gpu::{GpuDetector, GpuFastHessian, GpuPipeline};
use harris_gpu_host::HostDevice;

const SIDE: usize = 48;

/// Squares of a level on 0.
fn squares(level: f32) -> Vec<f32> {
    let is_high = |i: usize| (i % SIDE / 11 + i / SIDE / 11).is_multiple_of(2);
    (0..SIDE * SIDE).map(|i| if is_high(i) { level } else { 0.0 }).collect()
}

#[test]
fn lost_corners_are_reported_as_by_the_reference() {
    for threshold in [Threshold::Relative(0.01), Threshold::Absolute(1e-9)] {
        let config = HarrisConfig::builder().threshold(threshold).build().unwrap();
        let mut gpu = GpuDetector::new(HostDevice, config.clone());
        for level in [1.0, 1e-7, 1e-9, 1e-12, 0.0] {
            let samples = squares(level);
            let image = ImageView::gray(&samples, SIDE, SIDE).unwrap();
            let text = |error: Error| error.to_string();
            let expected = ReferenceDetector::new(config.clone()).detect(&image).map_err(text);
            assert_eq!(gpu.detect(&image).map_err(text), expected, "{level}");
            let batch = gpu.detect_batch(&[image, image]).map_err(text);
            assert_eq!(batch, expected.clone().map(|list| vec![list.clone(), list]), "{level}");
            let mut pipeline = GpuPipeline::new([vec![GpuDetector::new(HostDevice, config.clone())]]);
            assert!(pipeline.push(&[image], false, ()).is_none());
            let ((), frame) = pipeline.next().unwrap();
            assert_eq!(frame.map_err(text), expected.map(|list| vec![list]), "{level}");
        }
    }
}

#[test]
fn detectors_work_after_their_memory_is_given_back() {
    let samples = squares(1.0);
    let image = ImageView::gray(&samples, SIDE, SIDE).unwrap();
    let mut detectors: [Box<dyn Detector>; 2] = [
        Box::new(GpuDetector::new(HostDevice, HarrisConfig::default())),
        Box::new(GpuFastHessian::new(HostDevice, FastHessianConfig::default())),
    ];
    for detector in &mut detectors {
        let list = detector.detect(&image).unwrap();
        for _ in 0..3 {
            detector.shrink_to_fit();
            assert_eq!(detector.detect(&image).unwrap(), list);
            assert_eq!(detector.detect(&image).unwrap(), list);
        }
        detector.shrink_to_fit();
        assert_eq!(detector.response(&image).unwrap().dim(), (SIDE, SIDE));
    }
}
