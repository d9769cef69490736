//! From candidates to the sorted list by way of bins: all keys of one come before all of the next.

use core::array;

use super::number::ordered;
use super::order::{List, place, rank_of};
use super::threshold::of_state;
use crate::Simt;
use crate::abi::bins::{COPIES, EACH, GROUP, MOST, ROOM, SHARE, counters, groups};
use crate::abi::foretold::{FALL, STEADY};
use crate::abi::order::BY_ROWS;
use crate::abi::state;
use crate::simt::WARP;

/// Words that a lane waits for together.
const AT_ONCE: usize = 8;

/// Warps of a block that gathers, and its bins.
const WARPS: u32 = 8;
const BINS: u32 = WARPS * EACH;
/// Cells of its shared memory for their keys.
const SHARED_KEYS: u32 = BINS * ROOM;
/// Lanes that bring a bin's keys.
const LANES: u32 = WARP / EACH;

// A lane for each bin of a block.
const _: () = assert!(BINS <= WARP && BINS.is_power_of_two());
// A copy of the groups for each, bins of a group in whole rounds, and groups in whole blocks.
const _: () = assert!(COPIES == WARPS && GROUP.is_multiple_of(WARPS * WARP) && GROUP.is_multiple_of(BINS));

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
    dividers: S::Buffer<u64>,
    pieces: u32,
    room: u32,
    tables: u32,
    bins: u32,
    every: u32,
    kind: u32,
    value: f64,
    sorting: u32,
    pixels: u32,
) {
    s.await_last();
    s.admit_next();
    let piece = s.index() / (SHARE * WARP);
    let image = s.block_row() as usize;
    // Warps of no piece have no keys, and wait with the others.
    let start = image * pieces as usize + piece.min(pieces - 1) as usize;
    let mut i = s.index() % (SHARE * WARP);
    // All that is needed is asked for at once, keys before it is known whether there are so many.
    let count = if piece < pieces { s.load_constant(counts, start) } else { 0 };
    let greatest = s.load(state, image * state::WORDS + state::GREATEST);
    let start = start * room as usize;
    let mut key = s.load_early(from, start + i.min(room - 1) as usize);
    let threshold = of_state(s, state, image, kind, value, greatest);
    // Bits of positive numbers compare as they do. So many steps there are from the greatest response to the threshold.
    let greatest = greatest.saturating_sub(ordered(0.0));
    let by_rows = sorting == BY_ROWS;
    let steps = if by_rows { pixels } else { greatest.saturating_sub(threshold.to_bits()) };
    let shift = (bins.leading_zeros() + 1).saturating_sub(steps.leading_zeros());
    let tables = Tables::new(tables, bins, image);
    // Blocks count groups by themselves: there are few, and what counts in one place of the memory is done one after the other.
    let is_of_group = s.thread() < bins.div_ceil(GROUP);
    if is_of_group {
        s.set_shared_word(s.thread(), 0);
    }
    s.barrier();
    loop {
        let response = !(key >> 32) as u32;
        // One question: two would ask for the key after the first.
        if (i < count) & (f32::from_bits(response) > threshold) {
            let step = if by_rows { key as u32 } else { greatest - response };
            let bin = match every {
                0 => step >> shift,
                _ => divided(s, dividers, image, every, bins, rank_of(key, sorting)),
            } as usize;
            let taken = s.atomic_add(state, tables.bins + bin, 1);
            s.count_in_shared(bin as u32 / GROUP);
            if taken < ROOM {
                let at = (image * bins as usize + bin) * ROOM as usize;
                s.store(to, at + taken as usize, key);
            } else {
                s.atomic_max(state, image * state::WORDS + state::CROWDED, 1);
            }
        }
        i += SHARE * WARP;
        if i >= count {
            break;
        }
        key = s.load_constant(from, start + i as usize);
    }
    s.barrier();
    if is_of_group {
        let of_group = s.shared_word(s.thread());
        if of_group > 0 {
            let copy = tables.groups + (s.block() % COPIES * groups(bins)) as usize;
            s.atomic_add(state, copy + s.thread() as usize, of_group);
        }
    }
}

