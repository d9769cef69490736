//! Responses from samples of any depth and number of channels, computed one column at a time.

use core::array;

use super::arguments::SweepArguments;
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::mirror::mirrored;
use super::sample_types::{ColumnSums, Gradients, Sample};
use super::source::ResponseSource;
use crate::Simt;
use crate::kernels::choices::match_gradient;
use crate::kernels::number::Number;
use crate::kernels::response::measure;
use crate::kernels::thread_per_column::push;

/// Sources of 16-bit samples, of floats, and of 8-bit samples of three channels.
pub(super) type WordSource<S, const WINDOW: usize> = SampleSource<S, u16, 1, WINDOW>;
pub(super) type FloatSource<S, const WINDOW: usize> = SampleSource<S, f32, 1, WINDOW>;
pub(super) type ColourSource<S, const WINDOW: usize> = SampleSource<S, u8, 3, WINDOW>;

/// Source of responses from samples of type `T`. Rings hold the latest row first.
pub(super) struct SampleSource<S: Simt, T: Sample, const CHANNELS: usize, const WINDOW: usize> {
    image: S::Buffer<T>,
    /// Positions of the lane's samples in a row.
    columns: [u32; LANE_COLUMNS],
    /// Least trace that a response above the threshold needs.
    trace_bound: T::Bound,
    /// Whether all samples so far are in the range that images may have.
    valid: bool,
    channels: [Channel<T>; CHANNELS],
    column_sums: T::ColumnSums,
}

/// State of a channel.
#[derive(Clone, Copy)]
struct Channel<T: Sample> {
    /// Prefetched rows of samples, the lowest first.
    ahead: [[T; LANE_COLUMNS]; 2],
    /// Rows smoothed horizontally.
    rows: [[T::Number; LANE_COLUMNS]; 4],
    /// Horizontal differences and weighted sums of smoothed rows.
    differences: [[T::Number; LANE_COLUMNS]; 2],
    sums: [[T::Number; LANE_COLUMNS]; 2],
}

