//! Row kernels on responses: candidates, suppression, peaks.

use std::cmp::Ordering::{Equal, Greater, Less};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use harris_core::pipeline::selection::Key;
use harris_core::pipeline::threshold;
use harris_core::{HarrisConfig, Plateau, Threshold};

use super::NEAR;
use super::responses::{NOTHING, RING, Responses, UpperRow, Words};
use super::scratch::ROW;
use super::shortened::{Certain, Seen, Shortened};
use crate::simd::{Simd, Work};

/// What a thread has found.
#[derive(Debug, Default)]
pub(crate) struct Peaks {
    /// Peaks above the threshold as far as the thread knows it, in no order.
    pub(crate) peaks: Vec<Key>,
    /// The greatest response where corners are sought, as far as the thread knows it, where it is positive, else 0.
    pub(crate) greatest: f32,
    /// What the corners of a list that is cut short exceed, likewise.
    floor: f32,
    pub(super) shortened: Shortened,
    /// Which of those that share the image it is.
    pub(super) thread: usize,
}

impl Peaks {
    pub(super) fn begin(&mut self, config: &HarrisConfig, (thread, threads): (usize, usize)) {
        self.peaks.clear();
        (self.greatest, self.floor) = (0.0, 0.0);
        self.shortened.begin(config, threads);
        self.thread = thread;
    }

    /// Looks whether more can be told of the list.
    pub(super) fn shorten(&mut self, config: &HarrisConfig, seen: &Seen, known: &Known) {
        let Self { peaks, floor, shortened, .. } = self;
        if let Some(raised) = shortened.floor(peaks, config, *floor, seen, &known.certain) {
            *floor = floor.max(raised);
        }
    }

    /// What corners of the list exceed as far as it is known: no more than they do.
    pub(super) fn threshold(&self, threshold: Threshold) -> f32 {
        let threshold = match threshold {
            Threshold::Absolute(value) => value,
            Threshold::Relative(quality) => threshold::relative(quality, self.greatest).unwrap_or(0.0),
            Threshold::Rosin { .. } | Threshold::None => 0.0,
        };
        threshold.max(self.floor)
    }
}

/// What any of the threads that share an image knows: it spares the others candidates.
#[derive(Debug, Default)]
pub(crate) struct Known {
    greatest: Highest,
    floor: Highest,
    certain: Certain,
}

impl Known {
    /// For an image that so many threads share.
    pub(crate) fn begin(&mut self, threads: usize) {
        (self.greatest, self.floor) = Default::default();
        self.certain.begin(threads);
    }

    /// Tells all threads what one knows, and it what they do.
    pub(super) fn share(&self, found: &mut Peaks) {
        found.greatest = self.greatest.raise(found.greatest);
        found.floor = self.floor.raise(found.floor);
    }
}

/// The highest of some numbers, none of which is negative.
#[derive(Debug, Default)]
struct Highest(AtomicU32);

impl Highest {
    /// The higher of this and another, which it is from now on.
    fn raise(&self, other: f32) -> f32 {
        // Floats that are not negative are ordered as their bits.
        let highest = f32::from_bits(self.0.load(Ordering::Relaxed));
        if other > highest {
            self.0.fetch_max(other.to_bits(), Ordering::Relaxed);
        }
        other.max(highest)
    }
}

/// Collects the candidates that no response within the radius beats: none is greater, and on a plateau of which one pixel
/// stays, none before them is equal.
pub(super) struct Collect<'a> {
    pub(super) responses: &'a mut Responses,
    pub(super) height: usize,
    pub(super) words: Words,
    pub(super) radius: usize,
    pub(super) plateau: Plateau,
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
            _ => self.within::<V, NEAR>(v),
        }
    }
}

