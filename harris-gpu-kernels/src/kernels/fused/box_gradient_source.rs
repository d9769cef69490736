//! Responses from 8-bit samples by box gradients and box windows, at a cost independent of their
//! sizes.
//!
//! Column sums of a gradient's box run on from row to row, and so do the differences between its
//! lower and upper side. The column sums of the window's products run on, too. Sums across are
//! differences of prefix sums.
//!
//! Shared memory holds the rows of samples and gradients that are still to leave, and the prefix
//! sums.

use core::array;

use super::arguments::SweepArguments;
use super::box3::tensor_responses;
use super::integer_gradients::{PAIRS, split};
use super::lane::{LANE_COLUMNS, Lane, NO_RESPONSE, RowKind};
use super::mirror::{columns, mirrored};
use super::running_products::{cell, pair};
use super::source::ResponseSource;
use super::wide_box::sums_before;
use crate::Simt;
use crate::abi::fused::MAX_BOX_RADIUS as MAX_RADIUS;
use crate::abi::fused::{COLUMNS, ROWS};
use crate::simt::WARP;

/// Lanes of zeros to the left of the warp, for prefix sums before its first column.
const MARGIN_LANES: u32 = 2;
/// Words of a plane of prefix sums: one for each lane and each lane of zeros. Each column of a lane
/// has a plane.
const PLANE: u32 = WARP + MARGIN_LANES;
const SUMS: u32 = LANE_COLUMNS as u32 * PLANE;

/// Kinds of prefix sums. Those of samples are packed in halves of words. Of the window sums, the
/// trace, gx² and gx·gy have their upper bits apart. The lower bits of gx² and gx·gy share a word.
const SAMPLE_SUMS: u32 = 0;
const UPPER_TRACES: u32 = 1;
const UPPER_SQUARES: u32 = 2;
const UPPER_PRODUCTS: u32 = 3;
const LOWER_TRACES: u32 = 4;
const LOWER_SQUARES_AND_PRODUCTS: u32 = 5;
const KINDS: u32 = 6;

/// Number of lower bits of a split window sum.
const LOW_BITS: u32 = 12;

/// Start of the rows of samples, in words, and of the rows of gradients, in cells.
const SAMPLES: u32 = KINDS * SUMS;
const GRADIENTS: u32 = SAMPLES / 2 + (2 * MAX_RADIUS as u32 + 1) * WARP / 2;
/// Cells of a row of gradients.
const ROW: u32 = 2 * WARP;

/// Source of responses by box gradients.
pub(super) struct BoxGradientSource<S: Simt> {
    image: S::Buffer<u8>,
    /// Position of the lane's samples in a row: see [`columns`].
    column: u32,
    selector: u32,
    /// Samples of the current batch, and the prefetched words of the next.
    samples: [u32; ROWS],
    ahead: [[u32; 2]; ROWS],
    /// Shared-memory indices of the samples that leave the box next, and of its middle row.
    oldest_samples: u32,
    middle_samples: u32,
    /// Middle row of the previous box, in pairs.
    middle: [u32; PAIRS],
    /// Column sums of the box, and of its lower side less its upper, in pairs.
    sums: [u32; PAIRS],
    differences: [u32; PAIRS],
    /// Shared-memory indices of two prefix sums for each column: at the end of its box or window,
    /// and before its start.
    gradient_sum_indices: [[u32; 2]; LANE_COLUMNS],
    window_sum_indices: [[u32; 2]; LANE_COLUMNS],
    /// Cell of the gradients that leave the window next.
    oldest_gradients: u32,
    /// Whether any corner depends on the lane's responses.
    is_needed: bool,
    /// Upper bits of the least trace that a response above the threshold needs.
    trace_bound: i32,
    /// Column sums of gx², gx·gy and gy².
    products: [[i32; LANE_COLUMNS]; 3],
}

