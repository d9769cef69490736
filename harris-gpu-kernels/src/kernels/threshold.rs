//! The range of responses, and thresholds that follow from it.

use super::geometry::Size;
use super::mask::Mask;
use super::number::{from_ordered_bits, to_ordered_bits};
use super::thread_per_column::ColumnSweep;
use crate::Simt;
use crate::abi::{
    state,
    threshold::{ABSOLUTE, FROM_STATE, MAX_BINS_IN_BLOCK, RELATIVE},
};

/// The threshold of an image without positive responses: no response exceeds it.
const NO_CORNERS: f32 = f32::INFINITY;

/// Updates the least and greatest response of all pixels where corners may lie, in the state.
pub(crate) fn response_range<S: Simt>(
    s: S,
    response: S::Buffer<f32>,
    mask: S::Buffer<u8>,
    state: S::Buffer<u32>,
    width: u32,
    height: u32,
    rows: u32,
    frame: u32,
    frame_behind: u32,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let mask = Mask::new(s, mask, mask_pitch);
    let (mut least, mut greatest) = (u32::MAX, 0);
    let sweep = ColumnSweep::new(s, size, rows);
    sweep.down(
        |y| s.load_constant(response, size.index(sweep.x, y) as usize),
        |y, response| {
            if is_candidate_pixel(mask, size, (frame, frame_behind), sweep.x, y) {
                let key = to_ordered_bits(response);
                least = least.min(key);
                greatest = greatest.max(key);
            }
        },
    );
    let (least, greatest) = (least_of_block(s, least), greatest_of_block(s, greatest.into()) as u32);
    if s.thread() == 0 && greatest > 0 {
        s.atomic_max(state, state::LEAST_RESPONSE, !least);
        s.atomic_max(state, state::GREATEST_RESPONSE, greatest);
    }
}

/// The least and greatest response that a lane has computed.
#[derive(Clone, Copy)]
pub(super) struct ResponseRange {
    least: f32,
    greatest: f32,
}

impl ResponseRange {
    /// The range of no responses.
    pub(super) const NONE: Self = Self { least: f32::INFINITY, greatest: f32::NEG_INFINITY };

    /// Includes a response.
    #[inline(always)]
    pub(super) fn include(&mut self, response: f32) {
        self.least = self.least.min(response);
        self.greatest = self.greatest.max(response);
    }

    /// Updates the range in the image's state by those of all lanes of a warp.
    #[inline(always)]
    pub(super) fn update_state<S: Simt>(self, s: S, state: S::Buffer<u32>) {
        let has_responses = self.least <= self.greatest;
        let mut keys = if has_responses {
            [!to_ordered_bits(self.least), to_ordered_bits(self.greatest)]
        } else {
            [0; 2]
        };
        let mut delta = 16;
        while delta > 0 {
            keys = keys.map(|key| key.max(s.shuffle_xor(key, delta)));
            delta /= 2;
        }
        if s.lane() == 0 && keys[1] > 0 {
            s.atomic_max(state, state::LEAST_RESPONSE, keys[0]);
            s.atomic_max(state, state::GREATEST_RESPONSE, keys[1]);
        }
    }
}

/// Whether a corner may lie at `x`, `y`: its response is valid, and the mask allows it.
#[inline(always)]
pub(super) fn is_candidate_pixel<S: Simt>(
    mask: Mask<S>,
    size: Size,
    frame: (u32, u32),
    x: u32,
    y: u32,
) -> bool {
    size.within_frame(frame, x, y) && mask.allows(x, y)
}

/// The least number of all threads of a block.
#[inline(always)]
fn least_of_block<S: Simt>(s: S, own: u32) -> u32 {
    !(greatest_of_block(s, (!own).into()) as u32)
}

