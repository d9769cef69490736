//! Smoothing of samples before [`float_gradients`](super::float_gradients).

use core::array;

use super::float_strip::{PartialSums, Row, Strip, Weights, symmetric_sum};
use super::lane::LANE_COLUMNS;
use crate::Simt;
use crate::abi::fused::MAX_SAMPLE;

/// Stage that turns samples into rows of smoothed floats.
pub(super) trait Smoothing<S: Simt, const WORDS: usize, const CHANNELS: usize> {
    /// Rows from a smoothed row to the lowest row of samples that it depends on.
    const RADIUS: i32;

    /// Takes the words of the next row of samples. Returns a smoothed row of each channel, which is
    /// the radius higher.
    fn push_row(&mut self, strip: &Strip<S>, words: [u32; WORDS]) -> [Row; CHANNELS];

    /// Whether all samples so far are in the range that images may have.
    fn are_valid(&self) -> bool {
        true
    }
}

/// 8-bit samples without smoothing.
pub(super) struct Unsmoothed;

impl<S: Simt, const CHANNELS: usize> Smoothing<S, CHANNELS, CHANNELS> for Unsmoothed {
    const RADIUS: i32 = 0;

    #[inline(always)]
    fn push_row(&mut self, _: &Strip<S>, words: [u32; CHANNELS]) -> [Row; CHANNELS] {
        array::from_fn(|channel| {
            array::from_fn(|i| {
                let byte = i * CHANNELS + channel;
                (words[byte / 4] >> (8 * (byte % 4)) & 0xFF) as f32
            })
        })
    }
}

/// Weighted sums of 8-bit samples as floats, first vertically and then horizontally.
pub(super) struct WeightedSmoothing<const RADIUS: usize, const COUNT: usize> {
    weights: Weights,
    sums: PartialSums<RADIUS, COUNT>,
}

impl<const RADIUS: usize, const COUNT: usize> WeightedSmoothing<RADIUS, COUNT> {
    #[inline(always)]
    pub(super) fn new(weights: Weights) -> Self {
        Self { weights, sums: PartialSums::NONE }
    }
}

impl<S: Simt, const RADIUS: usize, const COUNT: usize> Smoothing<S, 1, 1>
    for WeightedSmoothing<RADIUS, COUNT>
{
    const RADIUS: i32 = RADIUS as i32;

    #[inline(always)]
    fn push_row(&mut self, strip: &Strip<S>, words: [u32; 1]) -> [Row; 1] {
        let [row] = Unsmoothed.push_row(strip, words);
        let [row] = strip.with_border([self.sums.push_symmetric(&self.weights, row)]);
        [strip.across::<RADIUS>(row, |row, i| symmetric_sum::<RADIUS>(&self.weights, row, i))]
    }
}

/// Binomial smoothing of 8-bit samples, up to 5 wide, rounded to integers.
///
/// It agrees with the staged kernels inside the image and under mirroring, but not beyond the edges
/// under other border rules.
pub(super) struct RoundedBinomial {
    /// Weights from the centre outwards: vertical, then horizontal.
    down: [u32; 3],
    across: Weights,
    /// Factor of the sums.
    unit: f32,
    /// The previous rows of samples, the uppermost first.
    before: [u32; 4],
}

impl RoundedBinomial {
    #[inline(always)]
    pub(super) fn new(weights: [f32; 3], unit: f32) -> Self {
        let [centre, near, far] = weights;
        let down = weights.map(|weight| weight as u32);
        Self { down, across: [centre, near, far, 0.0, 0.0], unit, before: [0; 4] }
    }
}

impl<S: Simt> Smoothing<S, 1, 1> for RoundedBinomial {
    const RADIUS: i32 = 2;

