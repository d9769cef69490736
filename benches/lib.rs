//! Benchmarks of the harris crates: `cargo bench -p harris-benches`.
//!
//! - `detect`: from image to list, by backend, threads, preset and size.
//! - `stages`: each stage of the reference, and the cost of each choice on the CPU backend.
//! - `features`: blobs, descriptors and matches, by backend.
//! - `matching`: exact matching of many descriptors, as lines of JSON.
//! - `gpu`: images on the device, in pinned memory and in streams.

use std::path::PathBuf;

/// Returns the photograph `camera`, tiled to a size.
///
/// # Panics
/// If the photograph cannot be read.
#[must_use]
pub fn tiled(width: usize, height: usize) -> Vec<u8> {
    // A benchmark may run without the repository.
    let folder = std::env::var_os("HARRIS_DATA")
        .map_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data").into(), PathBuf::from);
    let camera = image::open(folder.join("camera.png")).expect("the photograph is there").into_luma8();
    let (w, h) = (camera.width() as usize, camera.height() as usize);
    (0..width * height).map(|i| camera.as_raw()[(i / width % h) * w + i % width % w]).collect()
}
