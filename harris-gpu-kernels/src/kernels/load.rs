//! Samples as stages compute on them.

use super::geometry::Size;
use crate::{Simt, Word};

pub(crate) fn load_u8<S: Simt>(
    s: S,
    image: S::Buffer<u8>,
    planes: S::Buffer<i32>,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
) {
    load(s, image, planes, Size { width, height }, channels, stride, i32::from);
}

pub(crate) fn load_u16<S: Simt>(
    s: S,
    image: S::Buffer<u16>,
    planes: S::Buffer<i32>,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
) {
    load(s, image, planes, Size { width, height }, channels, stride, i32::from);
}

pub(crate) fn load_f32<S: Simt>(
    s: S,
    image: S::Buffer<f32>,
    planes: S::Buffer<f32>,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
) {
    load(s, image, planes, Size { width, height }, channels, stride, |sample| sample);
}

#[inline(always)]
fn load<S: Simt, T: Word, U: Word>(
    s: S,
    image: S::Buffer<T>,
    planes: S::Buffer<U>,
    size: Size,
    channels: u32,
    stride: u64,
    convert: impl Fn(T) -> U,
) {
    let i = s.index();
    if i < size.pixels() {
        let (x, y) = size.place(i);
        let from = y as usize * stride as usize + x as usize * channels as usize;
        for channel in 0..channels as usize {
            let sample = s.load_constant(image, from + channel);
            s.store(planes, channel * size.pixels() as usize + i as usize, convert(sample));
        }
    }
}

pub(crate) fn to_float<S: Simt>(s: S, from: S::Buffer<i32>, to: S::Buffer<f32>, count: u64) {
    let i = s.block() as usize * s.threads() as usize + s.thread() as usize;
    if i < count as usize {
        s.store(to, i, s.load_constant(from, i) as f32);
    }
}
