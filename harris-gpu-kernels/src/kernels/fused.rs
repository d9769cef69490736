//! From 8-bit samples to corners in one walk.
//!
//! A warp walks down a strip of [`COLUMNS`] columns, four a lane, of which those in the middle are its own; the strips of
//! neighbours overlap. With each row come a row of smoothed samples, of gradients, of window sums, of responses, each a
//! little higher up than the one before; what later rows need of them stays in registers. Neighbours along a row come by
//! shuffles. Samples and gradients are computed two at a time, in the halves of a word.
//!
//! Outside the image the samples are mirrored, and so are all that follow, but for gx beside it and gy above and below:
//! these change their sign, so the walk turns them back.

use core::array;

use super::geometry::Size;
use super::number::{ordered, unordered};
use super::order::below;
use super::response::measure;
use crate::Simt;
use crate::abi::fused::{COLUMNS, EACH, OWN, SIDE};
use crate::abi::{gradient, measure as measures, state, threshold};

/// Samples that a lane sees of a row: its own and as many to each side.
const SEEN: usize = 3 * EACH as usize;
/// The first of its own.
const FIRST: usize = EACH as usize;
/// The first that is not.
const END: usize = 2 * EACH as usize;

/// Times that three rows are walked before warps hear from each other: at first, and at most.
const HASTE: u32 = 2;
const PATIENCE: u32 = 8;

/// What no trace reaches, and fits in 31 bits.
const MOST_TRACE: f32 = 1_073_741_824.0;

/// What every response exceeds.
const NEVER: f32 = f32::NEG_INFINITY;

/// The numbers of a walk.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// Bytes from image to image.
    pub(crate) stride: u64,
    pub(crate) size: Size,
    pub(crate) pitch: u32,
    /// The rows whose corners are sought.
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// Rows of a strip that one warp walks.
    pub(crate) rows: u32,
    pub(crate) scale: f32,
    pub(crate) parameter: f32,
    pub(crate) frame: u32,
    pub(crate) margin: u32,
    pub(crate) threshold: u32,
    pub(crate) value: f32,
    /// From what a response exceeds to what the trace of its sums reaches at least: a factor of the former, or, for Harris's
    /// measure, of its root.
    pub(crate) reach: f32,
    /// Number of the first piece, pieces of an image, and candidates that one has room for.
    pub(crate) piece: u32,
    pub(crate) pieces: u32,
    pub(crate) room: u32,
}

macro_rules! variants {
    ($($name:ident [$blocks:literal]: $smoothing:literal, $gradient:ident, $window:literal, $measure:ident, $radius:literal;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<u8>,
            state: S::Buffer<u32>,
            keys: S::Buffer<u64>,
            counts: S::Buffer<u32>,
            stride: u64,
            width: u32,
            height: u32,
            pitch: u32,
            first: u32,
            last: u32,
            rows: u32,
            scale: f32,
            parameter: f32,
            frame: u32,
            margin: u32,
            threshold: u32,
            value: f32,
            reach: f32,
            piece: u32,
            pieces: u32,
            room: u32,
        ) {
            let size = Size { width, height };
            let set = Settings { stride, size, pitch, first, last, rows, scale, parameter, frame, margin, threshold, value, reach, piece, pieces, room };
            walk::<S, $smoothing, { gradient::$gradient }, $window, { measures::$measure }, $radius>(s, image, state, keys, counts, set);
        }
    )*};
}

crate::for_each_fused!(variants);

/// Collects corners that exceed the threshold as far as it is known, and the greatest response.
///
/// `SMOOTHING` is the radius of the binomial, `WINDOW` that of the box, `RADIUS` that of suppression, at least 1;
/// `GRADIENT` and `MEASURE` are the ABI's.
#[inline(always)]
pub(crate) fn walk<
    S: Simt,
    const SMOOTHING: usize,
    const GRADIENT: u32,
    const WINDOW: usize,
    const MEASURE: u32,
    const RADIUS: usize,
