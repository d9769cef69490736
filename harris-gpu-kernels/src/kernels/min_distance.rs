//! Removes corners that are too near to a stronger one.

use super::corner_list::{lanes_below, pixel_of_key};
use crate::Simt;
use crate::abi::order::{KEPT, SHARES_PER_COUNT, TOO_NEAR, UNDECIDED};
use crate::abi::state;
use crate::simt::WARP;

/// Inserts each corner into the cell of the grid that contains its pixel, and marks it as
/// undecided.
pub(crate) fn grid_insert<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    cells: S::Buffer<u64>,
    cell_counts: S::Buffer<u32>,
    decisions: S::Buffer<u32>,
    shares: S::Buffer<u32>,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    width: u32,
    side: u32,
    columns: u32,
    capacity: u32,
    limit: u32,
    is_first: u32,
) {
    let i = s.index();
    let kept = s.load(state, state::LENGTH);
    let all = if kept > most { u32::MAX } else { kept.min(limit) };
    if i == 0 {
        s.store(state, state::DISTANCE_INPUT, all);
        if is_first == 1 {
            s.store(state, state::LENGTH_BEFORE_DISTANCE, kept);
        }
    }
    if i <= parts / SHARES_PER_COUNT {
        s.store(shares, i as usize, 0);
    }
    if i < all && all <= most {
        let key = s.load_constant(keys, i as usize);
        let (x, y) = pixel_of_key(key, width);
        let cell = y / side * columns + x / side;
        let number = s.atomic_add(cell_counts, cell as usize, 1);
        s.store(
            cells,
            cell as usize * capacity as usize + number as usize,
            u64::from(i) << 32 | u64::from(key as u32),
        );
        s.store(decisions, i as usize, UNDECIDED);
    }
}

/// The first rank of shares `share..share + number` of a list, and the rank after their last.
///
/// There are no ranks if the list was too long for its buffer: some corners are missing then.
#[inline(always)]
fn share_of<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    share: u32,
    number: u32,
) -> (u32, u32) {
    let length = s.load(state, state::DISTANCE_INPUT);
    let length = if length > most { 0 } else { length };
    let per_share = length.div_ceil(parts);
    ((share * per_share).min(length), ((share + number) * per_share).min(length))
}

