//! RANSAC (Fischler and Bolles 1981): the homography that most of some pairs agree with.

use fastrand::Rng;

use super::homography::Homography;
use super::least_squares::{self, Matrix, squared_error};
use super::pair::Pair;
use crate::error::Error;
use crate::limits::{INLIER_DISTANCES, RANSAC_SAMPLES};
use crate::memory;

/// A valid configuration of RANSAC.
///
/// The default has a distance of 3 pixels, a confidence of 0.999, 5000 samples and seed 1.
///
/// ```
/// use harris_core::matching::Ransac;
///
/// let config = Ransac::builder().distance(1.5).seed(7).build()?;
/// assert_eq!((config.distance(), config.max_samples()), (1.5, 5000));
/// assert!(Ransac::builder().distance(0.0).build().is_err());
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ransac {
    choices: RansacBuilder,
}

/// Collects the choices of a [`Ransac`]; [`build`](Self::build) validates them.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct RansacBuilder {
    distance: f64,
    confidence: f64,
    max_samples: u32,
    seed: u64,
}

impl Default for RansacBuilder {
    fn default() -> Self {
        Self { distance: 3.0, confidence: 0.999, max_samples: 5000, seed: 1 }
    }
}

impl RansacBuilder {
    /// Greatest distance of an inlier's mapped point from its partner, in pixels of the second
    /// image.
    ///
    /// From 1e-9 to 1e6, by default 3.
    ///
    /// For places with a standard deviation of σ in x and in y, 2.45 σ accepts 95 % of the right
    /// pairs.
    pub fn distance(mut self, distance: f64) -> Self {
        self.distance = distance;
        self
    }

    /// Probability with which a sample without outliers has been drawn at the end, above 0 and
    /// below 1, by default 0.999.
    pub fn confidence(mut self, confidence: f64) -> Self {
        self.confidence = confidence;
        self
    }

    /// Greatest number of samples drawn, whatever the confidence: 1 to 10 000 000, by default 5000.
    pub fn max_samples(mut self, max_samples: u32) -> Self {
        self.max_samples = max_samples;
        self
    }

    /// Seed of the draws, by default 1. Equal seeds give equal results.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Validates the choices.
    ///
    /// # Errors
    /// [`Error::InlierDistance`]; [`Error::Confidence`]; [`Error::Count`] for the samples.
    pub fn build(self) -> Result<Ransac, Error> {
        let Self { distance, confidence, max_samples: value, .. } = self;
        if !INLIER_DISTANCES.contains(&distance) {
            return Err(Error::InlierDistance { distance });
        }
        if !(confidence > 0.0 && confidence < 1.0) {
            return Err(Error::Confidence { confidence });
        }
        let (least, most) = (*RANSAC_SAMPLES.start(), *RANSAC_SAMPLES.end());
        if !RANSAC_SAMPLES.contains(&value) {
            return Err(Error::Count { what: "samples", value, least, most });
        }
        Ok(Ransac { choices: self })
    }
}

impl Ransac {
    /// Starts a builder from the default.
    pub fn builder() -> RansacBuilder {
        RansacBuilder::default()
    }

    /// Greatest distance of an inlier's mapped point from its partner, in pixels of the second
    /// image.
    #[must_use]
    pub fn distance(&self) -> f64 {
        self.choices.distance
    }

    /// Probability with which a sample without outliers has been drawn at the end.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.choices.confidence
    }

    /// Greatest number of samples drawn.
    #[must_use]
    pub fn max_samples(&self) -> u32 {
        self.choices.max_samples
    }

    /// Seed of the draws.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.choices.seed
    }
}

/// A homography and the pairs that agree with it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// The map from the first points to the second.
    pub homography: Homography,
    /// Indices of the pairs that agree with it, ascending.
    ///
    /// Each first point is mapped to within the distance of its partner. All lie on one side of the
    /// horizon. Equal pairs are all listed.
    pub inliers: Vec<usize>,
    /// Number of inliers that support the homography: each place of either image counts once.
    ///
    /// Of inliers with the same first or second point the one with the least error counts. With
    /// distinct points this is the number of inliers.
    pub support: usize,
}

