//! Children that are forked from a process that has detected: the threads of its pools are not
//! there, and a new pool takes their place.

#![cfg(unix)]
#![allow(unsafe_code)]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use harris_conformance::pictures::noise;
use harris_cpu::harris_core::fast_hessian::FastHessianConfig;
use harris_cpu::{CpuDetector, CpuFastHessian, Detector, HarrisConfig, ImageView, Keypoint};

const SIDE: usize = 512;
/// For how long a child may work before it counts as hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether a forked child comes to an end in which `work` has returned true.
fn holds_in_child(work: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child calls the detectors under test, which start new threads, and the system's
    // allocator, which can be used after a fork. It then ends without running destructors of this
    // process.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no child could be forked");
    if child == 0 {
        let holds = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or(false);
        // SAFETY: it ends the process, and does nothing else.
        unsafe { libc::_exit(i32::from(!holds)) };
    }
    let begun = Instant::now();
    let mut status = 0;
    // SAFETY: it writes `status` and nothing else.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if begun.elapsed() > PATIENCE {
            // SAFETY: the child has not been waited for, so the number is still its own.
            unsafe { libc::kill(child, libc::SIGKILL) };
            return false;
        }
        thread::sleep(Duration::from_millis(2));
    }
    status == 0
}

#[test]
fn detectors_work_in_children_and_grandchildren() {
    let samples: Vec<u8> =
        (0..SIDE * SIDE).map(|i| (255.0 * noise(5, i % SIDE / 8, i / SIDE / 8, 0)) as u8).collect();
    let image = ImageView::gray(&samples, SIDE, SIDE).unwrap();
    let config = HarrisConfig::default;
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap());
    // Rayon's shared pool has several threads on any machine.
    rayon::ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
    let mut detectors: Vec<Box<dyn Detector>> = vec![
        Box::new(CpuDetector::new(config())),
        Box::new(CpuDetector::with_threads(config(), 1).unwrap()),
        Box::new(CpuDetector::with_threads(config(), 3).unwrap()),
        Box::new(CpuDetector::with_pool(config(), Arc::clone(&pool))),
        Box::new(CpuFastHessian::with_threads(FastHessianConfig::default(), 4).unwrap()),
    ];
    let expected: Vec<Vec<Keypoint>> =
        detectors.iter_mut().map(|detector| detector.detect(&image).unwrap()).collect();
    assert!(expected.iter().all(|list| !list.is_empty()));
    let all_equal = |detectors: &mut [Box<dyn Detector>]| {
        (0..3).all(|_| {
            let lists = detectors.iter_mut().map(|detector| detector.detect(&image));
            lists.zip(&expected).all(|(list, expected)| list.is_ok_and(|list| list == *expected))
        })
    };
    for (i, detector) in detectors.iter_mut().enumerate() {
        let detector = std::slice::from_mut(detector);
        let name = detector[0].describe();
        let in_child = holds_in_child(|| detector[0].detect(&image).is_ok_and(|list| list == expected[i]));
        assert!(in_child, "{name}");
    }
    // Several children, which all detectors work in, and which fork again.
    for _ in 0..3 {
        assert!(holds_in_child(|| all_equal(&mut detectors) && holds_in_child(|| all_equal(&mut detectors))));
    }
    // Detectors that a child makes, and those of the parent that it drops.
    assert!(holds_in_child(|| {
        drop(detectors);
        drop(pool.clone());
        let mut new: [Box<dyn Detector>; 2] =
            [Box::new(CpuDetector::new(config())), Box::new(CpuDetector::with_threads(config(), 2).unwrap())];
        new.iter_mut().all(|detector| detector.detect(&image).is_ok_and(|list| list == expected[0]))
    }));
    // The parent works as before.
    let mut shared = CpuDetector::new(config());
    assert_eq!(shared.detect(&image).unwrap(), expected[0]);
}
