//! Gradients of three taps: gx is right minus left, gy lower minus upper.

use super::geometry::{Plane, Size, start};
use super::number::Number;
use crate::Simt;
use crate::abi::gradient::{CENTRAL, SCHARR};

pub(crate) fn gradient_i32<S: Simt>(
    s: S,
    from: S::Buffer<i32>,
    gx: S::Buffer<i32>,
    gy: S::Buffer<i32>,
    width: u32,
    height: u32,
    kind: u32,
    border: u32,
) {
    gradient(s, from, gx, gy, Size { width, height }, kind, border);
}

pub(crate) fn gradient_f32<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    gx: S::Buffer<f32>,
    gy: S::Buffer<f32>,
    width: u32,
    height: u32,
    kind: u32,
    border: u32,
) {
    gradient(s, from, gx, gy, Size { width, height }, kind, border);
}

#[inline(always)]
fn gradient<S: Simt, T: Number>(
    s: S,
    from: S::Buffer<T>,
    gx: S::Buffer<T>,
    gy: S::Buffer<T>,
    size: Size,
    kind: u32,
    border: u32,
) {
    let i = s.index();
    if i < size.pixels() {
        let (x, y) = size.place(i);
        let plane = Plane::new(s, from, size, border);
        let p = |dx: i32, dy: i32| plane.at(x as i32 + dx, y as i32 + dy);
        let (dx, dy) = if kind == CENTRAL {
            (p(1, 0) - p(-1, 0), p(0, 1) - p(0, -1))
        } else {
            let scharr = kind == SCHARR;
            let outer = |value: T| if scharr { T::weight(3) * value } else { value };
            let centre = T::weight(if scharr { 10 } else { 2 });
            let d = |dy: i32| p(1, dy) - p(-1, dy);
            let e = |dy: i32| outer(p(-1, dy) + p(1, dy)) + centre * p(0, dy);
            (outer(d(-1) + d(1)) + centre * d(0), e(1) - e(-1))
        };
        let i = start(s, size) + i as usize;
        s.store(gx, i, dx);
        s.store(gy, i, dy);
    }
}
