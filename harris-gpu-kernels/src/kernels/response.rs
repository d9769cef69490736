//! The response of the structure tensor, one operation each, in this order.

use core::array;

use super::boxes::{Integer, Tile};
use super::choices::{knows_all_measures, match_measure};
use super::geometry::{Plane, Size};
use super::lines::weighted_row_sums;
use super::thread_per_column::ColumnSweep;
use crate::Simt;
use crate::abi::boxes::COLUMNS_PER_THREAD;
use crate::abi::measure;

/// What window sums become.
#[derive(Clone, Copy)]
struct Response<S: Simt> {
    s: S,
    to: S::Buffer<f32>,
    size: Size,
    scale: f32,
    measure: u32,
    parameter: f32,
    /// Widths of the frame that is not valid: before and behind.
    frame: (u32, u32),
}

impl<S: Simt> Response<S> {
    /// Leaves the response of a pixel's window sums.
    #[inline(always)]
    fn store(self, x: u32, y: u32, sums: [f32; 3]) {
        let Self { s, size, scale, .. } = self;
        let [a, b, c] = [sums[0] * scale, sums[1] * scale, sums[2] * scale];
        let value = match size.within_frame(self.frame, x, y) {
            true => measure(|square| s.sqrt(square), self.measure, self.parameter, a, b, c),
            false => 0.0,
        };
        s.store(self.to, size.index(x, y) as usize, value);
    }
}

pub(crate) fn response_f32<S: Simt>(
    s: S,
    sums: S::Buffer<f32>,
    response: S::Buffer<f32>,
    width: u32,
    height: u32,
    rows: u32,
    scale: f32,
    measure: u32,
    parameter: f32,
    frame: u32,
    frame_behind: u32,
) {
    let size = Size { width, height };
    let sweep = ColumnSweep::new(s, size, rows);
    let frame = (frame, frame_behind);
    let to = Response { s, to: response, size, scale, measure, parameter, frame };
    let fetch = |y: u32| -> [f32; 3] {
        let i = size.index(sweep.x, y) as usize;
        array::from_fn(|plane| s.load_constant(sums, plane * size.pixels() as usize + i))
    };
    sweep.down(fetch, |y, sums| to.store(sweep.x, y, sums));
}

macro_rules! across {
    ($($name:ident: $sum:ident;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            sums: S::Buffer<$sum>,
            response: S::Buffer<f32>,
            taps: S::Buffer<f32>,
            width: u32,
            height: u32,
            rows: u32,
            size: u32,
            border: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            frame: u32,
            frame_behind: u32,
        ) {
            let frame = (frame, frame_behind);
            let of_image = Size { width, height };
            let sweep = ColumnSweep::new(s, of_image, rows);
            let to = Response { s, to: response, size: of_image, scale, measure, parameter, frame };
            let planes: [_; 3] = array::from_fn(|i| Plane::at(s, sums, of_image, border, i as u32));
            weighted_row_sums(
                sweep,
                size,
                |i| s.load_constant(taps, i as usize) as $sum,
                (|x| planes[0].column(x), width),
                |row, column| -> [$sum; 3] { array::from_fn(|i| planes[i].sample(row, column)) },
                |y, sums| to.store(sweep.x, y, [sums[0] as f32, sums[1] as f32, sums[2] as f32]),
            );
        }
    )*};
}

across! {
    window_rows_response_i32: i32;
    window_rows_response_i64: i64;
    window_rows_response_f32: f32;
}

macro_rules! boxes {
    ($($name:ident: $sum:ident;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            gx: S::Buffer<i32>,
            gy: S::Buffer<i32>,
            response: S::Buffer<f32>,
            width: u32,
            height: u32,
            rows: u32,
            channels: u32,
            size: u32,
            border: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            frame: u32,
        ) {
            let frame = (frame, frame);
            let of_image = Size { width, height };
            let to = Response { s, to: response, size: of_image, scale, measure, parameter, frame };
            let tile = Tile::new(s, of_image, rows, size, border);
            respond_box::<S, $sum>(tile, [gx, gy], channels, |x, y, sums| {
                to.store(x, y, [sums[0] as f32, sums[1] as f32, sums[2] as f32]);
            });
        }
    )*};
}

boxes! {
    box_response_i32: i32;
    box_response_i64: i64;
}

