//! Subpixel refinement: moves a corner to the point where the edges around it meet (Förstner &
//! Gülch 1987).

use core::array;

use super::geometry::Size;
use crate::abi::refine::MAX_RADIUS;
use crate::abi::{Kernel, state};
use crate::simt::WARP;
use crate::{Simt, Word};

/// Iterations; each starts at the point that the one before found.
const ITERATIONS: u32 = 4;
/// Greatest determinant of a tensor of trace 1 that counts as an edge, not a corner.
const MAX_EDGE_DETERMINANT: f32 = 1.0 / 256.0;

/// Sums over the window: three of the tensor, two of the right-hand side.
const SUMS: u32 = 5;
/// Cells of shared memory for a warp's terms of a sum. One more than needed avoids bank conflicts.
const SUM_CELLS: u32 = WARP / 2 + 1;
/// The word of shared memory where products of gradients begin: three for each pixel, a warp at a
/// time.
const PRODUCTS: u32 = 2 * SUMS * SUM_CELLS;
/// Pixels of the greatest window.
const PIXELS: u32 = (2 * MAX_RADIUS + 1) * (2 * MAX_RADIUS + 1);
/// Cells of shared memory.
const CELLS: u32 = (PRODUCTS + 3 * PIXELS.next_multiple_of(WARP)) / 2;

const _: () = assert!(Kernel::refine_u8.cells() == CELLS);
const _: () = assert!(Kernel::refine_u16.cells() == CELLS && Kernel::refine_f32.cells() == CELLS);

pub(crate) fn refine_u8<S: Simt>(
    s: S,
    image: S::Buffer<u8>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    most: u32,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
    radius: u32,
) {
    let count = s.load_constant(state, state::LENGTH).min(most);
    refine(s, Samples { s, image, size: Size { width, height }, channels, stride }, keypoints, count, radius);
}

pub(crate) fn refine_u16<S: Simt>(
    s: S,
    image: S::Buffer<u16>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    most: u32,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
    radius: u32,
) {
    let count = s.load_constant(state, state::LENGTH).min(most);
    refine(s, Samples { s, image, size: Size { width, height }, channels, stride }, keypoints, count, radius);
}

pub(crate) fn refine_f32<S: Simt>(
    s: S,
    image: S::Buffer<f32>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    most: u32,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
    radius: u32,
) {
    let count = s.load_constant(state, state::LENGTH).min(most);
    refine(s, Samples { s, image, size: Size { width, height }, channels, stride }, keypoints, count, radius);
}

/// An image of interleaved samples.
#[derive(Clone, Copy)]
struct Samples<S: Simt, T: Word> {
    s: S,
    image: S::Buffer<T>,
    size: Size,
    channels: u32,
    stride: u64,
}

#[inline(always)]
fn refine<S: Simt, T: Word + Into<f32>>(
    s: S,
    samples: Samples<S, T>,
    keypoints: S::Buffer<f32>,
    count: u32,
    radius: u32,
) {
    let (right, bottom) = ((samples.size.width - 1) as f32, (samples.size.height - 1) as f32);
    let mut i = s.block();
    while i < count {
        let at = 4 * i as usize;
        // Corners start at centres of pixels: their coordinates are integers.
        let (column, row) = (s.load(keypoints, at) as i32, s.load(keypoints, at + 1) as i32);
        let (dx, dy) = samples.meeting_point(column, row, radius);
        let (u, v) = (column as f32 + dx, row as f32 + dy);
        // All lanes have read the old coordinates.
        if s.lane() == 0 && u >= 0.0 && v >= 0.0 && u <= right && v <= bottom {
            s.store(keypoints, at, u);
            s.store(keypoints, at + 1, v);
        }
        i += s.blocks();
    }
}

