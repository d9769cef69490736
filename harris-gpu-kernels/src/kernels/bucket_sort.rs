//! Bucket sort of candidates: all keys of one bucket come before all keys of the next.

use core::array;

use super::corner_list::{CornerList, pixel_of_key, sort_number};
use super::number::to_ordered_bits;
use super::threshold::threshold_of_image;
use crate::Simt;
use crate::abi::buckets::{CAPACITY, COPIES, GROUP, MAX, PER_WARP, WARPS_PER_TILE, counters, groups};
use crate::abi::order::BY_ROWS;
use crate::abi::prediction::{LEAST_HELD, MARGIN};
use crate::abi::state;
use crate::simt::WARP;

/// Words that a lane loads at once.
const WORDS_PER_LANE: usize = 8;

/// Warps of a block of [`bucket_gather`].
const WARPS: u32 = 8;
/// Buckets of such a block.
const BUCKETS: u32 = WARPS * PER_WARP;
/// Cells of its shared memory for the keys of its buckets.
const SHARED_KEYS: u32 = BUCKETS * CAPACITY;
/// Lanes that load the keys of a bucket.
const LANES: u32 = WARP / PER_WARP;

// A lane for each bucket of a block.
const _: () = assert!(BUCKETS <= WARP && BUCKETS.is_power_of_two());
// A copy of the groups' counters for each warp; a group is a multiple of a block's threads and of
// its buckets.
const _: () = assert!(COPIES == WARPS && GROUP.is_multiple_of(WARPS * WARP) && GROUP.is_multiple_of(BUCKETS));

/// Where the counters of an image's groups and buckets start in the state.
#[derive(Clone, Copy)]
struct Counters {
    groups: usize,
    buckets: usize,
}

impl Counters {
    #[inline(always)]
    fn new(start: u32, buckets: u32, image: usize) -> Self {
        let all = start as usize + image * counters(buckets) as usize;
        Self { groups: all, buckets: all + (COPIES * groups(buckets)) as usize }
    }
}

/// Scatters the candidates above the threshold into buckets, and counts each bucket and each group
/// of buckets.
pub(crate) fn bucket_scatter<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    splitters: S::Buffer<u64>,
    tiles: u32,
    capacity: u32,
    counters_start: u32,
    buckets: u32,
    splitter_step: u32,
    threshold_kind: u32,
    threshold_value: f64,
    order: u32,
    pixels: u32,
) {
    s.wait_for_previous_kernels();
    s.allow_next_kernel();
    let tile = s.index() / (WARPS_PER_TILE * WARP);
    let image = s.block_row() as usize;
    // Warps without a tile have no keys, but take part in barriers.
    let start = image * tiles as usize + tile.min(tiles - 1) as usize;
    let mut i = s.index() % (WARPS_PER_TILE * WARP);
    // All loads are issued at once. The first keys are loaded before their number is known.
    let count = if tile < tiles { s.load_constant(counts, start) } else { 0 };
    let greatest = s.load(state, image * state::WORDS + state::GREATEST_RESPONSE);
    let start = start * capacity as usize;
    let mut key = s.load_speculative(from, start + i.min(capacity - 1) as usize);
    let threshold = threshold_of_image(s, state, image, threshold_kind, threshold_value, greatest);
    // Bits of positive floats compare as the floats do. `steps` is the number of floats from the
    // threshold to the greatest response.
    let greatest = greatest.saturating_sub(to_ordered_bits(0.0));
    let by_rows = order == BY_ROWS;
    let steps = if by_rows { pixels } else { greatest.saturating_sub(threshold.to_bits()) };
    let shift = (buckets.leading_zeros() + 1).saturating_sub(steps.leading_zeros());
    let counters_at = Counters::new(counters_start, buckets, image);
    // Each block counts groups in shared memory: atomic operations on the few words of all groups
    // would be serialised.
    let has_group = s.thread() < buckets.div_ceil(GROUP);
    if has_group {
        s.set_shared_word(s.thread(), 0);
    }
    s.barrier();
    loop {
        let response = !(key >> 32) as u32;
        // One condition without a branch: `&&` would load the key after the first comparison.
        if (i < count) & (f32::from_bits(response) > threshold) {
            let step = if by_rows { key as u32 } else { greatest - response };
            let bucket = match splitter_step {
                0 => step >> shift,
                _ => {
                    bucket_by_splitters(s, splitters, image, splitter_step, buckets, sort_number(key, order))
                }
            } as usize;
            let taken = s.atomic_add(state, counters_at.buckets + bucket, 1);
            s.increment_shared_word(bucket as u32 / GROUP);
            if taken < CAPACITY {
                let at = (image * buckets as usize + bucket) * CAPACITY as usize;
                s.store(to, at + taken as usize, key);
            } else {
                s.atomic_max(state, image * state::WORDS + state::BUCKET_OVERFLOW, 1);
            }
        }
        i += WARPS_PER_TILE * WARP;
        if i >= count {
            break;
        }
        key = s.load_constant(from, start + i as usize);
    }
    s.barrier();
    if has_group {
        let count = s.shared_word(s.thread());
        if count > 0 {
            let copy = counters_at.groups + (s.block() % COPIES * groups(buckets)) as usize;
            s.atomic_add(state, copy + s.thread() as usize, count);
        }
    }
}