impl<S: Simt> ResponseSource<S> for BoxGradientSource<S> {
    type Sample = u8;
    const HAS_WARM_UP: bool = false;

    #[inline(always)]
    fn support_radius(args: &SweepArguments) -> i32 {
        (args.gradient_radius + args.window) as i32
    }

    #[inline(always)]
    fn new(lane: &Lane<S>, image: S::Buffer<u8>, _: i32) -> Self {
        const {
            let size = 2 * MAX_RADIUS as i64 + 1;
            assert!(
                MAX_RADIUS < (MARGIN_LANES as usize) * LANE_COLUMNS,
                "prefix sums are within the lanes of zeros"
            );
            assert!(255 * size * size < 1 << 16, "a box's sum fits in half a word without a sign");
            let gradient = 255 * size * MAX_RADIUS as i64;
            assert!(gradient < 1 << 15, "a gradient fits in half a word");
            let trace = 2 * size * gradient.pow(2);
            assert!(trace < 1 << 31, "sums down the window fit");
            assert!(
                size * (trace >> LOW_BITS) < 1 << 24,
                "upper bits of the window sums are exact as floats"
            );
            assert!(size * (1 << LOW_BITS) < 1 << 16, "lower bits of the window sums fit in half a word");
        }
        let (s, l, args) = (lane.s, lane.s.lane(), &lane.args);
        for kind in 0..KINDS {
            // One word for each lane: all planes of all lanes of zeros.
            if l < MARGIN_LANES * LANE_COLUMNS as u32 {
                s.set_shared_word(kind * SUMS + l / MARGIN_LANES * PLANE + l % MARGIN_LANES, 0);
            }
        }
        // Rows that never entered leave as zeros.
        for row in 0..=2 * args.gradient_radius {
            s.set_shared_word(SAMPLES + WARP * row + l, 0);
        }
        for row in 0..=2 * args.window {
            Self::store_gradients(s, GRADIENTS + ROW * row + l, [[0; LANE_COLUMNS]; 2]);
        }
        let indices = |radius: u32| -> [[u32; 2]; LANE_COLUMNS] {
            array::from_fn(|i| {
                let own = LANE_COLUMNS as u32 * (MARGIN_LANES + l) + i as u32;
                // No corner depends on prefix sums beyond the warp's last column.
                let last = (own + radius).min(LANE_COLUMNS as u32 * MARGIN_LANES + COLUMNS - 1);
                [last, own - radius - 1]
                    .map(|column| column % LANE_COLUMNS as u32 * PLANE + column / LANE_COLUMNS as u32)
            })
        };
        let (start, edge) = (LANE_COLUMNS as u32 * l, Self::support_radius(args) as u32);
        let (column, selector) = columns(lane.x, args.size.width);
        Self {
            image,
            column,
            selector,
            samples: [0; ROWS],
            ahead: [[0; 2]; ROWS],
            oldest_samples: SAMPLES + l,
            middle_samples: SAMPLES + WARP * (args.gradient_radius + 1) + l,
            middle: [0; PAIRS],
            sums: [0; PAIRS],
            differences: [0; PAIRS],
            gradient_sum_indices: indices(args.gradient_radius),
            window_sum_indices: indices(args.window),
            oldest_gradients: GRADIENTS + l,
            is_needed: start + LANE_COLUMNS as u32 > edge && start < COLUMNS - edge,
            trace_bound: 0,
            products: [[0; LANE_COLUMNS]; 3],
        }
    }

    #[inline(always)]
    fn warm_up(&mut self, _: &Lane<S>, _: i32) {}

    #[inline(always)]
    fn fill_window(&mut self, lane: &Lane<S>, mut row: i32) -> i32 {
        let first = row + 2 * lane.args.gradient_radius as i32;
        let end = row + 2 * Self::support_radius(&lane.args) / ROWS as i32 * ROWS as i32;
        self.ahead = self.load(lane, row);
        while row < end {
            self.take_prefetched(lane);
            self.prefetch(lane, row, RowKind::Valid);
            // Unrolled: compilers leave some of such loops as they are.
            self.fill_window_row(lane, row, first, 0);
            self.fill_window_row(lane, row + 1, first, 1);
            self.fill_window_row(lane, row + 2, first, 2);
            row += ROWS as i32;
        }
        row
    }

