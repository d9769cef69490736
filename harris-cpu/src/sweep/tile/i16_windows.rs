//! The windows of a tile of i16: from gradients to responses, where one may exceed the threshold.
//!
//! Sums of box windows slide down, as in the row kernels. Sums of binomial windows are taken anew
//! for each row, from weighted gradients.

use super::arithmetic::{Block, Windows};
use super::i16_stages::load;
use crate::peaks::ring::{RING, ResponseRing};
use crate::plan::{MAX_TILE_BOX_RADIUS, MAX_TILE_RADIUS};
use crate::simd::{Simd, SimdKernel};
use crate::sweep::bound::RejectionBound;
use crate::sweep::measure::{Formula, for_measure};
use crate::sweep::vectors_i16::{add_products, greatest_lesser, scaled, weighted};

/// The bounds of tiles of i16.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) rejection: RejectionBound,
    /// Whether the window is binomial; else it is a box.
    pub(crate) is_binomial: bool,
}

/// The kernel for windows of size `S`, binomial where `B`, and `C` channels.
///
/// Each is compiled by itself: unoptimised, a function with all of them would overflow a thread's
/// stack.
struct Kernel<'a, const S: usize, const C: usize, const B: bool>(Windows<'a, i16, Bounds>);

impl<const S: usize, const C: usize, const B: bool> SimdKernel for Kernel<'_, S, C, B> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> u64 {
        for_measure!(v, self.0.measure, formula => self.0.by::<V, _, S, C, B>(v, &formula))
    }
}

/// Puts the responses of rows that are not rejected, and marks candidates. Returns these rows, as
/// bits.
#[inline(always)]
pub(crate) fn respond<V: Simd, const C: usize>(v: V, windows: Windows<'_, i16, Bounds>) -> u64 {
    const { assert!(MAX_TILE_BOX_RADIUS == 5 && MAX_TILE_RADIUS == 3, "a kernel for each radius") };
    match (windows.bounds.is_binomial, windows.radius) {
        (false, 1) => v.enter(Kernel::<3, C, false>(windows)),
        (false, 2) => v.enter(Kernel::<5, C, false>(windows)),
        (false, 3) => v.enter(Kernel::<7, C, false>(windows)),
        (false, 4) => v.enter(Kernel::<9, C, false>(windows)),
        (false, _) => v.enter(Kernel::<11, C, false>(windows)),
        (true, 1) => v.enter(Kernel::<3, C, true>(windows)),
        (true, 2) => v.enter(Kernel::<5, C, true>(windows)),
        (true, _) => v.enter(Kernel::<7, C, true>(windows)),
    }
}

impl Windows<'_, i16, Bounds> {
    #[inline(always)]
    fn by<V: Simd, F: Formula<V>, const S: usize, const C: usize, const B: bool>(
        self,
        v: V,
        formula: &F,
    ) -> u64 {
        let Windows { gradients, first, mut active, responses, slot, .. } = self;
        let respond = Respond::<V, F, S, B> {
            formula,
            scale: v.splat_f32(self.scale),
            limit: v.splat_f32(self.threshold),
            bound: v.splat_i32(if is_unsigned::<S, B>() {
                // Halves of sums are compared: half of the least sum above the bound is at least
                // this plus 1.
                ((i64::from(self.bounds.rejection.lesser) + 1) / 2 - 1) as i32
            } else {
                self.bounds.rejection.lesser
            }),
            valid: u32::MAX >> (32 - self.columns),
            valid_pairs: u32::MAX >> (32 - self.columns.div_ceil(2)),
            word: self.word,
        };
        let mut computed = 0;
        // Most active rows follow one another.
        while active != 0 {
            let start = active.trailing_zeros() as usize;
            let end = start + (active >> start).trailing_ones() as usize;
            active &= !0 << end;
            let mut sums = Sums::<V, S, B>::of::<C>(v, gradients, first + start);
            let mut next = respond.test(v, &sums);
            for row in start..end {
                // A row is tested before the responses of the one above: a mispredicted branch
                // costs less the earlier its condition is known.
                let tested = next;
                if row + 1 < end {
                    sums.advance::<C>(v, gradients, first + row + 1);
                    next = respond.test(v, &sums);
                }
                if tested.passing != 0 {
                    respond.put(v, tested, responses, (slot + row) % RING);
                    computed |= 1 << row;
                }
            }
        }
        computed
    }
}

