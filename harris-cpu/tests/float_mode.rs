//! The caller's floating-point mode: it changes no result, and is as before afterwards.

#![cfg(any(all(target_arch = "x86_64", target_feature = "sse"), target_arch = "aarch64"))]
#![allow(unsafe_code)]

use std::arch::asm;
use std::hint::black_box;
use std::sync::Arc;

use harris_conformance::pictures::noise;
use harris_cpu::harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_cpu::harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_cpu::harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_cpu::harris_core::{Measure, ReferenceDetector, Smoothing, Subpixel, Threshold, Window};
use harris_cpu::{
    CpuDetector, CpuFastHessian, CpuMatcher, CpuSurf, Detector, Error, HarrisConfig, ImageView,
};
use ndarray::Array2;

#[cfg(target_arch = "x86_64")]
mod mode {
    use super::asm;

    pub(super) type Mode = u32;
    /// Flush to zero, denormals are zero; rounding down, up and towards zero.
    pub(super) const OTHERS: [Mode; 4] = [1 << 15 | 1 << 6, 1 << 13, 2 << 13, 3 << 13 | 1 << 15 | 1 << 6];
    /// All but the flags of exceptions.
    pub(super) const CONTROL: Mode = 0xFFC0;

    pub(super) fn read() -> Mode {
        let mut mode = 0;
        // SAFETY: it writes the four bytes of `mode`.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut mode) };
        mode
    }

    pub(super) fn write(mode: Mode) {
        // SAFETY: it reads four bytes, with bits of the register that are defined.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const mode) };
    }
}

#[cfg(target_arch = "aarch64")]
mod mode {
    use super::asm;

    pub(super) type Mode = u64;
    /// Flush to zero; rounding down, up and towards zero.
    pub(super) const OTHERS: [Mode; 4] = [1 << 24, 2 << 22, 1 << 22, 3 << 22 | 1 << 24];
    pub(super) const CONTROL: Mode = u64::MAX;

    pub(super) fn read() -> Mode {
        let mode;
        // SAFETY: it reads a register that every program may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) mode) };
        mode
    }

    pub(super) fn write(mode: Mode) {
        // SAFETY: it writes bits of the register that are defined.
        unsafe { asm!("msr fpcr, {}", in(reg) mode) };
    }
}

/// Calls `work` in a mode, and checks that it is the same afterwards.
fn in_mode<R>(other: mode::Mode, work: impl FnOnce() -> R) -> R {
    let before = mode::read();
    let other = before | other;
    mode::write(other);
    let result = work();
    let after = mode::read();
    mode::write(before);
    assert_eq!(after & mode::CONTROL, other & mode::CONTROL, "the mode after the call");
    result
}

const WIDTH: usize = 120;
const HEIGHT: usize = 90;

/// Faint texture and strong corners: products, responses and window sums below the smallest normal
/// number beside others.
fn samples() -> Vec<f32> {
    let blocks = |i: usize, size: usize| noise(3, i % WIDTH / size, i / WIDTH / size, 0) as f32;
    (0..WIDTH * HEIGHT)
        .map(|i| match i % WIDTH {
            0..50 => 1e-9 * blocks(i, 5),
            50..90 => 1e-4 * blocks(i, 7),
            _ => 1e-19 * blocks(i, 3),
        })
        .collect()
}

/// The bits of a list and of a response map.
fn outcome(detector: &mut dyn Detector, image: &ImageView<'_>) -> (Vec<[u32; 4]>, Vec<u32>) {
    let list = detector.detect(image).unwrap();
    let map = detector.response(image).unwrap();
    let bits = list.iter().map(|k| [k.x, k.y, k.scale, k.response].map(f32::to_bits)).collect();
    (bits, map.iter().map(|response| response.to_bits()).collect())
}

fn configs() -> [HarrisConfig; 5] {
    let builder = HarrisConfig::builder;
    let sigma = 1.1;
    [
        builder().threshold(Threshold::None).subpixel(Subpixel::Quadratic),
        builder()
            .measure(Measure::ShiTomasi)
            .threshold(Threshold::Relative(0.0))
            .smoothing(Smoothing::Binomial3),
        builder().measure(Measure::Noble { eps: 1e-30 }).threshold(Threshold::Rosin { bins: 256 }),
        builder().window(Window::Gaussian { size: 5, sigma }).threshold(Threshold::Absolute(0.0)),
        builder().subpixel(Subpixel::Forstner { radius: 5 }).min_distance(4.5).threshold(Threshold::None),
    ]
    .map(|builder| builder.build().unwrap())
}

