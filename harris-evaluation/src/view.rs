//! Views of a photograph under known homographies.

use harris_core::Error;
use harris_core::matching::Homography;
use ndarray::Array2;

use crate::degradation::{Degradation, blurred, check};

/// A view of a photograph of levels in 0..1: rotation, scale, tilt and degradation.
///
/// The default changes nothing, but adds a frame of ten pixels.
///
/// ```
/// use harris_evaluation::View;
/// use ndarray::Array2;
///
/// let photograph = Array2::from_elem((60, 80), 0.5);
/// let view = View::builder().degrees(90.0).build()?;
/// let image = view.draw(&photograph)?;
/// assert_eq!(image.dim(), (100, 80));
/// // The middle stays in the middle.
/// assert_eq!(view.homography(80, 60).map([39.5, 29.5]), Some([39.5, 49.5]));
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    choices: ViewBuilder,
}

/// Collects the choices of a [`View`]; [`build`](Self::build) validates them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct ViewBuilder {
    degrees: f64,
    scale: f64,
    tilt: f64,
    degradation: Degradation,
}

impl Default for ViewBuilder {
    fn default() -> Self {
        Self { degrees: 0.0, scale: 1.0, tilt: 0.0, degradation: Degradation::default() }
    }
}

impl ViewBuilder {
    /// Rotation about the centre in degrees, from the x to the y axis, -360 to 360.
    pub fn degrees(mut self, degrees: f64) -> Self {
        self.degrees = degrees;
        self
    }

    /// Magnification, 0.01 to 100.
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = scale;
        self
    }

    /// Perspective per pixel, -1 to 1: the growth of the divisor along x.
    ///
    /// It falls half as fast along y.
    pub fn tilt(mut self, tilt: f64) -> Self {
        self.tilt = tilt;
        self
    }

    /// Blur, brightness and noise of the view.
    pub fn degradation(mut self, degradation: Degradation) -> Self {
        self.degradation = degradation;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], which names the choice.
    pub fn build(self) -> Result<View, Error> {
        check("rotation in degrees", self.degrees, -360.0..=360.0)?;
        check("scale", self.scale, 0.01..=100.0)?;
        check("tilt", self.tilt, -1.0..=1.0)?;
        Ok(View { choices: self })
    }
}

impl View {
    /// Starts a builder from the default.
    pub fn builder() -> ViewBuilder {
        ViewBuilder::default()
    }

    /// Starts a builder from this view.
    pub fn to_builder(&self) -> ViewBuilder {
        self.choices
    }

    /// Blur, brightness and noise of the view.
    #[must_use]
    pub fn degradation(&self) -> Degradation {
        self.choices.degradation
    }

    /// Width and height in pixels of the view of a photograph of `width` × `height` pixels.
    ///
    /// Without tilt all of the photograph lies inside.
    #[must_use]
    pub fn size(&self, width: usize, height: usize) -> [usize; 2] {
        let (sin, cos) = self.choices.degrees.to_radians().sin_cos();
        let side = |along: usize, across: usize| {
            let extent = self.choices.scale * (along as f64 * cos.abs() + across as f64 * sin.abs());
            // An excess by rounding makes no pixel.
            2 * (0.5 * extent + 10.0 - 1e-9).ceil() as usize
        };
        [side(width, height), side(height, width)]
    }

    /// Map from a photograph of `width` × `height` pixels to the view.
    ///
    /// Rotation and scale about the centre, then tilt.
    #[must_use]
    pub fn homography(&self, width: usize, height: usize) -> Homography {
        let (sin, cos) = self.choices.degrees.to_radians().sin_cos();
        let (a, b) = (self.choices.scale * cos, self.choices.scale * sin);
        let middle = |side: usize| (side as f64 - 1.0) / 2.0;
        let ([x, y], [u, v]) = ([width, height].map(middle), self.size(width, height).map(middle));
        let moved = [u - a * x + b * y, v - b * x - a * y];
        Homography {
            matrix: [[a, -b, moved[0]], [b, a, moved[1]], [self.choices.tilt, -0.5 * self.choices.tilt, 1.0]],
        }
    }