/// Sweeps down a tile of stacks of gradients. `store` takes each pixel's window sums of gx², gx·gy
/// and gy².
#[inline(always)]
fn respond_box<S: Simt, T: Integer>(
    tile: Tile<S>,
    [gx, gy]: [S::Buffer<i32>; 2],
    channels: u32,
    store: impl Fn(u32, u32, [T; 3]),
) {
    let (top, bottom, r) = (tile.top, tile.bottom, tile.radius);
    let at = |channel: u32, y: i32| [tile.row(gx, channel, y), tile.row(gy, channel, y)];
    let mut sums = [[T::ZERO; COLUMNS_PER_THREAD]; 3];
    // Adds products, or takes them off: what enters the window, or leaves it.
    let add = |sums: &mut [[T; COLUMNS_PER_THREAD]; 3],
               [gx, gy]: [[i32; COLUMNS_PER_THREAD]; 2],
               leaves: bool| {
        for i in 0..COLUMNS_PER_THREAD {
            let (x, y) = (T::from(gx[i]), T::from(gy[i]));
            let [with_x, with_y] =
                if leaves { [T::from(gx[i].wrapping_neg()), T::from(gy[i].wrapping_neg())] } else { [x, y] };
            sums[0][i] = sums[0][i].plus(x * with_x);
            sums[1][i] = sums[1][i].plus(y * with_x);
            sums[2][i] = sums[2][i].plus(y * with_y);
        }
    };
    for y in top - r..=top + r {
        for channel in 0..channels {
            add(&mut sums, at(channel, y), false);
        }
    }
    // The gradients of the first channel are loaded a row ahead.
    let change = |channel: u32, y: i32| [at(channel, y + r + 1), at(channel, y - r)];
    let mut ahead = change(0, top);
    for y in top..bottom {
        let first = ahead;
        ahead = change(0, y + 1);
        tile.scan(sums);
        for k in 0..COLUMNS_PER_THREAD {
            if let Some(x) = tile.pixel(k) {
                store(x, y as u32, array::from_fn(|kind| tile.box_sum(kind, k)));
            }
        }
        for channel in 0..channels {
            let [enters, leaves] = if channel == 0 { first } else { change(channel, y) };
            add(&mut sums, enters, false);
            add(&mut sums, leaves, true);
        }
    }
}

/// The response of the tensor \[a b; b c\], with square roots as `root` draws them.
///
#[inline(always)]
pub(crate) fn measure(root: impl Fn(f32) -> f32, kind: u32, parameter: f32, a: f32, b: f32, c: f32) -> f32 {
    let half = (a - c) * 0.5;
    by_measure(kind, parameter, [a, b, c], || [(a + c) * 0.5, root(half * half + b * b)])
}

/// What a and c are multiplied by for [`measure_of_halves`].
#[inline(always)]
pub(crate) fn scale_of_squares(kind: u32) -> f32 {
    knows_all_measures!();
    if kind == measure::SHI_TOMASI || kind == measure::TRIGGS { 0.5 } else { 1.0 }
}

/// The response of the tensor \[a b; b c\] whose a and c are multiplied by [`scale_of_squares`]:
/// measures of eigenvalues take halves, where these are exact.
#[inline(always)]
pub(crate) fn measure_of_halves(
    root: impl Fn(f32) -> f32,
    kind: u32,
    parameter: f32,
    a: f32,
    b: f32,
    c: f32,
) -> f32 {
    let half = a - c;
    by_measure(kind, parameter, [a, b, c], || [a + c, root(half * half + b * b)])
}

/// The response of the tensor \[a b; b c\] by a measure. `eigenvalues` makes their mean and half their
/// difference.
#[inline(always)]
fn by_measure(kind: u32, parameter: f32, [a, b, c]: [f32; 3], eigenvalues: impl Fn() -> [f32; 2]) -> f32 {
    let trace = a + c;
    let det = (a * c) - (b * b);
    match_measure!(kind, {
        HARRIS => det - (parameter * trace) * trace,
        SHI_TOMASI => {
            let [mean, half] = eigenvalues();
            mean - half
        },
        TRIGGS => {
            let [mean, half] = eigenvalues();
            (mean - half) - parameter * (mean + half)
        },
        NOBLE => (2.0 * det) / (trace + parameter),
    })
}
