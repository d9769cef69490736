//! The extent of the responses and the thresholds that follow from it.

use super::geometry::Size;
use super::mask::Mask;
use super::number::{ordered, unordered};
use super::thread_per_column::Run;
use crate::Simt;
use crate::abi::{
    state,
    threshold::{ABSOLUTE, KNOWN, MOST_IN_BLOCK},
};

/// Nothing exceeds it.
const NONE: f32 = f32::INFINITY;

pub(crate) fn extent<S: Simt>(
    s: S,
    response: S::Buffer<f32>,
    mask: S::Buffer<u8>,
    state: S::Buffer<u32>,
    width: u32,
    height: u32,
    rows: u32,
    frame: u32,
    behind: u32,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let mask = Mask::new(s, mask, mask_pitch);
    let (mut least, mut greatest) = (u32::MAX, 0);
    let run = Run::new(s, size, rows);
    run.down(
        |y| s.load_constant(response, size.number(run.x, y) as usize),
        |y, response| {
            if is_sought(mask, size, (frame, behind), run.x, y) {
                let key = ordered(response);
                least = least.min(key);
                greatest = greatest.max(key);
            }
        },
    );
    let (least, greatest) = (least_of_block(s, least), greatest_of_block(s, greatest.into()) as u32);
    if s.thread() == 0 && greatest > 0 {
        s.atomic_max(state, state::LEAST, !least);
        s.atomic_max(state, state::GREATEST, greatest);
    }
}

/// The extent of the responses that a lane has seen.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    least: f32,
    greatest: f32,
}

impl Extent {
    pub(super) const NONE: Self = Self { least: f32::INFINITY, greatest: f32::NEG_INFINITY };

    #[inline(always)]
    pub(super) fn widen(&mut self, response: f32) {
        self.least = self.least.min(response);
        self.greatest = self.greatest.max(response);
    }

    /// Tells an image's state of what the lanes of a warp have seen.
    #[inline(always)]
    pub(super) fn tell<S: Simt>(self, s: S, state: S::Buffer<u32>) {
        let is_some = self.least <= self.greatest;
        let mut keys = if is_some { [!ordered(self.least), ordered(self.greatest)] } else { [0; 2] };
        let mut delta = 16;
        while delta > 0 {
            keys = keys.map(|key| key.max(s.shuffle_xor(key, delta)));
            delta /= 2;
        }
        if s.lane() == 0 && keys[1] > 0 {
            s.atomic_max(state, state::LEAST, keys[0]);
            s.atomic_max(state, state::GREATEST, keys[1]);
        }
    }
}

/// Whether corners are sought at x, y: it is valid and inside the mask.
#[inline(always)]
pub(super) fn is_sought<S: Simt>(mask: Mask<S>, size: Size, frame: (u32, u32), x: u32, y: u32) -> bool {
    size.within_frame(frame, x, y) && mask.allows(x, y)
}

#[inline(always)]
fn least_of_block<S: Simt>(s: S, own: u32) -> u32 {
    !(greatest_of_block(s, (!own).into()) as u32)
}

/// The greatest number of all threads of the block, for the first.
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

pub(crate) fn threshold<S: Simt>(s: S, state: S::Buffer<u32>, kind: u32, value: f64) {
    if s.thread() == 0 {
        let threshold = simple(kind, value, s.load(state, state::GREATEST));
        s.store(state, state::THRESHOLD, threshold.to_bits());
    }
}

/// The threshold of an image whose greatest response the state has, as it says here.
#[inline(always)]
pub(super) fn of_state<S: Simt>(
    s: S,
    state: S::Buffer<u32>,
    image: usize,
    kind: u32,
    value: f64,
    greatest: u32,
) -> f32 {
    if kind == KNOWN {
        return f32::from_bits(s.load(state, image * state::WORDS + state::THRESHOLD));
    }
    simple(kind, value, greatest)
}

