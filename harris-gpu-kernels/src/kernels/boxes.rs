//! Boxes of integers: exact, so that sums down run on from row to row, and sums across are differences of those of everything before, at a
//! cost that does not grow with the size of the box.
//!
//! A block goes down a piece of some rows and columns. Each thread keeps the sums down of some of these columns and of those around
//! them; in each row the block adds them up across in shared memory.

use core::array;

use super::geometry::{Size, inside};
use super::number::Number;
use super::runs::AT_ONCE;
use crate::Simt;
use crate::abi::boxes::{self, EACH};
use crate::simt::WARP;

/// Sums may wrap on the way.
pub(super) trait Integer: Number + From<i32> {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// That of the lane `delta` below; one's own where there is none.
    fn of_lane_below<S: Simt>(self, s: S, delta: u32) -> Self;
    /// With the number of the lane `delta` below, where there is one.
    fn plus_below<S: Simt>(self, s: S, delta: u32) -> Self;
}

macro_rules! integers {
    ($($word:ident: $of_lane_below:expr, $plus_below:expr;)*) => {$(
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
            fn plus_below<S: Simt>(self, s: S, delta: u32) -> Self {
                ($plus_below)(s, self, delta)
            }
        }
    )*};
}

integers! {
    i32:
        |s: S, word: i32, delta| s.shuffle_up(word as u32, delta) as i32,
        |s: S, word: i32, delta| s.plus_below(word as u32, delta) as i32;
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

/// The sums of the numbers of all lanes below, of some kinds of some rows.
#[inline(always)]
pub(super) fn before<S: Simt, T: Integer, const KINDS: usize, const ROWS: usize>(
    s: S,
    own: [[T; KINDS]; ROWS],
) -> [[T; KINDS]; ROWS] {
    let mut sums = own;
    let mut delta = 1;
    while delta < WARP {
        // One beside the other, as each step waits for the one before.
        sums = sums.map(|kinds| kinds.map(|sum| sum.plus_below(s, delta)));
        delta *= 2;
    }
    array::from_fn(|row| array::from_fn(|kind| sums[row][kind].minus(own[row][kind])))
}

/// Cells of the sums before one of each thread's columns: so that neighbours find theirs in banks of their own, by threads and by columns.
const PLANE: u32 = boxes::THREADS + 4;
/// Those of all sums of a kind.
const KIND: u32 = EACH as u32 * PLANE;

/// A thread's part of it.
#[derive(Clone, Copy)]
pub(super) struct Piece<S: Simt> {
    s: S,
    size: Size,
    rule: u32,
    /// The block's columns, and its rows.
    left: u32,
    right: u32,
    pub(super) top: i32,
    pub(super) bottom: i32,
    /// From a pixel to the farthest of the box around it.
    pub(super) radius: i32,
    /// What stands for the thread's columns; none where samples are zero, or no box reaches.
    columns: [Option<u32>; EACH],
    /// Whether these are words that can be read at once.
    at_once: bool,
}

impl<S: Simt> Piece<S> {
    /// That of a box of so many pixels a side, for blocks that go down `rows` rows.
    #[inline(always)]
    pub(super) fn new(s: S, size: Size, rows: u32, aperture: u32, rule: u32) -> Self {
        let (columns, radius) = (boxes::columns(size.width, aperture), aperture / 2);
        let pieces = size.width.div_ceil(columns);
        let (left, part) = (s.block() % pieces * columns, s.block() / pieces);
        let (right, top) = ((left + columns).min(size.width), (part * rows).min(size.height));
        let first = (left + EACH as u32 * s.thread()) as i32 - boxes::around(radius) as i32;
        let end = right + radius;
        let columns = array::from_fn(|i| {
            let x = first + i as i32;
            if x < end as i32 { inside(rule, x, size.width) } else { None }
        });
        let is_inside = first >= 0 && first + (EACH as i32) <= size.width as i32;
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
            at_once: is_inside && size.width.is_multiple_of(EACH as u32),
        }
    }

    /// The samples of its columns in row `y` of a plane of a stack.
    #[inline(always)]
    pub(super) fn row(&self, stack: S::Buffer<i32>, plane: u32, y: i32) -> [i32; EACH] {
        let Some(row) = inside(self.rule, y, self.size.height) else { return [0; EACH] };
        let first = plane as usize * self.size.pixels() as usize + row as usize * self.size.width as usize;
        if self.at_once
            && let Some(column) = self.columns[0]
        {
            return self.s.load_four_words(stack, first + column as usize);
        }
        self.columns.map(|column| match column {
            Some(column) => self.s.load_constant(stack, first + column as usize),
            None => 0,
        })
    }

    /// Leaves the sums before each column in the block's cells, of each kind.
    #[inline(always)]
    pub(super) fn scan<T: Integer, const KINDS: usize>(&self, own: [[T; EACH]; KINDS]) {
        let s = self.s;
        let all = own.map(|own| {
            let mut sum = own[0];
            for i in 1..EACH {
                sum = sum.plus(own[i]);
            }
            sum
        });
        let [mut sums] = before(s, [all]);
        // Those of whole warps come behind.
        let warps = |warp: u32, kind: usize| KINDS as u32 * (KIND + warp) + kind as u32;
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
            for i in 0..EACH {
                s.set_shared(kind as u32 * KIND + i as u32 * PLANE + s.thread(), sum.into_bits());
                sum = sum.plus(own[kind][i]);
            }
        }
        s.barrier();
    }

    /// Pixel number `k` of the thread's: its column, if it is one of the image.
    #[inline(always)]
    pub(super) fn pixel(&self, k: usize) -> Option<u32> {
        let x = self.left + self.of_piece(k);
        (x < self.right).then_some(x)
    }

    #[inline(always)]
    fn of_piece(&self, k: usize) -> u32 {
        self.s.thread() + k as u32 * boxes::THREADS
    }

    /// The sum of a kind from the column `from` pixels after that of the thread's number `k` to the one before `to`.
    #[inline(always)]
    pub(super) fn sum<T: Integer>(&self, kind: usize, k: usize, from: i32, to: i32) -> T {
        let own = (self.of_piece(k) + boxes::around(self.radius as u32)) as i32;
        let before = |distance: i32| {
            let column = (own + distance) as u32;
            let place = column % EACH as u32 * PLANE + column / EACH as u32;
            T::from_bits(self.s.shared(kind as u32 * KIND + place))
        };
        before(to).minus(before(from))
    }

    /// That of the whole box around the pixel.
    #[inline(always)]
    pub(super) fn whole<T: Integer>(&self, kind: usize, k: usize) -> T {
        self.sum(kind, k, -self.radius, self.radius + 1)
    }
}

