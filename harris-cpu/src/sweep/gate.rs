//! The gradient gate: windows without an active gradient are not summed.
//!
//! A gradient is active where gx² + gy² exceeds what a response above the threshold needs somewhere
//! in its window.

use std::ops::Range;

use crate::rows::ROW_LENGTH;
use crate::simd::{Simd, SimdKernel};

/// Elements of a row as bits, in words.
const WORDS: usize = ROW_LENGTH / 64;
/// Elements of a block, and words that hold a bit for each block of a row.
const BLOCK: usize = 8;
const BLOCK_WORDS: usize = (ROW_LENGTH / BLOCK).div_ceil(64);
const _: () = assert!(ROW_LENGTH.is_multiple_of(64));

/// The elements of a row with active gradients, a bit each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveMask([u8; ROW_LENGTH / 8]);

impl ActiveMask {
    pub(crate) const NONE: Self = Self([0; ROW_LENGTH / 8]);
    pub(crate) const ALL: Self = Self([u8::MAX; ROW_LENGTH / 8]);

    /// Sets the bits of the `lanes` elements from element `i` on, a multiple of `lanes`. Where it
    /// `adds`, bits that were set stay set.
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, lanes: usize, bits: u32, adds: bool) {
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

/// A set of blocks of [`BLOCK`] elements of a row, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ActiveBlocks([u64; BLOCK_WORDS]);

impl ActiveBlocks {
    pub(crate) const NONE: Self = Self([0; BLOCK_WORDS]);

    /// The blocks that cover `span`.
    pub(crate) fn all_of(span: &Range<usize>) -> Self {
        let mut all = Self::NONE;
        for i in span.start / BLOCK..span.end.div_ceil(BLOCK) {
            all.0[i / 64] |= 1 << (i % 64);
        }
        all
    }

    /// Whether it has any block of the two vectors from element `i` on, a multiple of their
    /// elements.
    #[inline(always)]
    pub(crate) fn any<V: Simd>(&self, i: usize) -> bool {
        let blocks_per_tile = 2 * V::LANES / BLOCK;
        self.0[i / BLOCK / 64] >> (i / BLOCK % 64) & ((1 << blocks_per_tile) - 1) != 0
    }

    /// The blocks within `radius` elements, rounded up to whole blocks.
    #[inline(always)]
    pub(crate) fn dilated(mut self, radius: usize) -> Self {
        for _ in 0..radius.div_ceil(BLOCK) {
            let before = self.0;
            for set in 0..BLOCK_WORDS {
                self.0[set] |= before[set] << 1 | before[set] >> 1;
                if set > 0 {
                    self.0[set] |= before[set - 1] >> 63;
                }
                if set + 1 < BLOCK_WORDS {
                    self.0[set] |= before[set + 1] << 63;
                }
            }
        }
        self
    }

    fn count(self) -> u32 {
        self.0.iter().map(|set| set.count_ones()).sum()
    }

    /// The blocks of both sets.
    pub(crate) fn and(mut self, other: Self) -> Self {
        for (set, other) in self.0.iter_mut().zip(other.0) {
            *set &= other;
        }
        self
    }

    /// The blocks that `other` lacks.
    pub(crate) fn without(mut self, other: Self) -> Self {
        for (set, other) in self.0.iter_mut().zip(other.0) {
            *set &= !other;
        }
        self
    }

    /// The elements of its blocks in ascending order: runs of consecutive blocks.
    #[inline(always)]
    pub(crate) fn runs(self) -> Runs {
        Runs { left: self.0, set: 0 }
    }
}

/// Iterator of [`ActiveBlocks::runs`].
pub(crate) struct Runs {
    left: [u64; BLOCK_WORDS],
    set: usize,
}

impl Iterator for Runs {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        while self.set < BLOCK_WORDS && self.left[self.set] == 0 {
            self.set += 1;
        }
        let bits = self.left.get_mut(self.set)?;
        let first = bits.trailing_zeros() as usize;
        let end = first + (!(*bits >> first)).trailing_zeros().min(64 - first as u32) as usize;
        // Bits behind the run stay.
        *bits = if end < 64 { *bits >> end << end } else { 0 };
        let start = 64 * self.set;
        Some((start + first) * BLOCK..(start + end) * BLOCK)
    }
}