impl<S: Simt, T: Word + Into<f32>> Samples<S, T> {
    /// Offset from the centre of a pixel to the point where the edges around it meet.
    ///
    /// It is 0 if they do not meet, or meet outside the window. Each lane processes a pixel at a
    /// time. Each sum is computed by one lane, because the order of its terms is part of the
    /// arithmetic contract.
    #[inline(always)]
    fn meeting_point(self, x: i32, y: i32, radius: u32) -> (f32, f32) {
        let s = self.s;
        let limit = radius as f32;
        let inverse_square = 1.0 / (limit * limit);
        let side = 2 * radius + 1;
        // k · rows >> 16 equals k / side for all indices k of pixels, which are less than 1024.
        let rows = (1 << 16) / side + 1;
        let own = s.lane().min(SUMS - 1);
        let radius = radius as i32;
        let (mut ex, mut ey) = (0.0_f32, 0.0_f32);
        let mut cached = (i32::MAX, i32::MAX);
        let mut iteration = 0;
        while iteration < ITERATIONS {
            let from = (nearest(ex) - radius, nearest(ey) - radius);
            let mut sum = 0.0_f32;
            let mut first = 0;
            while first < side * side {
                let k = first + s.lane();
                let j = (k * rows) >> 16;
                let (i, j) = (from.0 + (k - j * side) as i32, from.1 + j as i32);
                let (u, v) = (i as f32 - ex, j as f32 - ey);
                let square = (u * u + v * v) * inverse_square;
                let falloff = 1.0 - square;
                let is_pixel = k < side * side && self.has_neighbours(x + i, y + j);
                // Most iterations have the same pixels, so products are cached.
                let word = PRODUCTS + 3 * first + s.lane();
                if is_pixel && from != cached {
                    let (xx, xy, yy) = self.products(x + i, y + j);
                    s.set_shared_word(word, xx.to_bits());
                    s.set_shared_word(word + WARP, xy.to_bits());
                    s.set_shared_word(word + 2 * WARP, yy.to_bits());
                }
                // Pixels outside the window or the image add 0, which changes no sum.
                let mut terms = [0.0; SUMS as usize];
                if is_pixel && falloff > 0.0 {
                    let product = |n: u32| f32::from_bits(s.shared_word(word + n * WARP));
                    let (xx, xy, yy) = (product(0), product(1), product(2));
                    let weight = (falloff * falloff) * square;
                    let (p, q, r) = (weight * xx, weight * xy, weight * yy);
                    terms = [p, q, r, p * u + q * v, q * u + r * v];
                }
                // All lanes have added the terms before.
                s.warp_barrier();
                for n in 0..SUMS {
                    s.set_shared_word(2 * SUM_CELLS * n + s.lane(), terms[n as usize].to_bits());
                }
                s.warp_barrier();
                let cells: [u64; WARP as usize / 2] =
                    array::from_fn(|n| s.shared(SUM_CELLS * own + n as u32));
                for n in 0..WARP as usize / 2 {
                    sum += f32::from_bits(cells[n] as u32);
                    sum += f32::from_bits((cells[n] >> 32) as u32);
                }
                first += WARP;
            }
            cached = from;
            let sum_of = |lane: u32| f32::from_bits(s.shuffle(sum.to_bits(), lane));
            let (a, b, c, m, n) = (sum_of(0), sum_of(1), sum_of(2), sum_of(3), sum_of(4));
            let trace = a + c;
            if trace < f32::MIN_POSITIVE {
                return (0.0, 0.0);
            }
            let inverse = 1.0 / trace;
            let (a, b, c, m, n) = (a * inverse, b * inverse, c * inverse, m * inverse, n * inverse);
            let determinant = a * c - b * b;
            if determinant <= MAX_EDGE_DETERMINANT {
                return (0.0, 0.0);
            }
            let inverse = 1.0 / determinant;
            (ex, ey) = (ex + (c * m - b * n) * inverse, ey + (a * n - b * m) * inverse);
            if ex.abs() > limit || ey.abs() > limit {
                return (0.0, 0.0);
            }
            iteration += 1;
        }
        (ex, ey)
    }

    /// Whether all eight neighbours of a pixel lie inside the image.
    #[inline(always)]
    fn has_neighbours(self, x: i32, y: i32) -> bool {
        x >= 1 && y >= 1 && x + 1 < self.size.width as i32 && y + 1 < self.size.height as i32
    }

    /// Products of Scharr gradients, xx, xy and yy, summed over the channels.
    #[inline(always)]
    fn products(self, x: i32, y: i32) -> (f32, f32, f32) {
        let stride = self.stride as usize;
        let above = (y - 1) as usize * stride + (x - 1) as usize * self.channels as usize;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        let mut channel = 0;
        while channel < self.channels {
            let p = |column: u32, row: usize| -> f32 {
                let index = above + row * stride + (column * self.channels + channel) as usize;
                self.s.load_constant(self.image, index).into()
            };
            let (north_west, north, north_east) = (p(0, 0), p(1, 0), p(2, 0));
            let (west, east) = (p(0, 1), p(2, 1));
            let (south_west, south, south_east) = (p(0, 2), p(1, 2), p(2, 2));
            let gx = 3.0 * ((north_east - north_west) + (south_east - south_west)) + 10.0 * (east - west);
            let upper = 3.0 * (north_west + north_east) + 10.0 * north;
            let lower = 3.0 * (south_west + south_east) + 10.0 * south;
            let gy = lower - upper;
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
            channel += 1;
        }
        (xx, xy, yy)
    }
}

/// The nearest integer, halves rounded away from 0.
#[inline(always)]
fn nearest(value: f32) -> i32 {
    if value < 0.0 { (value - 0.5) as i32 } else { (value + 0.5) as i32 }
}
