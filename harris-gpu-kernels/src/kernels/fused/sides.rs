//! Box gradients of 8-bit samples, and box windows behind them, at a cost that grows with neither size.
//!
//! Sums down a gradient's box run on from row to row, and so do those of its lower side less its upper, and sums down a window of products;
//! sums across are differences of those of all columns before. The rows between what enters and what leaves wait in shared memory,
//! samples and gradients, and sums across are left there, too.

use core::array;

use super::arguments::Settings;
use super::boxes::measured;
use super::differences::{PAIRS, split};
use super::lane::{EACH, Lane, NEVER, Place};
use super::mirror::{columns, mirrored};
use super::running::{cell, pair};
use super::source::Front;
use super::wide::sums_before;
use crate::Simt;
use crate::abi::fused::MOST_OF_BOXES as MOST;
use crate::abi::fused::{COLUMNS, ROWS};
use crate::simt::WARP;

/// Lanes to the left of the warp that the farthest sums would be those of: there are zeros.
const BESIDE: u32 = 2;
/// Words of sums: one of each lane, and of those beside; a plane for each of a lane's columns.
const PLANE: u32 = WARP + BESIDE;
const SUMS: u32 = EACH as u32 * PLANE;

/// Kinds of sums across: those of samples, in halves of words; of window sums the upper bits of the trace, of gx² and of gx·gy, the
/// lower ones of the trace, and of the others in halves of words.
const OF_SAMPLES: u32 = 0;
const UPPER_TRACES: u32 = 1;
const UPPER_SQUARES: u32 = 2;
const UPPER_PRODUCTS: u32 = 3;
const LOWER_TRACES: u32 = 4;
const LOWER_OTHERS: u32 = 5;
const KINDS: u32 = 6;

/// Lower bits of window sums.
const LOW: u32 = 12;

/// Where rows of samples begin in shared memory, by words; the rows of gradients, by cells.
const SAMPLES: u32 = KINDS * SUMS;
const GRADIENTS: u32 = SAMPLES / 2 + (2 * MOST as u32 + 1) * WARP / 2;
/// Cells of a row of gradients.
const ROW: u32 = 2 * WARP;

/// A lane's part of it.
pub(super) struct Sides<S: Simt> {
    image: S::Buffer<u8>,
    /// Where its samples are in a row: see [`columns`].
    column: u32,
    selector: u32,
    /// Its samples of the next rows, and the words of those after them.
    samples: [u32; ROWS],
    ahead: [[u32; 2]; ROWS],
    /// Where the samples are that leave the box next, and those in its middle.
    last_samples: u32,
    middle_samples: u32,
    /// Those in the middle of the box before, in pairs.
    middle: [u32; PAIRS],
    /// Sums down the box, and of its lower side less its upper, in pairs.
    sums: [u32; PAIRS],
    differences: [u32; PAIRS],
    /// Words of the last sum of each column's box, or window, and of the last before it.
    of_gradient: [[u32; 2]; EACH],
    of_window: [[u32; 2]; EACH],
    /// Where the gradients of the row that leaves next are.
    last_gradients: u32,
    /// Whether any corner depends on its responses.
    counts: bool,
    /// What the trace of the sums around a corner reaches, in upper bits.
    least: i32,
    /// Sums down of gx², gx·gy and gy².
    products: [[i32; EACH]; 3],
}

impl<S: Simt> Front<S> for Sides<S> {
    type Sample = u8;
    const LEADS: bool = false;

