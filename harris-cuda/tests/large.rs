//! Large images: equal to the CPU's, which is equal to the reference.

mod gpu;

use harris_conformance::pictures::{DEPTHS, Picture, noise};
use harris_cpu::CpuDetector;
use harris_cuda::{CudaDetector, Detector, HarrisConfig};

fn equal_to_the_cpu(config: &HarrisConfig, picture: &Picture) {
    let mut gpu = CudaDetector::new(config.clone()).unwrap();
    let mut cpu = CpuDetector::new(config.clone());
    let (found, expected) = (gpu.detect(&picture.view()).unwrap(), cpu.detect(&picture.view()).unwrap());
    assert!(expected.len() > 1000, "{picture:?}: only {} corners", expected.len());
    assert!(found == expected, "{picture:?}: {} corners for {}", found.len(), expected.len());
}

/// Blocks of many sizes under noise.
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
