//! Responses from 8-bit samples of one channel, smoothed two at a time in the halves of a word.

use core::array;

use super::arguments::SweepArguments;
use super::integer_gradients::{Gradient, PAIRS, Smoothed, selectors};
use super::lane::{LANE_COLUMNS, Lane, RowKind};
use super::mirror::{columns, mirrored, mirrored_end};
use super::source::ResponseSource;
use super::window::Window;
use crate::Simt;
use crate::abi::fused::ROWS;
use crate::kernels::thread_per_column::push;

/// Source of responses from 8-bit samples. Rings hold the latest row first.
pub(super) struct ByteSource<S: Simt, W: Window<S>> {
    image: S::Buffer<u8>,
    /// Position of the lane's samples in a row: see [`columns`].
    column: u32,
    selector: u32,
    /// Selectors of the samples around each pair of columns: see [`Smoothed`].
    gradients: [u32; PAIRS],
    /// Samples of the current batch, and the prefetched words of the next.
    samples: [u32; ROWS],
    ahead: [[u32; 2]; ROWS],
    /// Rows of the lane's samples, in pairs.
    rows: [[u32; PAIRS]; 4],
    /// Column sums of the smoothing in pairs: the lane's own in the middle, two pairs of each
    /// neighbour around them.
    around: [u32; PAIRS + 4],
    /// Smoothed rows that the gradients still need.
    smoothed: <W::Gradient as Gradient>::Rows,
    window: W,
}

impl<S: Simt, W: Window<S>> ResponseSource<S> for ByteSource<S, W> {
    type Sample = u8;
    const HAS_WARM_UP: bool = true;
    const BATCHES_ROWS: bool = W::BATCHES_ROWS;

    #[inline(always)]
    fn support_radius(args: &SweepArguments) -> i32 {
        Self::narrow_support_radius(args) + if W::IS_WIDE { args.window as i32 } else { 0 }
    }

    #[inline(always)]
    fn warm_up_batches(args: &SweepArguments) -> usize {
        2 * Self::narrow_support_radius(args) as usize / ROWS
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, image: S::Buffer<u8>, row: i32) -> Self {
        let (column, selector) = columns(lane.x, lane.args.size.width);
        let mut source = Self {
            image,
            column,
            selector,
            gradients: selectors(lane, lane.args.smoothing > 0, W::BATCHES_ROWS),
            samples: [0; ROWS],
            ahead: [[0; 2]; ROWS],
            rows: [[0; PAIRS]; 4],
            around: [0; PAIRS + 4],
            smoothed: W::Gradient::NONE,
            window: W::new(lane),
        };
        let first = source.load_mirrored(lane, row);
        source.ahead = array::from_fn(|i| source.load_mirrored(lane, row + 1 + i as i32));
        let samples = source.select_samples(lane, first);
        source.warm_up_row(lane, samples, row, -1);
        source
    }

    #[inline(always)]
    fn warm_up(&mut self, lane: &Lane<S>, row: i32) {
        const { assert!(Self::MAX_WARM_UP_BATCHES <= 4, "each batch is unrolled below") };
        let warm_up_batches = Self::warm_up_batches(&lane.args);
        // Loads everything first, so that the latencies overlap.
        let words: [[[u32; 2]; ROWS]; 4] =
            array::from_fn(|t| match t < Self::MAX_WARM_UP_BATCHES && t < warm_up_batches {
                true => array::from_fn(|i| self.load_mirrored(lane, row + 1 + ((t + 1) * ROWS + i) as i32)),
                false => [[0; 2]; ROWS],
            });
        // Unrolled, as each row computes only what later rows need.
        if Self::MAX_WARM_UP_BATCHES > 0 && warm_up_batches > 0 {
            self.warm_up_rows(lane, words[0], row, 0);
        }
        if Self::MAX_WARM_UP_BATCHES > 1 && warm_up_batches > 1 {
            self.warm_up_rows(lane, words[1], row, 1);
        }
        if Self::MAX_WARM_UP_BATCHES > 2 && warm_up_batches > 2 {
            self.warm_up_rows(lane, words[2], row, 2);
        }
        if Self::MAX_WARM_UP_BATCHES > 3 && warm_up_batches > 3 {
            self.warm_up_rows(lane, words[3], row, 3);
        }
    }

