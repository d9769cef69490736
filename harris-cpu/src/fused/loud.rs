//! Where gradients are so great that a window may have a response above the threshold: told before anything is summed.

use std::ops::Range;

use super::scratch::ROW;
use crate::simd::{Simd, Work};

/// Elements of a row as bits, in words.
const WORDS: usize = ROW / 64;
/// Elements that are loud together, and words of bits for so many each.
const EACH: usize = 8;
const SETS: usize = (ROW / EACH).div_ceil(64);
const _: () = assert!(ROW.is_multiple_of(64));

/// The elements of a row whose gradients exceed a limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard([u8; ROW / 8]);

impl Heard {
    pub(super) const NONE: Self = Self([0; ROW / 8]);
    pub(super) const ALL: Self = Self([u8::MAX; ROW / 8]);

    /// Sets the bits of the `lanes` elements from element `i` on, a multiple of that; or sets more of them where it `adds`.
    #[inline(always)]
    pub(super) fn put(&mut self, i: usize, lanes: usize, bits: u32, adds: bool) {
        if lanes < 8 {
            // Parts of a byte.
            let byte = &mut self.0[i / 8];
            let kept = if adds { *byte } else { *byte & !((((1_u32 << lanes) - 1) << (i % 8)) as u8) };
            *byte = kept | (bits << (i % 8)) as u8;
            return;
        }
        let bytes = &mut self.0[i / 8..][..lanes / 8];
        for (byte, bits) in bytes.iter_mut().zip(bits.to_le_bytes()) {
            *byte = if adds { *byte | bits } else { bits };
        }
    }
}

/// What of a row is loud, or needed for that: [`EACH`] elements, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Loud([u64; SETS]);

impl Loud {
    pub(super) const NONE: Self = Self([0; SETS]);

    /// All that cover `span`.
    pub(super) fn all_of(span: &Range<usize>) -> Self {
        let mut all = Self::NONE;
        for i in span.start / EACH..span.end.div_ceil(EACH) {
            all.0[i / 64] |= 1 << (i % 64);
        }
        all
    }

    /// Whether any of two vectors is, from element `i` on, a multiple of so many.
    #[inline(always)]
    pub(super) fn any<V: Simd>(&self, i: usize) -> bool {
        let number = 2 * V::LANES / EACH;
        self.0[i / EACH / 64] >> (i / EACH % 64) & ((1 << number) - 1) != 0
    }

    /// What is no more than `reach` elements away, in whole [`EACH`].
    #[inline(always)]
    pub(super) fn reached(mut self, reach: usize) -> Self {
        for _ in 0..reach.div_ceil(EACH) {
            let before = self.0;
            for set in 0..SETS {
                self.0[set] |= before[set] << 1 | before[set] >> 1;
                if set > 0 {
                    self.0[set] |= before[set - 1] >> 63;
                }
                if set + 1 < SETS {
                    self.0[set] |= before[set + 1] << 63;
                }
            }
        }
        self
    }

    fn count(self) -> u32 {
        self.0.iter().map(|set| set.count_ones()).sum()
    }

    /// What is of `other`, too.
    pub(super) fn and(mut self, other: Self) -> Self {
        for (set, other) in self.0.iter_mut().zip(other.0) {
            *set &= other;
        }
        self
    }

    /// What is not of `other`.
    pub(super) fn without(mut self, other: Self) -> Self {
        for (set, other) in self.0.iter_mut().zip(other.0) {
            *set &= !other;
        }
        self
    }

    /// Its elements, in ascending order, as far as they follow each other.
    #[inline(always)]
    pub(super) fn runs(self) -> Runs {
        Runs { left: self.0, set: 0 }
    }
}

/// See [`Loud::runs`].
pub(super) struct Runs {
    left: [u64; SETS],
    set: usize,
}

impl Iterator for Runs {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        while self.set < SETS && self.left[self.set] == 0 {
            self.set += 1;
        }
        let bits = self.left.get_mut(self.set)?;
        let first = bits.trailing_zeros() as usize;
        let end = first + (!(*bits >> first)).trailing_zeros().min(64 - first as u32) as usize;
        // What is left begins behind the run.
        *bits = if end < 64 { *bits >> end << end } else { 0 };
        let start = 64 * self.set;
        Some((start + first) * EACH..(start + end) * EACH)
    }
}

/// Rows that are not listened to where it does not pay.
const REST: usize = 32;

/// Which rows of gradients are listened to: where most of an image is loud, only some.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ear {
    /// From this row on, all.
    since: usize,
}

impl Ear {
    pub(super) fn listens_to(self, y: usize) -> bool {
        y >= self.since
    }

    /// To be told what of `all` was loud around the `rows` rows before row `next`.
    pub(super) fn rest(&mut self, loud: Loud, all: Loud, next: usize, rows: usize) {
        if next >= self.since + rows && 4 * loud.count() >= 3 * all.count() {
            self.since = next + REST;
        }
    }
}

/// What is loud of the responses of windows that reach so far: pairs of vectors, where any element of some rows of a ring is heard.
pub(super) struct Listen<'a> {
    pub(super) ring: &'a [Heard],
    pub(super) slots: &'a [usize],
    pub(super) reach: usize,
}

