//! Reads an image from an `ndarray` array without a copy, and gets the response map as one.
//!
//! ```sh
//! cargo run --release --example ndarray
//! ```

use std::error::Error;

use harris::ndarray::{Array2, s};
use harris::{Backend, HarrisConfig, ImageView};

fn main() -> Result<(), Box<dyn Error>> {
    let photograph = image::open("examples/data/camera.png")?.to_luma8();
    let (width, height) = photograph.dimensions();
    // Rows first, as NumPy has images. Samples can be u8, u16 or f32.
    let array = Array2::from_shape_vec((height as usize, width as usize), photograph.into_raw())?;

    // A part of an array is an image, too: here the upper half, read where it lies.
    let mut detector = harris::detector(Backend::Auto, HarrisConfig::default())?;
    let upper = array.slice(s![..256, ..]);
    println!("{} corners in the upper half", detector.detect(&ImageView::try_from(upper)?)?.len());

    // The response of every pixel, in an array that keeps its memory from image to image.
    let mut responses = Array2::default((0, 0));
    detector.response_into(&ImageView::try_from(&array)?, &mut responses)?;
    let greatest = responses.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    println!("{:?} responses, at most {greatest:.3e}", responses.dim());
    Ok(())
}
