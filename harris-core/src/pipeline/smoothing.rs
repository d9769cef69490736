//! Stage 2: smoothing of the image.

use ndarray::Array2;

use super::plane::{Extended, Number, Plane};
use super::taps;
use crate::config::{Border, Smoothing};
use crate::error::Error;

/// Smooths one channel. Integer planes stay integer, except under a Gaussian.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn smooth(plane: &Plane, smoothing: Smoothing, border: Border) -> Result<Plane, Error> {
    Ok(match (smoothing, plane) {
        (Smoothing::None, plane) => plane.copy()?,
        (Smoothing::Binomial3, Plane::Integer(plane)) => Plane::Integer(rounded(plane, &[1, 2, 1], border)?),
        (Smoothing::Binomial3Exact, Plane::Integer(plane)) => Plane::Integer(binomial3_sum(plane, border)?),
        (Smoothing::Binomial5, Plane::Integer(plane)) => {
            Plane::Integer(rounded(plane, &[1, 4, 6, 4, 1], border)?)
        }
        (Smoothing::Binomial3, Plane::Float(plane)) => {
            Plane::Float(binomial3_sum(plane, border)? * (1.0 / 16.0))
        }
        (Smoothing::Binomial3Exact, Plane::Float(plane)) => Plane::Float(binomial3_sum(plane, border)?),
        (Smoothing::Binomial5, Plane::Float(plane)) => Plane::Float(binomial5(plane, border)?),
        (Smoothing::Gaussian { size, sigma }, plane) => {
            Plane::Float(weighted(&plane.to_float()?, &taps::gaussian(size, sigma), border)?)
        }
    })
}

/// Rounded binomial mean (Σ w·p + half) >> shift, with w = taps ⊗ taps and Σ w = 2^shift.
fn rounded(plane: &Array2<i32>, taps: &[i32], border: Border) -> Result<Array2<i32>, Error> {
    let radius = (taps.len() / 2) as isize;
    let total = taps.iter().sum::<i32>().pow(2);
    let (half, shift) = (total / 2, total.ilog2());
    Extended::new(plane, border).map(|p, x, y| {
        let mut sum = half;
        for (dy, wy) in (-radius..).zip(taps) {
            for (dx, wx) in (-radius..).zip(taps) {
                sum += wx * wy * p.at(x + dx, y + dy);
            }
        }
        sum >> shift
    })
}

/// Binomial sum of size 3: a pass across and one down, each (p₋₁ + p₁) + 2·p₀.
fn binomial3_sum<T: Number>(plane: &Array2<T>, border: Border) -> Result<Array2<T>, Error> {
    let two = T::weight(2);
    let across =
        Extended::new(plane, border).map(|p, x, y| (p.at(x - 1, y) + p.at(x + 1, y)) + two * p.at(x, y))?;
    Extended::new(&across, border).map(|p, x, y| (p.at(x, y - 1) + p.at(x, y + 1)) + two * p.at(x, y))
}

/// Binomial mean of size 5 of floats: a pass across, one down, then a product with 1/256.
///
/// Each pass is ((p₋₂ + p₂) + 4·(p₋₁ + p₁)) + 6·p₀.
fn binomial5(plane: &Array2<f32>, border: Border) -> Result<Array2<f32>, Error> {
    let pass = |outer: f32, inner: f32, centre: f32| (outer + 4.0 * inner) + 6.0 * centre;
    let across = Extended::new(plane, border)
        .map(|p, x, y| pass(p.at(x - 2, y) + p.at(x + 2, y), p.at(x - 1, y) + p.at(x + 1, y), p.at(x, y)))?;
    Extended::new(&across, border).map(|p, x, y| {
        pass(p.at(x, y - 2) + p.at(x, y + 2), p.at(x, y - 1) + p.at(x, y + 1), p.at(x, y)) * (1.0 / 256.0)
    })
}

/// Weighted sums down, then across, each in ascending tap order.
pub(super) fn weighted(plane: &Array2<f32>, taps: &[f32], border: Border) -> Result<Array2<f32>, Error> {
    let down = weighted_down(plane, taps, border)?;
    weighted_across(&down, taps, border)
}

/// Σ w(i)·p(x, y + i), i ascending, starting from the first term.
pub(super) fn weighted_down(plane: &Array2<f32>, taps: &[f32], border: Border) -> Result<Array2<f32>, Error> {
    let radius = (taps.len() / 2) as isize;
    Extended::new(plane, border).map(|p, x, y| ascending(taps, |i| p.at(x, y + i - radius)))
}

/// Σ w(i)·p(x + i, y), i ascending, starting from the first term.
pub(super) fn weighted_across(
    plane: &Array2<f32>,
    taps: &[f32],
    border: Border,
) -> Result<Array2<f32>, Error> {
    let radius = (taps.len() / 2) as isize;
    Extended::new(plane, border).map(|p, x, y| ascending(taps, |i| p.at(x + i - radius, y)))
}

/// Σ taps\[i\]·value(i), i ascending, starting from the first term.
fn ascending(taps: &[f32], value: impl Fn(isize) -> f32) -> f32 {
    let mut acc = taps[0] * value(0);
    for (i, tap) in (1..).zip(&taps[1..]) {
        acc += tap * value(i);
    }
    acc
}