    #[inline(always)]
    fn set_trace_bound(&mut self, trace_bound: f32) {
        // The upper bits lose less than 1 per column.
        let columns = 2 * MAX_RADIUS as i32 + 2;
        self.trace_bound =
            (trace_bound * (1.0 / (1 << LOW_BITS) as f32)).min(1_073_741_824.0) as i32 - columns;
    }

    #[inline(always)]
    fn byte_columns(&self, _: &Lane<S>) -> (u32, u32) {
        (self.column, self.selector)
    }

    #[inline(always)]
    fn take_prefetched(&mut self, lane: &Lane<S>) {
        self.samples = self.ahead.map(|[first, second]| lane.s.permute(first, second, self.selector));
    }

    #[inline(always)]
    fn prefetch(&mut self, lane: &Lane<S>, row: i32, _: RowKind) {
        self.ahead = self.load(lane, row + ROWS as i32);
    }

    #[inline(always)]
    fn step(&mut self, lane: &Lane<S>, row: i32, i: usize, row_kind: RowKind) -> (bool, [f32; LANE_COLUMNS]) {
        self.slide_box(lane, i);
        let gradients = self.gradients(lane, row - lane.args.gradient_radius as i32);
        let leaving = Self::load_gradients(lane.s, self.oldest_gradients);
        self.replace_oldest(lane, gradients);
        self.add(gradients, leaving);
        self.responses(lane, row_kind)
    }
}

impl<S: Simt> BoxGradientSource<S> {
    /// Loads the words with the lane's samples, for [`ROWS`] rows from `row` on.
    #[inline(always)]
    fn load(&self, lane: &Lane<S>, row: i32) -> [[u32; 2]; ROWS] {
        array::from_fn(|i| {
            let y = mirrored(row + i as i32, lane.args.size.height);
            let at = lane.start + lane.s.mul_wide(y, lane.args.pitch) as usize + self.column as usize;
            [lane.s.load_four_bytes(self.image, at), lane.s.load_four_bytes(self.image, at + 4)]
        })
    }

    /// Moves the box down by one row, to end with number `i` of the current batch.
    #[inline(always)]
    fn slide_box(&mut self, lane: &Lane<S>, i: usize) {
        let s = lane.s;
        let enters = self.samples[i];
        let (middle, leaves) = (s.shared_word(self.middle_samples), s.shared_word(self.oldest_samples));
        s.set_shared_word(self.oldest_samples, enters);
        let end = SAMPLES + WARP * (2 * lane.args.gradient_radius + 1);
        let after = |index: u32| if index + WARP >= end { SAMPLES + s.lane() } else { index + WARP };
        (self.middle_samples, self.oldest_samples) = (after(self.middle_samples), after(self.oldest_samples));
        // Selector digit 4 yields a zero byte.
        let pairs = |samples: u32| [0x4140, 0x4342].map(|selector| s.permute(samples, 0, selector));
        let [enters, middle, leaves] = [enters, middle, leaves].map(pairs);
        for k in 0..PAIRS {
            self.sums[k] = self.sums[k].wrapping_add(enters[k]).wrapping_sub(leaves[k]);
            // The new middle row leaves the lower side, and the previous one enters the upper side.
            let change =
                enters[k].wrapping_add(leaves[k]).wrapping_sub(middle[k]).wrapping_sub(self.middle[k]);
            self.differences[k] = self.differences[k].wrapping_add(change);
        }
        self.middle = middle;
    }

