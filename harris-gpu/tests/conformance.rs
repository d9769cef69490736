//! The tests of every backend, with kernels run and checked on the CPU.

use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::{Detector, ReferenceDetector, Threshold, presets};
use harris_gpu::host::HostDevice;
use harris_gpu::{GpuDetector, GpuFastHessian, GpuMatcher, GpuSurf};

harris_conformance::suite!(host, |config| Box::new(GpuDetector::new(HostDevice, config)));

/// More corners than lists have room for at first: they are counted, room is made, and nothing is lost.
#[test]
fn lists_that_overflow_are_filled_anew() {
    let (width, height) = (640, 480);
    let picture = Picture::draw(Depth::U8, (width, height, 1), |x, y, _| noise(1, x, y, 0));
    let config = presets::opencv_gftt().to_builder().threshold(Threshold::None).build().unwrap();
    let expected = ReferenceDetector::new(config.clone()).detect(&picture.view()).unwrap();
    assert!(expected.len() > width * height / 32 + 1024, "only {} corners", expected.len());
    for mut detector in
        [GpuDetector::new(HostDevice, config.clone()), GpuDetector::new(HostDevice, config).staged()]
    {
        for _ in 0..2 {
            assert!(detector.detect(&picture.view()).unwrap() == expected);
        }
    }
}

/// The same for blobs.
#[test]
fn lists_of_blobs_that_overflow_are_filled_anew() {
    let picture = Picture::draw(Depth::U8, (260, 250, 1), |x, y, _| noise(1, x, y, 0));
    let config = FastHessianConfig::builder().step(1).threshold(0.0).build().unwrap();
    let expected = ReferenceFastHessian::new(config.clone()).detect(&picture.view()).unwrap();
    // More than there is room for at first: a 256th of the samples that are compared, fewer than three times the pixels,
    // and 256.
    assert!(expected.len() > 3 * 260 * 250 / 256 + 256, "only {} blobs", expected.len());
    let mut detector = GpuFastHessian::new(HostDevice, config);
    for _ in 0..2 {
        assert!(detector.detect(&picture.view()).unwrap() == expected);
    }
}

harris_conformance::features!(
    host_features,
    harris_conformance::Features {
        detector: |config| Box::new(GpuFastHessian::new(HostDevice, config)),
        extractor: |config| Box::new(GpuSurf::new(HostDevice, config)),
        matcher: |config| Box::new(GpuMatcher::new(HostDevice, config)),
    }
);
