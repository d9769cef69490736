//! Conversion of samples to the number types of the staged kernels.

use core::cell::Cell;

use super::geometry::Size;
use super::thread_per_column::ColumnSweep;
use crate::abi::fused::MAX_SAMPLE;
use crate::abi::state;
use crate::{Simt, Word};

macro_rules! loads {
    ($($name:ident: $sample:ident, $plane:ident, $convert:expr;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<$sample>,
            planes: S::Buffer<$plane>,
            width: u32,
            height: u32,
            rows: u32,
            channels: u32,
            stride: u64,
        ) {
            load(s, image, planes, Size { width, height }, rows, channels, stride, $convert);
        }
    )*};
}

loads! {
    load_u8: u8, i32, i32::from;
    load_u16: u16, i32, i32::from;
    load_u8_as_f32: u8, f32, f32::from;
    load_u16_as_f32: u16, f32, f32::from;
}

/// Copies float samples to planes; records in the state whether a sample is NaN, infinite or too
/// large.
pub(crate) fn load_f32<S: Simt>(
    s: S,
    image: S::Buffer<f32>,
    planes: S::Buffer<f32>,
    state: S::Buffer<u32>,
    width: u32,
    height: u32,
    rows: u32,
    channels: u32,
    stride: u64,
) {
    let valid = Cell::new(true);
    load(s, image, planes, Size { width, height }, rows, channels, stride, |sample: f32| {
        valid.set(valid.get() && sample.abs() <= MAX_SAMPLE);
        sample
    });
    if !valid.get() {
        s.atomic_max(state, state::INVALID, 1);
    }
}

#[inline(always)]
fn load<S: Simt, T: Word, U: Word>(
    s: S,
    image: S::Buffer<T>,
    planes: S::Buffer<U>,
    size: Size,
    rows: u32,
    channels: u32,
    stride: u64,
    convert: impl Fn(T) -> U,
) {
    let sweep = ColumnSweep::new(s, size, rows);
    for channel in 0..channels as usize {
        let (from, to) = (sweep.x as usize * channels as usize + channel, channel * size.pixels() as usize);
        sweep.down(
            |y| s.load_constant(image, from + y as usize * stride as usize),
            |y, sample| s.store(planes, to + size.index(sweep.x, y) as usize, convert(sample)),
        );
    }
}

pub(crate) fn integers_to_f32<S: Simt>(s: S, from: S::Buffer<i32>, to: S::Buffer<f32>, count: u64) {
    let i = s.block() as usize * s.threads() as usize + s.thread() as usize;
    if i < count as usize {
        s.store(to, i, s.load_constant(from, i) as f32);
    }
}