#[test]
fn no_mode_of_the_caller_changes_a_list_or_a_map() {
    let samples = samples();
    let image = ImageView::gray(&samples, WIDTH, HEIGHT).unwrap();
    let mut differs = false;
    for config in configs() {
        let expected = outcome(&mut ReferenceDetector::new(config.clone()), &image);
        assert!(!expected.0.is_empty(), "{config:?}");
        differs |= expected.1.iter().any(|&bits| f32::from_bits(bits).is_subnormal());
        for other in mode::OTHERS {
            // Threads that are started in a mode inherit it.
            let pool = in_mode(other, || rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap());
            let mut detectors: Vec<Box<dyn Detector>> = vec![
                Box::new(ReferenceDetector::new(config.clone())),
                Box::new(CpuDetector::with_threads(config.clone(), 1).unwrap()),
                in_mode(other, || Box::new(CpuDetector::with_threads(config.clone(), 3).unwrap())),
                Box::new(CpuDetector::with_pool(config.clone(), Arc::new(pool))),
            ];
            for detector in &mut detectors {
                let found = in_mode(other, || outcome(&mut **detector, &image));
                assert!(found == expected, "{other:#x}, {}: {config:?}", detector.describe());
            }
        }
    }
    assert!(differs, "no response is subnormal, so that the test cannot fail");
}

#[test]
fn no_mode_of_the_caller_changes_blobs_descriptors_and_matches() {
    let scaled: Vec<f32> = samples().iter().map(|v| (v * 1e4).clamp(0.0, 1.0)).collect();
    let image = ImageView::gray(&scaled, WIDTH, HEIGHT).unwrap();
    let config = FastHessianConfig::default();
    let expected = outcome(&mut ReferenceFastHessian::new(config.clone()), &image);
    let keypoints = ReferenceFastHessian::new(config.clone()).detect(&image).unwrap();
    let descriptors = ReferenceSurf::new(SurfConfig::default()).extract(&image, &keypoints).unwrap();
    // Squares of such differences are subnormal.
    let faint = descriptors.mapv(|value| value * 1e-20);
    let matching = MatchConfig::nearest();
    let expected_matches = ReferenceMatcher::new(matching).matches(faint.view(), faint.view()).unwrap();
    for other in mode::OTHERS {
        let mut detectors: [Box<dyn Detector>; 2] = [
            Box::new(ReferenceFastHessian::new(config.clone())),
            Box::new(CpuFastHessian::with_threads(config.clone(), 2).unwrap()),
        ];
        for detector in &mut detectors {
            assert!(in_mode(other, || outcome(&mut **detector, &image)) == expected, "{other:#x}");
        }
        let mut extractors: [Box<dyn Extractor>; 2] = [
            Box::new(ReferenceSurf::new(SurfConfig::default())),
            Box::new(CpuSurf::with_threads(SurfConfig::default(), 2).unwrap()),
        ];
        let bits = |values: &Array2<f32>| values.mapv(f32::to_bits);
        for extractor in &mut extractors {
            let found = in_mode(other, || extractor.extract(&image, &keypoints).unwrap());
            assert_eq!(bits(&found), bits(&descriptors), "{other:#x}");
        }
        let mut matchers: [Box<dyn Matcher>; 2] = [
            Box::new(ReferenceMatcher::new(matching)),
            Box::new(CpuMatcher::with_threads(matching, 2).unwrap()),
        ];
        for matcher in &mut matchers {
            let found = in_mode(other, || matcher.matches(faint.view(), faint.view()).unwrap());
            assert_eq!(found, expected_matches, "{other:#x}");
        }
    }
}

#[test]
fn the_mode_is_as_before_after_an_error() {
    let samples = [f32::NAN; 64 * 64];
    let image = ImageView::gray(&samples, 64, 64).unwrap();
    for other in mode::OTHERS {
        let mut detector = CpuDetector::with_threads(HarrisConfig::default(), 2).unwrap();
        let result = in_mode(other, || detector.detect(&image));
        assert!(matches!(result, Err(Error::NonFinite { .. })));
    }
    // The modes of the test take effect.
    let product = || black_box(black_box(f32::MIN_POSITIVE) * black_box(0.5));
    assert_eq!(in_mode(mode::OTHERS[0], product), 0.0);
    assert!(product() > 0.0);
}
