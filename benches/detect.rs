//! Detection from image to list: by backend, threads, preset and size.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use harris::Backend;
use harris_benches::tiled;
use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector, presets};
use harris_cpu::CpuDetector;

criterion_group!(benches, sizes, all_presets);
criterion_main!(benches);

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("detect_by_size");
    group.sample_size(10);
    for (width, height) in [(512, 512), (1920, 1080), (4096, 4096)] {
        let samples = tiled(width, height);
        let image = ImageView::gray(&samples, width, height).expect("a valid image");
        let size = format!("{width}x{height}");
        group.throughput(Throughput::Elements((width * height) as u64));
        if width < 4096 {
            let mut detector = ReferenceDetector::new(HarrisConfig::default());
            group.bench_function(BenchmarkId::new("reference", &size), |b| {
                b.iter(|| detector.detect(black_box(&image)));
            });
        }
        for threads in [1, 2] {
            let mut detector =
                CpuDetector::with_threads(HarrisConfig::default(), threads).expect("threads start");
            let id = BenchmarkId::new(format!("cpu_{threads}_threads"), &size);
            group.bench_function(id, |b| b.iter(|| detector.detect(black_box(&image))));
        }
        if let Some(mut detector) = cuda(HarrisConfig::default()) {
            let id = BenchmarkId::new("cuda", &size);
            group.bench_function(id, |b| b.iter(|| detector.detect(black_box(&image))));
        }
    }
}

/// Returns a detector on the first GPU, if there is one.
fn cuda(config: HarrisConfig) -> Option<Box<dyn Detector>> {
    harris::detector(Backend::Cuda { device: 0 }, config).ok()
}

fn all_presets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("detect_by_preset");
    group.sample_size(10);
    let samples = tiled(1024, 1024);
    let image = ImageView::gray(&samples, 1024, 1024).expect("a valid image");
    group.throughput(Throughput::Elements(1024 * 1024));
    for preset in presets::ALL {
        let mut detector = CpuDetector::new((preset.config)());
        group.bench_function(BenchmarkId::new("cpu", preset.name), |b| {
            b.iter(|| detector.detect(black_box(&image)));
        });
        if let Some(mut detector) = cuda((preset.config)()) {
            group.bench_function(BenchmarkId::new("cuda", preset.name), |b| {
                b.iter(|| detector.detect(black_box(&image)));
            });
        }
    }
}