/// Rows without a gate where it does not pay.
const ROWS_WITHOUT_GATE: usize = 32;

/// Which rows of gradients are compared with the bound: where most windows have an active gradient,
/// the gate pauses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GradientGate {
    /// The first row that is compared.
    first: usize,
}

impl GradientGate {
    /// Whether the gradients of row y are compared.
    pub(crate) fn compares(self, y: usize) -> bool {
        y >= self.first
    }

    /// Pauses where most of `all` blocks were active in the windows of the `rows` rows before row
    /// `next`.
    pub(crate) fn update(&mut self, active: ActiveBlocks, all: ActiveBlocks, next: usize, rows: usize) {
        if next >= self.first + rows && 4 * active.count() >= 3 * all.count() {
            self.first = next + ROWS_WITHOUT_GATE;
        }
    }
}

/// Finds the pairs of vectors of responses whose windows contain an active gradient.
pub(crate) struct FindActive<'a> {
    pub(crate) ring: &'a [ActiveMask],
    /// The window's rows in the ring.
    pub(crate) slots: &'a [usize],
    /// The window's radius.
    pub(crate) radius: usize,
}

impl SimdKernel for FindActive<'_> {
    type Output = ActiveBlocks;

    #[inline(always)]
    fn run<V: Simd>(self, _: V) -> ActiveBlocks {
        let Self { ring, slots, radius } = self;
        let mut all = [0; WORDS];
        for &slot in slots {
            for (all, bytes) in all.iter_mut().zip(ring[slot].0.as_chunks().0) {
                *all |= u64::from_le_bytes(*bytes);
            }
        }
        // Bit i: any of the elements i − 2 · radius to i.
        let (mut length, size) = (1, 2 * radius + 1);
        while length < size {
            let step = length.min(size - length);
            let before = all;
            for word in (0..WORDS).rev() {
                let carried = if word > 0 { before[word - 1] >> (64 - step) } else { 0 };
                all[word] = before[word] | before[word] << step | carried;
            }
            length += step;
        }
        let mut active = ActiveBlocks::NONE;
        for word in 0..WORDS {
            let carried = if word + 1 < WORDS && radius > 0 { all[word + 1] << (64 - radius) } else { 0 };
            active.0[word / 8] |= bits_of_bytes(all[word] >> radius | carried) << (word % 8 * 8);
        }
        // All blocks of a pair of vectors, where any is active.
        let (first, blocks_per_tile) = match V::LANES {
            16 => (0x1111_1111_1111_1111, 4),
            8 => (0x5555_5555_5555_5555, 2),
            _ => (u64::MAX, 1),
        };
        for set in &mut active.0 {
            let mut any = *set;
            for i in 1..blocks_per_tile {
                any |= *set >> i;
            }
            *set = (any & first) * ((1 << blocks_per_tile) - 1);
        }
        active
    }
}

