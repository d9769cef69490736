//! Box windows of 5 and 7 rows of 8-bit samples: sums down that run on, of which those across are few enough to be added up.

use super::boxes::{MOST_TRACE, across, measured, reached};
use super::differences::PAIRS;
use super::lane::{EACH, Lane, NEVER, Place};
use super::running::Running;
use super::window::Window;
use crate::Simt;

/// A lane's part of it; `WINDOW` is the radius.
pub(super) struct Sliding<const WINDOW: usize> {
    /// What the trace of the sums around a corner reaches.
    least: i32,
    running: Running<0>,
}

impl<const WINDOW: usize> Sliding<WINDOW> {
    const ROWS: u32 = 2 * WINDOW as u32 + 1;
}

impl<S: Simt, const WINDOW: usize> Window<S> for Sliding<WINDOW> {
    type Gradient = [u32; PAIRS];
    type Sum = i32;
    const RADIUS: usize = WINDOW;

    #[inline(always)]
    fn new(lane: &Lane<S>) -> Self {
        Self { least: 0, running: Running::new(lane.s, Self::ROWS) }
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        self.least = least.min(MOST_TRACE) as i32;
    }

    #[inline(always)]
    fn lead(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) {
        self.running.lead(lane.s, (gx, gy), Self::ROWS);
    }

    #[inline(always)]
    fn down(&mut self, lane: &Lane<S>, gx: [u32; PAIRS], gy: [u32; PAIRS]) -> [[i32; EACH]; 3] {
        self.running.down(lane.s, (gx, gy), Self::ROWS);
        self.running.sums
    }

    #[inline(always)]
    fn respond(
        &self,
        lane: &Lane<S>,
        [xx, twice_xy, yy]: [[i32; EACH]; 3],
        place: Place,
    ) -> (bool, [f32; EACH]) {
        let (xx, yy) = (across::<S, WINDOW>(lane.s, xx), across::<S, WINDOW>(lane.s, yy));
        let strong = reached(lane, self.least, xx, yy, place);
        let mut responses = [NEVER; EACH];
        if strong {
            let twice_xy = across::<S, WINDOW>(lane.s, lane.turn(twice_xy));
            responses = measured(lane, |i, scale_of_squares| {
                let [a, c] = [xx[i], yy[i]].map(|sum| sum as f32 * scale_of_squares);
                (a, twice_xy[i] as f32 * (0.5 * lane.set.scale), c)
            });
        }
        (strong, responses)
    }
}
