//! The rows of responses that wait for their neighbourhoods.

use std::ops::Range;

use super::MOST_RADIUS;
use super::scratch::{Aligned, LEAD, ROW, STRIP};
use super::tiles::LEAST_TILE;
use crate::simd::Simd;

/// Rows that wait to be collected: a block of tiles and what suppression looks at around it. Their numbers are bits of 64.
pub(super) const RING: usize = 64;

/// A row of responses, of their upper halves. Their lengths are constants, so that the bounds of loads are checked once for all.
pub(super) type ResponseRow = [f32; ROW];
pub(super) type UpperRow = [i16; ROW];

/// What stands for no response, or one that no candidate needs to fear: less than the upper half of any candidate.
pub(super) const NOTHING: i16 = i16::MIN;

/// Elements before a strip's first column that the walks by rows compute, at most.
const BEFORE: usize = 32;
const _: () = assert!(MOST_RADIUS <= BEFORE && BEFORE < LEAD);

/// Words of candidates: tiles, or vectors of the least length, one more where they begin earlier.
const WORDS: usize = {
    let (tiles, vectors) = ((STRIP + 2 * MOST_RADIUS).div_ceil(LEAST_TILE), (STRIP + 2 * BEFORE) / 8 + 1);
    if tiles > vectors { tiles } else { vectors }
};

/// Where the words of candidates are in a row of responses: bit i of word j is element `start + step · j + i`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) start: usize,
    pub(super) step: usize,
    pub(super) number: usize,
}

impl Words {
    /// Those of the walks by rows: vectors of 16-bit numbers, which begin `earlier` elements before multiples of their length.
    pub(super) fn by_rows<V: Simd>(earlier: usize) -> Self {
        let step = 2 * V::LANES;
        Self { start: LEAD - BEFORE - earlier, step, number: (STRIP + 2 * BEFORE + earlier).div_ceil(step) }
    }

    /// Where the vectors start that cover `span`.
    #[inline(always)]
    pub(super) fn covering(&self, span: &Range<usize>) -> impl Iterator<Item = usize> + use<> {
        (self.start + self.at(span.start) * self.step..span.end).step_by(self.step)
    }

    /// The word that element `i` is in.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> usize {
        (i - self.start) / self.step
    }
}

/// Responses, by y mod [`RING`].
///
/// The upper half of a float orders numbers that are not negative as they are ordered, but for ties: suppression looks at these, twice as
/// many at once. Responses themselves are there where one of their vector may exceed the threshold.
#[derive(Debug)]
pub(super) struct Responses {
    full: Box<[Aligned<f32, ROW>; RING]>,
    upper: Box<[Aligned<i16, ROW>; RING]>,
    /// Candidates, where `rows` tells that there are any.
    words: Box<[[u32; RING]; WORDS]>,
    /// For each word, the rows in which it has candidates, as bits.
    rows: [u64; WORDS],
    /// For each tile, the rows in which not all of it may be nothing, as bits: what is to be nothing mostly was when its row's slot was
    /// used last, and need not be stored.
    filled: [u64; WORDS + 1],
}

/// On the heap from the start: an array of this size has no place on the stack.
pub(super) fn boxed<T: Clone + std::fmt::Debug, const N: usize>(row: T) -> Box<[T; N]> {
    vec![row; N].try_into().expect("as many rows as asked for")
}

impl Default for Responses {
    fn default() -> Self {
        Self {
            full: boxed(Aligned([0.0; ROW])),
            upper: boxed(Aligned([NOTHING; ROW])),
            words: boxed([0; RING]),
            rows: [0; WORDS],
            filled: [u64::MAX; WORDS + 1],
        }
    }
}

impl Responses {
    /// Forgets all: words may be elsewhere from now on.
    pub(super) fn clear(&mut self) {
        self.rows = [0; WORDS];
        self.filled = [u64::MAX; WORDS + 1];
    }

    #[inline(always)]
    pub(super) fn full(&self, slot: usize) -> &ResponseRow {
        &self.full[slot].0
    }

    #[inline(always)]
    pub(super) fn upper(&self, slot: usize) -> &UpperRow {
        &self.upper[slot].0
    }

    #[inline(always)]
    pub(super) fn upper_mut(&mut self, slot: usize) -> &mut UpperRow {
        &mut self.upper[slot].0
    }

