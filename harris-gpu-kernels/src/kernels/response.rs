//! The response of the structure tensor, one operation each, in this order.

use core::array;

use super::boxes::{self, EACH_SUMMED};
use super::geometry::{Plane, Size};
use super::lines::weigh_across;
use super::runs::Run;
use crate::Simt;
use crate::abi::boxes::PIECE;
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
    frame: u32,
}

impl<S: Simt> Response<S> {
    /// Leaves the response of a pixel's window sums.
    #[inline(always)]
    fn store(self, x: u32, y: u32, sums: [f32; 3]) {
        let Self { s, size, scale, .. } = self;
        let [a, b, c] = [sums[0] * scale, sums[1] * scale, sums[2] * scale];
        let value = match size.within(self.frame, x, y) {
            true => measure(|square| s.sqrt(square), self.measure, self.parameter, a, b, c),
            false => 0.0,
        };
        s.store(self.to, size.number(x, y) as usize, value);
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
) {
    let size = Size { width, height };
    let run = Run::new(s, size, rows);
    let to = Response { s, to: response, size, scale, measure, parameter, frame };
    let fetch = |y: u32| -> [f32; 3] {
        let i = size.number(run.x, y) as usize;
        array::from_fn(|plane| s.load_constant(sums, plane * size.pixels() as usize + i))
    };
    run.down(fetch, |y, sums| to.store(run.x, y, sums));
}

macro_rules! across {
    ($($boxes:ident, $weighted:ident: $sum:ident;)*) => {$(
        across!(boxes $boxes: $sum);

        pub(crate) fn $weighted<S: Simt>(
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
        ) {
            let of_image = Size { width, height };
            let run = Run::new(s, of_image, rows);
            let to = Response { s, to: response, size: of_image, scale, measure, parameter, frame };
            let planes: [_; 3] = array::from_fn(|i| Plane::numbered(s, sums, of_image, border, i as u32));
            weigh_across(
                run,
                size,
                |i| s.load_constant(taps, i as usize) as $sum,
                (|x| planes[0].column(x), width),
                |row, column| -> [$sum; 3] { array::from_fn(|i| planes[i].sample(row, column)) },
                |y, sums| to.store(run.x, y, [sums[0] as f32, sums[1] as f32, sums[2] as f32]),
            );
        }
    )*};
    (boxes none: $sum:ident) => {};
    (boxes $boxes:ident: $sum:ident) => {
        pub(crate) fn $boxes<S: Simt>(
            s: S,
            sums: S::Buffer<$sum>,
            response: S::Buffer<f32>,
            width: u32,
            height: u32,
            size: u32,
            border: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            frame: u32,
        ) {
            let of_image = Size { width, height };
            let to = Response { s, to: response, size: of_image, scale, measure, parameter, frame };
            let (left, y) = boxes::piece(s, width);
            let scan = |plane: u32| {
                let plane = Plane::numbered(s, sums, of_image, border, plane);
                boxes::scan(s, plane, left, y, size / 2);
            };
            // As they are rounded: the sums themselves take twice the registers.
            let sum = |k: usize| boxes::whole::<S, $sum>(s, boxes::pixel(s, k as u32), size) as f32;
            let of_plane = |plane: u32| -> [f32; EACH_SUMMED] {
                scan(plane);
                let sums = array::from_fn(sum);
                // The cells are about to be written anew.
                s.barrier();
                sums
            };
            let (a, b) = (of_plane(0), of_plane(1));
            scan(2);
            for k in 0..EACH_SUMMED {
                let x = left + boxes::pixel(s, k as u32);
                if x < width {
                    to.store(x, y, [a[k], b[k], sum(k)]);
                }
            }
        }
    };
}

across! {
    respond_box_i32, respond_weighted_i32: i32;
    respond_box_i64, respond_weighted_i64: i64;
    none, respond_weighted_f32: f32;
}

const _: () = assert!(PIECE as usize == 256 * EACH_SUMMED, "a block sums a piece");

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