/// The greatest number of all threads of a block.
#[inline(always)]
fn greatest_of_block<S: Simt>(s: S, own: u64) -> u64 {
    let mut greatest = own;
    let mut delta = 16;
    while delta > 0 {
        let [low, high] = [greatest as u32, (greatest >> 32) as u32].map(|half| s.shuffle_xor(half, delta));
        greatest = greatest.max(u64::from(high) << 32 | u64::from(low));
        delta /= 2;
    }
    s.barrier();
    if s.lane() == 0 {
        s.set_shared(s.warp(), greatest);
    }
    s.barrier();
    if s.thread() == 0 {
        for warp in 1..s.threads() / 32 {
            greatest = greatest.max(s.shared(warp));
        }
        s.set_shared(0, greatest);
    }
    s.barrier();
    s.shared(0)
}

/// Writes an absolute or relative threshold to the state.
pub(crate) fn set_threshold<S: Simt>(s: S, state: S::Buffer<u32>, kind: u32, value: f64) {
    if s.thread() == 0 {
        let threshold = threshold_without_histogram(kind, value, s.load(state, state::GREATEST_RESPONSE));
        s.store(state, state::THRESHOLD, threshold.to_bits());
    }
}

/// The threshold of an image, of any kind.
///
/// `greatest` is the greatest response as the state has it; see [`to_ordered_bits`].
#[inline(always)]
pub(super) fn threshold_of_image<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    image: usize,
    kind: u32,
    value: f64,
    greatest: u32,
) -> f32 {
    if kind == FROM_STATE {
        return f32::from_bits(s.load(state, image * state::WORDS + state::THRESHOLD));
    }
    threshold_without_histogram(kind, value, greatest)
}

/// An absolute or relative threshold, for the greatest response as the state has it.
#[inline(always)]
fn threshold_without_histogram(kind: u32, value: f64, greatest: u32) -> f32 {
    if kind == ABSOLUTE {
        return value as f32;
    }
    debug_assert_eq!(kind, RELATIVE, "a kind of threshold");
    // Of numbers that are not negative, 0 has the least bits.
    if greatest > to_ordered_bits(0.0) {
        (value * f64::from(from_ordered_bits(greatest))) as f32
    } else {
        NO_CORNERS
    }
}

/// A lower bound of the threshold, 0 or more, from the greatest response so far.
///
/// For a relative threshold `value` is its factor, rounded down from 64 bits.
#[inline(always)]
pub(super) fn threshold_bound(kind: u32, value: f32, greatest: u32) -> f32 {
    let bound = if kind == ABSOLUTE {
        value
    } else if greatest > to_ordered_bits(0.0) {
        value * from_ordered_bits(greatest)
    } else {
        0.0
    };
    bound.max(0.0)
}

/// The bins of the histogram of responses.
struct Binning {
    least: f32,
    span: f32,
    /// Bins per unit of response.
    density: f32,
}

impl Binning {
    /// The bins for the range of responses in the state; none if the range is empty or too narrow.
    #[inline(always)]
    fn new<S: Simt>(s: S, state: S::Buffer<u32>, bins: u32) -> Option<Self> {
        let (least, greatest) =
            (!s.load(state, state::LEAST_RESPONSE), s.load(state, state::GREATEST_RESPONSE));
        if greatest == 0 {
            return None;
        }
        let (least, greatest) = (from_ordered_bits(least), from_ordered_bits(greatest));
        let span = greatest - least;
        let density = bins as f32 / span;
        // The density is finite: it is positive, because the span is not negative, and less than
        // infinity.
        (density < f32::INFINITY).then_some(Self { least, span, density })
    }

    /// Index of a response's bin.
    #[inline(always)]
    fn bin(&self, response: f32, bins: u32) -> u32 {
        // The number is not negative, so the conversion rounds down.
        let bin = ((response - self.least) * self.density) as u32;
        bin.min(bins - 1)
    }
}

