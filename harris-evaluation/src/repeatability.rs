//! Repeatability of keypoints between two views.

use harris_core::matching::Homography;
use harris_core::{Error, Keypoint};

use crate::{degradation, pairing};

/// The homography between two views, and which of their keypoints count.
///
/// ```
/// use harris_core::Keypoint;
/// use harris_core::matching::Homography;
/// use harris_evaluation::Correspondence;
///
/// // The second view shows the scene five pixels farther right.
/// let moved = Homography { matrix: [[1.0, 0.0, 5.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
/// let views = Correspondence::builder(moved, [100, 80], [100, 80]).tolerance(1.5).build()?;
/// let at = |x, y| Keypoint::new(x, y, 1.0);
/// // The third keypoint of the first view lies outside the second.
/// let first = [at(10.0, 10.0), at(50.0, 50.0), at(97.0, 20.0)];
/// let found = views.repeatability(&first, &[at(16.0, 10.0), at(30.0, 30.0)]);
/// assert_eq!((found.first, found.second), (2, 2));
/// assert_eq!((found.rate(), found.mean_error()), (0.5, Some(1.0)));
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correspondence {
    choices: CorrespondenceBuilder,
    /// Map from the second view to the first.
    back: Homography,
}

/// Collects the choices of a [`Correspondence`]; [`build`](Self::build) validates them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct CorrespondenceBuilder {
    homography: Homography,
    first: [usize; 2],
    second: [usize; 2],
    margin: f64,
    tolerance: f64,
}

impl CorrespondenceBuilder {
    /// Margin in pixels, 0 to 1 000 000, by default 0: keypoints count when they lie at least so
    /// far inside both views.
    pub fn margin(mut self, pixels: f64) -> Self {
        self.margin = pixels;
        self
    }

    /// Tolerance in pixels of the second view, at least 0, by default 1.5: the greatest distance of
    /// a repeated keypoint from its partner.
    pub fn tolerance(mut self, pixels: f64) -> Self {
        self.tolerance = pixels;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// - [`Error::SingularHomography`] where the homography has no inverse.
    /// - [`Error::OutOfRange`] for the margin.
    /// - [`Error::Tolerance`] where the tolerance is negative or not finite.
    pub fn build(self) -> Result<Correspondence, Error> {
        let back = self.homography.inverse().ok_or(Error::SingularHomography)?;
        degradation::check("margin in pixels", self.margin, 0.0..=1e6)?;
        pairing::check(self.tolerance)?;
        Ok(Correspondence { choices: self, back })
    }
}

/// Numbers and errors of repeated keypoints (Schmid, Mohr and Bauckhage 2000).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Repeatability {
    /// Keypoints of the first view in the part of the scene that both show.
    pub first: usize,
    /// Keypoints of the second view in the part of the scene that both show.
    pub second: usize,
    /// Distance of each pair in pixels of the second view, ascending.
    ///
    /// Pairs are one to one, the nearest first.
    pub errors: Vec<f64>,
}

impl Correspondence {
    /// Starts a builder with the map from the first view to the second.
    ///
    /// `first` and `second` are the width and height of each view in pixels.
    pub fn builder(homography: Homography, first: [usize; 2], second: [usize; 2]) -> CorrespondenceBuilder {
        CorrespondenceBuilder { homography, first, second, margin: 0.0, tolerance: 1.5 }
    }

    /// Starts a builder from this correspondence.
    pub fn to_builder(&self) -> CorrespondenceBuilder {
        self.choices
    }

