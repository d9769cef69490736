//! Seeks corners in a part of an image. The mask is an 8-bit image: zeros exclude pixels.
//!
//! ```sh
//! cargo run --release --example mask
//! ```

use std::error::Error;

use harris::{Backend, HarrisConfig, ImageView};
use image::{GrayImage, Luma};

fn main() -> Result<(), Box<dyn Error>> {
    let photograph = image::open("examples/data/coffee.png")?.to_luma8();
    let (width, height) = photograph.dimensions();

    // A disc: the saucer, with what stands on it.
    let mask = GrayImage::from_fn(width, height, |x, y| {
        let (dx, dy) = (x as i32 - 280, y as i32 - 200);
        Luma([if dx * dx + dy * dy < 200 * 200 { 255 } else { 0 }])
    });

    let image = ImageView::try_from(&photograph)?;
    let masked = image.with_mask(ImageView::try_from(&mask)?)?;
    let mut detector = harris::detector(Backend::Auto, HarrisConfig::default())?;
    let all = detector.detect(&image)?;
    let inside = detector.detect(&masked)?;
    assert!(inside.iter().all(|corner| mask.get_pixel(corner.x as u32, corner.y as u32).0 == [255]));
    println!("{} corners, of which {} lie on the saucer", all.len(), inside.len());
    Ok(())
}
