//! Gradients of float rows, for [`float_sweep`](super::float_sweep).

use core::array;

use super::float_strip::{PartialSums, Row, Strip, Weights, antisymmetric_sum, symmetric_sum};
use super::lane::LANE_COLUMNS;
use crate::Simt;
use crate::kernels::geometry::inside;

/// Stage that turns rows of samples into rows of gradients.
pub(super) trait Gradients<S: Simt, const CHANNELS: usize> {
    /// Rows from a row of gradients to the lowest row that it depends on.
    const RADIUS: i32;

    /// Takes a warm-up row, whose gradients are not needed.
    fn warm_up(&mut self, strip: &Strip<S>, rows: [Row; CHANNELS]);

    /// Takes the next row, and returns gx and gy of row `y`, which is the radius higher.
    fn push_row(&mut self, strip: &Strip<S>, rows: [Row; CHANNELS], y: i32) -> [[Row; 2]; CHANNELS];
}

/// Gradient by two lines of weights: symmetric ones along the edge, antisymmetric ones across it.
pub(super) struct WeightedGradient<const RADIUS: usize, const COUNT: usize> {
    along: Weights,
    across: Weights,
    sums: [PartialSums<RADIUS, COUNT>; 2],
}

impl<const RADIUS: usize, const COUNT: usize> WeightedGradient<RADIUS, COUNT> {
    #[inline(always)]
    pub(super) fn new(along: Weights, across: Weights) -> Self {
        Self { along, across, sums: [PartialSums::NONE; 2] }
    }

    #[inline(always)]
    fn add_row(&mut self, row: Row) -> [Row; 2] {
        [self.sums[0].push_symmetric(&self.along, row), self.sums[1].push_antisymmetric(&self.across, row)]
    }
}

impl<S: Simt, const RADIUS: usize, const COUNT: usize> Gradients<S, 1> for WeightedGradient<RADIUS, COUNT> {
    const RADIUS: i32 = RADIUS as i32;

    #[inline(always)]
    fn warm_up(&mut self, _: &Strip<S>, [row]: [Row; 1]) {
        self.add_row(row);
    }

    #[inline(always)]
    fn push_row(&mut self, strip: &Strip<S>, [row]: [Row; 1], _: i32) -> [[Row; 2]; 1] {
        let [along, across] = strip.with_border(self.add_row(row));
        let gx = strip.across::<RADIUS>(along, |row, i| antisymmetric_sum::<RADIUS>(&self.across, row, i));
        let gy = strip.across::<RADIUS>(across, |row, i| symmetric_sum::<RADIUS>(&self.along, row, i));
        [[gx, gy]]
    }
}

/// Central differences. The two rows before the next are kept, the upper first.
pub(super) struct CentralDifferences<const CHANNELS: usize>([[Row; CHANNELS]; 2]);

impl<const CHANNELS: usize> CentralDifferences<CHANNELS> {
    pub(super) const NONE: Self = Self([[[0.0; LANE_COLUMNS]; CHANNELS]; 2]);
}

impl<S: Simt, const CHANNELS: usize> Gradients<S, CHANNELS> for CentralDifferences<CHANNELS> {
    const RADIUS: i32 = 1;

    #[inline(always)]
    fn warm_up(&mut self, _: &Strip<S>, rows: [Row; CHANNELS]) {
        self.0 = [self.0[1], rows];
    }

    #[inline(always)]
    fn push_row(&mut self, strip: &Strip<S>, rows: [Row; CHANNELS], _: i32) -> [[Row; 2]; CHANNELS] {
        let [upper, middle] = self.0;
        self.warm_up(strip, rows);
        let middle = strip.with_border(middle);
        array::from_fn(|channel| {
            let gx = strip.across::<1>(middle[channel], |row, i| row[i + 1] - row[i - 1]);
            let gy = array::from_fn(|i| rows[channel][i] - upper[channel][i]);
            [gx, gy]
        })
    }
}

/// Sobel's gradient, Scharr's gradient or central differences, by their weights along an edge. It
/// applies the border rule to rows itself.
pub(super) struct ThreeTapGradient {
    outside: f32,
    inside: f32,
    /// Horizontal differences and sums of the two rows before the next, the upper first.
    before: [[Row; 2]; 2],
}

impl ThreeTapGradient {
    #[inline(always)]
    pub(super) fn new(outside: f32, inside: f32) -> Self {
        Self { outside, inside, before: [[[0.0; LANE_COLUMNS]; 2]; 2] }
    }

    #[inline(always)]
    fn row_terms<S: Simt>(&self, strip: &Strip<S>, row: Row) -> [Row; 2] {
        let [row] = strip.with_border([row]);
        let row = strip.neighbourhood::<1>(row);
        let difference = array::from_fn(|i| row[LANE_COLUMNS + i + 1] - row[LANE_COLUMNS + i - 1]);
        let sum = array::from_fn(|i| {
            self.weighted(row[LANE_COLUMNS + i - 1] + row[LANE_COLUMNS + i + 1], row[LANE_COLUMNS + i])
        });
        [difference, sum]
    }

    /// Weighted sum of the outer two lines, given as their sum, and the centre line. A weight of 1
    /// changes no bit. A weight of 0 changes at most the sign of a zero, which no sum of products
    /// depends on.
    #[inline(always)]
    fn weighted(&self, outside: f32, inside: f32) -> f32 {
        self.outside * outside + self.inside * inside
    }
}

impl<S: Simt> Gradients<S, 1> for ThreeTapGradient {
    const RADIUS: i32 = 1;

    #[inline(always)]
    fn warm_up(&mut self, strip: &Strip<S>, [row]: [Row; 1]) {
        self.before = [self.before[1], self.row_terms(strip, row)];
    }

    #[inline(always)]
    fn push_row(&mut self, strip: &Strip<S>, row: [Row; 1], y: i32) -> [[Row; 2]; 1] {
        let [mut upper, middle] = self.before;
        self.warm_up(strip, row);
        let mut lower = self.before[1];
        let height = strip.map.size.height;
        let [above, below] = [upper, lower];
        let border_row = |row: i32| match inside(strip.map.border, row, height) {
            None => [[0.0; LANE_COLUMNS]; 2],
            Some(row) if row as i32 == y => middle,
            Some(row) if (row as i32) < y => above,
            Some(_) => below,
        };
        if y == 0 {
            upper = border_row(-1);
        }
        if y + 1 == height as i32 {
            lower = border_row(y + 1);
        }
        let gx = array::from_fn(|i| self.weighted(upper[0][i] + lower[0][i], middle[0][i]));
        let gy = array::from_fn(|i| lower[1][i] - upper[1][i]);
        [[gx, gy]]
    }
}
