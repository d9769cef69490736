//! Tiles: columns as wide as a vector, from samples to responses without leaving the registers.
//!
//! Lane i of a vector of samples is column i of its tile; a stage moves lanes to reach neighbours on the right, so that
//! the first column is always lane 0 and each stage has fewer lanes that mean something at the end. The next tile begins
//! where they end. Down the rows a tile keeps sums of the rows above, in steps of \[1 1\] for binomials, and the
//! gradients in the window. The sums of box windows run on, as those of the row kernels do ([`super::tensor`]); those of
//! binomial ones are taken anew for each row, from gradients times weights.
//!
//! Samples beyond the image are reflected, and gy turns its sign where one of the axes is outside: so the products are
//! extended (docs/arithmetic.md, section 1).

use std::ops::Range;

use harris_core::{Border, Gradient, HarrisConfig, Measure, Smoothing};

use super::quiet::Quiet;
use super::responses::{RING, Responses, Words};
use super::scratch::{SAMPLES, SampleRows};
use super::stages::{self, Stages};
use super::tensor::{Formula, Harris, Noble, ShiTomasi, add_products, greatest_lesser, scaled, weighted};
use crate::simd::{Simd, Work};

/// The greatest window radius of tiles.
pub(super) const MOST_TILED: usize = 3;

/// Columns of responses of a tile at least: a smaller one does not pay.
pub(super) const LEAST_TILE: usize = 16;

/// Columns of responses of a tile, where `V` has tiles for `config`.
pub(super) fn columns<V: Simd>(config: &HarrisConfig) -> Option<usize> {
    let (lanes, lost) = (2 * V::LANES, 2 * config.support_radius());
    let is_covered = matches!(config.border(), Border::Reflect101 | Border::Skip)
        && config.window().radius() <= MOST_TILED
        && lanes >= lost + LEAST_TILE;
    is_covered.then(|| lanes - lost)
}

/// Rows between one of samples that completes a row of responses and that row: the stages up to gradients wait for those before them, as do
/// the window's sums and the responses.
pub(super) const fn delay(smoothing: Smoothing, channels: usize) -> usize {
    stages::delay(is_deep(channels), smoothing) + 2
}

/// Channels of colours give the processor enough to work on at a time, and have no registers for more.
pub(super) const fn is_deep(channels: usize) -> bool {
    channels == 1
}

/// Vectors of 16-bit numbers that a tile keeps, and of 32-bit numbers.
pub(super) const fn kept(size: usize, channels: usize) -> [usize; 2] {
    [channels * (stages::KEPT + 2 + 2 * size), 6]
}

/// Computes the responses of a block of rows, and marks those above a threshold.
pub(super) struct Tiles<'a> {
    pub(super) smoothing: Smoothing,
    pub(super) gradient: Gradient,
    pub(super) measure: Measure,
    /// Radius of the window, and whether it is binomial, not a box.
    pub(super) radius: usize,
    pub(super) binomial: bool,
    pub(super) scale: f32,
    pub(super) threshold: f32,
    /// Which responses need not be computed.
    pub(super) quiet: Quiet,
    pub(super) channels: usize,
    /// Rows of samples, a multiple of the window's size.
    pub(super) rows: usize,
    /// The samples of gray images, for tiles that lie within it.
    pub(super) image: &'a [&'a [u8]; RING],
    /// The rows that follow.
    pub(super) ahead: &'a [&'a [u8]; RING],
    /// The column of the first tile's first sample, and the tiles that read from `image`.
    pub(super) first: isize,
    pub(super) inside: Range<usize>,
    /// From that column on: what stands for the samples of the others, a row for each channel.
    pub(super) extended: &'a SampleRows,
    /// What turns gy in each column, 1 or −1, from the first tile's first gradient on.
    pub(super) signs: &'a [i16; SAMPLES],
    /// Whether there is −1 in `signs`.
    pub(super) any_turned: bool,
    /// Of each row of samples as a bit, whether gy is turned in the row of gradients that is computed with it.
    pub(super) turned_rows: u64,
    /// What tiles keep from block to block.
    pub(super) kept: &'a mut [i16],
    pub(super) kept_sums: &'a mut [i32],
    /// Rows of samples that complete no row of responses.
    pub(super) without: usize,
    pub(super) responses: &'a mut Responses,
    /// The place of the first row in them.
    pub(super) slot: usize,
    /// The tiles, and their columns in all.
    pub(super) words: Words,
    pub(super) width: usize,
}

