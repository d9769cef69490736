//! The rows of responses that wait until their neighbourhoods are complete, and their candidates.

use std::ops::Range;

use harris_core::Error;

use crate::plan::MIN_TILE_COLUMNS;
use crate::rows::{
    Aligned, BLOCK_ROWS, LEFT_PADDING, MAX_SUPPRESSION_RADIUS, NEAR_RADIUS, ROW_LENGTH, STRIP_COLUMNS, boxed,
};
use crate::simd::Simd;

/// Rows of the ring: a block of tiles and the rows that suppression looks at around it. A u64 has a
/// bit for each.
pub(crate) const RING: usize = 64;
// The rows around those that are collected together are all in the ring; at the image's bottom as
// many more are collected as the radius has.
const _: () = assert!(BLOCK_ROWS + 2 * MAX_SUPPRESSION_RADIUS < RING);
const _: () = assert!(BLOCK_ROWS + MAX_SUPPRESSION_RADIUS + 2 * NEAR_RADIUS < RING);

/// A row of responses. The length is a constant, so that the bounds of a kernel's loads are checked
/// once for all rows.
pub(crate) type ResponseRow = [f32; ROW_LENGTH];
/// The upper 16 bits of a row of responses.
pub(crate) type UpperRow = [i16; ROW_LENGTH];

/// The upper half of a response that is missing or at most the threshold: less than that of any
/// candidate.
pub(crate) const NO_RESPONSE: i16 = i16::MIN;

/// The most elements before a strip's first column that sweeps by rows compute.
const COMPUTED_BEFORE: usize = 32;
const _: () = assert!(MAX_SUPPRESSION_RADIUS <= COMPUTED_BEFORE && COMPUTED_BEFORE < LEFT_PADDING);

/// The most words of candidates: tiles, or vectors of the least length, one more where they begin
/// earlier.
const MAX_WORDS: usize = {
    let tiles = (STRIP_COLUMNS + 2 * MAX_SUPPRESSION_RADIUS).div_ceil(MIN_TILE_COLUMNS);
    let vectors = (STRIP_COLUMNS + 2 * COMPUTED_BEFORE) / 8 + 1;
    if tiles > vectors { tiles } else { vectors }
};

/// Where the words of candidates lie in a row of responses: bit i of word j is element `start +
/// step · j + i`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordLayout {
    pub(crate) start: usize,
    pub(crate) step: usize,
    pub(crate) count: usize,
}

impl WordLayout {
    /// Words of a sweep by rows: vectors of 16-bit numbers, which begin `earlier` elements before
    /// multiples of their length.
    pub(crate) fn by_rows<V: Simd>(earlier: usize) -> Self {
        let step = 2 * V::LANES;
        let count = (STRIP_COLUMNS + 2 * COMPUTED_BEFORE + earlier).div_ceil(step);
        Self { start: LEFT_PADDING - COMPUTED_BEFORE - earlier, step, count }
    }

    /// The first elements of the vectors that cover `span`.
    #[inline(always)]
    pub(crate) fn covering(&self, span: &Range<usize>) -> impl Iterator<Item = usize> + use<> {
        (self.start + self.at(span.start) * self.step..span.end).step_by(self.step)
    }

    /// The number of the word that holds element `i`.
    #[inline(always)]
    pub(crate) fn at(&self, i: usize) -> usize {
        (i - self.start) / self.step
    }
}

/// Rows of responses, row y in slot y mod [`RING`].
///
/// The upper halves of floats that are not negative are ordered as the floats are, but for ties.
/// Suppression compares these, twice as many at once. Whole responses stand where one of their
/// vector may exceed the threshold.
#[derive(Debug)]
pub(crate) struct ResponseRing {
    full: Box<[Aligned<f32, ROW_LENGTH>; RING]>,
    upper: Box<[Aligned<i16, ROW_LENGTH>; RING]>,
    /// The candidates of each word and slot, where `rows` has a bit for them.
    words: Box<[[u32; RING]; MAX_WORDS]>,
    /// For each word, the slots in which it has candidates, as bits.
    rows: [u64; MAX_WORDS],
    /// For each tile, the slots in which it may hold a response, as bits: most tiles without one
    /// had none when their slot was used last, so that nothing needs to be stored.
    may_hold: [u64; MAX_WORDS + 1],
}

