//! Products of gradients, summed over the channels.

use super::geometry::Size;
use super::number::Number;
use crate::{Simt, Word};

pub(crate) fn products_i32<S: Simt>(
    s: S,
    gx: S::Buffer<i32>,
    gy: S::Buffer<i32>,
    products: S::Buffer<i64>,
    width: u32,
    height: u32,
    channels: u32,
) {
    multiply(s, gx, gy, products, Size { width, height }, channels, i64::from);
}

pub(crate) fn products_f32<S: Simt>(
    s: S,
    gx: S::Buffer<f32>,
    gy: S::Buffer<f32>,
    products: S::Buffer<f32>,
    width: u32,
    height: u32,
    channels: u32,
) {
    multiply(s, gx, gy, products, Size { width, height }, channels, |gradient| gradient);
}

#[inline(always)]
fn multiply<S: Simt, T: Word, U: Number>(
    s: S,
    gx: S::Buffer<T>,
    gy: S::Buffer<T>,
    products: S::Buffer<U>,
    size: Size,
    channels: u32,
    convert: impl Fn(T) -> U,
) {
    let i = s.index();
    let pixels = size.pixels();
    if i < pixels {
        let of = |channel: u32| {
            let i = channel as usize * pixels as usize + i as usize;
            let (gx, gy) = (convert(s.load_constant(gx, i)), convert(s.load_constant(gy, i)));
            [gx * gx, gx * gy, gy * gy]
        };
        let mut sums = of(0);
        for channel in 1..channels {
            let more = of(channel);
            sums = [sums[0] + more[0], sums[1] + more[1], sums[2] + more[2]];
        }
        let (i, plane) = (i as usize, pixels as usize);
        s.store(products, i, sums[0]);
        s.store(products, plane + i, sums[1]);
        s.store(products, 2 * plane + i, sums[2]);
    }
}

pub(crate) fn round<S: Simt>(s: S, from: S::Buffer<i64>, to: S::Buffer<f32>, count: u64) {
    let i = s.block() as usize * s.threads() as usize + s.thread() as usize;
    if i < count as usize {
        s.store(to, i, s.load_constant(from, i) as f32);
    }
}
