//! From rows of responses to the candidates of a piece.

use core::array;

use super::lane::{EACH, Lane};
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
pub(super) struct Corners<S: Simt> {
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    /// Where warps tell of the image's greatest response.
    greatest_of_all: usize,
    /// Where the piece's candidates start, and how many there are.
    list: usize,
    pub(super) found: u32,
    /// The greatest response that any warp told of, as the state has it: what was asked for last, and before.
    heard: u32,
    known: u32,
    /// What a corner exceeds, as far as is known, which is 0 at least: the same where what comes before it is to be exceeded, and where it is to
    /// be reached, one more.
    bound: i32,
    /// The greatest response so far of its own corners.
    greatest: i32,
    /// Which of the last rows have responses that count, the latest first.
    strong: [bool; 3],
    /// Responses, and the greatest of as many rows of them as the radius.
    responses: [[i32; EACH]; 4],
    pooled: [[i32; EACH]; 5],
}

impl<S: Simt> Corners<S> {
    #[inline(always)]
    pub(super) fn new(lane: &Lane<S>, state: S::Buffer<u32>, keys: S::Buffer<u64>, list: usize) -> Self {
        let own_state = lane.s.block_row() as usize * state::WORDS;
        // There are never so many pieces. But compilers cannot know it, and so take the place for another in each lane: what is the same in
        // all of them they bring to a register of the warp, and wait for it at once.
        let greatest_of_all =
            own_state + state::GREATEST + (lane.s.lane() * (lane.set.pieces >> 31)) as usize;
        Self {
            state,
            keys,
            greatest_of_all,
            list,
            found: 0,
            heard: match lane.set.writes_responses() {
                true => 0,
                false => lane.s.load_shared_by_all(state, greatest_of_all),
            },
            known: 0,
            bound: 0,
            greatest: i32::MIN,
            // Before the first, none wins.
            strong: [true; 3],
            responses: [[i32::MIN; EACH]; 4],
            pooled: [[i32::MIN; EACH]; 5],
        }
    }

    /// Tells all warps of the greatest response of this one's own columns, and learns the bound from what all told before the last
    /// [`Corners::ask`], where any of it is news; returns what a corner's response exceeds, if so.
    #[inline(always)]
    pub(super) fn talk(&mut self, lane: &Lane<S>) -> Option<f32> {
        // As `ordered` has positive numbers, and lesser ones for all that are none.
        let is_news = self.heard > self.known || self.greatest > (self.known ^ 0x8000_0000) as i32;
        lane.s.any(is_news).then(|| {
            self.tell(lane);
            self.learn(lane)
        })
    }

    /// Asks what all warps told: the answer is waited for in [`Corners::talk`].
    #[inline(always)]
    pub(super) fn ask(&mut self, lane: &Lane<S>) {
        self.heard = lane.s.load_shared_by_all(self.state, self.greatest_of_all);
    }

    /// Learns the bound from what was heard; returns as [`Corners::talk`].
    #[inline(always)]
    pub(super) fn learn(&mut self, lane: &Lane<S>) -> f32 {
        let set = &lane.set;
        self.known = self.heard;
        // As `threshold::floor`, by which a kernel that has no register to spare spills for sm_120.
        let floor = if set.threshold == threshold::ABSOLUTE {
            set.value
        } else if self.known > ordered(0.0) {
            set.value * unordered(self.known)
        } else {
            0.0
        };
        let floor = floor.max(0.0);
        self.bound = (floor.to_bits() + plateau::FIRST - set.plateau) as i32;
        floor
    }

    /// Tells all warps of the greatest response of this one's own columns, where it is news as far as is known.
    #[inline(always)]
    pub(super) fn tell(&mut self, lane: &Lane<S>) {
        let s = lane.s;
        if !s.any(self.greatest > (self.known ^ 0x8000_0000) as i32) {
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
            s.atomic_max(self.state, self.greatest_of_all, greatest);
        }
    }

    /// Tells of the greatest of the responses of row `y` inside the mask, where the lane's bytes are as
    /// [`Front::columns`](super::Front::columns) has it.
    #[inline(always)]
    pub(super) fn see_inside(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        (column, selector): (u32, u32),
        y: u32,
        responses: [f32; EACH],
    ) {
        let (s, set) = (lane.s, &lane.set);
        let [first, second] = [column, column + 4].map(|column| mask.four(set.size.height, column, y));
        let bytes = s.permute(first, second, selector);
        for i in 0..EACH {
            let (x, frame) = (lane.x + i as i32, set.frame as i32);
            let is_valid = !lane.at_edge || x >= frame && x < set.size.width as i32 - frame;
            if bytes & 0xFF << (8 * i) != 0 && is_valid && lane.finds(i) {
                self.greatest = self.greatest.max(responses[i].to_bits() as i32);
            }
        }
    }

