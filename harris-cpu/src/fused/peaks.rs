//! Row kernels on responses: candidates, suppression, peaks.

use std::ops::Range;

use harris_core::{Keypoint, Threshold};

use super::MOST_RADIUS;
use super::responses::{NOTHING, RING, Responses, UpperRow, Words};
use super::scratch::ROW;
use crate::simd::{Simd, Work};

/// What a thread has found.
#[derive(Debug, Default)]
pub(crate) struct Peaks {
    /// Peaks above the threshold as far as the thread knows it, in no order.
    pub(crate) peaks: Vec<Keypoint>,
    /// The greatest response where it is positive, else 0.
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
    pub(super) responses: &'a mut Responses,
    pub(super) height: usize,
    pub(super) words: Words,
    pub(super) radius: usize,
    /// The rows to collect, and how many behind them are computed.
    pub(super) rows: Range<usize>,
    pub(super) waiting: usize,
    /// Room for the maxima of a word.
    pub(super) maxima: &'a mut [Maxima; RING],
    pub(super) corners: Corners<'a>,
}

/// Where winners go.
pub(super) struct Corners<'a> {
    pub(super) found: &'a mut Peaks,
    /// The threshold as far as it is known.
    pub(super) threshold: f32,
    /// The column of the first element of a row, and the columns to collect.
    pub(super) origin: isize,
    pub(super) columns: Range<usize>,
    /// What may hold corners.
    pub(super) corner_rows: Range<usize>,
    pub(super) corner_columns: Range<usize>,
}

/// Of a word in a row, the candidates that exceed all others by their upper halves, and those that only equal some.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Maxima {
    row: usize,
    greater: u32,
    equal: u32,
}

/// Stands for rows beyond the image: it suppresses nothing.
static BEYOND: UpperRow = [NOTHING; ROW];

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
    fn within<V: Simd, const R: usize>(self, v: V) {
        let Self { responses, words, rows, maxima, mut corners, .. } = self;
        let candidates = responses.take_candidates(words, rows.start % RING, rows.len(), self.waiting);
        let responses = &*responses;
        // The upper halves of the rows from the one R above the first on.
        let mut uppers = [&BEYOND; RING];
        for (i, upper) in uppers.iter_mut().enumerate().take(rows.len() + 2 * R) {
            let y = (rows.start + i).wrapping_sub(R);
            if y < self.height {
                *upper = responses.upper(y % RING);
            }
        }
        for word in 0..words.number {
            let place = words.start + words.step * word;
            let (mut left, mut number) = (candidates[word], 0);
            while left != 0 {
                let i = left.trailing_zeros() as usize;
                left &= left - 1;
                let around = &uppers[i..i + 2 * R + 1];
                // Whether a word's neighbourhood fits in a vector.
                let [centre, others] = if words.step + 2 * R <= 2 * V::LANES {
                    within_lanes::<V, R>(v, around, place)
                } else if V::LANES >= 16 {
                    joined_lanes::<V, R>(v, around, place)
                } else {
                    beyond_lanes::<V, R>(v, around, place)
                };
                let candidates = responses.word((rows.start + i) % RING, word);
                let greater = candidates & v.greater_i16(centre, others);
                let equal = candidates & v.equal_i16(centre, others);
                maxima[number] = Maxima { row: i, greater, equal };
                number += usize::from(greater | equal != 0);
            }
            for &Maxima { row, greater, equal } in &maxima[..number] {
                let mut winners = greater;
                let y = rows.start + row;
                if equal != 0 {
                    winners |= settle::<V, R>(v, responses, &uppers[row..row + 2 * R + 1], y, place, equal);
                }
                while winners != 0 {
                    let place = place + winners.trailing_zeros() as usize;
                    corners.take(y, place, responses.full(y % RING)[place]);
                    winners &= winners - 1;
                }
            }
        }
    }
}

impl Corners<'_> {
    #[inline(always)]
    fn take(&mut self, y: usize, place: usize, response: f32) {
        let x = (place as isize + self.origin) as usize;
        if !self.columns.contains(&x) {
            return;
        }
        // The greatest response of all is a peak; one in the margin counts, too.
        if response > self.found.greatest {
            self.found.greatest = response;
        }
        if response > self.threshold && self.corner_rows.contains(&y) && self.corner_columns.contains(&x) {
            self.found.peaks.push(Keypoint::new(x as f32, y as f32, response));
        }
    }
}

