//! Chooses a backend at run time: the GPU if there is one, else the CPU. The code after the choice
//! is the same for both.
//!
//! ```sh
//! cargo run --release --example backends
//! ```

use harris::{Backend, Error, HarrisConfig, ImageView};

fn main() -> Result<(), Error> {
    for available in Backend::available() {
        match available.status {
            Ok(description) => println!("{}: {description}", available.backend),
            Err(reason) => println!("{}: {reason}", available.backend),
        }
    }

    // A white square on black.
    let (width, height) = (640, 480);
    let inside = |i: usize| (200..440).contains(&(i % width)) && (120..360).contains(&(i / width));
    let samples: Vec<u8> = (0..width * height).map(|i| if inside(i) { 255 } else { 0 }).collect();

    let mut detector = harris::detector(Backend::Auto, HarrisConfig::default())?;
    println!("on {}", detector.describe());
    for corner in detector.detect(&ImageView::gray(&samples, width, height)?)? {
        println!("{}, {}: {:.4}", corner.x, corner.y, corner.response);
    }
    Ok(())
}
