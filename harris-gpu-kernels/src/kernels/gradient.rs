//! Gradients of three taps: gx is right minus left, gy lower minus upper.

use core::array;

use super::geometry::{Plane, Size, start};
use super::number::Number;
use super::runs::{Run, down, push};
use crate::Simt;
use crate::abi::gradient::{CENTRAL, SCHARR};

macro_rules! gradients {
    ($($name:ident: $word:ident;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            from: S::Buffer<$word>,
            gx: S::Buffer<$word>,
            gy: S::Buffer<$word>,
            width: u32,
            height: u32,
            rows: u32,
            kind: u32,
            border: u32,
        ) {
            gradient(s, from, gx, gy, Size { width, height }, rows, kind, border);
        }
    )*};
}

gradients! {
    gradient_i32: i32;
    gradient_f32: f32;
}

#[inline(always)]
fn gradient<S: Simt, T: Number>(
    s: S,
    from: S::Buffer<T>,
    gx: S::Buffer<T>,
    gy: S::Buffer<T>,
    size: Size,
    rows: u32,
    kind: u32,
    border: u32,
) {
    let run = Run::new(s, size, rows);
    if run.top == run.bottom {
        return;
    }
    let plane = Plane::new(s, from, size, border);
    let columns: [Option<u32>; 3] = array::from_fn(|i| plane.column(run.x as i32 + i as i32 - 1));
    let fetch = |y: i32| -> [T; 3] {
        let row = plane.row(y);
        array::from_fn(|i| plane.sample(row, columns[i]))
    };
    let weighted = |outside: T, inside: T| weighted(kind, outside, inside);
    // Of the rows before: right minus left, and the weighted sum across.
    let (mut differences, mut sums) = ([T::ZERO; 2], [T::ZERO; 2]);
    down(run.top as i32 - 1, run.bottom as i32 + 1, fetch, |y, [left, own, right]| {
        let difference = right - left;
        let sum = weighted(left + right, own);
        let of_gradient = y - 1;
        if of_gradient >= run.top as i32 {
            let i = start(s, size) + size.number(run.x, of_gradient as u32) as usize;
            s.store(gx, i, weighted(differences[1] + difference, differences[0]));
            s.store(gy, i, sum - sums[1]);
        }
        push(&mut differences, difference);
        push(&mut sums, sum);
    });
}

/// The sum along a gradient's edge: of both samples outside, added up, and of the one in the middle.
#[inline(always)]
pub(super) fn weighted<T: Number>(kind: u32, outside: T, inside: T) -> T {
    match kind {
        CENTRAL => inside,
        SCHARR => T::weight(3) * outside + T::weight(10) * inside,
        _ => outside + T::weight(2) * inside,
    }
}
