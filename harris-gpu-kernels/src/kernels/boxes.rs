//! Box sums of integers: exact, so that they may come from sums of everything before (across) or from the sum one row
//! up (down), at a cost that does not grow with the size of the box.

use super::geometry::{Plane, Size, start};
use super::number::Number;
use super::runs::{Run, down};
use crate::Simt;
use crate::abi::boxes::{MOST, PIECE, SUM};

/// Sums may wrap on the way.
pub(super) trait Integer: Number {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($word:ident)*) => {$(
        impl Integer for $word {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}

integers!(i32 i64);

/// Samples of a piece and its surroundings that each thread of a block adds up, and sums that it takes.
const EACH: u32 = 4;
pub(super) const EACH_SUMMED: usize = 3;
// With a sum before the first.
const _: () = assert!(PIECE + MOST <= 256 * EACH);

/// The block's piece of a row of so many pixels: its first column, and the row.
#[inline(always)]
pub(super) fn piece<S: Simt>(s: S, width: u32) -> (u32, u32) {
    let pieces = width.div_ceil(PIECE);
    (s.block() % pieces * PIECE, s.block() / pieces)
}

/// The pixel of its piece that is number `k` of a thread's.
#[inline(always)]
pub(super) fn pixel<S: Simt>(s: S, k: u32) -> u32 {
    s.thread() + k * (PIECE / EACH_SUMMED as u32)
}

/// Leaves in the block's cells the sums of the samples before each one of its piece, from the one `radius` to the left on.
#[inline(always)]
pub(super) fn scan<S: Simt, T: Integer>(s: S, plane: Plane<S, T>, left: u32, y: u32, radius: u32) {
    let first = EACH * s.thread();
    let row = plane.row(y as i32);
    let sample = |i: u32| match first + i < PIECE + 2 * radius {
        true => plane.sample(row, plane.column((left + first + i) as i32 - radius as i32)),
        false => T::ZERO,
    };
    let samples = [sample(0), sample(1), sample(2), sample(3)];
    let mut own = T::ZERO;
    for i in 0..EACH as usize {
        own = own.plus(samples[i]);
    }
    let mut sum = before(s, own);
    for i in 0..EACH {
        s.set_shared(first + i, sum.into_bits());
        sum = sum.plus(samples[i as usize]);
    }
    s.barrier();
}

/// The sum of the samples from number `from` to the one before `to`.
#[inline(always)]
fn sum<S: Simt, T: Integer>(s: S, from: u32, to: u32) -> T {
    T::from_bits(s.shared(to)).minus(T::from_bits(s.shared(from)))
}

/// The sum of the box around pixel `i` of the piece.
#[inline(always)]
pub(super) fn whole<S: Simt, T: Integer>(s: S, i: u32, size: u32) -> T {
    sum(s, i, i + size)
}

pub(crate) fn box_across_i32<S: Simt>(
    s: S,
    from: S::Buffer<i32>,
    to: S::Buffer<i32>,
    width: u32,
    height: u32,
    size: u32,
    shape: u32,
    border: u32,
) {
    let of_image = Size { width, height };
    let (left, y) = piece(s, width);
    let radius = size / 2;
    scan(s, Plane::new(s, from, of_image, border), left, y, radius);
    for k in 0..EACH_SUMMED as u32 {
        let i = pixel(s, k);
        if left + i < width {
            let value = if shape == SUM {
                whole::<S, i32>(s, i, size)
            } else {
                sum::<S, i32>(s, i + radius + 1, i + size).minus(sum(s, i, i + radius))
            };
            s.store(to, start(s, of_image) + of_image.number(left + i, y) as usize, value);
        }
    }
}

/// The sum of `own` over all threads of the block before this one.
#[inline(always)]
fn before<S: Simt, T: Integer>(s: S, own: T) -> T {
    let up = |word: T, delta: u32| {
        let bits = word.into_bits();
        let low = u64::from(s.shuffle_up(bits as u32, delta));
        let high = if T::BYTES == 8 { u64::from(s.shuffle_up((bits >> 32) as u32, delta)) } else { 0 };
        T::from_bits(high << 32 | low)
    };
    let mut sum = own;
    let mut delta = 1;
    while delta < 32 {
        let below = up(sum, delta);
        if s.lane() >= delta {
            sum = sum.plus(below);
        }
        delta *= 2;
    }
    if s.lane() == 31 {
        s.set_shared(s.warp(), sum.into_bits());
    }
    s.barrier();
    let mut warps = T::ZERO;
    for warp in 0..s.warp() {
        warps = warps.plus(T::from_bits(s.shared(warp)));
    }
    // The cells are about to be written anew.
    s.barrier();
    warps.plus(sum).minus(own)
}

pub(crate) fn box_down_i32<S: Simt>(
    s: S,
    from: S::Buffer<i32>,
    to: S::Buffer<i32>,
    width: u32,
    height: u32,
    rows: u32,
    size: u32,
    shape: u32,
    border: u32,
) {
    let of_image = Size { width, height };
    let run = Run::new(s, of_image, rows);
    if run.top == run.bottom {
        return;
    }
    let plane = Plane::new(s, from, of_image, border);
    let at = |y: i32| plane.sample(plane.row(y), Some(run.x));
    let (top, bottom, r) = (run.top as i32, run.bottom as i32, (size / 2) as i32);
    let store = |y: i32, sum: i32| {
        s.store(to, start(s, of_image) + of_image.number(run.x, y as u32) as usize, sum);
    };
    let mut sum = 0;
    if shape == SUM {
        down(top - r, top + r + 1, at, |_, sample| sum += sample);
        down(
            top,
            bottom,
            |y| [at(y + r + 1), at(y - r)],
            |y, [enters, leaves]| {
                store(y, sum);
                sum += enters - leaves;
            },
        );
    } else {
        down(top - r, top, at, |_, sample| sum -= sample);
        down(top + 1, top + r + 1, at, |_, sample| sum += sample);
        down(
            top,
            bottom,
            |y| [at(y + r + 1), at(y + 1), at(y), at(y - r)],
            |y, [after, next, own, before]| {
                store(y, sum);
                sum += (after - next) - (own - before);
            },
        );
    }
}
