//! Detects in the frames of a video, on any backend. The frames are a window that moves over a
//! photograph, so it is known where each corner should be found again.
//!
//! ```sh
//! cargo run --release --example video
//! ```
//!
//! `harris stream` does this for videos, of a file or a pipe. `harris::cuda::CudaPipeline` keeps
//! several frames in flight on a GPU.

use std::collections::HashSet;
use std::error::Error;

use harris::{Backend, HarrisConfig, ImageView, Threshold};

/// Width and height of a frame.
const FRAME: [usize; 2] = [320, 240];
/// Pixels by which the window moves to the right from one frame to the next.
const STEP: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let photograph = image::open("examples/data/camera.png")?.to_luma8();
    let stride = photograph.width() as usize;

    // An absolute threshold: one relative to each frame's strongest response would change with it.
    let config = HarrisConfig::builder().threshold(Threshold::Absolute(1e-4)).build()?;
    // One detector for the whole video: it keeps its memory from frame to frame.
    let mut detector = harris::detector(Backend::Auto, config)?;
    let mut before: HashSet<[usize; 2]> = HashSet::new();
    let (mut frames, mut corners, mut again) = (0, 0, 0);
    for left in (0..=stride - FRAME[0]).step_by(STEP) {
        let samples = &photograph.as_raw()[left..];
        let frame = ImageView::strided(samples, FRAME[0], FRAME[1], 1, stride)?;
        let places: HashSet<_> =
            detector.detect(&frame)?.iter().map(|corner| [corner.x as usize, corner.y as usize]).collect();
        again += places.iter().filter(|[x, y]| before.contains(&[x + STEP, *y])).count();
        corners += places.len();
        frames += 1;
        before = places;
    }
    println!("{frames} frames with {corners} corners, {again} found again from the frame before");
    Ok(())
}
