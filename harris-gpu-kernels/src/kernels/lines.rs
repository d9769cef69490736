//! Weighted sums along rows or columns. Their terms are added in the order of the arithmetic
//! contract.

use super::choices::match_binomial;
use super::geometry::{Plane, Size, start};
use super::number::Number;
use super::thread_per_column::{ColumnSweep, push};
use crate::abi::{axis, boxes};
use crate::{Simt, Word};

pub(crate) fn binomial_f32<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    to: S::Buffer<f32>,
    width: u32,
    height: u32,
    rows: u32,
    axis: u32,
    size: u32,
    border: u32,
) {
    for_each_pixel(s, from, to, Size { width, height }, rows, axis, border, |line| {
        match_binomial!(size, {
            3 => binomial(1, |i| line.at(i)),
            5 => binomial(2, |i| line.at(i)),
            7 => binomial(3, |i| line.at(i)),
        })
    });
}

pub(crate) fn weighted_f32<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    to: S::Buffer<f32>,
    taps: S::Buffer<f32>,
    width: u32,
    height: u32,
    rows: u32,
    axis: u32,
    size: u32,
    border: u32,
) {
    let image_size = Size { width, height };
    let sweep = ColumnSweep::new(s, image_size, rows);
    let plane = Plane::new(s, from, image_size, border);
    let tap = |i: u32| s.load_constant(taps, i as usize);
    let store = |y: u32, [sum]: [f32; 1]| {
        s.store(to, start(s, image_size) + image_size.index(sweep.x, y) as usize, sum);
    };
    if axis == axis::Y {
        let column = Some(sweep.x);
        weighted_column_sums(
            sweep,
            size,
            tap,
            (|y| plane.row(y), height),
            |row| [plane.sample(row, column)],
            store,
        );
    } else {
        weighted_row_sums(
            sweep,
            size,
            tap,
            (|x| plane.column(x), width),
            |row, column| [plane.sample(row, column)],
            store,
        );
    }
}

/// Sums of a column that a thread computes at once.
const ROWS_AT_ONCE: usize = 4;

/// Weighted sums along a column, of several planes at once.
///
/// `at` returns the samples of a row. `rows` is the row that stands for a row which may lie
/// outside, and the number of rows. Each row is read once for all sums whose windows contain it.
#[inline(always)]
pub(super) fn weighted_column_sums<T: Number, const PLANES: usize>(
    sweep: ColumnSweep,
    size: u32,
    tap: impl Fn(u32) -> T,
    rows: (impl Fn(i32) -> Option<u32>, u32),
    at: impl Fn(Option<u32>) -> [T; PLANES],
    mut store: impl FnMut(u32, [T; PLANES]),
) {
    let mut top = sweep.top;
    while top < sweep.bottom {
        let first = top as i32 - (size / 2) as i32;
        let count = size + ROWS_AT_ONCE as u32 - 1;
        let is_inside = first >= 0 && first as u32 + count <= rows.1;
        let mut sums = [[T::NEUTRAL; PLANES]; ROWS_AT_ONCE];
        // The tap of the current row in each sum: it is the tap of the row before in the sum
        // before.
        let mut taps = [tap(0); ROWS_AT_ONCE];
        let mut add = |i: u32, row: Option<u32>| {
            push(&mut taps, tap(i.min(size - 1)));
            let row = at(row);
            for k in 0..ROWS_AT_ONCE {
                // The window of sum `k` starts and ends `k` rows later.
                if i.wrapping_sub(k as u32) < size {
                    for plane in 0..PLANES {
                        sums[k][plane] = sums[k][plane] + taps[k] * row[plane];
                    }
                }
            }
        };
        if is_inside {
            for i in 0..count {
                add(i, Some(first as u32 + i));
            }
        } else {
            for i in 0..count {
                add(i, (rows.0)(first + i as i32));
            }
        }
        for k in 0..ROWS_AT_ONCE {
            if top + (k as u32) < sweep.bottom {
                store(top + k as u32, sums[k]);
            }
        }
        top += ROWS_AT_ONCE as u32;
    }
}

