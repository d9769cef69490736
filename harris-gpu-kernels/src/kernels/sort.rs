//! Sorts lists of keys: short runs by counting, then merges of runs.

use core::array;

use super::corner_list::{CornerList, sort_number};
use crate::Simt;
use crate::abi::order::{KEYS_AT_ONCE, RUNS_PER_MERGE, THREADS_PER_KEY};

/// Keys that a thread compares at once.
const KEYS_PER_STEP: usize = 8;

/// The other runs of a key's group.
const OTHER_RUNS: usize = RUNS_PER_MERGE as usize - 1;

/// Merges groups of sorted runs. Each key finds its index by its ranks in the other runs of its
/// group. Keys are distinct.
pub(crate) fn merge_runs<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pitch: u32,
    most: u32,
    run: u32,
    order: u32,
) {
    let list = CornerList::new(s, state, pitch, most);
    let (i, count) = (s.index(), list.count);
    if i >= count {
        return;
    }
    let own = i / run * run;
    let group = own / (RUNS_PER_MERGE * run) * (RUNS_PER_MERGE * run);
    let key = s.load_constant(from, list.at(i));
    let ranked = sort_number(key, order);
    // The other runs of the group: first index and length.
    let starts: [u32; OTHER_RUNS] = array::from_fn(|other| {
        let start = group + other as u32 * run;
        if start < own { start } else { start + run }
    });
    let lengths = starts.map(|start| if start < count { (count - start).min(run) } else { 0 });
    // A binary search in all runs at once, so that their loads overlap. The length of runs is a
    // power of two.
    let mut ranks = [0; OTHER_RUNS];
    let mut step = run;
    while step > 0 {
        for other in 0..OTHER_RUNS {
            let rank = ranks[other] + step;
            let at = list.at(starts[other] + rank - 1);
            if rank <= lengths[other] && sort_number(s.load_constant(from, at), order) < ranked {
                ranks[other] = rank;
            }
        }
        step /= 2;
    }
    let mut index = group + (i - own);
    for other in 0..OTHER_RUNS {
        index += ranks[other];
    }
    s.store(to, list.at(index), key);
}

/// Sorts runs of `run` keys. Each key finds its index by counting the lesser keys, which is fastest
/// for short runs.
///
/// Keys are distinct.
pub(crate) fn sort_runs<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pitch: u32,
    most: u32,
    run: u32,
    order: u32,
) {
    let list = CornerList::new(s, state, pitch, most);
    // All keys of a block belong to one run.
    let first = s.block() * (s.threads() / THREADS_PER_KEY);
    if first >= list.count {
        return;
    }
    let (i, part) = (first + s.thread() / THREADS_PER_KEY, s.thread() % THREADS_PER_KEY);
    // Threads after the end of the list read its last key.
    let key = s.load_constant(from, list.at(i.min(list.count - 1)));
    let own = sort_number(key, order);
    let mut before = 0;
    let mut start = first / run * run;
    let end = if list.count - start < run { list.count } else { start + run };
    let begin = start;
    while start < end {
        let mut at = s.thread();
        while at < KEYS_AT_ONCE {
            let is_key = start + at < end;
            let key = if is_key {
                sort_number(s.load_constant(from, list.at(start + at)), order)
            } else {
                u64::MAX
            };
            s.set_shared(at, key);
            at += s.threads();
        }
        s.barrier();
        let mut other = part;
        while other < KEYS_AT_ONCE {
            // Several at a time, so that their loads overlap.
            let keys: [u64; KEYS_PER_STEP] = array::from_fn(|n| s.shared(other + n as u32 * THREADS_PER_KEY));
            for n in 0..KEYS_PER_STEP {
                before += u32::from(keys[n] < own);
            }
            other += KEYS_PER_STEP as u32 * THREADS_PER_KEY;
        }
        s.barrier();
        start += KEYS_AT_ONCE;
    }
    let mut mask = THREADS_PER_KEY / 2;
    while mask > 0 {
        before += s.shuffle_xor(before, mask);
        mask /= 2;
    }
    if part == 0 && i < list.count {
        s.store(to, list.at(begin + before), key);
    }
}
