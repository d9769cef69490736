//! Memory that is refused: each large allocation in turn fails, is an error, and the next call
//! works.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Debug;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use harris_conformance::pictures::noise;
use harris_cpu::harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_cpu::harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_cpu::harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_cpu::harris_core::{
    Border, Gradient, Order, ReferenceDetector, Smoothing, Subpixel, Threshold, Window,
};
use harris_cpu::{
    CpuDetector, CpuFastHessian, CpuMatcher, CpuSurf, Detector, Error, HarrisConfig, ImageView, Level,
};

/// The system's allocator, which refuses one large allocation.
struct Refusing;

/// Bytes from which on an allocation is large.
const LARGE: usize = 4 << 10;

/// Large allocations until one is refused; more than there will be where none is.
static UNTIL_REFUSED: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes that are allocated.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

impl Refusing {
    fn refuses(size: usize) -> bool {
        size >= LARGE && UNTIL_REFUSED.fetch_sub(1, Relaxed) == 0
    }
}

// SAFETY: every call goes on to the system's allocator as it is, or returns null, which is a lack of
// memory.
unsafe impl GlobalAlloc for Refusing {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if Self::refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        TAKEN.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if Self::refuses(layout.size()) {
            return std::ptr::null_mut();
        }
        TAKEN.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller keeps to the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if Self::refuses(size) {
            return std::ptr::null_mut();
        }
        TAKEN.fetch_add(size, Relaxed);
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps to the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;

/// Calls `work` on a new `subject` with the first large allocation refused, then the second, and so
/// on, until none is; each time also without refusals on the same subject.
fn refuse_each<S, R: PartialEq + Debug>(
    name: &str,
    subject: impl Fn() -> S,
    work: impl Fn(&mut S) -> Result<R, Error>,
) {
    let expected = work(&mut subject()).unwrap();
    for number in 0.. {
        let mut subject = subject();
        UNTIL_REFUSED.store(number, Relaxed);
        let result = work(&mut subject);
        let left = UNTIL_REFUSED.swap(usize::MAX, Relaxed);
        match result {
            Err(Error::OutOfMemory { bytes }) => assert!(bytes >= LARGE / 2, "{name}: {bytes} bytes"),
            Err(error) => panic!("{name}, allocation {number}: {error}"),
            Ok(result) => {
                assert_eq!(result, expected, "{name}, allocation {number}");
                assert!(left < usize::MAX / 2, "{name}: allocation {number} was refused, and no error told");
                assert!(number > 0, "{name}: nothing large is allocated");
                println!("{name}: {number} large allocations");
                return;
            }
        }
        let again = work(&mut subject).unwrap();
        assert_eq!(again, expected, "{name} after allocation {number} was refused");
    }
}

const WIDTH: usize = 200;
const HEIGHT: usize = 130;

/// Blocks of noise: some hundred corners.
fn samples() -> Vec<u8> {
    (0..WIDTH * HEIGHT).map(|i| (255.0 * noise(5, i % WIDTH / 4, i / WIDTH / 4, 0)) as u8).collect()
}

/// Configurations whose engines and lists differ.
fn configs() -> Vec<HarrisConfig> {
    let builder = HarrisConfig::builder;
    let sigma = 1.0;
    let forstner = Subpixel::Forstner { radius: 5 };
    [
        builder(),
        builder().order(Order::Raster).threshold(Threshold::None).suppression_radius(0),
        builder().max_corners(400).min_distance(3.0).subpixel(forstner).border(Border::Zero),
        builder().max_corners(350).threshold(Threshold::None),
        builder().threshold(Threshold::Rosin { bins: 1024 }).smoothing(Smoothing::Binomial3),
        builder().subpixel(Subpixel::Quadratic).smoothing(Smoothing::Binomial5),
        builder().gradient(Gradient::Box { size: 9 }).window(Window::Box { size: 31 }),
        builder().gradient(Gradient::Sobel5).window(Window::Binomial { size: 5 }),
        builder().gradient(Gradient::GaussianDerivative { size: 5, sigma }),
        builder()
            .smoothing(Smoothing::Gaussian { size: 5, sigma })
            .window(Window::Gaussian { size: 5, sigma }),
        builder().suppression_radius(12).gradient(Gradient::Central),
    ]
    .map(|builder| builder.build().unwrap())
    .into()
}

/// One test, as the allocator is the process's: no other may run beside it.
#[test]
fn refused_memory_is_an_error_and_the_next_call_works() {
    let bytes = samples();
    let shorts: Vec<u16> = bytes.iter().map(|&sample| u16::from(sample) * 257).collect();
    let floats: Vec<f32> = bytes.iter().map(|&sample| f32::from(sample) / 255.0).collect();
    let colors = &bytes[..WIDTH / 2 * 3 * (HEIGHT / 2)];
    let images = [
        ImageView::gray(&bytes, WIDTH, HEIGHT).unwrap(),
        ImageView::gray(&shorts, WIDTH, HEIGHT).unwrap(),
        ImageView::gray(&floats, WIDTH, HEIGHT).unwrap(),
        ImageView::rgb(colors, WIDTH / 2, HEIGHT / 2).unwrap(),
    ];
    for (i, config) in configs().into_iter().enumerate() {
        let image = &images[i % images.len()];
        for threads in [1, 3] {
            let name = format!("{threads} threads, {config:?}");
            let cpu = || CpuDetector::with_threads(config.clone(), threads).unwrap();
            refuse_each(&name, cpu, |detector| detector.detect(image));
            refuse_each(&name, cpu, |detector| detector.response(image));
        }
        // Engines of other vectors.
        for level in Level::available() {
            let cpu = || CpuDetector::with_threads(config.clone(), 1).unwrap().at_level(level);
            refuse_each(&level.to_string(), cpu, |detector| detector.detect(image));
        }
        // A part of the image, as it is slow.
        let image = &ImageView::strided(&bytes, 64, 48, 1, WIDTH).unwrap();
        let reference = || ReferenceDetector::new(config.clone());
        refuse_each("reference", reference, |detector| detector.detect(image));
        refuse_each("keypoint mask", reference, |detector| detector.keypoint_mask(image));
    }

    let config = FastHessianConfig::default();
    let keypoints = CpuFastHessian::new(config.clone()).detect(&images[0]).unwrap();
    assert!(keypoints.len() > 30, "{} keypoints", keypoints.len());
    let surf = SurfConfig::default;
    let descriptors = CpuSurf::new(surf()).extract(&images[0], &keypoints).unwrap();
    let reference = || ReferenceFastHessian::new(config.clone());
    refuse_each("reference blobs", reference, |detector| detector.detect(&images[0]));
    refuse_each("reference blobs' map", reference, |detector| detector.response(&images[0]));
    refuse_each(
        "reference SURF",
        || ReferenceSurf::new(surf()),
        |extractor| extractor.extract(&images[0], &keypoints),
    );
    let matching = MatchConfig::builder().ratio(1.0).cross_check(true).build().unwrap();
    let many = ndarray::concatenate(ndarray::Axis(0), &vec![descriptors.view(); 6]).unwrap();
    refuse_each(
        "reference matcher",
        || ReferenceMatcher::new(matching),
        |matcher| matcher.matches(many.view(), descriptors.view()),
    );
    for threads in [1, 3] {
        let blobs = || CpuFastHessian::with_threads(config.clone(), threads).unwrap();
        refuse_each("blobs", blobs, |detector| detector.detect(&images[0]));
        refuse_each("blobs' map", blobs, |detector| detector.response(&images[0]));
        let extractor = || CpuSurf::with_threads(surf(), threads).unwrap();
        refuse_each("SURF", extractor, |extractor| extractor.extract(&images[0], &keypoints));
        let matcher = || CpuMatcher::with_threads(matching, threads).unwrap();
        refuse_each("matcher", matcher, |matcher| matcher.matches(many.view(), descriptors.view()));
    }

    memory_is_given_back();
}

/// What a detector keeps after an image is freed by `shrink_to_fit`, and the next image has equal
/// results.
fn memory_is_given_back() {
    const SIDE: usize = 1024;
    let samples: Vec<u8> =
        (0..SIDE * SIDE).map(|i| (255.0 * noise(5, i % SIDE / 8, i / SIDE / 8, 0)) as u8).collect();
    let image = ImageView::gray(&samples, SIDE, SIDE).unwrap();
    let rosin = HarrisConfig::builder().threshold(Threshold::Rosin { bins: 256 }).build().unwrap();
    let staged = HarrisConfig::builder().gradient(Gradient::Sobel7).build().unwrap();
    let detectors: [Box<dyn Detector>; 4] = [
        Box::new(CpuDetector::with_threads(HarrisConfig::default(), 1).unwrap()),
        Box::new(CpuDetector::with_threads(rosin, 1).unwrap()),
        Box::new(CpuDetector::with_threads(staged, 1).unwrap()),
        Box::new(CpuFastHessian::with_threads(FastHessianConfig::default(), 1).unwrap()),
    ];
    for mut detector in detectors {
        let before = TAKEN.load(Relaxed);
        let list = detector.detect(&image).unwrap();
        let kept = TAKEN.load(Relaxed) - before - size_of_val(&list[..]);
        detector.shrink_to_fit();
        let left = TAKEN.load(Relaxed) - before - size_of_val(&list[..]);
        println!("{}: {} KiB kept, {left} bytes after", detector.describe(), kept >> 10);
        assert!(kept > 200 << 10, "{}: {kept} bytes kept", detector.describe());
        assert!(left < 1 << 10, "{}: {left} bytes left", detector.describe());
        assert_eq!(detector.detect(&image).unwrap(), list);
    }
    let mut surf = CpuSurf::with_threads(SurfConfig::default(), 1).unwrap();
    let before = TAKEN.load(Relaxed);
    drop(surf.extract(&image, &[]).unwrap());
    assert!(TAKEN.load(Relaxed) - before > SIDE * SIDE * 4);
    surf.shrink_to_fit();
    assert!(TAKEN.load(Relaxed) - before < 1 << 10);
}
