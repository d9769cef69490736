//! Box sums of integers, at a cost that does not depend on the size of the box.
//!
//! Integer sums are exact, so sums along columns are updated from row to row, and sums along rows
//! are differences of prefix sums. A block sweeps a tile of some rows and columns. Each thread
//! keeps the column sums of some columns of the tile and its margins. In each row the block
//! computes their prefix sums in shared memory.

use core::array;

use super::geometry::{Size, inside};
use super::number::Number;
use super::thread_per_column::ROWS_AT_ONCE;
use crate::Simt;
use crate::abi::boxes::{self, COLUMNS_PER_THREAD};
use crate::simt::WARP;

/// An integer type of sums. Intermediate sums may wrap; the differences taken of them are exact.
pub(super) trait Integer: Number + From<i32> {
    /// The sum, wrapping.
    fn plus(self, other: Self) -> Self;
    /// The difference, wrapping.
    fn minus(self, other: Self) -> Self;
    /// The number of the lane whose index is less by `delta`; this lane's number if there is no
    /// such lane.
    fn of_lane_below<S: Simt>(self, s: S, delta: u32) -> Self;
    /// This lane's number plus that of the lane whose index is less by `delta`, if there is such a
    /// lane.
    fn add_lane_below<S: Simt>(self, s: S, delta: u32) -> Self;
}

macro_rules! integers {
    ($($word:ident: $of_lane_below:expr, $add_lane_below:expr;)*) => {$(
        impl Integer for $word {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn of_lane_below<S: Simt>(self, s: S, delta: u32) -> Self {
                ($of_lane_below)(s, self, delta)
            }
            #[inline(always)]
            fn add_lane_below<S: Simt>(self, s: S, delta: u32) -> Self {
                ($add_lane_below)(s, self, delta)
            }
        }
    )*};
}

integers! {
    i32:
        |s: S, word: i32, delta| s.shuffle_up(word as u32, delta) as i32,
        |s: S, word: i32, delta| s.add_lane_below(word as u32, delta) as i32;
    i64:
        |s: S, word: i64, delta| {
            let [low, high] = [word, word >> 32].map(|half| s.shuffle_up(half as u32, delta));
            i64::from(high as i32) << 32 | i64::from(low)
        },
        |s: S, word: i64, delta| {
            let below = word.of_lane_below(s, delta);
            if s.lane() < delta { word } else { word.plus(below) }
        };
}

/// Exclusive prefix sums over the lanes of a warp, of several kinds of numbers in several rows.
#[inline(always)]
pub(super) fn exclusive_prefix_sums<S: Simt, T: Integer, const KINDS: usize, const ROWS: usize>(
    s: S,
    own: [[T; KINDS]; ROWS],
) -> [[T; KINDS]; ROWS] {
    let mut sums = own;
    let mut delta = 1;
    while delta < WARP {
        // All sums take a step together, because each step waits for the one before.
        sums = sums.map(|kinds| kinds.map(|sum| sum.add_lane_below(s, delta)));
        delta *= 2;
    }
    array::from_fn(|row| array::from_fn(|kind| sums[row][kind].minus(own[row][kind])))
}

/// Cells of the prefix sums before one column of each thread. The padding avoids bank conflicts by
/// threads and by columns.
const PLANE: u32 = boxes::THREADS + 4;
/// Cells of all prefix sums of one kind.
const CELLS_PER_KIND: u32 = COLUMNS_PER_THREAD as u32 * PLANE;

/// A tile of the image, as one of its threads sees it.
#[derive(Clone, Copy)]
pub(super) struct Tile<S: Simt> {
    s: S,
    size: Size,
    rule: u32,
    /// First column of the tile.
    left: u32,
    /// The column after the last.
    right: u32,
    /// First row of the tile.
    pub(super) top: i32,
    /// The row after the last.
    pub(super) bottom: i32,
    /// Radius of the box.
    pub(super) radius: i32,
    /// The columns that stand for the thread's columns; none if samples are zero or in no box.
    columns: [Option<u32>; COLUMNS_PER_THREAD],
    /// Whether one instruction can read the samples of these columns.
    loads_four: bool,
}

impl<S: Simt> Tile<S> {
    /// The block's tile for boxes of `aperture` pixels a side; tiles have `rows` rows.
    #[inline(always)]
    pub(super) fn new(s: S, size: Size, rows: u32, aperture: u32, rule: u32) -> Self {
        let (columns, radius) = (boxes::columns(size.width, aperture), aperture / 2);
        let tiles = size.width.div_ceil(columns);
        let (left, part) = (s.block() % tiles * columns, s.block() / tiles);
        let (right, top) = ((left + columns).min(size.width), (part * rows).min(size.height));
        let first = (left + COLUMNS_PER_THREAD as u32 * s.thread()) as i32 - boxes::margin(radius) as i32;
        let end = right + radius;
        let columns = array::from_fn(|i| {
            let x = first + i as i32;
            if x < end as i32 { inside(rule, x, size.width) } else { None }
        });
        let is_inside = first >= 0 && first + (COLUMNS_PER_THREAD as i32) <= size.width as i32;
        Self {
            s,
            size,
            rule,
            left,
            right,
            top: top as i32,
            bottom: size.height.min(top + rows) as i32,
            radius: radius as i32,
            columns,
            loads_four: is_inside && size.width.is_multiple_of(COLUMNS_PER_THREAD as u32),
        }
    }