impl<S: Simt, T: Sample, const CHANNELS: usize, const WINDOW: usize> ResponseSource<S>
    for SampleSource<S, T, CHANNELS, WINDOW>
{
    type Sample = T;
    // A step is long, so a second copy for warm-up rows would cost more than it saves.
    const HAS_WARM_UP: bool = false;

    #[inline(always)]
    fn support_radius(args: &SweepArguments) -> i32 {
        (args.smoothing as usize + 1 + WINDOW) as i32
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, image: S::Buffer<T>, row: i32) -> Self {
        let zeros = [T::Number::ZERO; LANE_COLUMNS];
        let nothing = [T::from_bits(0); LANE_COLUMNS];
        let channel =
            Channel { ahead: [nothing; 2], rows: [zeros; 4], differences: [zeros; 2], sums: [zeros; 2] };
        let mut source = Self {
            image,
            columns: array::from_fn(|i| CHANNELS as u32 * mirrored(lane.x + i as i32, lane.args.size.width)),
            trace_bound: T::bound(0.0),
            valid: true,
            channels: [channel; CHANNELS],
            column_sums: T::ColumnSums::NONE,
        };
        for channel in 0..CHANNELS {
            let last = row + Self::rows_ahead(&lane.args) as i32 - 1;
            let ahead = array::from_fn(|i| source.load(lane, last - i as i32, channel));
            source.channels[channel].ahead = ahead;
        }
        source
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, trace_bound: f32) {
        self.trace_bound = T::bound(trace_bound);
    }

    #[inline(always)]
    fn warm_up(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn take_prefetched(&mut self, _: &Lane<S>) {}

    #[inline(always)]
    fn prefetch(&mut self, _: &Lane<S>, _: i32, _: RowKind) {}

    #[inline(always)]
    fn step(&mut self, lane: &Lane<S>, row: i32, _: usize, row_kind: RowKind) -> (bool, [f32; LANE_COLUMNS]) {
        let of_gradient = row - lane.args.smoothing as i32 - 1;
        // Above and below the image gy has the opposite sign. This changes only the sign of gx·gy.
        let outside = of_gradient as u32 >= lane.args.size.height;
        let mut channel_gradients = |channel: usize| {
            let [gx, gy] = self.differentiate(lane, row, channel);
            [gx, if outside { gy.map(|gy| T::Number::ZERO - gy) } else { gy }]
        };
        // Unrolled: compilers keep the loop, and then the rows in memory.
        const { assert!(CHANNELS == 1 || CHANNELS == 3, "each channel is unrolled below") };
        let mut gradients = [channel_gradients(0); CHANNELS];
        if CHANNELS == 3 {
            gradients[1 % CHANNELS] = channel_gradients(1);
            gradients[2 % CHANNELS] = channel_gradients(2);
        }
        let [xx, xy, yy] = self.column_sums.push_row::<CHANNELS, WINDOW>(gradients);
        let (xx, yy) = (across::<S, T, WINDOW>(lane.s, xx), across::<S, T, WINDOW>(lane.s, yy));
        let has_candidates =
            lane.s.any(T::any_trace_reaches(self.trace_bound, xx, yy)) && row_kind.is_valid();
        let mut responses = [NO_RESPONSE; LANE_COLUMNS];
        if has_candidates {
            let xy = across::<S, T, WINDOW>(lane.s, lane.negate_outside(xy));
            responses = array::from_fn(|i| {
                let [a, b, c] = [xx[i], xy[i], yy[i]].map(|sum| T::float(sum) * lane.args.scale);
                measure(|square| lane.s.sqrt(square), lane.args.measure, lane.args.parameter, a, b, c)
            });
        }
        (has_candidates, responses)
    }

    #[inline(always)]
    fn is_valid(&self) -> bool {
        self.valid
    }
}

impl<S: Simt, T: Sample, const CHANNELS: usize, const WINDOW: usize> SampleSource<S, T, CHANNELS, WINDOW> {
    /// Number of prefetched rows: two where registers allow.
    #[inline(always)]
    fn rows_ahead(args: &SweepArguments) -> usize {
        if CHANNELS == 1 || args.smoothing == 0 && WINDOW < 3 { 2 } else { 1 }
    }

    /// Loads the lane's samples of a row.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, row: i32, channel: usize) -> [T; LANE_COLUMNS] {
        let y = mirrored(row, lane.args.size.height) as usize;
        let start = lane.start + y * lane.args.pitch as usize + channel;
        array::from_fn(|i| lane.s.load_constant(self.image, start + self.columns[i] as usize))
    }

    /// Computes gx and gy of the row above the smoothed row that `row` completes.
    #[inline(always)]
    fn differentiate(&mut self, lane: &Lane<S>, row: i32, channel: usize) -> Gradients<T> {
        let (rows_ahead, smoothing) = (Self::rows_ahead(&lane.args), lane.args.smoothing);
        let next = self.load(lane, row + rows_ahead as i32, channel);
        let Channel { ahead, rows, differences, sums } = &mut self.channels[channel];
        let samples = if rows_ahead == 2 { ahead[1] } else { ahead[0] };
        for i in 0..LANE_COLUMNS {
            self.valid &= samples[i].is_valid();
        }
        let samples = samples.map(T::to_number);
        push(ahead, next);
        let p: [T::Number; LANE_COLUMNS] = match smoothing {
            0 => samples,
            1 => smooth::<S, T::Number, 1>(lane.s, rows, samples),
            _ => smooth::<S, T::Number, 2>(lane.s, rows, samples),
        };
        let gradient = lane.args.gradient;
        let neighbours = Neighbours::<T::Number>::new::<S, 1>(lane.s, p);
        let difference: [T::Number; LANE_COLUMNS] =
            array::from_fn(|i| neighbours.after(i, 1) - neighbours.before(i, 1));
        let beside = array::from_fn(|i| neighbours.before(i, 1) + neighbours.after(i, 1));
        let sum: [T::Number; LANE_COLUMNS] = weighted(gradient, beside, p);
        let outside = array::from_fn(|i| differences[1][i] + difference[i]);
        let gx = weighted(gradient, outside, differences[0]);
        let gy = array::from_fn(|i| sum[i] - sums[1][i]);
        push(differences, difference);
        push(sums, sum);
        [gx, gy]
    }
}

