//! Tiles of floats: as [`super::tiles`], of 16-bit and float samples, and of 8-bit ones with Gaussian windows or sums of more than 32 bits.

use std::fmt::Debug;
use std::marker::PhantomData;

use harris_core::pipeline::taps;
use harris_core::{Gradient, HarrisConfig, Measure, Smoothing, Window};

use super::by_tiles::{Edges, Part, Tiled};
use super::float_stages::{self, LANES, Real, Stages, Sums, Two, Whole, both};
use super::float_windows::Windows;
use super::responses::Responses;
use super::scratch::{Aligned, BLOCK, Rows, SAMPLES, Scratch};
use super::stages::{beyond, known};
use super::tiles::{self, MOST_TILED};
use super::walk::Walk;
use super::weighted::Weights;
use super::{FusedSample, has_exact_sums, has_three_taps};
use crate::simd::{Simd, Work};

/// gx and gy of a row of a tile.
pub(super) type Pair = Aligned<[f32; LANES], 2>;

/// The gradients of a block of a tile: rows of the window that the first one completes, and one for each row of samples.
pub(super) type Block = [Pair; 2 * MOST_TILED + BLOCK];

const NOTHING: Pair = Aligned([[0.0; LANES]; 2]);

/// What a tile keeps of a channel from block to block.
#[derive(Clone, Debug)]
struct Kept<K> {
    stages: float_stages::Kept<K>,
    /// The last rows of gradients, and in which of them something is heard.
    gradients: [Pair; 2 * MOST_TILED],
    loud: u64,
}

impl<K: Copy + Default> Kept<K> {
    fn none() -> Self {
        Self { stages: float_stages::Kept::none(), gradients: [NOTHING; 2 * MOST_TILED], loud: 0 }
    }
}

/// Tiles of float gradients.
pub(super) struct FloatTiles<T>(PhantomData<T>);

/// Their samples.
pub(super) trait Deep: FusedSample + Default {
    /// What they are summed in, and a number of that.
    type Sums<V: Simd>: Sums<V, Sample = Self, Kept = Self::Kept>;
    type Kept: Copy + Default + Debug;

    /// The memory of their tiles, and the rest.
    fn memory(scratch: &mut Scratch) -> (&mut Memory<Self>, Rest<'_>);
}

/// The memory of tiles of floats.
#[derive(Debug)]
pub(super) struct Memory<T: Deep> {
    copies: Rows<T, SAMPLES>,
    kept: Vec<Kept<T::Kept>>,
    /// Of each channel, the gradients of one tile at a time.
    gradients: Vec<Block>,
    /// Of a Gaussian window.
    taps: Vec<f32>,
    /// Samples of a row of nothing as wide as the image, where one is needed.
    nothing: Vec<T>,
}

impl<T: Deep> Default for Memory<T> {
    fn default() -> Self {
        Self {
            copies: Rows::default(),
            kept: Vec::new(),
            gradients: Vec::new(),
            taps: Vec::new(),
            nothing: Vec::new(),
        }
    }
}

/// Scratch memory that tiles of all samples use.
pub(super) struct Rest<'a> {
    signs: &'a [i16; SAMPLES],
    responses: &'a mut Responses,
    is_invalid: &'a mut bool,
}

impl Deep for u8 {
    type Sums<V: Simd> = Whole<V, u8>;
    type Kept = i32;

    fn memory(scratch: &mut Scratch) -> (&mut Memory<u8>, Rest<'_>) {
        let Scratch { tiles_of_u8, signs, responses, is_invalid, .. } = scratch;
        (tiles_of_u8, Rest { signs, responses, is_invalid })
    }
}

impl Deep for u16 {
    type Sums<V: Simd> = Whole<V, u16>;
    type Kept = i32;

    fn memory(scratch: &mut Scratch) -> (&mut Memory<u16>, Rest<'_>) {
        let Scratch { tiles_of_u16, signs, responses, is_invalid, .. } = scratch;
        (tiles_of_u16, Rest { signs, responses, is_invalid })
    }
}

