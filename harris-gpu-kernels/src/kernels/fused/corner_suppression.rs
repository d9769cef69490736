//! From rows of responses to the candidates of a piece.

use core::array;

use super::lane::{LANE_COLUMNS, Lane};
use crate::Simt;
use crate::abi::{plateau, state, threshold};
use crate::kernels::corner_list::lanes_below;
use crate::kernels::mask::Mask;
use crate::kernels::number::{ordered, unordered};
use crate::kernels::thread_per_column::push;

/// A lane's part of it. Rings have the latest row first.
///
/// Responses are their bits: what exceeds the bound is positive, and positive numbers compare as their bits do; all others have
/// lesser ones, or 0. To exceed a number is thus to reach the next.
pub(super) struct CornerSuppression<S: Simt> {
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    /// Where warps tell of the image's greatest response.
    shared_index: usize,
    /// Where the piece's candidates start, and how many there are.
    list: usize,
    pub(super) found: u32,
    /// The greatest response that any warp told of, as the state has it: what was asked for last, and before.
    prefetched_greatest: u32,
    shared_greatest: u32,
    /// What a corner exceeds, as far as is known, which is 0 at least: the same where what comes before it is to be exceeded, and where it is to
    /// be reached, one more.
    bound: i32,
    /// The greatest response so far of its own corners.
    greatest: i32,
    /// Which of the last rows have responses that count, the latest first.
    has_candidates: [bool; 3],
    /// Responses, and the greatest of as many rows of them as the radius.
    responses: [[i32; LANE_COLUMNS]; 4],
    pooled: [[i32; LANE_COLUMNS]; 5],
}

impl<S: Simt> CornerSuppression<S> {
    #[inline(always)]
    pub(super) fn new(lane: &Lane<S>, state: S::Buffer<u32>, keys: S::Buffer<u64>, list: usize) -> Self {
        let own_state = lane.s.block_row() as usize * state::WORDS;
        // There are never so many pieces. But compilers cannot know it, and so take the place for another in each lane: what is the same in
        // all of them they bring to a register of the warp, and wait for it at once.
        let shared_index = own_state + state::GREATEST + (lane.s.lane() * (lane.args.tiles >> 31)) as usize;
        Self {
            state,
            keys,
            shared_index,
            list,
            found: 0,
            prefetched_greatest: match lane.args.writes_responses() {
                true => 0,
                false => lane.s.load_shared_by_all(state, shared_index),
            },
            shared_greatest: 0,
            bound: 0,
            greatest: i32::MIN,
            // Before the first, none wins.
            has_candidates: [true; 3],
            responses: [[i32::MIN; LANE_COLUMNS]; 4],
            pooled: [[i32::MIN; LANE_COLUMNS]; 5],
        }
    }

    /// Tells all warps of the greatest response of this one's own columns, and learns the bound from what all told before the last
    /// [`CornerSuppression::ask`], where any of it is news; returns what a corner's response exceeds, if so.
    #[inline(always)]
    pub(super) fn exchange_bound(&mut self, lane: &Lane<S>) -> Option<f32> {
        // As `ordered` has positive numbers, and lesser ones for all that are none.
        let has_update = self.prefetched_greatest > self.shared_greatest
            || self.greatest > (self.shared_greatest ^ 0x8000_0000) as i32;
        lane.s.any(has_update).then(|| {
            self.publish_greatest(lane);
            self.update_bound(lane)
        })
    }

    /// Asks what all warps told: the answer is waited for in [`CornerSuppression::exchange_bound`].
    #[inline(always)]
    pub(super) fn prefetch_bound(&mut self, lane: &Lane<S>) {
        self.prefetched_greatest = lane.s.load_shared_by_all(self.state, self.shared_index);
    }

    /// Learns the bound from what was heard; returns as [`CornerSuppression::exchange_bound`].
    #[inline(always)]
    pub(super) fn update_bound(&mut self, lane: &Lane<S>) -> f32 {
        let args = &lane.args;
        self.shared_greatest = self.prefetched_greatest;
        // As `threshold::floor`, by which a kernel that has no register to spare spills for sm_120.
        let floor = if args.threshold == threshold::ABSOLUTE {
            args.value
        } else if self.shared_greatest > ordered(0.0) {
            args.value * unordered(self.shared_greatest)
        } else {
            0.0
        };
        let floor = floor.max(0.0);
        self.bound = (floor.to_bits() + plateau::FIRST - args.plateau) as i32;
        floor
    }