impl Homography {
    /// The homography from the first points to the second that most pairs agree with, by RANSAC.
    ///
    /// Samples of four pairs give homographies. The one with the most and nearest inliers wins
    /// (MSAC), and is refined by weighted least squares of all its inliers. The result depends on
    /// the set of pairs and on the seed, not on the pairs' order.
    ///
    /// Samples and homographies that show no plane do not compete:
    /// - samples of which three points lie on a line in either image, to within the distance in the
    ///   second;
    /// - samples of which some triangles keep their orientation and others do not: a camera does
    ///   not see points behind it;
    /// - homographies that their inliers do not determine: the second points lie near a line or in
    ///   one place, or all first points but one lie near a line. The second points must have a
    ///   standard deviation above the distance across every line, whichever one is left out.
    ///
    /// Equal pairs count once, and a place of either image supports a homography once. A pair with
    /// a coordinate that is not finite, or above 1e50, is an outlier.
    ///
    /// The result is `None` where no homography is left. Fewer than four distinct pairs have none.
    /// Four inliers are enough only where there are no outliers, since any four pairs have a
    /// homography. Random pairs may agree by chance, about five of a hundred in an image of
    /// 640 × 480 pixels. So ask for a [`support`](Fit::support) of at least 8 or so.
    ///
    /// Source: Fischler and Bolles 1981, Random Sample Consensus; Torr and Zisserman 2000, MLESAC;
    /// Hartley and Zisserman 2004, Multiple View Geometry in Computer Vision, sections 4.7 and
    /// 21.1.
    ///
    /// ```
    /// use harris_core::matching::{Homography, Ransac};
    ///
    /// let mut pairs: Vec<_> = (0..20)
    ///     .map(|i| [f64::from(i % 5) * 10.0, f64::from(i / 5) * 7.0])
    ///     .map(|[x, y]| ([x, y], [0.5 * x + 3.0, 0.5 * y - 1.0]))
    ///     .collect();
    /// pairs[3].1 = [99.0, 99.0];
    /// let fit = Homography::ransac(&pairs, &Ransac::default())?.unwrap();
    /// assert_eq!((fit.inliers.len(), fit.support), (19, 19));
    ///
    /// // Points on a line do not determine a homography.
    /// let line: Vec<_> = (0..20).map(|i| [f64::from(i), 2.0]).map(|point| (point, point)).collect();
    /// assert_eq!(Homography::ransac(&line, &Ransac::default())?, None);
    /// # Ok::<(), harris_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn ransac(pairs: &[Pair], config: &Ransac) -> Result<Option<Fit>, Error> {
        let mut search = Search::new(pairs, config)?;
        let Some(matrix) = search.run() else { return Ok(None) };
        let Some(homography) = Self::scaled(&matrix) else { return Ok(None) };
        // Scaled, the third coordinate may be negative in front of the camera.
        let sign = matrix[2][2].signum() * homography.matrix[2][2].signum();
        let oriented = homography.matrix.map(|row| row.map(|value| sign * value));
        search.measure(&oriented);
        let support = search.supporting().count();
        let agrees = |pair: &Pair| squared_error(&oriented, pair) <= search.limit;
        let agreeing = pairs.iter().enumerate().filter(|(_, pair)| agrees(pair)).map(|(index, _)| index);
        Ok(Some(Fit { homography, inliers: memory::collect(agreeing)?, support }))
    }
}

/// Iterations of weighted least squares.
const ITERATIONS: usize = 20;

/// Least height of a triangle of first points, as a part of its longest side.
const MIN_HEIGHT: f64 = 1e-6;