>(
    s: S,
    image: S::Buffer<u8>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    set: Settings,
) {
    let strips = set.size.width.div_ceil(OWN);
    // Blocks are single warps: what is the same for all lanes then follows from the block's number, and is computed once.
    let (strip, top) = (s.block() % strips, set.first + s.block() / strips * set.rows);
    let bottom = if set.last - top < set.rows { set.last } else { top + set.rows };
    let left = (strip * OWN) as i32 - SIDE as i32;
    let x = left + (EACH * s.lane()) as i32;
    let width = set.size.width as i32;
    let own = s.lane() >= SIDE / EACH && s.lane() < (COLUMNS - SIDE) / EACH;
    let (column, selector) = columns(x, set.size.width, set.pitch);
    let piece = s.block_row() as usize * set.pieces as usize + (set.piece + s.block()) as usize;
    let mut lane = Lane::<S> {
        s,
        image,
        state,
        keys,
        set,
        start: s.block_row() as usize * set.stride as usize,
        own_state: s.block_row() as usize * state::WORDS,
        list: piece * set.room as usize,
        found: 0,
        heard: 0,
        told: 0,
        top: top as i32,
        bottom: bottom as i32,
        x,
        own,
        column,
        selector,
        at_edge: left < set.frame as i32 || left + COLUMNS as i32 > width - set.frame as i32,
        bound: 0.0,
        least: 0,
        strong: 0,
        greatest: NEVER,
        ahead: [[0; 2]; 2],
        rows: [[0; 2]; 4],
        around: [0; 6],
        differences: [[0; 2]; 2],
        sums: [[0; 2]; 2],
        products: [[[0; EACH as usize]; 3]; 6],
        responses: [[NEVER; EACH as usize]; 4],
        pooled: [[NEVER; EACH as usize]; 5],
    };
    // The row of the corners is `reach` rows higher than the one that is loaded.
    let reach = (SMOOTHING + 1 + WINDOW + RADIUS) as i32;
    let mut row = top as i32 - reach;
    lane.heard = s.load_shared_by_all(state, lane.own_state + state::GREATEST);
    lane.ahead = [lane.load(row + 1), lane.load(row)];
    lane.next::<SMOOTHING>(row - 1);
    let mut patience = HASTE;
    while row - reach < lane.bottom {
        lane.listen::<MEASURE>();
        let mut turn = 0;
        while turn < patience && row - reach < lane.bottom {
            // As many as most rings are long and one more: so many turns bring rows back to the registers they had.
            lane.step::<SMOOTHING, GRADIENT, WINDOW, MEASURE, RADIUS>(row);
            lane.step::<SMOOTHING, GRADIENT, WINDOW, MEASURE, RADIUS>(row + 1);
            lane.step::<SMOOTHING, GRADIENT, WINDOW, MEASURE, RADIUS>(row + 2);
            row += 3;
            turn += 1;
        }
        lane.tell();
        patience = (2 * patience).min(PATIENCE);
    }
    if s.lane() == 0 {
        s.store(counts, piece, lane.found);
    }
}

/// Where a lane whose first column is `x` finds its four samples in a row: in the two words from a byte on, picked by a
/// selector. Outside the image they are mirrored; so far outside that no corner depends on them they are any.
#[inline(always)]
fn columns(x: i32, width: u32, pitch: u32) -> (u32, u32) {
    let columns: [u32; EACH as usize] = array::from_fn(|i| mirrored(x + i as i32, width));
    let least = columns[0].min(columns[1]).min(columns[2]).min(columns[3]);
    // The row is at least two words long.
    let start = (least & !3).min(pitch - 8);
    let digit = |i: usize| (columns[i] - start).min(7) << (4 * i);
    (start, digit(0) | digit(1) | digit(2) | digit(3))
}

