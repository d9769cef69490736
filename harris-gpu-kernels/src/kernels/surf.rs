//! The SURF descriptor, computed by one block for each keypoint.

use super::corner_list::CornerList;
use super::integral::Sums;
use crate::Simt;
use crate::abi::surf::{
    CIRCLE, CIRCLE_TABLE, DIRECTIONS, GRID, LENGTH, REGION, REGION_TABLE, REGIONS, REGIONS_TABLE,
    SECTOR_CELLS, SECTOR_TABLE, SPACING, VALUE_CELLS,
};

/// Two floats as a cell of shared memory.
#[inline(always)]
fn pack([x, y]: [f32; 2]) -> u64 {
    u64::from(x.to_bits()) << 32 | u64::from(y.to_bits())
}

/// The two floats of a cell.
#[inline(always)]
fn unpack(cell: u64) -> [f32; 2] {
    [f32::from_bits((cell >> 32) as u32), f32::from_bits(cell as u32)]
}

/// The nearest integer, halves rounded up: ⌊v + 0.5⌋.
#[inline(always)]
fn nearest(v: f32) -> i32 {
    let v = v + 0.5;
    let truncated = v as i32;
    if truncated as f32 > v { truncated - 1 } else { truncated }
}

/// Responses of the Haar wavelets in x and y at a pixel, over a square of side 2 · `half`; exact.
#[inline(always)]
fn haar<S: Simt>(sums: Sums<S>, x: i32, y: i32, half: i32) -> [f32; 2] {
    let columns = [sums.column(x - half), sums.column(x), sums.column(x + half)];
    let rows = [sums.row(y - half), sums.row(y), sums.row(y + half)];
    let at = |row: usize, column: usize| sums.at(rows[row], columns[column]);
    let [a, b, c, d] = [at(0, 0), at(0, 1), at(0, 2), at(1, 0)];
    let [e, f, g, h] = [at(1, 2), at(2, 0), at(2, 1), at(2, 2)];
    let between = |a: u32, b: u32, c: u32, d: u32| d.wrapping_sub(c).wrapping_sub(b.wrapping_sub(a));
    let across = between(b, c, g, h).wrapping_sub(between(a, b, f, g));
    let down = between(d, e, f, h).wrapping_sub(between(a, c, d, e));
    [across as i32 as f32, down as i32 as f32]
}

/// Computes the orientation, unless `upright`, and the descriptor of a keypoint.
///
/// The state counts the keypoints; there is none where they are more than `capacity`.
pub(crate) fn surf<S: Simt>(
    s: S,
    sums: S::Buffer<u32>,
    keypoints: S::Buffer<f32>,
    tables: S::Buffer<f32>,
    descriptors: S::Buffer<f32>,
    state: S::Buffer<u32>,
    width: u32,
    height: u32,
    pitch: u32,
    upright: u32,
    magnification: f32,
    capacity: u32,
    most: u32,
) {
    if s.block() >= CornerList::new(s, state, capacity, most).count {
        return;
    }
    let sums = Sums::new(s, sums, width, height, pitch);
    let keypoint = |word: usize| s.load_constant(keypoints, 4 * s.block() as usize + word);
    let (x, y, scale) = (keypoint(0), keypoint(1), keypoint(2) * magnification);
    let pixels = nearest(scale).max(1);
    let table = |i: u32| s.load_constant(tables, i as usize);

    let mut direction = [1.0, 0.0];
    if upright == 0 {
        let i = s.thread();
        if i < CIRCLE {
            let sample = |word: u32| table(CIRCLE_TABLE + 3 * i + word);
            let (u, v, weight) = (sample(0) as i32, sample(1) as i32, sample(2));
            let gradient = haar(sums, nearest(x) + u * pixels, nearest(y) + v * pixels, 2 * pixels);
            s.set_shared(i, pack(gradient.map(|sum| weight * sum)));
        }
        s.barrier();
        if i < DIRECTIONS {
            let end = |word: u32| table(SECTOR_TABLE + 4 * i + word);
            let (from, to) = ([end(0), end(1)], [end(2), end(3)]);
            let (mut x, mut y) = (0.0_f32, 0.0_f32);
            for sample in 0..CIRCLE {
                let g = unpack(s.shared(sample));
                if from[0] * g[1] - from[1] * g[0] >= 0.0 && g[0] * to[1] - g[1] * to[0] > 0.0 {
                    x += g[0];
                    y += g[1];
                }
            }
            s.set_shared(SECTOR_CELLS + i, pack([x, y]));
        }
        s.barrier();
        let mut greatest = 0.0;
        for sector in 0..DIRECTIONS {
            let [x, y] = unpack(s.shared(SECTOR_CELLS + sector));
            let strength = x * x + y * y;
            if strength > greatest {
                greatest = strength;
                direction = [x, y];
            }
        }
        if greatest > 0.0 {
            let length = s.sqrt(greatest);
            direction = direction.map(|value| value / length);
        }
    }
    let [cos, sin] = direction;

    let mut i = s.thread();
    while i < GRID * GRID {
        let offset = |i: u32| (i as f32 - 11.5) * scale;
        let (a, b) = (offset(i % GRID), offset(i / GRID));
        let (column, row) = (nearest(x + (a * cos - b * sin)), nearest(y + (a * sin + b * cos)));
        let [across, down] = haar(sums, column, row, pixels);
        s.set_shared(i, pack([across * cos + down * sin, down * cos - across * sin]));
        i += s.threads();
    }
    s.barrier();
    let i = s.thread();
    if i < LENGTH {
        // Each thread has one of Σdx, Σdy, Σ|dx|, Σ|dy| of a subregion.
        let (region, kind) = (i / 4, i % 4);
        let (left, top) = (region % REGIONS * SPACING, region / REGIONS * SPACING);
        let mut sum = 0.0;
        for j in 0..REGION * REGION {
            let g = unpack(s.shared((top + j / REGION) * GRID + left + j % REGION));
            let gradient = if kind % 2 == 0 { g[0] } else { g[1] };
            let weighted = table(REGION_TABLE + j) * gradient;
            sum += if kind < 2 { weighted } else { weighted.abs() };
        }
        let value = table(REGIONS_TABLE + region) * sum;
        s.set_shared(VALUE_CELLS + i, u64::from(value.to_bits()));
    }
    s.barrier();
    if i < LENGTH {
        let value = |i: u32| f32::from_bits(s.shared(VALUE_CELLS + i) as u32);
        let mut squares = 0.0;
        for j in 0..LENGTH {
            squares += value(j) * value(j);
        }
        let normalised = if squares > 0.0 { value(i) / s.sqrt(squares) } else { value(i) };
        s.store(descriptors, (s.block() * LENGTH + i) as usize, normalised);
    }
}
