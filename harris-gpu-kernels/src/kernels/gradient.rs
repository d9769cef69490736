//! Gradients of fixed taps: gx is right minus left, gy is lower minus upper.

use core::array;

use super::choices::match_gradient;
use super::geometry::{Plane, Size, start};
use super::lines::binomial;
use super::number::Number;
use super::thread_per_column::{ColumnSweep, down, push};
use crate::Simt;

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

macro_rules! sobels {
    ($($name:ident: $word:ident;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            from: S::Buffer<$word>,
            gx: S::Buffer<$word>,
            gy: S::Buffer<$word>,
            width: u32,
            height: u32,
            rows: u32,
            taps: u32,
            border: u32,
        ) {
            let size = Size { width, height };
            debug_assert!(taps == 5 || taps == 7, "{taps} taps");
            if taps == 5 {
                sobel::<S, $word, 2>(s, from, [gx, gy], size, rows, border);
            } else {
                sobel::<S, $word, 3>(s, from, [gx, gy], size, rows, border);
            }
        }
    )*};
}

sobels! {
    sobel_i32: i32;
    sobel_f32: f32;
}

/// Sobel gradients of 5 or 7 taps, each computed from all samples of its neighbourhood.
#[inline(always)]
fn sobel<S: Simt, T: Number, const RADIUS: usize>(
    s: S,
    from: S::Buffer<T>,
    [gx, gy]: [S::Buffer<T>; 2],
    size: Size,
    rows: u32,
    border: u32,
) {
    let sweep = ColumnSweep::new(s, size, rows);
    let plane = Plane::new(s, from, size, border);
    let columns: [_; 7] = array::from_fn(|i| plane.column(sweep.x as i32 + i as i32 - 3));
    for y in sweep.top..sweep.bottom {
        let rows: [_; 7] = array::from_fn(|j| plane.row(y as i32 + j as i32 - 3));
        let p = |i: i32, j: i32| plane.sample(rows[(j + 3) as usize], columns[(i + 3) as usize]);
        let x = binomial(RADIUS, |j| differences(RADIUS, |i| p(i, j)));
        let y_gradient = differences(RADIUS, |j| binomial(RADIUS, |i| p(i, j)));
        let at = start(s, size) + size.index(sweep.x, y) as usize;
        s.store(gx, at, x);
        s.store(gy, at, y_gradient);
    }
}

/// Sobel's difference along a line, of `radius` 2 or 3: weights \[-1 -2 0 2 1\] or \[-1 -4 -5 0 5 4
/// 1\].
#[inline(always)]
fn differences<T: Number>(radius: usize, p: impl Fn(i32) -> T) -> T {
    let pair = |i: i32| p(i) - p(-i);
    match radius {
        2 => pair(2) + T::weight(2) * pair(1),
        3 => (pair(3) + T::weight(4) * pair(2)) + T::weight(5) * pair(1),
        _ => unreachable!("Sobel gradients have 3, 5 or 7 taps"),
    }
}

/// Gradients of three taps, computed row by row.
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
    let sweep = ColumnSweep::new(s, size, rows);
    if sweep.top == sweep.bottom {
        return;
    }
    let plane = Plane::new(s, from, size, border);
    let columns: [Option<u32>; 3] = array::from_fn(|i| plane.column(sweep.x as i32 + i as i32 - 1));
    let fetch = |y: i32| -> [T; 3] {
        let row = plane.row(y);
        array::from_fn(|i| plane.sample(row, columns[i]))
    };
    let weighted = |outside: T, inside: T| weighted(kind, outside, inside);
    // Of the two rows before: right minus left, and the weighted sum across.
    let (mut differences, mut sums) = ([T::ZERO; 2], [T::ZERO; 2]);
    down(sweep.top as i32 - 1, sweep.bottom as i32 + 1, fetch, |y, [left, own, right]| {
        let difference = right - left;
        let sum = weighted(left + right, own);
        let centre = y - 1;
        if centre >= sweep.top as i32 {
            let i = start(s, size) + size.index(sweep.x, centre as u32) as usize;
            s.store(gx, i, weighted(differences[1] + difference, differences[0]));
            s.store(gy, i, sum - sums[1]);
        }
        push(&mut differences, difference);
        push(&mut sums, sum);
    });
}

/// The weighted sum of a gradient across its direction: of both outer samples, already added, and
/// the middle one.
#[inline(always)]
pub(super) fn weighted<T: Number>(kind: u32, outside: T, inside: T) -> T {
    match_gradient!(kind, {
        CENTRAL => inside,
        SCHARR => T::weight(3) * outside + T::weight(10) * inside,
        SOBEL => outside + T::weight(2) * inside,
    })
}