impl Deep for f32 {
    type Sums<V: Simd> = Real<V>;
    type Kept = f32;

    fn memory(scratch: &mut Scratch) -> (&mut Memory<f32>, Rest<'_>) {
        let Scratch { tiles_of_f32, signs, responses, is_invalid, .. } = scratch;
        (tiles_of_f32, Rest { signs, responses, is_invalid })
    }
}

/// Whether vectors have tiles of floats: shorter ones have too few registers, and do without in less time.
pub(super) const fn has_tiles<V: Simd>() -> bool {
    V::IN_REGISTERS && 2 * V::LANES == LANES
}

/// Columns of responses of a tile, where `V` has tiles for `config` and they take the least time; `contrast` is the A + C that the threshold
/// asks for.
pub(super) fn columns<T: Deep, V: Simd>(config: &HarrisConfig, contrast: f32) -> Option<usize> {
    let radius = config.window().radius();
    // Where none is, sums of whole rows of wide windows take less.
    let pays = radius == 1 || contrast > 0.0;
    // Boxes of floats are added up in another order.
    let has_stages = !matches!(config.smoothing(), Smoothing::Gaussian { .. })
        && has_three_taps(config.gradient())
        && (T::EXACT || !matches!(config.gradient(), Gradient::Box { .. }));
    tiles::columns_left::<V>(config).filter(|_| has_stages && radius <= MOST_TILED && pays)
}

impl<T: Deep> Tiled for FloatTiles<T> {
    type Sample = T;

    fn delay<V: Simd>(smoothing: Smoothing) -> usize {
        float_stages::delay(smoothing)
    }

    fn copies(scratch: &mut Scratch) -> &mut Rows<T, SAMPLES> {
        &mut T::memory(scratch).0.copies
    }

    fn nothing(scratch: &mut Scratch) -> &mut Vec<T> {
        &mut T::memory(scratch).0.nothing
    }

    fn begin(scratch: &mut Scratch, config: &HarrisConfig, channels: usize, tiles: usize) {
        let (memory, _) = T::memory(scratch);
        memory.kept.clear();
        memory.kept.resize(channels * tiles, Kept::none());
        memory.gradients.resize(channels, [NOTHING; _]);
        if let Window::Gaussian { size, sigma } = config.window() {
            memory.taps = taps::gaussian(size, sigma);
        }
    }

    fn respond<V: Simd>(walk: &mut Walk<'_, T>, v: V, part: Part<'_, T>) {
        let config = walk.config;
        let quiet = if walk.map.is_some() { f32::NEG_INFINITY } else { part.threshold };
        // Where all responses are asked for, all is heard.
        let limit = walk.limit(part.threshold).unwrap_or(-1.0);
        let (Memory { copies, kept, gradients, taps, .. }, Rest { signs, responses, is_invalid }) =
            T::memory(walk.scratch);
        let weights = match config.window() {
            Window::Box { .. } => Weights::Box,
            Window::Binomial { .. } => Weights::Binomial,
            Window::Gaussian { .. } => Weights::Taps(&taps[..]),
        };
        let are_valid = v.enter(Tiles {
            smoothing: config.smoothing(),
            gradient: config.gradient(),
            measure: config.measure(),
            radius: config.window().radius(),
            weights,
            exact: has_exact_sums::<T>(config),
            scale: walk.scale,
            limit,
            quiet,
            part,
            copies,
            signs,
            kept,
            gradients,
            responses,
        });
        *is_invalid |= !are_valid;
    }
}

/// Computes the responses of a block of rows, and marks those above a threshold; tells whether all samples are valid.
struct Tiles<'a, T: Deep> {
    smoothing: Smoothing,
    gradient: Gradient,
    measure: Measure,
    /// The window's.
    radius: usize,
    weights: Weights<&'a [f32]>,
    exact: bool,
    scale: f32,
    /// What gx² + gy² of a channel exceed in some pixel of a window with a response above the threshold.
    limit: f32,
    /// Responses that do not exceed this need not be computed.
    quiet: f32,
    part: Part<'a, T>,
    /// From the first tile's first sample on: what stands for the samples of tiles that do not lie within the image, a row for each channel.
    copies: &'a Rows<T, SAMPLES>,
    /// What turns gy in each column, 1 or −1, from the first tile's first gradient on.
    signs: &'a [i16; SAMPLES],
    /// What tiles keep from block to block, channel by channel.
    kept: &'a mut [Kept<T::Kept>],
    /// Of each channel, the gradients of one tile at a time.
    gradients: &'a mut [Block],
    responses: &'a mut Responses,
}

