//! Stage 10: the place between pixels.

use crate::Keypoint;
use crate::config::Subpixel;

/// The offset, −0.5 to 0.5, of the vertex of the parabola through the responses before, at and after a corner;
/// 0 where they do not bend downwards.
///
/// ```
/// use harris_core::pipeline::subpixel::offset;
///
/// assert_eq!(offset(1.0, 3.0, 1.0), 0.0);
/// assert_eq!(offset(1.0, 3.0, 2.0), 0.5 * -1.0 / -3.0);
/// assert_eq!(offset(0.0, 1.0, 1.0), 0.5);
/// assert_eq!(offset(1.0, 1.0, 1.0), 0.0);
/// ```
#[must_use]
pub fn offset(before: f32, at: f32, after: f32) -> f32 {
    let bend = (before - 2.0 * at) + after;
    if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 }
}

/// Places `corners`, which lie at pixel centres, between pixels. `response` tells the response at x, y, `None`
/// where there is none: beyond the image, or where it is not valid.
pub fn refine(corners: &mut [Keypoint], choice: Subpixel, response: impl Fn(isize, isize) -> Option<f32>) {
    if choice == Subpixel::None {
        return;
    }
    for corner in corners {
        let (x, y) = (corner.x as isize, corner.y as isize);
        let along = |dx: isize, dy: isize| match (response(x - dx, y - dy), response(x + dx, y + dy)) {
            (Some(before), Some(after)) => offset(before, corner.response, after),
            _ => 0.0,
        };
        let (dx, dy) = (along(1, 0), along(0, 1));
        corner.x += dx;
        corner.y += dy;
    }
}
