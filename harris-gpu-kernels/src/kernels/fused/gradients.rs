//! From samples, or what smoothing makes of them, to gradients, for [`gaussians`](super::gaussians).

use core::array;

use super::float_strip::{Open, Row, Strip, Weights, even, odd};
use super::lane::EACH;
use crate::Simt;
use crate::kernels::geometry::inside;

/// From samples to gradients.
pub(super) trait Gradients<S: Simt, const CHANNELS: usize> {
    /// Rows from one of gradients to the last that they need.
    const RADIUS: i32;

    /// Takes a row that only leads to others.
    fn lead(&mut self, strip: &Strip<S>, rows: [Row; CHANNELS]);

    /// Takes the next row: gx and gy of row `y`, which it is so far below.
    fn end(&mut self, strip: &Strip<S>, rows: [Row; CHANNELS], y: i32) -> [[Row; 2]; CHANNELS];
}

/// Weighted sums: down by one line of weights, across by another.
pub(super) struct Weighted<const RADIUS: usize, const COUNT: usize> {
    along: Weights,
    across: Weights,
    sums: [Open<RADIUS, COUNT>; 2],
}

impl<const RADIUS: usize, const COUNT: usize> Weighted<RADIUS, COUNT> {
    #[inline(always)]
    pub(super) fn new(along: Weights, across: Weights) -> Self {
        Self { along, across, sums: [Open::NONE; 2] }
    }

    #[inline(always)]
    fn down(&mut self, row: Row) -> [Row; 2] {
        [self.sums[0].end_even(&self.along, row), self.sums[1].end_odd(&self.across, row)]
    }
}

impl<S: Simt, const RADIUS: usize, const COUNT: usize> Gradients<S, 1> for Weighted<RADIUS, COUNT> {
    const RADIUS: i32 = RADIUS as i32;

    #[inline(always)]
    fn lead(&mut self, _: &Strip<S>, [row]: [Row; 1]) {
        self.down(row);
    }

    #[inline(always)]
    fn end(&mut self, strip: &Strip<S>, [row]: [Row; 1], _: i32) -> [[Row; 2]; 1] {
        let [along, across] = strip.beyond(self.down(row));
        let gx = strip.across::<RADIUS>(along, |row, i| odd::<RADIUS>(&self.across, row, i));
        let gy = strip.across::<RADIUS>(across, |row, i| even::<RADIUS>(&self.along, row, i));
        [[gx, gy]]
    }
}

/// Central differences: of the two rows before the next, the farther first.
pub(super) struct Central<const CHANNELS: usize>([[Row; CHANNELS]; 2]);

impl<const CHANNELS: usize> Central<CHANNELS> {
    pub(super) const NONE: Self = Self([[[0.0; EACH]; CHANNELS]; 2]);
}

impl<S: Simt, const CHANNELS: usize> Gradients<S, CHANNELS> for Central<CHANNELS> {
    const RADIUS: i32 = 1;

    #[inline(always)]
    fn lead(&mut self, _: &Strip<S>, rows: [Row; CHANNELS]) {
        self.0 = [self.0[1], rows];
    }

    #[inline(always)]
    fn end(&mut self, strip: &Strip<S>, rows: [Row; CHANNELS], _: i32) -> [[Row; 2]; CHANNELS] {
        let [upper, middle] = self.0;
        self.lead(strip, rows);
        let middle = strip.beyond(middle);
        array::from_fn(|channel| {
            let gx = strip.across::<1>(middle[channel], |row, i| row[i + 1] - row[i - 1]);
            let gy = array::from_fn(|i| rows[channel][i] - upper[channel][i]);
            [gx, gy]
        })
    }
}

/// Sobel's gradient, Scharr's or central differences, by the weights of their sums along an edge; of rows that go on beyond the edges by
/// themselves.
pub(super) struct Taps {
    outside: f32,
    inside: f32,
    /// Right minus left and the sum across, of the two rows before the next, the farther first.
    before: [[Row; 2]; 2],
}

impl Taps {
    #[inline(always)]
    pub(super) fn new(outside: f32, inside: f32) -> Self {
        Self { outside, inside, before: [[[0.0; EACH]; 2]; 2] }
    }

    #[inline(always)]
    fn of<S: Simt>(&self, strip: &Strip<S>, row: Row) -> [Row; 2] {
        let [row] = strip.beyond([row]);
        let row = strip.seen::<1>(row);
        let difference = array::from_fn(|i| row[EACH + i + 1] - row[EACH + i - 1]);
        let sum = array::from_fn(|i| self.weighted(row[EACH + i - 1] + row[EACH + i + 1], row[EACH + i]));
        [difference, sum]
    }

    /// A weight of 1 changes no bit, nor does one of 0 but for a zero's sign, which is in no product's sum.
    #[inline(always)]
    fn weighted(&self, outside: f32, inside: f32) -> f32 {
        self.outside * outside + self.inside * inside
    }
}

impl<S: Simt> Gradients<S, 1> for Taps {
    const RADIUS: i32 = 1;

    #[inline(always)]
    fn lead(&mut self, strip: &Strip<S>, [row]: [Row; 1]) {
        self.before = [self.before[1], self.of(strip, row)];
    }

    #[inline(always)]
    fn end(&mut self, strip: &Strip<S>, row: [Row; 1], y: i32) -> [[Row; 2]; 1] {
        let [mut upper, middle] = self.before;
        self.lead(strip, row);
        let mut lower = self.before[1];
        let height = strip.map.size.height;
        let [above, below] = [upper, lower];
        let stands_for = |row: i32| match inside(strip.map.border, row, height) {
            None => [[0.0; EACH]; 2],
            Some(row) if row as i32 == y => middle,
            Some(row) if (row as i32) < y => above,
            Some(_) => below,
        };
        if y == 0 {
            upper = stands_for(-1);
        }
        if y + 1 == height as i32 {
            lower = stands_for(y + 1);
        }
        let gx = array::from_fn(|i| self.weighted(upper[0][i] + lower[0][i], middle[0][i]));
        let gy = array::from_fn(|i| lower[1][i] - upper[1][i]);
        [[gx, gy]]
    }
}
