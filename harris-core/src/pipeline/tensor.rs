//! Stages 4 and 5: the products of the gradient, summed over channels and over the window.

use ndarray::Array2;

use super::plane::{Extended, Number, Plane};
use super::smoothing::weighted;
use super::taps;
use crate::config::{Border, Window};
use crate::error::Error;
use crate::memory;

/// The structure tensor \[A B; B C\] of every pixel, H × W each, in the units of an image in 0..1.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Window sums of gx².
    pub a: Array2<f32>,
    /// Window sums of gx·gy.
    pub b: Array2<f32>,
    /// Window sums of gy².
    pub c: Array2<f32>,
}

/// A plane of one of the three products, summed over the channels.
enum Products {
    /// Exact products of integer gradients.
    Integer(Array2<i64>),
    /// Products of float gradients, each rounded once.
    Float(Array2<f32>),
}

/// The structure tensor from the gradients (gx, gy) of every channel.
///
/// `scale` is [`tensor_scale`](crate::HarrisConfig::tensor_scale).
///
/// # Errors
/// [`Error::OutOfMemory`].
///
/// # Panics
/// Where there are no gradients, or where their kinds or sizes differ.
pub fn tensor(
    gradients: &[(Plane, Plane)],
    window: Window,
    border: Border,
    scale: f32,
) -> Result<Tensor, Error> {
    let sums = |products: Products| Ok::<_, Error>(window_sum(&products, window, border)? * scale);
    Ok(Tensor {
        a: sums(products(gradients, |(gx, _)| (gx, gx))?)?,
        b: sums(products(gradients, |(gx, gy)| (gx, gy))?)?,
        c: sums(products(gradients, |(_, gy)| (gy, gy))?)?,
    })
}

/// The product of two gradient components, added over channels from the first to the last.
fn products(
    gradients: &[(Plane, Plane)],
    factors: impl Fn(&(Plane, Plane)) -> (&Plane, &Plane),
) -> Result<Products, Error> {
    let mut channels = gradients.iter().map(|gradient| match factors(gradient) {
        (Plane::Integer(u), Plane::Integer(v)) => {
            let product = |y, x| i64::from(u[[y, x]]) * i64::from(v[[y, x]]);
            memory::array_of(u.dim(), product).map(Products::Integer)
        }
        (Plane::Float(u), Plane::Float(v)) => {
            memory::array_of(u.dim(), |y, x| u[[y, x]] * v[[y, x]]).map(Products::Float)
        }
        (Plane::Integer(_), Plane::Float(_)) | (Plane::Float(_), Plane::Integer(_)) => {
            panic!("gx and gy are of one kind")
        }
    });
    let first = channels.next().expect("an image has a channel")?;
    channels.try_fold(first, |sum, channel| match (sum, channel?) {
        (Products::Integer(sum), Products::Integer(channel)) => Ok(Products::Integer(sum + channel)),
        (Products::Float(sum), Products::Float(channel)) => Ok(Products::Float(sum + channel)),
        (Products::Integer(_), Products::Float(_)) | (Products::Float(_), Products::Integer(_)) => {
            panic!("channels are of one kind")
        }
    })
}

/// The window sum of products as f32.
///
/// Box and binomial windows of integer products are exact until one conversion. All others round
/// once an operation.
fn window_sum(products: &Products, window: Window, border: Border) -> Result<Array2<f32>, Error> {
    match (window, products) {
        (Window::Gaussian { size, sigma }, Products::Integer(plane)) => {
            weighted(&memory::map(plane, |&v| v as f32)?, &taps::gaussian(size, sigma), border)
        }
        (Window::Gaussian { size, sigma }, Products::Float(plane)) => {
            weighted(plane, &taps::gaussian(size, sigma), border)
        }
        (Window::Box { .. } | Window::Binomial { .. }, Products::Integer(plane)) => {
            memory::map(&down_then_across(plane, window, border)?, |&v| v as f32)
        }
        (Window::Box { .. } | Window::Binomial { .. }, Products::Float(plane)) => {
            down_then_across(plane, window, border)
        }
    }
}

/// Box or binomial sums down the window, then across it.
fn down_then_across<T: Number>(
    plane: &Array2<T>,
    window: Window,
    border: Border,
) -> Result<Array2<T>, Error> {
    let down = Extended::new(plane, border).map(|p, x, y| line_sum(window, |i| p.at(x, y + i)))?;
    Extended::new(&down, border).map(|p, x, y| line_sum(window, |i| p.at(x + i, y)))
}

/// A box or binomial sum along a line around p(0), in the order that docs/arithmetic.md fixes for
/// floats.
pub(super) fn line_sum<T: Number>(window: Window, p: impl Fn(isize) -> T) -> T {
    let w = T::weight;
    match window {
        Window::Box { .. } => {
            let [before, after] = window.reach().map(|pixels| pixels as isize);
            (1 - before..=after).fold(p(-before), |acc, i| acc + p(i))
        }
        Window::Binomial { size: 3 } => (p(-1) + p(1)) + w(2) * p(0),
        Window::Binomial { size: 5 } => ((p(-2) + p(2)) + w(4) * (p(-1) + p(1))) + w(6) * p(0),
        Window::Binomial { size: 7 } => {
            (((p(-3) + p(3)) + w(6) * (p(-2) + p(2))) + w(15) * (p(-1) + p(1))) + w(20) * p(0)
        }
        Window::Binomial { .. } | Window::Gaussian { .. } => {
            unreachable!("other sizes are invalid, and Gaussian windows are weighted sums")
        }
    }
}
