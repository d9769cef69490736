//! Detects in several images with one call. Sizes may differ. A GPU copies the next image while it
//! works on this one.
//!
//! ```sh
//! cargo run --release --example batch
//! ```

use std::error::Error;

use harris::{Backend, HarrisConfig, ImageView};

const NAMES: [&str; 3] = ["brick.png", "camera.png", "coffee.png"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut photographs = Vec::new();
    for name in NAMES {
        photographs.push(image::open(format!("examples/data/{name}"))?.to_luma8());
    }
    let images = photographs.iter().map(ImageView::try_from).collect::<Result<Vec<_>, _>>()?;

    let config = HarrisConfig::builder().max_corners(1000).build()?;
    let mut detector = harris::detector(Backend::Auto, config)?;
    for (name, corners) in NAMES.iter().zip(detector.detect_batch(&images)?) {
        println!("{name}: {} corners", corners.len());
    }
    Ok(())
}
