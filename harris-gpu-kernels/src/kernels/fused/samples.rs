//! Samples of any depth and number of channels, one at a time.

use core::array;

use super::arguments::Settings;
use super::lane::{EACH, Lane, NEVER, Place};
use super::mirror::mirrored;
use super::source::Front;
use crate::abi::fused::MAX_SAMPLE;
use crate::abi::gradient;
use crate::kernels::number::Number;
use crate::kernels::response::measure;
use crate::kernels::thread_per_column::push;
use crate::{Simt, Word};

/// A depth, and what is computed on.
pub(super) trait Sample: Word {
    type Number: Number;
    /// Sums of products.
    type Sum: Number;
    /// How these come down a window.
    type Down: Down<Self>;
    /// What traces reach, in a form that is quick to compare.
    type Bound: Copy;

    fn number(self) -> Self::Number;
    /// Whether it is a number that images may have.
    #[inline(always)]
    fn is_valid(self) -> bool {
        true
    }
    fn product(a: Self::Number, b: Self::Number) -> Self::Sum;
    fn float(sum: Self::Sum) -> f32;
    fn bound(least: f32) -> Self::Bound;
    /// Whether one of the traces of sums of squares may reach it: never that none does where one does.
    fn reach(bound: Self::Bound, xx: [Self::Sum; EACH], yy: [Self::Sum; EACH]) -> bool;
}

impl Sample for u8 {
    type Number = i32;
    // Hosts see to it that sums fit. Sobel's gradients are at most 4 times a sample: 49 products of 3 channels make 147 · 1020² < 2³¹.
    type Sum = i32;
    type Down = Added<u8>;
    type Bound = u32;

    #[inline(always)]
    fn number(self) -> i32 {
        self.into()
    }
    #[inline(always)]
    fn product(a: i32, b: i32) -> i32 {
        a * b
    }
    #[inline(always)]
    fn float(sum: i32) -> f32 {
        sum as f32
    }
    #[inline(always)]
    fn bound(least: f32) -> u32 {
        least as u32
    }
    #[inline(always)]
    fn reach(bound: u32, xx: [i32; EACH], yy: [i32; EACH]) -> bool {
        let traces: [u32; EACH] = array::from_fn(|i| xx[i].wrapping_add(yy[i]) as u32);
        traces[0].max(traces[1]).max(traces[2].max(traces[3])) >= bound
    }
}

impl Sample for u16 {
    type Number = i32;
    type Sum = i64;
    type Down = ByWindow<u16>;
    // To add and compare 64 bits takes longer than to round them.
    type Bound = f32;

    #[inline(always)]
    fn number(self) -> i32 {
        self.into()
    }
    #[inline(always)]
    fn product(a: i32, b: i32) -> i64 {
        i64::from(a) * i64::from(b)
    }
    #[inline(always)]
    fn float(sum: i64) -> f32 {
        sum as f32
    }
    #[inline(always)]
    fn bound(least: f32) -> f32 {
        least
    }
    #[inline(always)]
    fn reach(bound: f32, xx: [i64; EACH], yy: [i64; EACH]) -> bool {
        <f32 as Sample>::reach(bound, xx.map(Self::float), yy.map(Self::float))
    }
}

impl Sample for f32 {
    type Number = f32;
    type Sum = f32;
    type Down = Added<f32>;
    type Bound = f32;

    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
    #[inline(always)]
    fn is_valid(self) -> bool {
        self.abs() <= MAX_SAMPLE
    }
    #[inline(always)]
    fn product(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn float(sum: f32) -> f32 {
        sum
    }
    #[inline(always)]
    fn bound(least: f32) -> f32 {
        least
    }
    #[inline(always)]
    fn reach(bound: f32, xx: [f32; EACH], yy: [f32; EACH]) -> bool {
        let traces: [f32; EACH] = array::from_fn(|i| xx[i] + yy[i]);
        traces[0].max(traces[1]).max(traces[2].max(traces[3])) >= bound
    }
}

/// gx and gy of a lane's pixels of a row.
type Gradients<T> = [[<T as Sample>::Number; EACH]; 2];

/// A lane's sums of each product of gradients.
type Sums<T> = [[<T as Sample>::Sum; EACH]; 3];

/// Sums down of the products over windows.
pub(super) trait Down<T: Sample> {
    const NONE: Self;