/// Of 2 · R + 1 rows, the upper halves in the middle one from element `i` on, and the greatest of the others around each: where those
/// around all columns that matter fit in a vector.
#[inline(always)]
fn within_lanes<V: Simd, const R: usize>(v: V, rows: &[&UpperRow], i: usize) -> [V::I16; 2] {
    // Lane j is column j − R.
    let centre = v.load_i16(rows[R], i - R);
    let mut others = v.splat_i16(NOTHING);
    for dy in 1..R + 1 {
        let [above, below] = [v.load_i16(rows[R - dy], i - R), v.load_i16(rows[R + dy], i - R)];
        others = v.max_i16(others, v.max_i16(above, below));
    }
    let all = v.max_i16(centre, others);
    // Of R columns: those before the centre, and R + 1 lanes later those after it.
    let (mut beside, mut next) = (all, all);
    for _ in 1..R {
        next = v.later_i16::<1>(next);
        beside = v.max_i16(beside, next);
    }
    let (after, centre, others) = match R {
        0 => return [centre, others],
        1 => (v.later_i16::<2>(beside), v.later_i16::<1>(centre), v.later_i16::<1>(others)),
        2 => (v.later_i16::<3>(beside), v.later_i16::<2>(centre), v.later_i16::<2>(others)),
        3 => (v.later_i16::<4>(beside), v.later_i16::<3>(centre), v.later_i16::<3>(others)),
        _ => (v.later_i16::<5>(beside), v.later_i16::<4>(centre), v.later_i16::<4>(others)),
    };
    [centre, v.max_i16(others, v.max_i16(beside, after))]
}

/// The same where they reach beyond one, of vectors that are quickly joined.
#[inline(always)]
fn joined_lanes<V: Simd, const R: usize>(v: V, rows: &[&UpperRow], i: usize) -> [V::I16; 2] {
    // From R columns before and from R columns after: of the rows above and below, and with the middle one.
    let (mut others, mut all) = ([v.splat_i16(NOTHING); 2], [v.splat_i16(NOTHING); 2]);
    for (side, place) in [i - R, i + R].into_iter().enumerate() {
        for dy in 1..R + 1 {
            let [above, below] = [v.load_i16(rows[R - dy], place), v.load_i16(rows[R + dy], place)];
            others[side] = v.max_i16(others[side], v.max_i16(above, below));
        }
        all[side] = v.max_i16(others[side], v.load_i16(rows[R], place));
    }
    let mut greatest = v.max_i16(v.joined::<R>(others[0], others[1], R), v.max_i16(all[0], all[1]));
    for dx in 1..R {
        let [before, after] = [v.joined::<R>(all[0], all[1], R - dx), v.joined::<R>(all[0], all[1], R + dx)];
        greatest = v.max_i16(greatest, v.max_i16(before, after));
    }
    [v.load_i16(rows[R], i), greatest]
}

/// The same of others.
#[inline(always)]
fn beyond_lanes<V: Simd, const R: usize>(v: V, rows: &[&UpperRow], i: usize) -> [V::I16; 2] {
    let centre = v.load_i16(rows[R], i);
    let mut greatest = v.splat_i16(NOTHING);
    for dy in 1..R + 1 {
        let [above, below] = [v.load_i16(rows[R - dy], i), v.load_i16(rows[R + dy], i)];
        greatest = v.max_i16(greatest, v.max_i16(above, below));
    }
    for dx in 1..R + 1 {
        for row in 0..2 * R + 1 {
            let [before, after] = [v.load_i16(rows[row], i - dx), v.load_i16(rows[row], i + dx)];
            greatest = v.max_i16(greatest, v.max_i16(before, after));
        }
    }
    [centre, greatest]
}

/// Which of the candidates `left` of row y win, in a word at element `place`; no upper half of the rows around exceeds theirs.
#[inline(always)]
fn settle<V: Simd, const R: usize>(
    v: V,
    responses: &Responses,
    uppers: &[&UpperRow],
    y: usize,
    place: usize,
    mut left: u32,
) -> u32 {
    let centre = v.load_i16(uppers[R], place);
    // What is masked is nothing, whatever it was marked as.
    left &= v.greater_i16(centre, v.splat_i16(NOTHING));
    let row = responses.full(y % RING);
    let [low, high] = [v.load_f32(row, place), v.load_f32(row, place + V::LANES)];
    for (i, &upper) in uppers.iter().enumerate().take(2 * R + 1) {
        for j in 0..2 * R + 1 {
            let beside = place + j - R;
            let equal = left & v.equal_i16(centre, v.load_i16(upper, beside));
            if equal == 0 || (i, j) == (R, R) {
                continue;
            }
            // It is as great as a candidate, so it was computed, in a row of the image.
            let row = responses.full((y + i - R) % RING);
            let [other_low, other_high] = [v.load_f32(row, beside), v.load_f32(row, beside + V::LANES)];
            let loses = if (i, j) < (R, R) {
                v.at_least(other_low, low) | v.at_least(other_high, high) << V::LANES
            } else {
                v.greater(other_low, low) | v.greater(other_high, high) << V::LANES
            };
            left &= !(equal & loses);
        }
    }
    left
}