/// Bit i: byte i is not 0.
#[inline(always)]
fn bits_of_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let high = (((word & LOW) + LOW) | word) & !LOW;
    // Gathers the highest bits of all bytes.
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Level, WithSimd};

    /// Rows with single bits, at the ends of words and all over.
    fn rows() -> [ActiveMask; 3] {
        let mut rows = [ActiveMask::NONE; 3];
        for i in [100, 127, 128, 300, 511, 512, 513, 700, 1000] {
            for (n, row) in rows.iter_mut().enumerate() {
                let i = i + 16 * n;
                row.set(i / 16 * 16, 16, 1 << (i % 16), true);
            }
        }
        rows
    }

    fn has(row: &ActiveMask, i: usize) -> bool {
        row.0[i / 8] >> (i % 8) & 1 == 1
    }

    /// Whether each element is in a block of a set.
    fn elements(active: ActiveBlocks) -> Vec<bool> {
        let mut elements = vec![false; 64 * BLOCK_WORDS * BLOCK];
        let mut last = 0;
        for run in active.runs() {
            assert!(run.start >= last && run.end > run.start, "{run:?}");
            last = run.end;
            elements[run].fill(true);
        }
        elements
    }

    struct Run<'a>(FindActive<'a>);

    impl WithSimd for Run<'_> {
        type Output = (usize, ActiveBlocks);

        fn with<V: Simd>(self, v: V) -> (usize, ActiveBlocks) {
            (V::LANES, v.enter(self.0))
        }
    }

    #[test]
    fn pairs_of_vectors_are_active_whose_windows_hold_an_active_gradient() {
        let rows = rows();
        for level in Level::available() {
            for radius in [0, 1, 2, 3, 4, 7, 15] {
                let (lanes, active) = level.call(Run(FindActive { ring: &rows, slots: &[2, 0, 1], radius }));
                let elements = elements(active);
                for i in (64..ROW_LENGTH - 64).step_by(2 * lanes) {
                    let mut reached = i - radius..i + 2 * lanes + radius;
                    let is_active = reached.any(|i| rows.iter().any(|row| has(row, i)));
                    assert!(
                        elements[i..i + 2 * lanes].iter().all(|&active| active == is_active),
                        "{i}, {radius}, {lanes}"
                    );
                    struct Any(ActiveBlocks, usize);
                    impl WithSimd for Any {
                        type Output = bool;

                        fn with<V: Simd>(self, _: V) -> bool {
                            self.0.any::<V>(self.1)
                        }
                    }
                    assert_eq!(level.call(Any(active, i)), is_active);
                }
            }
        }
    }

    #[test]
    fn dilation_covers_the_radius_in_whole_blocks() {
        let mut active = ActiveBlocks::NONE;
        for i in [20, 63, 64, 65, 100, 127, 128, 140] {
            active.0[i / 64] |= 1 << (i % 64);
        }
        for radius in [0, 1, 3, 8, 9, 15] {
            let (own, reached) = (elements(active), elements(active.dilated(radius)));
            let wide = radius.div_ceil(BLOCK) * BLOCK;
            for i in 32..ROW_LENGTH - 32 {
                assert_eq!(
                    reached[i],
                    (i - i % BLOCK - wide..i - i % BLOCK + BLOCK + wide).any(|i| own[i]),
                    "{i}, {radius}"
                );
            }
        }
    }

    #[test]
    fn sets_intersect_and_subtract() {
        let (one, other) = (ActiveBlocks::all_of(&(90..600)), ActiveBlocks::all_of(&(512..1100)));
        assert_eq!(one.and(other), ActiveBlocks::all_of(&(512..600)));
        assert_eq!(one.without(other), ActiveBlocks::all_of(&(88..512)));
        assert_eq!(elements(one).iter().position(|&active| active), Some(88));
        assert_eq!(elements(other).iter().rposition(|&active| active), Some(1103));
        assert_eq!(ActiveBlocks::NONE.runs().count(), 0);
    }

    #[test]
    fn bits_are_those_set_last() {
        for lanes in [4, 8, 16] {
            let mut row = ActiveMask([u8::MAX; ROW_LENGTH / 8]);
            for i in (64..128).step_by(lanes) {
                row.set(i, lanes, 1 << (i / lanes % lanes), false);
            }
            for i in (64..128).step_by(lanes) {
                row.set(i, lanes, 1, true);
            }
            for i in 64..128 {
                let expected = i % lanes == i / lanes % lanes || i % lanes == 0;
                assert_eq!(has(&row, i), expected, "{i}, {lanes}");
            }
            assert!(has(&row, 63) && has(&row, 128));
        }
    }
}