    #[inline(always)]
    fn push_row(&mut self, strip: &Strip<S>, [word]: [u32; 1]) -> [Row; 1] {
        /// Mask of every other byte, in halves of 16 bits with space for vertical sums.
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
        let [row] = strip.with_border([sums]);
        let row = strip.across::<2>(row, |row, i| symmetric_sum::<2>(&self.across, row, i));
        [row.map(|sum| rounded(sum, self.unit))]
    }
}

/// Rounds a multiple of `unit`, a power of two, to the nearest integer, and halves up.
#[inline(always)]
fn rounded(sum: f32, unit: f32) -> f32 {
    /// From here on floats are integers, and all smaller integers are exact.
    const INTEGERS: f32 = (1 << 23) as f32;
    // The addition rounds halves to even. A quarter of a unit more makes them round up.
    (sum * unit + unit * 0.25) + INTEGERS - INTEGERS
}

/// 16-bit samples, two per word, or floats. Smoothing is up to 5 wide: binomial, weighted or none.
pub(super) struct DeepSmoothing {
    weights: [f32; 3],
    /// Factor of binomial sums, or 0 for weighted sums.
    unit: f32,
    /// Partial column sums. For a binomial, horizontal sums of the previous rows, the uppermost
    /// first.
    sums: PartialSums<2, 4>,
    are_valid: bool,
}

impl DeepSmoothing {
    #[inline(always)]
    pub(super) fn new(weights: [f32; 3], unit: f32) -> Self {
        Self { weights, unit, sums: PartialSums::NONE, are_valid: true }
    }

    /// Weighted sum of five values, outer ones in pairs. A weight of 1 changes no bit. A weight of
    /// 0 changes at most the sign of a zero.
    #[inline(always)]
    fn binomial(&self, [first, second, third, fourth, last]: [f32; 5]) -> f32 {
        let [centre, near, far] = self.weights;
        (far * (first + last) + near * (second + fourth)) + centre * third
    }

    #[inline(always)]
    fn smooth<S: Simt>(&mut self, strip: &Strip<S>, row: Row, are_integers: bool) -> Row {
        let [centre, near, far] = self.weights;
        let weights = [centre, near, far, 0.0, 0.0];
        if self.unit == 0.0 {
            let [row] = strip.with_border([self.sums.push_symmetric(&weights, row)]);
            return strip.across::<2>(row, |row, i| symmetric_sum::<2>(&weights, row, i));
        }
        let [row] = strip.with_border([row]);
        let row = strip.across::<2>(row, |row, i| {
            self.binomial([row[i - 2], row[i - 1], row[i], row[i + 1], row[i + 2]])
        });
        let [first, second, third, fourth] = self.sums.0;
        self.sums.0 = [second, third, fourth, row];
        array::from_fn(|i| {
            let sum = self.binomial([first[i], second[i], third[i], fourth[i], row[i]]);
            if !are_integers {
                return sum * self.unit;
            }
            // The sum has at most 24 bits, so the conversion is exact.
            (sum * self.unit + 0.5) as u32 as f32
        })
    }
}

impl<S: Simt> Smoothing<S, 2, 1> for DeepSmoothing {
    const RADIUS: i32 = 2;

    #[inline(always)]
    fn push_row(&mut self, strip: &Strip<S>, words: [u32; 2]) -> [Row; 1] {
        let row = array::from_fn(|i| (words[i / 2] >> (16 * (i % 2)) & 0xFFFF) as f32);
        [self.smooth(strip, row, true)]
    }
}

impl<S: Simt> Smoothing<S, 4, 1> for DeepSmoothing {
    const RADIUS: i32 = 2;

    #[inline(always)]
    fn push_row(&mut self, strip: &Strip<S>, words: [u32; 4]) -> [Row; 1] {
        let row = words.map(f32::from_bits);
        for i in 0..LANE_COLUMNS {
            self.are_valid &= row[i].abs() <= MAX_SAMPLE;
        }
        [self.smooth(strip, row, false)]
    }

    fn are_valid(&self) -> bool {
        self.are_valid
    }
}
