//! Non-maximum suppression: from rows of responses to a tile's list of candidates.

use core::array;

use super::lane::{LANE_COLUMNS, Lane};
use crate::Simt;
use crate::abi::{plateau, state, threshold};
use crate::kernels::corner_list::lanes_below;
use crate::kernels::mask::Mask;
use crate::kernels::number::{from_ordered_bits, to_ordered_bits};
use crate::kernels::thread_per_column::push;

/// State of a lane's suppression. Rings hold the latest row first.
///
/// Responses are compared by their bits as signed integers. Responses above the bound are positive,
/// and positive floats order like their bits. All others have lesser bits, or 0. To exceed a number
/// thus means to reach the next integer.
pub(super) struct CornerSuppression<S: Simt> {
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    /// Index of the word of the state with the image's greatest response.
    shared_index: usize,
    /// Start of the tile's list, and the number of candidates found.
    list: usize,
    pub(super) found: u32,
    /// Greatest response in the state, ordered as unsigned bits: as last loaded, and as last used.
    prefetched_greatest: u32,
    shared_greatest: u32,
    /// Bits that a response must exceed, at least 0, or one more where it must reach them.
    bound: i32,
    /// Bits of the greatest response of the lane's own corners so far.
    greatest: i32,
    /// Whether the last rows have responses that may count, the latest first.
    has_candidates: [bool; 3],
    /// Rows of responses, and the maximum of each column over as many rows as the radius.
    responses: [[i32; LANE_COLUMNS]; 4],
    pooled: [[i32; LANE_COLUMNS]; 5],
}

impl<S: Simt> CornerSuppression<S> {
    #[inline(always)]
    pub(super) fn new(lane: &Lane<S>, state: S::Buffer<u32>, keys: S::Buffer<u64>, list: usize) -> Self {
        let own_state = lane.s.block_row() as usize * state::WORDS;
        // Always 0 in practice, but unknown to the compiler. It then takes the index for one that
        // differs between lanes. A uniform value would go to a warp-wide register, and the warp
        // would wait for the load at once.
        let shared_index =
            own_state + state::GREATEST_RESPONSE + (lane.s.lane() * (lane.args.tiles >> 31)) as usize;
        Self {
            state,
            keys,
            shared_index,
            list,
            found: 0,
            prefetched_greatest: match lane.args.writes_responses() {
                true => 0,
                false => lane.s.load_relaxed(state, shared_index),
            },
            shared_greatest: 0,
            bound: 0,
            greatest: i32::MIN,
            // Nothing wins before the first row.
            has_candidates: [true; 3],
            responses: [[i32::MIN; LANE_COLUMNS]; 4],
            pooled: [[i32::MIN; LANE_COLUMNS]; 5],
        }
    }

    /// Shares the warp's greatest response, and updates the bound from the last
    /// [`CornerSuppression::prefetch_bound`]. Returns the new bound, or `None` where neither has
    /// changed.
    #[inline(always)]
    pub(super) fn exchange_bound(&mut self, lane: &Lane<S>) -> Option<f32> {
        // `to_ordered_bits` sets the top bit of positive numbers.
        let has_update = self.prefetched_greatest > self.shared_greatest
            || self.greatest > (self.shared_greatest ^ 0x8000_0000) as i32;
        lane.s.any(has_update).then(|| {
            self.publish_greatest(lane);
            self.update_bound(lane)
        })
    }

    /// Starts to load the greatest response of all warps, for the next
    /// [`CornerSuppression::exchange_bound`].
    #[inline(always)]
    pub(super) fn prefetch_bound(&mut self, lane: &Lane<S>) {
        self.prefetched_greatest = lane.s.load_relaxed(self.state, self.shared_index);
    }

    /// Updates the bound from the loaded greatest response, and returns it.
    #[inline(always)]
    pub(super) fn update_bound(&mut self, lane: &Lane<S>) -> f32 {
        let args = &lane.args;
        self.shared_greatest = self.prefetched_greatest;
        // Repeats `threshold_bound` of `threshold.rs`: with a call to it, a kernel without spare registers spills
        // for sm_120.
        let floor = if args.threshold_kind == threshold::ABSOLUTE {
            args.threshold_value
        } else if self.shared_greatest > to_ordered_bits(0.0) {
            args.threshold_value * from_ordered_bits(self.shared_greatest)
        } else {
            0.0
        };
        let floor = floor.max(0.0);
        self.bound = (floor.to_bits() + plateau::FIRST - args.plateau) as i32;
        floor
    }

