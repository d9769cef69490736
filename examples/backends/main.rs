//! Chooses a backend at run time: the GPU where there is one, else the CPU. What follows does not see the difference.
//!
//! ```sh
//! cargo run --release --example backends                    # the CPU
//! cargo run --release --features cuda --example backends    # the GPU, where there is one
//! ```

use harris_core::{Detector, Error, HarrisConfig, ImageView};
use harris_cpu::CpuDetector;

/// The fastest backend of this machine.
fn fastest(config: &HarrisConfig) -> Box<dyn Detector> {
    #[cfg(feature = "cuda")]
    match harris_cuda::CudaDetector::new(config.clone()) {
        Ok(detector) => return Box::new(detector),
        Err(reason) => eprintln!("not on a GPU: {reason}"),
    }
    Box::new(CpuDetector::new(config.clone()))
}

fn main() -> Result<(), Error> {
    // A white square on black.
    let (width, height) = (640, 480);
    let inside = |i: usize| (200..440).contains(&(i % width)) && (120..360).contains(&(i / width));
    let samples: Vec<u8> = (0..width * height).map(|i| if inside(i) { 255 } else { 0 }).collect();

    let mut detector = fastest(&HarrisConfig::default());
    println!("{}", detector.describe());
    for corner in detector.detect(&ImageView::gray(&samples, width, height)?)? {
        println!("{}, {}: {:.4}", corner.x, corner.y, corner.response);
    }
    Ok(())
}
