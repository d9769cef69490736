//! Draws matches between two images side by side, as in figure 5.5 of Loundagin 2015.

use harris_core::features::Features;
use harris_core::matching::Match;
use harris_core::{Error, Keypoint};
use image::{DynamicImage, RgbImage, imageops};
use tiny_skia::{Color, Paint, PathBuilder, Pixmap, Stroke, Transform};

use super::outline;
use crate::overlay;

/// Draws the object on the left and the scene on the right, with a line for each match, and the
/// object's outline if its corners in the scene are known.
pub(crate) fn side_by_side(
    (object, trained): (&DynamicImage, &Features),
    (scene, found): (&DynamicImage, &Features),
    matches: &[Match],
    corners: Option<[[f64; 2]; 4]>,
) -> Result<RgbImage, Error> {
    let width = object.width().saturating_add(scene.width());
    overlay::check_memory(width, object.height().max(scene.height()).saturating_mul(2))?;
    let (left, right) = (object.to_rgb8(), scene.to_rgb8());
    let mut both = RgbImage::new(left.width() + right.width(), left.height().max(right.height()));
    imageops::replace(&mut both, &left, 0, 0);
    imageops::replace(&mut both, &right, left.width().into(), 0);
    let mut canvas = overlay::paint(&both);
    let shift = left.width() as f32;
    // Pixel centres are at half coordinates of the canvas.
    let place = |k: &Keypoint, shift: f32| (k.x + 0.5 + shift, k.y + 0.5);
    let unit = (both.width() as f32 / 900.0).clamp(1.0, 4.0);
    for (i, found_match) in matches.iter().enumerate() {
        let from = place(&trained.keypoints[found_match.train], 0.0);
        let to = place(&found.keypoints[found_match.query], shift);
        let color = hue(i as f32 * 0.618_034);
        let thin = Stroke { width: unit, ..Stroke::default() };
        let mut line = PathBuilder::new();
        line.move_to(from.0, from.1);
        line.line_to(to.0, to.1);
        let rings = [from, to].map(|(x, y)| PathBuilder::from_circle(x, y, 3.0 * unit));
        for path in rings.iter().chain([&line.finish()]).flatten() {
            stroke(&mut canvas, path, color, &thin);
        }
    }
    if let Some(path) =
        corners.and_then(|corners| outline::path(&corners, [scene.width(), scene.height()], shift))
    {
        for (width, color) in outline::WIDTHS.into_iter().zip(outline::colors()) {
            stroke(&mut canvas, &path, color, &outline::stroke(width, both.width()));
        }
    }
    Ok(overlay::picture(&canvas))
}

/// Strokes a path in one colour.
pub(crate) fn stroke(canvas: &mut Pixmap, path: &tiny_skia::Path, color: Color, stroke: &Stroke) {
    let mut paint = Paint::default();
    paint.set_color(color);
    canvas.stroke_path(path, &paint, stroke, Transform::identity(), None);
}

/// Returns a bright colour of a hue from 0 to 1.
fn hue(turn: f32) -> Color {
    let channel = |offset: f32| (0.6 + 0.4 * ((turn + offset) * std::f32::consts::TAU).cos()).clamp(0.0, 1.0);
    Color::from_rgba(channel(0.0), channel(1.0 / 3.0), channel(2.0 / 3.0), 1.0).unwrap_or(Color::WHITE)
}