    /// Computes gx and gy of a row. gy has the opposite sign above and below the image.
    #[inline(always)]
    fn gradients(&self, lane: &Lane<S>, row: i32) -> [[i32; LANE_COLUMNS]; 2] {
        let s = lane.s;
        let differences = split(self.differences);
        // Difference times 2¹⁶ plus sum. After additions and subtractions the lower half is still
        // the sum modulo 2¹⁶, and sums are not negative.
        let own: [i32; LANE_COLUMNS] = array::from_fn(|i| {
            let selector = if i % 2 == 0 { 0x5410 } else { 0x5432 };
            s.permute(self.sums[i / 2], differences[i] as u32, selector) as i32
        });
        let [before] = sums_before(s, [own]);
        Self::store_sums(s, SAMPLE_SUMS, before);
        s.warp_barrier();
        let ends = self
            .gradient_sum_indices
            .map(|indices| indices.map(|index| s.shared_word(SAMPLE_SUMS * SUMS + index) as i32));
        let gx = array::from_fn(|i| {
            let ([last, first], to_centre) = (ends[i], before[i]);
            let to_left = to_centre.wrapping_sub(own[i]);
            let right_less_left = last.wrapping_sub(to_centre).wrapping_sub(to_left.wrapping_sub(first));
            i32::from(right_less_left as i16)
        });
        let mut gy = ends.map(|[last, first]| last.wrapping_sub(first) >> 16);
        if row as u32 >= lane.args.size.height {
            gy = gy.map(i32::wrapping_neg);
        }
        [gx, gy]
    }

    /// Stores prefix sums of a kind in shared memory.
    #[inline(always)]
    fn store_sums(s: S, kind: u32, before: [i32; LANE_COLUMNS]) {
        for i in 0..LANE_COLUMNS {
            s.set_shared_word(kind * SUMS + i as u32 * PLANE + MARGIN_LANES + s.lane(), before[i] as u32);
        }
    }

    /// Sums across the window, from the stored prefix sums of a kind.
    #[inline(always)]
    fn across(&self, s: S, kind: u32) -> [i32; LANE_COLUMNS] {
        self.window_sum_indices.map(|indices| {
            let [last, first] = indices.map(|index| s.shared_word(kind * SUMS + index));
            last.wrapping_sub(first) as i32
        })
    }

    /// Stores a lane's gx and gy in shared memory.
    #[inline(always)]
    fn store_gradients(s: S, at: u32, [gx, gy]: [[i32; LANE_COLUMNS]; 2]) {
        let halves: [u32; LANE_COLUMNS] = array::from_fn(|i| s.permute(gx[i] as u32, gy[i] as u32, 0x5410));
        s.set_shared(at, cell([halves[0], halves[1]]));
        s.set_shared(at + WARP, cell([halves[2], halves[3]]));
    }

    /// Loads what [`BoxGradientSource::store_gradients`] has stored.
    #[inline(always)]
    fn load_gradients(s: S, at: u32) -> [[i32; LANE_COLUMNS]; 2] {
        let [[a, b], [c, d]] = [at, at + WARP].map(|at| pair(s.shared(at)));
        let halves = [a, b, c, d];
        [halves.map(|half| i32::from(half as i16)), halves.map(|half| half as i32 >> 16)]
    }

    /// Replaces the row of gradients that leaves by the row that enters.
    #[inline(always)]
    fn replace_oldest(&mut self, lane: &Lane<S>, gradients: [[i32; LANE_COLUMNS]; 2]) {
        Self::store_gradients(lane.s, self.oldest_gradients, gradients);
        let end = GRADIENTS + ROW * (2 * lane.args.window + 1);
        let next = self.oldest_gradients + ROW;
        self.oldest_gradients = if next >= end { GRADIENTS + lane.s.lane() } else { next };
    }

