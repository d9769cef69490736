//! Homographies: projective maps between two views of a plane.
//!
//! Least squares by the normalised direct linear transform (Hartley 1997); the ransac module has
//! the search among outliers.

use super::least_squares::{self, Matrix, homogeneous};
use super::pair::Pair;

/// A projective map of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Homography {
    /// The matrix by rows; (x, y, 1) is mapped to a multiple of (x', y', 1).
    pub matrix: [[f64; 3]; 3],
}

impl Homography {
    /// Maps a point; `None` at infinity.
    ///
    /// ```
    /// use harris_core::matching::Homography;
    ///
    /// let moved = Homography { matrix: [[1.0, 0.0, 5.0], [0.0, 1.0, -2.0], [0.0, 0.0, 1.0]] };
    /// assert_eq!(moved.map([1.0, 1.0]), Some([6.0, -1.0]));
    /// ```
    #[must_use]
    pub fn map(&self, point: [f64; 2]) -> Option<[f64; 2]> {
        let [u, v, w] = homogeneous(&self.matrix, point);
        let place = [u / w, v / w];
        place.iter().all(|v| v.is_finite()).then_some(place)
    }

    /// The inverse map; `None` where the matrix is singular.
    ///
    /// ```
    /// use harris_core::matching::Homography;
    ///
    /// let larger = Homography { matrix: [[2.0, 0.0, 6.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]] };
    /// assert_eq!(larger.inverse().and_then(|back| back.map([10.0, 4.0])), Some([2.0, 2.0]));
    /// ```
    #[must_use]
    pub fn inverse(&self) -> Option<Self> {
        let [[a, b, c], [d, e, f], [g, h, i]] = self.matrix;
        let adjugate = [
            [e * i - f * h, c * h - b * i, b * f - c * e],
            [f * g - d * i, a * i - c * g, c * d - a * f],
            [d * h - e * g, b * g - a * h, a * e - b * d],
        ];
        let determinant = a * adjugate[0][0] + b * adjugate[1][0] + c * adjugate[2][0];
        let matrix = adjugate.map(|row| row.map(|v| v / determinant));
        // A singular matrix divides by 0. A matrix with NaN gives NaN.
        matrix.iter().flatten().all(|v| v.is_finite()).then_some(Self { matrix })
    }

    /// The homography with the least squares of the normalised linear equations of all pairs.
    ///
    /// Coordinates may have any unit and origin. Equal pairs count as often as they are given. The
    /// last entry of the matrix is 1, unless the origin lies on the horizon.
    ///
    /// `None` where the pairs determine no view of a plane:
    /// - fewer than four pairs, or a coordinate that is not finite or above 1e50;
    /// - points of either image that all, or all but one, lie on a line;
    /// - points whose distances from such a line are no more than about twice the residuals;
    /// - a best map whose horizon runs between the points.
    ///
    /// Every pair counts, so one outlier can spoil the result. Matches have outliers: use
    /// [`ransac`](Self::ransac) for them.
    ///
    /// Source: Hartley 1997, In Defense of the Eight-Point Algorithm; Hartley and Zisserman 2004,
    /// Multiple View Geometry in Computer Vision, chapter 4.
    ///
    /// ```
    /// use harris_core::matching::Homography;
    ///
    /// let square = [[0.0, 0.0], [9.0, 0.0], [9.0, 9.0], [0.0, 9.0]];
    /// let turned = square.map(|[x, y]| ([x, y], [20.0 - y, x]));
    /// let [x, y] = Homography::fit(&turned).and_then(|fit| fit.map([3.0, 4.0])).unwrap();
    /// assert!((x - 16.0).abs() < 1e-9 && (y - 3.0).abs() < 1e-9);
    ///
    /// // Three corners and a point between them: all but one lie on a line.
    /// assert_eq!(Homography::fit(&[turned[0], turned[1], turned[3], ([4.5, 0.0], [20.0, 4.5])]), None);
    /// ```
    #[must_use]
    pub fn fit(pairs: &[Pair]) -> Option<Self> {
        if pairs.len() < 4 || !pairs.iter().all(least_squares::is_usable) {
            return None;
        }
        let matrix = least_squares::solve(pairs.iter().map(|pair| (*pair, 1.0)))?;
        let tolerance = 2.0 * least_squares::residual(&matrix, pairs);
        least_squares::is_determined(&matrix, pairs.iter().copied(), tolerance).then_some(())?;
        Self::scaled(&matrix)
    }

