//! Drawings of keypoints on their image.

use harris_core::{Error, Keypoint, memory};
use image::{DynamicImage, Rgb, RgbImage};
use tiny_skia::{Color, Paint, Path, PathBuilder, Pixmap, PremultipliedColorU8, Stroke, Transform};

/// Draws a ring around each keypoint. Strong keypoints are more opaque, and drawn on top of weak
/// ones.
///
/// A corner's ring is larger and redder the stronger it is. A blob's ring has the blob's size. It
/// is red for a blob that is light on dark, and blue for dark on light, as in Hofmann 2009.
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// # Panics
/// If the image has no pixels.
pub fn draw(image: &DynamicImage, keypoints: &[Keypoint]) -> Result<RgbImage, Error> {
    check_memory(image.width(), image.height())?;
    let background = image.to_rgb8();
    let mut canvas = paint(&background);
    let strongest = keypoints.iter().map(|k| k.response.abs()).fold(f32::MIN_POSITIVE, f32::max);
    let unit = unit(&background);
    let mut order: Vec<_> = keypoints.iter().collect();
    order.sort_by(|a, b| b.cmp(a));
    for keypoint in order {
        ring(&mut canvas, keypoint, strength(keypoint.response.abs(), strongest), unit);
    }
    Ok(picture(&canvas))
}

/// Checks that there is memory to draw on an image of a size: for the image, the canvas and the
/// picture. The crates that draw would end the process for a lack of it.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn check_memory(width: u32, height: u32) -> Result<(), Error> {
    let bytes = (width as usize).saturating_mul(height as usize).saturating_mul(3 + 4 + 3);
    memory::reserve_exact(&mut Vec::<u8>::new(), bytes)
}

/// Makes a canvas from a picture.
///
/// # Panics
/// If the picture has no pixels.
#[must_use]
pub fn paint(picture: &RgbImage) -> Pixmap {
    let mut canvas = Pixmap::new(picture.width(), picture.height()).expect("an image has pixels");
    for (pixel, Rgb([r, g, b])) in canvas.pixels_mut().iter_mut().zip(picture.pixels()) {
        *pixel = PremultipliedColorU8::from_rgba(*r, *g, *b, 255).expect("opaque colours are premultiplied");
    }
    canvas
}

/// Returns the picture on an opaque canvas.
///
/// # Panics
/// Never: the picture has the canvas's size.
#[must_use]
pub fn picture(canvas: &Pixmap) -> RgbImage {
    RgbImage::from_fn(canvas.width(), canvas.height(), |x, y| {
        let pixel = canvas.pixel(x, y).expect("the picture is of the canvas's size");
        Rgb([pixel.red(), pixel.green(), pixel.blue()])
    })
}

/// Returns the length in pixels to which marks on an image are drawn in proportion.
pub(crate) fn unit(image: &RgbImage) -> f32 {
    (image.width().min(image.height()) as f32 / 160.0).clamp(1.5, 8.0)
}

/// Draws a line with a dark outline, which keeps it visible on bright ground.
pub(crate) fn stroke(canvas: &mut Pixmap, path: &Path, color: Color, unit: f32) {
    let mut line = |color: Color, width: f32| {
        let mut paint = Paint::default();
        paint.set_color(color);
        let stroke = Stroke { width, ..Stroke::default() };
        canvas.stroke_path(path, &paint, &stroke, Transform::identity(), None);
    };
    line(Color::from_rgba(0.0, 0.0, 0.0, 0.6 * color.alpha()).unwrap_or(Color::BLACK), 0.75 * unit);
    line(color, 0.4 * unit);
}

/// Maps a response to a weight: 1 for the strongest, 0 for a hundredth of it and less. The scale is
/// logarithmic, because responses extend over decades.
fn strength(response: f32, strongest: f32) -> f32 {
    (1.0 + (response / strongest).log10() / 2.0).clamp(0.0, 1.0)
}

fn ring(canvas: &mut Pixmap, keypoint: &Keypoint, strength: f32, unit: f32) {
    // Pixel centres are at half coordinates of the canvas.
    let (x, y) = (keypoint.x + 0.5, keypoint.y + 0.5);
    // Corners have the scale 1; a blob of scale σ has a radius of about 2.5 σ.
    let radius = if keypoint.scale == 1.0 { unit * (0.9 + strength) } else { 2.5 * keypoint.scale };
    let Some(path) = PathBuilder::from_circle(x, y, radius) else { return };
    let alpha = 0.45 + 0.55 * strength;
    let color = match (keypoint.scale == 1.0, keypoint.response < 0.0) {
        (true, _) => Color::from_rgba(1.0, 0.85 - 0.7 * strength, 0.1 + 0.15 * strength, alpha),
        (false, true) => Color::from_rgba(1.0, 0.15, 0.15, alpha),
        (false, false) => Color::from_rgba(0.2, 0.35, 1.0, alpha),
    };
    stroke(canvas, &path, color.unwrap_or(Color::WHITE), unit);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_mark_corners_and_leave_the_rest() {
        let gray = DynamicImage::ImageLuma8(image::GrayImage::from_pixel(64, 48, image::Luma([90])));
        let strong = Keypoint::new(20.0, 20.0, 1.0);
        let weak = Keypoint::new(44.0, 30.0, 0.001);
        let drawn = draw(&gray, &[strong, weak]).unwrap();
        let change = |k: &Keypoint| {
            let near = drawn
                .enumerate_pixels()
                .filter(|(x, y, _)| (*x as f32 - k.x).abs() < 8.0 && (*y as f32 - k.y).abs() < 8.0);
            near.map(|(_, _, p)| p.0.iter().map(|v| u32::from(v.abs_diff(90))).sum::<u32>()).sum::<u32>()
        };
        assert!(change(&strong) > 2 * change(&weak) && change(&weak) > 500);
        assert_eq!(drawn.get_pixel(2, 45).0, [90; 3]);
        assert_eq!(drawn.dimensions(), (64, 48));
    }

    #[test]
    fn light_blobs_are_red_and_dark_ones_blue() {
        let gray = DynamicImage::ImageLuma8(image::GrayImage::from_pixel(80, 48, image::Luma([128])));
        let light = Keypoint { x: 20.0, y: 24.0, scale: 4.0, response: -0.5 };
        let dark = Keypoint { x: 60.0, response: 0.5, ..light };
        let drawn = draw(&gray, &[light, dark]).unwrap();
        let ring = |blob: &Keypoint| drawn.get_pixel((blob.x + 10.0) as u32, blob.y as u32).0;
        let ([red, _, blue], [dark_red, _, dark_blue]) = (ring(&light), ring(&dark));
        assert!(red > blue + 60 && dark_blue > dark_red + 60, "{red} {blue}, {dark_red} {dark_blue}");
    }
}