/// Weighted sums along rows, of several planes at once.
///
/// `at` returns the samples at a row and a column. `columns` is the column that stands for a column
/// which may lie outside, and the number of columns. A few rows share taps and columns.
#[inline(always)]
pub(super) fn weighted_row_sums<T: Number, const PLANES: usize>(
    sweep: ColumnSweep,
    size: u32,
    tap: impl Fn(u32) -> T,
    columns: (impl Fn(i32) -> Option<u32>, u32),
    at: impl Fn(Option<u32>, Option<u32>) -> [T; PLANES],
    mut store: impl FnMut(u32, [T; PLANES]),
) {
    /// Rows whose sums a thread computes at once.
    const ROWS: usize = 2;
    let first = sweep.x as i32 - (size / 2) as i32;
    let is_inside = first >= 0 && first as u32 + size <= columns.1;
    let mut top = sweep.top;
    while top < sweep.bottom {
        let mut sums = [[T::NEUTRAL; PLANES]; ROWS];
        let mut add = |i: u32, column: Option<u32>| {
            let tap = tap(i);
            for k in 0..ROWS {
                let row = at(Some((top + k as u32).min(sweep.bottom - 1)), column);
                for plane in 0..PLANES {
                    sums[k][plane] = sums[k][plane] + tap * row[plane];
                }
            }
        };
        // Two loops: most windows lie inside and need no border rule.
        if is_inside {
            for i in 0..size {
                add(i, Some(first as u32 + i));
            }
        } else {
            for i in 0..size {
                add(i, (columns.0)(first + i as i32));
            }
        }
        for k in 0..ROWS {
            if top + (k as u32) < sweep.bottom {
                store(top + k as u32, sums[k]);
            }
        }
        top += ROWS as u32;
    }
}

pub(crate) fn box_f32<S: Simt>(
    s: S,
    from: S::Buffer<f32>,
    to: S::Buffer<f32>,
    width: u32,
    height: u32,
    rows: u32,
    axis: u32,
    size: u32,
    shape: u32,
    border: u32,
) {
    let r = (size / 2) as i32;
    for_each_pixel(s, from, to, Size { width, height }, rows, axis, border, |line| {
        if shape == boxes::SUM {
            let mut sum = line.at(-r);
            for i in 1 - r..=r {
                sum += line.at(i);
            }
            sum
        } else {
            let (mut after, mut before) = (line.at(1), line.at(-1));
            for i in 2..=r {
                after += line.at(i);
                before += line.at(-i);
            }
            after - before
        }
    });
}

/// Computes each pixel of a stack from the line of samples around it.
#[inline(always)]
fn for_each_pixel<S: Simt, T: Number>(
    s: S,
    from: S::Buffer<T>,
    to: S::Buffer<T>,
    size: Size,
    rows: u32,
    axis: u32,
    border: u32,
    sum: impl Fn(Line<S, T>) -> T,
) {
    let sweep = ColumnSweep::new(s, size, rows);
    let plane = Plane::new(s, from, size, border);
    for y in sweep.top..sweep.bottom {
        let sum = sum(Line { plane, axis, x: sweep.x, y });
        s.store(to, start(s, size) + size.index(sweep.x, y) as usize, sum);
    }
}

/// The samples around a pixel along one axis.
#[derive(Clone, Copy)]
struct Line<S: Simt, T: Word> {
    plane: Plane<S, T>,
    axis: u32,
    x: u32,
    y: u32,
}

impl<S: Simt, T: Number> Line<S, T> {
    /// The sample `i` pixels after the centre.
    #[inline(always)]
    fn at(self, i: i32) -> T {
        let (dx, dy) = if self.axis == axis::X { (i, 0) } else { (0, i) };
        self.plane.sample(self.plane.row(self.y as i32 + dy), self.plane.column(self.x as i32 + dx))
    }
}

/// The sum of `p(i)` for i from `-radius` to `radius`, 1 to 3, with binomial weights.
#[inline(always)]
pub(super) fn binomial<T: Number>(radius: usize, p: impl Fn(i32) -> T) -> T {
    let pair = |i: i32| p(-i) + p(i);
    let w = T::weight;
    match radius {
        1 => pair(1) + w(2) * p(0),
        2 => (pair(2) + w(4) * pair(1)) + w(6) * p(0),
        3 => ((pair(3) + w(6) * pair(2)) + w(15) * pair(1)) + w(20) * p(0),
        _ => unreachable!("binomials have radius 1 to 3"),
    }
}
