//! Places corners between pixels, and measures how well. Two halvings of a photograph, one of them
//! begun a pixel further to the right, show the same corners exactly half a pixel apart.
//!
//! `Quadratic` suits tracking, as here. `Forstner` finds the point where the edges of a corner
//! meet, as calibration needs it.
//!
//! ```sh
//! cargo run --release --example subpixel
//! ```

use std::error::Error;

use harris::{Backend, HarrisConfig, ImageView, Keypoint, Subpixel};
use image::{GrayImage, Luma};

fn main() -> Result<(), Box<dyn Error>> {
    let photograph = image::open("examples/data/camera.png")?.to_luma8();
    let (here, moved) = (halved(&photograph, 0), halved(&photograph, 1));

    for subpixel in [Subpixel::None, Subpixel::Quadratic, Subpixel::Forstner { radius: 5 }] {
        let config = HarrisConfig::builder().subpixel(subpixel).max_corners(100).build()?;
        let mut detector = harris::detector(Backend::Auto, config)?;
        let first = detector.detect(&ImageView::try_from(&here)?)?;
        let second = detector.detect(&ImageView::try_from(&moved)?)?;
        let mut errors: Vec<f32> = first.iter().map(|corner| error(corner, &second)).collect();
        errors.sort_by(f32::total_cmp);
        println!("{subpixel}: off by {:.2} pixels in the median", errors[errors.len() / 2]);
    }
    Ok(())
}

/// Halves an image: means of 2 × 2 pixels, from column `left` on.
fn halved(image: &GrayImage, left: u32) -> GrayImage {
    GrayImage::from_fn(image.width() / 2 - 1, image.height() / 2, |x, y| {
        let at = |dx, dy| u32::from(image.get_pixel(2 * x + left + dx, 2 * y + dy).0[0]);
        Luma([((at(0, 0) + at(1, 0) + at(0, 1) + at(1, 1) + 2) / 4) as u8])
    })
}

/// Distance from the place where a corner should be found again to the nearest that was found.
fn error(corner: &Keypoint, found: &[Keypoint]) -> f32 {
    let distance = |other: &Keypoint| (other.x - (corner.x - 0.5)).hypot(other.y - corner.y);
    found.iter().map(distance).fold(f32::INFINITY, f32::min)
}
