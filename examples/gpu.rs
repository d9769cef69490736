//! Detects in pinned memory, from which a GPU copies directly, and in the GPU's own memory, where
//! the corners can stay. Where there is no NVIDIA GPU it says why, and ends.
//!
//! ```sh
//! cargo run --release --example gpu
//! ```

use std::error::Error;

use harris::cuda::{CudaDetector, CudaImage, PinnedImage};
use harris::{Detector, HarrisConfig, ImageView};

fn main() -> Result<(), Box<dyn Error>> {
    let mut detector = match CudaDetector::new(HarrisConfig::default()) {
        Ok(detector) => detector,
        Err(reason) => {
            println!("nothing to show without a GPU: {reason}");
            return Ok(());
        }
    };
    let photograph = image::open("examples/data/camera.png")?.to_luma8();
    let image = ImageView::try_from(&photograph)?;

    // Pinned memory is slow to allocate: keep the image, and read or decode each frame into it.
    let mut pinned = PinnedImage::<u8>::gray(image.width(), image.height())?;
    pinned.samples_mut().copy_from_slice(photograph.as_raw());
    let corners = detector.detect(&pinned.view())?;
    println!("{} corners from pinned memory", corners.len());

    // An image that is on the GPU. `CudaImage::from_raw` takes the address that a decoder gives.
    let resident = CudaImage::upload(detector.ordinal(), &image)?;
    let on_gpu = detector.detect_on_device(&resident)?;
    println!("{} corners from the GPU's memory, kept at {:#x} there", on_gpu.len(), on_gpu.pointer());
    assert_eq!(on_gpu.to_vec()?, corners);
    Ok(())
}
