//! Responses that are there already, as a front of the walk that seeks corners among them.

use core::array;

use super::arguments::Settings;
use super::lane::{EACH, Lane, NEVER, Place};
use super::source::Front;
use crate::Simt;
use crate::abi::fused::ROWS;
use crate::abi::{fused, state as states, threshold};

/// A lane's part of it.
pub(super) struct Responses<S: Simt> {
    map: S::Buffer<f32>,
    /// Where its responses are in a row: of columns outside others, which belong to no corner; and whether they are read at once.
    columns: [u32; EACH],
    at_once: bool,
    /// Those of the next rows, and of the ones after them, from this one on.
    now: [[f32; EACH]; ROWS],
    ahead: [[f32; EACH]; ROWS],
    row: i32,
}

impl<S: Simt> Front<S> for Responses<S> {
    type Sample = f32;
    const LEADS: bool = false;

    #[inline(always)]
    fn reach(_: &Settings) -> i32 {
        0
    }

    #[inline(always)]
    fn side(reach: u32) -> u32 {
        fused::side_of_map(reach)
    }

    #[inline(always)]
    fn settle(s: S, state: S::Buffer<u32>, set: Settings) -> Settings {
        if set.threshold == threshold::FROM_STATE {
            let value = f32::from_bits(s.load(state, states::THRESHOLD));
            Settings { threshold: threshold::ABSOLUTE, value, ..set }
        } else {
            set
        }
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, map: S::Buffer<f32>, row: i32) -> Self {
        let width = lane.set.size.width;
        let at_once = width.is_multiple_of(fused::EACH);
        let last = (width - if at_once { fused::EACH } else { 1 }) as i32;
        let columns = array::from_fn(|i| (lane.x + i as i32).max(0).min(last) as u32);
        let none = [[NEVER; EACH]; ROWS];
        let mut front = Self { map, columns, at_once, now: none, ahead: none, row };
        front.ahead = front.load(lane);
        front
    }

    #[inline(always)]
    fn asks_trace(_: &Settings) -> bool {
        false
    }

    #[inline(always)]
    fn listen(&mut self, _: f32) {}

    #[inline(always)]
    fn lead(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn take(&mut self, lane: &Lane<S>) {
        // None below counts. And were they not computed with, they would be copied, and waited for, as soon as they are asked for.
        self.now = self.ahead.map(|row| row.map(|response| response.max(NEVER)));
        // At once: there is less to do here than it takes for them to come.
        self.row += ROWS as i32;
        self.ahead = self.load(lane);
    }

    #[inline(always)]
    fn ask(&mut self, _: &Lane<S>, _: i32, _: Place) {}

    #[inline(always)]
    fn step(&mut self, _: &Lane<S>, _: i32, i: usize, place: Place) -> (bool, [f32; EACH]) {
        let valid = place.is_valid();
        (valid, if valid { self.now[i] } else { [NEVER; EACH] })
    }
}

impl<S: Simt> Responses<S> {
    /// The rows ahead; any of those that are outside.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>) -> [[f32; EACH]; ROWS] {
        let last = lane.set.size.height as i32 - 1;
        array::from_fn(|i| {
            let y = (self.row + i as i32).max(0).min(last) as u32;
            let start = lane.s.product(y, lane.set.pitch) as usize;
            if self.at_once {
                return lane.s.load_four_words_once(self.map, start + self.columns[0] as usize);
            }
            self.columns.map(|column| lane.s.load_constant(self.map, start + column as usize))
        })
    }
}
