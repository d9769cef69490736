//! Large images: results equal those of the CPU, which equal the reference's.

mod gpu;

use harris_conformance::pictures::{DEPTHS, Picture, noise};
use harris_core::fast_hessian::FastHessianConfig;
use harris_core::matching::{MatchConfig, Matcher};
use harris_core::surf::{Extractor, SurfConfig};
use harris_core::{Border, Gradient, Order, Smoothing, Subpixel, Threshold, Window, presets};
use harris_cpu::{CpuDetector, CpuFastHessian, CpuMatcher, CpuSurf};
use harris_cuda::{CudaDetector, CudaFastHessian, CudaMatcher, CudaSurf, Detector, HarrisConfig};

fn equal_to_the_cpu(config: &HarrisConfig, picture: &Picture) {
    let mut gpu = CudaDetector::new(config.clone()).unwrap();
    let mut cpu = CpuDetector::new(config.clone());
    let (found, expected) = (gpu.detect(&picture.view()).unwrap(), cpu.detect(&picture.view()).unwrap());
    assert!(expected.len() > 1000, "{picture:?}: only {} corners", expected.len());
    assert!(found == expected, "{picture:?}: {} corners for {}", found.len(), expected.len());
}

/// Blocks of many sizes with noise on top.
fn brightness(x: usize, y: usize, channel: usize) -> f64 {
    let grain = 3 + (x / 512 + y / 512) % 13;
    0.8 * noise(5, x / grain, y / grain, channel) + 0.2 * noise(6, x, y, channel)
}

#[test]
fn images_of_4096_by_4096_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    for channels in [1, 3] {
        for depth in DEPTHS {
            let picture = Picture::draw(depth, (4096, 4096, channels), brightness).with_gap(7);
            equal_to_the_cpu(&HarrisConfig::default(), &picture);
            let masked = picture.with_mask(|x, y| noise(7, x / 200, y / 100, 0) > 0.5);
            equal_to_the_cpu(&HarrisConfig::default(), &masked);
        }
    }
}

/// Configurations that need a response map.
#[test]
fn corners_from_maps_of_4096_by_4096_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    let default = HarrisConfig::default().to_builder();
    let configs = [
        default.clone().subpixel(Subpixel::Quadratic),
        default.clone().suppression_radius(8),
        default.clone().suppression_radius(3).subpixel(Subpixel::Quadratic).order(Order::Raster),
        default.clone().suppression_radius(0),
        default.clone().threshold(Threshold::Rosin { bins: 256 }),
        default.clone().suppression_radius(4).border(Border::Replicate),
        presets::harris_phull_2011().to_builder(),
        presets::lococo_2011().to_builder().window(Window::Box { size: 31 }).suppression_radius(5),
        default
            .smoothing(Smoothing::None)
            .gradient(Gradient::Central)
            .window(Window::Gaussian { size: 5, sigma: 1.5 })
            .suppression_radius(4),
    ];
    for depth in DEPTHS {
        let picture = Picture::draw(depth, (4096, 4096, 1), brightness).with_gap(4);
        let masked = picture.clone().with_mask(|x, y| noise(7, x / 200, y / 100, 0) > 0.5);
        for config in configs.clone() {
            let config = config.build().unwrap();
            equal_to_the_cpu(&config, &picture);
            equal_to_the_cpu(&config, &masked);
        }
    }
}

#[test]
fn images_of_16384_by_16384_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    for (depth, channels) in DEPTHS.into_iter().map(|depth| (depth, 1)).chain([(DEPTHS[0], 3)]) {
        let picture = Picture::draw(depth, (16384, 16384, channels), brightness);
        equal_to_the_cpu(&HarrisConfig::default(), &picture);
    }
}

/// Blobs, their descriptors, and the matches of two images.
#[test]
fn features_of_large_images_equal_the_cpu() {
    if !gpu::present() {
        return;
    }
    let (config, surf, nearest) = (
        FastHessianConfig::default(),
        SurfConfig::default(),
        MatchConfig::builder().cross_check(true).build().unwrap(),
    );
    for (side, channels) in [(4096, 1), (4096, 3), (16384, 1)] {
        for depth in DEPTHS {
            let picture = Picture::draw(depth, (side, side, channels), brightness).with_gap(5);
            let image = picture.view();
            let found = CudaFastHessian::new(config.clone()).unwrap().detect(&image).unwrap();
            let expected = CpuFastHessian::new(config.clone()).detect(&image).unwrap();
            assert!(expected.len() > 10_000, "{picture:?}: only {} blobs", expected.len());
            assert!(found == expected, "{picture:?}: {} blobs for {}", found.len(), expected.len());
            // Blobs of all scales.
            let some: Vec<_> = found.iter().step_by(found.len() / 20_000 + 1).copied().collect();
            let descriptors = CudaSurf::new(surf.clone()).unwrap().extract(&image, &some).unwrap();
            let wanted = CpuSurf::new(surf.clone()).extract(&image, &some).unwrap();
            assert!(descriptors == wanted, "{picture:?}: descriptors differ");
            let (query, train) = descriptors.view().split_at(ndarray::Axis(0), some.len() / 3);
            let matches = CudaMatcher::new(nearest).unwrap().matches(query, train).unwrap();
            assert_eq!(matches, CpuMatcher::new(nearest).matches(query, train).unwrap());
        }
    }
}
