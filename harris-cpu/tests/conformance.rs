//! The tests of every backend, with 1 to 4 threads of its own; pools of others give the same.

use std::sync::Arc;

use harris_conformance::boundaries::{Size, around_changes};
use harris_conformance::pictures::Depth;
use harris_cpu::plan::{Plan, SampleType, Shape, Vectors};
use harris_cpu::{CpuDetector, Detector, Error, HarrisConfig, ImageView, Level};
use harris_evaluation::scenes::Chessboard;

harris_conformance::suite!(one_thread, |config| Box::new(CpuDetector::with_threads(config, 1).unwrap()));
harris_conformance::suite!(two_threads, |config| Box::new(CpuDetector::with_threads(config, 2).unwrap()));
harris_conformance::suite!(three_threads, |config| Box::new(CpuDetector::with_threads(config, 3).unwrap()));
harris_conformance::suite!(four_threads, |config| Box::new(CpuDetector::with_threads(config, 4).unwrap()));

/// The suite at a level, also at the sizes around which that level's plan changes.
macro_rules! suite_at_level {
    ($($level:ident)*) => {$(
        harris_conformance::suite!(
            $level,
            |config| Box::new(CpuDetector::with_threads(config, 2).unwrap().at_level(level(stringify!($level)))),
            || true,
            |config, depth, channels| {
                let vectors = Vectors::of(level(stringify!($level)));
                around_changes(|size| plan(config, depth, channels, vectors, size))
            }
        );
    )*};
}

suite_at_level! { portable sse2 avx2 }

/// A level of this machine. For one that it lacks the best stands in, and a line says so.
fn level(name: &str) -> Level {
    name.parse().unwrap_or_else(|error| {
        println!("{error}");
        Level::best()
    })
}

/// The text of the plan for an image.
fn plan(
    config: &HarrisConfig,
    depth: Depth,
    channels: usize,
    vectors: Vectors,
    (width, height): Size,
) -> String {
    let samples = match depth {
        Depth::U8 => SampleType::U8,
        Depth::U16 => SampleType::U16,
        Depth::F32 => SampleType::F32,
    };
    Plan::of(&Shape { samples, channels, width, height, vectors }, config).to_string()
}

#[test]
fn the_default_plan_changes_with_the_size() {
    let (config, vectors) = (HarrisConfig::default(), Vectors::of(Level::best()));
    assert!(!around_changes(|size| plan(&config, Depth::U8, 1, vectors, size)).is_empty());
}

#[test]
fn detectors_share_a_pool_and_find_equal_corners() {
    harris_conformance::equality::on_photographs(|config| Box::new(CpuDetector::new(config)));
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap());
    let first = CpuDetector::with_pool(HarrisConfig::default(), Arc::clone(&pool));
    let second = CpuDetector::with_pool(HarrisConfig::default(), pool);
    assert!(first.describe().starts_with("cpu: 3 threads, ") && first.describe() == second.describe());
    let board = Chessboard { squares: 8, size: 300, channels: 1 }.draw();
    let image = ImageView::try_from(&board).unwrap();
    let found = [first, second].map(|mut detector| {
        std::thread::scope(|scope| scope.spawn(|| detector.detect(&image).unwrap()).join().unwrap())
    });
    assert_eq!(found[0].len(), 49);
    assert_eq!(found[0], found[1]);
}

#[test]
fn no_threads_are_an_error() {
    let error = CpuDetector::with_threads(HarrisConfig::default(), 0).unwrap_err();
    assert!(matches!(error, Error::Backend(_)));
    assert_eq!(error.to_string(), "a detector needs at least one thread");
}