    #[inline(always)]
    fn reach(set: &Settings) -> i32 {
        (set.gradient_radius + set.window) as i32
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, image: S::Buffer<u8>, _: i32) -> Self {
        const {
            let size = 2 * MOST as i64 + 1;
            assert!(MOST < (BESIDE as usize) * EACH, "sums are so far away at most");
            assert!(255 * size * size < 1 << 16, "a box's sum fits in half a word without a sign");
            let gradient = 255 * size * MOST as i64;
            assert!(gradient < 1 << 15, "a gradient fits in half a word");
            let trace = 2 * size * gradient.pow(2);
            assert!(trace < 1 << 31, "sums down the window fit");
            assert!(size * (trace >> LOW) < 1 << 24, "upper bits of the window's are exact as floats");
            assert!(size * (1 << LOW) < 1 << 16, "lower bits of them fit in half a word");
        }
        let (s, l, set) = (lane.s, lane.s.lane(), &lane.set);
        for kind in 0..KINDS {
            // Of all planes, one for each of so many lanes.
            if l < BESIDE * EACH as u32 {
                s.set_shared_word(kind * SUMS + l / BESIDE * PLANE + l % BESIDE, 0);
            }
        }
        // What never entered leaves as nothing.
        for row in 0..=2 * set.gradient_radius {
            s.set_shared_word(SAMPLES + WARP * row + l, 0);
        }
        for row in 0..=2 * set.window {
            Self::put(s, GRADIENTS + ROW * row + l, [[0; EACH]; 2]);
        }
        let places = |radius: u32| -> [[u32; 2]; EACH] {
            array::from_fn(|i| {
                let own = EACH as u32 * (BESIDE + l) + i as u32;
                // Beyond the warp's last column there are no sums, nor corners that depend on them.
                let last = (own + radius).min(EACH as u32 * BESIDE + COLUMNS - 1);
                [last, own - radius - 1].map(|column| column % EACH as u32 * PLANE + column / EACH as u32)
            })
        };
        let (start, edge) = (EACH as u32 * l, Self::reach(set) as u32);
        let (column, selector) = columns(lane.x, set.size.width);
        Self {
            image,
            column,
            selector,
            samples: [0; ROWS],
            ahead: [[0; 2]; ROWS],
            last_samples: SAMPLES + l,
            middle_samples: SAMPLES + WARP * (set.gradient_radius + 1) + l,
            middle: [0; PAIRS],
            sums: [0; PAIRS],
            differences: [0; PAIRS],
            of_gradient: places(set.gradient_radius),
            of_window: places(set.window),
            last_gradients: GRADIENTS + l,
            counts: start + EACH as u32 > edge && start < COLUMNS - edge,
            least: 0,
            products: [[0; EACH]; 3],
        }
    }

    #[inline(always)]
    fn lead(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn fill(&mut self, lane: &Lane<S>, mut row: i32) -> i32 {
        let first = row + 2 * lane.set.gradient_radius as i32;
        let end = row + 2 * Self::reach(&lane.set) / ROWS as i32 * ROWS as i32;
        self.ahead = self.load(lane, row);
        while row < end {
            self.take(lane);
            self.ask(lane, row, Place::Valid);
            // Not in a loop: compilers keep some of them as they are.
            self.fill_row(lane, row, first, 0);
            self.fill_row(lane, row + 1, first, 1);
            self.fill_row(lane, row + 2, first, 2);
            row += ROWS as i32;
        }
        row
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        // Upper bits are less by less than 1 a column.
        let columns = 2 * MOST as i32 + 2;
        self.least = (least * (1.0 / (1 << LOW) as f32)).min(1_073_741_824.0) as i32 - columns;
    }

    #[inline(always)]
    fn columns(&self, _: &Lane<S>) -> (u32, u32) {
        (self.column, self.selector)
    }

    #[inline(always)]
    fn take(&mut self, lane: &Lane<S>) {
        self.samples = self.ahead.map(|[first, second]| lane.s.permute(first, second, self.selector));
    }

    #[inline(always)]
    fn ask(&mut self, lane: &Lane<S>, row: i32, _: Place) {
        self.ahead = self.load(lane, row + ROWS as i32);
    }

    #[inline(always)]
    fn step(&mut self, lane: &Lane<S>, row: i32, i: usize, place: Place) -> (bool, [f32; EACH]) {
        self.slide(lane, i);
        let gradients = self.gradients(lane, row - lane.set.gradient_radius as i32);
        let leaving = Self::get(lane.s, self.last_gradients);
        self.enter(lane, gradients);
        self.add(gradients, leaving);
        self.respond(lane, place)
    }
}

impl<S: Simt> Sides<S> {
    /// The words that have the lane's samples of [`ROWS`] rows, from one on.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, row: i32) -> [[u32; 2]; ROWS] {
        array::from_fn(|i| {
            let y = mirrored(row + i as i32, lane.set.size.height);
            let at = lane.start + lane.s.product(y, lane.set.pitch) as usize + self.column as usize;
            [lane.s.load_four(self.image, at), lane.s.load_four(self.image, at + 4)]
        })
    }