/// Decides for each corner of a share whether it is kept or rejected, and counts the kept ones.
///
/// A corner is rejected as soon as a stronger corner that is too near is kept. It is kept once all
/// such corners are rejected; until then its warp waits. There is no deadlock: a corner waits only
/// for lesser ranks. Blocks take shares in ascending order as they start, and process the ranks of
/// a share in ascending order. So the least undecided rank never waits.
pub(crate) fn min_distance_propagate<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    cells: S::Buffer<u64>,
    cell_counts: S::Buffer<u32>,
    decisions: S::Buffer<u32>,
    shares: S::Buffer<u32>,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    width: u32,
    side: u32,
    columns: u32,
    rows: u32,
    capacity: u32,
    squared: u64,
) {
    let grid = Grid { side, columns, rows, capacity };
    decide_share(
        s,
        keys,
        (cells, cell_counts),
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

/// Decides for each corner of a share whether it is kept, by the distances of refined keypoints.
///
/// See [`min_distance_propagate`], which takes the distances of pixels.
pub(crate) fn min_distance_propagate_subpixel<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    keypoints: S::Buffer<f32>,
    cells: S::Buffer<u64>,
    cell_counts: S::Buffer<u32>,
    decisions: S::Buffer<u32>,
    shares: S::Buffer<u32>,
    state: S::Buffer<u32>,
    most: u32,
    parts: u32,
    width: u32,
    side: u32,
    columns: u32,
    rows: u32,
    capacity: u32,
    squared: f64,
) {
    let grid = Grid { side, columns, rows, capacity };
    decide_share(
        s,
        keys,
        (cells, cell_counts),
        (decisions, shares),
        state,
        (most, parts, width),
        grid,
        |own, other, _, _| {
            let coordinate =
                |i: u32, axis: usize| f64::from(s.load_constant(keypoints, 4 * i as usize + axis));
            let (dx, dy) =
                (coordinate(own, 0) - coordinate(other, 0), coordinate(own, 1) - coordinate(other, 1));
            dx * dx + dy * dy < squared
        },
    );
}

/// A grid of square cells that hold corners.
#[derive(Clone, Copy)]
struct Grid {
    /// Side of a cell in pixels.
    side: u32,
    columns: u32,
    rows: u32,
    /// Corners that a cell can hold.
    capacity: u32,
}

/// The body of [`min_distance_propagate`] and [`min_distance_propagate_subpixel`].
///
/// `is_near` returns whether two corners, by their ranks and pixels, are too near to each other.
#[inline(always)]
fn decide_share<S: Simt>(
    s: S,
    keys: S::Buffer<u64>,
    (cells, cell_counts): (S::Buffer<u64>, S::Buffer<u32>),
    (decisions, shares): (S::Buffer<u32>, S::Buffer<u32>),
    state: S::Buffer<u32>,
    (most, parts, width): (u32, u32, u32),
    Grid { side, columns, rows, capacity }: Grid,
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
        let (x, y) = pixel_of_key(s.load_constant(keys, i as usize), width);
        // Three lanes for each of the nine cells around the corner.
        let neighbour = s.lane() / 3;
        let column = (x / side + neighbour % 3).wrapping_sub(1);
        let row = (y / side + neighbour / 3).wrapping_sub(1);
        let is_cell = neighbour < 9 && column < columns && row < rows;
        let cell = if is_cell { (row * columns + column) as usize } else { 0 };
        let count = if is_cell { s.load_constant(cell_counts, cell) } else { 0 };
        // The first entry of the lane's cell that may be undecided.
        let mut from = s.lane() % 3;
        let mut decision = UNDECIDED;
        while decision == UNDECIDED {
            decision = KEPT;
            let mut number = from;
            while decision != TOO_NEAR && s.any(number < count) {
                // A stronger corner that is too near; the corner itself if there is none.
                let mut other = i;
                if number < count {
                    let entry = s.load_constant(cells, cell * capacity as usize + number as usize);
                    let rank = (entry >> 32) as u32;
                    if is_near(i, rank, (x, y), pixel_of_key(entry, width)) {
                        other = other.min(rank);
                    }
                }
                let decision_of_other =
                    if other < i { s.load_relaxed(decisions, other as usize) } else { TOO_NEAR };
                if s.any(decision_of_other == KEPT) {
                    decision = TOO_NEAR;
                } else if s.any(decision_of_other == UNDECIDED) && decision == KEPT {
                    decision = UNDECIDED;
                    from = number;
                }
                number += 3;
            }
        }
        if s.lane() == 0 {
            s.atomic_max(decisions, i as usize, decision);
            if decision == KEPT {
                s.atomic_add(shares, (1 + share / SHARES_PER_COUNT) as usize, 1);
            }
        }
        i += s.threads() / WARP;
    }
}

/// Compacts the kept corners in their order, and writes their number to the state and a report.
pub(crate) fn min_distance_compact<S: Simt>(
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
    if own >= parts / SHARES_PER_COUNT {
        return;
    }
    let (first, end) = share_of(s, state, most, parts, own * SHARES_PER_COUNT, SHARES_PER_COUNT);
    // The number of kept corners in earlier shares.
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
            let index = kept + (all & lanes_below(s.lane())).count_ones();
            s.store(to, index as usize, s.load_constant(from, i as usize));
        }
        kept += all.count_ones();
        start += WARP;
    }
    // If the list was too long for its buffer, its length stays in the state.
    if own + 1 == parts / SHARES_PER_COUNT && s.lane() == 0 && s.load(state, state::DISTANCE_INPUT) <= most {
        s.store(state, state::LENGTH, kept);
        s.store(report, state::LENGTH, kept);
        s.store(report, state::LENGTH_BEFORE_DISTANCE, s.load_constant(state, state::LENGTH_BEFORE_DISTANCE));
    }
}
