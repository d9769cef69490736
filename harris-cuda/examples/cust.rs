//! Finds the corners of an image in a buffer of cust, on a stream of cust. Only the list is copied
//! through the host.
//!
//! ```sh
//! cargo run --release -p harris-cuda --features cust --example cust
//! ```

use cust::memory::{AsyncCopyDestination, DeviceBuffer};
use cust::stream::{Stream, StreamFlags};
use harris_cuda::{CudaDetector, CudaImage, HarrisConfig, Keypoint};

#[allow(unsafe_code, reason = "cust and the detector are promised what the comments say")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let context = cust::quick_init()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None)?;
    let mut detector = CudaDetector::in_context(&context, HarrisConfig::default())?;

    // A white square on black. In a real program a decoder or a kernel writes it.
    let (width, height) = (640, 480);
    let inside = |i: usize| (200..440).contains(&(i % width)) && (120..360).contains(&(i / width));
    let samples: Vec<u8> = (0..width * height).map(|i| if inside(i) { 255 } else { 0 }).collect();
    let mut frame = DeviceBuffer::<u8>::zeroed(width * height)?;
    cust::context::CurrentContext::synchronize()?;
    // SAFETY: samples and frame live until the stream is waited for.
    unsafe { frame.async_copy_from(&samples[..], &stream) }?;

    let image = CudaImage::from_device_buffer(&frame, width, width, height, 1)?;
    // SAFETY: the stream is alive, and only work on it writes the frame.
    let pending = unsafe { detector.detect_on_stream(&image, &stream) }?;
    // Kernels on the stream can use the keypoints from here on.
    let found = pending.finish()?;
    println!("{} corners, in the GPU's memory at {:#x}", found.len(), found.pointer());
    // SAFETY: the keypoints are still there.
    let keypoints: Vec<Keypoint> = unsafe { found.as_device_slice() }.as_host_vec()?;
    for corner in keypoints {
        println!("{}, {}: {:.4}", corner.x, corner.y, corner.response);
    }
    Ok(())
}
