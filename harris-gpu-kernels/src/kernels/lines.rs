//! Weighted sums along a row or a column, terms added in the order that floats need.

use super::geometry::{Plane, Size, start};
use super::number::Number;
use crate::abi::boxes;
use crate::{Simt, Word};

pub(crate) fn binomial_f32<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    to: S::Buffer<f32>,
    width: u32,
    height: u32,
    axis: u32,
    size: u32,
    border: u32,
    factor: f32,
) {
    line(s, from, to, Size { width, height }, axis, border, |p| binomial(size, p) * factor);
}

pub(crate) fn binomial_i64<S: Simt>(
    s: S,
    from: S::Buffer<i64>,
    to: S::Buffer<i64>,
    width: u32,
    height: u32,
    axis: u32,
    size: u32,
    border: u32,
) {
    line(s, from, to, Size { width, height }, axis, border, |p| binomial(size, p));
}

pub(crate) fn weighted_f32<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    to: S::Buffer<f32>,
    taps: S::Buffer<f32>,
    width: u32,
    height: u32,
    axis: u32,
    size: u32,
    border: u32,
) {
    let tap = |i: u32| s.load_constant(taps, i as usize);
    line(s, from, to, Size { width, height }, axis, border, |p| {
        let r = (size / 2) as i32;
        let mut sum = tap(0) * p.at(-r);
        for i in 1..size {
            sum += tap(i) * p.at(i as i32 - r);
        }
        sum
    });
}

pub(crate) fn box_f32<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    to: S::Buffer<f32>,
    width: u32,
    height: u32,
    axis: u32,
    size: u32,
    shape: u32,
    border: u32,
) {
    let r = (size / 2) as i32;
    line(s, from, to, Size { width, height }, axis, border, |p| {
        if shape == boxes::SUM {
            let mut sum = p.at(-r);
            for i in 1 - r..=r {
                sum += p.at(i);
            }
            sum
        } else {
            let (mut after, mut before) = (p.at(1), p.at(-1));
            for i in 2..=r {
                after += p.at(i);
                before += p.at(-i);
            }
            after - before
        }
    });
}

/// Each pixel of a stack from the line of samples around it.
#[inline(always)]
fn line<S: Simt, T: Number>(
    s: S,
    from: S::Buffer<T>,
    to: S::Buffer<T>,
    size: Size,
    axis: u32,
    border: u32,
    sum: impl Fn(Line<S, T>) -> T,
) {
    let i = s.index();
    if i < size.pixels() {
        let (x, y) = size.place(i);
        let plane = Plane::new(s, from, size, border);
        s.store(to, start(s, size) + i as usize, sum(Line { plane, axis, x, y }));
    }
}

/// The samples before and after a pixel.
#[derive(Clone, Copy)]
struct Line<S: Simt, T: Word> {
    plane: Plane<S, T>,
    axis: u32,
    x: u32,
    y: u32,
}

impl<S: Simt, T: Number> Line<S, T> {
    #[inline(always)]
    fn at(self, i: i32) -> T {
        self.plane.along(self.axis, self.x, self.y, i)
    }
}

#[inline(always)]
fn binomial<S: Simt, T: Number>(size: u32, p: Line<S, T>) -> T {
    let pair = |i: i32| p.at(-i) + p.at(i);
    let w = T::weight;
    match size {
        3 => pair(1) + w(2) * p.at(0),
        5 => (pair(2) + w(4) * pair(1)) + w(6) * p.at(0),
        _ => ((pair(3) + w(6) * pair(2)) + w(15) * pair(1)) + w(20) * p.at(0),
    }
}
