//! Binomial smoothing of integer images.

use super::geometry::{Plane, Size, start};
use crate::Simt;

pub(crate) fn binomial_rounded<S: Simt>(
    s: S,
    from: S::Buffer<i32>,
    to: S::Buffer<i32>,
    width: u32,
    height: u32,
    size: u32,
    border: u32,
) {
    let of = Size { width, height };
    let i = s.index();
    if i < of.pixels() {
        let (x, y) = of.place(i);
        let plane = Plane::new(s, from, of, border);
        let at = |dx: i32, dy: i32| plane.at(x as i32 + dx, y as i32 + dy);
        let tap = |i: i32| match (size, i.unsigned_abs()) {
            (3, 0) => 2,
            (5, 0) => 6,
            (5, 1) => 4,
            _ => 1,
        };
        let radius = size as i32 / 2;
        let total = if size == 3 { 4 } else { 8 };
        let mut sum = 1 << (total - 1);
        for dy in -radius..=radius {
            let mut row = 0;
            for dx in -radius..=radius {
                row += tap(dx) * at(dx, dy);
            }
            sum += tap(dy) * row;
        }
        let sum = sum >> total;
        s.store(to, start(s, of) + i as usize, sum);
    }
}
