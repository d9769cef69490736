//! 8-bit samples of one channel: smoothed and differentiated two at a time, in the halves of a word.

use core::array;

use super::super::response::{lesser_eigenvalue, measure};
use super::super::runs::push;
use super::{EACH, Front, Lane, NEVER, ROWS, beyond, columns, mirrored};
use crate::Simt;
use crate::abi::{gradient, measure as measures};

/// Pairs of samples that a lane has of a row.
const PAIRS: usize = EACH / 2;

/// What no trace reaches, and fits in 31 bits.
const MOST_TRACE: f32 = 1_073_741_824.0;

/// The bits of floats that are 2²³, and 2²³ + 2²², more than the integer that is added to them: for those from 0 to 2²³, and for
/// those less than 2²² away from 0.
const FROM_0: i32 = 0x4B00_0000;
const AROUND_0: i32 = 0x4B40_0000;

/// What nine times is 1, modulo 2³².
const NINTH: i32 = 0x38E3_8E39;

/// A lane's part of it. Rings have the latest row first.
pub(super) struct Bytes<S: Simt, const SMOOTHING: usize, const GRADIENT: u32, const WINDOW: usize> {
    image: S::Buffer<u8>,
    /// Where its samples are in a row: see [`columns`].
    column: u32,
    selector: u32,
    /// What the trace of the sums around a corner reaches.
    least: i32,
    /// Its samples of the next rows, and the words of those after them.
    samples: [u32; ROWS],
    ahead: [[u32; 2]; ROWS],
    /// Rows of its own samples, in pairs.
    rows: [[u32; PAIRS]; 4],
    /// Smoothed down, in pairs: its own in the middle, two of each neighbour around them.
    around: [u32; PAIRS + 4],
    /// Of smoothed rows, in pairs: right minus left, and the weighted sum across.
    differences: [[u32; PAIRS]; 2],
    sums: [[u32; PAIRS]; 2],
    /// Products of gradients.
    products: [[[i32; EACH]; 3]; 7],
}

impl<S: Simt, const SMOOTHING: usize, const GRADIENT: u32, const WINDOW: usize> Front<S>
    for Bytes<S, SMOOTHING, GRADIENT, WINDOW>
{
    type Sample = u8;
    const REACH: i32 = (SMOOTHING + 1 + WINDOW) as i32;
    const LEADING: usize = 2 * Self::REACH as usize / ROWS;

    #[inline(always)]
    fn new(lane: &Lane<S>, image: S::Buffer<u8>, row: i32) -> Self {
        const { assert!(SMOOTHING <= 2 && WINDOW >= 1 && WINDOW <= 3, "rings and sums are for these") };
        let (column, selector) = columns(lane.x, lane.set.size.width);
        let mut front = Self {
            image,
            column,
            selector,
            least: 0,
            samples: [0; ROWS],
            ahead: [[0; 2]; ROWS],
            rows: [[0; PAIRS]; 4],
            around: [0; PAIRS + 4],
            differences: [[0; PAIRS]; 2],
            sums: [[0; PAIRS]; 2],
            products: [[[0; EACH]; 3]; 7],
        };
        let first = front.load(lane, row, true);
        front.ahead = array::from_fn(|i| front.load(lane, row + 1 + i as i32, true));
        let samples = front.pick(lane, first);
        front.lead_row(lane, samples, -1);
        front
    }

    #[inline(always)]
    fn lead(&mut self, lane: &Lane<S>, row: i32) {
        const { assert!(Self::LEADING <= 3, "so often it is done below") };
        // All at once, so that they are waited for once.
        let words: [[[u32; 2]; ROWS]; 3] = array::from_fn(|t| match t < Self::LEADING {
            true => array::from_fn(|i| self.load(lane, row + 1 + ((t + 1) * ROWS + i) as i32, true)),
            false => [[0; 2]; ROWS],
        });
        // Not in a loop, as each row does what the ones after it need, and no more.
        if Self::LEADING > 0 {
            self.lead_rows(lane, words[0], 0);
        }
        if Self::LEADING > 1 {
            self.lead_rows(lane, words[1], 1);
        }
        if Self::LEADING > 2 {
            self.lead_rows(lane, words[2], 2);
        }
    }

    #[inline(always)]
    fn listen(&mut self, least: f32) {
        // Sums are less than 2³⁰, and so is what may have been added to them.
        let offset = if Self::SMALL { FROM_0.wrapping_mul(2) } else { 0 };
        self.least = (least.min(MOST_TRACE) as i32).wrapping_add(offset);
    }

    #[inline(always)]
    fn columns(&self, _: &Lane<S>) -> (u32, u32) {
        (self.column, self.selector)
    }

    #[inline(always)]
    fn take(&mut self, lane: &Lane<S>) {
        self.samples = array::from_fn(|i| self.pick(lane, self.ahead[i]));
    }

    #[inline(always)]
    fn ask(&mut self, lane: &Lane<S>, row: i32) {
        self.ahead = array::from_fn(|i| self.load(lane, row + 1 + (ROWS + i) as i32, false));
    }

    #[inline(always)]
    fn step(&mut self, lane: &Lane<S>, row: i32, i: usize, valid: bool) -> (bool, [f32; EACH]) {
        let around = self.around;
        self.next(lane, self.samples[i]);
        let smoothed = Self::smooth(lane.s, around);
        let (gx, gy) = self.differentiate(lane.s, smoothed);
        let [xx, xy, yy] = self.sum(lane.s, gx, gy);
        let (xx, yy) = (Self::across(lane.s, xx), Self::across(lane.s, yy));
        let mut greatest = i32::MIN;
        for i in 0..EACH {
            greatest = greatest.max(xx[i].wrapping_add(yy[i]));
        }
        // No response is greater than the trace allows: a row without any that exceeds the bound has no corner, and none that a
        // corner could lose to.
        let strong = lane.s.any(valid && greatest >= self.least);
        let mut responses = [NEVER; EACH];
        if strong {
            let xy = Self::across(lane.s, self.turn(lane, xy, row - SMOOTHING as i32 - 1));
            responses = Self::measure(lane, [xx, xy, yy]);
        }
        (strong, responses)
    }
}

