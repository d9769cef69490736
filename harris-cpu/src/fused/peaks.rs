//! Row kernels on responses: candidates, suppression, peaks.

use std::ops::Range;

use harris_core::{Keypoint, Threshold};

use super::MOST_RADIUS;
use super::scratch::{CandidateRing, ResponseRing, ResponseRow, Words};
use crate::simd::{Simd, Work};

/// What a band holds.
#[derive(Debug, Default)]
pub(crate) struct Peaks {
    /// Peaks above the threshold as far as the band knows it, in no order.
    pub(crate) peaks: Vec<Keypoint>,
    /// The greatest response of the band where it is positive, else 0.
    pub(crate) greatest: f32,
}

impl Peaks {
    pub(super) fn clear(&mut self) {
        self.peaks.clear();
        self.greatest = 0.0;
    }

    /// The threshold as far as it is known: at most the final one.
    pub(super) fn threshold(&self, threshold: Threshold) -> f32 {
        match threshold {
            Threshold::Absolute(value) => value,
            Threshold::Relative(quality) => quality * self.greatest,
            Threshold::Rosin { .. } | Threshold::None => 0.0,
        }
    }
}

/// Collects the candidates that win their neighbourhood: greater than all before them within the radius and at least
/// equal to all after them.
pub(super) struct Collect<'a> {
    /// By y mod `ring`.
    pub(super) responses: &'a ResponseRing,
    pub(super) candidates: &'a CandidateRing,
    pub(super) ring: usize,
    /// Stands for rows beyond the image: it suppresses nothing.
    pub(super) nothing: &'a ResponseRow,
    pub(super) height: usize,
    pub(super) words: Words,
    pub(super) radius: usize,
    pub(super) threshold: Threshold,
    /// The rows to collect, and those that may hold corners.
    pub(super) rows: Range<usize>,
    pub(super) corner_rows: Range<usize>,
    /// The column of the first element of a row, the columns to collect, and those that may hold corners.
    pub(super) origin: isize,
    pub(super) columns: Range<usize>,
    pub(super) corner_columns: Range<usize>,
    pub(super) found: &'a mut Peaks,
}

impl Work for Collect<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.radius {
            0 => self.within::<V, 0>(v),
            1 => self.within::<V, 1>(v),
            2 => self.within::<V, 2>(v),
            3 => self.within::<V, 3>(v),
            _ => self.within::<V, MOST_RADIUS>(v),
        }
    }
}

impl Collect<'_> {
    #[inline(always)]
    fn within<V: Simd, const R: usize>(mut self, v: V) {
        let lanes = u64::MAX >> (64 - V::LANES);
        for y in self.rows.clone() {
            let candidates = &self.candidates[y % self.ring];
            let mut occupied = candidates.occupied;
            if occupied == 0 {
                continue;
            }
            let mut rows = [self.nothing; 2 * MOST_RADIUS + 1];
            for (i, row) in rows.iter_mut().enumerate().take(2 * R + 1) {
                if (R..self.height + R).contains(&(y + i)) {
                    *row = self.responses.row((y + i - R) % self.ring);
                }
            }
            let limit = v.splat_f32(self.found.threshold(self.threshold));
            while occupied != 0 {
                let word = occupied.trailing_zeros() as usize;
                occupied &= occupied - 1;
                let mut left = candidates.words[word];
                while left != 0 {
                    let i = left.trailing_zeros() as usize;
                    let group = (left >> i & lanes) as u32;
                    left &= !(lanes << i);
                    let place = self.words.start + self.words.step * word + i;
                    let mut winners = winners::<V, R>(v, &rows, place, limit, group);
                    while winners != 0 {
                        self.take(y, place + winners.trailing_zeros() as usize, rows[R]);
                        winners &= winners - 1;
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn take(&mut self, y: usize, place: usize, row: &ResponseRow) {
        let x = (place as isize + self.origin) as usize;
        if !self.columns.contains(&x) {
            return;
        }
        // The greatest response of all is a peak; one in the margin counts, too.
        self.found.greatest = self.found.greatest.max(row[place]);
        if self.corner_rows.contains(&y) && self.corner_columns.contains(&x) {
            self.found.peaks.push(Keypoint::new(x as f32, y as f32, row[place]));
        }
    }
}

/// Which of the candidates from element x on win; `rows` are those of the neighbourhood, 2 · R + 1 of them.
#[inline(always)]
fn winners<V: Simd, const R: usize>(
    v: V,
    rows: &[&ResponseRow; 2 * MOST_RADIUS + 1],
    x: usize,
    limit: V::F32,
    candidates: u32,
) -> u32 {
    let r = v.load_f32(rows[R], x);
    let (mut before, mut after) = (limit, v.splat_f32(f32::NEG_INFINITY));
    for dx in 1..=R {
        before = v.max(before, v.load_f32(rows[R], x - dx));
        after = v.max(after, v.load_f32(rows[R], x + dx));
    }
    let mut winners = candidates & v.greater(r, before) & v.at_least(r, after);
    // The nearest rows first; most candidates lose there.
    for dy in 1..=R {
        if winners == 0 {
            break;
        }
        let (above, below) = (rows[R - dy], rows[R + dy]);
        let (mut before, mut after) = (v.load_f32(above, x), v.load_f32(below, x));
        for dx in 1..=R {
            before = v.max(before, v.max(v.load_f32(above, x - dx), v.load_f32(above, x + dx)));
            after = v.max(after, v.max(v.load_f32(below, x - dx), v.load_f32(below, x + dx)));
        }
        winners &= v.greater(r, before) & v.at_least(r, after);
    }
    winners
}
