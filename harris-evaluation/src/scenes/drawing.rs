//! Figures with smooth edges.

use ndarray::Array2;

/// Samples along each side of a pixel that an edge crosses.
const SAMPLES: usize = 16;

/// An image of the mean level of each pixel's square, as a camera's pixel sees it. `level` is
/// constant between edges, the ends of which are `points`; pixel centres are whole numbers.
pub(super) fn draw(
    width: usize,
    height: usize,
    points: &[[f64; 2]],
    level: impl Fn(f64, f64) -> f64,
) -> Array2<f64> {
    let mut edges = Array2::from_elem((height, width), false);
    for [x, y] in points {
        // A figure that ends inside a pixel may leave all its corners alike.
        edges[[y.round() as usize, x.round() as usize]] = true;
    }
    let corners =
        Array2::from_shape_fn((height + 1, width + 1), |(y, x)| level(x as f64 - 0.5, y as f64 - 0.5));
    Array2::from_shape_fn((height, width), |(y, x)| {
        let square = corners.slice(ndarray::s![y..y + 2, x..x + 2]);
        let first = square[[0, 0]];
        if !edges[[y, x]] && square.iter().all(|v| *v == first) {
            return first;
        }
        let place = |i: usize, sample: usize| i as f64 + (sample as f64 + 0.5) / SAMPLES as f64 - 0.5;
        let sum: f64 =
            (0..SAMPLES * SAMPLES).map(|i| level(place(x, i % SAMPLES), place(y, i / SAMPLES))).sum();
        sum / (SAMPLES * SAMPLES) as f64
    })
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn a_pixel_has_the_mean_of_its_square() {
        // Bright right of x = 2.25: of pixel 2, which reaches from 1.5 to 2.5, a quarter.
        let image = draw(5, 3, &[], |x, _| if x > 2.25 { 1.0 } else { 0.0 });
        assert_eq!(image.row(1).to_vec(), [0.0, 0.0, 0.25, 1.0, 1.0]);
    }

    #[test]
    fn a_figure_inside_a_pixel_is_seen() {
        let spot = |x: f64, y: f64| if (x - 2.0).hypot(y - 1.0) < 0.4 { 1.0 } else { 0.0 };
        let image = draw(5, 3, &[[2.1, 0.9]], spot);
        assert_abs_diff_eq!(image[[1, 2]], std::f64::consts::PI * 0.16, epsilon = 0.02);
        assert_eq!(image.sum(), image[[1, 2]]);
    }
}
