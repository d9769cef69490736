//! The tests of every backend, with 1 to 4 threads of its own; pools of others give the same.

use std::sync::Arc;

use harris_conformance::extent::is_thorough;
use harris_cpu::{CpuDetector, Detector, Error, HarrisConfig, ImageView, Level};
use harris_evaluation::scenes::Chessboard;

// Each number of threads, and each level, is in one of the suites that always run.
harris_conformance::suite!(two_threads, |config| Box::new(CpuDetector::with_threads(config, 2).unwrap()));
harris_conformance::suite!(sse2_one_thread, |config| Box::new(at_level(config, "sse2", 1)));
harris_conformance::suite!(avx2_three_threads, |config| Box::new(at_level(config, "avx2", 3)));
#[cfg(feature = "portable")]
harris_conformance::suite!(portable, |config| Box::new(at_level(config, "portable", 2)));

harris_conformance::suite!(
    one_thread,
    |config| Box::new(CpuDetector::with_threads(config, 1).unwrap()),
    is_thorough
);
harris_conformance::suite!(
    three_threads,
    |config| Box::new(CpuDetector::with_threads(config, 3).unwrap()),
    is_thorough
);
harris_conformance::suite!(
    four_threads,
    |config| Box::new(CpuDetector::with_threads(config, 4).unwrap()),
    is_thorough
);

/// At a level of this machine; one that it lacks is stood in for by the best, and said so.
fn at_level(config: HarrisConfig, name: &str, threads: usize) -> CpuDetector {
    let level = name.parse().unwrap_or_else(|error| {
        println!("{error}");
        Level::best()
    });
    CpuDetector::with_threads(config, threads).unwrap().at_level(level)
}

#[test]
fn detectors_share_a_pool_and_find_equal_corners() {
    harris_conformance::equality::on_photographs(|config| Box::new(CpuDetector::new(config)));
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap());
    let first = CpuDetector::with_pool(HarrisConfig::default(), Arc::clone(&pool));
    let second = CpuDetector::with_pool(HarrisConfig::default(), pool);
    assert!(first.describe().starts_with("cpu: 3 threads, ") && first.describe() == second.describe());
    let board = Chessboard::builder().squares(8).size(300).build().unwrap().draw();
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
