//! Selects the candidates of the fused kernels that exceed the final threshold.

use super::corner_list::lanes_below;
use super::threshold::threshold_of_image;
use crate::Simt;
use crate::abi::state;
use crate::simt::WARP;

/// Appends the candidates above the threshold to the image's list, in no particular order.
pub(crate) fn threshold_compact<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    tiles: u32,
    capacity: u32,
    pitch: u32,
    threshold_kind: u32,
    threshold_value: f64,
) {
    let tile = s.index() / WARP;
    let image = s.block_row() as usize;
    let own = image * state::WORDS;
    let threshold = threshold_of_image(
        s,
        state,
        image,
        threshold_kind,
        threshold_value,
        s.load(state, own + state::GREATEST_RESPONSE),
    );
    let start = image * tiles as usize + tile as usize;
    let count = if tile < tiles { s.load_constant(counts, start) } else { 0 };
    let start = start * capacity as usize;
    let candidates = Candidates { s, from, start, count, threshold };
    // One atomic addition a block reserves indices for all its warps: the length of the list is a
    // single word.
    let found = candidates.above_threshold(0, |_, _| {});
    if s.lane() == 0 {
        s.set_shared(s.warp(), found.into());
    }
    s.barrier();
    if s.thread() == 0 {
        let mut all = 0;
        for warp in 0..s.threads() / WARP {
            let found = s.shared(warp) as u32;
            s.set_shared(warp, all.into());
            all += found;
        }
        let first = if all > 0 { s.atomic_add(state, own + state::LENGTH, all) } else { 0 };
        s.set_shared(s.threads() / WARP, first.into());
    }
    s.barrier();
    let first = (s.shared(s.threads() / WARP) + s.shared(s.warp())) as u32;
    candidates.above_threshold(first, |index, key| {
        if index < pitch {
            s.store(to, image * pitch as usize + index as usize, key);
        }
    });
}

/// The candidates of a tile, processed by one warp.
#[derive(Clone, Copy)]
struct Candidates<S: Simt> {
    s: S,
    from: S::Buffer<u64>,
    /// Index of the first key.
    start: usize,
    /// Number of keys.
    count: u32,
    threshold: f32,
}

impl<S: Simt> Candidates<S> {
    /// Calls `take` with the index and the key of each candidate above the threshold; indices start
    /// at `index`.
    ///
    /// Returns the index after the last.
    #[inline(always)]
    fn above_threshold(self, mut index: u32, mut take: impl FnMut(u32, u64)) -> u32 {
        let Self { s, from, start, count, threshold } = self;
        let mut first = 0;
        while first < count {
            let i = first + s.lane();
            let key = s.load_constant(from, start + i.min(count - 1) as usize);
            let exceeds = i < count && f32::from_bits(!(key >> 32) as u32) > threshold;
            let all = s.ballot(exceeds);
            if exceeds {
                take(index + (all & lanes_below(s.lane())).count_ones(), key);
            }
            index += all.count_ones();
            first += WARP;
        }
        index
    }
}