/// A lane's part of the walk. Rings have the latest row first.
struct Lane<S: Simt> {
    s: S,
    image: S::Buffer<u8>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    set: Settings,
    /// Where its image starts, and its image's state.
    start: usize,
    own_state: usize,
    /// Where the piece's candidates start, and how many there are.
    list: usize,
    found: u32,
    /// The greatest response that any warp told of, as the state has it.
    heard: u32,
    /// The greatest that this one told of.
    told: u32,
    /// Its rows.
    top: i32,
    bottom: i32,
    /// Column of its first sample.
    x: i32,
    /// Whether it finds corners, or only helps neighbours to.
    own: bool,
    /// Where its samples are in a row: see [`columns`].
    column: u32,
    selector: u32,
    /// Whether a column of the strip lies outside or has no valid response.
    at_edge: bool,
    /// What a corner exceeds at least, as far as is known, where the lane has corners of its own; what the trace of the sums around
    /// it then reaches.
    bound: f32,
    least: i32,
    /// Which of the last rows have such a trace, the latest first.
    strong: u32,
    /// The greatest response so far.
    greatest: f32,
    /// The words of its samples of the two rows after the next, the farther first.
    ahead: [[u32; 2]; 2],
    /// Rows of its own samples, in pairs.
    rows: [[u32; 2]; 4],
    /// Smoothed down, in pairs: its own in the middle, two of each neighbour around them.
    around: [u32; 6],
    /// Of smoothed rows, in pairs: right minus left, and the weighted sum across.
    differences: [[u32; 2]; 2],
    sums: [[u32; 2]; 2],
    /// Products of gradients.
    products: [[[i32; EACH as usize]; 3]; 6],
    /// Responses, and the greatest of as many rows of them as the radius.
    responses: [[f32; EACH as usize]; 4],
    pooled: [[f32; EACH as usize]; 5],
}

impl<S: Simt> Lane<S> {
    /// The two words of a row that have the lane's four samples.
    #[inline(always)]
    fn load(&self, row: i32) -> [u32; 2] {
        let y = mirrored(row, self.set.size.height) as usize;
        let at = self.start + y * self.set.pitch as usize + self.column as usize;
        [self.s.load_four(self.image, at), self.s.load_four(self.image, at + 4)]
    }

    /// One row down.
    #[inline(always)]
    fn step<
        const SMOOTHING: usize,
        const GRADIENT: u32,
        const WINDOW: usize,
        const MEASURE: u32,
        const RADIUS: usize,
    >(
        &mut self,
        row: i32,
    ) {
        let around = self.around;
        self.next::<SMOOTHING>(row);
        let smoothed = self.smooth::<SMOOTHING>(around);
        let (gx, gy) = self.differentiate::<GRADIENT>(smoothed);
        let of_gradient = row - SMOOTHING as i32 - 1;
        let [xx, xy, yy] = self.sum::<WINDOW>(gx, gy, of_gradient);
        let (xx, yy) = (self.across::<WINDOW>(xx), self.across::<WINDOW>(yy));
        let trace = |i: usize| xx[i] + yy[i];
        let greatest = trace(0).max(trace(1)).max(trace(2).max(trace(3)));
        // No response is greater than the trace allows: a row without any that exceeds the bound has no corner, and none that a
        // corner could lose to.
        let of_response = of_gradient - WINDOW as i32;
        let (frame, height) = (self.set.frame as i32, self.set.size.height as i32);
        let valid = of_response >= frame && of_response < height - frame;
        let strong = self.s.ballot(greatest >= self.least) != 0 && valid;
        let mut responses = [NEVER; EACH as usize];
        if strong {
            let xy = self.across::<WINDOW>(self.turn(xy));
            responses = self.measure::<MEASURE>([xx, xy, yy]);
        }
        self.strong = self.strong << 1 | u32::from(strong);
        self.suppress::<RADIUS>(responses, of_gradient - (WINDOW + RADIUS) as i32);
    }

