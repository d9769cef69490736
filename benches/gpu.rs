//! Detection and description on a GPU: images on the device, images in pinned memory, streams and
//! batches. Without a GPU nothing is measured.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use harris::cuda::{
    CudaDetector, CudaFastHessian, CudaFeatures, CudaImage, CudaMatcher, CudaPipeline, CudaSurf, Frame,
    FrameTask, MatchedFeatureConfig, PinnedImage, TrainSet, devices,
};
use harris_benches::tiled;
use harris_core::fast_hessian::FastHessianConfig;
use harris_core::features::{DetectAndDescribe, FeatureConfig};
use harris_core::matching::{MatchConfig, Matcher};
use harris_core::surf::{Extractor, SurfConfig};
use harris_core::{Detector, HarrisConfig, ImageView};
use ndarray::Array2;

criterion_group!(benches, images, features, batches, streams, matches);
criterion_main!(benches);

fn images(criterion: &mut Criterion) {
    let config = HarrisConfig::default();
    let Ok(mut detector) = CudaDetector::new(config.clone()) else {
        println!("no GPU");
        return;
    };
    let mut group = criterion.benchmark_group("gpu");
    for (width, height) in [(512, 512), (1920, 1080), (4096, 4096)] {
        let samples = tiled(width, height);
        let pinned = || PinnedImage::from_samples(&samples, width, height, 1).expect("pinned memory");
        let image = pinned();
        let resident = CudaImage::upload(0, &image.view()).expect("memory on the device");
        let size = format!("{width}x{height}");
        group.throughput(Throughput::Elements((width * height) as u64));
        group.bench_function(BenchmarkId::new("resident", &size), |b| {
            b.iter(|| detector.detect_on_device(black_box(&resident)).map(|keypoints| keypoints.len()));
        });
        group.bench_function(BenchmarkId::new("pinned", &size), |b| {
            b.iter(|| detector.detect(black_box(&image.view())));
        });
        let mut stream = CudaPipeline::new(config.clone()).expect("a GPU, as above");
        let mut spare: Vec<_> = (0..=stream.max_in_flight()).map(|_| pinned()).collect();
        // On average, one frame ends for each one that begins.
        group.bench_function(BenchmarkId::new("frame_of_a_stream", &size), |b| {
            b.iter(|| {
                let frame = spare.pop().expect("one more than can be in flight");
                if let Some(detection) = stream.push_pinned(frame) {
                    spare.extend(detection.image);
                }
            });
        });
    }
}

/// Fast-Hessian keypoints with SURF descriptors. The times of the device and of the copy are printed.
fn features(criterion: &mut Criterion) {
    let Ok(mut together) = CudaFeatures::new(FeatureConfig::default()) else { return };
    let mut detector = CudaFastHessian::new(FastHessianConfig::default()).expect("a GPU, as above");
    let mut extractor = CudaSurf::new(SurfConfig::default()).expect("a GPU, as above");
    let mut group = criterion.benchmark_group("gpu_features");
    for (width, height) in [(640, 480), (1920, 1080)] {
        let samples = tiled(width, height);
        let pinned = || PinnedImage::from_samples(&samples, width, height, 1).expect("pinned memory");
        let image = pinned();
        let size = format!("{width}x{height}");
        let copy = PinnedImage::copy_time(std::slice::from_ref(&image), 0).expect("a GPU, as above");
        // The second image has lists of the right length.
        let mut found = together.detect_and_describe(&image.view()).expect("a valid image");
        for _ in 0..20 {
            found = together.detect_and_describe(&image.view()).expect("a valid image");
        }
        let mut keypoints = Vec::new();
        for _ in 0..20 {
            keypoints = detector.detect(&image.view()).expect("a valid image");
        }
        let detecting = detector.device_time();
        extractor.extract(&image.view(), &keypoints).expect("valid keypoints");
        println!(
            "{size}: {} keypoints, copy {copy:?}, device {:?}, alone: detection {detecting:?}, description {:?}",
            found.keypoints.len(),
            together.device_time(),
            extractor.device_time(),
        );
        group.throughput(Throughput::Elements((width * height) as u64));
        group.bench_function(BenchmarkId::new("one_call", &size), |b| {
            b.iter(|| together.detect_and_describe(black_box(&image.view())));
        });
        group.bench_function(BenchmarkId::new("two_calls", &size), |b| {
            b.iter(|| {
                let keypoints = detector.detect(black_box(&image.view()))?;
                extractor.extract(&image.view(), &keypoints)
            });
        });
        let mut stream = CudaPipeline::new(FeatureConfig::default()).expect("a GPU, as above");
        let mut spare: Vec<_> = (0..=stream.max_in_flight()).map(|_| pinned()).collect();
        group.bench_function(BenchmarkId::new("frame_of_a_stream", &size), |b| {
            b.iter(|| {
                let frame = spare.pop().expect("one more than can be in flight");
                if let Some(finished) = stream.push_pinned(frame) {
                    spare.extend(finished.image);
                }
            });
        });
    }
}