    /// Raises the greatest response in the state to the greatest of the warp's own columns.
    #[inline(always)]
    pub(super) fn publish_greatest(&mut self, lane: &Lane<S>) {
        let s = lane.s;
        if !s.any(self.greatest > (self.shared_greatest ^ 0x8000_0000) as i32) {
            return;
        }
        let mut greatest = self.greatest;
        let mut delta = 16;
        while delta > 0 {
            greatest = greatest.max(s.shuffle_xor(greatest as u32, delta) as i32);
            delta /= 2;
        }
        if s.lane() == 0 {
            let greatest = to_ordered_bits(f32::from_bits(greatest as u32));
            s.atomic_max(self.state, self.shared_index, greatest);
        }
    }

    /// Includes responses of row `y` inside the mask in the greatest response. The columns are
    /// those of [`ResponseSource::byte_columns`](super::source::ResponseSource::byte_columns).
    #[inline(always)]
    pub(super) fn include_masked_row(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        (column, selector): (u32, u32),
        y: u32,
        responses: [f32; LANE_COLUMNS],
    ) {
        let (s, args) = (lane.s, &lane.args);
        let [first, second] = [column, column + 4].map(|column| mask.four_bytes(args.size.height, column, y));
        let bytes = s.permute(first, second, selector);
        for i in 0..LANE_COLUMNS {
            let (x, frame) = (lane.x + i as i32, args.frame as i32);
            let is_valid = !lane.at_edge || x >= frame && x < args.size.width as i32 - frame;
            if bytes & 0xFF << (8 * i) != 0 && is_valid && lane.owns_column(i) {
                self.greatest = self.greatest.max(responses[i].to_bits() as i32);
            }
        }
    }

    /// Finds the corners of the row `centre`, and takes the responses of the row the suppression
    /// radius below it. `has_candidates` tells whether one of these may exceed the bound.
    #[inline(always)]
    pub(super) fn suppress<const MAX_RADIUS: usize>(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        has_candidates: bool,
        responses: [f32; LANE_COLUMNS],
        centre: i32,
    ) {
        let responses = responses.map(|response| response.to_bits() as i32);
        // Maxima of the rows below and above the centre, and the centre row. The bound takes part
        // as a response.
        let mut below = responses;
        let radius = lane.args.suppression_radius as usize;
        for row in 0..MAX_RADIUS - 1 {
            if row + 1 < radius {
                for i in 0..LANE_COLUMNS {
                    below[i] = below[i].max(self.responses[row][i]);
                }
            }
        }
        for i in 0..LANE_COLUMNS {
            below[i] = below[i].max(self.bound);
        }
        let (mut own, mut above) = (self.responses[0], self.pooled[1]);
        let mut is_candidate = self.has_candidates[0];
        for row in 1..MAX_RADIUS {
            if row + 1 == radius {
                (own, above) = (self.responses[row], self.pooled[row + 1]);
                // Flags of rows farther up are not kept, for want of registers. Responses that do
                // not count still lose to the bound.
                is_candidate = if row < self.has_candidates.len() { self.has_candidates[row] } else { true };
            }
        }
        // Least bits of a winner. Earlier pixels in row order must be exceeded where one pixel of a
        // plateau is kept.
        let required: [i32; LANE_COLUMNS] =
            array::from_fn(|i| (above[i] + lane.args.plateau as i32).max(below[i]));
        let wins = any_of(array::from_fn(|i| own[i] >= required[i]));
        // Most responses above the bound lose within their own column.
        if is_candidate && lane.s.any(wins) && lane.owns_row(centre) {
            self.compare_across::<MAX_RADIUS>(lane, mask, required, own, centre as u32);
        }
        push(&mut self.has_candidates, has_candidates);
        push(&mut self.responses, responses);
        push(&mut self.pooled, below);
    }

