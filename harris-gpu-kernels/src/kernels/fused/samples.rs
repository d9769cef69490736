//! Samples of any depth and number of channels, one at a time.

use core::array;

use super::super::number::Number;
use super::super::response::measure;
use super::super::runs::push;
use super::{EACH, Front, Lane, NEVER, mirrored};
use crate::abi::fused::MOST_SAMPLE;
use crate::abi::gradient;
use crate::{Simt, Word};

/// A depth, and what is computed on.
pub(super) trait Sample: Word {
    type Number: Number;
    /// Sums of products.
    type Sum: Number;

    fn number(self) -> Self::Number;
    /// Whether it is a number that images may have.
    #[inline(always)]
    fn is_valid(self) -> bool {
        true
    }
    fn product(a: Self::Number, b: Self::Number) -> Self::Sum;
    fn float(sum: Self::Sum) -> f32;
}

macro_rules! integers {
    ($($sample:ident: $sum:ident;)*) => {$(
        impl Sample for $sample {
            type Number = i32;
            type Sum = $sum;

            #[inline(always)]
            fn number(self) -> i32 {
                self.into()
            }
            #[inline(always)]
            fn product(a: i32, b: i32) -> $sum {
                $sum::from(a) * $sum::from(b)
            }
            #[inline(always)]
            fn float(sum: $sum) -> f32 {
                sum as f32
            }
        }
    )*};
}

// Windows are 5 by 5 at most, and gradients at most 16 times a sample: 25 products of 3 channels of 8 bits make 75 · 4080² < 2³¹.
integers! {
    u8: i32;
    u16: i64;
}

impl Sample for f32 {
    type Number = f32;
    type Sum = f32;

