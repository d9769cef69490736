//! Taps: the weights of smoothing, gradient and window along one axis.
//!
//! Taps of Gaussians are computed in f64 and rounded to f32 once.

use std::iter;

use crate::config::Window;

/// The taps of a Gaussian of sum 1: g(i) = exp(−i²/2σ²) / Σ exp(−j²/2σ²), for i from −r to r, r =
/// size / 2.
///
/// ```
/// let taps = harris_core::pipeline::taps::gaussian(3, 0.5);
/// assert_eq!(taps, [0.10650698, 0.78698605, 0.10650698]);
/// ```
#[must_use]
pub fn gaussian(size: u32, sigma: f64) -> Vec<f32> {
    let sum: f64 = indices(size).map(|j| bell(j, sigma)).sum();
    indices(size).map(|i| (bell(i, sigma) / sum) as f32).collect()
}

/// The taps of the derivative of a Gaussian, such that a ramp of slope s gives 2·s:
/// d(i) = 2·i·exp(−i²/2σ²) / Σ j²·exp(−j²/2σ²), for i from −r to r, r = size / 2.
///
/// ```
/// let taps = harris_core::pipeline::taps::gaussian_derivative(3, 0.7);
/// assert_eq!(taps, [-1.0, 0.0, 1.0]);
/// ```
#[must_use]
pub fn gaussian_derivative(size: u32, sigma: f64) -> Vec<f32> {
    let sum: f64 = indices(size).map(|j| j * j * bell(j, sigma)).sum();
    indices(size).map(|i| (2.0 * i * bell(i, sigma) / sum) as f32).collect()
}

/// The weights of a binomial filter: row n of Pascal's triangle, for n of 3, 5 or 7.
///
/// ```
/// assert_eq!(harris_core::pipeline::taps::binomial(5), [1.0, 4.0, 6.0, 4.0, 1.0]);
/// ```
///
/// # Panics
/// For other sizes.
#[must_use]
pub const fn binomial(size: u32) -> &'static [f32] {
    match size {
        3 => &[1.0, 2.0, 1.0],
        5 => &[1.0, 4.0, 6.0, 4.0, 1.0],
        7 => &[1.0, 6.0, 15.0, 20.0, 15.0, 6.0, 1.0],
        _ => panic!("binomial filters have 3, 5 or 7 taps"),
    }
}

/// The weights of a window along one axis.
///
/// A box has weights of 1, which change no bit of a product.
///
/// ```
/// use harris_core::{Window, pipeline::taps::window};
///
/// assert_eq!(window(Window::Box { size: 4 }), [1.0; 4]);
/// assert_eq!(window(Window::Binomial { size: 3 }), [1.0, 2.0, 1.0]);
/// ```
#[must_use]
pub fn window(window: Window) -> Vec<f32> {
    match window {
        Window::Box { size } => vec![1.0; size as usize],
        Window::Binomial { size } => binomial(size).to_vec(),
        Window::Gaussian { size, sigma } => gaussian(size, sigma),
    }
}

/// A Gaussian with a value of 1 at 0.
fn bell(i: f64, sigma: f64) -> f64 {
    (-i * i / (2.0 * sigma * sigma)).exp()
}

/// The offsets −r to r of `size` = 2·r + 1 taps.
fn indices(size: u32) -> impl Iterator<Item = f64> {
    let mut next = -f64::from(size / 2);
    iter::repeat_with(move || {
        let i = next;
        next += 1.0;
        i
    })
    .take(size as usize)
}