    /// Tells all warps of the greatest response of this one's own columns, where it is news as far as is known.
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
            let greatest = ordered(f32::from_bits(greatest as u32));
            s.atomic_max(self.state, self.shared_index, greatest);
        }
    }

    /// Tells of the greatest of the responses of row `y` inside the mask, where the lane's bytes are as
    /// [`ResponseSource::columns`](super::Front::columns) has it.
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
        let [first, second] = [column, column + 4].map(|column| mask.four(args.size.height, column, y));
        let bytes = s.permute(first, second, selector);
        for i in 0..LANE_COLUMNS {
            let (x, frame) = (lane.x + i as i32, args.frame as i32);
            let is_valid = !lane.at_edge || x >= frame && x < args.size.width as i32 - frame;
            if bytes & 0xFF << (8 * i) != 0 && is_valid && lane.owns_column(i) {
                self.greatest = self.greatest.max(responses[i].to_bits() as i32);
            }
        }
    }

    /// Finds the corners of the row `centre`, the radius of suppression above that of the responses, which are `has_candidates` where one of them may exceed
    /// the bound.
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
        // The greatest of the rows below, of those above, and the row itself. What does not exceed the bound loses to it.
        let mut below = responses;
        let radius = lane.args.radius as usize;
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
                // Rows farther up are not kept, as there are no registers for that: none wins that does not count.
                is_candidate = if row < self.has_candidates.len() { self.has_candidates[row] } else { true };
            }
        }
        // To be reached: those before a corner in the order of rows are to be exceeded where one pixel of a plateau stays.
        let required: [i32; LANE_COLUMNS] =
            array::from_fn(|i| (above[i] + lane.args.plateau as i32).max(below[i]));
        let wins = any_of(array::from_fn(|i| own[i] >= required[i]));
        // Most that exceed the bound lose to others of their columns.
        if is_candidate && lane.s.any(wins) && lane.owns_row(centre) {
            self.compare_across::<MAX_RADIUS>(lane, mask, required, own, centre as u32);
        }
        push(&mut self.has_candidates, has_candidates);
        push(&mut self.responses, responses);
        push(&mut self.pooled, below);
    }

    /// Adds those of a row to the list that reach what they must over their columns, and over those beside.
    #[inline(always)]
    fn compare_across<const MAX_RADIUS: usize>(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        mut required: [i32; LANE_COLUMNS],
        own: [i32; LANE_COLUMNS],
        y: u32,
    ) {
        // To be reached by those to the right of the column, and by those to the left.
        let mut on_left: [i32; LANE_COLUMNS] =
            array::from_fn(|i| required[i].max(own[i] + lane.args.plateau as i32));
        let mut on_right: [i32; LANE_COLUMNS] = array::from_fn(|i| required[i].max(own[i]));
        if lane.at_edge {
            // Columns that are not valid have no part in it.
            for i in 0..LANE_COLUMNS {
                let (x, frame) = (lane.x + i as i32, lane.args.frame as i32);
                if x < frame || x >= lane.args.size.width as i32 - frame {
                    (on_left[i], on_right[i], required[i]) = (i32::MIN, i32::MIN, i32::MAX);
                }
            }
        }
        // Of the neighbours' columns, the nearest first.
        let (mut left, mut right) = ([0; 4], [0; 4]);
        let radius = lane.args.radius as usize;
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

    /// Adds corners to the list: those that reach what they must.
    #[inline(always)]
    fn append_corners(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        required: [i32; LANE_COLUMNS],
        responses: [i32; LANE_COLUMNS],
        y: u32,
    ) {
        // Those that are left to add, as bits.
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

    /// Adds what of each lane is a corner, in a column of its own.
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
        // Without a mask the greatest response of all is a corner's.
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