impl Collect<'_> {
    #[inline(always)]
    fn within<V: Simd, const R: usize>(self, v: V) {
        let Self { responses, words, rows, maxima, mut corners, height, radius, plateau, .. } = self;
        let first_stays = plateau == Plateau::First;
        let candidates = responses.take_candidates(words, rows.start % RING, rows.len(), self.waiting);
        let responses = &*responses;
        // The upper halves of the rows from the one R above the first on.
        let mut uppers = [&BEYOND; RING];
        for (i, upper) in uppers.iter_mut().enumerate().take(rows.len() + 2 * R) {
            let y = (rows.start + i).wrapping_sub(R);
            if y < height {
                *upper = responses.upper(y % RING);
            }
        }
        // Whether a word's neighbourhood fits in a vector.
        let fits = words.step + 2 * R <= 2 * V::LANES;
        for word in 0..words.number {
            let place = words.start + words.step * word;
            let (mut left, mut number) = (candidates[word], 0);
            // Rows with candidates mostly follow each other.
            while left != 0 {
                let first = left.trailing_zeros() as usize;
                let end = first + (left >> first).trailing_ones() as usize;
                left &= !0 << end;
                let mut around = [Beside::of::<R>(v, uppers[first], place, fits); 2 * NEAR + 1];
                for row in 1..2 * R {
                    around[row] = Beside::of::<R>(v, uppers[first + row], place, fits);
                }
                for i in first..end {
                    around[2 * R] = Beside::of::<R>(v, uppers[i + 2 * R], place, fits);
                    let centre = around[R].centre;
                    let others = Beside::others::<R>(v, &around);
                    let candidates = responses.word((rows.start + i) % RING, word);
                    let greater = candidates & v.greater_i16(centre, others);
                    let equal = candidates & v.equal_i16(centre, others);
                    maxima[number] = Maxima { row: i, greater, equal };
                    number += usize::from(greater | equal != 0);
                    for row in 0..2 * R {
                        around[row] = around[row + 1];
                    }
                }
            }
            for &Maxima { row, greater, equal } in &maxima[..number] {
                let mut winners = greater;
                let y = rows.start + row;
                if equal != 0 {
                    let uppers = &uppers[row..row + 2 * R + 1];
                    winners |= settle::<V, R>(v, responses, uppers, (y, place), equal, first_stays);
                }
                while winners != 0 {
                    let place = place + winners.trailing_zeros() as usize;
                    // A constant, so that it is compiled where radii may be greater.
                    if R < NEAR
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

impl Corners<'_> {
    #[inline(always)]
    fn take(&mut self, y: usize, place: usize, response: f32) {
        let x = (place as isize + self.origin) as usize;
        if !self.columns.contains(&x) {
            return;
        }
        // Without a mask the greatest response of all is a peak; one in the margin counts, too.
        if response > self.found.greatest {
            self.found.greatest = response;
        }
        if response > self.threshold && self.corner_rows.contains(&y) && self.corner_columns.contains(&x) {
            self.found.peaks.push(Key::new(x as u16, y as u16, response));
        }
    }
}

/// Upper halves of a word in a row, and the greatest within a radius in the row, without those in the middle and with them.
#[derive(Clone, Copy)]
struct Beside<V: Simd> {
    centre: V::I16,
    others: V::I16,
    all: V::I16,
}

impl<V: Simd> Beside<V> {
    /// From element `i` on; `fits` tells whether a word and its neighbours are within a vector.
    #[inline(always)]
    fn of<const R: usize>(v: V, row: &UpperRow, i: usize, fits: bool) -> Self {
        if fits {
            // Lane j is column j − R.
            let columns = v.load_i16(row, i - R);
            // Of R columns: those before the middle, and R + 1 lanes later those behind it.
            let (mut before, mut next) = (columns, columns);
            for _ in 1..R {
                next = v.later_i16::<1>(next);
                before = v.max_i16(before, next);
            }
            let [centre, behind] = match R {
                0 => return Self { centre: columns, others: v.splat_i16(NOTHING), all: columns },
                1 => [v.later_i16::<1>(columns), v.later_i16::<2>(before)],
                2 => [v.later_i16::<2>(columns), v.later_i16::<3>(before)],
                3 => [v.later_i16::<3>(columns), v.later_i16::<4>(before)],
                _ => [v.later_i16::<4>(columns), v.later_i16::<5>(before)],
            };
            let others = v.max_i16(before, behind);
            return Self { centre, others, all: v.max_i16(centre, others) };
        }
        let centre = v.load_i16(row, i);
        let mut others = v.splat_i16(NOTHING);
        for dx in 1..R + 1 {
            others = v.max_i16(others, v.max_i16(v.load_i16(row, i - dx), v.load_i16(row, i + dx)));
        }
        Self { centre, others, all: v.max_i16(centre, others) }
    }

    /// Of 2 · R + 1 rows, the greatest around those in the middle.
    #[inline(always)]
    fn others<const R: usize>(v: V, rows: &[Self; 2 * NEAR + 1]) -> V::I16 {
        let mut greatest = rows[R].others;
        for dy in 1..R + 1 {
            greatest = v.max_i16(greatest, v.max_i16(rows[R - dy].all, rows[R + dy].all));
        }
        greatest
    }
}

/// Whether a candidate at element `place` of row y wins against all others within a radius.
#[inline(always)]
fn wins<V: Simd>(
    v: V,
    responses: &Responses,
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

/// Which of the candidates `left` of row y win, in a word at element `place`; no upper half of the rows around exceeds theirs.
#[inline(always)]
fn settle<V: Simd, const R: usize>(
    v: V,
    responses: &Responses,
    uppers: &[&UpperRow],
    (y, place): (usize, usize),
    mut left: u32,
    first_stays: bool,
) -> u32 {
    let centre = v.load_i16(uppers[R], place);
    // What is not valid is nothing, whatever it was marked as.
    left &= v.greater_i16(centre, v.splat_i16(NOTHING));
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
            // It is as great as a candidate, so it was computed, in a row of the image.
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
