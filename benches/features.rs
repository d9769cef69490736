//! SURF on each backend: blobs, descriptors, both in one call, and matches.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use harris_benches::tiled;
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::features::{DetectAndDescribe, FeatureConfig, ReferenceFeatures};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_core::{Detector, ImageView};
use harris_cpu::{ApproximateIndex, CpuFastHessian, CpuFeatures, CpuMatcher, CpuSurf};

criterion_group!(benches, blobs, descriptors, features, matches);
criterion_main!(benches);

/// Returns the available backends with their constructors.
macro_rules! backends {
    ($config:expr, $trait:ident, $reference:ident, $cpu:ident, $cuda:ident) => {{
        let mut backends: Vec<(&str, Box<dyn $trait>)> = vec![
            ("reference", Box::new($reference::new($config))),
            ("cpu_1_thread", Box::new($cpu::with_threads($config, 1).expect("one thread"))),
            ("cpu", Box::new($cpu::new($config))),
        ];
        if let Ok(made) = harris::cuda::$cuda::new($config) {
            backends.push(("cuda", Box::new(made)));
        }
        backends.reverse();
        backends
    }};
}

fn blobs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("blobs");
    group.sample_size(10);
    let config = FastHessianConfig::default;
    for side in [512, 2048] {
        let samples = tiled(side, side);
        let image = ImageView::gray(&samples, side, side).expect("a valid image");
        group.throughput(Throughput::Elements((side * side) as u64));
        for (name, mut detector) in
            backends!(config(), Detector, ReferenceFastHessian, CpuFastHessian, CudaFastHessian)
        {
            group.bench_function(BenchmarkId::new(name, side), |b| {
                b.iter(|| detector.detect(black_box(&image)));
            });
        }
    }
}

fn descriptors(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("descriptors");
    group.sample_size(10);
    let samples = tiled(1024, 1024);
    let image = ImageView::gray(&samples, 1024, 1024).expect("a valid image");
    let keypoints = CpuFastHessian::new(FastHessianConfig::default()).detect(&image).expect("a valid image");
    group.throughput(Throughput::Elements(keypoints.len() as u64));
    for (kind, upright) in [("turned", false), ("upright", true)] {
        let config = || SurfConfig::builder().upright(upright).build().expect("a valid choice");
        for (name, mut extractor) in backends!(config(), Extractor, ReferenceSurf, CpuSurf, CudaSurf) {
            group.bench_function(BenchmarkId::new(name, kind), |b| {
                b.iter(|| extractor.extract(black_box(&image), &keypoints));
            });
        }
    }
}

fn features(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("features");
    group.sample_size(10);
    let samples = tiled(1024, 1024);
    let image = ImageView::gray(&samples, 1024, 1024).expect("a valid image");
    group.throughput(Throughput::Elements(1024 * 1024));
    let config = FeatureConfig::default;
    for (name, mut features) in
        backends!(config(), DetectAndDescribe, ReferenceFeatures, CpuFeatures, CudaFeatures)
    {
        group.bench_function(name, |b| b.iter(|| features.detect_and_describe(black_box(&image))));
    }
}

fn matches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("matches");
    group.sample_size(10);
    let samples = tiled(1024, 1024);
    let image = ImageView::gray(&samples, 1024, 1024).expect("a valid image");
    let dense = FastHessianConfig::builder().step(1).max_keypoints(2000).build().expect("a valid choice");
    let keypoints = CpuFastHessian::new(dense).detect(&image).expect("a valid image");
    let all = CpuSurf::new(SurfConfig::default()).extract(&image, &keypoints).expect("valid keypoints");
    for count in [500, 2000] {
        let some = all.slice(ndarray::s![..count, ..]);
        group.throughput(Throughput::Elements((count * count) as u64));
        for (name, mut matcher) in
            backends!(MatchConfig::default(), Matcher, ReferenceMatcher, CpuMatcher, CudaMatcher)
        {
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| matcher.matches(black_box(some), some));
            });
        }
        group.bench_function(BenchmarkId::new("index_built", count), |b| {
            b.iter(|| ApproximateIndex::new(black_box(some)));
        });
        let index = ApproximateIndex::new(some).expect("valid descriptors");
        group.bench_function(BenchmarkId::new("index_searched", count), |b| b.iter(|| index.nearest(some)));
    }
}
