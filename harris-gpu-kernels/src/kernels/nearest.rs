//! Nearest descriptors by brute force, tile by tile.

use core::array;

use crate::Simt;
use crate::abi::matching::{SIDE, TILE};
use crate::abi::surf::LENGTH;

/// Cells of a row of a tile in shared memory: a pair of values of each descriptor, and one cell
/// against bank conflicts.
const ROW: u32 = TILE + 1;
/// Number of pairs of values in a descriptor.
const PAIRS: u32 = LENGTH / 2;
/// Cells of a tile.
const CELLS: u32 = PAIRS * ROW;
/// Queries, and trained descriptors, of a thread in each tile.
const PER_THREAD: usize = (TILE / SIDE) as usize;

/// The nearest descriptor and the distance of the second nearest. Of equal distances the lower
/// index wins.
#[derive(Clone, Copy)]
struct Nearest {
    distance: f32,
    index: u32,
    second: f32,
}

impl Nearest {
    const NONE: Self = Self { distance: f32::INFINITY, index: u32::MAX, second: f32::INFINITY };

    /// The nearest of two disjoint sets of descriptors.
    #[inline(always)]
    fn merge(self, other: Self) -> Self {
        let nearer =
            other.distance < self.distance || other.distance == self.distance && other.index < self.index;
        let (first, last) = if nearer { (other, self) } else { (self, other) };
        Self { second: first.second.min(last.distance), ..first }
    }

    #[inline(always)]
    fn store<S: Simt>(self, s: S, to: S::Buffer<u32>, i: usize) {
        s.store(to, 3 * i, self.index);
        s.store(to, 3 * i + 1, self.distance.to_bits());
        s.store(to, 3 * i + 2, self.second.to_bits());
    }

    #[inline(always)]
    fn load<S: Simt>(s: S, from: S::Buffer<u32>, i: usize) -> Self {
        let word = |word: usize| s.load_constant(from, 3 * i + word);
        Self { index: word(0), distance: f32::from_bits(word(1)), second: f32::from_bits(word(2)) }
    }
}

/// Loads a tile of descriptors into shared memory, from cell `first` on.
#[inline(always)]
fn load_tile<S: Simt>(s: S, descriptors: S::Buffer<f32>, count: u32, start: u32, first: u32) {
    let mut i = s.thread();
    while i < PAIRS * TILE {
        let (pair, which) = (i % PAIRS, i / PAIRS);
        let descriptor = start + which;
        let value = |word: u32| match descriptor < count {
            true => s.load_constant(descriptors, (descriptor * LENGTH + 2 * pair + word) as usize).to_bits(),
            false => 0,
        };
        s.set_shared(first + pair * ROW + which, u64::from(value(0)) << 32 | u64::from(value(1)));
        i += s.threads();
    }
}

/// Finds the nearest of every `stride`th tile of trained descriptors for each query.
pub(crate) fn nearest_descriptors<S: Simt>(
    s: S,
    query: S::Buffer<f32>,
    train: S::Buffer<f32>,
    parts: S::Buffer<u32>,
    queries: u32,
    trained: u32,
    stride: u32,
) {
    let (across, down) = (s.thread() % SIDE, s.thread() / SIDE);
    let start = s.block() * TILE;
    load_tile(s, query, queries, start, 0);
    let mut best = [Nearest::NONE; PER_THREAD];
    let mut tile = s.block_row() * TILE;
    while tile < trained {
        load_tile(s, train, trained, tile, CELLS);
        s.barrier();
        let mut sums = [[0.0_f32; PER_THREAD]; PER_THREAD];
        for pair in 0..PAIRS {
            let values = |first: u32, descriptor: u32| -> [[f32; 2]; PER_THREAD] {
                array::from_fn(|i| {
                    let cell = s.shared(first + pair * ROW + descriptor + i as u32 * SIDE);
                    [f32::from_bits((cell >> 32) as u32), f32::from_bits(cell as u32)]
                })
            };
            let (mine, theirs) = (values(0, down), values(CELLS, across));
            for i in 0..PER_THREAD {
                for j in 0..PER_THREAD {
                    for word in 0..2 {
                        let difference = mine[i][word] - theirs[j][word];
                        sums[i][j] += difference * difference;
                    }
                }
            }
        }
        for i in 0..PER_THREAD {
            for j in 0..PER_THREAD {
                let index = tile + across + j as u32 * SIDE;
                if index < trained {
                    best[i] = best[i].merge(Nearest { distance: sums[i][j], index, second: f32::INFINITY });
                }
            }
        }
        s.barrier();
        tile += stride * TILE;
    }
    for i in 0..PER_THREAD {
        // The threads of a row are lanes of one warp.
        let mut nearest = best[i];
        let mut mask = 1;
        while mask < SIDE {
            let other = Nearest {
                distance: f32::from_bits(s.shuffle_xor(nearest.distance.to_bits(), mask)),
                index: s.shuffle_xor(nearest.index, mask),
                second: f32::from_bits(s.shuffle_xor(nearest.second.to_bits(), mask)),
            };
            nearest = nearest.merge(other);
            mask *= 2;
        }
        let descriptor = start + down + i as u32 * SIDE;
        if across == 0 && descriptor < queries {
            nearest.store(s, parts, (s.block_row() * queries + descriptor) as usize);
        }
    }
}

/// Combines the nearest descriptors of all parts for each query.
pub(crate) fn merge_nearest<S: Simt>(
    s: S,
    parts: S::Buffer<u32>,
    found: S::Buffer<u32>,
    queries: u32,
    count: u32,
) {
    let i = s.index();
    if i >= queries {
        return;
    }
    let mut nearest = Nearest::NONE;
    for part in 0..count {
        nearest = nearest.merge(Nearest::load(s, parts, (part * queries + i) as usize));
    }
    nearest.store(s, found, i as usize);
}