/// The last bucket whose splitter is not greater than the key.
#[inline(always)]
fn bucket_by_splitters<S: Simt>(
    s: S,
    splitters: S::Buffer<u64>,
    image: usize,
    splitter_step: u32,
    buckets: u32,
    key: u64,
) -> u32 {
    let start = image * MAX as usize;
    let (mut bucket, mut step) = (0, buckets / 2);
    while step > 0 {
        let splitter = start + ((bucket + step) * splitter_step) as usize;
        if s.load_constant(splitters, splitter) <= key {
            bucket += step;
        }
        step /= 2;
    }
    bucket
}

/// Selects [`MAX`] splitters at equal distances in a sorted list.
pub(crate) fn select_splitters<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    splitters: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pitch: u32,
    order: u32,
) {
    let (i, list) = (s.index(), CornerList::new(s, state, pitch, pitch));
    if i >= MAX {
        return;
    }
    let key = if list.count > 0 {
        let rank = u64::from(i) * u64::from(list.count) / u64::from(MAX);
        sort_number(s.load_constant(from, list.at(rank as u32)), order)
    } else {
        u64::MAX
    };
    s.store(splitters, (s.block_row() * MAX + i) as usize, key);
}

/// Sorts the keys of each bucket and writes them, as keys or keypoints, at their indices of the
/// sorted list.
pub(crate) fn bucket_gather<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    listed: S::Buffer<u64>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    report: S::Buffer<u32>,
    counters_start: u32,
    buckets: u32,
    order: u32,
    pitch: u32,
    most: u32,
    width: u32,
    as_keys: u32,
    predicts: u32,
) {
    s.wait_for_previous_kernels();
    // Blocks are complete: the number of buckets is a multiple of [`BUCKETS`].
    let (bucket, lane) = (s.index() / LANES, s.lane());
    let image = s.block_row() as usize;
    let counters_at = Counters::new(counters_start, buckets, image);
    let start = (image * buckets as usize + bucket as usize) * CAPACITY as usize;
    let bucket_in_block = s.thread() / LANES;
    let mut i = lane % LANES;
    // All loads are issued at once. The first keys of a bucket are loaded before their number is
    // known.
    let all = s.load(state, counters_at.buckets + bucket as usize);
    let mut key = s.load_speculative(from, start + i as usize);
    // The last block reports the image's state, and resets it for the next sweep.
    let is_last = bucket / PER_WARP + 1 == buckets / PER_WARP;
    let word_index = image * state::WORDS + lane as usize;
    let word = if is_last && lane < state::WORDS as u32 { s.load(state, word_index) } else { 0 };
    let before = keys_before_block(s, state, counters_at, buckets);
    let count = all.min(CAPACITY);
    loop {
        // Padding after the last key: greater than splitter_step key.
        let own = if i < count { sort_number(key, order) } else { u64::MAX };
        s.set_shared(bucket_in_block * CAPACITY + i, own);
        i += LANES;
        if i >= count.next_multiple_of(WORDS_PER_LANE as u32) {
            break;
        }
        key = s.load_speculative(from, start + i as usize);
    }
    // The cells after the keys hold the counts of buckets.
    let sums = SHARED_KEYS;
    if lane % LANES == 0 {
        // The warp's part of the sum is counted once.
        let before = if lane == 0 { before } else { 0 };
        s.set_shared(sums + bucket_in_block, u64::from(before) << 32 | u64::from(all));
    }
    s.barrier();
    // Each lane has a bucket: the number of its keys, and of all keys up to its end. `before` is
    // the number of keys before the block.
    let sum = s.shared(sums + lane % BUCKETS);
    let in_bucket = if lane < BUCKETS { (sum as u32).min(CAPACITY) } else { 0 };
    let (mut through, mut before) = (in_bucket, (sum >> 32) as u32);
    let mut delta = 1;
    while delta < WARP {
        through = s.add_lane_below(through, delta);
        if delta < BUCKETS {
            before += s.shuffle_xor(before, delta);
        }
        delta *= 2;
    }
    if is_last {
        let mut all = sum as u32;
        let mut mask = BUCKETS / 2;
        while mask > 0 {
            all += s.shuffle_xor(all, mask);
            mask /= 2;
        }
        report_and_reset(s, state, report, word_index, word, before + all, predicts);
    }
    let count = s.shuffle(through, WARP - 1);
    // Threads take keys of the block regardless of buckets, because the sizes of buckets differ
    // widely.
    let mut first = s.thread() - lane;
    while first < count {
        let i = first + lane;
        first += s.threads();
        let (mut bucket, mut step) = (0, BUCKETS / 2);
        while step > 0 {
            if s.shuffle(through, bucket + step - 1) <= i {
                bucket += step;
            }
            step /= 2;
        }
        let end = s.shuffle(through, bucket);
        let start = end - s.shuffle(in_bucket, bucket);
        if i >= count {
            break;
        }
        let keys = bucket * CAPACITY;
        let own = s.shared(keys + i - start);
        let mut at = before + start;
        let mut other = 0;
        while other < end - start {
            let others: [u64; WORDS_PER_LANE] = array::from_fn(|n| s.shared(keys + other + n as u32));
            for n in 0..WORDS_PER_LANE {
                at += u32::from(others[n] < own);
            }
            other += WORDS_PER_LANE as u32;
        }
        if at < most {
            let key = sort_number(own, order);
            let at = image * pitch as usize + at as usize;
            if as_keys == 1 {
                s.store(listed, at, key);
            } else {
                let (x, y) = pixel_of_key(key, width);
                let first = 4 * at;
                s.store_four_words(
                    keypoints,
                    first,
                    [x as f32, y as f32, 1.0, f32::from_bits(!(key >> 32) as u32)],
                );
            }
        }
    }
}

