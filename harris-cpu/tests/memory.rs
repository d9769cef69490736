//! Memory: what a detector takes from the heap, counted.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use harris_conformance::pictures::noise;
use harris_cpu::{CpuDetector, Detector, HarrisConfig, ImageView, Level};

/// The system's allocator, counting.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Relaxed);
        let taken = TAKEN.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(taken, Relaxed);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test, as the counters are the process's: no other may run beside it.
#[test]
fn memory_is_allocated_for_the_first_image_alone() {
    const SIDE: usize = 4096;
    // Blocks of noise: 20 000 to 80 000 corners.
    let samples: Vec<u8> =
        (0..SIDE * SIDE).map(|i| (255.0 * noise(5, i % SIDE / 20, i / SIDE / 20, 0)) as u8).collect();
    let image = ImageView::gray(&samples, SIDE, SIDE).unwrap();
    for level in Level::available() {
        let before = TAKEN.load(Relaxed);
        MOST.store(before, Relaxed);
        let mut detector = CpuDetector::with_threads(HarrisConfig::default(), 2).unwrap().at_level(level);
        let corners = detector.detect(&image).unwrap().len();
        assert!(corners > 20_000, "{corners}");
        let most = MOST.load(Relaxed) - before;
        assert!(most < 8 << 20, "{level}: {most} bytes for {corners} corners");
        println!("{level}: {} KiB for {corners} corners", most >> 10);

        // On one thread, as pools take some memory of their own to hand work over.
        let of_config = |config| CpuDetector::with_threads(config, 1).unwrap().at_level(level);
        let mut detector = of_config(HarrisConfig::default());
        let mut of_first = of_config(HarrisConfig::builder().max_corners(500).build().unwrap());
        for detector in [&mut detector, &mut of_first] {
            let first = detector.detect(&image).unwrap();
            for _ in 0..3 {
                let before = CALLS.load(Relaxed);
                let again = detector.detect(&image).unwrap();
                let calls = CALLS.load(Relaxed) - before;
                assert_eq!(calls, 1, "{level}: the list is the only thing to allocate");
                assert_eq!(again, first);
            }
        }
        let mut map = detector.response(&image).unwrap();
        let before = CALLS.load(Relaxed);
        detector.response_into(&image, &mut map).unwrap();
        assert_eq!(CALLS.load(Relaxed) - before, 0, "{level}: an array that is there takes no memory");
    }
}