/// The pairs that can be inliers, and how they agree with the homography measured last.
struct Search<'a> {
    config: &'a Ransac,
    /// Square of the greatest distance of an inlier.
    limit: f64,
    /// The distinct pairs, in ascending order.
    pairs: Vec<Pair>,
    /// For each pair, its first point's number among the distinct first points.
    first: Vec<usize>,
    /// For each pair, its second point's number among the distinct second points.
    second: Vec<usize>,
    /// For each pair, by how much its squared error is below the limit; 0 for outliers.
    gains: Vec<f64>,
    /// For each first point, its pair with the greatest gain.
    best_of_first: Vec<usize>,
    /// For each second point, its pair with the greatest gain.
    best_of_second: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(pairs: &[Pair], config: &'a Ransac) -> Result<Self, Error> {
        // Adding 0 makes -0 to 0.
        let point = |point: [f64; 2]| point.map(|v| v + 0.0);
        let usable = pairs.iter().filter(|pair| least_squares::is_usable(pair));
        let mut pairs = memory::collect(usable.map(|&(a, b)| (point(a), point(b))))?;
        let order = |[x, y]: &[f64; 2], [u, v]: &[f64; 2]| x.total_cmp(u).then(y.total_cmp(v));
        pairs.sort_unstable_by(|(a, b), (c, d)| order(a, c).then(order(b, d)));
        pairs.dedup();
        let count = pairs.len();
        let mut indices = memory::collect(0..count)?;
        let first = numbers(&indices, |i| pairs[i].0)?;
        indices.sort_unstable_by(|&i, &j| order(&pairs[i].1, &pairs[j].1));
        let second = numbers(&indices, |i| pairs[i].1)?;
        let points = |numbers: &[usize]| numbers.iter().max().map_or(0, |last| last + 1);
        Ok(Self {
            limit: config.distance() * config.distance(),
            best_of_first: memory::filled(points(&first), 0)?,
            best_of_second: memory::filled(points(&second), 0)?,
            gains: memory::filled(count, 0.0)?,
            config,
            pairs,
            first,
            second,
        })
    }

    /// The best homography, oriented; `None` where there is none.
    fn run(&mut self) -> Option<Matrix> {
        // The greatest support that is possible.
        let most = self.best_of_first.len().min(self.best_of_second.len());
        if most < 4 {
            return None;
        }
        let mut random = Rng::with_seed(self.config.seed());
        let mut best: Option<(Matrix, f64)> = None;
        let (mut tried, mut enough) = (0.0, f64::INFINITY);
        for _ in 0..self.config.max_samples() {
            if tried >= enough {
                break;
            }
            let sample = self.draw(&mut random);
            if !is_view_of_plane(&sample, self.config.distance()) {
                continue;
            }
            // Samples that cannot be right take no part in the confidence.
            tried += 1.0;
            let Some(matrix) = least_squares::solve(sample.iter().map(|pair| (*pair, 1.0))) else { continue };
            let score = self.measure(&matrix);
            if best.is_none_or(|(_, most)| score > most) && self.is_accepted(&matrix, most) {
                let part = self.supporting().count() as f64 / self.pairs.len() as f64;
                enough = samples(part, self.config.confidence());
                best = Some((matrix, score));
            }
        }
        let (sampled, score) = best?;
        let refined = self.refined(sampled);
        if self.measure(&refined) > score && self.is_accepted(&refined, most) {
            return Some(refined);
        }
        Some(sampled)
    }

    /// Four distinct pairs.
    fn draw(&self, random: &mut Rng) -> [Pair; 4] {
        let mut drawn = [usize::MAX; 4];
        for i in 0..4 {
            while drawn[i] == usize::MAX || drawn[..i].contains(&drawn[i]) {
                // Draws of u64 are the same on every machine.
                drawn[i] = random.u64(..self.pairs.len() as u64) as usize;
            }
        }
        drawn.map(|i| self.pairs[i])
    }

    /// Measures how the pairs agree with a homography, and returns its score: the sum of gains over
    /// the pairs that support it.
    ///
    /// This is MSAC's cost with its sign changed: an outlier costs as much as an inlier at the
    /// greatest distance.
    fn measure(&mut self, matrix: &Matrix) -> f64 {
        for (gain, pair) in self.gains.iter_mut().zip(&self.pairs) {
            *gain = (self.limit - squared_error(matrix, pair)).max(0.0);
        }
        for (best, numbers) in
            [(&mut self.best_of_first, &self.first), (&mut self.best_of_second, &self.second)]
        {
            best.fill(usize::MAX);
            for (i, number) in numbers.iter().enumerate() {
                let best = &mut best[*number];
                if *best == usize::MAX || self.gains[i] > self.gains[*best] {
                    *best = i;
                }
            }
        }
        self.supporting().map(|i| self.gains[i]).sum()
    }

    /// Indices of the pairs that support the homography measured last: inliers that are the best of
    /// their first point and of their second.
    fn supporting(&self) -> impl Iterator<Item = usize> + Clone {
        (0..self.pairs.len()).filter(|&i| {
            self.gains[i] > 0.0
                && self.best_of_first[self.first[i]] == i
                && self.best_of_second[self.second[i]] == i
        })
    }

    /// Whether the homography measured last has enough support, which determines it.
    ///
    /// Any sample of four has a homography. So one more pair must agree, unless there is none.
    fn is_accepted(&self, matrix: &Matrix, most: usize) -> bool {
        let support = self.supporting().count();
        support >= most.min(5) && {
            let pairs = self.supporting().map(|i| self.pairs[i]);
            least_squares::is_determined(matrix, pairs, self.config.distance())
        }
    }

    /// The homography that all pairs near it agree on: least squares of the distances in the second
    /// image, the nearer the heavier (Tukey's weights), again and again.
    fn refined(&mut self, mut matrix: Matrix) -> Matrix {
        for _ in 0..ITERATIONS {
            self.measure(&matrix);
            let weighted = self.supporting().map(|i| {
                let nearness = self.gains[i] / self.limit;
                // The linear equations' errors are the distances times this.
                let depth = least_squares::homogeneous(&matrix, self.pairs[i].0)[2];
                (self.pairs[i], (nearness / depth).powi(2))
            });
            match least_squares::solve(weighted) {
                Some(fit) => matrix = fit,
                None => break,
            }
        }
        matrix
    }
}

