//! The response of the structure tensor, one operation each, in this order.

use super::geometry::Size;
use crate::abi::measure;
use crate::{Simt, Word};

pub(crate) fn response_i64<S: Simt>(
    s: S,
    sums: S::Buffer<i64>,
    response: S::Buffer<f32>,
    width: u32,
    height: u32,
    scale: f32,
    measure: u32,
    parameter: f32,
    frame: u32,
) {
    respond(s, sums, response, Size { width, height }, scale, measure, parameter, frame, |sum| sum as f32);
}

pub(crate) fn response_f32<S: Simt>(
    s: S,
    sums: S::Buffer<f32>,
    response: S::Buffer<f32>,
    width: u32,
    height: u32,
    scale: f32,
    measure: u32,
    parameter: f32,
    frame: u32,
) {
    respond(s, sums, response, Size { width, height }, scale, measure, parameter, frame, |sum| sum);
}

#[inline(always)]
fn respond<S: Simt, T: Word>(
    s: S,
    sums: S::Buffer<T>,
    response: S::Buffer<f32>,
    size: Size,
    scale: f32,
    kind: u32,
    parameter: f32,
    frame: u32,
    convert: impl Fn(T) -> f32,
) {
    let i = s.index();
    if i < size.pixels() {
        let (x, y) = size.place(i);
        let sum = |plane: usize| {
            convert(s.load_constant(sums, plane * size.pixels() as usize + i as usize)) * scale
        };
        let value = match size.within(frame, x, y) {
            true => measure(|square| s.sqrt(square), kind, parameter, sum(0), sum(1), sum(2)),
            false => 0.0,
        };
        s.store(response, i as usize, value);
    }
}

/// The lesser eigenvalue of the tensor \[2 half_a, b; b, 2 half_c\], as [`measure`] has it where halves are exact.
#[inline(always)]
pub(crate) fn lesser_eigenvalue(root: impl Fn(f32) -> f32, half_a: f32, b: f32, half_c: f32) -> f32 {
    let half = half_a - half_c;
    (half_a + half_c) - root(half * half + b * b)
}

/// The response of the tensor \[a b; b c\], with square roots as `root` draws them.
#[inline(always)]
pub(crate) fn measure(root: impl Fn(f32) -> f32, kind: u32, parameter: f32, a: f32, b: f32, c: f32) -> f32 {
    let trace = a + c;
    match kind {
        measure::SHI_TOMASI => {
            let half = (a - c) * 0.5;
            trace * 0.5 - root(half * half + b * b)
        }
        _ => {
            let det = (a * c) - (b * b);
            match kind {
                measure::HARRIS => det - (parameter * trace) * trace,
                _ => (2.0 * det) / (trace + parameter),
            }
        }
    }
}
