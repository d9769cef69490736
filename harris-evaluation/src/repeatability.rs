//! Whether the same places are found in two views.

use harris_core::matching::Homography;
use harris_core::{Error, Keypoint};

use crate::pairing;

/// How two views lie to each other, and which keypoints of them count.
///
/// ```
/// use harris_core::Keypoint;
/// use harris_core::matching::Homography;
/// use harris_evaluation::Correspondence;
///
/// // The second view shows the scene five pixels farther right.
/// let moved = Homography { matrix: [[1.0, 0.0, 5.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
/// let views = Correspondence { homography: moved, first: [100, 80], second: [100, 80], margin: 0.0, tolerance: 1.5 };
/// let at = |x, y| Keypoint::new(x, y, 1.0);
/// // The third keypoint of the first view lies outside the second.
/// let found = views.repeatability(&[at(10.0, 10.0), at(50.0, 50.0), at(97.0, 20.0)], &[at(16.0, 10.0), at(30.0, 30.0)])?;
/// assert_eq!((found.first, found.second, found.rate(), found.mean_error()), (2, 2, 0.5, Some(1.0)));
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correspondence {
    /// Where a point of the first view lies in the second.
    pub homography: Homography,
    /// Width and height of the first view, in pixels.
    pub first: [usize; 2],
    /// Width and height of the second view, in pixels.
    pub second: [usize; 2],
    /// Keypoints count when they lie at least so many pixels inside both views.
    pub margin: f64,
    /// A keypoint is repeated when its partner is at most so many pixels of the second view away.
    pub tolerance: f64,
}

/// How many keypoints were found again (Schmid, Mohr and Bauckhage 2000).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeatability {
    /// Keypoints of the first view in the part of the scene that both show.
    pub first: usize,
    /// Keypoints of the second view in it.
    pub second: usize,
    /// For each pair, one to one and the nearest first, the distance in pixels of the second view,
    /// ascending.
    pub errors: Vec<f64>,
}

impl Correspondence {
    /// Maps the keypoints of the first view to the second and pairs them with those that were found
    /// there.
    ///
    /// # Errors
    /// [`Error::Tolerance`] where the tolerance is negative or not finite;
    /// [`Error::SingularHomography`] where the homography has no inverse.
    pub fn repeatability(&self, first: &[Keypoint], second: &[Keypoint]) -> Result<Repeatability, Error> {
        let back = self.homography.inverse().ok_or(Error::SingularHomography)?;
        let common =
            |keypoints: &[Keypoint], own: [usize; 2], other: [usize; 2], map: &Homography| -> Vec<_> {
                let places = keypoints.iter().map(|k| [f64::from(k.x), f64::from(k.y)]);
                let mapped = places.filter_map(|place| Some((place, map.map(place)?)));
                mapped
                    .filter(|(place, mapped)| self.inside(*place, own) && self.inside(*mapped, other))
                    .collect()
            };
        let first = common(first, self.first, self.second, &self.homography);
        let second = common(second, self.second, self.first, &back);
        let expected: Vec<_> = first.iter().map(|(_, mapped)| *mapped).collect();
        let found: Vec<_> = second.iter().map(|(place, _)| *place).collect();
        let errors = pairing::distances(&expected, &found, self.tolerance)?;
        Ok(Repeatability { first: first.len(), second: second.len(), errors })
    }

    fn inside(&self, place: [f64; 2], size: [usize; 2]) -> bool {
        let within = |v: f64, len: usize| v >= self.margin && v <= len as f64 - 1.0 - self.margin;
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

    /// The mean distance in pixels of those found again.
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
    fn what_one_view_alone_shows_does_not_count() {
        // Twice as large: the first view's right half lies outside the second.
        let larger = Homography { matrix: [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]] };
        let views = Correspondence {
            homography: larger,
            first: [40, 40],
            second: [40, 40],
            margin: 0.0,
            tolerance: 1.5,
        };
        let first = [at(5.0, 5.0), at(10.0, 12.0), at(30.0, 5.0)];
        let second = [at(10.0, 11.0), at(39.0, 39.0), at(20.0, 29.0)];
        let found = views.repeatability(&first, &second).unwrap();
        assert_eq!(found, Repeatability { first: 2, second: 3, errors: vec![1.0] });
        assert_eq!(found.rate(), 0.5);
        // Near an edge of either view: (5, 5) by the second view's, (39, 39) by both.
        let found = Correspondence { margin: 11.0, ..views }.repeatability(&first, &second).unwrap();
        assert_eq!((found.first, found.second, found.rate()), (0, 0, 0.0));
        let found = Correspondence { margin: 10.0, ..views }.repeatability(&first, &second).unwrap();
        assert_eq!((found.first, found.second), (1, 1));
    }

    #[test]
    fn edges_belong_to_the_view() {
        let same = Homography { matrix: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
        let views =
            Correspondence { homography: same, first: [8, 6], second: [8, 6], margin: 0.0, tolerance: 0.0 };
        let corners = [at(0.0, 0.0), at(7.0, 5.0), at(7.5, 5.0), at(-0.5, 0.0)];
        let found = views.repeatability(&corners, &corners).unwrap();
        assert_eq!((found.first, found.second, found.rate()), (2, 2, 1.0));
    }

    #[test]
    fn bad_views_are_errors() {
        let flat = Homography { matrix: [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
        let views =
            Correspondence { homography: flat, first: [8, 6], second: [8, 6], margin: 0.0, tolerance: 1.0 };
        assert!(matches!(views.repeatability(&[], &[]), Err(Error::SingularHomography)));
        let same = Homography { matrix: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] };
        let views = Correspondence { homography: same, tolerance: -1.0, ..views };
        assert!(matches!(views.repeatability(&[], &[]), Err(Error::Tolerance { .. })));
        let views = Correspondence { tolerance: 1.0, ..views };
        assert_eq!(views.repeatability(&[at(f32::NAN, 1.0)], &[]).unwrap().rate(), 0.0);
    }
}
