//! Wide box windows of 8-bit samples, at a cost that does not grow with their size: rows that enter the window are added to sums down of
//! products, those that leave it taken off, and sums across are differences of those of all columns before.
//!
//! The rows in between wait in shared memory, as gradients; so do the sums across, as neighbours' lie many lanes away.

use core::array;

use super::boxes::{MOST_TRACE, measured};
use super::differences::PAIRS;
use super::lane::{EACH, Lane, NEVER, Place};
use super::running::{Running, cell, pair};
use super::window::Window;
use crate::Simt;
use crate::simt::WARP;

/// Lanes to each side of the warp that the farthest sums would be those of: there are zeros.
const BESIDE: u32 = 4;
/// Sums of a plane: one of each lane, and of those beside.
const PLANE: u32 = WARP + 2 * BESIDE;

/// The words of sums of traces, a plane for each of a lane's columns; then the cells of those of two products, and of gradients.
const PRODUCTS: u32 = EACH as u32 * PLANE / 2;
const GRADIENTS: u32 = PRODUCTS + EACH as u32 * PLANE;

/// A lane's part of it; `MOST` is the greatest radius.
pub(super) struct Wide<const MOST: usize> {
    /// What the trace of the sums around a corner reaches.
    least: i32,
    running: Running<GRADIENTS>,
}

impl<S: Simt, const MOST: usize> Window<S> for Wide<MOST> {
    type Gradient = [u32; PAIRS];
    type Sum = i32;
    const RADIUS: usize = 0;

    #[inline(always)]
    fn new(lane: &Lane<S>) -> Self {
        const {
            assert!(MOST < BESIDE as usize * EACH, "sums are so far away at most");
            // Of Sobel's gradients, at most 4 · 255 each, the only ones that there are kernels for.
            let most = 2 * (2 * MOST as i64 + 1).pow(2) * (4 * 255_i64).pow(2);
            assert!(most < 1 << 31, "traces of windows fit, and so does twice gx·gy, which is never more");
        }
        let (s, l) = (lane.s, lane.s.lane());
        // One for each lane.
        const { assert!(EACH as u32 * 2 * BESIDE == WARP) };
        let (plane, beside) = (l / (2 * BESIDE), l % (2 * BESIDE));
        let place = plane * PLANE + if beside < BESIDE { beside } else { WARP + beside };
        s.set_shared_word(place, 0);
        s.set_shared(PRODUCTS + place, 0);
        Self { least: 0, running: Running::new(s, 2 * lane.set.window + 1) }
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        self.least = least.min(MOST_TRACE) as i32;
    }

    #[inline(always)]
    fn lead(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) {
        // No more rows than the window has, so that none leaves.
        self.running.lead(lane.s, (gx, gy), 2 * lane.set.window + 1);
    }

    #[inline(always)]
    fn down(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) -> [[i32; EACH]; 3] {
        self.running.down(lane.s, (gx, gy), 2 * lane.set.window + 1);
        self.running.sums
    }

    #[inline(always)]
    fn respond(&self, lane: &Lane<S>, [xx, xy, yy]: [[i32; EACH]; 3], place: Place) -> (bool, [f32; EACH]) {
        let s = lane.s;
        let own = |i: u32| i * PLANE + BESIDE + s.lane();
        let [before] = sums_before(s, [array::from_fn(|i| xx[i].wrapping_add(yy[i]))]);
        for i in 0..EACH {
            s.set_shared_word(own(i as u32), before[i] as u32);
        }
        s.barrier_of_warp();
        let radius = lane.set.window;
        // Of the last column of the window around one, and of the last before it.
        let places: [[u32; 2]; EACH] =
            array::from_fn(|i| [i as u32 + radius, i as u32 + (BESIDE * EACH as u32 - 1) - radius]);
        let places = places.map(|[last, first]| {
            let place = |column: u32| column % EACH as u32 * PLANE + s.lane() + column / EACH as u32;
            [place(last) + BESIDE, place(first)]
        });
        let traces: [i32; EACH] = array::from_fn(|i| {
            let [last, first] = places[i].map(|place| s.shared_word(place));
            last.wrapping_sub(first) as i32
        });
        let mut greatest = i32::MIN;
        for i in 0..EACH {
            greatest = greatest.max(traces[i]);
        }
        let strong = s.any(place.is_valid() && greatest >= self.least);
        if strong {
            let before = sums_before(s, [xx, lane.turn(xy)]);
            for i in 0..EACH {
                s.set_shared(PRODUCTS + own(i as u32), cell(before.map(|before| before[i] as u32)));
            }
        }
        // What was read above is written anew with the next row.
        s.barrier_of_warp();
        if !strong {
            return (false, [NEVER; EACH]);
        }
        let products: [[i32; 2]; EACH] = array::from_fn(|i| {
            let [last, first] = places[i].map(|place| pair(s.shared(PRODUCTS + place)));
            array::from_fn(|product| last[product].wrapping_sub(first[product]) as i32)
        });
        let responses = measured(lane, |i, scale_of_squares| {
            let ([xx, twice_xy], trace) = (products[i], traces[i]);
            let [a, c] = [xx, trace.wrapping_sub(xx)].map(|sum| sum as f32 * scale_of_squares);
            (a, twice_xy as f32 * (0.5 * lane.set.scale), c)
        });
        (true, responses)
    }
}

/// The sums of rows from the warp's first column to each of the lane's own. They may wrap, as differences of them do then, too.
#[inline(always)]
pub(super) fn sums_before<S: Simt, const ROWS: usize>(
    s: S,
    mut own: [[i32; EACH]; ROWS],
) -> [[i32; EACH]; ROWS] {
    for row in 0..ROWS {
        for i in 1..EACH {
            own[row][i] = own[row][i].wrapping_add(own[row][i - 1]);
        }
    }
    let last = own.map(|own| own[EACH - 1]);
    let mut sums = last;
    let mut delta = 1;
    while delta < WARP {
        // One beside the other, as each step waits for the one before.
        sums = sums.map(|sum| s.plus_below(sum as u32, delta) as i32);
        delta *= 2;
    }
    array::from_fn(|row| own[row].map(|own| own.wrapping_add(sums[row].wrapping_sub(last[row]))))
}