/// The last bin that a key is not before.
#[inline(always)]
fn divided<S: Simt>(s: S, dividers: S::Buffer<u64>, image: usize, every: u32, bins: u32, key: u64) -> u32 {
    let start = image * MOST as usize;
    let (mut bin, mut step) = (0, bins / 2);
    while step > 0 {
        let divider = start + ((bin + step) * every) as usize;
        if s.load_constant(dividers, divider) <= key {
            bin += step;
        }
        step /= 2;
    }
    bin
}

pub(crate) fn divide<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    dividers: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pitch: u32,
    sorting: u32,
) {
    let (i, list) = (s.index(), List::new(s, state, pitch, pitch));
    if i >= MOST {
        return;
    }
    let key = if list.count > 0 {
        let rank = u64::from(i) * u64::from(list.count) / u64::from(MOST);
        rank_of(s.load_constant(from, list.at(rank as u32)), sorting)
    } else {
        u64::MAX
    };
    s.store(dividers, (s.block_row() * MOST + i) as usize, key);
}

pub(crate) fn gather<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    listed: S::Buffer<u64>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    report: S::Buffer<u32>,
    tables: u32,
    bins: u32,
    sorting: u32,
    pitch: u32,
    most: u32,
    width: u32,
    as_keys: u32,
    foretells: u32,
) {
    s.await_last();
    // Whole blocks of bins.
    let (bin, lane) = (s.index() / LANES, s.lane());
    let image = s.block_row() as usize;
    let tables = Tables::new(tables, bins, image);
    let start = (image * bins as usize + bin as usize) * ROOM as usize;
    let of_block = s.thread() / LANES;
    let mut i = lane % LANES;
    // All that is needed is asked for at once, a bin's first keys before it is known whether it has so many.
    let all = s.load(state, tables.bins + bin as usize);
    let mut key = s.load_early(from, start + i as usize);
    // One block tells of the image, and leaves its state as the next walk needs it.
    let is_last = bin / EACH + 1 == bins / EACH;
    let own_state = image * state::WORDS + lane as usize;
    let word = if is_last && lane < state::WORDS as u32 { s.load(state, own_state) } else { 0 };
    let before = before_block(s, state, tables, bins);
    let count = all.min(ROOM);
    loop {
        // Beyond the last: what comes before none.
        let own = if i < count { rank_of(key, sorting) } else { u64::MAX };
        s.set_shared(of_block * ROOM + i, own);
        i += LANES;
        if i >= count.next_multiple_of(AT_ONCE as u32) {
            break;
        }
        key = s.load_early(from, start + i as usize);
    }
    let sums = SHARED_KEYS;
    if lane % LANES == 0 {
        // The warp's part once.
        let before = if lane == 0 { before } else { 0 };
        s.set_shared(sums + of_block, u64::from(before) << 32 | u64::from(all));
    }
    s.barrier();
    // A lane a bin: its keys, and those up to it; and what the warps found before the block.
    let sum = s.shared(sums + lane % BINS);
    let of_bin = if lane < BINS { (sum as u32).min(ROOM) } else { 0 };
    let (mut through, mut before) = (of_bin, (sum >> 32) as u32);
    let mut delta = 1;
    while delta < WARP {
        through = s.plus_below(through, delta);
        if delta < BINS {
            before += s.shuffle_xor(before, delta);
        }
        delta *= 2;
    }
    if is_last {
        let mut all = sum as u32;
        let mut mask = BINS / 2;
        while mask > 0 {
            all += s.shuffle_xor(all, mask);
            mask /= 2;
        }
        leave(s, state, report, own_state, word, before + all, foretells);
    }
    let count = s.shuffle(through, WARP - 1);
    // A key of the block for each thread, whichever bin it is in: some have many more than others.
    let mut first = s.thread() - lane;
    while first < count {
        let i = first + lane;
        first += s.threads();
        let (mut bin, mut step) = (0, BINS / 2);
        while step > 0 {
            if s.shuffle(through, bin + step - 1) <= i {
                bin += step;
            }
            step /= 2;
        }
        let end = s.shuffle(through, bin);
        let start = end - s.shuffle(of_bin, bin);
        if i >= count {
            break;
        }
        let keys = bin * ROOM;
        let own = s.shared(keys + i - start);
        let mut at = before + start;
        let mut other = 0;
        while other < end - start {
            let others: [u64; AT_ONCE] = array::from_fn(|n| s.shared(keys + other + n as u32));
            for n in 0..AT_ONCE {
                at += u32::from(others[n] < own);
            }
            other += AT_ONCE as u32;
        }
        if at < most {
            let key = rank_of(own, sorting);
            let at = image * pitch as usize + at as usize;
            if as_keys == 1 {
                s.store(listed, at, key);
            } else {
                let (x, y) = place(key, width);
                let first = 4 * at;
                s.store_four(
                    keypoints,
                    first,
                    [x as f32, y as f32, 1.0, f32::from_bits(!(key >> 32) as u32)],
                );
            }
        }
    }
}