    /// Maps the keypoints of the first view to the second and pairs them with those that were found
    /// there.
    ///
    /// Keypoints whose place is not finite do not count.
    #[must_use]
    pub fn repeatability(&self, first: &[Keypoint], second: &[Keypoint]) -> Repeatability {
        let CorrespondenceBuilder { homography, tolerance, .. } = self.choices;
        let sizes = [self.choices.first, self.choices.second];
        let common =
            |keypoints: &[Keypoint], own: [usize; 2], other: [usize; 2], map: &Homography| -> Vec<_> {
                let places = keypoints.iter().map(|k| [f64::from(k.x), f64::from(k.y)]);
                let mapped = places.filter_map(|place| Some((place, map.map(place)?)));
                mapped
                    .filter(|(place, mapped)| self.inside(*place, own) && self.inside(*mapped, other))
                    .collect()
            };
        let first = common(first, sizes[0], sizes[1], &homography);
        let second = common(second, sizes[1], sizes[0], &self.back);
        let expected: Vec<_> = first.iter().map(|(_, mapped)| *mapped).collect();
        let found: Vec<_> = second.iter().map(|(place, _)| *place).collect();
        let errors = pairing::distances(&expected, &found, tolerance);
        Repeatability { first: first.len(), second: second.len(), errors }
    }

    /// Whether a place lies in a view, at least the margin from its edges.
    fn inside(&self, place: [f64; 2], size: [usize; 2]) -> bool {
        let margin = self.choices.margin;
        let within = |v: f64, len: usize| v >= margin && v <= len as f64 - 1.0 - margin;
        within(place[0], size[0]) && within(place[1], size[1])
    }
}

impl Repeatability {
    /// The part of the keypoints that was found again, of those of the view that has fewer; 0 where
    /// it has none.
    #[must_use]
    pub fn rate(&self) -> f64 {
        match self.first.min(self.second) {
            0 => 0.0,
            fewer => self.errors.len() as f64 / fewer as f64,
        }
    }

    /// Mean distance in pixels of repeated keypoints; `None` where there are none.
    #[must_use]
    pub fn mean_error(&self) -> Option<f64> {
        pairing::mean(&self.errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32, y: f32) -> Keypoint {
        Keypoint::new(x, y, 1.0)
    }

    #[test]
    fn keypoints_outside_either_view_do_not_count() {
        // Twice as large: the first view's right half lies outside the second.
        let larger = Homography { matrix: [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]] };
        let views = Correspondence::builder(larger, [40, 40], [40, 40]).tolerance(1.5);
        let repeated = |views: CorrespondenceBuilder, first: &[Keypoint], second: &[Keypoint]| {
            views.build().unwrap().repeatability(first, second)
        };
        let first = [at(5.0, 5.0), at(10.0, 12.0), at(30.0, 5.0)];
        let second = [at(10.0, 11.0), at(39.0, 39.0), at(20.0, 29.0)];
        let found = repeated(views, &first, &second);
        assert_eq!(found, Repeatability { first: 2, second: 3, errors: vec![1.0] });
        assert_eq!(found.rate(), 0.5);
        // Near an edge of either view: (5, 5) by the second view's, (39, 39) by both.
        let found = repeated(views.margin(11.0), &first, &second);
        assert_eq!((found.first, found.second, found.rate()), (0, 0, 0.0));
        let found = repeated(views.margin(10.0), &first, &second);
        assert_eq!((found.first, found.second), (1, 1));
    }

    #[test]
    fn keypoints_on_the_edges_count() {
        let same = Homography { matrix: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
        let views = Correspondence::builder(same, [8, 6], [8, 6]).tolerance(0.0).build().unwrap();
        let corners = [at(0.0, 0.0), at(7.0, 5.0), at(7.5, 5.0), at(-0.5, 0.0)];
        let found = views.repeatability(&corners, &corners);
        assert_eq!((found.first, found.second, found.rate()), (2, 2, 1.0));
    }

    #[test]
    fn singular_homographies_and_bad_numbers_are_errors() {
        let flat = Homography { matrix: [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
        let views = Correspondence::builder(flat, [8, 6], [8, 6]);
        assert!(matches!(views.build(), Err(Error::SingularHomography)));
        let same = Homography { matrix: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
        let views = Correspondence::builder(same, [8, 6], [8, 6]);
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(views.tolerance(bad).build(), Err(Error::Tolerance { .. })));
            assert!(matches!(views.margin(bad).build(), Err(Error::OutOfRange { .. })));
        }
        assert_eq!(views.build().unwrap().repeatability(&[at(f32::NAN, 1.0)], &[]).rate(), 0.0);
    }
}
