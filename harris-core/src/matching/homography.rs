//! Homographies: projective maps between two views of a plane, estimated from matches with
//! outliers.
//!
//! RANSAC (Fischler and Bolles 1981) over normalised direct linear transforms (Hartley 1997).

use fastrand::Rng;

/// A point of the first image and its partner in the second, each as x and y.
pub type Pair = ([f64; 2], [f64; 2]);

/// A projective map of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Homography {
    /// The matrix by rows; (x, y, 1) is mapped to a multiple of (x', y', 1).
    pub matrix: [[f64; 3]; 3],
}

/// Parameters of RANSAC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ransac {
    /// Greatest distance in pixels of an inlier's mapped point from its partner.
    pub distance: f64,
    /// Probability with which a sample without outliers has been drawn at the end.
    pub confidence: f64,
    /// Greatest number of samples drawn.
    pub max_samples: usize,
    /// Seed of the draws. Equal seeds give equal results.
    pub seed: u64,
}

impl Default for Ransac {
    /// 3 pixels, 0.999, 5000 samples.
    fn default() -> Self {
        Self { distance: 3.0, confidence: 0.999, max_samples: 5000, seed: 1 }
    }
}

/// A homography and the pairs that agree with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The map from the first points to the second.
    pub homography: Homography,
    /// Indices of the pairs that agree with it, ascending.
    pub inliers: Vec<usize>,
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
    pub fn map(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        let [u, v, w] = self.matrix.map(|row| row[0] * x + row[1] * y + row[2]);
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

    /// The homography that fits all pairs best, in the sense of least squares of the linear
    /// equations; `None` for fewer than four pairs or where they do not determine one.
    #[must_use]
    pub fn fit(pairs: &[Pair]) -> Option<Self> {
        Self::fit_weighted(pairs.iter().map(|pair| (*pair, 1.0)))
    }

    /// The weighted least squares fit: each pair's equations are multiplied by the root of its
    /// weight.
    fn fit_weighted(pairs: impl ExactSizeIterator<Item = (Pair, f64)> + Clone) -> Option<Self> {
        if pairs.len() < 4 {
            return None;
        }
        let from = Normalisation::of(pairs.clone().map(|(pair, _)| pair.0))?;
        let to = Normalisation::of(pairs.clone().map(|(pair, _)| pair.1))?;
        // Normal equations of the eight unknowns; the ninth is 1.
        let mut system = [[0.0; 9]; 8];
        for ((a, b), weight) in pairs {
            let ([x, y], [u, v]) = (from.apply(a), to.apply(b));
            for (row, right) in [
                ([x, y, 1.0, 0.0, 0.0, 0.0, -u * x, -u * y], u),
                ([0.0, 0.0, 0.0, x, y, 1.0, -v * x, -v * y], v),
            ] {
                for i in 0..8 {
                    for j in 0..8 {
                        system[i][j] += weight * row[i] * row[j];
                    }
                    system[i][8] += weight * row[i] * right;
                }
            }
        }
        let [a, b, c, d, e, f, g, h] = solve(system)?;
        let normalised = [[a, b, c], [d, e, f], [g, h, 1.0]];
        let matrix = product(&to.inverse(), &product(&normalised, &from.matrix()));
        let scale = matrix[2][2];
        let matrix = matrix.map(|row| row.map(|value| value / scale));
        matrix.as_flattened().iter().all(|value| value.is_finite()).then_some(Self { matrix })
    }

    /// The homography that most pairs agree with; `None` where there are not four pairs that
    /// determine one.
    ///
    /// ```
    /// use harris_core::matching::{Homography, Ransac};
    ///
    /// let mut pairs: Vec<_> = (0..20)
    ///     .map(|i| [f64::from(i % 5) * 10.0, f64::from(i / 5) * 7.0])
    ///     .map(|[x, y]| ([x, y], [0.5 * x + 3.0, 0.5 * y - 1.0]))
    ///     .collect();
    /// pairs[3].1 = [99.0, 99.0];
    /// let fit = Homography::ransac(&pairs, &Ransac::default()).unwrap();
    /// assert_eq!(fit.inliers.len(), 19);
    /// ```
    #[must_use]
    pub fn ransac(pairs: &[Pair], config: &Ransac) -> Option<Fit> {
        if pairs.len() < 4 {
            return None;
        }
        let mut random = Rng::with_seed(config.seed);
        let mut best: Option<(Self, f64)> = None;
        let (mut drawn, mut enough) = (0, config.max_samples);
        while drawn < enough {
            drawn += 1;
            let four = random.choose_multiple(pairs.iter().copied(), 4);
            let Some(homography) = Self::fit(&four) else { continue };
            let cost = homography.cost(pairs, config.distance);
            if best.is_none_or(|(_, least)| cost < least) {
                let inliers = homography.with_inliers(pairs, config.distance).inliers.len();
                if inliers >= 4 {
                    enough = enough.min(samples(inliers as f64 / pairs.len() as f64, config));
                    best = Some((homography, cost));
                }
            }
        }
        let (sampled, cost) = best?;
        let refined = sampled.refined(pairs, config.distance);
        let best = if refined.cost(pairs, config.distance) < cost { refined } else { sampled };
        Some(best.with_inliers(pairs, config.distance))
    }

    /// The sum of squared errors, none counted as more than that of the limit (MSAC, Torr and
    /// Zisserman 2000): of homographies with as many inliers the one is the best that they are
    /// nearest to.
    fn cost(&self, pairs: &[Pair], distance: f64) -> f64 {
        pairs.iter().map(|pair| self.squared_error(pair).min(distance * distance)).sum()
    }

    /// The homography that all pairs near it agree on: least squares of the distances in the second
    /// image, the nearer the heavier (Tukey's weights), again and again.
    fn refined(self, pairs: &[Pair], distance: f64) -> Self {
        let mut homography = self;
        for _ in 0..ITERATIONS {
            let [_, _, [g, h, i]] = homography.matrix;
            let weight = |pair: &Pair| {
                let nearness = (1.0 - homography.squared_error(pair) / (distance * distance)).max(0.0);
                // The linear equations' errors are the distances times this.
                let depth = g * pair.0[0] + h * pair.0[1] + i;
                nearness * nearness / (depth * depth)
            };
            let weighted = pairs.iter().map(|pair| (*pair, weight(pair)));
            // Pairs without weight are left out, also from the normalisation.
            let weighted: Vec<_> = weighted.filter(|(_, weight)| *weight > 0.0).collect();
            match Self::fit_weighted(weighted.into_iter()) {
                Some(fit) => homography = fit,
                None => break,
            }
        }
        homography
    }

    /// The squared distance of a pair's second point from where its first is mapped to; infinite at
    /// infinity.
    fn squared_error(&self, (a, [x, y]): &Pair) -> f64 {
        let error = self.map(*a).map_or(f64::INFINITY, |[u, v]| (u - x).powi(2) + (v - y).powi(2));
        // A pair with NaN is infinitely far.
        if error.is_nan() { f64::INFINITY } else { error }
    }

    /// This homography with the pairs that agree with it.
    fn with_inliers(self, pairs: &[Pair], distance: f64) -> Fit {
        let agrees = |pair: &Pair| self.squared_error(pair) <= distance * distance;
        let inliers = pairs.iter().enumerate().filter(|(_, pair)| agrees(pair)).map(|(i, _)| i).collect();
        Fit { homography: self, inliers }
    }
}