    #[inline(always)]
    fn number(self) -> f32 {
        self
    }
    #[inline(always)]
    fn is_valid(self) -> bool {
        self.abs() <= MOST_SAMPLE
    }
    #[inline(always)]
    fn product(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn float(sum: f32) -> f32 {
        sum
    }
}

/// Samples of one channel, and of three.
pub(super) type Words<S, const SMOOTHING: usize, const GRADIENT: u32, const WINDOW: usize> =
    Samples<S, u16, 1, SMOOTHING, GRADIENT, WINDOW>;
pub(super) type Floats<S, const SMOOTHING: usize, const GRADIENT: u32, const WINDOW: usize> =
    Samples<S, f32, 1, SMOOTHING, GRADIENT, WINDOW>;
pub(super) type Colours<S, const SMOOTHING: usize, const GRADIENT: u32, const WINDOW: usize> =
    Samples<S, u8, 3, SMOOTHING, GRADIENT, WINDOW>;

/// A lane's part of it. Rings have the latest row first.
pub(super) struct Samples<
    S: Simt,
    T: Sample,
    const CHANNELS: usize,
    const SMOOTHING: usize,
    const GRADIENT: u32,
    const WINDOW: usize,
> {
    image: S::Buffer<T>,
    /// Where its samples are in a row.
    columns: [u32; EACH],
    /// What the trace of the sums around a corner reaches.
    least: f32,
    /// Whether all samples are numbers that images may have.
    valid: bool,
    channels: [Channel<T>; CHANNELS],
    /// Products of gradients.
    products: [[[T::Sum; EACH]; 3]; 4],
}

/// What is kept of a channel.
#[derive(Clone, Copy)]
struct Channel<T: Sample> {
    /// Samples of the two rows after the next, the farther first.
    ahead: [[T; EACH]; 2],
    /// Smoothed across.
    rows: [[T::Number; EACH]; 4],
    /// Of smoothed rows: right minus left, and the weighted sum across.
    differences: [[T::Number; EACH]; 2],
    sums: [[T::Number; EACH]; 2],
}

impl<
    S: Simt,
    T: Sample,
    const CHANNELS: usize,
    const SMOOTHING: usize,
    const GRADIENT: u32,
    const WINDOW: usize,
> Front<S> for Samples<S, T, CHANNELS, SMOOTHING, GRADIENT, WINDOW>
{
    type Sample = T;
    const REACH: i32 = (SMOOTHING + 1 + WINDOW) as i32;
    // Steps are so long that a second copy of them costs more.
    const LEADING: usize = 0;

    #[inline(always)]
    fn new(lane: &Lane<S>, image: S::Buffer<T>, row: i32) -> Self {
        const { assert!(SMOOTHING <= 2 && WINDOW >= 1 && WINDOW <= 2, "rings and sums are for these") };
        let zeros = [T::Number::ZERO; EACH];
        let nothing = [T::from_bits(0); EACH];
        let channel =
            Channel { ahead: [nothing; 2], rows: [zeros; 4], differences: [zeros; 2], sums: [zeros; 2] };
        let mut front = Self {
            image,
            columns: array::from_fn(|i| CHANNELS as u32 * mirrored(lane.x + i as i32, lane.set.size.width)),
            least: 0.0,
            valid: true,
            channels: [channel; CHANNELS],
            products: [[[T::Sum::ZERO; EACH]; 3]; 4],
        };
        for channel in 0..CHANNELS {
            let ahead = [row + 1, row].map(|row| front.load(lane, row, channel));
            front.channels[channel].ahead = ahead;
        }
        front
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        self.least = least;
    }

    #[inline(always)]
    fn lead(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn take(&mut self, _: &Lane<S>) {}

    #[inline(always)]
    fn ask(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn step(&mut self, lane: &Lane<S>, row: i32, _: usize, valid: bool) -> (bool, [f32; EACH]) {
        let of_gradient = row - SMOOTHING as i32 - 1;
        // Above and below the image gy has changed its sign: that changes the sign of the product of both alone.
        let outside = of_gradient as u32 >= lane.set.size.height;
        let mut products = [[T::Sum::ZERO; EACH]; 3];
        for channel in 0..CHANNELS {
            let (gx, gy) = self.differentiate(lane, row, channel);
            let turned = if outside { gy.map(|gy| T::Number::ZERO - gy) } else { gy };
            let of_channel: [[T::Sum; EACH]; 3] = [
                array::from_fn(|i| T::product(gx[i], gx[i])),
                array::from_fn(|i| T::product(gx[i], turned[i])),
                array::from_fn(|i| T::product(gy[i], gy[i])),
            ];
            products = if channel == 0 {
                of_channel
            } else {
                array::from_fn(|product| array::from_fn(|i| products[product][i] + of_channel[product][i]))
            };
        }
        let [xx, xy, yy] = self.sum(products);
        let scaled = |sums: [T::Sum; EACH]| sums.map(T::float);
        let (xx, yy) =
            (scaled(across::<S, T, WINDOW>(lane.s, xx)), scaled(across::<S, T, WINDOW>(lane.s, yy)));
        let trace: [f32; EACH] = array::from_fn(|i| xx[i] + yy[i]);
        let greatest = trace[0].max(trace[1]).max(trace[2].max(trace[3]));
        let strong = lane.s.any(greatest >= self.least) && valid;
        let mut responses = [NEVER; EACH];
        if strong {
            let xy = scaled(across::<S, T, WINDOW>(lane.s, lane.turn(xy)));
            let scale = lane.set.scale;
            responses = array::from_fn(|i| {
                let (a, b, c) = (xx[i] * scale, xy[i] * scale, yy[i] * scale);
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

impl<
    S: Simt,
    T: Sample,
    const CHANNELS: usize,
    const SMOOTHING: usize,
    const GRADIENT: u32,
    const WINDOW: usize,
> Samples<S, T, CHANNELS, SMOOTHING, GRADIENT, WINDOW>
{
    /// The lane's samples of a row.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, row: i32, channel: usize) -> [T; EACH] {
        let y = mirrored(row, lane.set.size.height) as usize;
        let start = lane.start + y * lane.set.pitch as usize + channel;
        array::from_fn(|i| lane.s.load_constant(self.image, start + self.columns[i] as usize))
    }

    /// gx and gy of the row before the smoothed one that this row completes.
    #[inline(always)]
    fn differentiate(
        &mut self,
        lane: &Lane<S>,
        row: i32,
        channel: usize,
    ) -> ([T::Number; EACH], [T::Number; EACH]) {
        let next = self.load(lane, row + 2, channel);
        let Channel { ahead, rows, differences, sums } = &mut self.channels[channel];
        let samples = ahead[1].map(T::number);
        for i in 0..EACH {
            self.valid &= ahead[1][i].is_valid();
        }
        push(ahead, next);
        let weight = T::Number::weight;
        let smooth = |pairs: [T::Number; 2], own: T::Number| match SMOOTHING {
            1 => pairs[0] + weight(2) * own,
            _ => (pairs[1] + weight(4) * pairs[0]) + weight(6) * own,
        };
        let p: [T::Number; EACH] = if SMOOTHING == 0 {
            samples
        } else {
            let seen = Seen::<T::Number>::new::<S, SMOOTHING>(lane.s, samples);
            let row = array::from_fn(|i| {
                smooth(
                    [1, 2].map(|d| {
                        if d <= SMOOTHING { seen.before(i, d) + seen.after(i, d) } else { T::Number::ZERO }
                    }),
                    samples[i],
                )
            });
            let down = array::from_fn(|i| {
                let sum = match SMOOTHING {
                    1 => smooth([rows[1][i] + row[i], T::Number::ZERO], rows[0][i]),
                    _ => smooth([rows[2][i] + rows[0][i], rows[3][i] + row[i]], rows[1][i]),
                };
                T::Number::mean(sum, SMOOTHING)
            });
            push(rows, row);
            down
        };
        let (outer, centre) = if GRADIENT == gradient::SCHARR { (3, 10) } else { (1, 2) };
        let weighted = |outside: T::Number, inside: T::Number| {
            let outside = if outer == 1 { outside } else { weight(outer) * outside };
            outside + weight(centre) * inside
        };
        let seen = Seen::<T::Number>::new::<S, 1>(lane.s, p);
        let difference: [T::Number; EACH] = array::from_fn(|i| seen.after(i, 1) - seen.before(i, 1));
        let sum: [T::Number; EACH] = array::from_fn(|i| weighted(seen.before(i, 1) + seen.after(i, 1), p[i]));
        let gx = array::from_fn(|i| weighted(differences[1][i] + difference[i], differences[0][i]));
        let gy = array::from_fn(|i| sum[i] - sums[1][i]);
        push(differences, difference);
        push(sums, sum);
        (gx, gy)
    }

    /// Sums down of the products over the window whose lowest row is this one, from the highest on.
    #[inline(always)]
    fn sum(&mut self, products: [[T::Sum; EACH]; 3]) -> [[T::Sum; EACH]; 3] {
        let ring = &self.products;
        let down = array::from_fn(|product| {
            array::from_fn(|i| {
                let mut sum = ring[2 * WINDOW - 1][product][i];
                for row in (0..2 * WINDOW - 1).rev() {
                    sum = sum + ring[row][product][i];
                }
                sum + products[product][i]
            })
        });
        push(&mut self.products, products);
        down
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
    left: [T; 2],
    own: [T; EACH],
    right: [T; 2],
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
        let (mut left, mut right) = ([T::ZERO; 2], [T::ZERO; 2]);
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
