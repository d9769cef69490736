//! Stage 3: the gradient. gx is right minus left, gy lower minus upper.

use ndarray::Array2;

use super::plane::{Extended, Number, Plane};
use super::smoothing::{weighted_across, weighted_down};
use super::taps;
use super::tensor::line_sum;
use crate::config::{Border, Gradient, Window};
use crate::error::Error;

/// gx and gy of one channel, not divided by the gradient's norm.
///
/// Integer planes stay integer, except under a Gaussian derivative.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub fn gradient(plane: &Plane, gradient: Gradient, border: Border) -> Result<(Plane, Plane), Error> {
    if let Gradient::GaussianDerivative { size, sigma } = gradient {
        let plane = plane.to_float()?;
        let (g, d) = (taps::gaussian(size, sigma), taps::gaussian_derivative(size, sigma));
        let gx = weighted_across(&weighted_down(&plane, &g, border)?, &d, border)?;
        let gy = weighted_across(&weighted_down(&plane, &d, border)?, &g, border)?;
        return Ok((Plane::Float(gx), Plane::Float(gy)));
    }
    Ok(match plane {
        Plane::Integer(plane) => {
            let (gx, gy) = differences(Extended::new(plane, border), gradient)?;
            (Plane::Integer(gx), Plane::Integer(gy))
        }
        Plane::Float(plane) => {
            let (gx, gy) = differences(Extended::new(plane, border), gradient)?;
            (Plane::Float(gx), Plane::Float(gy))
        }
    })
}

/// gx and gy of a plane.
type Gradients<T> = (Array2<T>, Array2<T>);

/// Gradients with integer weights, on exact integers, or on floats in the order of
/// docs/arithmetic.md.
fn differences<T: Number>(p: Extended<'_, T>, gradient: Gradient) -> Result<Gradients<T>, Error> {
    match gradient {
        Gradient::Sobel3 => three_taps(p, |outer| outer, T::weight(2)),
        Gradient::Sobel5 => separable(p, differences5, binomial5),
        Gradient::Sobel7 => separable(p, differences7, binomial7),
        Gradient::Scharr3 => three_taps(p, |outer| T::weight(3) * outer, T::weight(10)),
        Gradient::Central => Ok((
            p.map(|p, x, y| p.at(x + 1, y) - p.at(x - 1, y))?,
            p.map(|p, x, y| p.at(x, y + 1) - p.at(x, y - 1))?,
        )),
        Gradient::Box { size } => box_gradient(p, (size / 2) as isize),
        Gradient::GaussianDerivative { .. } => unreachable!("float weights are handled by the caller"),
    }
}

/// Gradients with \[-1 0 1\] in one direction and \[w₁ w₀ w₁\] in the other; `outer` multiplies by
/// w₁.
fn three_taps<T: Number>(p: Extended<'_, T>, outer: impl Fn(T) -> T, w0: T) -> Result<Gradients<T>, Error> {
    let gx = p.map(|p, x, y| {
        let d = |y| p.at(x + 1, y) - p.at(x - 1, y);
        outer(d(y - 1) + d(y + 1)) + w0 * d(y)
    })?;
    let gy = p.map(|p, x, y| {
        let e = |y| outer(p.at(x - 1, y) + p.at(x + 1, y)) + w0 * p.at(x, y);
        e(y + 1) - e(y - 1)
    })?;
    Ok((gx, gy))
}

/// A line of samples around a place: a function of their offset.
type Line<'a, T> = dyn Fn(isize) -> T + 'a;

/// Separable gradients: `across` on rows, then `along` on columns for gx, and the transpose for gy.
fn separable<T: Number>(
    p: Extended<'_, T>,
    across: impl Fn(&Line<'_, T>) -> T,
    along: impl Fn(&Line<'_, T>) -> T,
) -> Result<Gradients<T>, Error> {
    let gx = p.map(|p, x, y| along(&|j| across(&|i| p.at(x + i, y + j))))?;
    let gy = p.map(|p, x, y| across(&|j| along(&|i| p.at(x + i, y + j))))?;
    Ok((gx, gy))
}

/// Differences by \[-1 -2 0 2 1\].
fn differences5<T: Number>(p: &Line<'_, T>) -> T {
    (p(2) - p(-2)) + T::weight(2) * (p(1) - p(-1))
}

/// Differences by \[-1 -4 -5 0 5 4 1\].
fn differences7<T: Number>(p: &Line<'_, T>) -> T {
    ((p(3) - p(-3)) + T::weight(4) * (p(2) - p(-2))) + T::weight(5) * (p(1) - p(-1))
}

/// Sum by \[1 4 6 4 1\].
fn binomial5<T: Number>(p: &Line<'_, T>) -> T {
    line_sum(Window::Binomial { size: 5 }, p)
}

/// Sum by \[1 6 15 20 15 6 1\].
fn binomial7<T: Number>(p: &Line<'_, T>) -> T {
    line_sum(Window::Binomial { size: 7 }, p)
}

/// LoCoCo's gradient: the sum of the h lines on one side minus the sum of those on the other.
///
/// Each line has n = 2·h + 1 samples.
fn box_gradient<T: Number>(p: Extended<'_, T>, h: isize) -> Result<Gradients<T>, Error> {
    let line = |p: &dyn Fn(isize) -> T| (1 - h..=h).fold(p(-h), |acc, i| acc + p(i));
    let near_to_far = |p: &dyn Fn(isize) -> T| (2..=h).fold(p(1), |acc, i| acc + p(i));
    let columns = p.map(|p, x, y| line(&|i| p.at(x, y + i)))?;
    let gx = p
        .like(&columns)
        .map(|c, x, y| near_to_far(&|i| c.at(x + i, y)) - near_to_far(&|i| c.at(x - i, y)))?;
    let rows = p.map(|p, x, y| line(&|i| p.at(x + i, y)))?;
    let gy =
        p.like(&rows).map(|r, x, y| near_to_far(&|i| r.at(x, y + i)) - near_to_far(&|i| r.at(x, y - i)))?;
    Ok((gx, gy))
}
