//! From candidates to the sorted list by way of bins: all keys of one come before all of the next.

use core::array;

use super::number::ordered;
use super::order::place;
use super::threshold::simple;
use crate::Simt;
use crate::abi::bins::{COPIES, GROUP, ROOM, SHARE, counters, groups};
use crate::abi::state;
use crate::simt::WARP;

/// Words that a lane waits for together.
const AT_ONCE: usize = 8;

/// Where an image's bins are counted.
#[derive(Clone, Copy)]
struct Tables {
    groups: usize,
    bins: usize,
}

impl Tables {
    #[inline(always)]
    fn new(start: u32, bins: u32, image: usize) -> Self {
        let all = start as usize + image * counters(bins) as usize;
        Self { groups: all, bins: all + (COPIES * groups(bins)) as usize }
    }
}

pub(crate) fn scatter<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pieces: u32,
    room: u32,
    tables: u32,
    bins: u32,
    kind: u32,
    value: f32,
    turned: u32,
    pixels: u32,
) {
    let piece = s.index() / (SHARE * WARP);
    if piece >= pieces {
        return;
    }
    let image = s.block_row() as usize;
    let start = image * pieces as usize + piece as usize;
    let count = s.load_constant(counts, start);
    let start = start * room as usize;
    let greatest = s.load(state, image * state::WORDS + state::GREATEST);
    let threshold = simple(kind, value, greatest);
    // Bits of positive numbers compare as they do. So many steps there are from the greatest response to the threshold.
    let greatest = greatest.saturating_sub(ordered(0.0));
    let steps = if turned == 0 { greatest.saturating_sub(threshold.to_bits()) } else { pixels };
    let shift = (bins.leading_zeros() + 1).saturating_sub(steps.leading_zeros());
    let tables = Tables::new(tables, bins, image);
    let copy = tables.groups + (s.warp() % COPIES * groups(bins)) as usize;
    let mut i = s.index() % (SHARE * WARP);
    while i < count {
        let key = s.load_constant(from, start + i as usize);
        let response = !(key >> 32) as u32;
        if f32::from_bits(response) > threshold {
            let step = if turned == 0 { greatest - response } else { key as u32 };
            let bin = (step >> shift) as usize;
            let taken = s.atomic_add(state, tables.bins + bin, 1);
            s.atomic_add(state, copy + bin / GROUP as usize, 1);
            if taken < ROOM {
                let at = (image * bins as usize + bin) * ROOM as usize;
                s.store(to, at + taken as usize, key);
            } else {
                s.atomic_max(state, image * state::WORDS + state::CROWDED, 1);
            }
        }
        i += SHARE * WARP;
    }
}

pub(crate) fn gather<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    tables: u32,
    bins: u32,
    turned: u32,
    pitch: u32,
    most: u32,
    width: u32,
) {
    // Whole blocks of bins.
    let (bin, lane) = (s.index() / WARP, s.lane());
    let image = s.block_row() as usize;
    let tables = Tables::new(tables, bins, image);
    let all = s.load(state, tables.bins + bin as usize);
    let count = all.min(ROOM);
    let start = (image * bins as usize + bin as usize) * ROOM as usize;
    let shared = s.warp() * ROOM;
    let mut i = lane;
    while i < count.next_multiple_of(AT_ONCE as u32) {
        // Beyond the last: what comes before none.
        let key = if i < count { s.load_constant(from, start + i as usize) } else { u64::MAX };
        s.set_shared(shared + i, if turned == 0 { key } else { key.rotate_left(32) });
        i += WARP;
    }
    s.barrier();
    let last = bin == bins - 1;
    if count == 0 && !last {
        return;
    }
    // Keys in groups before this one, and in bins of this one before.
    let group = bin / GROUP;
    let of_groups = sum::<S, { COPIES as usize }>(s, state, tables.groups, groups(bins), |_| group);
    let of_bins =
        sum::<S, { (GROUP / WARP) as usize }>(s, state, tables.bins + (group * GROUP) as usize, WARP, |n| {
            (bin % GROUP).saturating_sub(n * WARP).min(WARP)
        });
    let mut before = of_groups + of_bins;
    let mut mask = WARP / 2;
    while mask > 0 {
        before += s.shuffle_xor(before, mask);
        mask /= 2;
    }
    if last && lane == 0 {
        s.store(state, image * state::WORDS + state::KEPT, before + all);
    }
    let mut i = lane;
    while i < count {
        let own = s.shared(shared + i);
        let mut at = before;
        let mut other = 0;
        while other < count {
            let others: [u64; AT_ONCE] = array::from_fn(|n| s.shared(shared + other + n as u32));
            for n in 0..AT_ONCE {
                at += u32::from(others[n] < own);
            }
            other += AT_ONCE as u32;
        }
        if at < most {
            let key = if turned == 0 { own } else { own.rotate_left(32) };
            let (x, y) = place(key, width);
            let first = 4 * (image * pitch as usize + at as usize);
            s.store(keypoints, first, x as f32);
            s.store(keypoints, first + 1, y as f32);
            s.store(keypoints, first + 2, 1.0);
            s.store(keypoints, first + 3, f32::from_bits(!(key >> 32) as u32));
        }
        i += WARP;
    }
}

/// This lane's part of the sum of some rows, `pitch` words apart: of row n so many words as `length` tells, of the first no fewer.
#[inline(always)]
fn sum<S: Simt, const ROWS: usize>(
    s: S,
    words: S::Buffer<u32>,
    start: usize,
    pitch: u32,
    length: impl Fn(u32) -> u32,
) -> u32 {
    let mut sum = 0;
    let mut at = s.lane();
    while at < length(0) {
        let words: [u32; ROWS] = array::from_fn(|n| {
            if at < length(n as u32) { s.load(words, start + n * pitch as usize + at as usize) } else { 0 }
        });
        for n in 0..ROWS {
            sum += words[n];
        }
        at += WARP;
    }
    sum
}
