//! Finds the corners of a photograph, prints the strongest five, and draws all with `--overlay`.
//!
//! ```sh
//! cargo run --release --example detect -- examples/data/camera.png --overlay corners.png
//! ```
//!
//! The program `harris` (crate harris-cli) does the same with every option of the library.

use std::error::Error;
use std::path::PathBuf;

use harris::{Backend, HarrisConfig, ImageView, Keypoint};
use image::{Rgb, RgbImage};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (input, overlay) = match &arguments[..] {
        [input] => (input, None),
        [input, option, overlay] if option.as_os_str() == "--overlay" => (input, Some(overlay)),
        _ => return Err("usage: detect IMAGE [--overlay FILE]".into()),
    };
    let photograph = image::open(input)?;
    let gray = photograph.to_luma8();

    let mut detector = harris::detector(Backend::Auto, HarrisConfig::default())?;
    let corners = detector.detect(&ImageView::try_from(&gray)?)?;

    println!("{} corners, by {}", corners.len(), detector.describe());
    for Keypoint { x, y, response, .. } in corners.iter().take(5) {
        println!("  x {x:>4}  y {y:>4}  response {response:.3e}");
    }
    if let Some(overlay) = overlay {
        let mut picture = photograph.to_rgb8();
        for corner in &corners {
            ring(&mut picture, corner);
        }
        picture.save(overlay)?;
    }
    Ok(())
}

/// Draws a ring of a radius of 3 pixels around a corner.
fn ring(picture: &mut RgbImage, corner: &Keypoint) {
    for (dx, dy) in (-4..=4).flat_map(|dy| (-4..=4).map(move |dx| (dx, dy))) {
        let (x, y) = (corner.x as i32 + dx, corner.y as i32 + dy);
        let on_ring = (6..=13).contains(&(dx * dx + dy * dy));
        if let (true, Some(pixel)) = (on_ring, picture.get_pixel_mut_checked(x as u32, y as u32)) {
            *pixel = Rgb([255, 64, 32]);
        }
    }
}