    #[inline(always)]
    fn fill_window(&mut self, lane: &Lane<S>, mut row: i32) -> i32 {
        if W::IS_WIDE {
            let top = row - (ROWS * Self::warm_up_batches(&lane.args)) as i32;
            let end = top + 2 * Self::support_radius(&lane.args) / ROWS as i32 * ROWS as i32;
            while row < end {
                self.take_prefetched(lane);
                self.ahead = array::from_fn(|i| self.load_mirrored(lane, row + 1 + (ROWS + i) as i32));
                // Unrolled: compilers leave some of such loops as they are.
                self.fill_window_row(lane, top, row, 0);
                self.fill_window_row(lane, top, row, 1);
                self.fill_window_row(lane, top, row, 2);
                row += ROWS as i32;
            }
        }
        row
    }

    #[inline(always)]
    fn uses_trace_bound(args: &SweepArguments) -> bool {
        W::uses_trace_bound(args)
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, trace_bound: f32) {
        self.window.set_trace_bound(trace_bound);
    }

    #[inline(always)]
    fn byte_columns(&self, _: &Lane<S>) -> (u32, u32) {
        (self.column, self.selector)
    }

    #[inline(always)]
    fn take_prefetched(&mut self, lane: &Lane<S>) {
        self.samples = array::from_fn(|i| self.select_samples(lane, self.ahead[i]));
    }

    #[inline(always)]
    fn prefetch(&mut self, lane: &Lane<S>, row: i32, row_kind: RowKind) {
        let height = lane.args.size.height;
        self.ahead = array::from_fn(|i| {
            let row = row + 1 + (ROWS + i) as i32;
            self.load(
                lane,
                if row_kind == RowKind::Interior { row as u32 } else { mirrored_end(row, height as i32 - 1) },
            )
        });
    }

    #[inline(always)]
    fn step(&mut self, lane: &Lane<S>, row: i32, i: usize, row_kind: RowKind) -> (bool, [f32; LANE_COLUMNS]) {
        let (gx, gy) = self.gradients_of_row(lane, row, i, row_kind);
        let sums = self.window.add_row(lane, gx, gy);
        self.window.responses(lane, sums, row_kind)
    }
}

impl<S: Simt, W: Window<S>> ByteSource<S, W> {
    /// Most batches of warm-up rows, with a smoothing of radius 2.
    const MAX_WARM_UP_BATCHES: usize = 2 * (2 + 1 + W::RADIUS) / ROWS;

    /// Rows from a response to the lowest sample, without the radius of a wide window.
    #[inline(always)]
    fn narrow_support_radius(args: &SweepArguments) -> i32 {
        (args.smoothing as usize + 1 + W::RADIUS) as i32
    }

    /// Advances to `row`, number `i` of the batch. Returns the gx and gy that it completes.
    #[inline(always)]
    fn gradients_of_row(
        &mut self,
        lane: &Lane<S>,
        row: i32,
        i: usize,
        row_kind: RowKind,
    ) -> (W::Gradient, W::Gradient) {
        let around = self.around;
        self.smooth_columns(lane, self.samples[i]);
        self.differentiate(lane, around, row, row_kind)
    }

    /// Returns the gx and gy that `row` completes, from the column sums `around` of the row before.
    #[inline(always)]
    fn differentiate(
        &mut self,
        lane: &Lane<S>,
        around: [u32; PAIRS + 4],
        row: i32,
        row_kind: RowKind,
    ) -> (W::Gradient, W::Gradient) {
        let smoothed = self.smooth_rows(lane, around);
        let (gx, gy) = W::Gradient::differentiate(lane.s, &mut self.smoothed, smoothed, lane.args.gradient);
        // Above and below the image, gy has the opposite sign.
        let is_outside = (row - lane.args.smoothing as i32 - 1) as u32 >= lane.args.size.height;
        (gx, if row_kind != RowKind::Interior && is_outside { gy.negated() } else { gy })
    }

    /// Loads the words of a row that may lie above or below the image.
    #[inline(always)]
    fn load_mirrored(&self, lane: &Lane<S>, row: i32) -> [u32; 2] {
        self.load(lane, mirrored(row, lane.args.size.height))
    }

