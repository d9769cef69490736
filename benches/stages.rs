//! Times of single stages.
//!
//! The reference's stages are functions, each measured alone. The CPU backend runs all stages block
//! by block, so the cost of a choice is measured instead, with defaults for all others.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use harris_core::pipeline::plane::Plane;
use harris_core::pipeline::suppression::{Region, suppress};
use harris_core::pipeline::{gradient, response, selection, smoothing, tensor, threshold};
use harris_core::{Detector, Gradient, HarrisConfig, ImageView, Measure, Smoothing, Threshold, Window};
use harris_cpu::CpuDetector;
use image::GrayImage;

criterion_group!(benches, reference, cpu);
criterion_main!(benches);

fn photograph() -> GrayImage {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/camera.png");
    image::open(path).expect("the photograph is there").into_luma8()
}

fn reference(criterion: &mut Criterion) {
    let photograph = photograph();
    let image = ImageView::gray(&photograph, 512, 512).expect("a valid image");
    let config = HarrisConfig::default();
    let border = config.border();
    let scale = config.tensor_scale(image.full_scale());

    let samples = Plane::channels(&image).unwrap().remove(0);
    let smoothed = smoothing::smooth(&samples, config.smoothing(), border).unwrap();
    let gradients = [gradient::gradient(&smoothed, config.gradient(), border).unwrap()];
    let products = tensor::tensor(&gradients, config.window(), border, scale).unwrap();
    let responses = response::response(&products, config.measure()).unwrap();
    let region = Region::new(&image, &config);
    let searched = || region.pixels().map(|(x, y)| responses[[y, x]]);
    let limit =
        threshold::threshold(config.threshold(), searched).unwrap().expect("the photograph has corners");
    let corners = suppress(&responses, region, &config, limit).unwrap();

    let mut group = criterion.benchmark_group("reference_stage");
    group.sample_size(20).throughput(Throughput::Elements(512 * 512));
    group.bench_function("smoothing", |b| {
        b.iter(|| smoothing::smooth(black_box(&samples), config.smoothing(), border));
    });
    group.bench_function("gradient", |b| {
        b.iter(|| gradient::gradient(black_box(&smoothed), config.gradient(), border));
    });
    group.bench_function("tensor", |b| {
        b.iter(|| tensor::tensor(black_box(&gradients), config.window(), border, scale));
    });
    group.bench_function("response", |b| {
        b.iter(|| response::response(black_box(&products), config.measure()));
    });
    group.bench_function("threshold", |b| b.iter(|| threshold::threshold(config.threshold(), searched)));
    group.bench_function("suppression", |b| {
        b.iter(|| suppress(black_box(&responses), region, &config, limit));
    });
    group.bench_function("selection", |b| b.iter(|| selection::select(black_box(&corners), &config)));
}

fn cpu(criterion: &mut Criterion) {
    let photograph = photograph();
    let image = ImageView::gray(&photograph, 512, 512).expect("a valid image");
    let mut group = criterion.benchmark_group("cpu_choice");
    group.sample_size(20).throughput(Throughput::Elements(512 * 512));

    let mut detector = CpuDetector::with_threads(HarrisConfig::default(), 1).expect("one thread");
    group.bench_function("default", |b| b.iter(|| detector.detect(black_box(&image))));
    group.bench_function("default/response_alone", |b| b.iter(|| detector.response(black_box(&image))));

    let base = HarrisConfig::builder;
    let mut choices = Vec::new();
    for smoothing in [Smoothing::None, Smoothing::Binomial5, Smoothing::Gaussian { size: 5, sigma: 1.0 }] {
        choices.push((format!("smoothing/{smoothing}"), base().smoothing(smoothing)));
    }
    let derivative = Gradient::GaussianDerivative { size: 9, sigma: 1.5 };
    for gradient in [Gradient::Scharr3, Gradient::Central, Gradient::Box { size: 9 }, derivative] {
        choices.push((format!("gradient/{gradient}"), base().gradient(gradient)));
    }
    for size in [5, 7, 31] {
        choices.push((format!("window/box:{size}"), base().window(Window::Box { size })));
    }
    for window in [Window::Binomial { size: 5 }, Window::Gaussian { size: 5, sigma: 1.5 }] {
        choices.push((format!("window/{window}"), base().window(window)));
    }
    for measure in [Measure::ShiTomasi, Measure::Noble { eps: 1e-6 }] {
        choices.push((format!("measure/{measure}"), base().measure(measure)));
    }
    for threshold in [Threshold::None, Threshold::Rosin { bins: 256 }] {
        choices.push((format!("threshold/{threshold}"), base().threshold(threshold)));
    }
    for radius in [1, 4] {
        choices.push((format!("suppression_radius/{radius}"), base().suppression_radius(radius)));
    }
    for (name, builder) in choices {
        let config = builder.build().expect("a valid choice");
        let mut detector = CpuDetector::with_threads(config, 1).expect("one thread");
        group.bench_function(name, |b| b.iter(|| detector.detect(black_box(&image))));
    }
}
