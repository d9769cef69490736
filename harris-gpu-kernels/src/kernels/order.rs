//! Order, least distance, and the corners as they are returned.

use core::array;

use super::geometry::Size;
use super::threshold::of_state;
use crate::Simt;
use crate::abi::order::{BY_RESPONSE, BY_ROWS, CHUNK, COUNTED, KEPT, OPEN, PARTS, REJECTED, WAYS};
use crate::abi::state;
use crate::simt::WARP;

/// Keys that a thread compares with at once.
const AT_ONCE: usize = 8;

/// The runs that a key is not in.
const OTHERS: usize = WAYS as usize - 1;

/// The list of the thread's row of blocks: where it starts and how many keys of it count.
#[derive(Clone, Copy)]
pub(super) struct List {
    start: usize,
    pub(super) count: u32,
}

impl List {
    #[inline(always)]
    pub(super) fn new<S: Simt>(s: S, state: S::Buffer<u32>, pitch: u32, most: u32) -> Self {
        let row = s.block_row() as usize;
        let kept = s.load_constant(state, row * state::WORDS + state::KEPT);
        // None where there was no room for all: some are missing.
        let count = if kept > pitch { 0 } else { kept.min(most) };
        Self { start: row * pitch as usize, count }
    }

    #[inline(always)]
    pub(super) fn at(self, i: u32) -> usize {
        self.start + i as usize
    }
}

/// Each key finds its place by its ranks in the other runs of its group. Keys are all different.
pub(crate) fn merge<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pitch: u32,
    most: u32,
    run: u32,
    sorting: u32,
) {
    let list = List::new(s, state, pitch, most);
    let (i, count) = (s.index(), list.count);
    if i >= count {
        return;
    }
    let own = i / run * run;
    let group = own / (WAYS * run) * (WAYS * run);
    let key = s.load_constant(from, list.at(i));
    let ranked = rank_of(key, sorting);
    // The runs but its own, as starts and lengths.
    let starts: [u32; OTHERS] = array::from_fn(|other| {
        let start = group + other as u32 * run;
        if start < own { start } else { start + run }
    });
    let lengths = starts.map(|start| if start < count { (count - start).min(run) } else { 0 });
    // All at once, so that none waits for another's loads. Runs are as long as powers of two.
    let mut ranks = [0; OTHERS];
    let mut step = run;
    while step > 0 {
        for other in 0..OTHERS {
            let rank = ranks[other] + step;
            let at = list.at(starts[other] + rank - 1);
            if rank <= lengths[other] && rank_of(s.load_constant(from, at), sorting) < ranked {
                ranks[other] = rank;
            }
        }
        step /= 2;
    }
    let mut place = group + (i - own);
    for other in 0..OTHERS {
        place += ranks[other];
    }
    s.store(to, list.at(place), key);
}

/// Each key finds its place in its run of `run` keys by counting those before it: the quickest way for short ones. Keys are all
/// different.
pub(crate) fn rank<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pitch: u32,
    most: u32,
    run: u32,
    sorting: u32,
) {
    let list = List::new(s, state, pitch, most);
    // A block's keys are of one run.
    let first = s.block() * (s.threads() / PARTS);
    if first >= list.count {
        return;
    }
    let (i, part) = (first + s.thread() / PARTS, s.thread() % PARTS);
    // Beyond the list: as the last.
    let key = s.load_constant(from, list.at(i.min(list.count - 1)));
    let own = rank_of(key, sorting);
    let mut before = 0;
    let mut start = first / run * run;
    let end = if list.count - start < run { list.count } else { start + run };
    let begin = start;
    while start < end {
        let mut at = s.thread();
        while at < CHUNK {
            let there = start + at < end;
            let key =
                if there { rank_of(s.load_constant(from, list.at(start + at)), sorting) } else { u64::MAX };
            s.set_shared(at, key);
            at += s.threads();
        }
        s.barrier();
        let mut other = part;
        while other < CHUNK {
            // Several at a time, so that they wait together.
            let keys: [u64; AT_ONCE] = array::from_fn(|n| s.shared(other + n as u32 * PARTS));
            for n in 0..AT_ONCE {
                before += u32::from(keys[n] < own);
            }
            other += AT_ONCE as u32 * PARTS;
        }
        s.barrier();
        start += CHUNK;
    }
    let mut mask = PARTS / 2;
    while mask > 0 {
        before += s.shuffle_xor(before, mask);
        mask /= 2;
    }
    if part == 0 && i < list.count {
        s.store(to, list.at(begin + before), key);
    }
}

