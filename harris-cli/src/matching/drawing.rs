//! Draws matches between two images side by side, as in figure 5.5 of Loundagin 2015.

use crate::overlay;
use harris_core::matching::Match;
use harris_core::{Error, Keypoint};
use image::{DynamicImage, RgbImage, imageops};
use tiny_skia::{Color, Paint, PathBuilder, Pixmap, Stroke, Transform};

use crate::matching::pipeline::Features;

/// Draws the object on the left and the scene on the right, with a line for each match, and the
/// object's outline if its corners in the scene are known.
pub(crate) fn side_by_side(
    (object, trained): (&DynamicImage, &Features),
    (scene, found): (&DynamicImage, &Features),
    matches: &[Match],
    outline: Option<[[f64; 2]; 4]>,
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
        line(&mut canvas, &[from, to], color, unit);
        for (x, y) in [from, to] {
            if let Some(circle) = PathBuilder::from_circle(x, y, 3.0 * unit) {
                stroke(&mut canvas, &circle, color, unit);
            }
        }
    }
    if let Some([a, b, c, d]) = outline {
        let points = [a, b, c, d, a].map(|[x, y]| (x as f32 + 0.5 + shift, y as f32 + 0.5));
        line(&mut canvas, &points, Color::BLACK, 4.0 * unit);
        line(&mut canvas, &points, Color::from_rgba8(80, 255, 80, 255), 2.0 * unit);
    }
    Ok(overlay::picture(&canvas))
}

fn line(canvas: &mut Pixmap, points: &[(f32, f32)], color: Color, width: f32) {
    let mut path = PathBuilder::new();
    for (i, &(x, y)) in points.iter().enumerate() {
        if i == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
    }
    if let Some(path) = path.finish() {
        stroke(canvas, &path, color, width);
    }
}

fn stroke(canvas: &mut Pixmap, path: &tiny_skia::Path, color: Color, width: f32) {
    let mut paint = Paint::default();
    paint.set_color(color);
    canvas.stroke_path(path, &paint, &Stroke { width, ..Stroke::default() }, Transform::identity(), None);
}

/// Returns a bright colour of a hue from 0 to 1.
fn hue(turn: f32) -> Color {
    let channel = |offset: f32| (0.6 + 0.4 * ((turn + offset) * std::f32::consts::TAU).cos()).clamp(0.0, 1.0);
    Color::from_rgba(channel(0.0), channel(1.0 / 3.0), channel(2.0 / 3.0), 1.0).unwrap_or(Color::WHITE)
}