/// gx and gy: a box's side after the centre minus that before it, of each plane of a stack.
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
    let piece = Piece::new(s, of_image, rows, size, border);
    let (top, bottom, r) = (piece.top, piece.bottom, piece.radius);
    let plane = s.block_row();
    let at = |y: i32| piece.row(from, plane, y);
    // Down the whole box, and of its lower side minus its upper one.
    let (mut sums, mut differences) = ([0; EACH], [0; EACH]);
    let mut y = top - r;
    while y <= top + r {
        let rows: [_; AT_ONCE] = array::from_fn(|i| at(y + i as i32));
        for i in 0..AT_ONCE {
            let side = y + i as i32 - top;
            let sign = if side > r { 0 } else { side.signum() };
            for column in 0..EACH {
                sums[column] += if side > r { 0 } else { rows[i][column] };
                differences[column] += sign * rows[i][column];
            }
        }
        y += AT_ONCE as i32;
    }
    let change = |y: i32| [at(y + r + 1), at(y + 1), at(y), at(y - r)];
    let mut ahead = change(top);
    for y in top..bottom {
        let [after, next, own, before] = ahead;
        ahead = change(y + 1);
        piece.scan([sums, differences]);
        for k in 0..EACH {
            if let Some(x) = piece.pixel(k) {
                let across = piece.sum::<i32>(0, k, 1, r + 1) - piece.sum::<i32>(0, k, -r, 0);
                let i = plane as usize * of_image.pixels() as usize + of_image.number(x, y as u32) as usize;
                s.store(gx, i, across);
                s.store(gy, i, piece.whole::<i32>(1, k));
            }
        }
        for i in 0..EACH {
            sums[i] += after[i] - before[i];
            differences[i] += (after[i] - next[i]) - (own[i] - before[i]);
        }
    }
}