/// Iterations of weighted least squares.
const ITERATIONS: usize = 20;

/// Number of samples after which one without outliers has been drawn with the wanted confidence.
fn samples(inliers: f64, config: &Ransac) -> usize {
    let missed = (1.0 - inliers.powi(4)).ln();
    let samples = (1.0 - config.confidence).ln() / missed;
    // With inliers alone `missed` is infinite and one is enough.
    if samples.is_nan() { config.max_samples } else { (samples.ceil() as usize).max(1) }
}

/// Similarity that moves points to a mean of 0 and a mean distance of √2 from it (Hartley 1997).
struct Normalisation {
    scale: f64,
    centre: [f64; 2],
}

impl Normalisation {
    fn of(points: impl Iterator<Item = [f64; 2]> + Clone) -> Option<Self> {
        let count = points.clone().count() as f64;
        let sum = points.clone().fold([0.0; 2], |sum, [x, y]| [sum[0] + x, sum[1] + y]);
        let centre = sum.map(|sum| sum / count);
        let spread: f64 = points.map(|[x, y]| (x - centre[0]).hypot(y - centre[1])).sum();
        let scale = 2_f64.sqrt() * count / spread;
        scale.is_finite().then_some(Self { scale, centre })
    }

    fn apply(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [(x - self.centre[0]) * self.scale, (y - self.centre[1]) * self.scale]
    }