    /// The samples of the thread's columns in row `y` of a plane of a stack.
    #[inline(always)]
    pub(super) fn row(&self, stack: S::Buffer<i32>, plane: u32, y: i32) -> [i32; COLUMNS_PER_THREAD] {
        let Some(row) = inside(self.rule, y, self.size.height) else { return [0; COLUMNS_PER_THREAD] };
        let first = plane as usize * self.size.pixels() as usize + row as usize * self.size.width as usize;
        if self.loads_four
            && let Some(column) = self.columns[0]
        {
            return self.s.load_four_words(stack, first + column as usize);
        }
        self.columns.map(|column| match column {
            Some(column) => self.s.load_constant(stack, first + column as usize),
            None => 0,
        })
    }

    /// Writes the prefix sums before each column to shared memory, of each kind.
    #[inline(always)]
    pub(super) fn scan<T: Integer, const KINDS: usize>(&self, own: [[T; COLUMNS_PER_THREAD]; KINDS]) {
        let s = self.s;
        let all = own.map(|own| {
            let mut sum = own[0];
            for i in 1..COLUMNS_PER_THREAD {
                sum = sum.plus(own[i]);
            }
            sum
        });
        let [mut sums] = exclusive_prefix_sums(s, [all]);
        // The sums of whole warps come after those of all kinds.
        let warps = |warp: u32, kind: usize| KINDS as u32 * (CELLS_PER_KIND + warp) + kind as u32;
        if s.lane() == WARP - 1 {
            for kind in 0..KINDS {
                s.set_shared(warps(s.warp(), kind), sums[kind].plus(all[kind]).into_bits());
            }
        }
        s.barrier();
        for warp in 0..s.warp() {
            for kind in 0..KINDS {
                sums[kind] = sums[kind].plus(T::from_bits(s.shared(warps(warp, kind))));
            }
        }
        for kind in 0..KINDS {
            let mut sum = sums[kind];
            for i in 0..COLUMNS_PER_THREAD {
                s.set_shared(kind as u32 * CELLS_PER_KIND + i as u32 * PLANE + s.thread(), sum.into_bits());
                sum = sum.plus(own[kind][i]);
            }
        }
        s.barrier();
    }

    /// The column of the thread's pixel `k`; none if it lies outside the tile.
    #[inline(always)]
    pub(super) fn pixel(&self, k: usize) -> Option<u32> {
        let x = self.left + self.column_in_tile(k);
        (x < self.right).then_some(x)
    }

    /// The column of the thread's pixel `k`, relative to the tile.
    #[inline(always)]
    fn column_in_tile(&self, k: usize) -> u32 {
        self.s.thread() + k as u32 * boxes::THREADS
    }

    /// The sum of a kind over columns `from..to`, relative to the column of the thread's pixel `k`.
    #[inline(always)]
    pub(super) fn sum<T: Integer>(&self, kind: usize, k: usize, from: i32, to: i32) -> T {
        let own = (self.column_in_tile(k) + boxes::margin(self.radius as u32)) as i32;
        let before = |distance: i32| {
            let column = (own + distance) as u32;
            let cell = column % COLUMNS_PER_THREAD as u32 * PLANE + column / COLUMNS_PER_THREAD as u32;
            T::from_bits(self.s.shared(kind as u32 * CELLS_PER_KIND + cell))
        };
        before(to).minus(before(from))
    }

    /// The sum of a kind over the whole box around the thread's pixel `k`.
    #[inline(always)]
    pub(super) fn box_sum<T: Integer>(&self, kind: usize, k: usize) -> T {
        self.sum(kind, k, -self.radius, self.radius + 1)
    }
}

/// Box gradients of each plane of a stack: the half of the box after the centre minus the half
/// before it.
pub(crate) fn box_gradient<S: Simt>(
    s: S,
    from: S::Buffer<i32>,
    gx: S::Buffer<i32>,
    gy: S::Buffer<i32>,
    width: u32,
    height: u32,
    rows: u32,
    size: u32,
    border: u32,
) {
    let of_image = Size { width, height };
    let tile = Tile::new(s, of_image, rows, size, border);
    let (top, bottom, r) = (tile.top, tile.bottom, tile.radius);
    let plane = s.block_row();
    let at = |y: i32| tile.row(from, plane, y);
    // Column sums of the whole box, and of its lower half minus its upper half.
    let (mut sums, mut differences) = ([0; COLUMNS_PER_THREAD], [0; COLUMNS_PER_THREAD]);
    let mut y = top - r;
    while y <= top + r {
        let rows: [_; ROWS_AT_ONCE] = array::from_fn(|i| at(y + i as i32));
        for i in 0..ROWS_AT_ONCE {
            let side = y + i as i32 - top;
            let sign = if side > r { 0 } else { side.signum() };
            for column in 0..COLUMNS_PER_THREAD {
                sums[column] += if side > r { 0 } else { rows[i][column] };
                differences[column] += sign * rows[i][column];
            }
        }
        y += ROWS_AT_ONCE as i32;
    }
    let change = |y: i32| [at(y + r + 1), at(y + 1), at(y), at(y - r)];
    let mut ahead = change(top);
    for y in top..bottom {
        let [after, next, own, before] = ahead;
        ahead = change(y + 1);
        tile.scan([sums, differences]);
        for k in 0..COLUMNS_PER_THREAD {
            if let Some(x) = tile.pixel(k) {
                let across = tile.sum::<i32>(0, k, 1, r + 1) - tile.sum::<i32>(0, k, -r, 0);
                let i = plane as usize * of_image.pixels() as usize + of_image.index(x, y as u32) as usize;
                s.store(gx, i, across);
                s.store(gy, i, tile.box_sum::<i32>(1, k));
            }
        }
        for i in 0..COLUMNS_PER_THREAD {
            sums[i] += after[i] - before[i];
            differences[i] += (after[i] - next[i]) - (own[i] - before[i]);
        }
    }
}