/// Binomial smoothing of radius `RADIUS`. Returns the smoothed row that the samples complete,
/// `RADIUS` rows higher. `rows` holds rows smoothed horizontally.
#[inline(always)]
fn smooth<S: Simt, T: Number, const RADIUS: usize>(
    s: S,
    rows: &mut [[T; LANE_COLUMNS]; 4],
    samples: [T; LANE_COLUMNS],
) -> [T; LANE_COLUMNS] {
    let weighted = |pairs: [T; 2], own: T| match RADIUS {
        1 => pairs[0] + T::weight(2) * own,
        _ => (pairs[1] + T::weight(4) * pairs[0]) + T::weight(6) * own,
    };
    let neighbours = Neighbours::<T>::new::<S, RADIUS>(s, samples);
    let row = array::from_fn(|i| {
        let pair =
            |d: usize| if d <= RADIUS { neighbours.before(i, d) + neighbours.after(i, d) } else { T::ZERO };
        weighted([pair(1), pair(2)], samples[i])
    });
    let column_sums = array::from_fn(|i| {
        let sum = match RADIUS {
            1 => weighted([rows[1][i] + row[i], T::ZERO], rows[0][i]),
            _ => weighted([rows[2][i] + rows[0][i], rows[3][i] + row[i]], rows[1][i]),
        };
        sum.mean(RADIUS)
    });
    push(rows, row);
    column_sums
}

/// Weighted sum along an edge of three lines: the sum of the outer two, and the centre line.
#[inline(always)]
fn weighted<T: Number>(
    gradient: u32,
    outside: [T; LANE_COLUMNS],
    inside: [T; LANE_COLUMNS],
) -> [T; LANE_COLUMNS] {
    match_gradient!(gradient, {
        CENTRAL => inside,
        SCHARR => array::from_fn(|i| T::weight(3) * outside[i] + T::weight(10) * inside[i]),
        SOBEL => array::from_fn(|i| outside[i] + T::weight(2) * inside[i]),
    })
}

/// Sums a row of column sums across the window, from left to right.
#[inline(always)]
fn across<S: Simt, T: Sample, const WINDOW: usize>(
    s: S,
    own: [T::Sum; LANE_COLUMNS],
) -> [T::Sum; LANE_COLUMNS] {
    let neighbours = Neighbours::<T::Sum>::new::<S, WINDOW>(s, own);
    array::from_fn(|i| {
        let mut sum = neighbours.before(i, WINDOW);
        for d in (1..WINDOW).rev() {
            sum = sum + neighbours.before(i, d);
        }
        sum = sum + own[i];
        for d in 1..=WINDOW {
            sum = sum + neighbours.after(i, d);
        }
        sum
    })
}

/// Values of a lane's columns and of its neighbours' columns, the nearest first.
struct Neighbours<T> {
    left: [T; 3],
    own: [T; LANE_COLUMNS],
    right: [T; 3],
}

impl<T: Number> Neighbours<T> {
    #[inline(always)]
    fn new<S: Simt, const RADIUS: usize>(s: S, own: [T; LANE_COLUMNS]) -> Self {
        let exchanged = |word: T, shuffle: fn(S, u32, u32) -> u32| {
            let bits = word.into_bits();
            let low = u64::from(shuffle(s, bits as u32, 1));
            let high = if T::BYTES == 8 { u64::from(shuffle(s, (bits >> 32) as u32, 1)) } else { 0 };
            T::from_bits(high << 32 | low)
        };
        let (mut left, mut right) = ([T::ZERO; 3], [T::ZERO; 3]);
        for d in 0..RADIUS {
            left[d] = exchanged(own[LANE_COLUMNS - 1 - d], S::shuffle_up);
            right[d] = exchanged(own[d], S::shuffle_down);
        }
        Self { left, own, right }
    }

    /// Value `d` columns before column `i`.
    #[inline(always)]
    fn before(&self, i: usize, d: usize) -> T {
        if d <= i { self.own[i - d] } else { self.left[d - i - 1] }
    }

    /// Value `d` columns after column `i`.
    #[inline(always)]
    fn after(&self, i: usize, d: usize) -> T {
        if i + d < LANE_COLUMNS { self.own[i + d] } else { self.right[i + d - LANE_COLUMNS] }
    }
}
