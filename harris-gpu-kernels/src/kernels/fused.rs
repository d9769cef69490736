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

/// Times that three rows are walked before warps hear from each other.
const PATIENCE: u32 = 8;

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
    pub(crate) capacity: u32,
}

macro_rules! variants {
    ($($name:ident [$blocks:literal]: $smoothing:literal, $gradient:ident, $window:literal, $measure:ident, $radius:literal;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<u8>,
            state: S::Buffer<u32>,
            keys: S::Buffer<u64>,
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
            capacity: u32,
        ) {
            let size = Size { width, height };
            let set = Settings { stride, size, pitch, first, last, rows, scale, parameter, frame, margin, threshold, value, capacity };
            walk::<S, $smoothing, { gradient::$gradient }, $window, { measures::$measure }, $radius>(s, image, state, keys, set);
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
    let mut lane = Lane::<S> {
        s,
        image,
        state,
        keys,
        set,
        start: s.block_row() as usize * set.stride as usize,
        own_state: s.block_row() as usize * state::WORDS,
        top: top as i32,
        bottom: bottom as i32,
        x,
        own,
        column,
        selector,
        // Also where it ends with the row: the last lane then finds its samples in the second of two words.
        mirrors: left < 0 || left + COLUMNS as i32 >= width,
        at_edge: left < set.frame as i32 || left + COLUMNS as i32 > width - set.frame as i32,
        floor: 0.0,
        bound: 0.0,
        greatest: NEVER,
        samples: [0; 3],
        ahead: 0,
        across: [[0; 3]; 4],
        differences: [[0; 2]; 2],
        sums: [[0; 2]; 2],
        products: [[[0; EACH as usize]; 3]; 6],
        maxima: [[NEVER; EACH as usize]; 4],
        pooled: [NEVER; EACH as usize],
        winners: [[NEVER; EACH as usize]; 4],
    };
    // The row of the corners is `reach` rows higher than the one that is loaded.
    let reach = (SMOOTHING + 1 + WINDOW + RADIUS) as i32;
    let mut row = top as i32 - reach;
    lane.ahead = lane.load(row);
    lane.next(row - 1);
    while row - reach < lane.bottom {
        lane.listen();
        let mut turn = 0;
        while turn < PATIENCE && row - reach < lane.bottom {
            // As many as most rings are long and one more: so many turns bring rows back to the registers they had.
            lane.step::<SMOOTHING, GRADIENT, WINDOW, MEASURE, RADIUS>(row);
            lane.step::<SMOOTHING, GRADIENT, WINDOW, MEASURE, RADIUS>(row + 1);
            lane.step::<SMOOTHING, GRADIENT, WINDOW, MEASURE, RADIUS>(row + 2);
            row += 3;
            turn += 1;
        }
        lane.tell();
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
    /// Whether its samples are to be picked by the selector.
    mirrors: bool,
    /// Whether a column of the strip lies outside or has no valid response.
    at_edge: bool,
    /// What a corner exceeds at least, as far as is known; and the same where the lane has corners of its own.
    floor: f32,
    bound: f32,
    /// The greatest response so far.
    greatest: f32,
    /// The samples around, in the row that is next, and its own of the row after it.
    samples: [u32; 3],
    ahead: u32,
    /// Rows smoothed across, in pairs.
    across: [[u32; 3]; 4],
    /// Of smoothed rows, in pairs: right minus left, and the weighted sum across.
    differences: [[u32; 2]; 2],
    sums: [[u32; 2]; 2],
    /// Window sums across.
    products: [[[i32; EACH as usize]; 3]; 6],
    /// Greatest responses across, and the greatest of as many rows of them as the radius.
    maxima: [[f32; EACH as usize]; 4],
    pooled: [f32; EACH as usize],
    /// Responses that are the greatest across and of the rows above.
    winners: [[f32; EACH as usize]; 4],
}

impl<S: Simt> Lane<S> {
    /// The lane's four samples of a row.
    #[inline(always)]
    fn load(&self, row: i32) -> u32 {
        let y = mirrored(row, self.set.size.height) as usize;
        let at = self.start + y * self.set.pitch as usize + self.column as usize;
        let word = self.s.load_four(self.image, at);
        if !self.mirrors {
            return word;
        }
        self.s.permute(word, self.s.load_four(self.image, at + 4), self.selector)
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
        let samples = self.next(row);
        let responses = self.respond::<SMOOTHING, GRADIENT, WINDOW, MEASURE>(samples, row);
        let of_responses = row - (SMOOTHING + 1 + WINDOW) as i32;
        // Rows before are not complete.
        if of_responses >= self.top {
            let pairs = [responses[0].max(responses[1]), responses[2].max(responses[3])];
            self.greatest = self.greatest.max(pairs[0].max(pairs[1]));
        }
        let corners = self.suppress::<RADIUS>(responses);
        let centre = of_responses - RADIUS as i32;
        if centre >= self.top && centre < self.bottom {
            let greatest = corners[0].max(corners[1]).max(corners[2].max(corners[3]));
            // Rare.
            if greatest > self.bound {
                self.emit(corners, centre as u32);
            }
        }
    }

    /// The samples around, in this row; those of the next row are asked of the neighbours, and of another of memory.
    #[inline(always)]
    fn next(&mut self, row: i32) -> [u32; 3] {
        let samples = self.samples;
        let own = self.ahead;
        self.samples = [self.s.shuffle_up(own, 1), own, self.s.shuffle_down(own, 1)];
        self.ahead = self.load(row + 2);
        samples
    }

    /// The responses of the row that lies the support's radius above the samples' row.
    #[inline(always)]
    fn respond<const SMOOTHING: usize, const GRADIENT: u32, const WINDOW: usize, const MEASURE: u32>(
        &mut self,
        samples: [u32; 3],
        row: i32,
    ) -> [f32; EACH as usize] {
        let smoothed = self.smooth::<SMOOTHING>(samples);
        let (gx, gy) = self.differentiate::<GRADIENT>(smoothed);
        let of_gradient = row - SMOOTHING as i32 - 1;
        let sums = self.sum::<WINDOW>(gx, gy, of_gradient);
        let of_response = of_gradient - WINDOW as i32;
        let (frame, size) = (self.set.frame as i32, self.set.size);
        let valid_row = of_response >= frame && of_response < size.height as i32 - frame;
        let mut responses = self.measure::<MEASURE>(sums);
        if self.at_edge || !valid_row {
            for i in 0..EACH as usize {
                let x = self.x + i as i32;
                if !(valid_row && x >= frame && x < size.width as i32 - frame) {
                    responses[i] = NEVER;
                }
            }
        }
        responses
    }

    /// Smoothed samples in pairs, from the one before the lane's own to the one after.
    #[inline(always)]
    fn smooth<const RADIUS: usize>(&mut self, samples: [u32; 3]) -> [u32; 3] {
        // The samples `i` and `i + 1` places from the lane's first.
        let pair = |i: i32| {
            let byte = (i + EACH as i32) as u32;
            let (word, first) = (byte as usize / 4, byte % 4);
            // Byte 4 is one of zeros.
            if first < 3 {
                return self.s.permute(samples[word], 0, 0x4040 | first | (first + 1) << 8);
            }
            self.s.permute(self.s.permute(samples[word], samples[word + 1], 0x43), 0, 0x4140)
        };
        let starts = [-1, 1, 3];
        if RADIUS == 0 {
            return starts.map(pair);
        }
        let across = starts.map(|i| {
            let beside = |d: i32| pair(i - d) + pair(i + d);
            if RADIUS == 1 { beside(1) + 2 * pair(i) } else { beside(2) + 4 * beside(1) + 6 * pair(i) }
        });
        let ring = &self.across;
        let smoothed = array::from_fn(|i| {
            if RADIUS == 1 {
                (across[i] + 2 * ring[0][i] + ring[1][i] + 0x0008_0008) >> 4 & 0x00FF_00FF
            } else {
                let sum = across[i] + 4 * (ring[0][i] + ring[2][i]) + 6 * ring[1][i] + ring[3][i];
                (sum + 0x0080_0080) >> 8 & 0x00FF_00FF
            }
        });
        push(&mut self.across, across);
        smoothed
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

    /// Sums of the products over the window whose lowest row is this one.
    #[inline(always)]
    fn sum<const RADIUS: usize>(
        &mut self,
        gx: [i32; EACH as usize],
        gy: [i32; EACH as usize],
        row: i32,
    ) -> [[i32; EACH as usize]; 3] {
        let (mut u, mut v) = ([0; SEEN], [0; SEEN]);
        for i in 0..EACH as usize {
            (u[FIRST + i], v[FIRST + i]) = (gx[i], gy[i]);
        }
        // Both gradients of a neighbour in one word: each fits in 16 bits.
        let pack = |i: usize| (gx[i] as u32 & 0xFFFF) | (gy[i] as u32) << 16;
        let unpack = |word: u32| (i32::from(word as i16), word as i32 >> 16);
        for i in 0..RADIUS {
            (u[FIRST - 1 - i], v[FIRST - 1 - i]) = unpack(self.s.shuffle_up(pack(EACH as usize - 1 - i), 1));
            (u[END + i], v[END + i]) = unpack(self.s.shuffle_down(pack(i), 1));
        }
        // Beside the image gx has changed its sign, above and below it gy: that changes the sign of their product alone,
        // where not both have.
        let outside = |i: i32, len: u32| i < 0 || i >= len as i32;
        let turned = outside(row, self.set.size.height);
        if self.at_edge || turned {
            for i in FIRST - RADIUS..END + RADIUS {
                let column = self.x + i as i32 - FIRST as i32;
                if outside(column, self.set.size.width) != turned {
                    u[i] = -u[i];
                }
            }
        }
        let across = [across::<RADIUS>(u, u), across::<RADIUS>(u, v), across::<RADIUS>(v, v)];
        let mut sums = across;
        for row in 0..2 * RADIUS {
            for product in 0..3 {
                for i in 0..EACH as usize {
                    sums[product][i] += self.products[row][product][i];
                }
            }
        }
        push(&mut self.products, across);
        sums
    }

    #[inline(always)]
    fn measure<const MEASURE: u32>(&self, sums: [[i32; EACH as usize]; 3]) -> [f32; EACH as usize] {
        let tensor = sums.map(|row| row.map(|sum| sum as f32 * self.set.scale));
        array::from_fn(|i| {
            measure(self.s, MEASURE, self.set.parameter, tensor[0][i], tensor[1][i], tensor[2][i])
        })
    }

    /// The responses of the row `RADIUS` above that are corners; others are [`NEVER`].
    #[inline(always)]
    fn suppress<const RADIUS: usize>(&mut self, responses: [f32; EACH as usize]) -> [f32; EACH as usize] {
        let (mut maxima, mut winners) = ([NEVER; EACH as usize], [NEVER; EACH as usize]);
        // A row without any response above the bound has no corner, and none that a corner could lose to.
        let greatest = responses[0].max(responses[1]).max(responses[2].max(responses[3]));
        if self.s.ballot(greatest > self.floor) != 0 {
            let mut row = [NEVER; SEEN];
            row[FIRST..END].copy_from_slice(&responses);
            for i in 0..RADIUS {
                let up = self.s.shuffle_up(responses[EACH as usize - 1 - i].to_bits(), 1);
                row[FIRST - 1 - i] = f32::from_bits(up);
                let down = self.s.shuffle_down(responses[i].to_bits(), 1);
                row[END + i] = f32::from_bits(down);
            }
            // The rows above are the last ones that were pooled: it can be told at once which responses exceed them.
            let above = self.pooled;
            for i in 0..EACH as usize {
                let at = FIRST + i;
                let (mut before, mut after) = (row[at - 1], row[at + 1]);
                for d in 2..=RADIUS {
                    before = before.max(row[at - d]);
                    after = after.max(row[at + d]);
                }
                maxima[i] = before.max(after).max(row[at]);
                if row[at] > before.max(above[i]) && row[at] >= after {
                    winners[i] = row[at];
                }
            }
        }
        let mut below = maxima;
        for row in 0..RADIUS - 1 {
            for i in 0..EACH as usize {
                below[i] = below[i].max(self.maxima[row][i]);
            }
        }
        let corners = array::from_fn(|i| {
            let winner = self.winners[RADIUS - 1][i];
            if winner >= below[i] { winner } else { NEVER }
        });
        push(&mut self.maxima, maxima);
        self.pooled = below;
        push(&mut self.winners, winners);
        corners
    }

    /// Learns the bound from what all warps told.
    #[inline(always)]
    fn listen(&mut self) {
        let set = self.set;
        self.floor = if set.threshold == threshold::ABSOLUTE {
            set.value
        } else {
            let greatest = self.s.load_shared_by_all(self.state, self.own_state + state::GREATEST);
            if greatest > ordered(0.0) { set.value * unordered(greatest) } else { 0.0 }
        };
        self.bound = if self.own { self.floor } else { f32::INFINITY };
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
        if self.s.lane() == 0
            && greatest > self.s.load_shared_by_all(self.state, self.own_state + state::GREATEST)
        {
            self.s.atomic_max(self.state, self.own_state + state::GREATEST, greatest);
        }
    }

    /// Adds corners to the list.
    #[inline(always)]
    fn emit(&self, corners: [f32; EACH as usize], y: u32) {
        let exceeds = |i: usize| u32::from(corners[i] > self.bound) << i;
        let mut open = exceeds(0) | exceeds(1) | exceeds(2) | exceeds(3);
        while open != 0 {
            // Picked by comparisons: an array that is indexed by a variable has no place in registers.
            let (i, response) = match open {
                open if open & 1 != 0 => (0, corners[0]),
                open if open & 2 != 0 => (1, corners[1]),
                open if open & 4 != 0 => (2, corners[2]),
                _ => (3, corners[3]),
            };
            open &= open - 1;
            let x = (self.x + i) as u32;
            if self.set.size.within(self.set.margin, x, y) {
                let place = self.s.atomic_add(self.state, self.own_state + state::FOUND, 1);
                if place < self.set.capacity {
                    let pixel = y * self.set.size.width + x;
                    let key = u64::from(!response.to_bits()) << 32 | u64::from(pixel);
                    let list = self.s.block_row() as usize * self.set.capacity as usize;
                    self.s.store(self.keys, list + place as usize, key);
                }
            }
        }
    }
}

/// Sums of products over `RADIUS` to each side of the lane's own.
#[inline(always)]
fn across<const RADIUS: usize>(u: [i32; SEEN], v: [i32; SEEN]) -> [i32; EACH as usize] {
    array::from_fn(|i| {
        let mut sum = u[FIRST + i] * v[FIRST + i];
        for d in 1..=RADIUS {
            sum += u[FIRST + i - d] * v[FIRST + i - d] + u[FIRST + i + d] * v[FIRST + i + d];
        }
        sum
    })
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