/// What a key is ranked by, and the key that is ranked by it: itself, its halves exchanged, or its pixel's number inverted.
#[inline(always)]
pub(super) fn rank_of(key: u64, sorting: u32) -> u64 {
    match sorting {
        BY_RESPONSE => key,
        BY_ROWS => key.rotate_left(32),
        _ => key ^ 0xFFFF_FFFF,
    }
}

/// Column and row of the corner that a key belongs to.
#[inline(always)]
pub(super) fn place(key: u64, width: u32) -> (u32, u32) {
    let pixel = key as u32;
    (pixel % width, pixel / width)
}

pub(crate) fn file<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    cells: S::Buffer<u64>,
    filed: S::Buffer<u32>,
    decisions: S::Buffer<u32>,
    shares: S::Buffer<u32>,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    width: u32,
    side: u32,
    columns: u32,
    room: u32,
    limit: u32,
    is_first: u32,
) {
    let i = s.index();
    let kept = s.load(state, state::KEPT);
    let all = if kept > most { u32::MAX } else { kept.min(limit) };
    if i == 0 {
        s.store(state, state::LISTED, all);
        if is_first == 1 {
            s.store(state, state::ALL, kept);
        }
    }
    if i <= parts / COUNTED {
        s.store(shares, i as usize, 0);
    }
    if i < all && all <= most {
        let key = s.load_constant(keys, i as usize);
        let (x, y) = place(key, width);
        let cell = y / side * columns + x / side;
        let number = s.atomic_add(filed, cell as usize, 1);
        s.store(
            cells,
            cell as usize * room as usize + number as usize,
            u64::from(i) << 32 | u64::from(key as u32),
        );
        s.store(decisions, i as usize, OPEN);
    }
}

/// The ranks of so many shares of a list, from one on: none where there was no room for all.
#[inline(always)]
fn share_of<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    share: u32,
    number: u32,
) -> (u32, u32) {
    let all = s.load(state, state::LISTED);
    let all = if all > most { 0 } else { all };
    let each = all.div_ceil(parts);
    ((share * each).min(all), ((share + number) * each).min(all))
}

/// A corner is kept when all before it that are too near are rejected, and rejected as soon as one of them is kept: it waits until that is
/// known. Whom it waits for is in its own share or in one before, and shares are taken in the order in which blocks begin, the ranks of
/// each in ascending order: the first that is open waits for none.
pub(crate) fn spread<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    cells: S::Buffer<u64>,
    filed: S::Buffer<u32>,
    decisions: S::Buffer<u32>,
    shares: S::Buffer<u32>,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    width: u32,
    side: u32,
    columns: u32,
    rows: u32,
    room: u32,
    squared: u64,
) {
    let grid = Grid { side, columns, rows, room };
    spread_by(
        s,
        keys,
        (cells, filed),
        (decisions, shares),
        state,
        (most, parts, width),
        grid,
        |_, _, own, other| {
            let [dx, dy] =
                [(own.0, other.0), (own.1, other.1)].map(|(own, other)| i64::from(own) - i64::from(other));
            ((dx * dx + dy * dy) as u64) < squared
        },
    );
}

pub(crate) fn spread_places<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    keypoints: S::Buffer<f32>,
    cells: S::Buffer<u64>,
    filed: S::Buffer<u32>,
    decisions: S::Buffer<u32>,
    shares: S::Buffer<u32>,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    width: u32,
    side: u32,
    columns: u32,
    rows: u32,
    room: u32,
    squared: f64,
) {
    let grid = Grid { side, columns, rows, room };
    spread_by(
        s,
        keys,
        (cells, filed),
        (decisions, shares),
        state,
        (most, parts, width),
        grid,
        |own, other, _, _| {
            let place = |i: u32, axis: usize| f64::from(s.load_constant(keypoints, 4 * i as usize + axis));
            let (dx, dy) = (place(own, 0) - place(other, 0), place(own, 1) - place(other, 1));
            dx * dx + dy * dy < squared
        },
    );
}