    /// Smooths down what the next row brings, and asks the neighbours for theirs, and memory for another row.
    #[inline(always)]
    fn next<const RADIUS: usize>(&mut self, row: i32) {
        let [first, second] = self.ahead[1];
        let samples = self.s.permute(first, second, self.selector);
        self.ahead = [self.load(row + 3), self.ahead[0]];
        // Byte 4 is one of zeros.
        let pairs = [0x4140, 0x4342].map(|selector| self.s.permute(samples, 0, selector));
        let ring = &self.rows;
        let down = array::from_fn(|i| match RADIUS {
            0 => pairs[i],
            1 => pairs[i] + 2 * ring[0][i] + ring[1][i],
            _ => pairs[i] + 4 * (ring[0][i] + ring[2][i]) + 6 * ring[1][i] + ring[3][i],
        });
        push(&mut self.rows, pairs);
        let [first, second]: [u32; 2] = down;
        let before = [self.s.shuffle_up(first, 1), self.s.shuffle_up(second, 1)];
        let after = [self.s.shuffle_down(first, 1), self.s.shuffle_down(second, 1)];
        self.around = [before[0], before[1], first, second, after[0], after[1]];
    }

    /// Beside the image gx has changed its sign, and with it the product of both.
    #[inline(always)]
    fn turn(&self, mut xy: [i32; EACH as usize]) -> [i32; EACH as usize] {
        if self.at_edge {
            for i in 0..EACH as usize {
                let x = self.x + i as i32;
                if x < 0 || x >= self.set.size.width as i32 {
                    xy[i] = -xy[i];
                }
            }
        }
        xy
    }

    /// Smoothed samples in pairs, from the one before the lane's own to the one after.
    #[inline(always)]
    fn smooth<const RADIUS: usize>(&self, around: [u32; 6]) -> [u32; 3] {
        // The second of a pair and the first of the one after it.
        let between = |i: usize| self.s.permute(around[i], around[i + 1], 0x5432);
        array::from_fn(|i| match RADIUS {
            0 => between(i + 1),
            1 => {
                let sum = around[i + 1] + around[i + 2] + 2 * between(i + 1);
                (sum + 0x0008_0008) >> 4 & 0x00FF_00FF
            }
            _ => {
                let near = around[i + 1] + around[i + 2];
                let sum = between(i) + between(i + 2) + 4 * near + 6 * between(i + 1);
                (sum + 0x0080_0080) >> 8 & 0x00FF_00FF
            }
        })
    }

    /// gx and gy of the row before.
    #[inline(always)]
    fn differentiate<const KIND: u32>(
        &mut self,
        p: [u32; 3],
    ) -> ([i32; EACH as usize], [i32; EACH as usize]) {
        let (outer, centre) = match KIND {
            gradient::SOBEL => (1, 2),
            gradient::SCHARR => (3, 10),
            _ => (0, 1),
        };
        let differences = array::from_fn(|i| p[i + 1].wrapping_sub(p[i]));
        let sums = array::from_fn(|i| {
            let between = self.s.permute(p[i], p[i + 1], 0x5432);
            outer * (p[i] + p[i + 1]) + centre * between
        });
        let gx: [u32; 2] = array::from_fn(|i| {
            let outside = differences[i].wrapping_add(self.differences[1][i]);
            let inside: u32 = self.differences[0][i];
            outside.wrapping_mul(outer).wrapping_add(inside.wrapping_mul(centre))
        });
        let gy: [u32; 2] = array::from_fn(|i| sums[i].wrapping_sub(self.sums[1][i]));
        push(&mut self.differences, differences);
        push(&mut self.sums, sums);
        (split(gx), split(gy))
    }

    /// Sums down of the products over the window whose lowest row is this one.
    #[inline(always)]
    fn sum<const RADIUS: usize>(
        &mut self,
        gx: [i32; EACH as usize],
        gy: [i32; EACH as usize],
        row: i32,
    ) -> [[i32; EACH as usize]; 3] {
        // Above and below the image gy has changed its sign: that changes the sign of the product of both alone.
        let mut gy = gy;
        if row < 0 || row >= self.set.size.height as i32 {
            gy = gy.map(|gy| -gy);
        }
        let products = [
            array::from_fn(|i| gx[i] * gx[i]),
            array::from_fn(|i| gx[i] * gy[i]),
            array::from_fn(|i| gy[i] * gy[i]),
        ];
        let mut down = products;
        for row in 0..2 * RADIUS {
            for product in 0..3 {
                for i in 0..EACH as usize {
                    down[product][i] += self.products[row][product][i];
                }
            }
        }
        push(&mut self.products, products);
        down
    }

