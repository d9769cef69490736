//! The stages of the border band between samples and responses, in shared memory.

use core::array;

use super::border_area::{Area, Arithmetic, Field, Settings};
use super::gradient::weighted;
use super::lines::binomial;
use super::number::Number;
use crate::Simt;

/// Binomial smoothing: along rows, then along columns.
#[inline(always)]
pub(super) fn smooth<S: Simt, A: Arithmetic, const RADIUS: usize>(s: S, from: Field<S>, to: Field<S>) {
    let smoothed = |x: u32, y: u32| {
        let sum: A::Value = binomial(RADIUS, |j| binomial(RADIUS, |i| from.at(x as i32 + i, y as i32 + j)));
        sum.mean(RADIUS)
    };
    to.area.for_each::<S, _, 1>(s, smoothed, |x, y, value| to.set(x, y, value));
}

/// Gradients of smoothed samples.
#[inline(always)]
pub(super) fn differentiate<S: Simt, A: Arithmetic>(
    s: S,
    set: Settings,
    from: Field<S>,
    [gx, gy]: [Field<S>; 2],
) {
    let gradient = |x: u32, y: u32| {
        // Of the rows above, at and below the pixel: right minus left, and the weighted sum.
        let rows: [[A::Value; 2]; 3] = array::from_fn(|j| {
            let [left, own, right]: [A::Value; 3] =
                array::from_fn(|i| from.at(x as i32 + i as i32 - 1, y as i32 + j as i32 - 1));
            [right - left, weighted(set.gradient, left + right, own)]
        });
        [weighted(set.gradient, rows[0][0] + rows[2][0], rows[1][0]), rows[2][1] - rows[0][1]]
    };
    gx.area.for_each::<S, _, 1>(s, gradient, |x, y, gradient| {
        gx.set(x, y, gradient[0]);
        gy.set(x, y, gradient[1]);
    });
}

/// Window sums at the pixels `first..last` of a line: `at` returns the terms of a pixel, `store`
/// takes its sums.
///
/// With `is_running` each sum is the one before, plus the terms that enter the window, minus those
/// that leave it.
#[inline(always)]
fn window_sums<T: Number>(
    set: Settings,
    tap: impl Fn(f32) -> T,
    is_running: bool,
    (first, last): (u32, u32),
    at: impl Fn(i32) -> [T; 3],
    mut store: impl FnMut(u32, [T; 3]),
) {
    let window = set.window as i32;
    let mut sums = [T::NEUTRAL; 3];
    for pixel in first..last {
        let centre = pixel as i32;
        if is_running && pixel > first {
            let (enters, leaves) = (at(centre + window), at(centre - window - 1));
            sums = array::from_fn(|kind| sums[kind] + enters[kind] - leaves[kind]);
        } else {
            sums = [T::NEUTRAL; 3];
            for i in -window..=window {
                let terms = at(centre + i);
                let weighted = |term| if is_running { term } else { tap(set.tap(i.unsigned_abs())) * term };
                sums = array::from_fn(|kind| sums[kind] + weighted(terms[kind]));
            }
        }
        store(pixel, sums);
    }
}

/// The segment of a line that this thread computes, of `lines` lines of `pixels` pixels; none if it
/// has none.
///
/// Returns the line, the first pixel and the pixel after the last.
#[inline(always)]
fn segment<S: Simt>(s: S, lines: u32, pixels: u32) -> Option<(u32, u32, u32)> {
    let length = pixels.div_ceil(s.threads() / lines);
    let (line, first) = (s.thread() % lines, s.thread() / lines * length);
    (first < pixels).then(|| (line, first, (first + length).min(pixels)))
}

/// Products of gradients, summed along the columns of the window.
///
/// With `is_added` they are added to the sums of the channels before; these are exact.
#[inline(always)]
pub(super) fn sum_columns<S: Simt, A: Arithmetic>(
    s: S,
    set: Settings,
    [gx, gy]: [Field<S>; 2],
    to: [Field<S>; 3],
    is_added: bool,
) {
    let area = to[0].area;
    let Some((column, first, last)) = segment(s, area.columns(), area.bottom - area.top) else { return };
    let x = area.left + column;
    let products = |y: i32| {
        let (gx, gy): (A::Value, A::Value) = (gx.at(x as i32, y), gy.at(x as i32, y));
        [A::product(gx, gx), A::product(gx, gy), A::product(gy, gy)]
    };
    window_sums(
        set,
        A::tap,
        set.is_box && A::IS_EXACT,
        (area.top + first, area.top + last),
        products,
        |y, sums| {
            for kind in 0..3 {
                let before = if is_added { to[kind].get(x, y) } else { A::Product::NEUTRAL };
                to[kind].set(x, y, sums[kind] + before);
            }
        },
    );
}

/// Sums over the whole window at the pixels of an area, scaled, from sums along its columns.
#[inline(always)]
pub(super) fn sum_rows<S: Simt, A: Arithmetic>(
    set: Settings,
    sums: [Field<S>; 3],
    area: Area,
    mut store: impl FnMut(u32, u32, [f32; 3]),
) {
    let Some((row, first, last)) = segment(sums[0].s, area.bottom - area.top, area.columns()) else { return };
    let y = area.top + row;
    let tap = |tap| A::sum(A::tap(tap));
    let column = |x: i32| sums.map(|sums| A::sum(sums.at(x, y as i32)));
    window_sums(
        set,
        tap,
        set.is_box && A::IS_EXACT,
        (area.left + first, area.left + last),
        column,
        |x, sums| {
            store(x, y, sums.map(|sum| A::rounded(sum) * set.scale));
        },
    );
}
