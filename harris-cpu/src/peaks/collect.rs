//! Suppression: which candidates of the ring are peaks.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::ops::Range;

use harris_core::Plateau;
use harris_core::pipeline::selection::Key;

use super::found::Peaks;
use super::ring::{NO_RESPONSE, RING, ResponseRing, UpperRow, WordLayout};
use crate::rows::{NEAR_RADIUS, ROW_LENGTH};
use crate::simd::{Simd, SimdKernel};

/// Collects the candidates that no response within the radius beats (docs/arithmetic.md,
/// suppression).
pub(crate) struct Collect<'a> {
    pub(crate) responses: &'a mut ResponseRing,
    pub(crate) height: usize,
    pub(crate) words: WordLayout,
    pub(crate) radius: usize,
    pub(crate) plateau: Plateau,
    /// The rows to collect.
    pub(crate) rows: Range<usize>,
    /// Rows behind them whose candidates are known already.
    pub(crate) pending: usize,
    /// Memory for the maxima of a word.
    pub(crate) maxima: &'a mut [WordMaxima; RING],
    pub(crate) corners: CornerSink<'a>,
}

/// Takes the peaks that may be corners.
pub(crate) struct CornerSink<'a> {
    pub(crate) found: &'a mut Peaks,
    /// A lower bound on the final threshold.
    pub(crate) threshold: f32,
    /// The column of the first element of a row; it may lie beyond the image.
    pub(crate) origin: isize,
    /// The strip's columns.
    pub(crate) columns: Range<usize>,
    /// Rows and columns inside the margin.
    pub(crate) corner_rows: Range<usize>,
    pub(crate) corner_columns: Range<usize>,
}

/// The candidates of a word in a row whose upper halves are greater than all around, and those that
/// equal some.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WordMaxima {
    row: usize,
    greater: u32,
    equal: u32,
}

/// A row beyond the image: it suppresses nothing.
static ROW_OUTSIDE: UpperRow = [NO_RESPONSE; ROW_LENGTH];

impl SimdKernel for Collect<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.radius {
            0 => self.within::<V, 0>(v),
            1 => self.within::<V, 1>(v),
            2 => self.within::<V, 2>(v),
            3 => self.within::<V, 3>(v),
            _ => self.within::<V, NEAR_RADIUS>(v),
        }
    }
}

impl Collect<'_> {
    #[inline(always)]
    fn within<V: Simd, const R: usize>(self, v: V) {
        let Self { responses, words, rows, maxima, mut corners, height, radius, plateau, .. } = self;
        let first_stays = plateau == Plateau::First;
        let candidates = responses.take_candidates(words, rows.start % RING, rows.len(), self.pending);
        let responses = &*responses;
        // Upper halves from the row R above the first row on.
        let mut uppers = [&ROW_OUTSIDE; RING];
        for (i, upper) in uppers.iter_mut().enumerate().take(rows.len() + 2 * R) {
            let y = (rows.start + i).wrapping_sub(R);
            if y < height {
                *upper = responses.upper(y % RING);
            }
        }
        // Whether a word's neighbourhood fits in a vector.
        let fits = words.step + 2 * R <= 2 * V::LANES;
        for word in 0..words.count {
            let place = words.start + words.step * word;
            let (mut left, mut found) = (candidates[word], 0);
            // Most rows with candidates follow one another.
            while left != 0 {
                let first = left.trailing_zeros() as usize;
                let end = first + (left >> first).trailing_ones() as usize;
                left &= !0 << end;
                let mut around = [RowMaxima::of::<R>(v, uppers[first], place, fits); 2 * NEAR_RADIUS + 1];
                for row in 1..2 * R {
                    around[row] = RowMaxima::of::<R>(v, uppers[first + row], place, fits);
                }
                for i in first..end {
                    around[2 * R] = RowMaxima::of::<R>(v, uppers[i + 2 * R], place, fits);
                    let centre = around[R].centre;
                    let others = RowMaxima::neighbourhood_maximum::<R>(v, &around);
                    let candidates = responses.word((rows.start + i) % RING, word);
                    let greater = candidates & v.greater_i16(centre, others);
                    let equal = candidates & v.equal_i16(centre, others);
                    maxima[found] = WordMaxima { row: i, greater, equal };
                    found += usize::from(greater | equal != 0);
                    for row in 0..2 * R {
                        around[row] = around[row + 1];
                    }
                }
            }
            for &WordMaxima { row, greater, equal } in &maxima[..found] {
                let mut winners = greater;
                let y = rows.start + row;
                if equal != 0 {
                    let uppers = &uppers[row..row + 2 * R + 1];
                    winners |= resolve_ties::<V, R>(v, responses, uppers, (y, place), equal, first_stays);
                }
                while winners != 0 {
                    let place = place + winners.trailing_zeros() as usize;
                    // `R < NEAR_RADIUS` is a constant: only the last kernel is compiled with this
                    // question.
                    if R < NEAR_RADIUS
                        || radius <= R
                        || wins::<V>(v, responses, (y, place), (radius, first_stays), height)
                    {
                        corners.take(y, place, responses.full(y % RING)[place]);
                    }
                    winners &= winners - 1;
                }
            }
        }
    }
}

impl CornerSink<'_> {
    #[inline(always)]
    fn take(&mut self, y: usize, place: usize, response: f32) {
        let x = (place as isize + self.origin) as usize;
        if !self.columns.contains(&x) {
            return;
        }
        // Without a mask the greatest response is a peak, be it in the margin.
        if response > self.found.greatest {
            self.found.greatest = response;
        }
        if response > self.threshold && self.corner_rows.contains(&y) && self.corner_columns.contains(&x) {
            self.found.peaks.push(Key::new(x as u16, y as u16, response));
        }
    }
}