    /// The homography of a matrix, of which any multiple will do; `None` where the result is not
    /// finite.
    ///
    /// The last entry becomes 1, unless it is 0.
    pub(super) fn scaled(matrix: &Matrix) -> Option<Self> {
        let largest = matrix.as_flattened().iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        [matrix[2][2], largest].into_iter().find_map(|divisor| {
            let matrix = matrix.map(|row| row.map(|value| value / divisor));
            matrix.as_flattened().iter().all(|value| value.is_finite()).then_some(Self { matrix })
        })
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    const TILTED: Homography =
        Homography { matrix: [[0.9, -0.2, 30.0], [0.25, 1.1, -12.0], [3e-4, -2e-4, 1.0]] };

    fn points(count: usize) -> Vec<[f64; 2]> {
        let mut random = Rng::with_seed(7);
        (0..count).map(|_| [random.f64() * 640.0, random.f64() * 480.0]).collect()
    }

    fn assert_maps_alike(found: &Homography, expected: &Homography, tolerance: f64) {
        for corner in [[0.0, 0.0], [640.0, 0.0], [0.0, 480.0], [640.0, 480.0]] {
            let ([x, y], [u, v]) = (found.map(corner).unwrap(), expected.map(corner).unwrap());
            assert!((x - u).hypot(y - v) < tolerance, "{corner:?}: {x}, {y} for {u}, {v}");
        }
    }

    #[test]
    fn four_pairs_determine_a_homography() {
        let pairs: Vec<_> = [[0.0, 0.0], [640.0, 0.0], [0.0, 480.0], [640.0, 480.0]]
            .map(|point| (point, TILTED.map(point).unwrap()))
            .into();
        assert_maps_alike(&Homography::fit(&pairs).unwrap(), &TILTED, 1e-6);
    }

    #[test]
    fn the_inverse_maps_back() {
        let back = TILTED.inverse().unwrap();
        for point in points(20) {
            let [x, y] = back.map(TILTED.map(point).unwrap()).unwrap();
            assert!((x - point[0]).hypot(y - point[1]) < 1e-9);
        }
        let flat = Homography { matrix: [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]] };
        assert_eq!(flat.inverse(), None);
        assert_eq!(Homography { matrix: [[f64::NAN; 3]; 3] }.inverse(), None);
    }

    #[test]
    fn too_few_or_degenerate_pairs_have_no_homography() {
        let same = |point: [f64; 2]| (point, point);
        assert_eq!(Homography::fit(&points(3).into_iter().map(same).collect::<Vec<_>>()), None);
        assert_eq!(Homography::fit(&[]), None);
        let line: Vec<_> = (0..9).map(|i| same([f64::from(i), 2.0 * f64::from(i)])).collect();
        assert_eq!(Homography::fit(&line), None);
        assert_eq!(Homography::fit(&[&line[..], &[same([9.0, 1.0])]].concat()), None);
        assert_eq!(Homography::fit(&[same([1.0, 1.0]); 8]), None);
        for wrong in [f64::NAN, f64::INFINITY, 1e60] {
            let mut pairs: Vec<_> = points(9).into_iter().map(same).collect();
            assert!(Homography::fit(&pairs).is_some());
            pairs[4].1[0] = wrong;
            assert_eq!(Homography::fit(&pairs), None);
        }
    }

    #[test]
    fn the_last_entry_of_a_matrix_is_1_unless_the_origin_lies_on_the_horizon() {
        let mut matrix = [[-2.0, 0.0, 4.0], [0.0, 6.0, 0.0], [0.0, 1.0, -2.0]];
        let scaled = Homography::scaled(&matrix).unwrap();
        assert_eq!(scaled.matrix, [[1.0, 0.0, -2.0], [0.0, -3.0, 0.0], [0.0, -0.5, 1.0]]);
        matrix[2][2] = 0.0;
        assert_eq!(Homography::scaled(&matrix).unwrap().matrix[1], [0.0, 1.0, 0.0]);
        assert_eq!(Homography::scaled(&[[0.0; 3]; 3]), None);
        assert_eq!(Homography::scaled(&[[f64::NAN; 3]; 3]), None);
    }
}
