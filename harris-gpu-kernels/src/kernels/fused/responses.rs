//! Responses that are there already, as a front of the walk that seeks corners among them.

use core::array;

use super::{EACH, Front, Lane, NEVER, ROWS, Settings};
use crate::Simt;
use crate::abi::{state as states, threshold};

/// A lane's part of it.
pub(super) struct Responses<S: Simt> {
    map: S::Buffer<f32>,
    /// Where its responses are in a row: of columns outside those next to them, which belong to no corner.
    columns: [u32; EACH],
    /// Those of the next rows, and of the ones after them.
    now: [[f32; EACH]; ROWS],
    ahead: [[f32; EACH]; ROWS],
}

impl<S: Simt> Front<S> for Responses<S> {
    type Sample = f32;
    // A row is there when the next one is asked for.
    const REACH: i32 = 1;
    const LEADING: usize = 0;

    #[inline(always)]
    fn settle(s: S, state: S::Buffer<u32>, set: Settings) -> Settings {
        if set.threshold == threshold::KNOWN {
            let value = f32::from_bits(s.load(state, states::THRESHOLD));
            Settings { threshold: threshold::ABSOLUTE, value, ..set }
        } else {
            set
        }
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, map: S::Buffer<f32>, row: i32) -> Self {
        let last = lane.set.size.width as i32 - 1;
        let columns = array::from_fn(|i| (lane.x + i as i32).max(0).min(last) as u32);
        let mut front = Self { map, columns, now: [[NEVER; EACH]; ROWS], ahead: [[NEVER; EACH]; ROWS] };
        front.ahead = front.load(lane, row - Self::REACH);
        front
    }

    #[inline(always)]
    fn listen(&mut self, _: f32) {}

    #[inline(always)]
    fn lead(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn take(&mut self, _: &Lane<S>) {
        self.now = self.ahead;
    }

    #[inline(always)]
    fn ask(&mut self, lane: &Lane<S>, row: i32) {
        self.ahead = self.load(lane, row - Self::REACH + ROWS as i32);
    }

    #[inline(always)]
    fn step(&mut self, _: &Lane<S>, _: i32, i: usize, valid: bool) -> (bool, [f32; EACH]) {
        (valid, if valid { self.now[i] } else { [NEVER; EACH] })
    }
}

impl<S: Simt> Responses<S> {
    /// Rows from this one on; any of those that are outside.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, row: i32) -> [[f32; EACH]; ROWS] {
        let last = lane.set.size.height as i32 - 1;
        array::from_fn(|i| {
            let y = (row + i as i32).max(0).min(last) as u32;
            let start = lane.s.product(y, lane.set.pitch) as usize;
            self.columns.map(|column| lane.s.load_constant(self.map, start + column as usize))
        })
    }
}