impl ResponseRing {
    /// Allocates a ring without candidates.
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self {
            full: boxed(Aligned([0.0; ROW_LENGTH]))?,
            upper: boxed(Aligned([NO_RESPONSE; ROW_LENGTH]))?,
            words: boxed([0; RING])?,
            rows: [0; MAX_WORDS],
            may_hold: [u64::MAX; MAX_WORDS + 1],
        })
    }

    /// Forgets all candidates; the layout of words may change.
    pub(crate) fn reset(&mut self) {
        self.rows = [0; MAX_WORDS];
        self.may_hold = [u64::MAX; MAX_WORDS + 1];
    }

    #[inline(always)]
    pub(crate) fn full(&self, slot: usize) -> &ResponseRow {
        &self.full[slot].0
    }

    #[inline(always)]
    pub(crate) fn upper(&self, slot: usize) -> &UpperRow {
        &self.upper[slot].0
    }

    #[inline(always)]
    pub(crate) fn upper_mut(&mut self, slot: usize) -> &mut UpperRow {
        &mut self.upper[slot].0
    }

    /// The candidates of a word, in a slot where it has some.
    #[inline(always)]
    pub(crate) fn word(&self, slot: usize, word: usize) -> u32 {
        self.words[word][slot]
    }

    /// Takes the rows in which each word has candidates, as bits: bit i is row i of the `row_count`
    /// rows from slot `first` on. Candidates of the `pending` rows behind them stay, all others are
    /// forgotten.
    #[inline(always)]
    pub(crate) fn take_candidates(
        &mut self,
        words: WordLayout,
        first: usize,
        row_count: usize,
        pending: usize,
    ) -> [u64; MAX_WORDS] {
        let mut taken = [0; MAX_WORDS];
        for (word, taken) in self.rows[..words.count].iter_mut().zip(&mut taken) {
            let rows = word.rotate_right(first as u32);
            *taken = rows & ((1 << row_count) - 1);
            *word = (rows & (((1 << pending) - 1) << row_count)).rotate_left(first as u32);
        }
        taken
    }

    /// Keeps a row's candidates only where `is_sought` holds for their element. Returns the
    /// greatest response of those that stay, at least 0.
    pub(crate) fn restrict_candidates(
        &mut self,
        slot: usize,
        words: WordLayout,
        is_sought: impl Fn(usize) -> bool,
    ) -> f32 {
        let mut greatest = 0.0_f32;
        for word in 0..words.count {
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
    pub(crate) fn put<V: Simd>(&mut self, v: V, slot: usize, i: usize, [low, high]: [V::F32; 2]) {
        let row = &mut self.full[slot].0[i..][..2 * V::LANES];
        v.store_f32(row, 0, low);
        v.store_f32(row, V::LANES, high);
        v.store_i16(&mut self.upper[slot].0, i, v.upper_halves(low, high));
    }

    /// Sets the candidates of a word.
    #[inline(always)]
    pub(crate) fn mark(&mut self, slot: usize, word: usize, candidates: u32) {
        self.words[word][slot] = candidates;
        self.rows[word] |= u64::from(candidates != 0) << slot;
    }

    /// Puts the responses of two vectors of a sweep by rows, and marks those above the threshold as
    /// candidates.
    #[inline(always)]
    pub(crate) fn put_marked<V: Simd>(
        &mut self,
        v: V,
        (slot, i): (usize, usize),
        words: WordLayout,
        [low, high]: [V::F32; 2],
        threshold: V::F32,
    ) {
        self.put(v, slot, i, [low, high]);
        let above = [v.greater(low, threshold), v.greater(high, threshold)];
        // Words of a sweep by rows are as long as two vectors: a shift, not a division.
        self.mark(slot, (i - words.start) / (2 * V::LANES), above[0] | above[1] << V::LANES);
    }

    /// Puts no response into two vectors from element `i` on.
    #[inline(always)]
    pub(crate) fn put_none<V: Simd>(&mut self, v: V, slot: usize, i: usize) {
        v.store_i16(&mut self.upper[slot].0, i, v.splat_i16(NO_RESPONSE));
    }

    /// Finishes a tile at element `i` from row `slot` on: of `rows`, as bits, those that are not
    /// `put` get no response. The next tile, into which this one's vectors reach, is put and
    /// finished after it.
    #[inline(always)]
    pub(crate) fn finish_tile<V: Simd>(
        &mut self,
        v: V,
        (tile, i): (usize, usize),
        slot: usize,
        (rows, put): (u64, u64),
    ) {
        let [rows, put] = [rows, put].map(|rows| rows.rotate_left(slot as u32));
        let mut left = self.may_hold[tile] & rows & !put;
        while left != 0 {
            self.put_none(v, left.trailing_zeros() as usize, i);
            left &= left - 1;
        }
        self.may_hold[tile] = self.may_hold[tile] & !rows | put;
        self.may_hold[tile + 1] |= put;
    }
}