    /// Compares a row's winners within their columns with the neighbouring columns.
    #[inline(always)]
    fn compare_across<const MAX_RADIUS: usize>(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        mut required: [i32; LANE_COLUMNS],
        own: [i32; LANE_COLUMNS],
        y: u32,
    ) {
        // Least bits of a winner to the right of the column, and of one to the left.
        let mut on_left: [i32; LANE_COLUMNS] =
            array::from_fn(|i| required[i].max(own[i] + lane.args.plateau as i32));
        let mut on_right: [i32; LANE_COLUMNS] = array::from_fn(|i| required[i].max(own[i]));
        if lane.at_edge {
            // Columns without valid responses take no part.
            for i in 0..LANE_COLUMNS {
                let (x, frame) = (lane.x + i as i32, lane.args.frame as i32);
                if x < frame || x >= lane.args.size.width as i32 - frame {
                    (on_left[i], on_right[i], required[i]) = (i32::MIN, i32::MIN, i32::MAX);
                }
            }
        }
        // Values of the neighbours' columns, the nearest first.
        let (mut left, mut right) = ([0; 4], [0; 4]);
        let radius = lane.args.suppression_radius as usize;
        for d in 0..MAX_RADIUS {
            if d < radius {
                left[d] = lane.s.shuffle_up(on_left[LANE_COLUMNS - 1 - d] as u32, 1) as i32;
                right[d] = lane.s.shuffle_down(on_right[d] as u32, 1) as i32;
            }
        }
        let required: [i32; LANE_COLUMNS] = array::from_fn(|i| {
            let mut required = required[i];
            for d in 1..=MAX_RADIUS {
                if d <= radius {
                    let before = if d <= i { on_left[i - d] } else { left[d - i - 1] };
                    let after =
                        if i + d < LANE_COLUMNS { on_right[i + d] } else { right[i + d - LANE_COLUMNS] };
                    required = required.max(before).max(after);
                }
            }
            required
        });
        let any = any_of(array::from_fn(|i| own[i] >= required[i]));
        if lane.s.any(any) {
            self.append_corners(lane, mask, required, own, y);
        }
    }

    /// Appends the row's corners to the list.
    #[inline(always)]
    fn append_corners(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        required: [i32; LANE_COLUMNS],
        responses: [i32; LANE_COLUMNS],
        y: u32,
    ) {
        // Remaining corners of the lane, one bit each.
        let mut left = 0;
        for i in 0..LANE_COLUMNS {
            left |= u32::from(responses[i] >= required[i]) << i;
        }
        loop {
            let mut first = (LANE_COLUMNS - 1, responses[LANE_COLUMNS - 1]);
            for i in (0..LANE_COLUMNS - 1).rev() {
                first = if left >> i & 1 == 1 { (i, responses[i]) } else { first };
            }
            self.append_corner(lane, mask, left != 0, first, y);
            left &= left.wrapping_sub(1);
            if !lane.s.any(left != 0) {
                return;
            }
        }
    }

    /// Appends at most one corner of each lane.
    #[inline(always)]
    fn append_corner(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        is_one: bool,
        (i, response): (usize, i32),
        y: u32,
    ) {
        let (s, args) = (lane.s, &lane.args);
        let mut corner = is_one && lane.owns_column(i);
        if mask.exists() {
            let x = (lane.x as u32).wrapping_add(i as u32);
            corner = corner && mask.allows_in_stack(args.size.height, x, y);
        }
        // Without a mask, the greatest response of all belongs to a corner.
        self.greatest = if corner { self.greatest.max(response) } else { self.greatest };
        let x = (lane.x as u32).wrapping_add(i as u32);
        let one = corner && args.size.within(args.margin, x, y);
        let all = s.ballot(one);
        let position = self.found + (all & lanes_below(s.lane())).count_ones();
        if one && position < args.capacity {
            let key = u64::from(!response as u32) << 32 | u64::from((y * args.size.width).wrapping_add(x));
            s.store(self.keys, self.list + position as usize, key);
        }
        self.found += all.count_ones();
    }
}

#[inline(always)]
fn any_of(votes: [bool; LANE_COLUMNS]) -> bool {
    let mut any = false;
    for i in 0..LANE_COLUMNS {
        any |= votes[i];
    }
    any
}
