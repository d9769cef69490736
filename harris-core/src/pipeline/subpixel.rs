//! Stage 10: sub-pixel refinement.

use std::ops::Range;

use crate::config::Subpixel;
use crate::image::{ImageView, Raster, Sample, Samples};
use crate::keypoint::Keypoint;

/// Iterations of [`Subpixel::Forstner`], each around the place that the last one found.
const ITERATIONS: usize = 4;
/// The determinant that a corner must exceed where the trace is 1. Less is an edge, along which the
/// place is not determined.
const LEAST_DETERMINANT: f32 = 1.0 / 256.0;

/// Offset in pixels, −0.5 to 0.5, of the vertex of the parabola through three responses in a row.
///
/// 0 where the parabola does not open downwards.
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
    let curvature = (before - 2.0 * at) + after;
    if curvature < 0.0 { (0.5 * (before - after) / curvature).clamp(-0.5, 0.5) } else { 0.0 }
}

/// Moves corners from the centres of their pixels to places between pixels.
///
/// `response` gives the response at x, y. It gives `None` outside the image and where the response
/// is not valid.
pub fn refine(
    corners: &mut [Keypoint],
    choice: Subpixel,
    image: &ImageView<'_>,
    response: impl Fn(isize, isize) -> Option<f32>,
) {
    match choice {
        Subpixel::None => {}
        Subpixel::Quadratic => corners.iter_mut().for_each(|corner| quadratic(corner, &response)),
        Subpixel::Forstner { radius } => match image.samples() {
            Samples::U8(samples) => corners.iter_mut().for_each(|corner| forstner(corner, samples, radius)),
            Samples::U16(samples) => corners.iter_mut().for_each(|corner| forstner(corner, samples, radius)),
            Samples::F32(samples) => corners.iter_mut().for_each(|corner| forstner(corner, samples, radius)),
        },
    }
}

/// Moves a corner to the vertices of the parabolas along both axes.
fn quadratic(corner: &mut Keypoint, response: impl Fn(isize, isize) -> Option<f32>) {
    let (x, y) = (corner.x as isize, corner.y as isize);
    let along = |dx: isize, dy: isize| match (response(x - dx, y - dy), response(x + dx, y + dy)) {
        (Some(before), Some(after)) => offset(before, corner.response, after),
        _ => 0.0,
    };
    let (dx, dy) = (along(1, 0), along(0, 1));
    corner.x += dx;
    corner.y += dy;
}

/// Moves a corner by [`Subpixel::Forstner`].
fn forstner<T: Sample + Into<f32>>(corner: &mut Keypoint, samples: Raster<'_, T>, radius: u32) {
    let at = [corner.x as isize, corner.y as isize];
    place(corner, (samples.width(), samples.height()), radius, |around| {
        // Channels as a constant, so that the inner loops are unrolled.
        match samples.channels() {
            1 => sums::<T, 1>(at, samples, around),
            _ => sums::<T, 3>(at, samples, around),
        }
    });
}

/// The pixels around a place near a corner.
///
/// All offsets are from the corner's pixel.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Around {
    /// Offset of the place, x and y in pixels.
    pub place: [f32; 2],
    /// 1 / radius².
    pub per_square: f32,
    /// Column offsets within the radius whose pixels have both neighbours in the image.
    pub columns: Range<isize>,
    /// Row offsets within the radius whose pixels have both neighbours in the image.
    pub rows: Range<isize>,
}

/// Moves a corner to the point where the edges around its pixel meet, by [`Subpixel::Forstner`].
///
/// The corner stays at its pixel where there is no such point within the radius and the image.
///
/// `sums` computes A, B, C, M and N of docs/arithmetic.md, section 10, over the pixels around a
/// place. Backends pass their own; it is called up to four times.
#[doc(hidden)]
pub fn place(
    corner: &mut Keypoint,
    (width, height): (usize, usize),
    radius: u32,
    sums: impl FnMut(Around) -> [f32; 5],
) {
    let at = [corner.x as isize, corner.y as isize];
    let [dx, dy] = meeting_point(at, (width, height), radius, sums).unwrap_or_default();
    let (x, y) = (corner.x + dx, corner.y + dy);
    let last = |len: usize| (len - 1) as f32;
    if (0.0..=last(width)).contains(&x) && (0.0..=last(height)).contains(&y) {
        (corner.x, corner.y) = (x, y);
    }
}

