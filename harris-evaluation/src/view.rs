//! Photographs seen from elsewhere.

use harris_core::matching::Homography;
use ndarray::Array2;

use crate::degradation::{Degradation, blurred};

/// How a view differs from a photograph of levels of 0 to 1; the default does not, but for an edge
/// of ten pixels.
///
/// ```
/// use harris_evaluation::View;
/// use ndarray::Array2;
///
/// let photograph = Array2::from_elem((60, 80), 0.5);
/// let view = View { degrees: 90.0, ..View::default() };
/// let image = view.draw(&photograph);
/// assert_eq!(image.dim(), (100, 80));
/// // The middle stays in the middle.
/// assert_eq!(view.homography(80, 60).map([39.5, 29.5]), Some([39.5, 49.5]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// Rotation about the middle, in degrees, from the x to the y axis.
    pub degrees: f64,
    /// Magnification.
    pub scale: f64,
    /// Of the perspective, per pixel: how much the divisor grows along x; it falls half as fast
    /// along y.
    pub tilt: f64,
    /// Blur, light and noise of the view.
    pub degradation: Degradation,
}

impl Default for View {
    fn default() -> Self {
        Self { degrees: 0.0, scale: 1.0, tilt: 0.0, degradation: Degradation::default() }
    }
}

impl View {
    /// Width and height of the view of a photograph of these sides: without the tilt all of it lies
    /// inside.
    #[must_use]
    pub fn size(&self, width: usize, height: usize) -> [usize; 2] {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let side = |along: usize, across: usize| {
            let extent = self.scale * (along as f64 * cos.abs() + across as f64 * sin.abs());
            // What is no more than rounding is no pixel.
            2 * (0.5 * extent + 10.0 - 1e-9).ceil() as usize
        };
        [side(width, height), side(height, width)]
    }

    /// Where a point of a photograph of these sides lies in the view: turned and scaled about the
    /// middle, then tilted.
    #[must_use]
    pub fn homography(&self, width: usize, height: usize) -> Homography {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let (a, b) = (self.scale * cos, self.scale * sin);
        let middle = |side: usize| (side as f64 - 1.0) / 2.0;
        let ([x, y], [u, v]) = ([width, height].map(middle), self.size(width, height).map(middle));
        let moved = [u - a * x + b * y, v - b * x - a * y];
        Homography { matrix: [[a, -b, moved[0]], [b, a, moved[1]], [self.tilt, -0.5 * self.tilt, 1.0]] }
    }

    /// Draws the view: the photograph interpolated, blurred first where it is made smaller, as
    /// larger pixels see more of it, and mirrored about its edges beyond them, so that they make no
    /// corners.
    ///
    /// # Panics
    /// Where the photograph is empty or the view has no inverse, as for a scale of 0.
    #[must_use]
    pub fn draw(&self, photograph: &Array2<f64>) -> Array2<u8> {
        let (height, width) = photograph.dim();
        let back = self.homography(width, height).inverse().expect("a view can be mapped back");
        let [columns, rows] = self.size(width, height);
        // Pixels that see a spot of deviation 0.5 see one of 0.5 / scale.
        let wider = 0.5 * (1.0 / (self.scale * self.scale) - 1.0).max(0.0).sqrt();
        let photograph = blurred(photograph, wider);
        let levels = Array2::from_shape_fn((rows, columns), |(y, x)| {
            let place = back.map([x as f64, y as f64]).unwrap_or_default();
            interpolated(&photograph, place)
        });
        self.degradation.apply(&levels)
    }
}

/// Bicubic (Keys 1981, a = -0.5): linear interpolation would blur by where a pixel lies between
/// others.
fn interpolated(image: &Array2<f64>, [x, y]: [f64; 2]) -> f64 {
    let (height, width) = image.dim();
    let (i, j) = (x.floor(), y.floor());
    let (across, down) = (weights(x - i), weights(y - j));
    let columns: [usize; 4] = std::array::from_fn(|k| mirrored(i as isize + k as isize - 1, width));
    let row =
        |j: usize| -> f64 { across.iter().zip(columns).map(|(weight, i)| weight * image[[j, i]]).sum() };
    let value: f64 = down
        .iter()
        .enumerate()
        .map(|(k, weight)| weight * row(mirrored(j as isize + k as isize - 1, height)))
        .sum();
    value.clamp(0.0, 1.0)
}

fn weights(t: f64) -> [f64; 4] {
    let near = |t: f64| (1.5 * t - 2.5) * t * t + 1.0;
    let far = |t: f64| ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0;
    [far(1.0 + t), near(t), near(1.0 - t), far(2.0 - t)]
}

/// dcb|abcd|cba, as often as it takes.
fn mirrored(i: isize, len: usize) -> usize {
    let period = (2 * len as isize - 2).max(1);
    let i = i.rem_euclid(period);
    i.min(period - i).min(len as isize - 1) as usize
}

#[cfg(test)]
mod tests {
    use approx::assert_abs_diff_eq;

    use super::*;

    #[test]
    fn an_unchanged_view_shows_the_photograph() {
        let photograph = Array2::from_shape_fn((20, 30), |(y, x)| ((7 * x + 13 * y) % 256) as f64 / 255.0);
        let image = View::default().draw(&photograph);
        assert_eq!(image.dim(), (40, 50));
        let shown = image.slice(ndarray::s![10..30, 10..40]).mapv(|v| f64::from(v) / 255.0);
        assert_eq!(shown, photograph);
        assert_eq!(f64::from(image[[9, 10]]) / 255.0, photograph[[1, 0]]);
        assert_eq!(f64::from(image[[30, 39]]) / 255.0, photograph[[18, 29]]);
    }

    #[test]
    fn places_of_the_photograph_are_shown_where_the_homography_says() {
        // A smooth spot, whose middle is that of its mass.
        let (x, y) = (37.25, 22.5);
        let photograph = Array2::from_shape_fn((60, 70), |(j, i)| {
            (-((i as f64 - x).powi(2) + (j as f64 - y).powi(2)) / 18.0).exp()
        });
        for (degrees, scale, tilt) in
            [(30.0, 1.3, 0.0), (-120.0, 0.8, 0.0), (10.0, 1.0, 5e-4), (90.0, 1.0, 0.0)]
        {
            let view = View { degrees, scale, tilt, ..View::default() };
            let image = view.draw(&photograph).mapv(f64::from);
            let [a, b] = view.homography(70, 60).map([x, y]).unwrap();
            // The spot alone, without its mirrored copies.
            let spot: Vec<_> = (image.indexed_iter())
                .map(|((j, i), v)| (i as f64, j as f64, *v))
                .filter(|(i, j, _)| (i - a).hypot(j - b) < 16.0)
                .collect();
            let mass: f64 = spot.iter().map(|(.., v)| v).sum();
            let u = spot.iter().map(|(i, _, v)| v * i).sum::<f64>() / mass;
            let v = spot.iter().map(|(_, j, v)| v * j).sum::<f64>() / mass;
            assert_abs_diff_eq!(u, a, epsilon = 0.1);
            assert_abs_diff_eq!(v, b, epsilon = 0.1);
        }
    }

    #[test]
    fn weights_add_up_and_mirrors_reach_everywhere() {
        for t in [0.0, 0.25, 0.5, 0.9] {
            assert_abs_diff_eq!(weights(t).iter().sum::<f64>(), 1.0, epsilon = 1e-12);
        }
        let shown: Vec<_> = (-5..8).map(|i| mirrored(i, 4)).collect();
        assert_eq!(shown, [1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        assert_eq!([-3, 0, 9].map(|i| mirrored(i, 1)), [0; 3]);
    }
}