    fn matrix(&self) -> [[f64; 3]; 3] {
        let ([x, y], s) = (self.centre, self.scale);
        [[s, 0.0, -s * x], [0.0, s, -s * y], [0.0, 0.0, 1.0]]
    }

    fn inverse(&self) -> [[f64; 3]; 3] {
        let ([x, y], s) = (self.centre, self.scale.recip());
        [[s, 0.0, x], [0.0, s, y], [0.0, 0.0, 1.0]]
    }
}

/// The product of two matrices.
fn product(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

/// Solves a linear system by Gaussian elimination with partial pivoting; `None` where it is
/// singular.
fn solve(mut system: [[f64; 9]; 8]) -> Option<[f64; 8]> {
    for i in 0..8 {
        let pivot = (i..8).max_by(|&a, &b| system[a][i].abs().total_cmp(&system[b][i].abs()))?;
        system.swap(i, pivot);
        if system[i][i].abs() < 1e-12 {
            return None;
        }
        let row = system[i];
        for other in system.iter_mut().skip(i + 1) {
            let factor = other[i] / row[i];
            for j in i..9 {
                other[j] -= factor * row[j];
            }
        }
    }
    let mut solution = [0.0; 8];
    for i in (0..8).rev() {
        let rest: f64 = (i + 1..8).map(|j| system[i][j] * solution[j]).sum();
        solution[i] = (system[i][8] - rest) / system[i][i];
    }
    Some(solution)
}

#[cfg(test)]
mod tests {
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
    fn ransac_leaves_outliers_out() {
        let mut random = Rng::with_seed(3);
        let pairs: Vec<_> = (points(300).into_iter().enumerate())
            .map(|(i, point)| {
                let [x, y] = TILTED.map(point).unwrap();
                let noise = |random: &mut Rng| random.f64() - 0.5;
                let mapped = [x + noise(&mut random), y + noise(&mut random)];
                (point, if i % 2 == 0 { mapped } else { [random.f64() * 640.0, random.f64() * 480.0] })
            })
            .collect();
        let fit = Homography::ransac(&pairs, &Ransac::default()).unwrap();
        assert!(fit.inliers.len() >= 150 && (0..300).step_by(2).all(|i| fit.inliers.contains(&i)));
        assert_maps_alike(&fit.homography, &TILTED, 0.5);
    }

    #[test]
    fn too_few_or_degenerate_pairs_have_no_homography() {
        let same = |point: [f64; 2]| (point, point);
        assert_eq!(Homography::fit(&points(3).into_iter().map(same).collect::<Vec<_>>()), None);
        assert_eq!(Homography::ransac(&[], &Ransac::default()), None);
        let line: Vec<_> = (0..9).map(|i| same([f64::from(i), 2.0 * f64::from(i)])).collect();
        assert_eq!(Homography::ransac(&line, &Ransac::default()), None);
        assert_eq!(Homography::ransac(&[same([1.0, 1.0]); 8], &Ransac::default()), None);
        let wrong = [([f64::NAN; 2], [0.0; 2]); 6];
        assert_eq!(Homography::ransac(&wrong, &Ransac::default()), None);
    }
}