    /// Sums across, of what the lanes have of a row.
    #[inline(always)]
    fn across<const RADIUS: usize>(&self, own: [i32; EACH as usize]) -> [i32; EACH as usize] {
        let mut seen = [0; SEEN];
        seen[FIRST..END].copy_from_slice(&own);
        for i in 0..RADIUS {
            seen[FIRST - 1 - i] = self.s.shuffle_up(own[EACH as usize - 1 - i] as u32, 1) as i32;
            seen[END + i] = self.s.shuffle_down(own[i] as u32, 1) as i32;
        }
        array::from_fn(|i| {
            let mut sum = seen[FIRST + i];
            for d in 1..=RADIUS {
                sum += seen[FIRST + i - d] + seen[FIRST + i + d];
            }
            sum
        })
    }

    #[inline(always)]
    fn measure<const MEASURE: u32>(&self, sums: [[i32; EACH as usize]; 3]) -> [f32; EACH as usize] {
        let tensor = sums.map(|row| row.map(|sum| sum as f32 * self.set.scale));
        array::from_fn(|i| {
            measure(self.s, MEASURE, self.set.parameter, tensor[0][i], tensor[1][i], tensor[2][i])
        })
    }

    /// Finds the corners of the row `centre`, `RADIUS` above that of the responses.
    #[inline(always)]
    fn suppress<const RADIUS: usize>(&mut self, responses: [f32; EACH as usize], centre: i32) {
        // The greatest of the rows below, of those above, and the row itself.
        let mut below = responses;
        for row in 0..RADIUS - 1 {
            for i in 0..EACH as usize {
                below[i] = below[i].max(self.responses[row][i]);
            }
        }
        let (own, above) = (self.responses[RADIUS - 1], self.pooled[RADIUS]);
        let some_strong = self.strong >> RADIUS & 1 != 0 && centre >= self.top && centre < self.bottom;
        // Most that exceed the bound lose to others of their columns.
        let wins: [bool; EACH as usize] =
            array::from_fn(|i| own[i] > self.bound.max(above[i]) && own[i] >= below[i]);
        if some_strong && self.s.ballot(wins[0] | wins[1] | wins[2] | wins[3]) != 0 {
            self.decide::<RADIUS>(wins, above, own, below, centre as u32);
        }
        push(&mut self.responses, responses);
        push(&mut self.pooled, below);
    }

    /// Adds those of a row to the list that win over their columns and over those beside.
    #[inline(always)]
    fn decide<const RADIUS: usize>(
        &mut self,
        wins: [bool; EACH as usize],
        above: [f32; EACH as usize],
        own: [f32; EACH as usize],
        below: [f32; EACH as usize],
        y: u32,
    ) {
        // What exceeds the bound is positive; positive numbers compare as their bits do, and all others have lesser ones. So what is
        // to be exceeded is one less than what is to be reached: those before a corner in the order of rows.
        let bits = |row: [f32; EACH as usize]| row.map(|response| response.to_bits() as i32);
        let (above, row, below) = (bits(above), bits(own), bits(below));
        // To be reached by those to the right of the column, and by those to the left.
        let mut on_left: [i32; EACH as usize] = array::from_fn(|i| (above[i].max(row[i]) + 1).max(below[i]));
        let mut on_right: [i32; EACH as usize] = array::from_fn(|i| (above[i] + 1).max(row[i].max(below[i])));
        let mut wins = wins;
        if self.at_edge {
            // Columns that are not valid have no part in it.
            for i in 0..EACH as usize {
                let (x, frame) = (self.x + i as i32, self.set.frame as i32);
                if x < frame || x >= self.set.size.width as i32 - frame {
                    (on_left[i], on_right[i], wins[i]) = (i32::MIN, i32::MIN, false);
                }
            }
        }
        let (mut left, mut right) = ([0; SEEN], [0; SEEN]);
        left[FIRST..END].copy_from_slice(&on_left);
        right[FIRST..END].copy_from_slice(&on_right);
        for i in 0..RADIUS {
            let last = EACH as usize - 1 - i;
            left[FIRST - 1 - i] = self.s.shuffle_up(on_left[last] as u32, 1) as i32;
            right[END + i] = self.s.shuffle_down(on_right[i] as u32, 1) as i32;
        }
        for i in 0..EACH as usize {
            let at = FIRST + i;
            let mut least = left[at - 1].max(right[at + 1]);
            for d in 2..=RADIUS {
                least = least.max(left[at - d].max(right[at + d]));
            }
            wins[i] &= row[i] >= least;
        }
        if self.s.ballot(wins[0] | wins[1] | wins[2] | wins[3]) != 0 {
            self.emit(wins, own, y);
        }
    }