/// A threshold that needs no histogram, for the greatest response as the state has it.
#[inline(always)]
fn simple(kind: u32, value: f64, greatest: u32) -> f32 {
    if kind == ABSOLUTE {
        return value as f32;
    }
    // The key of 0 is the least of a number that is not negative.
    if greatest > ordered(0.0) { (value * f64::from(unordered(greatest))) as f32 } else { NONE }
}

/// What corners exceed at least, 0 or more, for the greatest response so far, where a factor is not
/// more than it is in 64 bits.
#[inline(always)]
pub(super) fn floor(kind: u32, value: f32, greatest: u32) -> f32 {
    let floor = if kind == ABSOLUTE {
        value
    } else if greatest > ordered(0.0) {
        value * unordered(greatest)
    } else {
        0.0
    };
    floor.max(0.0)
}

/// How responses are sorted into bins.
struct Binning {
    least: f32,
    span: f32,
    density: f32,
}

impl Binning {
    #[inline(always)]
    fn new<S: Simt>(s: S, state: S::Buffer<u32>, bins: u32) -> Option<Self> {
        let (least, greatest) = (!s.load(state, state::LEAST), s.load(state, state::GREATEST));
        if greatest == 0 {
            return None;
        }
        let (least, greatest) = (unordered(least), unordered(greatest));
        let span = greatest - least;
        let density = bins as f32 / span;
        // Finite: positive, as the span is not negative, and less than infinity.
        (density < f32::INFINITY).then_some(Self { least, span, density })
    }

    #[inline(always)]
    fn bin(&self, response: f32, bins: u32) -> u32 {
        // Not negative: the conversion is the floor.
        let bin = ((response - self.least) * self.density) as u32;
        bin.min(bins - 1)
    }
}

pub(crate) fn histogram<S: Simt>(
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
    behind: u32,
    mask_pitch: u32,
) {
    let size = Size { width, height };
    let mask = Mask::new(s, mask, mask_pitch);
    let Some(binning) = Binning::new(s, state, bins) else { return };
    let copy = s.block() % copies * bins;
    let run = Run::new(s, size, rows);
    // Most of an image is flat: blocks count the bins around that of no response by themselves.
    let held = bins.min(MOST_IN_BLOCK);
    let first = binning.bin(0.0, bins).saturating_sub(held / 2).min(bins - held);
    let mine = || (s.thread()..held).step_by(s.threads() as usize);
    for place in mine() {
        s.set_shared_word(place, 0);
    }
    s.barrier();
    run.down(
        |y| s.load_constant(response, size.number(run.x, y) as usize),
        |y, response| {
            if is_sought(mask, size, (frame, behind), run.x, y) {
                let bin = binning.bin(response, bins);
                let place = bin.wrapping_sub(first);
                if place < held {
                    s.count_in_shared(place);
                } else {
                    s.atomic_add(counts, (copy + bin) as usize, 1);
                }
            }
        },
    );
    s.barrier();
    for place in mine() {
        let count = s.shared_word(place);
        if count > 0 {
            s.atomic_add(counts, (copy + first + place) as usize, count);
        }
    }
}

pub(crate) fn rosin<S: Simt>(s: S, state: S::Buffer<u32>, counts: S::Buffer<u32>, bins: u32, copies: u32) {
    let Some(binning) = Binning::new(s, state, bins) else {
        if s.thread() == 0 {
            s.store(state, state::THRESHOLD, NONE.to_bits());
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
    // Of equals the first: the bin counts down.
    let fullest = greatest_of_bins(s, bins, |bin| u64::from(count(bin)) << 32 | u64::from(!bin));
    let peak = !(fullest as u32);
    let (of_peak, of_last) = (count(peak), count(last));
    let fall = |of_bin: u32| i64::from(of_peak) - i64::from(of_bin);
    let depth = |bin: u32| i64::from(last - peak) * fall(count(bin)) - i64::from(bin - peak) * fall(of_last);
    // Not negative at the peak, and below 2⁴⁷: bins are at most 2¹⁶, counts less than 2³¹.
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

/// The greatest over all bins of a number that a bin has.
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
