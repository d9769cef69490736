//! Numbers and images outside what makes sense: errors, at once.

use std::time::{Duration, Instant};

use harris_cpu::harris_core::{Border, Gradient, MIN_RANGE, Measure, ReferenceDetector, Threshold};
use harris_cpu::{CpuDetector, CpuMatcher, Detector, Error, HarrisConfig, ImageView, MAX_THREADS, PoolError};

#[test]
fn too_many_threads_are_refused_at_once() {
    let begun = Instant::now();
    for threads in [MAX_THREADS + 1, 100_000, usize::MAX] {
        let refused = [
            CpuDetector::with_threads(HarrisConfig::default(), threads).map(|_| ()),
            CpuMatcher::with_threads(Default::default(), threads).map(|_| ()),
        ];
        for refused in refused {
            let Err(Error::Backend(error)) = refused else { panic!("{refused:?}") };
            let Some(PoolError::TooManyThreads { threads: told }) = error.downcast_ref() else {
                panic!("{error}")
            };
            assert_eq!(*told, threads);
            assert_eq!(error.to_string(), format!("a detector can have at most 1024 threads, not {threads}"));
        }
    }
    assert!(begun.elapsed() < Duration::from_secs(1));
}

const SIDE: usize = 64;

/// Squares of one level on another.
fn squares(low: f32, high: f32) -> Vec<f32> {
    let is_high = |i: usize| (i % SIDE / 13 + i / SIDE / 13).is_multiple_of(2);
    (0..SIDE * SIDE).map(|i| if is_high(i) { high } else { low }).collect()
}

/// What both backends find; they must agree.
fn found(samples: &[f32], config: &HarrisConfig) -> Result<usize, String> {
    let image = ImageView::gray(samples, SIDE, SIDE).unwrap();
    let mut results = Vec::new();
    let mut detectors: [Box<dyn Detector>; 3] = [
        Box::new(ReferenceDetector::new(config.clone())),
        Box::new(CpuDetector::with_threads(config.clone(), 1).unwrap()),
        Box::new(CpuDetector::with_threads(config.clone(), 2).unwrap()),
    ];
    for detector in &mut detectors {
        results.push(match detector.detect(&image) {
            Ok(list) => Ok(list),
            Err(error @ Error::RangeTooSmall { .. }) => Err(error.to_string()),
            Err(error) => panic!("{error}"),
        });
    }
    assert!(results.iter().all(|result| *result == results[0]), "{config:?}: {results:?}");
    results.swap_remove(0).map(|list| list.len())
}

#[test]
fn corners_that_are_lost_among_subnormal_numbers_are_reported() {
    let config = |threshold| HarrisConfig::builder().threshold(threshold).build().unwrap();
    for threshold in [Threshold::Relative(0.01), Threshold::None, Threshold::Rosin { bins: 64 }] {
        let config = config(threshold);
        let normal = found(&squares(0.0, 1.0), &config).unwrap();
        assert!(normal > 0);
        for high in [1e-12, 1e-20, 1e-30, f32::MIN_POSITIVE, 1e-44, -1e-12] {
            let error = found(&squares(0.0, high), &config).unwrap_err();
            assert!(error.contains("scale the samples"), "{error}");
        }
        // Responses are normal numbers: corners are found.
        for high in [1e-7, 1e-5] {
            assert_eq!(found(&squares(0.0, high), &config), Ok(normal), "{threshold:?}, {high}");
        }
        // Flat images have no corners.
        for flat in [0.0, 1e-12, 1e-30, 1.0] {
            assert_eq!(found(&squares(flat, flat), &config), Ok(0));
        }
        // Few have, of this range: straight edges.
        let edges: Vec<f32> = (0..SIDE * SIDE).map(|i| if i % SIDE < 30 { 0.0 } else { MIN_RANGE }).collect();
        assert_eq!(found(&edges, &config), Ok(0));
    }
    // No lost response exceeds such a threshold.
    assert_eq!(found(&squares(0.0, 1e-12), &config(Threshold::Absolute(1e-9))), Ok(0));
    assert!(found(&squares(0.0, 1e-12), &config(Threshold::Absolute(0.0))).is_err());
    // The zeros around the image count.
    let around = HarrisConfig::builder().border(Border::Zero).build().unwrap();
    assert!(found(&squares(1e-12, 1e-12), &around).is_err());
}

/// At the least range a contrast of a thirtieth of it gives responses that are normal numbers.
#[test]
fn at_the_least_range_weak_corners_are_not_lost() {
    for measure in [
        Measure::Harris { k: 0.04 },
        Measure::ShiTomasi,
        Measure::Noble { eps: 1e-6 },
        Measure::Triggs { alpha: 0.05 },
    ] {
        for gradient in [Gradient::Sobel3, Gradient::Central, Gradient::Sobel7, Gradient::Box { size: 5 }] {
            let config = HarrisConfig::builder().measure(measure).gradient(gradient).build().unwrap();
            let samples = squares(0.0, MIN_RANGE / 30.0);
            let image = ImageView::gray(&samples, SIDE, SIDE).unwrap();
            let map = CpuDetector::new(config.clone()).response(&image).unwrap();
            let greatest = map.iter().copied().fold(0.0, f32::max);
            assert!(greatest.is_normal(), "{config:?}: {greatest}");
        }
    }
}