/// A row's sums of gx², gx·gy and gy² down the columns: of pairs of columns, and of odd ones.
struct Sums<V: Simd, const S: usize, const B: bool> {
    pair_sums: [V::I32; 3],
    odd_sums: [V::I32; 3],
}

impl<V: Simd, const S: usize, const B: bool> Sums<V, S, B> {
    /// Adds up the products of all rows of a window, of binomial ones times their weights.
    #[inline(always)]
    fn of<const C: usize>(v: V, gradients: &[Block<i16>; 3], window: usize) -> Self {
        let (mut pair_sums, mut odd_sums) = ([v.splat_i32(0); 3], [v.splat_i32(0); 3]);
        for channel in 0..C {
            for row in 0..S {
                let [x, y] = load(v, &gradients[channel][window + row]);
                let weighted =
                    if B { [weighted::<V, S>(v, x, row), weighted::<V, S>(v, y, row)] } else { [x, y] };
                add_products(v, [x, y], weighted, &mut pair_sums, &mut odd_sums);
            }
        }
        Self { pair_sums, odd_sums }
    }

    /// Advances to a window from the one above it.
    #[inline(always)]
    fn advance<const C: usize>(&mut self, v: V, gradients: &[Block<i16>; 3], window: usize) {
        if B {
            *self = Self::of::<C>(v, gradients, window);
            return;
        }
        for channel in 0..C {
            let leaves = load(v, &gradients[channel][window - 1]);
            self.slide(v, leaves, load(v, &gradients[channel][window + S - 1]));
        }
    }

    /// Subtracts the products of the row that leaves the window, and adds those of the one that
    /// enters it.
    #[inline(always)]
    fn slide(&mut self, v: V, [u, w]: [V::I16; 2], [x, y]: [V::I16; 2]) {
        // As the row kernels: x² − u² = (x − u)·(x + u), and x·y − u·w = x·(y − w) + (x − u)·w.
        let [dx, dy] = [v.sub_i16(x, u), v.sub_i16(y, w)];
        let [sx, sy] = [v.add_i16(x, u), v.add_i16(y, w)];
        let [ox, oy] = [v.odd_lanes(dx), v.odd_lanes(dy)];
        let (pair_sums, odd_sums) = (&mut self.pair_sums, &mut self.odd_sums);
        pair_sums[0] = v.dot_add(pair_sums[0], dx, sx);
        pair_sums[1] = v.dot_add(v.dot_add(pair_sums[1], x, dy), dx, w);
        pair_sums[2] = v.dot_add(pair_sums[2], dy, sy);
        odd_sums[0] = v.dot_add(odd_sums[0], ox, sx);
        odd_sums[1] = v.dot_add(v.dot_add(odd_sums[1], x, oy), ox, w);
        odd_sums[2] = v.dot_add(odd_sums[2], oy, sy);
    }

    /// The sums over the window's columns from the even and from the odd ones on.
    #[inline(always)]
    fn across(&self, v: V, of: usize) -> [V::I32; 2] {
        across::<V, S, B>(v, self.pair_sums[of], self.odd_sums[of])
    }
}

/// The sums of a row of windows, and which of them may have a response above the threshold.
#[derive(Clone, Copy)]
struct RowTest<V: Simd> {
    /// The pairs of columns that are not rejected, as bits.
    passing: u32,
    /// The sums of gx² and of gy² over even and odd windows.
    a: [V::I32; 2],
    c: [V::I32; 2],
    /// The sums of gx·gy down the columns, of pairs and of odd ones.
    b: [V::I32; 2],
}

/// Computes the responses of rows of a tile.
struct Respond<'a, V: Simd, F, const S: usize, const B: bool> {
    formula: &'a F,
    scale: V::F32,
    limit: V::F32,
    bound: V::I32,
    /// The tile's columns as bits.
    valid: u32,
    /// The pairs of columns that hold these, as bits.
    valid_pairs: u32,
    word: (usize, usize),
}