    /// Loads the two words of row `y` that contain the lane's samples.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, y: u32) -> [u32; 2] {
        let at = lane.start + lane.s.mul_wide(y, lane.args.pitch) as usize + self.column as usize;
        [lane.s.load_four_bytes(self.image, at), lane.s.load_four_bytes(self.image, at + 4)]
    }

    /// Selects the lane's samples from their words.
    #[inline(always)]
    fn select_samples(&self, lane: &Lane<S>, [first, second]: [u32; 2]) -> u32 {
        lane.s.permute(first, second, self.selector)
    }

    /// Handles batch `t` of the warm-up rows, which begin at `top`, and stores the words of the
    /// next batch.
    #[inline(always)]
    fn warm_up_rows(&mut self, lane: &Lane<S>, ahead: [[u32; 2]; ROWS], top: i32, t: i32) {
        self.take_prefetched(lane);
        self.ahead = ahead;
        // Unrolled: compilers leave some of such loops as they are.
        let [first, second, third] = self.samples;
        self.warm_up_row(lane, first, top, t * ROWS as i32);
        self.warm_up_row(lane, second, top, t * ROWS as i32 + 1);
        self.warm_up_row(lane, third, top, t * ROWS as i32 + 2);
    }

    /// Handles warm-up row `i`, counted from `top`, and takes the samples of the row after it.
    ///
    /// It computes only what complete rows are available for. Smoothing needs the rows from one
    /// before the first on, and gradients need three smoothed rows.
    #[inline(always)]
    fn warm_up_row(&mut self, lane: &Lane<S>, samples: u32, top: i32, i: i32) {
        let smoothed = 2 * lane.args.smoothing as i32;
        let around = self.around;
        if i >= smoothed - 1 {
            self.smooth_columns(lane, samples);
        } else {
            push(&mut self.rows, Self::pairs(lane.s, samples));
        }
        if i >= smoothed {
            let (gx, gy) = self.differentiate(lane, around, top + i, RowKind::Invalid);
            if i >= smoothed + 2 {
                self.window.warm_up(lane, gx, gy);
            }
        }
    }

    /// Handles row `i` of the batch at `row` while a wide window fills. `top` is the first warm-up
    /// row.
    #[inline(always)]
    fn fill_window_row(&mut self, lane: &Lane<S>, top: i32, row: i32, i: usize) {
        let row = row + i as i32;
        let (gx, gy) = self.gradients_of_row(lane, row, i, RowKind::Invalid);
        // Earlier rows lack some of the samples of a gradient.
        if row - top >= 2 * lane.args.smoothing as i32 + 2 {
            self.window.warm_up(lane, gx, gy);
        }
    }

    #[inline(always)]
    fn pairs(s: S, samples: u32) -> [u32; PAIRS] {
        // Selector digit 4 yields a zero byte.
        [0x4140, 0x4342].map(|selector| s.permute(samples, 0, selector))
    }

    /// Smooths the next row vertically and exchanges the result with the neighbouring lanes.
    #[inline(always)]
    fn smooth_columns(&mut self, lane: &Lane<S>, samples: u32) {
        let s = lane.s;
        let pairs = Self::pairs(s, samples);
        let ring = &self.rows;
        // Weights of earlier rows, the latest first. They are constants of the loaded kernel.
        let [first, second, third, fourth] = match lane.args.smoothing {
            0 => [0, 0, 0, 0],
            1 => [2, 1, 0, 0],
            _ => [4, 6, 4, 1],
        };
        let down: [u32; PAIRS] = array::from_fn(|i| {
            pairs[i] + first * ring[0][i] + second * ring[1][i] + third * ring[2][i] + fourth * ring[3][i]
        });
        push(&mut self.rows, pairs);
        self.around = array::from_fn(|i| match i {
            0 | 1 => s.shuffle_up(down[PAIRS - 2 + i], 1),
            _ if i < PAIRS + 2 => down[i - 2],
            _ => s.shuffle_down(down[i - PAIRS - 2], 1),
        });
    }

    /// Smooths horizontally what is smoothed vertically.
    #[inline(always)]
    fn smooth_rows(&self, lane: &Lane<S>, around: [u32; PAIRS + 4]) -> Smoothed {
        let (s, smoothing) = (lane.s, lane.args.smoothing);
        // Pair of the second value of one pair and the first value of the next.
        let between = |i: usize| s.permute(around[i], around[i + 1], 0x5432);
        // 256 times the smoothed value, with one half for rounding. The sum fits in 16 bits, and
        // its high byte is the result.
        let [far, near, centre, half] = match smoothing {
            0 => [0, 0, 1, 0],
            1 => [0, 16, 32, 0x0080_0080],
            _ => [1, 4, 6, 0x0080_0080],
        };
        let pairs = array::from_fn(|i| {
            let sum = near * (around[i + 1] + around[i + 2]) + half;
            centre * between(i + 1) + sum + far * (between(i) + between(i + 2))
        });
        Smoothed { pairs, is_high: smoothing > 0, selectors: self.gradients }
    }
}