    /// Goes on by a row, of which it takes each channel's gradients: the sums over the window whose lowest row that is.
    fn end<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T>;
}

#[inline(always)]
fn products<T: Sample>([gx, gy]: Gradients<T>) -> Sums<T> {
    [
        array::from_fn(|i| T::product(gx[i], gx[i])),
        array::from_fn(|i| T::product(gx[i], gy[i])),
        array::from_fn(|i| T::product(gy[i], gy[i])),
    ]
}

#[inline(always)]
fn plus<T: Sample>(a: Sums<T>, b: Sums<T>) -> Sums<T> {
    array::from_fn(|product| array::from_fn(|i| a[product][i] + b[product][i]))
}

/// Products of the rows before, the latest first: added up anew for each window, from the highest row on.
pub(super) struct Added<T: Sample>([Sums<T>; 6]);

impl<T: Sample> Down<T> for Added<T> {
    const NONE: Self = Self([[[T::Sum::ZERO; EACH]; 3]; 6]);

    #[inline(always)]
    fn end<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T> {
        const { assert!(WINDOW >= 1 && WINDOW <= 3, "the ring is for these") };
        let mut own = products::<T>(gradients[0]);
        for channel in 1..CHANNELS {
            own = plus::<T>(own, products::<T>(gradients[channel]));
        }
        let Self(rows) = self;
        let mut sums = rows[2 * WINDOW - 1];
        for row in (0..2 * WINDOW - 1).rev() {
            sums = plus::<T>(sums, rows[row]);
        }
        push(rows, own);
        plus::<T>(sums, own)
    }
}

/// The sums over the last window, which are exact: a row is added, and one is taken off. The rows' gradients, the latest first, need fewer
/// registers than products.
pub(super) struct Running<T: Sample> {
    sums: Sums<T>,
    rows: [Gradients<T>; 7],
}

impl<T: Sample> Down<T> for Running<T> {
    const NONE: Self = Self { sums: [[T::Sum::ZERO; EACH]; 3], rows: [[[T::Number::ZERO; EACH]; 2]; 7] };

    #[inline(always)]
    fn end<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T> {
        const { assert!(CHANNELS == 1 && WINDOW >= 1 && WINDOW <= 3, "the ring is for these") };
        let own = gradients[0];
        let [gx, gy] = self.rows[2 * WINDOW];
        let minus = |number: T::Number| T::Number::ZERO - number;
        let off: Sums<T> = [
            array::from_fn(|i| T::product(minus(gx[i]), gx[i])),
            array::from_fn(|i| T::product(minus(gx[i]), gy[i])),
            array::from_fn(|i| T::product(minus(gy[i]), gy[i])),
        ];
        self.sums = plus::<T>(plus::<T>(self.sums, off), products::<T>(own));
        push(&mut self.rows, own);
        self.sums
    }
}

/// Added up anew where windows are small, as products of 64 bits take long; running where all of theirs would take too many registers.
pub(super) struct ByWindow<T: Sample>(Added<T>, Running<T>);

impl<T: Sample> Down<T> for ByWindow<T> {
    const NONE: Self = Self(Added::NONE, Running::NONE);