    /// One row down, to that which number `i` of the samples taken last completes.
    #[inline(always)]
    fn slide(&mut self, lane: &Lane<S>, i: usize) {
        let s = lane.s;
        let enters = self.samples[i];
        let (middle, leaves) = (s.shared_word(self.middle_samples), s.shared_word(self.last_samples));
        s.set_shared_word(self.last_samples, enters);
        let end = SAMPLES + WARP * (2 * lane.set.gradient_radius + 1);
        let after = |place: u32| if place + WARP >= end { SAMPLES + s.lane() } else { place + WARP };
        (self.middle_samples, self.last_samples) = (after(self.middle_samples), after(self.last_samples));
        // Byte 4 is one of zeros.
        let pairs = |samples: u32| [0x4140, 0x4342].map(|selector| s.permute(samples, 0, selector));
        let [enters, middle, leaves] = [enters, middle, leaves].map(pairs);
        for k in 0..PAIRS {
            self.sums[k] = self.sums[k].wrapping_add(enters[k]).wrapping_sub(leaves[k]);
            // The middle leaves the lower side, and what was the middle enters the upper one.
            let change =
                enters[k].wrapping_add(leaves[k]).wrapping_sub(middle[k]).wrapping_sub(self.middle[k]);
            self.differences[k] = self.differences[k].wrapping_add(change);
        }
        self.middle = middle;
    }

    /// gx and gy of a row. Above and below the image gy has changed its sign: as it enters the products.
    #[inline(always)]
    fn gradients(&self, lane: &Lane<S>, row: i32) -> [[i32; EACH]; 2] {
        let s = lane.s;
        let differences = split(self.differences);
        // Differences times 2¹⁶, plus sums: whatever is added up and taken off again, the lower half is that of sums, which has no sign.
        let own: [i32; EACH] = array::from_fn(|i| {
            let selector = if i % 2 == 0 { 0x5410 } else { 0x5432 };
            s.permute(self.sums[i / 2], differences[i] as u32, selector) as i32
        });
        let [before] = sums_before(s, [own]);
        Self::leave(s, OF_SAMPLES, before);
        s.barrier_of_warp();
        let ends = self
            .of_gradient
            .map(|places| places.map(|place| s.shared_word(OF_SAMPLES * SUMS + place) as i32));
        let gx = array::from_fn(|i| {
            let ([last, first], to_centre) = (ends[i], before[i]);
            let to_left = to_centre.wrapping_sub(own[i]);
            let right_less_left = last.wrapping_sub(to_centre).wrapping_sub(to_left.wrapping_sub(first));
            i32::from(right_less_left as i16)
        });
        let mut gy = ends.map(|[last, first]| last.wrapping_sub(first) >> 16);
        if row as u32 >= lane.set.size.height {
            gy = gy.map(i32::wrapping_neg);
        }
        [gx, gy]
    }

    /// Leaves sums before columns in memory.
    #[inline(always)]
    fn leave(s: S, kind: u32, before: [i32; EACH]) {
        for i in 0..EACH {
            s.set_shared_word(kind * SUMS + i as u32 * PLANE + BESIDE + s.lane(), before[i] as u32);
        }
    }

    /// Sums across the window, of a kind of those in memory.
    #[inline(always)]
    fn across(&self, s: S, kind: u32) -> [i32; EACH] {
        self.of_window.map(|places| {
            let [last, first] = places.map(|place| s.shared_word(kind * SUMS + place));
            last.wrapping_sub(first) as i32
        })
    }

    /// Leaves a lane's gx and gy in memory.
    #[inline(always)]
    fn put(s: S, at: u32, [gx, gy]: [[i32; EACH]; 2]) {
        let halves: [u32; EACH] = array::from_fn(|i| s.permute(gx[i] as u32, gy[i] as u32, 0x5410));
        s.set_shared(at, cell([halves[0], halves[1]]));
        s.set_shared(at + WARP, cell([halves[2], halves[3]]));
    }

    /// What [`Sides::put`] has left there.
    #[inline(always)]
    fn get(s: S, at: u32) -> [[i32; EACH]; 2] {
        let [[a, b], [c, d]] = [at, at + WARP].map(|at| pair(s.shared(at)));
        let halves = [a, b, c, d];
        [halves.map(|half| i32::from(half as i16)), halves.map(|half| half as i32 >> 16)]
    }