impl Work for Listen<'_> {
    type Output = Loud;

    #[inline(always)]
    fn run<V: Simd>(self, _: V) -> Loud {
        let Self { ring, slots, reach } = self;
        let mut all = [0; WORDS];
        for &slot in slots {
            for (all, bytes) in all.iter_mut().zip(ring[slot].0.as_chunks().0) {
                *all |= u64::from_le_bytes(*bytes);
            }
        }
        // From each so many on, and then as many back as it reaches.
        let (mut length, size) = (1, 2 * reach + 1);
        while length < size {
            let step = length.min(size - length);
            let before = all;
            for word in (0..WORDS).rev() {
                let carried = if word > 0 { before[word - 1] >> (64 - step) } else { 0 };
                all[word] = before[word] | before[word] << step | carried;
            }
            length += step;
        }
        let mut loud = Loud::NONE;
        for word in 0..WORDS {
            let carried = if word + 1 < WORDS && reach > 0 { all[word + 1] << (64 - reach) } else { 0 };
            loud.0[word / 8] |= bits_of_bytes(all[word] >> reach | carried) << (word % 8 * 8);
        }
        // Pairs of vectors together.
        let (first, number) = match V::LANES {
            16 => (0x1111_1111_1111_1111, 4),
            8 => (0x5555_5555_5555_5555, 2),
            _ => (u64::MAX, 1),
        };
        for set in &mut loud.0 {
            let mut any = *set;
            for i in 1..number {
                any |= *set >> i;
            }
            *set = (any & first) * ((1 << number) - 1);
        }
        loud
    }
}

/// Bit i tells whether byte i is not 0.
#[inline(always)]
fn bits_of_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let high = (((word & LOW) + LOW) | word) & !LOW;
    // The highest bits of all bytes, side by side.
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Level, WithSimd};

    /// Rows with single bits, at the ends of words and all over.
    fn rows() -> [Heard; 3] {
        let mut rows = [Heard::NONE; 3];
        for i in [100, 127, 128, 300, 511, 512, 513, 700, 1000] {
            for (n, row) in rows.iter_mut().enumerate() {
                let i = i + 16 * n;
                row.put(i / 16 * 16, 16, 1 << (i % 16), true);
            }
        }
        rows
    }

    fn is_heard(row: &Heard, i: usize) -> bool {
        row.0[i / 8] >> (i % 8) & 1 == 1
    }

    /// The elements of what is loud.
    fn elements(loud: Loud) -> Vec<bool> {
        let mut elements = vec![false; 64 * SETS * EACH];
        let mut last = 0;
        for run in loud.runs() {
            assert!(run.start >= last && run.end > run.start, "{run:?}");
            last = run.end;
            elements[run].fill(true);
        }
        elements
    }

    struct Run<'a>(Listen<'a>);

    impl WithSimd for Run<'_> {
        type Output = (usize, Loud);

        fn with<V: Simd>(self, v: V) -> (usize, Loud) {
            (V::LANES, v.enter(self.0))
        }
    }

    #[test]
    fn pairs_of_vectors_are_loud_that_reach_what_is_heard_in_any_row() {
        let rows = rows();
        for level in Level::available() {
            for reach in [0, 1, 2, 3, 4, 7, 15] {
                let (lanes, loud) = level.call(Run(Listen { ring: &rows, slots: &[2, 0, 1], reach }));
                let elements = elements(loud);
                for i in (64..ROW - 64).step_by(2 * lanes) {
                    let mut reached = i - reach..i + 2 * lanes + reach;
                    let is_loud = reached.any(|i| rows.iter().any(|row| is_heard(row, i)));
                    assert!(
                        elements[i..i + 2 * lanes].iter().all(|&loud| loud == is_loud),
                        "{i}, {reach}, {lanes}"
                    );
                    struct Any(Loud, usize);
                    impl WithSimd for Any {
                        type Output = bool;

                        fn with<V: Simd>(self, _: V) -> bool {
                            self.0.any::<V>(self.1)
                        }
                    }
                    assert_eq!(level.call(Any(loud, i)), is_loud);
                }
            }
        }
    }

    #[test]
    fn what_is_reached_covers_all_that_is_needed() {
        let mut loud = Loud::NONE;
        for i in [20, 63, 64, 65, 100, 127, 128, 140] {
            loud.0[i / 64] |= 1 << (i % 64);
        }
        for reach in [0, 1, 3, 8, 9, 15] {
            let (own, reached) = (elements(loud), elements(loud.reached(reach)));
            let wide = reach.div_ceil(EACH) * EACH;
            for i in 32..ROW - 32 {
                assert_eq!(
                    reached[i],
                    (i - i % EACH - wide..i - i % EACH + EACH + wide).any(|i| own[i]),
                    "{i}, {reach}"
                );
            }
        }
    }

    #[test]
    fn sets_are_sets() {
        let (one, other) = (Loud::all_of(&(90..600)), Loud::all_of(&(512..1100)));
        assert_eq!(one.and(other), Loud::all_of(&(512..600)));
        assert_eq!(one.without(other), Loud::all_of(&(88..512)));
        assert_eq!(elements(one).iter().position(|&loud| loud), Some(88));
        assert_eq!(elements(other).iter().rposition(|&loud| loud), Some(1103));
        assert_eq!(Loud::NONE.runs().count(), 0);
    }

    #[test]
    fn bits_are_those_put_last() {
        for lanes in [4, 8, 16] {
            let mut row = Heard([u8::MAX; ROW / 8]);
            for i in (64..128).step_by(lanes) {
                row.put(i, lanes, 1 << (i / lanes % lanes), false);
            }
            for i in (64..128).step_by(lanes) {
                row.put(i, lanes, 1, true);
            }
            for i in 64..128 {
                let expected = i % lanes == i / lanes % lanes || i % lanes == 0;
                assert_eq!(is_heard(&row, i), expected, "{i}, {lanes}");
            }
            assert!(is_heard(&row, 63) && is_heard(&row, 128));
        }
    }
}
