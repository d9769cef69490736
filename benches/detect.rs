//! Image to list: backends, threads, presets, sizes.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector, presets};
use harris_cpu::CpuDetector;
use harris_examples::input;

criterion_group!(benches, sizes, all_presets);
criterion_main!(benches);

/// The photograph `camera`, tiled to a size.
fn tiled(width: usize, height: usize) -> Vec<u8> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/camera.png");
    let camera = input::read_image(path.as_ref(), false).expect("the photograph is there").into_luma8();
    let (w, h) = (camera.width() as usize, camera.height() as usize);
    (0..width * height).map(|i| camera.as_raw()[(i / width % h) * w + i % width % w]).collect()
}

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
    }
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
    }
}
