//! Pictures of hits, misses and false keypoints.

use harris_core::Error;
use image::{DynamicImage, RgbImage};
use tiny_skia::{Color, Path, PathBuilder};

use super::images::Place;
use super::pairing::Pairing;
use crate::overlay;

/// Distance in pixels from the image within which a mark is drawn.
const MARGIN: f64 = 50.0;

/// Draws a green ring around each hit, a yellow ring around each false keypoint, and a red cross on
/// each missed corner.
pub(super) fn draw(image: &DynamicImage, pairing: &Pairing<'_>) -> Result<RgbImage, Error> {
    overlay::check_memory(image.width(), image.height())?;
    let background = image.to_rgb8();
    let unit = overlay::unit(&background);
    let mut canvas = overlay::paint(&background);
    let (width, height) = (f64::from(background.width()), f64::from(background.height()));
    let mut mark = |[x, y]: Place, shape: fn(f32, f32, f32) -> Option<Path>, [r, g, b]: [u8; 3]| {
        let near = |value: f64, size: f64| (-MARGIN..size + MARGIN).contains(&value);
        if near(x, width) && near(y, height) {
            // Pixel centres are at half coordinates of the canvas.
            let path = shape(x as f32 + 0.5, y as f32 + 0.5, unit);
            let _ = path.map(|path| {
                overlay::stroke(&mut canvas, &path, Color::from_rgba8(r, g, b, 255), unit);
            });
        }
    };
    pairing.false_keypoints().for_each(|place| mark(place, ring, [255, 220, 0]));
    pairing.hits().for_each(|place| mark(place, ring, [0, 210, 60]));
    pairing.misses().for_each(|place| mark(place, cross, [255, 40, 40]));
    Ok(overlay::picture(&canvas))
}

fn ring(x: f32, y: f32, unit: f32) -> Option<Path> {
    PathBuilder::from_circle(x, y, 2.0 * unit)
}

fn cross(x: f32, y: f32, unit: f32) -> Option<Path> {
    let (mut path, arm) = (PathBuilder::new(), 1.6 * unit);
    path.move_to(x - arm, y - arm);
    path.line_to(x + arm, y + arm);
    path.move_to(x - arm, y + arm);
    path.line_to(x + arm, y - arm);
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_far_outside_are_not_drawn() {
        let gray = DynamicImage::ImageLuma8(image::GrayImage::from_pixel(20, 10, image::Luma([90])));
        let far = [[1e300, 5.0], [-1e9, 5.0], [5.0, f64::MAX], [5.0, -61.0]];
        let drawn = draw(&gray, &Pairing::new(&far, &far[..1], 0.0).unwrap()).unwrap();
        assert!(drawn.pixels().all(|pixel| pixel.0 == [90; 3]));
        let near = draw(&gray, &Pairing::new(&[[-1.0, 5.0]], &[], 0.0).unwrap()).unwrap();
        assert!(near.pixels().any(|pixel| pixel.0 != [90; 3]));
    }
}
