//! The windows of a tile: from gradients to responses, where there may be one above the threshold.
//!
//! The sums of box windows run on, as those of the row kernels do ([`super::tensor`]); those of binomial ones are taken anew for each
//! row, from gradients times weights.

use harris_core::Measure;

use super::quiet::Quiet;
use super::responses::{RING, Responses};
use super::tensor::{Formula, Harris, Noble, ShiTomasi, add_products, greatest_lesser, scaled, weighted};
use super::tiles::{Block, MOST_BOX, MOST_TILED, load};
use crate::simd::{Simd, Work};

/// The windows of a tile and a block of rows.
pub(super) struct Windows<'a> {
    pub(super) measure: Measure,
    pub(super) scale: f32,
    pub(super) threshold: f32,
    pub(super) quiet: Quiet,
    /// Of each channel; and the first row of the first row's window.
    pub(super) gradients: &'a [Block; 3],
    pub(super) first: usize,
    /// The rows of responses in whose windows something is heard, as bits.
    pub(super) heard: u64,
    pub(super) responses: &'a mut Responses,
    /// The place of the first row of responses.
    pub(super) slot: usize,
    /// The tile's number, and its first element in a row of responses.
    pub(super) word: (usize, usize),
    /// Its columns.
    pub(super) columns: usize,
}

/// The kernel for windows of size `S` and `C` channels of a tile; `B` tells binomial windows from boxes. Each is compiled by itself: unoptimised,
/// a function that held them all would overflow a thread's stack.
struct Kernel<'a, const S: usize, const C: usize, const B: bool>(Windows<'a>);

impl<const S: usize, const C: usize, const B: bool> Work for Kernel<'_, S, C, B> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> u64 {
        match self.0.measure {
            Measure::Harris { k } => self.0.by::<V, _, S, C, B>(v, &Harris { k: v.splat_f32(k) }),
            Measure::ShiTomasi => self.0.by::<V, _, S, C, B>(v, &ShiTomasi { half: v.splat_f32(0.5) }),
            Measure::Noble { eps } => {
                self.0.by::<V, _, S, C, B>(v, &Noble { two: v.splat_f32(2.0), eps: v.splat_f32(eps) })
            }
        }
    }
}

impl<'a> Windows<'a> {
    /// Puts and marks the responses of rows that are not quiet; returns which, as bits.
    #[inline(always)]
    pub(super) fn respond<V: Simd>(self, v: V, (radius, binomial, channels): (usize, bool, usize)) -> u64 {
        match (binomial, channels) {
            (false, 1) => self.boxes::<V, 1>(v, radius),
            (false, _) => self.boxes::<V, 3>(v, radius),
            (true, 1) => self.binomials::<V, 1>(v, radius),
            (true, _) => self.binomials::<V, 3>(v, radius),
        }
    }