/// The cells that corners are filed in: `side` pixels long, each with room for so many.
#[derive(Clone, Copy)]
struct Grid {
    side: u32,
    columns: u32,
    rows: u32,
    room: u32,
}

/// As [`spread`] and [`spread_places`], where a closure tells of two corners' ranks and pixels whether they are too near.
#[inline(always)]
fn spread_by<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    (cells, filed): (S::Buffer<u64>, S::Buffer<u32>),
    (decisions, shares): (S::Buffer<u32>, S::Buffer<u32>),
    state: S::Buffer<u32>,
    (most, parts, width): (u32, u32, u32),
    Grid { side, columns, rows, room }: Grid,
    is_near: impl Fn(u32, u32, (u32, u32), (u32, u32)) -> bool,
) {
    if s.thread() == 0 {
        s.set_shared(0, s.atomic_add(shares, 0, 1).into());
    }
    s.barrier();
    let share = s.shared(0) as u32;
    let (first, end) = share_of(s, state, most, parts, share, 1);
    let mut i = first + s.warp();
    while i < end {
        let (x, y) = place(s.load_constant(keys, i as usize), width);
        // Three lanes for each of the cells around.
        let around = s.lane() / 3;
        let column = (x / side + around % 3).wrapping_sub(1);
        let row = (y / side + around / 3).wrapping_sub(1);
        let is_cell = around < 9 && column < columns && row < rows;
        let cell = if is_cell { (row * columns + column) as usize } else { 0 };
        let count = if is_cell { s.load_constant(filed, cell) } else { 0 };
        // From here on in their cells there may be some that are not decided on.
        let mut from = s.lane() % 3;
        let mut decision = OPEN;
        while decision == OPEN {
            decision = KEPT;
            let mut number = from;
            while decision != REJECTED && s.any(number < count) {
                // A corner before that is too near, or its own.
                let mut other = i;
                if number < count {
                    let entry = s.load_constant(cells, cell * room as usize + number as usize);
                    let rank = (entry >> 32) as u32;
                    if is_near(i, rank, (x, y), place(entry, width)) {
                        other = other.min(rank);
                    }
                }
                let of_other =
                    if other < i { s.load_shared_by_all(decisions, other as usize) } else { REJECTED };
                if s.any(of_other == KEPT) {
                    decision = REJECTED;
                } else if s.any(of_other == OPEN) && decision == KEPT {
                    decision = OPEN;
                    from = number;
                }
                number += 3;
            }
        }
        if s.lane() == 0 {
            s.atomic_max(decisions, i as usize, decision);
            if decision == KEPT {
                s.atomic_add(shares, (1 + share / COUNTED) as usize, 1);
            }
        }
        i += s.threads() / WARP;
    }
}

pub(crate) fn keep<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    to: S::Buffer<u64>,
    decisions: S::Buffer<u32>,
    shares: S::Buffer<u32>,
    state: S::Buffer<u32>,
    report: S::Buffer<u32>,
    most: u32,
    parts: u32,
) {
    let own = s.index() / WARP;
    if own >= parts / COUNTED {
        return;
    }
    let (first, end) = share_of(s, state, most, parts, own * COUNTED, COUNTED);
    // Those kept in the shares before.
    let mut kept = 0;
    let mut other = s.lane();
    while other < own {
        kept += s.load_constant(shares, 1 + other as usize);
        other += WARP;
    }
    let mut mask = WARP / 2;
    while mask > 0 {
        kept += s.shuffle_xor(kept, mask);
        mask /= 2;
    }
    let mut start = first;
    while start < end {
        let i = start + s.lane();
        let is_kept = i < end && s.load_constant(decisions, i as usize) == KEPT;
        let all = s.ballot(is_kept);
        if is_kept {
            let place = kept + (all & below(s.lane())).count_ones();
            s.store(to, place as usize, s.load_constant(from, i as usize));
        }
        kept += all.count_ones();
        start += WARP;
    }
    // Where there was no room for all, it stays known how many there are.
    if own + 1 == parts / COUNTED && s.lane() == 0 && s.load(state, state::LISTED) <= most {
        s.store(state, state::KEPT, kept);
        s.store(report, state::KEPT, kept);
        s.store(report, state::ALL, s.load_constant(state, state::ALL));
    }
}

