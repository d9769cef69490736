//! Products of gradients, summed over channels and along the columns of the window.

use super::geometry::{Size, inside};
use super::lines::weighted_column_sums;
use super::number::Number;
use super::thread_per_column::ColumnSweep;
use crate::{Simt, Word};

/// The products of gradients in a column: gx·gx, gx·gy and gy·gy.
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
    /// The row that stands for row `y`; none if its products are zero.
    #[inline(always)]
    fn row(&self, y: i32) -> Option<u32> {
        inside(self.border, y, self.size.height)
    }

    /// The three products in a row of the thread's column, summed over the channels.
    #[inline(always)]
    fn at<U: Number>(&self, row: Option<u32>, convert: impl Fn(T) -> U) -> [U; 3] {
        let Some(y) = row else { return [U::ZERO; 3] };
        let i = self.size.index(self.x, y) as usize;
        let products = |channel: u32| {
            let i = channel as usize * self.size.pixels() as usize + i;
            let (gx, gy) = (self.s.load_constant(self.gx, i), self.s.load_constant(self.gy, i));
            let (gx, gy) = (convert(gx), convert(gy));
            [gx * gx, gx * gy, gy * gy]
        };
        let mut sums = products(0);
        for channel in 1..self.channels {
            let next = products(channel);
            sums = [sums[0] + next[0], sums[1] + next[1], sums[2] + next[2]];
        }
        sums
    }

    /// Writes the three sums of a pixel to a stack of planes.
    #[inline(always)]
    fn store<U: Number>(&self, to: S::Buffer<U>, y: u32, sums: [U; 3]) {
        let (i, plane) = (self.size.index(self.x, y) as usize, self.size.pixels() as usize);
        self.s.store(to, i, sums[0]);
        self.s.store(to, plane + i, sums[1]);
        self.s.store(to, 2 * plane + i, sums[2]);
    }
}

pub(crate) fn gradient_products_f32<S: Simt>(
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
    let sweep = ColumnSweep::new(s, size, rows);
    let products_of = Products { s, gx, gy, size, channels, border: 0, x: sweep.x };
    sweep
        .down(|y| products_of.at(Some(y), |gradient| gradient), |y, row| products_of.store(products, y, row));
}

macro_rules! weighted_products {
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
            let sweep = ColumnSweep::new(s, of_image, rows);
            let products = Products { s, gx, gy, size: of_image, channels, border, x: sweep.x };
            weighted_column_sums(
                sweep,
                size,
                |i| s.load_constant(taps, i as usize) as $sum,
                (|y| products.row(y), height),
                |row| products.at(row, $product::from).map($convert),
                |y, row: [$sum; 3]| products.store(sums, y, row),
            );
        }
    )*};
}

weighted_products! {
    window_columns_i32: i32, i32, i32, |product| product;
    window_columns_i64: i32, i64, i64, |product| product;
    window_columns_rounded: i32, i64, f32, |product| product as f32;
    window_columns_f32: f32, f32, f32, |product| product;
}
