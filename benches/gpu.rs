//! Detection on a GPU: images on the device, images in pinned memory, and streams. Without a GPU
//! nothing is measured.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use harris::cuda::{CudaDetector, CudaImage, CudaPipeline, PinnedImage};
use harris_benches::tiled;
use harris_core::{Detector, HarrisConfig};

criterion_group!(benches, images);
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