pub(crate) fn exceed<S: Simt>(
    s: S,
    from: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    to: S::Buffer<u64>,
    state: S::Buffer<u32>,
    pieces: u32,
    room: u32,
    pitch: u32,
    kind: u32,
    value: f64,
) {
    let piece = s.index() / WARP;
    let image = s.block_row() as usize;
    let own = image * state::WORDS;
    let threshold = of_state(s, state, image, kind, value, s.load(state, own + state::GREATEST));
    let start = image * pieces as usize + piece as usize;
    let count = if piece < pieces { s.load_constant(counts, start) } else { 0 };
    let start = start * room as usize;
    let candidates = Candidates { s, from, start, count, threshold };
    // The block asks for its places at once: the list's length is but one word.
    let found = candidates.exceeding(0, |_, _| {});
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
        let first = if all > 0 { s.atomic_add(state, own + state::KEPT, all) } else { 0 };
        s.set_shared(s.threads() / WARP, first.into());
    }
    s.barrier();
    let first = (s.shared(s.threads() / WARP) + s.shared(s.warp())) as u32;
    candidates.exceeding(first, |place, key| {
        if place < pitch {
            s.store(to, image * pitch as usize + place as usize, key);
        }
    });
}

/// What a warp found in its piece.
#[derive(Clone, Copy)]
struct Candidates<S: Simt> {
    s: S,
    from: S::Buffer<u64>,
    start: usize,
    count: u32,
    threshold: f32,
}

impl<S: Simt> Candidates<S> {
    /// Goes through those that exceed the threshold, which have the places from `place` on; returns the place after the last.
    #[inline(always)]
    fn exceeding(self, mut place: u32, mut take: impl FnMut(u32, u64)) -> u32 {
        let Self { s, from, start, count, threshold } = self;
        let mut first = 0;
        while first < count {
            let i = first + s.lane();
            let key = s.load_constant(from, start + i.min(count - 1) as usize);
            let exceeds = i < count && f32::from_bits(!(key >> 32) as u32) > threshold;
            let all = s.ballot(exceeds);
            if exceeds {
                take(place + (all & below(s.lane())).count_ones(), key);
            }
            place += all.count_ones();
            first += WARP;
        }
        place
    }
}

/// The bits of all lanes below.
#[inline(always)]
pub(super) fn below(lane: u32) -> u32 {
    (1 << lane) - 1
}

pub(crate) fn emit<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    response: S::Buffer<f32>,
    keypoints: S::Buffer<f32>,
    state: S::Buffer<u32>,
    pitch: u32,
    most: u32,
    width: u32,
    height: u32,
    frame: u32,
    behind: u32,
    subpixel: u32,
) {
    let list = List::new(s, state, pitch, most);
    let i = s.index();
    if i >= list.count {
        return;
    }
    let key = s.load_constant(keys, list.at(i));
    let (x, y) = place(key, width);
    let at = f32::from_bits(!(key >> 32) as u32);
    let size = Size { width, height };
    let valid = |x: u32, y: u32| x < width && y < height && size.within_frame((frame, behind), x, y);
    let offset = |before: (u32, u32), after: (u32, u32)| {
        if subpixel == 0 || !valid(before.0, before.1) || !valid(after.0, after.1) {
            return 0.0;
        }
        let read = |(x, y): (u32, u32)| s.load_constant(response, (y * width + x) as usize);
        let (before, after) = (read(before), read(after));
        let bend = (before - 2.0 * at) + after;
        if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 }
    };
    let dx = offset((x.wrapping_sub(1), y), (x + 1, y));
    let dy = offset((x, y.wrapping_sub(1)), (x, y + 1));
    let first = 4 * list.at(i);
    s.store(keypoints, first, x as f32 + dx);
    s.store(keypoints, first + 1, y as f32 + dy);
    s.store(keypoints, first + 2, 1.0);
    s.store(keypoints, first + 3, at);
}