/// Offset from a pixel's centre to the point where the edges around it meet.
///
/// `None` where they do not meet, or where that is farther away than the radius.
fn meeting_point(
    [x, y]: [isize; 2],
    (width, height): (usize, usize),
    radius: u32,
    mut sums: impl FnMut(Around) -> [f32; 5],
) -> Option<[f32; 2]> {
    let farthest = radius as f32;
    let per_square = 1.0 / (farthest * farthest);
    let radius = radius as isize;
    let around = |from: isize, at: isize, len: usize| {
        (from - radius).max(1 - at)..(from + radius + 1).min(len as isize - 1 - at)
    };
    let [mut ex, mut ey] = [0.0_f32; 2];
    for _ in 0..ITERATIONS {
        let [a, b, c, m, n] = sums(Around {
            place: [ex, ey],
            per_square,
            columns: around(nearest(ex), x, width),
            rows: around(nearest(ey), y, height),
        });
        let trace = a + c;
        // The inverse of a lesser trace is not finite.
        if trace < f32::MIN_POSITIVE {
            return None;
        }
        let inverse = 1.0 / trace;
        let [a, b, c, m, n] = [a, b, c, m, n].map(|sum| sum * inverse);
        let determinant = a * c - b * b;
        if determinant <= LEAST_DETERMINANT {
            return None;
        }
        let inverse = 1.0 / determinant;
        ex += (c * m - b * n) * inverse;
        ey += (a * n - b * m) * inverse;
        if ex.abs() > farthest || ey.abs() > farthest {
            return None;
        }
    }
    Some([ex, ey])
}

/// The weighted sums A, B, C, M and N around a place near pixel x, y.
fn sums<T: Sample + Into<f32>, const CHANNELS: usize>(
    [x, y]: [isize; 2],
    samples: Raster<'_, T>,
    Around { place: [ex, ey], per_square, columns, rows }: Around,
) -> [f32; 5] {
    let [mut a, mut b, mut c, mut m, mut n] = [0.0_f32; 5];
    for j in rows {
        let rows = [-1, 0, 1].map(|dy| samples.row((y + j + dy) as usize));
        for i in columns.clone() {
            let (u, v) = (i as f32 - ex, j as f32 - ey);
            let square = (u * u + v * v) * per_square;
            let inside = 1.0 - square;
            if inside <= 0.0 {
                continue;
            }
            let [xx, xy, yy] = products::<T, CHANNELS>(rows, (x + i) as usize);
            let weight = (inside * inside) * square;
            let (p, q, s) = (weight * xx, weight * xy, weight * yy);
            a += p;
            b += q;
            c += s;
            m += p * u + q * v;
            n += q * u + s * v;
        }
    }
    [a, b, c, m, n]
}

/// The nearest integer, with halves rounded away from 0.
fn nearest(value: f32) -> isize {
    if value < 0.0 { (value - 0.5) as isize } else { (value + 0.5) as isize }
}

