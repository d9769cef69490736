//! Least squares for homographies, and whether pairs determine the result.
//!
//! Matrices here are oriented: the third homogeneous coordinate is positive in front of the camera
//! (Hartley and Zisserman 2004, chapter 21).

use super::pair::Pair;

/// A matrix of a homography, by rows.
pub(super) type Matrix = [[f64; 3]; 3];

/// The eight unknowns of a homography whose ninth entry is 1.
const UNKNOWNS: usize = 8;

/// A symmetric matrix of the unknowns; only the lower triangle is used.
type Symmetric = [[f64; UNKNOWNS]; UNKNOWNS];

/// The greatest magnitude of a coordinate: products of some coordinates stay finite.
const MAX_COORDINATE: f64 = 1e50;

/// The least displacement that is told from rounding errors, where points are about 1 from their
/// mean.
const MIN_DISPLACEMENT: f64 = 1e-5;

/// Whether a pair's coordinates are numbers with which can be computed: finite, at most 1e50.
pub(super) fn is_usable((a, b): &Pair) -> bool {
    // NaN compares false.
    a.iter().chain(b).all(|v| v.abs() <= MAX_COORDINATE)
}

/// The homogeneous coordinates to which a matrix maps a point.
pub(super) fn homogeneous(matrix: &Matrix, [x, y]: [f64; 2]) -> [f64; 3] {
    matrix.map(|row| row[0] * x + row[1] * y + row[2])
}

/// The squared distance of a pair's second point from where its first is mapped to.
///
/// Infinite at the horizon and behind it, and for numbers that overflow.
pub(super) fn squared_error(matrix: &Matrix, (a, [x, y]): &Pair) -> f64 {
    let [u, v, w] = homogeneous(matrix, *a);
    let error = (u / w - x).powi(2) + (v / w - y).powi(2);
    if w > 0.0 && !error.is_nan() { error } else { f64::INFINITY }
}

/// The homography with the least weighted squares of the linear equations (the direct linear
/// transform), each pair's multiplied by its weight.
///
/// The result is oriented so that the mean of the first points lies in front of the horizon. `None`
/// where the normal equations are singular or numbers overflow.
pub(super) fn solve(pairs: impl Iterator<Item = (Pair, f64)> + Clone) -> Option<Matrix> {
    let from = Normalisation::of(pairs.clone().map(|(pair, _)| pair.0))?;
    let to = Normalisation::of(pairs.clone().map(|(pair, _)| pair.1))?;
    let total: f64 = pairs.clone().map(|(_, weight)| weight).sum();
    let (mut system, mut right) = (Symmetric::default(), [0.0; UNKNOWNS]);
    for ((a, b), weight) in pairs {
        let b = to.apply(b);
        for (row, value) in equations(from.apply(a), b).into_iter().zip(b) {
            let share = weight / total;
            add_square(&mut system, &row, share);
            right.iter_mut().zip(row).for_each(|(sum, v)| *sum += share * v * value);
        }
    }
    let [a, b, c, d, e, f, g, h] = back_substituted(&cholesky(system, 0.0)?, right);
    let matrix = product(&to.inverse(), &product(&[[a, b, c], [d, e, f], [g, h, 1.0]], &from.matrix()));
    matrix.as_flattened().iter().all(|value| value.is_finite()).then_some(matrix)
}

/// Root mean square in the second image of what least squares left, over the degrees of freedom.
///
/// 0 for four pairs. Infinite where a pair lies behind the horizon.
pub(super) fn residual(matrix: &Matrix, pairs: &[Pair]) -> f64 {
    let sum: f64 = pairs.iter().map(|pair| squared_error(matrix, pair)).sum();
    match (2 * pairs.len()).saturating_sub(UNKNOWNS) {
        0 if sum.is_finite() => 0.0,
        freedom => (sum / freedom as f64).sqrt(),
    }
}

/// Whether pairs that agree with a homography to within a tolerance determine it.
///
/// Two conditions hold:
/// - The second points spread: their standard deviation across every line is above the tolerance,
///   whichever one point is left out. Otherwise a map onto a line, or a point, agrees with them.
/// - Every change of the normalised homography by 1 moves the mapped points by more than the
///   tolerance, in the root mean square. Otherwise quite another homography agrees with them.
///   These displacements are what the fit's covariance is made of (Hartley and Zisserman 2004,
///   section 5.2).
pub(super) fn is_determined(
    matrix: &Matrix,
    pairs: impl Iterator<Item = Pair> + Clone,
    tolerance: f64,
) -> bool {
    let Some(from) = Normalisation::of(pairs.clone().map(|(a, _)| a)) else { return false };
    let Some(to) = Normalisation::of(pairs.clone().map(|(_, b)| b)) else { return false };
    let tolerance = (tolerance * to.scale).max(MIN_DISPLACEMENT);
    if spread(pairs.clone().map(|(_, b)| to.apply(b))) <= tolerance {
        return false;
    }
    let normalised = product(&to.matrix(), &product(matrix, &from.inverse()));
    let mut information = Symmetric::default();
    let mut count = 0.0;
    for (a, _) in pairs {
        let a = from.apply(a);
        let [u, v, w] = homogeneous(&normalised, a);
        // The unit of w is its value at the mean of the points.
        let share = (normalised[2][2] / w).powi(2);
        for row in equations(a, [u / w, v / w]) {
            add_square(&mut information, &row, share);
        }
        count += 1.0;
    }
    let information = information.map(|row| row.map(|sum| sum / count));
    // The difference is positive definite only where all eigenvalues exceed the square.
    cholesky(information, tolerance * tolerance).is_some()
}

