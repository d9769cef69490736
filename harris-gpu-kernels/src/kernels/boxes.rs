//! Box sums of integers: exact, so that they may come from sums of everything before (across) or from the sum one row
//! up (down), at a cost that does not grow with the size of the box.

use super::geometry::{Plane, Size, inside, start};
use super::number::Number;
use crate::Simt;
use crate::abi::boxes::{MOST, PIECE, RUN, SUM};

/// Sums are taken in 64 bits, in which they may wrap on the way.
trait Integer: Number {
    fn widen(self) -> i64;
    fn narrow(sum: i64) -> Self;
}

impl Integer for i32 {
    #[inline(always)]
    fn widen(self) -> i64 {
        self.into()
    }
    #[inline(always)]
    fn narrow(sum: i64) -> Self {
        sum as i32
    }
}

impl Integer for i64 {
    #[inline(always)]
    fn widen(self) -> i64 {
        self
    }
    #[inline(always)]
    fn narrow(sum: i64) -> Self {
        sum
    }
}

macro_rules! across {
    ($name:ident, $word:ident) => {
        pub(crate) fn $name<S: Simt>(
            s: S,
            from: S::Buffer<$word>,
            to: S::Buffer<$word>,
            width: u32,
            height: u32,
            size: u32,
            shape: u32,
            border: u32,
        ) {
            across(s, from, to, Size { width, height }, size / 2, shape, border);
        }
    };
}

macro_rules! down {
    ($name:ident, $word:ident) => {
        pub(crate) fn $name<S: Simt>(
            s: S,
            from: S::Buffer<$word>,
            to: S::Buffer<$word>,
            width: u32,
            height: u32,
            size: u32,
            shape: u32,
            border: u32,
        ) {
            down(s, from, to, Size { width, height }, size as i32 / 2, shape, border);
        }
    };
}

across!(box_across_i32, i32);
across!(box_across_i64, i64);
down!(box_down_i32, i32);
down!(box_down_i64, i64);

/// Samples of a piece and its surroundings that each thread of a block adds up.
const EACH: u32 = 5;
// With a sum before the first.
const _: () = assert!(PIECE + MOST <= 256 * EACH);

#[inline(always)]
fn across<S: Simt, T: Integer>(
    s: S,
    from: S::Buffer<T>,
    to: S::Buffer<T>,
    size: Size,
    radius: u32,
    shape: u32,
    border: u32,
) {
    let pieces = size.width.div_ceil(PIECE);
    let (left, y) = (s.block() % pieces * PIECE, s.block() / pieces);
    let plane = Plane::new(s, from, size, border);
    let first = EACH * s.thread();
    let sample = |i: u32| match first + i < PIECE + 2 * radius {
        true => plane.at((left + first + i) as i32 - radius as i32, y as i32).widen(),
        false => 0,
    };
    let samples = [sample(0), sample(1), sample(2), sample(3), sample(4)];
    let own = samples.iter().fold(0, |sum: i64, &sample| sum.wrapping_add(sample));
    let mut sum = before(s, own);
    // Cell i gets the sum of the samples before sample i.
    for i in 0..EACH {
        s.set_shared(first + i, sum as u64);
        sum = sum.wrapping_add(samples[i as usize]);
    }
    s.barrier();
    let sum = |from: u32, to: u32| (s.shared(to) as i64).wrapping_sub(s.shared(from) as i64);
    let row = start(s, size) + y as usize * size.width as usize;
    let mut i = s.thread();
    while i < PIECE && left + i < size.width {
        let value = if shape == SUM {
            sum(i, i + 2 * radius + 1)
        } else {
            sum(i + radius + 1, i + 2 * radius + 1).wrapping_sub(sum(i, i + radius))
        };
        s.store(to, row + (left + i) as usize, T::narrow(value));
        i += s.threads();
    }
}

/// The sum of `own` over all threads of the block before this one.
#[inline(always)]
fn before<S: Simt>(s: S, own: i64) -> i64 {
    let up = |word: i64, delta: u32| {
        let [low, high] = [word as u32, (word >> 32) as u32].map(|half| s.shuffle_up(half, delta));
        i64::from(high) << 32 | i64::from(low)
    };
    let mut sum = own;
    let mut delta = 1;
    while delta < 32 {
        let below = up(sum, delta);
        if s.lane() >= delta {
            sum = sum.wrapping_add(below);
        }
        delta *= 2;
    }
    if s.lane() == 31 {
        s.set_shared(s.warp(), sum as u64);
    }
    s.barrier();
    let mut warps = 0_i64;
    for warp in 0..s.warp() {
        warps = warps.wrapping_add(s.shared(warp) as i64);
    }
    // The cells are about to be written anew.
    s.barrier();
    warps.wrapping_add(sum).wrapping_sub(own)
}

#[inline(always)]
fn down<S: Simt, T: Integer>(
    s: S,
    from: S::Buffer<T>,
    to: S::Buffer<T>,
    size: Size,
    radius: i32,
    shape: u32,
    border: u32,
) {
    let (x, run) = size.place(s.index());
    let top = run * RUN;
    if top >= size.height {
        return;
    }
    let plane = start(s, size) + x as usize;
    let at = |y: i32| match inside(border, y, size.height) {
        Some(y) => s.load_constant(from, plane + y as usize * size.width as usize).widen(),
        None => 0,
    };
    // The rows from `first` to `last` beside row y.
    let sum = |y: u32, first: i32, last: i32| {
        let mut sum = 0_i64;
        for i in first..=last {
            sum = sum.wrapping_add(at(y as i32 + i));
        }
        sum
    };
    // From row y to the next.
    let next = |sum: i64, y: u32, first: i32, last: i32| {
        sum.wrapping_add(at(y as i32 + last + 1)).wrapping_sub(at(y as i32 + first))
    };
    let whole = shape == SUM;
    let (first, last) = if whole { (-radius, radius) } else { (1, radius) };
    let mut after = sum(top, first, last);
    let mut before = if whole { 0 } else { sum(top, -radius, -1) };
    let bottom = if size.height - top < RUN { size.height } else { top + RUN };
    for y in top..bottom {
        let i = plane + y as usize * size.width as usize;
        s.store(to, i, T::narrow(after.wrapping_sub(before)));
        after = next(after, y, first, last);
        if !whole {
            before = next(before, y, -radius, -1);
        }
    }
}
