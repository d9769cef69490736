//! From 8-bit samples as they come, to those that [`gradients`](super::gradients) are of.

use core::array;

use super::gaussians::{Open, Row, Strip, Weights, even};
use crate::Simt;

/// From samples to smoothed ones.
pub(super) trait Smoothing<S: Simt, const CHANNELS: usize> {
    /// Rows from one that is smoothed to the last that it needs.
    const RADIUS: i32;

    /// Takes the words that have the lane's samples of the next row, one after the other; returns the row, of each channel, which it is so far
    /// below.
    fn take(&mut self, strip: &Strip<S, CHANNELS>, words: [u32; CHANNELS]) -> [Row; CHANNELS];
}

/// Samples as they are.
pub(super) struct Plain;

impl<S: Simt, const CHANNELS: usize> Smoothing<S, CHANNELS> for Plain {
    const RADIUS: i32 = 0;

    #[inline(always)]
    fn take(&mut self, _: &Strip<S, CHANNELS>, words: [u32; CHANNELS]) -> [Row; CHANNELS] {
        array::from_fn(|channel| {
            array::from_fn(|i| {
                let byte = i * CHANNELS + channel;
                (words[byte / 4] >> (8 * (byte % 4)) & 0xFF) as f32
            })
        })
    }
}

/// Weighted sums of floats, down and then across.
pub(super) struct Weighed<const RADIUS: usize, const COUNT: usize> {
    weights: Weights,
    sums: Open<RADIUS, COUNT>,
}

impl<const RADIUS: usize, const COUNT: usize> Weighed<RADIUS, COUNT> {
    #[inline(always)]
    pub(super) fn new(weights: Weights) -> Self {
        Self { weights, sums: Open::NONE }
    }
}

impl<S: Simt, const RADIUS: usize, const COUNT: usize> Smoothing<S, 1> for Weighed<RADIUS, COUNT> {
    const RADIUS: i32 = RADIUS as i32;

    #[inline(always)]
    fn take(&mut self, strip: &Strip<S, 1>, words: [u32; 1]) -> [Row; 1] {
        let [row] = Plain.take(strip, words);
        let [row] = strip.beyond([self.sums.end_even(&self.weights, row)]);
        [strip.across::<RADIUS>(row, |row, i| even::<RADIUS>(&self.weights, row, i))]
    }
}

/// Binomials up to 5 wide, rounded to integers. What they make of mirrored samples is mirrored, but beyond edges of other rules it is not what
/// stages have there.
pub(super) struct Rounded {
    /// From the centre on: down, and across.
    down: [u32; 3],
    across: Weights,
    /// What sums are multiplied by.
    unit: f32,
    /// The rows before, the farthest first.
    before: [u32; 4],
}

impl Rounded {
    #[inline(always)]
    pub(super) fn new(weights: [f32; 3], unit: f32) -> Self {
        let [centre, near, far] = weights;
        let down = weights.map(|weight| weight as u32);
        Self { down, across: [centre, near, far, 0.0, 0.0], unit, before: [0; 4] }
    }
}

impl<S: Simt> Smoothing<S, 1> for Rounded {
    const RADIUS: i32 = 2;

    #[inline(always)]
    fn take(&mut self, strip: &Strip<S, 1>, [word]: [u32; 1]) -> [Row; 1] {
        /// Every other byte, as the lower half of 16 bits, which have room for sums down.
        const BYTES: u32 = 0x00FF_00FF;
        let [first, second, third, fourth] = self.before;
        self.before = [second, third, fourth, word];
        let [centre, near, far] = self.down;
        let [even_columns, odd_columns] = [0, 8].map(|shift| {
            let at = |row: u32| row >> shift & BYTES;
            centre * at(third) + near * (at(second) + at(fourth)) + far * (at(first) + at(word))
        });
        let sums = array::from_fn(|i| {
            let pair = if i % 2 == 0 { even_columns } else { odd_columns };
            (pair >> (16 * (i as u32 / 2)) & 0xFFFF) as f32
        });
        let [row] = strip.beyond([sums]);
        let row = strip.across::<2>(row, |row, i| even::<2>(&self.across, row, i));
        [row.map(|sum| rounded(sum, self.unit))]
    }
}

/// A multiple of a power of two, `unit`, to the nearest integer, of two to the greater.
#[inline(always)]
fn rounded(sum: f32, unit: f32) -> f32 {
    /// From here on floats are integers. All before are exact.
    const INTEGERS: f32 = (1 << 23) as f32;
    // A quarter of a unit more, as of two that are as near additions take the even one.
    (sum * unit + unit * 0.25) + INTEGERS - INTEGERS
}
