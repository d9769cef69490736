//! Benchmarks of the harris crates: `cargo bench -p harris-benches`.
//!
//! - `detect`: image to list, by backend, threads, preset and size.
//! - `stages`: the reference stage by stage; the CPU backend by what each choice of a stage costs.
//! - `features`: blobs, descriptors and matches, by backend.

use std::path::PathBuf;

use harris_examples::input;

/// The photograph `camera`, tiled to a size.
///
/// # Panics
/// Where the photograph is not there.
#[must_use]
pub fn tiled(width: usize, height: usize) -> Vec<u8> {
    // A benchmark may run where the repository is not.
    let folder = std::env::var_os("HARRIS_DATA")
        .map_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data").into(), PathBuf::from);
    let camera =
        input::read_image(&folder.join("camera.png"), false).expect("the photograph is there").into_luma8();
    let (w, h) = (camera.width() as usize, camera.height() as usize);
    (0..width * height).map(|i| camera.as_raw()[(i / width % h) * w + i % width % w]).collect()
}
