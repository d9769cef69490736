//! Corners between pixels, where edges meet (Förstner & Gülch 1987).

use core::array;

use super::geometry::Size;
use crate::abi::refine::MOST_RADIUS;
use crate::abi::{Kernel, state};
use crate::simt::WARP;
use crate::{Simt, Word};

/// Rounds, each around the place that the one before found.
const ROUNDS: u32 = 4;
/// Determinants up to here, of a trace of 1, are those of edges.
const EDGE: f32 = 1.0 / 256.0;

/// Sums, and the cells of shared memory for a warp's terms of each: one more than these need, so
/// that no two lanes' are in one bank.
const SUMS: u32 = 5;
const EACH: u32 = WARP / 2 + 1;
/// The word where products of gradients begin, three of each pixel, a warp's at a time; and all
/// cells.
const PRODUCTS: u32 = 2 * SUMS * EACH;
const PIXELS: u32 = (2 * MOST_RADIUS + 1) * (2 * MOST_RADIUS + 1);
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
    let count = s.load_constant(state, state::KEPT).min(most);
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
    let count = s.load_constant(state, state::KEPT).min(most);
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
    let count = s.load_constant(state, state::KEPT).min(most);
    refine(s, Samples { s, image, size: Size { width, height }, channels, stride }, keypoints, count, radius);
}

/// An image, its channels interleaved.
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
        // At a pixel's centre: whole numbers.
        let (column, row) = (s.load(keypoints, at) as i32, s.load(keypoints, at + 1) as i32);
        let (dx, dy) = samples.meeting_point(column, row, radius);
        let (u, v) = (column as f32 + dx, row as f32 + dy);
        // All lanes have read where it was.
        if s.lane() == 0 && u >= 0.0 && v >= 0.0 && u <= right && v <= bottom {
            s.store(keypoints, at, u);
            s.store(keypoints, at + 1, v);
        }
        i += s.blocks();
    }
}

impl<S: Simt, T: Word + Into<f32>> Samples<S, T> {
    /// From a pixel's centre to where the edges around it meet; no way where they do not, or out of
    /// reach. Lanes have a pixel each at a time; the sums, whose terms have an order, are a lane's
    /// each.
    #[inline(always)]
    fn meeting_point(self, x: i32, y: i32, radius: u32) -> (f32, f32) {
        let s = self.s;
        let reach = radius as f32;
        let per_square = 1.0 / (reach * reach);
        let side = 2 * radius + 1;
        // k · rows >> 16 is k / side for all pixels' numbers k, which are less than 1024.
        let rows = (1 << 16) / side + 1;
        let own = s.lane().min(SUMS - 1);
        let radius = radius as i32;
        let (mut ex, mut ey) = (0.0_f32, 0.0_f32);
        let mut known = (i32::MAX, i32::MAX);
        let mut round = 0;
        while round < ROUNDS {
            let from = (nearest(ex) - radius, nearest(ey) - radius);
            let mut sum = 0.0_f32;
            let mut first = 0;
            while first < side * side {
                let k = first + s.lane();
                let j = (k * rows) >> 16;
                let (i, j) = (from.0 + (k - j * side) as i32, from.1 + j as i32);
                let (u, v) = (i as f32 - ex, j as f32 - ey);
                let square = (u * u + v * v) * per_square;
                let inside = 1.0 - square;
                let is_one = k < side * side && self.has_neighbours(x + i, y + j);
                // Most rounds are around the same pixels.
                let place = PRODUCTS + 3 * first + s.lane();
                if is_one && from != known {
                    let (xx, xy, yy) = self.products(x + i, y + j);
                    s.set_shared_word(place, xx.to_bits());
                    s.set_shared_word(place + WARP, xy.to_bits());
                    s.set_shared_word(place + 2 * WARP, yy.to_bits());
                }
                // Nothing is added for others: what is left out changes no sum, and neither does 0.
                let mut terms = [0.0; SUMS as usize];
                if is_one && inside > 0.0 {
                    let product = |n: u32| f32::from_bits(s.shared_word(place + n * WARP));
                    let (xx, xy, yy) = (product(0), product(1), product(2));
                    let weight = (inside * inside) * square;
                    let (p, q, r) = (weight * xx, weight * xy, weight * yy);
                    terms = [p, q, r, p * u + q * v, q * u + r * v];
                }
                // All have added those before.
                s.barrier_of_warp();
                for n in 0..SUMS {
                    s.set_shared_word(2 * EACH * n + s.lane(), terms[n as usize].to_bits());
                }
                s.barrier_of_warp();
                let cells: [u64; WARP as usize / 2] = array::from_fn(|n| s.shared(EACH * own + n as u32));
                for n in 0..WARP as usize / 2 {
                    sum += f32::from_bits(cells[n] as u32);
                    sum += f32::from_bits((cells[n] >> 32) as u32);
                }
                first += WARP;
            }
            known = from;
            let of = |lane: u32| f32::from_bits(s.shuffle(sum.to_bits(), lane));
            let (a, b, c, m, n) = (of(0), of(1), of(2), of(3), of(4));
            let trace = a + c;
            if trace < f32::MIN_POSITIVE {
                return (0.0, 0.0);
            }
            let inverse = 1.0 / trace;
            let (a, b, c, m, n) = (a * inverse, b * inverse, c * inverse, m * inverse, n * inverse);
            let determinant = a * c - b * b;
            if determinant <= EDGE {
                return (0.0, 0.0);
            }
            let inverse = 1.0 / determinant;
            (ex, ey) = (ex + (c * m - b * n) * inverse, ey + (a * n - b * m) * inverse);
            if ex.abs() > reach || ey.abs() > reach {
                return (0.0, 0.0);
            }
            round += 1;
        }
        (ex, ey)
    }

    #[inline(always)]
    fn has_neighbours(self, x: i32, y: i32) -> bool {
        x >= 1 && y >= 1 && x + 1 < self.size.width as i32 && y + 1 < self.size.height as i32
    }

    /// The products of Scharr's gradient, summed over the channels.
    #[inline(always)]
    fn products(self, x: i32, y: i32) -> (f32, f32, f32) {
        let stride = self.stride as usize;
        let above = (y - 1) as usize * stride + (x - 1) as usize * self.channels as usize;
        let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
        let mut channel = 0;
        while channel < self.channels {
            let p = |column: u32, row: usize| -> f32 {
                let place = above + row * stride + (column * self.channels + channel) as usize;
                self.s.load_constant(self.image, place).into()
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

/// The nearest integer, halves away from 0.
#[inline(always)]
fn nearest(value: f32) -> i32 {
    if value < 0.0 { (value - 0.5) as i32 } else { (value + 0.5) as i32 }
}