/// Counts the responses of each bin, in one of several copies of the histogram.
pub(crate) fn response_histogram<S: Simt>(
    s: S,
    response: S::Buffer<f32>,
    mask: S::Buffer<u8>,
    state: S::Buffer<u32>,
    counts: S::Buffer<u32>,
    bins: u32,
    copies: u32,
    width: u32,
    height: u32,
    rows: u32,
    frame: u32,
    frame_behind: u32,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let mask = Mask::new(s, mask, mask_pitch);
    let Some(binning) = Binning::new(s, state, bins) else { return };
    let copy = s.block() % copies * bins;
    let sweep = ColumnSweep::new(s, size, rows);
    // Most responses are near 0. Blocks count the bins around that of 0 in shared memory.
    let in_block = bins.min(MAX_BINS_IN_BLOCK);
    let first = binning.bin(0.0, bins).saturating_sub(in_block / 2).min(bins - in_block);
    let thread_bins = || (s.thread()..in_block).step_by(s.threads() as usize);
    for word in thread_bins() {
        s.set_shared_word(word, 0);
    }
    s.barrier();
    sweep.down(
        |y| s.load_constant(response, size.index(sweep.x, y) as usize),
        |y, response| {
            if is_candidate_pixel(mask, size, (frame, frame_behind), sweep.x, y) {
                let bin = binning.bin(response, bins);
                let word = bin.wrapping_sub(first);
                if word < in_block {
                    s.increment_shared_word(word);
                } else {
                    s.atomic_add(counts, (copy + bin) as usize, 1);
                }
            }
        },
    );
    s.barrier();
    for word in thread_bins() {
        let count = s.shared_word(word);
        if count > 0 {
            s.atomic_add(counts, (copy + first + word) as usize, count);
        }
    }
}

/// Writes Rosin's unimodal threshold to the state: the bin farthest below the line from the fullest
/// bin to the last one.
pub(crate) fn rosin_threshold<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    counts: S::Buffer<u32>,
    bins: u32,
    copies: u32,
) {
    let Some(binning) = Binning::new(s, state, bins) else {
        if s.thread() == 0 {
            s.store(state, state::THRESHOLD, NO_CORNERS.to_bits());
        }
        return;
    };
    let count = |bin: u32| {
        let mut sum = 0;
        for copy in 0..copies {
            sum += s.load_constant(counts, (copy * bins + bin) as usize);
        }
        sum
    };
    let last = greatest_of_bins(s, bins, |bin| if count(bin) > 0 { bin.into() } else { 0 }) as u32;
    // The inverted index of the bin makes the first of equally full bins the greatest.
    let fullest = greatest_of_bins(s, bins, |bin| u64::from(count(bin)) << 32 | u64::from(!bin));
    let peak = !(fullest as u32);
    let (peak_count, last_count) = (count(peak), count(last));
    let drop = |count: u32| i64::from(peak_count) - i64::from(count);
    let depth =
        |bin: u32| i64::from(last - peak) * drop(count(bin)) - i64::from(bin - peak) * drop(last_count);
    // The depth is not negative at the peak. It is below 2⁴⁷: there are at most 2¹⁶ bins, and
    // counts are less than 2³¹.
    let deepest = greatest_of_bins(s, bins, |bin| {
        if bin < peak || bin > last {
            return 0;
        }
        let depth = depth(bin);
        if depth >= 0 { (depth as u64) << 16 | u64::from(0xFFFF - bin) } else { 0 }
    });
    if s.thread() == 0 {
        let bin = 0xFFFF - (deepest as u32 & 0xFFFF);
        let threshold = binning.least + (bin as f32 + 0.5) * (binning.span / bins as f32);
        s.store(state, state::THRESHOLD, threshold.max(0.0).to_bits());
    }
}

/// The greatest of a number over all bins.
#[inline(always)]
fn greatest_of_bins<S: Simt>(s: S, bins: u32, number: impl Fn(u32) -> u64) -> u64 {
    let mut greatest = 0;
    let mut bin = s.thread();
    while bin < bins {
        greatest = greatest.max(number(bin));
        bin += s.threads();
    }
    greatest_of_block(s, greatest)
}