/// Upper halves of a word in a row, and the maxima within a radius along the row: without the
/// centres, and with them.
#[derive(Clone, Copy)]
struct RowMaxima<V: Simd> {
    centre: V::I16,
    others: V::I16,
    all: V::I16,
}

impl<V: Simd> RowMaxima<V> {
    /// Computes them from element `i` on; `fits` says that a vector holds a word and its
    /// neighbours.
    #[inline(always)]
    fn of<const R: usize>(v: V, row: &UpperRow, i: usize, fits: bool) -> Self {
        if fits {
            // Lane j is column j − R.
            let columns = v.load_i16(row, i - R);
            // Maxima of R columns: those before the centre, and R + 1 lanes later those behind it.
            let (mut before, mut next) = (columns, columns);
            for _ in 1..R {
                next = v.shifted_i16::<1>(next);
                before = v.max_i16(before, next);
            }
            let [centre, behind] = match R {
                0 => return Self { centre: columns, others: v.splat_i16(NO_RESPONSE), all: columns },
                1 => [v.shifted_i16::<1>(columns), v.shifted_i16::<2>(before)],
                2 => [v.shifted_i16::<2>(columns), v.shifted_i16::<3>(before)],
                3 => [v.shifted_i16::<3>(columns), v.shifted_i16::<4>(before)],
                _ => [v.shifted_i16::<4>(columns), v.shifted_i16::<5>(before)],
            };
            let others = v.max_i16(before, behind);
            return Self { centre, others, all: v.max_i16(centre, others) };
        }
        let centre = v.load_i16(row, i);
        let mut others = v.splat_i16(NO_RESPONSE);
        for dx in 1..R + 1 {
            others = v.max_i16(others, v.max_i16(v.load_i16(row, i - dx), v.load_i16(row, i + dx)));
        }
        Self { centre, others, all: v.max_i16(centre, others) }
    }

    /// The maxima around the centres of 2 · R + 1 rows.
    #[inline(always)]
    fn neighbourhood_maximum<const R: usize>(v: V, rows: &[Self; 2 * NEAR_RADIUS + 1]) -> V::I16 {
        let mut greatest = rows[R].others;
        for dy in 1..R + 1 {
            greatest = v.max_i16(greatest, v.max_i16(rows[R - dy].all, rows[R + dy].all));
        }
        greatest
    }
}

/// Whether no response within a radius beats the candidate at element `place` of row y.
#[inline(always)]
fn wins<V: Simd>(
    v: V,
    responses: &ResponseRing,
    (y, place): (usize, usize),
    (radius, first_stays): (usize, bool),
    height: usize,
) -> bool {
    let own = responses.upper(y % RING)[place];
    let own_full = responses.full(y % RING)[place];
    let size = 2 * radius + 1;
    for other_y in y.saturating_sub(radius)..(y + radius + 1).min(height) {
        let (upper, full) = (responses.upper(other_y % RING), responses.full(other_y % RING));
        for from in (0..size).step_by(2 * V::LANES) {
            let first = place - radius + from;
            let within = u32::MAX >> 32_usize.saturating_sub(size - from);
            let others = v.load_i16(upper, first);
            if v.greater_i16(others, v.splat_i16(own)) & within != 0 {
                return false;
            }
            let mut equal = v.equal_i16(others, v.splat_i16(own)) & within;
            while equal != 0 {
                let other = first + equal.trailing_zeros() as usize;
                let loses = match (other_y, other).cmp(&(y, place)) {
                    Less if first_stays => full[other] >= own_full,
                    Equal => false,
                    Less | Greater => full[other] > own_full,
                };
                if loses {
                    return false;
                }
                equal &= equal - 1;
            }
        }
    }
    true
}

/// Of the candidates `left` of row y, in a word at element `place`, those that win by their whole
/// responses. No upper half around is greater than theirs.
#[inline(always)]
fn resolve_ties<V: Simd, const R: usize>(
    v: V,
    responses: &ResponseRing,
    uppers: &[&UpperRow],
    (y, place): (usize, usize),
    mut left: u32,
    first_stays: bool,
) -> u32 {
    let centre = v.load_i16(uppers[R], place);
    // Pixels that are not valid have no response, even if they were marked.
    left &= v.greater_i16(centre, v.splat_i16(NO_RESPONSE));
    let row = responses.full(y % RING);
    let [low, high] = [v.load_f32(row, place), v.load_f32(row, place + V::LANES)];
    for (i, &upper) in uppers.iter().enumerate().take(2 * R + 1) {
        if left == 0 {
            break;
        }
        for j in 0..2 * R + 1 {
            let beside = place + j - R;
            let equal = left & v.equal_i16(centre, v.load_i16(upper, beside));
            if equal == 0 || (i, j) == (R, R) {
                continue;
            }
            // It equals a candidate, so it was computed, in a row of the image.
            let row = responses.full((y + i - R) % RING);
            let [other_low, other_high] = [v.load_f32(row, beside), v.load_f32(row, beside + V::LANES)];
            let loses = if first_stays && (i, j) < (R, R) {
                v.at_least(other_low, low) | v.at_least(other_high, high) << V::LANES
            } else {
                v.greater(other_low, low) | v.greater(other_high, high) << V::LANES
            };
            left &= !(equal & loses);
        }
    }
    left
}