/// Reports an image's state, of which each lane has a word, with so many keys listed, and leaves what the next walk needs.
#[inline(always)]
fn leave<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    report: S::Buffer<u32>,
    own: usize,
    word: u32,
    all: u32,
    foretells: u32,
) {
    let word_of = |number: usize| s.shuffle(word, number as u32);
    let (greatest, crowded) = (word_of(state::GREATEST), word_of(state::CROWDED));
    let (likely, steady) = (word_of(state::LIKELY), word_of(state::STEADY));
    // Longer than any list where keys are missing.
    let kept = if crowded == 0 { all } else { u32::MAX };
    let least = greatest.saturating_sub(FALL);
    // Of positive numbers, and from one image alone.
    let next_likely = if foretells == 1 && least > ordered(0.0) { least } else { 0 };
    // Where nothing was likely, or it was foretold and did not hold, neither is counted.
    let next_steady = if likely > 0 && next_likely > 0 && greatest > likely { steady + 1 } else { 0 };
    let next_foretold = if next_steady >= STEADY { next_likely } else { 0 };
    let lane = s.lane() as usize;
    let next = match lane {
        state::KEPT => kept,
        state::GREATEST | state::FORETOLD => next_foretold,
        state::LIKELY => next_likely,
        state::STEADY => next_steady.min(STEADY),
        _ => 0,
    };
    if lane < state::WORDS {
        s.store(state, own, next);
        s.store(report, own, if lane == state::KEPT { kept } else { word });
    }
}

/// The warp's part of how many keys are in bins before the block's: in one of the copies of the groups before, and in some of the bins of
/// its group.
#[inline(always)]
fn before_block<S: Simt>(s: S, state: S::Buffer<u32>, tables: Tables, bins: u32) -> u32 {
    let first = s.block() * BINS;
    let (group, copy) = (first / GROUP, tables.groups + (s.warp() * groups(bins)) as usize);
    let mut sum = 0;
    // Written out, or each round would wait for the one before.
    for round in 0..(MOST / GROUP).div_ceil(WARP) {
        let i = round * WARP + s.lane();
        if i < group {
            sum += s.load(state, copy + i as usize);
        }
    }
    for part in 0..GROUP / (WARPS * WARP) {
        let bin = group * GROUP + part * WARPS * WARP + s.thread();
        if bin < first {
            sum += s.load(state, tables.bins + bin as usize);
        }
    }
    let mut mask = WARP / 2;
    while mask > 0 {
        sum += s.shuffle_xor(sum, mask);
        mask /= 2;
    }
    sum
}