impl<T: Deep> Work for Tiles<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Simd>(mut self, v: V) -> bool {
        let mut are_valid = true;
        for tile in 0..self.part.words.number {
            are_valid &= self.tile(v, tile);
        }
        are_valid
    }
}

impl<T: Deep> Tiles<'_, T> {
    #[inline(always)]
    fn tile<V: Simd>(&mut self, v: V, tile: usize) -> bool {
        let Part { words, rows, without, slot, turned_rows, .. } = self.part;
        let column = tile * words.step;
        let columns = words.step.min(self.part.width - column);
        let (above, channels) = (2 * self.radius, self.gradients.len());
        let turned = self.part.any_turned && self.signs[column..column + 2 * V::LANES].contains(&-1);
        let is_inside = channels == 1 && self.part.inside.contains(&tile);
        let read = 2 * V::LANES + beyond(self.smoothing);
        let edges = Edges::of(&self.part, column, 2 * V::LANES);
        // Windows read no more.
        let mut limits = [f32::INFINITY; LANES];
        limits[..columns + above].fill(self.limit);
        let limits = [v.load_f32(&limits, 0), v.load_f32(&limits, V::LANES)];
        let (mut loud, mut are_valid) = (0, true);
        for channel in 0..channels {
            let kept = &mut self.kept[tile * channels + channel];
            let block = &mut self.gradients[channel];
            for (row, kept) in block[..above].iter_mut().zip(&kept.gradients) {
                put(v, load(v, kept), row);
            }
            let mut samples: [[&[T]; 2]; BLOCK] = [[&[]; 2]; BLOCK];
            for (row, samples) in samples[..rows].iter_mut().enumerate() {
                *samples = if is_inside {
                    let column = (self.part.first + column as isize) as usize;
                    [&self.part.image[row][column..column + read], &self.part.ahead[row][column..]]
                } else {
                    [&self.copies.row(row * channels + channel)[column..column + read], &[]]
                };
            }
            let out = &mut block[above..][..rows];
            let (mut from, mut last) = (0, NOTHING);
            let mut heard = kept.loud;
            while from < rows {
                let mut stages = Stages::<V, T::Sums<V>>::load(v, &kept.stages);
                let mut until = rows;
                if let Some(edges) = &edges {
                    until = edges.until(from, until);
                    if from == edges.first {
                        stages.begin(v, self.gradient, edges);
                    }
                    if from == edges.last {
                        put(v, stages.end(v, self.gradient, edges), &mut last);
                    }
                }
                let mut turns = Turns { stages, limits, loud: 0, are_valid };
                turns.take(v, (self.smoothing, self.gradient), &samples[from..until], &mut out[from..until]);
                turns.stages.store(v, &mut kept.stages);
                if let Some(edges) = &edges {
                    float_stages::extend(edges, &mut kept.stages);
                }
                heard |= turns.loud.reverse_bits() >> (64 - (until - from)) << (above + from);
                (are_valid, from) = (turns.are_valid, until);
            }
            if turned || turned_rows != 0 {
                let mut signs = [1.0; LANES];
                for (sign, &own) in signs.iter_mut().zip(&self.signs[column..column + 2 * V::LANES]) {
                    *sign = own.into();
                }
                let signs = [v.load_f32(&signs, 0), v.load_f32(&signs, V::LANES)];
                for (row, pair) in out.iter_mut().enumerate() {
                    let turn = v.splat_f32(if turned_rows >> row & 1 == 1 { -1.0 } else { 1.0 });
                    let [x, y] = load(v, pair);
                    put(v, [x, both!(h => v.mul(y[h], v.mul(signs[h], turn)))], pair);
                }
            }
            if let Some(edges) = &edges
                && edges.extend_gradients(&mut block[..above + rows], above, last)
            {
                heard = 0;
                for (row, pair) in block[..above + rows].iter().enumerate() {
                    heard |= u64::from(hears(v, limits, load(v, pair))) << row;
                }
            }
            for (row, kept) in block[rows..][..above].iter().zip(&mut kept.gradients) {
                put(v, load(v, row), kept);
            }
            kept.loud = heard >> rows;
            loud |= heard;
        }
        let Some([all, heard]) = self.part.heard(loud, above + 1) else { return are_valid };
        let word = (tile, words.start + column);
        let mut computed = 0;
        if heard != 0 {
            let windows = Windows {
                measure: self.measure,
                scale: self.scale,
                threshold: self.part.threshold,
                quiet: self.quiet,
                weights: self.weights,
                exact: self.exact,
                gradients: self.gradients,
                first: without,
                heard,
                responses: self.responses,
                slot,
                word,
                columns,
            };
            computed = windows.respond(v, self.radius);
        }
        self.responses.complete(v, word, slot, (all, computed));
        are_valid
    }
}