    /// Learns the bound from what all warps told.
    #[inline(always)]
    fn listen<const MEASURE: u32>(&mut self) {
        let set = self.set;
        let floor = if set.threshold == threshold::ABSOLUTE {
            set.value
        } else {
            // What was asked for last time: it has come since.
            let heard = self.heard;
            self.heard = self.s.load_shared_by_all(self.state, self.own_state + state::GREATEST);
            if heard > ordered(0.0) { set.value * unordered(heard) } else { 0.0 }
        };
        self.bound = if self.own { floor } else { f32::INFINITY };
        let floor = floor.max(0.0);
        let root = if MEASURE == measures::HARRIS { self.s.sqrt(floor) } else { floor };
        // Sums are less than 2³⁰.
        self.least = (root * set.reach).min(MOST_TRACE) as i32;
    }

    /// Tells all warps of the greatest response of this one's own columns.
    #[inline(always)]
    fn tell(&mut self) {
        let mut greatest = if self.own { ordered(self.greatest) } else { 0 };
        let mut delta = 16;
        while delta > 0 {
            greatest = greatest.max(self.s.shuffle_xor(greatest, delta));
            delta /= 2;
        }
        // What was heard is some rows old: others may have told of more, which does no harm.
        if self.s.lane() == 0 && greatest > self.told {
            self.s.atomic_max(self.state, self.own_state + state::GREATEST, greatest);
        }
        self.told = self.told.max(greatest);
    }

    /// Adds corners to the list.
    #[inline(always)]
    fn emit(&mut self, corners: [bool; EACH as usize], responses: [f32; EACH as usize], y: u32) {
        let lanes = below(self.s.lane());
        // Of lanes beyond the edges any, which belongs to no corner.
        let first = (y * self.set.size.width).wrapping_add(self.x as u32);
        for i in 0..EACH as usize {
            // The greatest response of all is a corner's.
            self.greatest = if corners[i] { self.greatest.max(responses[i]) } else { self.greatest };
            let x = (self.x + i as i32) as u32;
            let one = corners[i] && self.set.size.within(self.set.margin, x, y);
            let all = self.s.ballot(one);
            let place = self.found + (all & lanes).count_ones();
            if one && place < self.set.room {
                let key = u64::from(!responses[i].to_bits()) << 32 | u64::from(first.wrapping_add(i as u32));
                self.s.store(self.keys, self.list + place as usize, key);
            }
            self.found += all.count_ones();
        }
    }
}

/// The numbers of pairs, each of which is the second times 2¹⁶ plus the first, both signed.
#[inline(always)]
fn split(pairs: [u32; 2]) -> [i32; EACH as usize] {
    let numbers = pairs.map(|pair| {
        let first = i32::from(pair as i16);
        [first, (pair as i32).wrapping_sub(first) >> 16]
    });
    [numbers[0][0], numbers[0][1], numbers[1][0], numbers[1][1]]
}

/// A new row at the head of a ring.
#[inline(always)]
fn push<T: Copy, const ROWS: usize>(ring: &mut [T; ROWS], row: T) {
    for i in (1..ROWS).rev() {
        ring[i] = ring[i - 1];
    }
    ring[0] = row;
}

/// Where row or column `i` of a mirrored line is read; somewhere inside where it is too far away to matter.
#[inline(always)]
fn mirrored(i: i32, len: u32) -> u32 {
    let last = len as i32 - 1;
    let i = i.abs();
    let i = if i > last { 2 * last - i } else { i };
    i.max(0) as u32
}