/// Products gx², gx·gy, gy² of Scharr's gradient at column `x` of the middle row, summed over
/// channels.
fn products<T: Sample + Into<f32>, const CHANNELS: usize>(rows: [&[T]; 3], x: usize) -> [f32; 3] {
    let around = rows.map(|row| &row[(x - 1) * CHANNELS..][..3 * CHANNELS]);
    let mut sums = [0.0; 3];
    for channel in 0..CHANNELS {
        let p = |column: usize, row: usize| -> f32 { around[row][column * CHANNELS + channel].into() };
        let d = |row: usize| p(2, row) - p(0, row);
        let e = |row: usize| 3.0 * (p(0, row) + p(2, row)) + 10.0 * p(1, row);
        let (gx, gy) = (3.0 * (d(0) + d(2)) + 10.0 * d(1), e(2) - e(0));
        sums[0] += gx * gx;
        sums[1] += gx * gy;
        sums[2] += gy * gy;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of 24 × 24 samples of 0 to 1.
    fn drawn(level: impl Fn(f32, f32) -> f32) -> Vec<f32> {
        (0..24 * 24).map(|i| level((i % 24) as f32, (i / 24) as f32)).collect()
    }

    fn refined(samples: &[f32], x: f32, y: f32) -> (f32, f32) {
        let image = ImageView::gray(samples, 24, 24).unwrap();
        let mut corners = [Keypoint::new(x, y, 1.0)];
        refine(&mut corners, Subpixel::Forstner { radius: 5 }, &image, |_, _| None);
        (corners[0].x, corners[0].y)
    }

    #[test]
    fn forstner_finds_the_crossing_of_two_edges() {
        // Two soft steps: one upright at x = 11.25, one level at y = 12.5.
        let step = |t: f32| t.clamp(-1.0, 1.0);
        let image = drawn(|x, y| 0.5 + 0.5 * step(x - 11.25) * step(y - 12.5));
        for (x, y) in [(11.0, 12.0), (12.0, 13.0), (10.0, 11.0), (13.0, 12.0)] {
            let (u, v) = refined(&image, x, y);
            assert!((u - 11.25).abs() < 0.05 && (v - 12.5).abs() < 0.05, "{u}, {v}");
        }
        // Turned by 30 degrees, and at 60 degrees to one another.
        let (sin, cos) = (0.5, 0.866);
        let image = drawn(|x, y| {
            let (x, y) = (x - 11.25, y - 12.5);
            0.5 + 0.5 * step(cos * x + sin * y) * step(y)
        });
        let (u, v) = refined(&image, 12.0, 13.0);
        assert!((u - 11.25).abs() < 0.05 && (v - 12.5).abs() < 0.05, "{u}, {v}");
    }

    #[test]
    fn forstner_leaves_corners_without_a_meeting_point_at_their_pixel() {
        let flat = vec![0.5; 24 * 24];
        assert_eq!(refined(&flat, 12.0, 9.0), (12.0, 9.0));
        let edge = drawn(|x, _| if x < 12.0 { 0.0 } else { 1.0 });
        assert_eq!(refined(&edge, 12.0, 9.0), (12.0, 9.0));
        // Out of reach: what is seen of a wedge points to its tip, eight pixels away.
        let step = |t: f32| 0.5 + 0.5 * t.clamp(-1.0, 1.0);
        let wedge = drawn(|x, y| step(0.5 * (x - 4.0) - (y - 12.0).abs()));
        assert_eq!(refined(&wedge, 12.0, 12.0), (12.0, 12.0));
        assert_ne!(refined(&wedge, 7.0, 12.0), (7.0, 12.0));
        // A bend of five degrees is an edge still, one of thirty is a corner.
        let bent = |slope: f32| drawn(move |x, y| step(y - 12.0 - slope * (x - 12.0).abs()));
        assert_eq!(refined(&bent(0.044), 14.0, 12.0), (14.0, 12.0));
        assert_ne!(refined(&bent(0.27), 14.0, 12.0), (14.0, 12.0));
        // Too small for a gradient.
        let mut corners = [Keypoint::new(1.0, 0.0, 1.0)];
        let image = ImageView::gray(&[0.0_f32, 1.0, 1.0, 0.0], 2, 2).unwrap();
        refine(&mut corners, Subpixel::Forstner { radius: 3 }, &image, |_, _| None);
        assert_eq!(corners, [Keypoint::new(1.0, 0.0, 1.0)]);
    }

    #[test]
    fn forstner_is_independent_of_the_scale_of_samples() {
        let image = drawn(|x, y| if x < 11.0 && y < 13.0 { 0.0 } else { 1.0 });
        let (x, y) = refined(&image, 10.0, 12.0);
        for factor in [1e8, 1e-12] {
            let scaled: Vec<_> = image.iter().map(|v| v * factor).collect();
            let (u, v) = refined(&scaled, 10.0, 12.0);
            assert!((u - x).abs() < 1e-4 && (v - y).abs() < 1e-4, "{factor}: {u}, {v}");
        }
    }
}