/// Turns from samples to gradients of a channel of a tile.
struct Turns<V: Simd, S> {
    stages: Stages<V, S>,
    limits: Two<V::F32>,
    /// In which rows gradients suffice for a response, as bits, the last row's the lowest.
    loud: u64,
    are_valid: bool,
}

impl<V: Simd, S: Sums<V>> Turns<V, S> {
    /// Takes rows of samples, and puts the gradients of as many.
    #[inline(always)]
    fn take(
        &mut self,
        v: V,
        (smoothing, gradient): (Smoothing, Gradient),
        rows: &[[&[S::Sample]; 2]],
        out: &mut [Pair],
    ) {
        if matches!(smoothing, Smoothing::Binomial3Exact) {
            known!(@ Smoothing::Binomial3Exact, gradient, kinds => self.walk(v, kinds, rows, out));
        } else {
            known!(smoothing, gradient, kinds => self.walk(v, kinds, rows, out));
        }
    }

    #[inline(always)]
    fn walk(&mut self, v: V, kinds: (Smoothing, Gradient), rows: &[[&[S::Sample]; 2]], out: &mut [Pair]) {
        for ([samples, ahead], out) in rows.iter().zip(out) {
            v.prefetch(ahead, 0);
            v.prefetch(ahead, 64 / size_of::<S::Sample>());
            let gradients = self.stages.take(v, kinds, samples);
            put(v, gradients, out);
            self.loud = self.loud << 1 | u64::from(hears(v, self.limits, gradients));
            // What is read beyond these belongs to the next tile or strip, too, or stands for other samples.
            self.are_valid &= S::load(v, samples, 0).are_valid(v);
            self.are_valid &= S::load(v, samples, V::LANES).are_valid(v);
        }
    }
}

/// Whether some gx² + gy² exceeds its limit.
#[inline(always)]
fn hears<V: Simd>(v: V, limits: Two<V::F32>, [x, y]: [Two<V::F32>; 2]) -> bool {
    let squares = both!(h => v.add(v.mul(x[h], x[h]), v.mul(y[h], y[h])));
    let above = both!(h => v.greater(squares[h], limits[h]));
    above[0] | above[1] != 0
}

#[inline(always)]
pub(super) fn load<V: Simd>(v: V, pair: &Pair) -> [Two<V::F32>; 2] {
    both!(of => both!(h => v.load_f32(&pair.0[of], h * V::LANES)))
}

#[inline(always)]
fn put<V: Simd>(v: V, gradients: [Two<V::F32>; 2], pair: &mut Pair) {
    for ([low, high], row) in gradients.into_iter().zip(&mut pair.0) {
        v.store_f32(row, 0, low);
        v.store_f32(row, V::LANES, high);
    }
}