    /// Draws the view by bicubic interpolation, in 8 bits.
    ///
    /// A photograph that is made smaller is blurred first, as larger pixels see more of it. Beyond
    /// its edges it is mirrored, so that they make no corners.
    ///
    /// # Errors
    /// [`Error::EmptyImage`] where the photograph has no pixels. [`Error::SingularHomography`]
    /// where a tilt shows the photograph from its edge.
    pub fn draw(&self, photograph: &Array2<f64>) -> Result<Array2<u8>, Error> {
        let (height, width) = photograph.dim();
        if photograph.is_empty() {
            return Err(Error::EmptyImage { width, height });
        }
        let back = self.homography(width, height).inverse().ok_or(Error::SingularHomography)?;
        let [columns, rows] = self.size(width, height);
        // Pixels that see a spot of deviation 0.5 see one of 0.5 / scale.
        let wider = 0.5 * (1.0 / (self.choices.scale * self.choices.scale) - 1.0).max(0.0).sqrt();
        let photograph = blurred(photograph, wider);
        let levels = Array2::from_shape_fn((rows, columns), |(y, x)| {
            let place = back.map([x as f64, y as f64]).unwrap_or_default();
            interpolated(&photograph, place)
        });
        Ok(self.choices.degradation.apply(&levels))
    }
}

/// Bicubic interpolation (Keys 1981, a = −0.5).
///
/// Linear interpolation would blur by an amount that depends on where a pixel lies between others.
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

/// Weights of the four samples around a place, `t` behind the second one.
fn weights(t: f64) -> [f64; 4] {
    let near = |t: f64| (1.5 * t - 2.5) * t * t + 1.0;
    let far = |t: f64| ((-0.5 * t + 2.5) * t - 4.0) * t + 2.0;
    [far(1.0 + t), near(t), near(1.0 - t), far(2.0 - t)]
}

/// Mirrored index in a line of `len` samples: dcb|abcd|cba, repeated.
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
        let image = View::default().draw(&photograph).unwrap();
        assert_eq!(image.dim(), (40, 50));
        let shown = image.slice(ndarray::s![10..30, 10..40]).mapv(|v| f64::from(v) / 255.0);
        assert_eq!(shown, photograph);
        assert_eq!(f64::from(image[[9, 10]]) / 255.0, photograph[[1, 0]]);
        assert_eq!(f64::from(image[[30, 39]]) / 255.0, photograph[[18, 29]]);
    }

    #[test]
    fn the_homography_maps_places_of_the_photograph_to_the_view() {
        // A smooth spot, whose middle is that of its mass.
        let (x, y) = (37.25, 22.5);
        let photograph = Array2::from_shape_fn((60, 70), |(j, i)| {
            (-((i as f64 - x).powi(2) + (j as f64 - y).powi(2)) / 18.0).exp()
        });
        for (degrees, scale, tilt) in
            [(30.0, 1.3, 0.0), (-120.0, 0.8, 0.0), (10.0, 1.0, 5e-4), (90.0, 1.0, 0.0)]
        {
            let view = View::builder().degrees(degrees).scale(scale).tilt(tilt).build().unwrap();
            let image = view.draw(&photograph).unwrap().mapv(f64::from);
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
    fn views_that_cannot_be_drawn_are_errors() {
        for bad in [f64::NAN, f64::INFINITY, -361.0] {
            assert!(View::builder().degrees(bad).build().is_err());
            assert!(View::builder().scale(bad).build().is_err());
            assert!(View::builder().tilt(bad).build().is_err());
        }
        assert!(View::builder().scale(0.0).build().is_err());
        for (height, width) in [(0, 0), (0, 5), (5, 0)] {
            let error = View::default().draw(&Array2::zeros((height, width))).unwrap_err();
            assert!(matches!(error, Error::EmptyImage { .. }), "{error}");
        }
    }

    #[test]
    fn weights_add_up_to_1_and_mirrored_indices_stay_in_the_line() {
        for t in [0.0, 0.25, 0.5, 0.9] {
            assert_abs_diff_eq!(weights(t).iter().sum::<f64>(), 1.0, epsilon = 1e-12);
        }
        let shown: Vec<_> = (-5..8).map(|i| mirrored(i, 4)).collect();
        assert_eq!(shown, [1, 2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1]);
        assert_eq!([-3, 0, 9].map(|i| mirrored(i, 1)), [0; 3]);
    }
}