    /// The candidates of a word, in a row that has some.
    #[inline(always)]
    pub(super) fn word(&self, slot: usize, word: usize) -> u32 {
        self.words[word][slot]
    }

    /// Takes the rows in which each word has candidates: of the `number` rows from slot `first` on, as bits from the lowest on. Those of
    /// the `waiting` rows behind them stay, and all others are forgotten.
    #[inline(always)]
    pub(super) fn take_candidates(
        &mut self,
        words: Words,
        first: usize,
        number: usize,
        waiting: usize,
    ) -> [u64; WORDS] {
        let mut taken = [0; WORDS];
        for (word, taken) in self.rows[..words.number].iter_mut().zip(&mut taken) {
            let rows = word.rotate_right(first as u32);
            *taken = rows & ((1 << number) - 1);
            *word = (rows & (((1 << waiting) - 1) << number)).rotate_left(first as u32);
        }
        taken
    }

    /// Takes away the marks of a row's candidates where corners are not sought, as `is_sought` tells of their elements. Returns
    /// the greatest response of those that are left, at least 0.
    pub(super) fn unmark(&mut self, slot: usize, words: Words, is_sought: impl Fn(usize) -> bool) -> f32 {
        let mut greatest = 0.0_f32;
        for word in 0..words.number {
            if self.rows[word] >> slot & 1 == 0 {
                continue;
            }
            let (mut left, mut sought) = (self.words[word][slot], 0);
            while left != 0 {
                let lowest = left & left.wrapping_neg();
                let place = words.start + words.step * word + lowest.trailing_zeros() as usize;
                if is_sought(place) {
                    sought |= lowest;
                    greatest = greatest.max(self.full[slot].0[place]);
                }
                left ^= lowest;
            }
            self.mark(slot, word, sought);
            self.rows[word] &= !(u64::from(sought == 0) << slot);
        }
        greatest
    }

    /// Puts the responses of two vectors from element `i` on.
    #[inline(always)]
    pub(super) fn put<V: Simd>(&mut self, v: V, slot: usize, i: usize, [low, high]: [V::F32; 2]) {
        let row = &mut self.full[slot].0[i..][..2 * V::LANES];
        v.store_f32(row, 0, low);
        v.store_f32(row, V::LANES, high);
        v.store_i16(&mut self.upper[slot].0, i, v.upper_halves(low, high));
    }

    /// Marks the candidates of a word.
    #[inline(always)]
    pub(super) fn mark(&mut self, slot: usize, word: usize, candidates: u32) {
        self.words[word][slot] = candidates;
        self.rows[word] |= u64::from(candidates != 0) << slot;
    }

    /// Puts the responses of two vectors of a walk by rows, and marks those that exceed the threshold.
    #[inline(always)]
    pub(super) fn put_marked<V: Simd>(
        &mut self,
        v: V,
        (slot, i): (usize, usize),
        words: Words,
        [low, high]: [V::F32; 2],
        threshold: V::F32,
    ) {
        self.put(v, slot, i, [low, high]);
        let above = [v.greater(low, threshold), v.greater(high, threshold)];
        // The words of these walks are as long as two vectors: a shift, not a division.
        self.mark(slot, (i - words.start) / (2 * V::LANES), above[0] | above[1] << V::LANES);
    }

    /// Leaves them as nothing.
    #[inline(always)]
    pub(super) fn leave<V: Simd>(&mut self, v: V, slot: usize, i: usize) {
        v.store_i16(&mut self.upper[slot].0, i, v.splat_i16(NOTHING));
    }

    /// Completes a tile at element `i` from row `slot` on: of `rows`, as bits, those that are not `put` are left as nothing. The
    /// next one, into which its vectors reach, is put and completed after it.
    #[inline(always)]
    pub(super) fn complete<V: Simd>(
        &mut self,
        v: V,
        (tile, i): (usize, usize),
        slot: usize,
        (rows, put): (u64, u64),
    ) {
        let [rows, put] = [rows, put].map(|rows| rows.rotate_left(slot as u32));
        let mut left = self.filled[tile] & rows & !put;
        while left != 0 {
            self.leave(v, left.trailing_zeros() as usize, i);
            left &= left - 1;
        }
        self.filled[tile] = self.filled[tile] & !rows | put;
        self.filled[tile + 1] |= put;
    }
}
