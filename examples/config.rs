//! Reads a configuration from JSON. What the file does not name has the default's value, and
//! nothing invalid gets through.
//!
//! ```sh
//! cargo run --release --example config --features serde
//! ```
//!
//! `harris detect --print-config json` writes these choices, too, in the object `harris` of its file.

use std::error::Error;
use std::fs;

use harris::{Backend, HarrisConfig, ImageView};

fn main() -> Result<(), Box<dyn Error>> {
    let text = fs::read_to_string("examples/config.json")?;
    let config: HarrisConfig = serde_json::from_str(&text)?;

    let photograph = image::open("examples/data/camera.png")?.to_luma8();
    let mut detector = harris::detector(Backend::Auto, config.clone())?;
    let corners = detector.detect(&ImageView::try_from(&photograph)?)?;
    println!("{} corners with {} and {}", corners.len(), config.measure(), config.window());

    // Errors come when the file is read, never later.
    let invalid = text.replace("\"size\": 5", "\"size\": 4");
    let error = serde_json::from_str::<HarrisConfig>(&invalid).expect_err("windows have odd sizes");
    println!("refused: {error}");
    Ok(())
}