impl<V: Simd, F: Formula<V>, const S: usize, const B: bool> Respond<'_, V, F, S, B> {
    #[inline(always)]
    fn test(&self, v: V, sums: &Sums<V, S, B>) -> RowTest<V> {
        let [a, c] = [sums.across(v, 0), sums.across(v, 2)];
        let lesser = if is_unsigned::<S, B>() {
            greatest_lesser(v, halves(v, a), halves(v, c))
        } else {
            greatest_lesser(v, a, c)
        };
        let passing = v.greater_i32(lesser, self.bound) & self.valid_pairs;
        RowTest { passing, a, c, b: [sums.pair_sums[1], sums.odd_sums[1]] }
    }

    /// Puts the responses of a row.
    #[inline(always)]
    fn put(&self, v: V, tested: RowTest<V>, responses: &mut ResponseRing, slot: usize) {
        let RowTest { a, b: [pair_sums, odd_sums], c, .. } = tested;
        let b = across::<V, S, B>(v, pair_sums, odd_sums);
        let [a, c] = if is_unsigned::<S, B>() {
            [scaled_unsigned(v, a, self.scale), scaled_unsigned(v, c, self.scale)]
        } else {
            [scaled(v, a, self.scale), scaled(v, c, self.scale)]
        };
        let b = scaled(v, b, self.scale);
        let even = self.formula.response(v, a[0], b[0], c[0]);
        let odd = self.formula.response(v, a[1], b[1], c[1]);
        let [low, high] = v.interleave(even, odd);
        let above = v.greater(low, self.limit) | v.greater(high, self.limit) << V::LANES;
        responses.put(v, slot, self.word.1, [low, high]);
        responses.mark(slot, self.word.0, above & self.valid);
    }
}

/// Whether sums of gx² and gy² over windows of size `S`, binomial where `B`, are unsigned
/// (docs/arithmetic.md, window).
const fn is_unsigned<const S: usize, const B: bool>() -> bool {
    B && S == 7
}

/// Halves of unsigned sums, which compare as signed numbers.
#[inline(always)]
fn halves<V: Simd>(v: V, [even, odd]: [V::I32; 2]) -> [V::I32; 2] {
    [v.shift_right_i32::<1>(even), v.shift_right_i32::<1>(odd)]
}

/// Unsigned sums as floats, scaled.
#[inline(always)]
fn scaled_unsigned<V: Simd>(v: V, [even, odd]: [V::I32; 2], scale: V::F32) -> [V::F32; 2] {
    [v.mul(v.unsigned_to_f32(even), scale), v.mul(v.unsigned_to_f32(odd), scale)]
}

/// Sums over S columns, from the even and from the odd ones on; binomial where `B`.
#[inline(always)]
fn across<V: Simd, const S: usize, const B: bool>(v: V, pair_sums: V::I32, odd_sums: V::I32) -> [V::I32; 2] {
    if B {
        binomial_across::<V, S>(v, pair_sums, odd_sums)
    } else {
        box_across::<V, S>(v, pair_sums, odd_sums)
    }
}

#[inline(always)]
fn box_across<V: Simd, const S: usize>(v: V, pair_sums: V::I32, odd_sums: V::I32) -> [V::I32; 2] {
    // The sum of all pairs but the first, and the odd column of the last one.
    let (mut pair, mut odd) = (v.shifted_i32(pair_sums, 1), v.shifted_i32(odd_sums, 1));
    let mut inner = pair;
    if S <= 7 {
        for _ in 1..S / 2 {
            pair = v.shifted_i32(pair, 1);
            odd = v.shifted_i32(odd, 1);
            inner = v.add_i32(inner, pair);
        }
    } else {
        let two = v.add_i32(pair_sums, pair);
        inner = v.shifted_i32(v.add_i32(two, v.shifted_i32(two, 2)), 1);
        if S == 11 {
            inner = v.add_i32(inner, v.shifted_i32(pair_sums, 5));
        }
        odd = v.shifted_i32(odd_sums, S / 2);
    }
    [v.sub_i32(v.add_i32(pair_sums, inner), odd), v.add_i32(inner, odd_sums)]
}

#[inline(always)]
fn binomial_across<V: Simd, const S: usize>(v: V, pair_sums: V::I32, odd_sums: V::I32) -> [V::I32; 2] {
    let (mut even, mut odd) = (v.sub_i32(pair_sums, odd_sums), odd_sums);
    // [1 1] across, once for each column after the first.
    for _ in 1..S {
        (even, odd) = (v.add_i32(even, odd), v.add_i32(odd, v.shifted_i32(even, 1)));
    }
    [even, odd]
}