/// The least standard deviation of points across a line, whichever one of them is left out.
///
/// It is the root of the smaller eigenvalue of their covariance. The points' mean is 0.
fn spread(points: impl Iterator<Item = [f64; 2]> + Clone) -> f64 {
    let (mut xx, mut xy, mut yy, mut count) = (0.0, 0.0, 0.0, 0.0);
    for [x, y] in points.clone() {
        (xx, xy, yy, count) = (xx + x * x, xy + x * y, yy + y * y, count + 1.0);
    }
    let without = |[x, y]: [f64; 2]| {
        // The mean moves, too.
        let share = count / (count - 1.0);
        let (xx, xy, yy) = (xx - share * x * x, xy - share * x * y, yy - share * y * y);
        let larger = 0.5 * (xx + yy + (xx - yy).hypot(2.0 * xy));
        // The product of the eigenvalues is the determinant, so little is lost by cancellation.
        // Rounding errors may make it negative, and points in one place make it NaN: both become 0.
        ((xx * yy - xy * xy) / larger / (count - 1.0)).max(0.0).sqrt()
    };
    points.map(without).fold(f64::INFINITY, f64::min)
}

/// The two linear equations of a pair: their left sides' factors.
fn equations([x, y]: [f64; 2], [u, v]: [f64; 2]) -> [[f64; UNKNOWNS]; 2] {
    [[x, y, 1.0, 0.0, 0.0, 0.0, -u * x, -u * y], [0.0, 0.0, 0.0, x, y, 1.0, -v * x, -v * y]]
}

/// Adds the outer product of a row with itself, times a weight.
fn add_square(sum: &mut Symmetric, row: &[f64; UNKNOWNS], weight: f64) {
    for i in 0..UNKNOWNS {
        for j in 0..=i {
            sum[i][j] += weight * row[i] * row[j];
        }
    }
}

/// The Cholesky factor of a symmetric matrix less `shift` on its diagonal; `None` where that is not
/// positive definite.
fn cholesky(mut matrix: Symmetric, shift: f64) -> Option<Symmetric> {
    for j in 0..UNKNOWNS {
        for i in j..UNKNOWNS {
            let known: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let rest = matrix[i][j] - known;
            if i > j {
                matrix[i][j] = rest / matrix[j][j];
                continue;
            }
            let pivot = rest - shift;
            // What rounding errors leave of a diagonal is no pivot.
            if !(pivot > 1e-15 * matrix[j][j] && pivot.is_finite()) {
                return None;
            }
            matrix[j][j] = pivot.sqrt();
        }
    }
    Some(matrix)
}

/// The solution of the linear system of a Cholesky factor.
fn back_substituted(factor: &Symmetric, mut right: [f64; UNKNOWNS]) -> [f64; UNKNOWNS] {
    for i in 0..UNKNOWNS {
        let known: f64 = (0..i).map(|j| factor[i][j] * right[j]).sum();
        right[i] = (right[i] - known) / factor[i][i];
    }
    for i in (0..UNKNOWNS).rev() {
        let known: f64 = (i + 1..UNKNOWNS).map(|j| factor[j][i] * right[j]).sum();
        right[i] = (right[i] - known) / factor[i][i];
    }
    right
}

/// Similarity that moves points to a mean of 0 and a root mean square distance of √2 from it
/// (Hartley 1997).
struct Normalisation {
    scale: f64,
    centre: [f64; 2],
}

impl Normalisation {
    fn of(points: impl Iterator<Item = [f64; 2]> + Clone) -> Option<Self> {
        let count = points.clone().count() as f64;
        let sum = points.clone().fold([0.0; 2], |sum, [x, y]| [sum[0] + x, sum[1] + y]);
        let centre = sum.map(|sum| sum / count);
        let squares: f64 = points.map(|[x, y]| (x - centre[0]).powi(2) + (y - centre[1]).powi(2)).sum();
        let scale = (2.0 * count / squares).sqrt();
        scale.is_finite().then_some(Self { scale, centre })
    }

    fn apply(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [(x - self.centre[0]) * self.scale, (y - self.centre[1]) * self.scale]
    }

    fn matrix(&self) -> Matrix {
        let ([x, y], s) = (self.centre, self.scale);
        [[s, 0.0, -s * x], [0.0, s, -s * y], [0.0, 0.0, 1.0]]
    }

    fn inverse(&self) -> Matrix {
        let ([x, y], s) = (self.centre, self.scale.recip());
        [[s, 0.0, x], [0.0, s, y], [0.0, 0.0, 1.0]]
    }
}

/// The product of two matrices.
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}