    #[inline(always)]
    fn end<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T> {
        if WINDOW == 1 {
            self.0.end::<CHANNELS, WINDOW>(gradients)
        } else {
            self.1.end::<CHANNELS, WINDOW>(gradients)
        }
    }
}

/// Samples of one channel, and of three.
pub(super) type Words<S, const WINDOW: usize> = Samples<S, u16, 1, WINDOW>;
pub(super) type Floats<S, const WINDOW: usize> = Samples<S, f32, 1, WINDOW>;
pub(super) type Colours<S, const WINDOW: usize> = Samples<S, u8, 3, WINDOW>;

/// A lane's part of it. Rings have the latest row first.
pub(super) struct Samples<S: Simt, T: Sample, const CHANNELS: usize, const WINDOW: usize> {
    image: S::Buffer<T>,
    /// Where its samples are in a row.
    columns: [u32; EACH],
    /// What the trace of the sums around a corner reaches.
    least: T::Bound,
    /// Whether all samples are numbers that images may have.
    valid: bool,
    channels: [Channel<T>; CHANNELS],
    down: T::Down,
}

/// What is kept of a channel.
#[derive(Clone, Copy)]
struct Channel<T: Sample> {
    /// Samples of the rows after the next that were asked for, the farthest first.
    ahead: [[T; EACH]; 2],
    /// Smoothed across.
    rows: [[T::Number; EACH]; 4],
    /// Of smoothed rows: right minus left, and the weighted sum across.
    differences: [[T::Number; EACH]; 2],
    sums: [[T::Number; EACH]; 2],
}

impl<S: Simt, T: Sample, const CHANNELS: usize, const WINDOW: usize> Front<S>
    for Samples<S, T, CHANNELS, WINDOW>
{
    type Sample = T;
    // Steps are so long that a second copy of them costs more.
    const LEADS: bool = false;

    #[inline(always)]
    fn reach(set: &Settings) -> i32 {
        (set.smoothing as usize + 1 + WINDOW) as i32
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, image: S::Buffer<T>, row: i32) -> Self {
        let zeros = [T::Number::ZERO; EACH];
        let nothing = [T::from_bits(0); EACH];
        let channel =
            Channel { ahead: [nothing; 2], rows: [zeros; 4], differences: [zeros; 2], sums: [zeros; 2] };
        let mut front = Self {
            image,
            columns: array::from_fn(|i| CHANNELS as u32 * mirrored(lane.x + i as i32, lane.set.size.width)),
            least: T::bound(0.0),
            valid: true,
            channels: [channel; CHANNELS],
            down: T::Down::NONE,
        };
        for channel in 0..CHANNELS {
            let last = row + Self::rows_ahead(&lane.set) as i32 - 1;
            let ahead = array::from_fn(|i| front.load(lane, last - i as i32, channel));
            front.channels[channel].ahead = ahead;
        }
        front
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        self.least = T::bound(least);
    }

    #[inline(always)]
    fn lead(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn take(&mut self, _: &Lane<S>) {}

    #[inline(always)]
    fn ask(&mut self, _: &Lane<S>, _: i32, _: Place) {}

    #[inline(always)]
    fn step(&mut self, lane: &Lane<S>, row: i32, _: usize, place: Place) -> (bool, [f32; EACH]) {
        let of_gradient = row - lane.set.smoothing as i32 - 1;
        // Above and below the image gy has changed its sign: that changes the sign of the product of both alone.
        let outside = of_gradient as u32 >= lane.set.size.height;
        let mut of_channel = |channel: usize| {
            let [gx, gy] = self.differentiate(lane, row, channel);
            [gx, if outside { gy.map(|gy| T::Number::ZERO - gy) } else { gy }]
        };
        // Not in a loop: compilers keep it, and the rows in memory.
        const { assert!(CHANNELS == 1 || CHANNELS == 3, "each is named below") };
        let mut gradients = [of_channel(0); CHANNELS];
        if CHANNELS == 3 {
            gradients[1 % CHANNELS] = of_channel(1);
            gradients[2 % CHANNELS] = of_channel(2);
        }
        let [xx, xy, yy] = self.down.end::<CHANNELS, WINDOW>(gradients);
        let (xx, yy) = (across::<S, T, WINDOW>(lane.s, xx), across::<S, T, WINDOW>(lane.s, yy));
        let strong = lane.s.any(T::reach(self.least, xx, yy)) && place.is_valid();
        let mut responses = [NEVER; EACH];
        if strong {
            let xy = across::<S, T, WINDOW>(lane.s, lane.turn(xy));
            responses = array::from_fn(|i| {
                let [a, b, c] = [xx[i], xy[i], yy[i]].map(|sum| T::float(sum) * lane.set.scale);
                measure(|square| lane.s.sqrt(square), lane.set.measure, lane.set.parameter, a, b, c)
            });
        }
        (strong, responses)
    }

    #[inline(always)]
    fn is_valid(&self) -> bool {
        self.valid
    }
}

impl<S: Simt, T: Sample, const CHANNELS: usize, const WINDOW: usize> Samples<S, T, CHANNELS, WINDOW> {
    /// Rows that are asked for before they are needed: two, where there are registers for them.
    #[inline(always)]
    fn rows_ahead(set: &Settings) -> usize {
        if CHANNELS == 1 || set.smoothing == 0 && WINDOW < 3 { 2 } else { 1 }
    }

    /// The lane's samples of a row.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, row: i32, channel: usize) -> [T; EACH] {
        let y = mirrored(row, lane.set.size.height) as usize;
        let start = lane.start + y * lane.set.pitch as usize + channel;
        array::from_fn(|i| lane.s.load_constant(self.image, start + self.columns[i] as usize))
    }

    /// gx and gy of the row before the smoothed one that this row completes.
    #[inline(always)]
    fn differentiate(&mut self, lane: &Lane<S>, row: i32, channel: usize) -> Gradients<T> {
        let (rows_ahead, smoothing) = (Self::rows_ahead(&lane.set), lane.set.smoothing);
        let next = self.load(lane, row + rows_ahead as i32, channel);
        let Channel { ahead, rows, differences, sums } = &mut self.channels[channel];
        let samples = if rows_ahead == 2 { ahead[1] } else { ahead[0] };
        for i in 0..EACH {
            self.valid &= samples[i].is_valid();
        }
        let samples = samples.map(T::number);
        push(ahead, next);
        let p: [T::Number; EACH] = match smoothing {
            0 => samples,
            1 => smooth::<S, T::Number, 1>(lane.s, rows, samples),
            _ => smooth::<S, T::Number, 2>(lane.s, rows, samples),
        };
        let gradient = lane.set.gradient;
        let seen = Seen::<T::Number>::new::<S, 1>(lane.s, p);
        let difference: [T::Number; EACH] = array::from_fn(|i| seen.after(i, 1) - seen.before(i, 1));
        let beside = array::from_fn(|i| seen.before(i, 1) + seen.after(i, 1));
        let sum: [T::Number; EACH] = weighted(gradient, beside, p);
        let outside = array::from_fn(|i| differences[1][i] + difference[i]);
        let gx = weighted(gradient, outside, differences[0]);
        let gy = array::from_fn(|i| sum[i] - sums[1][i]);
        push(differences, difference);
        push(sums, sum);
        [gx, gy]
    }
}

/// The row of smoothed samples that a row completes, `RADIUS` rows higher up, by a binomial of that radius. `rows` are smoothed across.
#[inline(always)]
fn smooth<S: Simt, T: Number, const RADIUS: usize>(
    s: S,
    rows: &mut [[T; EACH]; 4],
    samples: [T; EACH],
) -> [T; EACH] {
    let weighted = |pairs: [T; 2], own: T| match RADIUS {
        1 => pairs[0] + T::weight(2) * own,
        _ => (pairs[1] + T::weight(4) * pairs[0]) + T::weight(6) * own,
    };
    let seen = Seen::<T>::new::<S, RADIUS>(s, samples);
    let row = array::from_fn(|i| {
        let pair = |d: usize| if d <= RADIUS { seen.before(i, d) + seen.after(i, d) } else { T::ZERO };
        weighted([pair(1), pair(2)], samples[i])
    });
    let down = array::from_fn(|i| {
        let sum = match RADIUS {
            1 => weighted([rows[1][i] + row[i], T::ZERO], rows[0][i]),
            _ => weighted([rows[2][i] + rows[0][i], rows[3][i] + row[i]], rows[1][i]),
        };
        sum.mean(RADIUS)
    });
    push(rows, row);
    down
}

/// Three lines weighted along an edge: the sum of the outer ones, and the one between.
#[inline(always)]
fn weighted<T: Number>(gradient: u32, outside: [T; EACH], inside: [T; EACH]) -> [T; EACH] {
    match gradient {
        gradient::SOBEL => array::from_fn(|i| outside[i] + T::weight(2) * inside[i]),
        gradient::SCHARR => array::from_fn(|i| T::weight(3) * outside[i] + T::weight(10) * inside[i]),
        // gradient::CENTRAL
        _ => inside,
    }
}

/// Sums across, of what the lanes have of a row, from the left on.
#[inline(always)]
fn across<S: Simt, T: Sample, const WINDOW: usize>(s: S, own: [T::Sum; EACH]) -> [T::Sum; EACH] {
    let seen = Seen::<T::Sum>::new::<S, WINDOW>(s, own);
    array::from_fn(|i| {
        let mut sum = seen.before(i, WINDOW);
        for d in (1..WINDOW).rev() {
            sum = sum + seen.before(i, d);
        }
        sum = sum + own[i];
        for d in 1..=WINDOW {
            sum = sum + seen.after(i, d);
        }
        sum
    })
}

/// A lane's numbers of a row, and the neighbours' next to them, the nearest first.
struct Seen<T> {
    left: [T; 3],
    own: [T; EACH],
    right: [T; 3],
}

impl<T: Number> Seen<T> {
    #[inline(always)]
    fn new<S: Simt, const REACH: usize>(s: S, own: [T; EACH]) -> Self {
        let exchanged = |word: T, shuffle: fn(S, u32, u32) -> u32| {
            let bits = word.into_bits();
            let low = u64::from(shuffle(s, bits as u32, 1));
            let high = if T::BYTES == 8 { u64::from(shuffle(s, (bits >> 32) as u32, 1)) } else { 0 };
            T::from_bits(high << 32 | low)
        };
        let (mut left, mut right) = ([T::ZERO; 3], [T::ZERO; 3]);
        for d in 0..REACH {
            left[d] = exchanged(own[EACH - 1 - d], S::shuffle_up);
            right[d] = exchanged(own[d], S::shuffle_down);
        }
        Self { left, own, right }
    }

    /// The number `d` places before number `i`.
    #[inline(always)]
    fn before(&self, i: usize, d: usize) -> T {
        if d <= i { self.own[i - d] } else { self.left[d - i - 1] }
    }

    /// The number `d` places after number `i`.
    #[inline(always)]
    fn after(&self, i: usize, d: usize) -> T {
        if i + d < EACH { self.own[i + d] } else { self.right[i + d - EACH] }
    }
}
