//! Products of gradients, summed over the channels, and down the window.

use core::array;

use super::geometry::{Size, inside};
use super::lines::weigh_down;
use super::number::Number;
use super::runs::{Run, at_once};
use crate::{Simt, Word};

/// What the window adds up.
struct Products<S: Simt, T: Word> {
    s: S,
    gx: S::Buffer<T>,
    gy: S::Buffer<T>,
    size: Size,
    channels: u32,
    border: u32,
    x: u32,
}

impl<S: Simt, T: Word> Products<S, T> {
    /// The row that stands for row y; none where products are zero.
    #[inline(always)]
    fn row(&self, y: i32) -> Option<u32> {
        inside(self.border, y, self.size.height)
    }

    /// gx·gx, gx·gy and gy·gy of a row of the thread's column.
    #[inline(always)]
    fn at<U: Number>(&self, row: Option<u32>, convert: impl Fn(T) -> U) -> [U; 3] {
        let Some(y) = row else { return [U::ZERO; 3] };
        let i = self.size.number(self.x, y) as usize;
        let of = |channel: u32| {
            let i = channel as usize * self.size.pixels() as usize + i;
            let (gx, gy) = (self.s.load_constant(self.gx, i), self.s.load_constant(self.gy, i));
            let (gx, gy) = (convert(gx), convert(gy));
            [gx * gx, gx * gy, gy * gy]
        };
        let mut sums = of(0);
        for channel in 1..self.channels {
            let more = of(channel);
            sums = [sums[0] + more[0], sums[1] + more[1], sums[2] + more[2]];
        }
        sums
    }

    /// Leaves the three of a pixel in a stack.
    #[inline(always)]
    fn store<U: Number>(&self, to: S::Buffer<U>, y: u32, sums: [U; 3]) {
        let (i, plane) = (self.size.number(self.x, y) as usize, self.size.pixels() as usize);
        self.s.store(to, i, sums[0]);
        self.s.store(to, plane + i, sums[1]);
        self.s.store(to, 2 * plane + i, sums[2]);
    }
}

pub(crate) fn products_f32<S: Simt>(
    s: S,
    gx: S::Buffer<f32>,
    gy: S::Buffer<f32>,
    products: S::Buffer<f32>,
    width: u32,
    height: u32,
    rows: u32,
    channels: u32,
) {
    let size = Size { width, height };
    let run = Run::new(s, size, rows);
    let of = Products { s, gx, gy, size, channels, border: 0, x: run.x };
    run.down(|y| of.at(Some(y), |gradient| gradient), |y, row| of.store(products, y, row));
}

macro_rules! slides {
    ($($name:ident: $sum:ident;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            gx: S::Buffer<i32>,
            gy: S::Buffer<i32>,
            sums: S::Buffer<$sum>,
            width: u32,
            height: u32,
            rows: u32,
            channels: u32,
            size: u32,
            border: u32,
        ) {
            let of_image = Size { width, height };
            let run = Run::new(s, of_image, rows);
            slide(Products { s, gx, gy, size: of_image, channels, border, x: run.x }, sums, run, size, $sum::from);
        }
    )*};
}

slides! {
    slide_i32: i32;
    slide_i64: i64;
}

/// Boxes of exact numbers, each from the one above.
#[inline(always)]
fn slide<S: Simt, T: Word, U: Number>(
    products: Products<S, T>,
    to: S::Buffer<U>,
    run: Run,
    size: u32,
    convert: impl Fn(T) -> U + Copy,
) {
    if run.top == run.bottom {
        return;
    }
    let (top, r) = (run.top as i32, (size / 2) as i32);
    let at = |y: i32| products.at(products.row(y), convert);
    let sum = |a: [U; 3], b: [U; 3]| [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
    let mut sums = [U::ZERO; 3];
    for y in top - r..=top + r {
        sums = sum(sums, at(y));
    }
    let change = |y: i32| -> [U; 3] {
        let (enters, leaves) = (at(y + r + 1), at(y - r));
        array::from_fn(|i| enters[i] - leaves[i])
    };
    // More at once, of 64 bits, and registers would not do.
    at_once(top, run.bottom as i32, change, |y, changes: [_; 2]| {
        for i in 0..2 {
            if y + (i as i32) < run.bottom as i32 {
                products.store(to, y as u32 + i as u32, sums);
                sums = sum(sums, changes[i]);
            }
        }
    });
}

macro_rules! weighs {
    ($($name:ident: $gradient:ident, $product:ident, $sum:ident, $convert:expr;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            gx: S::Buffer<$gradient>,
            gy: S::Buffer<$gradient>,
            sums: S::Buffer<$sum>,
            taps: S::Buffer<f32>,
            width: u32,
            height: u32,
            rows: u32,
            channels: u32,
            size: u32,
            border: u32,
        ) {
            let of_image = Size { width, height };
            let run = Run::new(s, of_image, rows);
            let products = Products { s, gx, gy, size: of_image, channels, border, x: run.x };
            weigh_down(
                run,
                size,
                |i| s.load_constant(taps, i as usize) as $sum,
                (|y| products.row(y), height),
                |row| products.at(row, $product::from).map($convert),
                |y, row: [$sum; 3]| products.store(sums, y, row),
            );
        }
    )*};
}

weighs! {
    weigh_i32: i32, i32, i32, |product| product;
    weigh_i64: i32, i64, i64, |product| product;
    weigh_rounded: i32, i64, f32, |product| product as f32;
    weigh_f32: f32, f32, f32, |product| product;
}