/// The gradient gate of tiles of i16.
#[derive(Clone, Copy)]
pub(crate) struct RowGate {
    /// A bound that gx² + gy², summed over a pair of columns, exceeds in some row of each window
    /// with a response above the threshold.
    bound: i32,
    /// The pairs of columns that windows read, as bits.
    window_pairs: u32,
}

// Scharr's gradient is the greatest.
const _: () = assert!(3 * 2 * 2 * (16 * 255_i64).pow(2) <= i32::MAX as i64);

impl RowGate {
    /// The gate for so many columns of windows of a radius.
    #[inline(always)]
    pub(crate) fn new(rejection: RejectionBound, (radius, binomial): (usize, bool), columns: usize) -> Self {
        let least = i64::from(rejection.trace.div_ceil(most_weight(radius, binomial)));
        Self {
            bound: i32::try_from(least - 1).unwrap_or(i32::MAX),
            window_pairs: u32::MAX >> (32 - (columns + 2 * radius).div_ceil(2)),
        }
    }

    /// Whether gx² + gy², summed over all channels, exceeds the bound in any pair of columns.
    #[inline(always)]
    pub(crate) fn is_active<V: Simd>(&self, v: V, squares: V::I32) -> bool {
        v.greater_i32(squares, v.splat_i32(self.bound)) & self.window_pairs != 0
    }

    /// The active rows among the first `row_count` ones of `C` channels, as bits.
    #[inline(always)]
    pub(crate) fn active_rows<V: Simd, const C: usize>(
        &self,
        v: V,
        gradients: &[Block<i16>; 3],
        row_count: usize,
    ) -> u64 {
        let mut active = 0;
        for row in 0..row_count {
            let mut squares = v.splat_i32(0);
            for channel in 0..C {
                let [x, y] = load(v, &gradients[channel][row]);
                squares = v.dot_add(v.dot_add(squares, x, x), y, y);
            }
            active |= u64::from(self.is_active(v, squares)) << row;
        }
        active
    }
}

/// The greater weight of each pair of columns in a window, added up over all rows and pairs.
///
/// A window's A + C is at most this times the greatest gx² + gy² of a pair of columns in it.
const fn most_weight(radius: usize, binomial: bool) -> u32 {
    if !binomial {
        let radius = radius as u32;
        return (2 * radius + 1) * (radius + 1);
    }
    let weights: [u32; 8] = match radius {
        1 => [1, 2, 1, 0, 0, 0, 0, 0],
        2 => [1, 4, 6, 4, 1, 0, 0, 0],
        _ => [1, 6, 15, 20, 15, 6, 1, 0],
    };
    // The first column may be the odd one of its pair: weights are the same from both ends.
    let (mut down, mut across, mut i) = (0, 0, 0);
    while i < weights.len() {
        let [a, b] = [weights[i], weights[i + 1]];
        down += a + b;
        across += if a > b { a } else { b };
        i += 2;
    }
    down * across
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With gx² + gy² of 1 in one column of each pair and 0 in the other, the greatest window sum
    /// is the weight.
    #[test]
    fn no_window_has_more_than_the_greatest_pair_in_it_times_the_weight() {
        for (radius, binomial, weights) in [
            (1, false, &[1, 1, 1][..]),
            (2, false, &[1; 5]),
            (3, false, &[1; 7]),
            (5, false, &[1; 11]),
            (1, true, &[1, 2, 1]),
            (2, true, &[1, 4, 6, 4, 1]),
            (3, true, &[1, 6, 15, 20, 15, 6, 1]),
        ] {
            let down: u32 = weights.iter().sum();
            for first in 0..2 {
                let mut greatest = 0;
                // Bit i: which column of pair i has all.
                for places in 0..1 << 6 {
                    let across =
                        (0..weights.len()).filter(|i| (first + i) % 2 == places >> ((first + i) / 2) & 1);
                    greatest = greatest.max(across.map(|i| weights[i]).sum::<u32>() * down);
                }
                assert_eq!(greatest, most_weight(radius, binomial), "{weights:?} from column {first} on");
            }
        }
    }
}