    /// Finds the corners of the row `centre`, the radius of suppression above that of the responses, which are `strong` where one of them may exceed
    /// the bound.
    #[inline(always)]
    pub(super) fn suppress<const MOST: usize>(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        strong: bool,
        responses: [f32; EACH],
        centre: i32,
    ) {
        let responses = responses.map(|response| response.to_bits() as i32);
        // The greatest of the rows below, of those above, and the row itself. What does not exceed the bound loses to it.
        let mut below = responses;
        let radius = lane.set.radius as usize;
        for row in 0..MOST - 1 {
            if row + 1 < radius {
                for i in 0..EACH {
                    below[i] = below[i].max(self.responses[row][i]);
                }
            }
        }
        for i in 0..EACH {
            below[i] = below[i].max(self.bound);
        }
        let (mut own, mut above) = (self.responses[0], self.pooled[1]);
        let mut is_strong = self.strong[0];
        for row in 1..MOST {
            if row + 1 == radius {
                (own, above) = (self.responses[row], self.pooled[row + 1]);
                // Rows farther up are not kept, as there are no registers for that: none wins that does not count.
                is_strong = if row < self.strong.len() { self.strong[row] } else { true };
            }
        }
        // To be reached: those before a corner in the order of rows are to be exceeded where one pixel of a plateau stays.
        let least: [i32; EACH] = array::from_fn(|i| (above[i] + lane.set.plateau as i32).max(below[i]));
        let wins = some(array::from_fn(|i| own[i] >= least[i]));
        // Most that exceed the bound lose to others of their columns.
        if is_strong && lane.s.any(wins) && lane.finds_in(centre) {
            self.decide::<MOST>(lane, mask, least, own, centre as u32);
        }
        push(&mut self.strong, strong);
        push(&mut self.responses, responses);
        push(&mut self.pooled, below);
    }

    /// Adds those of a row to the list that reach what they must over their columns, and over those beside.
    #[inline(always)]
    fn decide<const MOST: usize>(
        &mut self,
        lane: &Lane<S>,
        mask: Mask<S>,
        mut least: [i32; EACH],
        own: [i32; EACH],
        y: u32,
    ) {
        // To be reached by those to the right of the column, and by those to the left.
        let mut on_left: [i32; EACH] = array::from_fn(|i| least[i].max(own[i] + lane.set.plateau as i32));
        let mut on_right: [i32; EACH] = array::from_fn(|i| least[i].max(own[i]));
        if lane.at_edge {
            // Columns that are not valid have no part in it.
            for i in 0..EACH {
                let (x, frame) = (lane.x + i as i32, lane.set.frame as i32);
                if x < frame || x >= lane.set.size.width as i32 - frame {
                    (on_left[i], on_right[i], least[i]) = (i32::MIN, i32::MIN, i32::MAX);
                }
            }
        }
        // Of the neighbours' columns, the nearest first.
        let (mut left, mut right) = ([0; 4], [0; 4]);
        let radius = lane.set.radius as usize;
        for d in 0..MOST {
            if d < radius {
                left[d] = lane.s.shuffle_up(on_left[EACH - 1 - d] as u32, 1) as i32;
                right[d] = lane.s.shuffle_down(on_right[d] as u32, 1) as i32;
            }
        }
        let least: [i32; EACH] = array::from_fn(|i| {
            let mut least = least[i];
            for d in 1..=MOST {
                if d <= radius {
                    let before = if d <= i { on_left[i - d] } else { left[d - i - 1] };
                    let after = if i + d < EACH { on_right[i + d] } else { right[i + d - EACH] };
                    least = least.max(before).max(after);
                }
            }
            least
        });
        let some = some(array::from_fn(|i| own[i] >= least[i]));
        if lane.s.any(some) {
            self.emit(lane, mask, least, own, y);
        }
    }

    /// Adds corners to the list: those that reach what they must.
    #[inline(always)]
    fn emit(&mut self, lane: &Lane<S>, mask: Mask<S>, least: [i32; EACH], responses: [i32; EACH], y: u32) {
        // Those that are left to add, as bits.
        let mut left = 0;
        for i in 0..EACH {
            left |= u32::from(responses[i] >= least[i]) << i;
        }
        loop {
            let mut first = (EACH - 1, responses[EACH - 1]);
            for i in (0..EACH - 1).rev() {
                first = if left >> i & 1 == 1 { (i, responses[i]) } else { first };
            }
            self.add(lane, mask, left != 0, first, y);
            left &= left.wrapping_sub(1);
            if !lane.s.any(left != 0) {
                return;
            }
        }
    }

    /// Adds what of each lane is a corner, in a column of its own.
    #[inline(always)]
    fn add(&mut self, lane: &Lane<S>, mask: Mask<S>, is_one: bool, (i, response): (usize, i32), y: u32) {
        let (s, set) = (lane.s, &lane.set);
        let mut corner = is_one && lane.finds(i);
        if mask.exists() {
            let x = (lane.x as u32).wrapping_add(i as u32);
            corner = corner && mask.allows_in_stack(set.size.height, x, y);
        }
        // Without a mask the greatest response of all is a corner's.
        self.greatest = if corner { self.greatest.max(response) } else { self.greatest };
        let x = (lane.x as u32).wrapping_add(i as u32);
        let one = corner && set.size.within(set.margin, x, y);
        let all = s.ballot(one);
        let place = self.found + (all & lanes_below(s.lane())).count_ones();
        if one && place < set.room {
            let key = u64::from(!response as u32) << 32 | u64::from((y * set.size.width).wrapping_add(x));
            s.store(self.keys, self.list + place as usize, key);
        }
        self.found += all.count_ones();
    }
}

#[inline(always)]
fn some(votes: [bool; EACH]) -> bool {
    let mut some = false;
    for i in 0..EACH {
        some |= votes[i];
    }
    some
}