/// Writes an image's state, with the length of its list, to the report, and resets the state for
/// the next sweep.
///
/// Each lane has the word `own` of the state. `all` is the length of the list.
#[inline(always)]
fn report_and_reset<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    report: S::Buffer<u32>,
    own: usize,
    word: u32,
    all: u32,
    predicts: u32,
) {
    let word_of = |number: usize| s.shuffle(word, number as u32);
    let (greatest, crowded) = (word_of(state::GREATEST_RESPONSE), word_of(state::BUCKET_OVERFLOW));
    let (prediction, held) = (word_of(state::NEXT_PREDICTION), word_of(state::PREDICTIONS_HELD));
    // If keys are missing the length is greater than any capacity.
    let length = if crowded == 0 { all } else { u32::MAX };
    let lower_bound = greatest.saturating_sub(MARGIN);
    // Predictions are positive, and made from a single image.
    let next_prediction = if predicts == 1 && lower_bound > to_ordered_bits(0.0) { lower_bound } else { 0 };
    // Counts the predictions in a row that held. It restarts if there was none or it did not hold.
    let next_held = if prediction > 0 && next_prediction > 0 && greatest > prediction { held + 1 } else { 0 };
    let next_bound = if next_held >= LEAST_HELD { next_prediction } else { 0 };
    let lane = s.lane() as usize;
    let next = match lane {
        state::LENGTH => length,
        state::GREATEST_RESPONSE | state::PREDICTED => next_bound,
        state::NEXT_PREDICTION => next_prediction,
        state::PREDICTIONS_HELD => next_held.min(LEAST_HELD),
        _ => 0,
    };
    if lane < state::WORDS {
        s.store(state, own, next);
        s.store(report, own, if lane == state::LENGTH { length } else { word });
    }
}

/// This warp's part of the number of keys in buckets before the block.
///
/// It counts one copy of the counters of earlier groups, and some buckets of the block's group.
#[inline(always)]
fn keys_before_block<S: Simt>(s: S, state: S::Buffer<u32>, counters_at: Counters, buckets: u32) -> u32 {
    let first = s.block() * BUCKETS;
    let (group, copy) = (first / GROUP, counters_at.groups + (s.warp() * groups(buckets)) as usize);
    let mut sum = 0;
    // Unrolled: otherwise each round would wait for the loads of the one before.
    for round in 0..(MAX / GROUP).div_ceil(WARP) {
        let i = round * WARP + s.lane();
        if i < group {
            sum += s.load(state, copy + i as usize);
        }
    }
    for part in 0..GROUP / (WARPS * WARP) {
        let bucket = group * GROUP + part * WARPS * WARP + s.thread();
        if bucket < first {
            sum += s.load(state, counters_at.buckets + bucket as usize);
        }
    }
    let mut mask = WARP / 2;
    while mask > 0 {
        sum += s.shuffle_xor(sum, mask);
        mask /= 2;
    }
    sum
}