/// Numbers of the distinct values of elements, from 0, in the order of `indices`, which sorts them.
fn numbers(indices: &[usize], value: impl Fn(usize) -> [f64; 2]) -> Result<Vec<usize>, Error> {
    let mut numbers = memory::filled(indices.len(), 0)?;
    let mut number = 0;
    for pair in indices.windows(2) {
        number += usize::from(value(pair[0]) != value(pair[1]));
        numbers[pair[1]] = number;
    }
    Ok(numbers)
}

/// Number of samples after which one without outliers has been drawn with this confidence, where
/// this part of the pairs are inliers.
fn samples(part: f64, confidence: f64) -> f64 {
    // With inliers alone the divisor is infinite: one sample is enough.
    ((-confidence).ln_1p() / (-part.powi(4)).ln_1p()).ceil().max(1.0)
}

/// Whether a camera in front of a plane can see four points as their partners: no three lie on a
/// line, and all triangles keep their orientation, or all are mirrored.
fn is_view_of_plane(sample: &[Pair; 4], distance: f64) -> bool {
    let orientations = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]].map(|corners| {
        let (area, side) = triangle(corners.map(|i| sample[i].0));
        let (mapped, mapped_side) = triangle(corners.map(|i| sample[i].1));
        let wide = area.abs() > MIN_HEIGHT * side * side;
        let mapped_wide = mapped.abs() > distance.max(MIN_HEIGHT * mapped_side) * mapped_side;
        // Of numbers that are no triangle's the area is no number, and neither comparison holds.
        (wide && mapped_wide).then_some((area > 0.0) == (mapped > 0.0))
    });
    orientations[0].is_some() && orientations.iter().all(|other| *other == orientations[0])
}

/// Twice the signed area of a triangle, and its longest side.
fn triangle([[x, y], b, c]: [[f64; 2]; 3]) -> (f64, f64) {
    let ([p, q], [r, s]) = ([b[0] - x, b[1] - y], [c[0] - x, c[1] - y]);
    (p * s - q * r, p.hypot(q).max(r.hypot(s)).max((p - r).hypot(q - s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_keeps_or_mirrors_all_its_triangles() {
        let square = [[0.0, 0.0], [90.0, 0.0], [90.0, 90.0], [0.0, 90.0]];
        let view = |points: [[f64; 2]; 4]| {
            is_view_of_plane(&std::array::from_fn(|i| (square[i], points[i])), 3.0)
                && is_view_of_plane(&std::array::from_fn(|i| (points[i], square[i])), 3.0)
        };
        let [a, b, c, d] = square;
        assert!(view(square) && view([d, c, b, a]) && view([c, d, a, b]));
        // Two corners are exchanged; a corner lies within the triangle of the others.
        assert!(!view([b, a, c, d]));
        assert!(!view([a, b, [60.0, 20.0], c]));
        // Three corners on a line, two in one place, and no number.
        for wrong in [[45.0, 45.0], a, [f64::NAN, 0.0], [f64::INFINITY, 0.0]] {
            assert!(!view([a, wrong, c, d]), "{wrong:?}");
        }
        // Nearly on a line: the distance is measured in the second image alone.
        let near = [a, [47.0, 45.0], c, d];
        assert!(!is_view_of_plane(&near.map(|point| (point, point)), 3.0));
        assert!(is_view_of_plane(&near.map(|point| (point, point.map(|v| 3.0 * v))), 3.0));
    }

    #[test]
    fn the_number_of_samples_follows_the_part_of_inliers() {
        // Fischler and Bolles 1981: log(1 - confidence) / log(1 - part⁴).
        assert_eq!(samples(1.0, 0.999), 1.0);
        assert_eq!(samples(0.5, 0.99), 72.0);
        assert_eq!(samples(0.5, 0.999), 108.0);
        assert!(samples(1e-6, 0.999) > 1e20);
    }
}