    /// Handles row `i` of the batch while the window fills. Rows above `first` only complete a box.
    #[inline(always)]
    fn fill_window_row(&mut self, lane: &Lane<S>, row: i32, first: i32, i: usize) {
        self.slide_box(lane, i);
        if row >= first {
            let gradients = self.gradients(lane, row - lane.args.gradient_radius as i32);
            // The window is not full yet, so no row leaves.
            self.replace_oldest(lane, gradients);
            self.add(gradients, [[0; LANE_COLUMNS]; 2]);
            // The next row overwrites what was read.
            lane.s.warp_barrier();
        }
    }

    /// Adds the products of entering gradients, and subtracts those of leaving ones.
    #[inline(always)]
    fn add(&mut self, [gx, gy]: [[i32; LANE_COLUMNS]; 2], [old_gx, old_gy]: [[i32; LANE_COLUMNS]; 2]) {
        let [xx, xy, yy] = &mut self.products;
        for i in 0..LANE_COLUMNS {
            // e² - l² = (e + l)(e - l).
            xx[i] += (gx[i] + old_gx[i]) * (gx[i] - old_gx[i]);
            yy[i] += (gy[i] + old_gy[i]) * (gy[i] - old_gy[i]);
            xy[i] += gx[i] * gy[i] - old_gx[i] * old_gy[i];
        }
    }

    /// Responses from the column sums, and whether any may count.
    #[inline(always)]
    fn responses(&self, lane: &Lane<S>, row_kind: RowKind) -> (bool, [f32; LANE_COLUMNS]) {
        let s = lane.s;
        let upper = |sums: [i32; LANE_COLUMNS]| sums.map(|sum| sum >> LOW_BITS);
        let lower = |sums: [i32; LANE_COLUMNS]| sums.map(|sum| sum & ((1 << LOW_BITS) - 1));
        let [xx, xy, yy] = self.products;
        let trace = array::from_fn(|i| xx[i] + yy[i]);
        let [before] = sums_before(s, [upper(trace)]);
        Self::store_sums(s, UPPER_TRACES, before);
        s.warp_barrier();
        let upper_traces = self.across(s, UPPER_TRACES);
        let mut greatest = i32::MIN;
        for i in 0..LANE_COLUMNS {
            greatest = greatest.max(upper_traces[i]);
        }
        let has_candidates = s.any(row_kind.is_valid() && self.is_needed && greatest >= self.trace_bound);
        if !has_candidates {
            return (false, [NO_RESPONSE; LANE_COLUMNS]);
        }
        let xy = lane.negate_outside(xy);
        let (lower_xx, lower_xy) = (lower(xx), lower(xy));
        let others = array::from_fn(|i| lower_xx[i] | lower_xy[i] << 16);
        let kinds = [UPPER_SQUARES, UPPER_PRODUCTS, LOWER_TRACES, LOWER_SQUARES_AND_PRODUCTS];
        let before = sums_before(s, [upper(xx), upper(xy), lower(trace), others]);
        for i in 0..kinds.len() {
            Self::store_sums(s, kinds[i], before[i]);
        }
        s.warp_barrier();
        let [upper_xx, upper_xy, lower_traces, others] = kinds.map(|kind| self.across(s, kind));
        // The next row overwrites what was read.
        s.warp_barrier();
        let responses = tensor_responses(lane, |i, scale_of_squares| {
            let (lower_xx, lower_xy) = (others[i] & 0xFFFF, (others[i] as u32 >> 16) as i32);
            let upper_yy = upper_traces[i] - upper_xx[i];
            let lower_yy = lower_traces[i] - lower_xx;
            // The exact sum, rounded once.
            let sum = |upper: i32, lower: i32| s.fma(upper as f32, (1 << LOW_BITS) as f32, lower as f32);
            let [a, c] = [sum(upper_xx[i], lower_xx), sum(upper_yy, lower_yy)];
            (a * scale_of_squares, sum(upper_xy[i], lower_xy) * lane.args.scale, c * scale_of_squares)
        });
        (true, if self.is_needed { responses } else { [NO_RESPONSE; LANE_COLUMNS] })
    }
}