    /// Keeps a row of gradients in place of the one that leaves.
    #[inline(always)]
    fn enter(&mut self, lane: &Lane<S>, gradients: [[i32; EACH]; 2]) {
        Self::put(lane.s, self.last_gradients, gradients);
        let end = GRADIENTS + ROW * (2 * lane.set.window + 1);
        let next = self.last_gradients + ROW;
        self.last_gradients = if next >= end { GRADIENTS + lane.s.lane() } else { next };
    }

    /// Row `row` of those that the window is filled with, number `i` of the samples taken last: those above `first` only complete a box.
    #[inline(always)]
    fn fill_row(&mut self, lane: &Lane<S>, row: i32, first: i32, i: usize) {
        self.slide(lane, i);
        if row >= first {
            let gradients = self.gradients(lane, row - lane.set.gradient_radius as i32);
            // No more rows than the window has, so that none leaves.
            self.enter(lane, gradients);
            self.add(gradients, [[0; EACH]; 2]);
            // What was read is written anew with the next row.
            lane.s.barrier_of_warp();
        }
    }

    /// Adds the products of gradients that enter the window, and takes those off that leave it.
    #[inline(always)]
    fn add(&mut self, [gx, gy]: [[i32; EACH]; 2], [old_gx, old_gy]: [[i32; EACH]; 2]) {
        let [xx, xy, yy] = &mut self.products;
        for i in 0..EACH {
            // e² - l² is (e + l)(e - l).
            xx[i] += (gx[i] + old_gx[i]) * (gx[i] - old_gx[i]);
            yy[i] += (gy[i] + old_gy[i]) * (gy[i] - old_gy[i]);
            xy[i] += gx[i] * gy[i] - old_gx[i] * old_gy[i];
        }
    }

    /// Responses by the sums down, as [`Front::step`] has them.
    #[inline(always)]
    fn respond(&self, lane: &Lane<S>, place: Place) -> (bool, [f32; EACH]) {
        let s = lane.s;
        let upper = |sums: [i32; EACH]| sums.map(|sum| sum >> LOW);
        let lower = |sums: [i32; EACH]| sums.map(|sum| sum & ((1 << LOW) - 1));
        let [xx, xy, yy] = self.products;
        let trace = array::from_fn(|i| xx[i] + yy[i]);
        let [before] = sums_before(s, [upper(trace)]);
        Self::leave(s, UPPER_TRACES, before);
        s.barrier_of_warp();
        let upper_traces = self.across(s, UPPER_TRACES);
        let mut greatest = i32::MIN;
        for i in 0..EACH {
            greatest = greatest.max(upper_traces[i]);
        }
        let strong = s.any(place.is_valid() && self.counts && greatest >= self.least);
        if !strong {
            return (false, [NEVER; EACH]);
        }
        let xy = lane.turn(xy);
        let (lower_xx, lower_xy) = (lower(xx), lower(xy));
        let others = array::from_fn(|i| lower_xx[i] | lower_xy[i] << 16);
        let kinds = [UPPER_SQUARES, UPPER_PRODUCTS, LOWER_TRACES, LOWER_OTHERS];
        let before = sums_before(s, [upper(xx), upper(xy), lower(trace), others]);
        for i in 0..kinds.len() {
            Self::leave(s, kinds[i], before[i]);
        }
        s.barrier_of_warp();
        let [upper_xx, upper_xy, lower_traces, others] = kinds.map(|kind| self.across(s, kind));
        // What was read is written anew with the next row.
        s.barrier_of_warp();
        let responses = measured(lane, |i, scale_of_squares| {
            let (lower_xx, lower_xy) = (others[i] & 0xFFFF, (others[i] as u32 >> 16) as i32);
            let upper_yy = upper_traces[i] - upper_xx[i];
            let lower_yy = lower_traces[i] - lower_xx;
            // The sums themselves, rounded once.
            let sum = |upper: i32, lower: i32| s.exact_fma(upper as f32, (1 << LOW) as f32, lower as f32);
            let [a, c] = [sum(upper_xx[i], lower_xx), sum(upper_yy, lower_yy)];
            (a * scale_of_squares, sum(upper_xy[i], lower_xy) * lane.set.scale, c * scale_of_squares)
        });
        (true, if self.counts { responses } else { [NEVER; EACH] })
    }
}