impl<S: Simt, const SMOOTHING: usize, const GRADIENT: u32, const WINDOW: usize>
    Bytes<S, SMOOTHING, GRADIENT, WINDOW>
{
    /// Whether all window sums of squares are less than 2²³ and those of gx·gy less than 2²² away from 0.
    ///
    /// Sobel's gx of samples smoothed by 1 2 1 is at most 4·255·3/4, and 4 more for the roundings: 9·769² < 2²³; a wider binomial makes
    /// it less. |gx| + |gy| is at most 255·70/16, the sum of the positive taps, and 8 more, so that |gx·gy| is at most half of it squared:
    /// 9·562² < 2²².
    const SMALL: bool = SMOOTHING > 0 && GRADIENT == gradient::SOBEL && WINDOW == 1;

    /// What squares and gx·gy have more than they, so that the sums of a window are bits of floats.
    const OFFSETS: [i32; 2] =
        if Self::SMALL { [FROM_0.wrapping_mul(NINTH), AROUND_0.wrapping_mul(NINTH)] } else { [0; 2] };

    /// The two words of a row that have the lane's samples; of one that may be above the image where it only leads to others.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, row: i32, leads: bool) -> [u32; 2] {
        let height = lane.set.size.height;
        let y = if leads { mirrored(row, height) } else { beyond(row, height as i32 - 1) };
        let at = lane.start + lane.s.product(y, lane.set.pitch) as usize + self.column as usize;
        [lane.s.load_four(self.image, at), lane.s.load_four(self.image, at + 4)]
    }

    /// The lane's samples from the words that have them.
    #[inline(always)]
    fn pick(&self, lane: &Lane<S>, [first, second]: [u32; 2]) -> u32 {
        lane.s.permute(first, second, self.selector)
    }

    /// Number `t` of the leading takings, after which these words are ahead.
    #[inline(always)]
    fn lead_rows(&mut self, lane: &Lane<S>, ahead: [[u32; 2]; ROWS], t: i32) {
        self.take(lane);
        self.ahead = ahead;
        for i in 0..ROWS {
            self.lead_row(lane, self.samples[i], t * ROWS as i32 + i as i32);
        }
    }

    /// One row down, number `i` of those that lead, with the samples of the row after it. It does what all rows before it are there for:
    /// sums down of samples need rows from one before the first on; the next step has these, and gradients need three of them.
    #[inline(always)]
    fn lead_row(&mut self, lane: &Lane<S>, samples: u32, i: i32) {
        let smoothed = 2 * SMOOTHING as i32;
        let around = self.around;
        if i >= smoothed - 1 {
            self.next(lane, samples);
        } else {
            push(&mut self.rows, Self::pairs(lane.s, samples));
        }
        if i >= smoothed {
            let smoothed_row = Self::smooth(lane.s, around);
            let (gx, gy) = self.differentiate(lane.s, smoothed_row);
            if i >= smoothed + 2 {
                self.sum(lane.s, gx, gy);
            }
        }
    }

    #[inline(always)]
    fn pairs(s: S, samples: u32) -> [u32; PAIRS] {
        // Byte 4 is one of zeros.
        [0x4140, 0x4342].map(|selector| s.permute(samples, 0, selector))
    }

    /// Smooths down what the next row brings, and asks the neighbours for theirs.
    #[inline(always)]
    fn next(&mut self, lane: &Lane<S>, samples: u32) {
        let s = lane.s;
        let pairs = Self::pairs(s, samples);
        let ring = &self.rows;
        let down: [u32; PAIRS] = array::from_fn(|i| match SMOOTHING {
            0 => pairs[i],
            1 => pairs[i] + 2 * ring[0][i] + ring[1][i],
            _ => pairs[i] + 4 * (ring[0][i] + ring[2][i]) + 6 * ring[1][i] + ring[3][i],
        });
        push(&mut self.rows, pairs);
        self.around = array::from_fn(|i| match i {
            0 | 1 => s.shuffle_up(down[PAIRS - 2 + i], 1),
            _ if i < PAIRS + 2 => down[i - 2],
            _ => s.shuffle_down(down[i - PAIRS - 2], 1),
        });
    }

    /// Smoothed samples in pairs, from the one before the lane's own to the one after.
    #[inline(always)]
    fn smooth(s: S, around: [u32; PAIRS + 4]) -> [u32; PAIRS + 1] {
        // The second of a pair and the first of the one after it.
        let between = |i: usize| s.permute(around[i], around[i + 1], 0x5432);
        // 256 times what they become, and half of it: that fits in 16 bits, of which the high byte is kept.
        const HIGH: u32 = 0x4341;
        array::from_fn(|i| match SMOOTHING {
            0 => between(i + 1),
            1 => {
                let sum = around[i + 1] + around[i + 2] + 2 * between(i + 1);
                s.permute(16 * sum + 0x0080_0080, 0, HIGH)
            }
            _ => {
                let near = around[i + 1] + around[i + 2];
                let sum = between(i) + between(i + 2) + 4 * near + 6 * between(i + 1);
                s.permute(sum + 0x0080_0080, 0, HIGH)
            }
        })
    }

    /// gx and gy of the row before.
    #[inline(always)]
    fn differentiate(&mut self, s: S, p: [u32; PAIRS + 1]) -> ([i32; EACH], [i32; EACH]) {
        let (outer, centre) = match GRADIENT {
            gradient::SOBEL => (1, 2),
            gradient::SCHARR => (3, 10),
            _ => (0, 1),
        };
        let differences = array::from_fn(|i| p[i + 1].wrapping_sub(p[i]));
        let sums = array::from_fn(|i| {
            let between = s.permute(p[i], p[i + 1], 0x5432);
            outer * (p[i] + p[i + 1]) + centre * between
        });
        let gx: [u32; PAIRS] = array::from_fn(|i| {
            let outside = differences[i].wrapping_add(self.differences[1][i]);
            let inside: u32 = self.differences[0][i];
            outside.wrapping_mul(outer).wrapping_add(inside.wrapping_mul(centre))
        });
        let gy: [u32; PAIRS] = array::from_fn(|i| sums[i].wrapping_sub(self.sums[1][i]));
        push(&mut self.differences, differences);
        push(&mut self.sums, sums);
        (split(gx), split(gy))
    }

    /// Sums down of gx·gy over the window whose lowest row is `lowest`, as they are without the signs that changed outside of the image.
    #[inline(always)]
    fn turn(&self, lane: &Lane<S>, mut sums: [i32; EACH], lowest: i32) -> [i32; EACH] {
        let height = lane.set.size.height;
        let outside = |row: i32| row as u32 >= height;
        if lane.at_edge || (lowest - 2 * WINDOW as i32) as u32 >= height - 2 * WINDOW as u32 {
            let offset = Self::OFFSETS[1];
            for row in 0..2 * WINDOW + 1 {
                let times = if outside(lowest - row as i32) { 2 } else { 0 };
                for i in 0..EACH {
                    // So that compilers do not keep the product without its offset, too.
                    let product = lane.s.add(self.products[row][1][i], -offset, 0);
                    sums[i] = sums[i].wrapping_sub(times * product);
                }
            }
            let offset = offset.wrapping_mul(2 * WINDOW as i32 + 1);
            sums = lane.turn(sums.map(|sum| sum.wrapping_sub(offset))).map(|sum| sum.wrapping_add(offset));
        }
        sums
    }

    /// Sums down of the products over the window whose lowest row is this one.
    #[inline(always)]
    fn sum(&mut self, s: S, gx: [i32; EACH], gy: [i32; EACH]) -> [[i32; EACH]; 3] {
        let [square, other] = Self::OFFSETS;
        let products = [
            array::from_fn(|i| (gx[i] * gx[i]).wrapping_add(square)),
            array::from_fn(|i| (gx[i] * gy[i]).wrapping_add(other)),
            array::from_fn(|i| (gy[i] * gy[i]).wrapping_add(square)),
        ];
        let mut down = products;
        for pair in 0..WINDOW {
            for product in 0..3 {
                for i in 0..EACH {
                    let [one, other] = [2 * pair, 2 * pair + 1].map(|row| self.products[row][product][i]);
                    down[product][i] = s.add(down[product][i], one, other);
                }
            }
        }
        push(&mut self.products, products);
        down
    }

    /// Sums across, of what the lanes have of a row.
    #[inline(always)]
    fn across(s: S, own: [i32; EACH]) -> [i32; EACH] {
        let (mut left, mut right) = ([0; 3], [0; 3]);
        for d in 0..WINDOW {
            left[d] = s.shuffle_up(own[EACH - 1 - d] as u32, 1) as i32;
            right[d] = s.shuffle_down(own[d] as u32, 1) as i32;
        }
        array::from_fn(|i| {
            let mut sum = own[i];
            for d in 1..=WINDOW {
                let before = if d <= i { own[i - d] } else { left[d - i - 1] };
                let after = if i + d < EACH { own[i + d] } else { right[i + d - EACH] };
                // In wider windows sums of two serve several.
                sum = if WINDOW == 1 { s.add(sum, before, after) } else { sum + before + after };
            }
            sum
        })
    }

    #[inline(always)]
    fn measure(lane: &Lane<S>, sums: [[i32; EACH]; 3]) -> [f32; EACH] {
        let scaled = |sum: i32, offset: i32, scale: f32| {
            if Self::SMALL {
                // The offset is a power of two, or three times one, so that its product is exact, and so is the difference before it is rounded.
                lane.s.exact_fma(f32::from_bits(sum as u32), scale, -(f32::from_bits(offset as u32) * scale))
            } else {
                sum as f32 * scale
            }
        };
        array::from_fn(|i| {
            let scale = lane.set.scale;
            let tensor = |scale_of_squares: f32| {
                let [xx, xy, yy] = sums.map(|sums| sums[i]);
                let (a, c) = (scaled(xx, FROM_0, scale_of_squares), scaled(yy, FROM_0, scale_of_squares));
                (a, scaled(xy, AROUND_0, scale), c)
            };
            // Sums are integers below 2³⁰, and the scale is from 2⁻⁴⁰ to 1: halves are exact, and what roots are drawn of is 0 or far from
            // denormal.
            let root = |square| lane.s.sqrt_of_normal(square);
            if lane.set.measure == measures::SHI_TOMASI {
                let (half_a, b, half_c) = tensor(0.5 * scale);
                lesser_eigenvalue(root, half_a, b, half_c)
            } else {
                let (a, b, c) = tensor(scale);
                measure(root, lane.set.measure, lane.set.parameter, a, b, c)
            }
        })
    }
}

/// The numbers of pairs, each of which is the second times 2¹⁶ plus the first, both signed.
#[inline(always)]
fn split(pairs: [u32; PAIRS]) -> [i32; EACH] {
    array::from_fn(|i| {
        let pair = pairs[i / 2];
        let first = i32::from(pair as i16);
        if i % 2 == 0 { first } else { (pair as i32).wrapping_sub(first) >> 16 }
    })
}