/// Images in pinned memory, each a part of one large one.
fn parts(count: usize, width: usize, height: usize) -> Vec<PinnedImage> {
    let wide = width + 100;
    let samples = tiled(wide, height);
    let part = |i: usize| {
        let row = |y: usize| &samples[y * wide + i % 100..][..width];
        let shifted: Vec<u8> = (0..height).flat_map(row).copied().collect();
        PinnedImage::from_samples(&shifted, width, height, 1).expect("pinned memory")
    };
    (0..count).map(part).collect()
}

/// 1000 small images in pinned memory.
fn batches(criterion: &mut Criterion) {
    let Ok(mut together) = CudaFeatures::new(FeatureConfig::default()) else { return };
    let mut detector = CudaFastHessian::new(FastHessianConfig::default()).expect("a GPU, as above");
    let mut extractor = CudaSurf::new(SurfConfig::default()).expect("a GPU, as above");
    let mut corners = CudaDetector::new(HarrisConfig::default()).expect("a GPU, as above");
    let mut group = criterion.benchmark_group("gpu_batches");
    group.sample_size(10);
    for (width, height) in [(128, 128), (640, 480)] {
        let images = parts(1000, width, height);
        let views: Vec<ImageView<'_>> = images.iter().map(PinnedImage::view).collect();
        let size = format!("{width}x{height}");
        group.throughput(Throughput::Elements(1000));
        group.bench_function(BenchmarkId::new("corners", &size), |b| {
            b.iter(|| corners.detect_batch(black_box(&views)));
        });
        group.bench_function(BenchmarkId::new("blobs", &size), |b| {
            b.iter(|| detector.detect_batch(black_box(&views)));
        });
        group.bench_function(BenchmarkId::new("features", &size), |b| {
            b.iter(|| together.detect_and_describe_batch(black_box(&views)));
        });
        group.bench_function(BenchmarkId::new("features_by_two_calls", &size), |b| {
            b.iter(|| -> Vec<_> {
                let mut both = |image: &ImageView<'_>| {
                    let keypoints = detector.detect(black_box(image)).expect("a valid image");
                    let descriptors = extractor.extract(image, &keypoints).expect("valid keypoints");
                    (keypoints, descriptors)
                };
                views.iter().map(&mut both).collect()
            });
        });
    }
}

/// A stream of frames on one GPU and on all, with and without matches.
fn streams(criterion: &mut Criterion) {
    let Ok(devices) = devices() else { return };
    let (matching, features) = (MatchConfig::default(), FeatureConfig::default());
    let all: Vec<u32> = devices.iter().map(|device| device.ordinal).collect();
    let mut group = criterion.benchmark_group("gpu_streams");
    group.sample_size(10);
    for (width, height) in [(640, 480), (1920, 1080)] {
        let mut images = parts(100, width, height);
        let size = format!("{width}x{height}");
        let previous = MatchedFeatureConfig::new(features.clone(), matching, TrainSet::PreviousFrame);
        let mut matched =
            CudaPipeline::on_devices(&[0], 6, previous.expect("valid")).expect("a GPU, as above");
        group.throughput(Throughput::Elements(100));
        group.bench_function(BenchmarkId::new("matched_with_the_frame_before", &size), |b| {
            b.iter(|| run(&mut matched, &mut images));
        });
        for ordinals in [&all[..1], &all[..]] {
            let mut stream = CudaPipeline::on_devices(ordinals, 6, features.clone()).expect("GPUs");
            let name = format!("features_on_{}_gpus", ordinals.len());
            group.bench_function(BenchmarkId::new(name, &size), |b| b.iter(|| run(&mut stream, &mut images)));
            if all.len() == 1 {
                break;
            }
        }
    }
}

/// Runs all images through a pipeline.
fn run<C: FrameTask>(pipeline: &mut CudaPipeline<u8, C>, images: &mut Vec<PinnedImage>) {
    let mut back = Vec::with_capacity(images.len());
    let mut keep = |frame: Frame<u8, C::Output>| {
        frame.result.expect("a valid image");
        back.extend(frame.image);
    };
    for image in images.drain(..) {
        if let Some(frame) = pipeline.push_pinned(image) {
            keep(frame);
        }
    }
    while let Some(frame) = pipeline.next() {
        keep(frame);
    }
    *images = back;
}

/// Exact matching of random descriptors. The device's times are printed.
fn matches(criterion: &mut Criterion) {
    let Ok(mut matcher) = CudaMatcher::new(MatchConfig::default()) else { return };
    let mut group = criterion.benchmark_group("gpu_matches");
    group.sample_size(10);
    for count in [2000, 100_000] {
        let mut state = 1_u32;
        let all = Array2::from_shape_simple_fn((count, 64), || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        });
        for _ in 0..3 {
            matcher.matches(all.view(), all.view()).expect("valid descriptors");
        }
        println!("{count} x {count}: device {:?}", matcher.device_time());
        group.throughput(Throughput::Elements((count * count) as u64));
        group.bench_function(BenchmarkId::new("matches", count), |b| {
            b.iter(|| matcher.matches(black_box(all.view()), all.view()));
        });
    }
}