    #[inline(always)]
    fn boxes<V: Simd, const C: usize>(self, v: V, radius: usize) -> u64 {
        const { assert!(MOST_BOX == 5, "radii of boxes") };
        match radius {
            1 => v.enter(Kernel::<'a, 3, C, false>(self)),
            2 => v.enter(Kernel::<'a, 5, C, false>(self)),
            3 => v.enter(Kernel::<'a, 7, C, false>(self)),
            4 => v.enter(Kernel::<'a, 9, C, false>(self)),
            _ => v.enter(Kernel::<'a, 11, C, false>(self)),
        }
    }

    #[inline(always)]
    fn binomials<V: Simd, const C: usize>(self, v: V, radius: usize) -> u64 {
        const { assert!(MOST_TILED == 3, "radii of binomials") };
        match radius {
            1 => v.enter(Kernel::<'a, 3, C, true>(self)),
            2 => v.enter(Kernel::<'a, 5, C, true>(self)),
            _ => v.enter(Kernel::<'a, 7, C, true>(self)),
        }
    }

    #[inline(always)]
    fn by<V: Simd, F: Formula<V>, const S: usize, const C: usize, const B: bool>(
        self,
        v: V,
        formula: &F,
    ) -> u64 {
        let Windows { gradients, first, mut heard, responses, slot, .. } = self;
        let respond = Respond::<V, F, S, B> {
            formula,
            scale: v.splat_f32(self.scale),
            limit: v.splat_f32(self.threshold),
            quiet: v.splat_i32(if is_unsigned::<S, B>() {
                // Of halves: what is more than it has half of one more at least.
                ((i64::from(self.quiet.lesser) + 1) / 2 - 1) as i32
            } else {
                self.quiet.lesser
            }),
            valid: u32::MAX >> (32 - self.columns),
            valid_pairs: u32::MAX >> (32 - self.columns.div_ceil(2)),
            word: self.word,
        };
        let mut computed = 0;
        // Rows that are heard mostly follow each other.
        while heard != 0 {
            let start = heard.trailing_zeros() as usize;
            let end = start + (heard >> start).trailing_ones() as usize;
            heard &= !0 << end;
            let mut sums = Sums::<V, S, B>::of::<C>(v, gradients, first + start);
            let mut next = respond.ask(v, &sums);
            for row in start..end {
                // The question about a row is put while the one before it is responded to: what is not foreseen costs less the earlier
                // it is known.
                let asked = next;
                if row + 1 < end {
                    sums.go_on::<C>(v, gradients, first + row + 1);
                    next = respond.ask(v, &sums);
                }
                if asked.loud != 0 {
                    respond.put(v, asked, responses, (slot + row) % RING);
                    computed |= 1 << row;
                }
            }
        }
        computed
    }
}

/// A row's sums of gx², gx·gy and gy², down the columns: of pairs of these, and of odd ones.
struct Sums<V: Simd, const S: usize, const B: bool> {
    pairs: [V::I32; 3],
    odds: [V::I32; 3],
}

impl<V: Simd, const S: usize, const B: bool> Sums<V, S, B> {
    /// Adds up the products of all rows of a window, of binomial ones times their weights.
    #[inline(always)]
    fn of<const C: usize>(v: V, gradients: &[Block; 3], window: usize) -> Self {
        let (mut pairs, mut odds) = ([v.splat_i32(0); 3], [v.splat_i32(0); 3]);
        for channel in 0..C {
            for row in 0..S {
                let [x, y] = load(v, &gradients[channel][window + row]);
                let weighted =
                    if B { [weighted::<V, S>(v, x, row), weighted::<V, S>(v, y, row)] } else { [x, y] };
                add_products(v, [x, y], weighted, &mut pairs, &mut odds);
            }
        }
        Self { pairs, odds }
    }

    /// Goes on to a window from the one above it.
    #[inline(always)]
    fn go_on<const C: usize>(&mut self, v: V, gradients: &[Block; 3], window: usize) {
        if B {
            *self = Self::of::<C>(v, gradients, window);
            return;
        }
        for channel in 0..C {
            let leaves = load(v, &gradients[channel][window - 1]);
            self.slide(v, leaves, load(v, &gradients[channel][window + S - 1]));
        }
    }

    /// Takes off the products of the row that leaves the window, and adds those of the one that enters it.
    #[inline(always)]
    fn slide(&mut self, v: V, [u, w]: [V::I16; 2], [x, y]: [V::I16; 2]) {
        // As the row kernels: x² − u² = (x − u)·(x + u), and x·y − u·w = x·(y − w) + (x − u)·w.
        let [dx, dy] = [v.sub_i16(x, u), v.sub_i16(y, w)];
        let [sx, sy] = [v.add_i16(x, u), v.add_i16(y, w)];
        let [ox, oy] = [v.odd_lanes(dx), v.odd_lanes(dy)];
        let (pairs, odds) = (&mut self.pairs, &mut self.odds);
        pairs[0] = v.dot_add(pairs[0], dx, sx);
        pairs[1] = v.dot_add(v.dot_add(pairs[1], x, dy), dx, w);
        pairs[2] = v.dot_add(pairs[2], dy, sy);
        odds[0] = v.dot_add(odds[0], ox, sx);
        odds[1] = v.dot_add(v.dot_add(odds[1], x, oy), ox, w);
        odds[2] = v.dot_add(odds[2], oy, sy);
    }

    /// The sums over the window's columns from the even and from the odd ones on.
    #[inline(always)]
    fn across(&self, v: V, of: usize) -> [V::I32; 2] {
        across::<V, S, B>(v, self.pairs[of], self.odds[of])
    }
}

/// What is known of a row of windows before it is responded to.
#[derive(Clone, Copy)]
struct Asked<V: Simd> {
    /// Which pairs of columns are not quiet, as bits.
    loud: u32,
    /// The sums of gx² and of gy² over even and odd windows.
    a: [V::I32; 2],
    c: [V::I32; 2],
    /// Of gx·gy, down the columns, those of pairs and of odd ones.
    b: [V::I32; 2],
}

/// Computes the responses of rows of a tile.
struct Respond<'a, V: Simd, F, const S: usize, const B: bool> {
    formula: &'a F,
    scale: V::F32,
    limit: V::F32,
    quiet: V::I32,
    /// The tile's columns, and pairs of columns, as bits.
    valid: u32,
    valid_pairs: u32,
    word: (usize, usize),
}

impl<V: Simd, F: Formula<V>, const S: usize, const B: bool> Respond<'_, V, F, S, B> {
    #[inline(always)]
    fn ask(&self, v: V, sums: &Sums<V, S, B>) -> Asked<V> {
        let [a, c] = [sums.across(v, 0), sums.across(v, 2)];
        let lesser = if is_unsigned::<S, B>() {
            greatest_lesser(v, halves(v, a), halves(v, c))
        } else {
            greatest_lesser(v, a, c)
        };
        let loud = v.greater_i32(lesser, self.quiet) & self.valid_pairs;
        Asked { loud, a, c, b: [sums.pairs[1], sums.odds[1]] }
    }

    /// Puts the responses of a row.
    #[inline(always)]
    fn put(&self, v: V, asked: Asked<V>, responses: &mut Responses, slot: usize) {
        let Asked { a, b: [pairs, odds], c, .. } = asked;
        let b = across::<V, S, B>(v, pairs, odds);
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

/// Whether sums of gx² and of gy² over windows of size `S`, binomial ones where `B`, have no sign: see [`crate::bounds::fits_u32`].
const fn is_unsigned<const S: usize, const B: bool>() -> bool {
    B && S == 7
}

/// Halves of sums without a sign, which compare as numbers with one.
#[inline(always)]
fn halves<V: Simd>(v: V, [even, odd]: [V::I32; 2]) -> [V::I32; 2] {
    [v.shift_right_i32::<1>(even), v.shift_right_i32::<1>(odd)]
}

/// As [`scaled`], of sums without a sign.
#[inline(always)]
fn scaled_unsigned<V: Simd>(v: V, [even, odd]: [V::I32; 2], scale: V::F32) -> [V::F32; 2] {
    [v.mul(v.unsigned_to_f32(even), scale), v.mul(v.unsigned_to_f32(odd), scale)]
}

/// The sums over S columns from the even and from the odd ones on; binomial ones where `B`.
#[inline(always)]
fn across<V: Simd, const S: usize, const B: bool>(v: V, pairs: V::I32, odds: V::I32) -> [V::I32; 2] {
    if B { binomial_across::<V, S>(v, pairs, odds) } else { box_across::<V, S>(v, pairs, odds) }
}

#[inline(always)]
fn box_across<V: Simd, const S: usize>(v: V, pairs: V::I32, odds: V::I32) -> [V::I32; 2] {
    // Whole pairs after the first, and the odd column of the last of them.
    let (mut pair, mut odd) = (v.ahead_i32(pairs, 1), v.ahead_i32(odds, 1));
    let mut whole = pair;
    if S <= 7 {
        for _ in 1..S / 2 {
            pair = v.ahead_i32(pair, 1);
            odd = v.ahead_i32(odd, 1);
            whole = v.add_i32(whole, pair);
        }
    } else {
        let two = v.add_i32(pairs, pair);
        whole = v.ahead_i32(v.add_i32(two, v.ahead_i32(two, 2)), 1);
        if S == 11 {
            whole = v.add_i32(whole, v.ahead_i32(pairs, 5));
        }
        odd = v.ahead_i32(odds, S / 2);
    }
    [v.sub_i32(v.add_i32(pairs, whole), odd), v.add_i32(whole, odds)]
}

#[inline(always)]
fn binomial_across<V: Simd, const S: usize>(v: V, pairs: V::I32, odds: V::I32) -> [V::I32; 2] {
    let (mut even, mut odd) = (v.sub_i32(pairs, odds), odds);
    // [1 1] across, once for each column after the first.
    for _ in 1..S {
        (even, odd) = (v.add_i32(even, odd), v.add_i32(odd, v.ahead_i32(even, 1)));
    }
    [even, odd]
}

/// What of gradients suffices for a response above the threshold.
#[derive(Clone, Copy)]
pub(super) struct Listen {
    /// What gx² + gy² of a pair of columns exceed in some row of a window with such a response.
    limit: i32,
    /// The pairs of columns that windows read, as bits.
    pairs: u32,
}

// Scharr's gradient is the greatest.
const _: () = assert!(3 * 2 * 2 * (16 * 255_i64).pow(2) <= i32::MAX as i64);

impl Listen {
    /// To gradients for windows of a radius, and so many columns of them.
    #[inline(always)]
    pub(super) fn new(quiet: Quiet, (radius, binomial): (usize, bool), columns: usize) -> Self {
        let least = i64::from(quiet.trace.div_ceil(most_weight(radius, binomial)));
        Self {
            limit: i32::try_from(least - 1).unwrap_or(i32::MAX),
            pairs: u32::MAX >> (32 - (columns + 2 * radius).div_ceil(2)),
        }
    }

    /// Whether gx² + gy² of all channels suffice.
    #[inline(always)]
    pub(super) fn hears<V: Simd>(&self, v: V, squares: V::I32) -> bool {
        v.greater_i32(squares, v.splat_i32(self.limit)) & self.pairs != 0
    }

    /// In which of the first rows gradients of `C` channels suffice, as bits.
    #[inline(always)]
    pub(super) fn rows<V: Simd, const C: usize>(&self, v: V, gradients: &[Block; 3], number: usize) -> u64 {
        let mut loud = 0;
        for row in 0..number {
            let mut squares = v.splat_i32(0);
            for channel in 0..C {
                let [x, y] = load(v, &gradients[channel][row]);
                squares = v.dot_add(v.dot_add(squares, x, x), y, y);
            }
            loud |= u64::from(self.hears(v, squares)) << row;
        }
        loud
    }
}

/// The greater weights of the pairs of columns that a window's columns lie in, over all its rows: no window's A + C is greater than so many
/// times the greatest gx² + gy² of a pair in it.
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
    // A window's first column may be the odd one of its pair, too: weights are the same from both ends.
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

    /// gx² + gy² of 1 in the heavier column of each pair and none in the other: windows have all of the weight, and no more where it is
    /// elsewhere.
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