/// The kernel for windows of size `S` and `C` channels; `B` tells binomial windows from boxes. Each is compiled by itself: unoptimised,
/// a function that held them all would overflow a thread's stack.
struct Kernel<'a, const S: usize, const C: usize, const B: bool>(Tiles<'a>);

impl<const S: usize, const C: usize, const B: bool> Work for Kernel<'_, S, C, B> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        self.0.within::<V, S, C, B>(v);
    }
}

impl<'a> Tiles<'a> {
    pub(super) fn walk<V: Simd>(self, v: V) {
        match (self.binomial, self.channels) {
            (false, 1) => self.enter::<V, 1, false>(v),
            (false, _) => self.enter::<V, 3, false>(v),
            (true, 1) => self.enter::<V, 1, true>(v),
            (true, _) => self.enter::<V, 3, true>(v),
        }
    }

    fn enter<V: Simd, const C: usize, const B: bool>(self, v: V) {
        match self.radius {
            1 => v.enter(Kernel::<'a, 3, C, B>(self)),
            2 => v.enter(Kernel::<'a, 5, C, B>(self)),
            _ => v.enter(Kernel::<'a, 7, C, B>(self)),
        }
    }
}

/// A tile: which, its first column, whether it lies within the image, its columns as bits.
#[derive(Clone, Copy)]
struct Tile {
    number: usize,
    column: usize,
    inside: bool,
    /// Whether gy is turned in one of its columns.
    turned: bool,
    valid: u32,
    /// Its pairs of columns as bits.
    valid_pairs: u32,
}

/// What a tile keeps of the rows above.
struct State<V: Simd, const S: usize, const C: usize> {
    /// From samples to gradients.
    stages: [Stages<V>; C],
    /// gx and gy of the last row.
    gradients: [[V::I16; 2]; C],
    /// gx and gy of the rows in the window.
    window: [[[V::I16; 2]; S]; C],
    /// The window's sums of gx², gx·gy and gy², down the columns: of pairs of these, and of odd ones.
    pairs: [V::I32; 3],
    odds: [V::I32; 3],
}

impl Tiles<'_> {
    #[inline(always)]
    fn within<V: Simd, const S: usize, const C: usize, const B: bool>(mut self, v: V) {
        let [vectors, sums] = kept(S, C);
        let [vectors, sums] = [vectors * 2 * V::LANES, sums * V::LANES];
        for tile in 0..self.words.number {
            let [place, place_of_sums] = [tile * vectors, tile * sums];
            let mut state = State::<V, S, C>::load(
                v,
                &self.kept[place..][..vectors],
                &self.kept_sums[place_of_sums..][..sums],
            );
            let column = tile * self.words.step;
            let columns = self.words.step.min(self.width - column);
            let tile = Tile {
                number: tile,
                column,
                inside: C == 1 && self.inside.contains(&tile),
                turned: self.any_turned && self.signs[column..column + 2 * V::LANES].contains(&-1),
                valid: u32::MAX >> (32 - columns),
                valid_pairs: u32::MAX >> (32 - columns.div_ceil(2)),
            };
            if tile.inside && !tile.turned && self.turned_rows == 0 && self.without == 0 {
                self.rows::<V, S, C, B, true>(v, &mut state, tile);
            } else {
                self.rows::<V, S, C, B, false>(v, &mut state, tile);
            }
            state.store(v, &mut self.kept[place..][..vectors], &mut self.kept_sums[place_of_sums..][..sums]);
        }
    }

    /// Takes all rows of samples of a tile; `PLAIN` tells that it reads gray samples where they are, turns no gradient, and has a row of
    /// responses for each: without those questions the loop takes a twentieth less.
    #[inline(always)]
    fn rows<V: Simd, const S: usize, const C: usize, const B: bool, const PLAIN: bool>(
        &mut self,
        v: V,
        state: &mut State<V, S, C>,
        tile: Tile,
    ) {
        let (image, ahead) = (self.image, self.ahead);
        // Not by number: that would be a look-up and a question more for each row.
        let (image, ahead) = (image[..self.rows].as_chunks::<S>().0, ahead[..self.rows].as_chunks::<S>().0);
        let mut row = 0;
        for (samples, ahead) in image.iter().zip(ahead) {
            self.row::<V, S, C, B, PLAIN, 0>(v, state, (row, samples[0], ahead[0]), tile);
            self.row::<V, S, C, B, PLAIN, 1>(v, state, (row + 1, samples[1], ahead[1]), tile);
            self.row::<V, S, C, B, PLAIN, 2>(v, state, (row + 2, samples[2], ahead[2]), tile);
            if S > 3 {
                self.row::<V, S, C, B, PLAIN, 3>(v, state, (row + 3, samples[3], ahead[3]), tile);
                self.row::<V, S, C, B, PLAIN, 4>(v, state, (row + 4, samples[4], ahead[4]), tile);
            }
            if S > 5 {
                self.row::<V, S, C, B, PLAIN, 5>(v, state, (row + 5, samples[5], ahead[5]), tile);
                self.row::<V, S, C, B, PLAIN, 6>(v, state, (row + 6, samples[6], ahead[6]), tile);
            }
            row += S;
        }
    }

    /// Takes a row of samples, and computes a row of responses. `OLDEST` is the place in the window of the row that
    /// leaves it.
    ///
    /// Each stage works on what the one before it left in the last call, so that the processor has several chains of
    /// operations to work on at a time.
    #[inline(always)]
    fn row<V: Simd, const S: usize, const C: usize, const B: bool, const PLAIN: bool, const OLDEST: usize>(
        &mut self,
        v: V,
        state: &mut State<V, S, C>,
        (row, samples, ahead): (usize, &[u8], &[u8]),
        tile: Tile,
    ) {
        if PLAIN || row >= self.without {
            let row = if PLAIN { row } else { row - self.without };
            self.respond::<V, S, C, B>(v, state, row, tile);
        }
        let turned_row = !PLAIN && self.turned_rows >> row & 1 == 1;
        if B {
            (state.pairs, state.odds) = ([v.splat_i32(0); 3], [v.splat_i32(0); 3]);
        }
        self.channel::<V, S, C, B, PLAIN, OLDEST, 0>(v, state, (row, turned_row, samples, ahead), tile);
        if C == 3 {
            self.channel::<V, S, C, B, PLAIN, OLDEST, 1>(v, state, (row, turned_row, samples, ahead), tile);
            self.channel::<V, S, C, B, PLAIN, OLDEST, 2>(v, state, (row, turned_row, samples, ahead), tile);
        }
    }

    /// Takes a channel of a row of samples; `CHANNEL` is constant so that what is kept of it has a place of its own.
    #[inline(always)]
    fn channel<
        V: Simd,
        const S: usize,
        const C: usize,
        const B: bool,
        const PLAIN: bool,
        const OLDEST: usize,
        const CHANNEL: usize,
    >(
        &mut self,
        v: V,
        state: &mut State<V, S, C>,
        (row, turned_row, samples, ahead): (usize, bool, &[u8], &[u8]),
        tile: Tile,
    ) {
        let c = CHANNEL;
        if B {
            state.window[c][OLDEST] = state.gradients[c];
            state.add_weighted(v, c, OLDEST);
        } else {
            state.slide(v, c, OLDEST);
        }

        let samples = if PLAIN || tile.inside {
            let column = (self.first + tile.column as isize) as usize;
            v.prefetch(ahead, column);
            v.load_u8(samples, column)
        } else {
            v.load_u8(self.extended.row(row * C + c), tile.column)
        };
        let [x, mut y] = state.stages[c].take(v, is_deep(C), (self.smoothing, self.gradient), samples);
        if !PLAIN && (tile.turned || turned_row) {
            y = v.mul_i16(y, v.load_i16(self.signs, tile.column));
            if turned_row {
                y = v.sub_i16(v.splat_i16(0), y);
            }
        }
        state.gradients[c] = [x, y];
    }

    /// Computes responses from the window's sums, unless all are quiet.
    #[inline(always)]
    fn respond<V: Simd, const S: usize, const C: usize, const B: bool>(
        &mut self,
        v: V,
        state: &State<V, S, C>,
        row: usize,
        tile: Tile,
    ) {
        let pairs = v.add_i32(state.pairs[0], state.pairs[2]);
        let quiet = v.splat_i32(self.quiet.trace.cast_signed());
        let loud = if B {
            let [even, odd] = binomial_across::<V, S>(v, pairs, v.add_i32(state.odds[0], state.odds[2]));
            v.at_least_u32(even, quiet) | v.at_least_u32(odd, quiet)
        } else {
            v.at_least_u32(wholes::<V, S>(v, pairs), quiet)
        };
        if loud & tile.valid_pairs == 0 {
            return self.leave(v, row, tile);
        }
        match self.measure {
            Measure::Harris { k } => {
                self.by::<V, _, S, C, B>(v, &Harris { k: v.splat_f32(k) }, state, row, tile);
            }
            Measure::ShiTomasi => {
                self.by::<V, _, S, C, B>(v, &ShiTomasi { half: v.splat_f32(0.5) }, state, row, tile);
            }
            Measure::Noble { eps } => {
                let formula = Noble { two: v.splat_f32(2.0), eps: v.splat_f32(eps) };
                self.by::<V, _, S, C, B>(v, &formula, state, row, tile);
            }
        }
    }

    #[inline(always)]
    fn by<V: Simd, F: Formula<V>, const S: usize, const C: usize, const B: bool>(
        &mut self,
        v: V,
        formula: &F,
        state: &State<V, S, C>,
        row: usize,
        tile: Tile,
    ) {
        let (scale, limit) = (v.splat_f32(self.scale), v.splat_f32(self.threshold));
        let a = across::<V, S, B>(v, state.pairs[0], state.odds[0]);
        let c = across::<V, S, B>(v, state.pairs[2], state.odds[2]);
        let quiet = v.splat_i32(self.quiet.lesser);
        if v.greater_i32(greatest_lesser(v, a, c), quiet) & tile.valid_pairs == 0 {
            return self.leave(v, row, tile);
        }
        let b = across::<V, S, B>(v, state.pairs[1], state.odds[1]);
        let [a, b, c] = [scaled(v, a, scale), scaled(v, b, scale), scaled(v, c, scale)];
        let [even, odd] = [formula.response(v, a[0], b[0], c[0]), formula.response(v, a[1], b[1], c[1])];
        let [low, high] = v.interleave(even, odd);
        let above = v.greater(low, limit) | v.greater(high, limit) << V::LANES;
        let slot = (self.slot + row) % RING;
        self.responses.put(v, slot, self.words.start + tile.column, [low, high]);
        self.responses.mark(slot, tile.number, above & tile.valid);
    }

    /// Leaves responses that do not exceed the threshold as nothing.
    #[inline(always)]
    fn leave<V: Simd>(&mut self, v: V, row: usize, tile: Tile) {
        self.responses.leave(v, (self.slot + row) % RING, self.words.start + tile.column);
    }
}

/// The sums over S columns from the even and from the odd ones on; binomial ones where `B`.
#[inline(always)]
fn across<V: Simd, const S: usize, const B: bool>(v: V, pairs: V::I32, odds: V::I32) -> [V::I32; 2] {
    if B { binomial_across::<V, S>(v, pairs, odds) } else { box_across::<V, S>(v, pairs, odds) }
}

#[inline(always)]
fn box_across<V: Simd, const S: usize>(v: V, pairs: V::I32, odds: V::I32) -> [V::I32; 2] {
    // Whole pairs after the first, and the odd column of the last of them.
    let (mut pair, mut odd) = (v.next_i32(pairs), v.next_i32(odds));
    let mut whole = pair;
    for _ in 1..S / 2 {
        pair = v.next_i32(pair);
        odd = v.next_i32(odd);
        whole = v.add_i32(whole, pair);
    }
    [v.sub_i32(v.add_i32(pairs, whole), odd), v.add_i32(whole, odds)]
}

// Scharr's gradient is the greatest: S + 1 columns of S rows of its squares in gray images, and in those of colours where 32 bits hold
// the window's sums, which they do not for S = 7 (binomial windows' traces are twice what fits in 31 bits at most).
const GREATEST: u64 = (16 * 255) * (16 * 255);
const _: () = assert!(2 * GREATEST * 7 * 8 <= u32::MAX as u64);
const _: () = assert!(2 * GREATEST * 5 * 6 * 3 <= u32::MAX as u64);
const _: () = assert!(GREATEST * 7 * 7 * 3 > i32::MAX as u64);

/// The sums over the pairs of columns that hold the S columns from the even and from the odd ones on. Unsigned, sums of gx² and gy²
/// fit in 32 bits.
#[inline(always)]
fn wholes<V: Simd, const S: usize>(v: V, pairs: V::I32) -> V::I32 {
    let (mut pair, mut whole) = (pairs, pairs);
    for _ in 0..S / 2 {
        pair = v.next_i32(pair);
        whole = v.add_i32(whole, pair);
    }
    whole
}

#[inline(always)]
fn binomial_across<V: Simd, const S: usize>(v: V, pairs: V::I32, odds: V::I32) -> [V::I32; 2] {
    let (mut even, mut odd) = (v.sub_i32(pairs, odds), odds);
    // [1 1] across, once for each column after the first.
    for _ in 1..S {
        (even, odd) = (v.add_i32(even, odd), v.add_i32(odd, v.next_i32(even)));
    }
    [even, odd]
}

impl<V: Simd, const S: usize, const C: usize> State<V, S, C> {
    /// Adds the products of the last row of gradients to the window's sums, and takes off those of the row that leaves it for it.
    #[inline(always)]
    fn slide(&mut self, v: V, c: usize, oldest: usize) {
        let [x, y] = self.gradients[c];
        let [u, w] = self.window[c][oldest];
        self.window[c][oldest] = [x, y];
        // As the row kernels: x² − u² = (x − u)·(x + u), and x·y − u·w = x·(y − w) + (x − u)·w.
        let [dx, dy] = [v.sub_i16(x, u), v.sub_i16(y, w)];
        let [sx, sy] = [v.add_i16(x, u), v.add_i16(y, w)];
        let [ox, oy] = [v.odd_lanes(dx), v.odd_lanes(dy)];
        let (pairs, odds) = (&mut self.pairs, &mut self.odds);
        pairs[0] = v.dot_add(pairs[0], dx, sx);
        pairs[1] = v.dot_add(v.dot_add(pairs[1], x, dy), dx, w);
        pairs[2] = v.dot_add(pairs[2], dy, sy);
        odds[0] = v.dot_add(odds[0], ox, sx);
        odds[1] = v.dot_add(v.dot_add(odds[1], x, oy), ox, w);
        odds[2] = v.dot_add(odds[2], oy, sy);
    }

    /// Adds the products of all rows in the window times their binomial weights; `newest` is the place of the last.
    #[inline(always)]
    fn add_weighted(&mut self, v: V, c: usize, newest: usize) {
        let (pairs, odds) = (&mut self.pairs, &mut self.odds);
        for age in 0..S {
            let [x, y] = self.window[c][(newest + S - age) % S];
            let weighted = [weighted::<V, S>(v, x, age), weighted::<V, S>(v, y, age)];
            add_products(v, [x, y], weighted, pairs, odds);
        }
    }

    #[inline(always)]
    fn load(v: V, kept: &[i16], kept_sums: &[i32]) -> Self {
        let (zero, zero_sum) = (v.splat_i16(0), v.load_i32(kept_sums, 0));
        let mut state = Self {
            stages: [Stages::new(v); C],
            gradients: [[zero; 2]; C],
            window: [[[zero; 2]; S]; C],
            pairs: [zero_sum; 3],
            odds: [zero_sum; 3],
        };
        let mut place = 0;
        for c in 0..C {
            load(v, state.stages[c].vectors(), kept, &mut place);
            load(v, &mut state.gradients[c], kept, &mut place);
            for gradient in &mut state.window[c] {
                load(v, gradient, kept, &mut place);
            }
        }
        for (i, (pair, odd)) in state.pairs.iter_mut().zip(&mut state.odds).enumerate() {
            *pair = v.load_i32(kept_sums, 2 * i * V::LANES);
            *odd = v.load_i32(kept_sums, (2 * i + 1) * V::LANES);
        }
        state
    }

    #[inline(always)]
    fn store(&mut self, v: V, kept: &mut [i16], kept_sums: &mut [i32]) {
        let mut place = 0;
        for c in 0..C {
            store(v, self.stages[c].vectors(), kept, &mut place);
            store(v, &mut self.gradients[c], kept, &mut place);
            for gradient in &mut self.window[c] {
                store(v, gradient, kept, &mut place);
            }
        }
        for (i, (pair, odd)) in self.pairs.iter().zip(&self.odds).enumerate() {
            v.store_i32(kept_sums, 2 * i * V::LANES, *pair);
            v.store_i32(kept_sums, (2 * i + 1) * V::LANES, *odd);
        }
    }
}

#[inline(always)]
fn load<'v, V: Simd>(v: V, vectors: impl IntoIterator<Item = &'v mut V::I16>, kept: &[i16], place: &mut usize)
where
    V::I16: 'v,
{
    for vector in vectors {
        *vector = v.load_i16(kept, *place);
        *place += 2 * V::LANES;
    }
}

#[inline(always)]
fn store<'v, V: Simd>(
    v: V,
    vectors: impl IntoIterator<Item = &'v mut V::I16>,
    kept: &mut [i16],
    place: &mut usize,
) where
    V::I16: 'v,
{
    for vector in vectors {
        v.store_i16(kept, *place, *vector);
        *place += 2 * V::LANES;
    }
}
