//! Tiles: columns as wide as a vector, block of rows by block of rows.
//!
//! Lane i of a vector is column i of its tile; all stages but the first ([`super::stages`]) move lanes to reach neighbours on the right, so that
//! the first column is always lane 0 and each of them has fewer lanes that mean something at the end. The next tile begins
//! where they end. A tile's gradients go, a channel after the other, to memory that the first cache holds, and only where they suffice
//! for a response above the threshold are they summed ([`super::windows`]).
//!
//! Samples beyond the image are reflected, and gy turns its sign where one of the axes is outside: so the products are
//! extended (docs/arithmetic.md, section 1).

use harris_core::{Gradient, HarrisConfig, Measure, Smoothing, Window};

use super::by_tiles::{Edges, Part, Tiled};
use super::quiet::Quiet;
use super::responses::Responses;
use super::scratch::{Aligned, BLOCK, SAMPLES, SampleRows, Scratch};
use super::stages::{self, Stages, beyond, known};
use super::walk::Walk;
use super::windows::{Listen, Windows};
use crate::simd::{Simd, Work};

/// The greatest window radius of tiles, and that of box windows of 8-bit samples, whose sums run on.
pub(super) const MOST_TILED: usize = 3;
pub(super) const MOST_BOX: usize = 5;

/// Columns of responses of a tile at least: a smaller one does not pay.
pub(super) const LEAST_TILE: usize = 10;

/// Columns of a tile's gradients at most. Narrower ones do not pay where nearly all is loud: where a response asks for a lesser A + C; nor do
/// wide windows where it asks for none.
const LANES: usize = 32;
const LEAST_CONTRAST: f32 = 0.0013;

/// Whether vectors have tiles: the narrowest support takes two of their columns.
pub(super) const fn has_tiles<V: Simd>() -> bool {
    V::IN_REGISTERS && 2 * V::LANES >= 2 + LEAST_TILE
}

/// Whether no vectors are longer.
pub(super) const fn are_longest<V: Simd>() -> bool {
    2 * V::LANES == LANES
}

/// Columns of responses of a tile, where `V` has tiles for `config` and they take the least time; `contrast` is the A + C that the threshold
/// asks for.
pub(super) fn columns<V: Simd>(config: &HarrisConfig, contrast: f32) -> Option<usize> {
    let radius = config.window().radius();
    let is_covered = radius <= if is_binomial(config) { MOST_TILED } else { MOST_BOX };
    let pays =
        if are_longest::<V>() { radius <= MOST_TILED || contrast > 0.0 } else { contrast >= LEAST_CONTRAST };
    columns_left::<V>(config).filter(|_| is_covered && pays)
}

/// Columns that the support of `config` leaves of a tile, if they are enough.
pub(super) fn columns_left<V: Simd>(config: &HarrisConfig) -> Option<usize> {
    let lost = 2 * config.support_radius() - beyond(config.smoothing());
    (2 * V::LANES).checked_sub(lost).filter(|&left| left >= LEAST_TILE)
}

fn is_binomial(config: &HarrisConfig) -> bool {
    matches!(config.window(), Window::Binomial { .. })
}

/// gx and gy of a row of a tile.
pub(super) type Pair = Aligned<[i16; LANES], 2>;

/// The gradients of a block of a tile: rows of the window that the first one completes, and one for each row of samples.
pub(super) type Block = [Pair; 2 * MOST_BOX + BLOCK];

const NO_PAIR: Pair = Aligned([[0; LANES]; 2]);
pub(super) const NO_GRADIENTS: Block = [NO_PAIR; 2 * MOST_BOX + BLOCK];

/// What a tile keeps of a channel from block to block.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    stages: stages::Kept,
    /// The last rows of gradients.
    gradients: [Pair; 2 * MOST_BOX],
}

impl Kept {
    pub(super) const NONE: Self = Self { stages: stages::NONE, gradients: [NO_PAIR; 2 * MOST_BOX] };
}

/// Tiles of 16-bit gradients and 32-bit sums.
pub(super) struct ShortTiles;

impl Tiled for ShortTiles {
    type Sample = u8;

    fn delay<V: Simd>(smoothing: Smoothing) -> usize {
        stages::delay::<V>(smoothing)
    }

    fn copies(scratch: &mut Scratch) -> &mut SampleRows {
        &mut scratch.samples
    }

    fn nothing(scratch: &mut Scratch) -> &mut Vec<u8> {
        &mut scratch.nothing
    }

    fn begin(scratch: &mut Scratch, _: &HarrisConfig, channels: usize, tiles: usize) {
        scratch.kept.clear();
        scratch.kept.resize(channels * tiles, Kept::NONE);
    }

    fn respond<V: Simd>(walk: &mut Walk<'_, u8>, v: V, part: Part<'_, u8>) {
        let config = walk.config;
        let quiet = walk.quiet(part.threshold);
        let Scratch { samples, signs, kept, tile, responses, .. } = &mut *walk.scratch;
        let tiles = Tiles {
            smoothing: config.smoothing(),
            gradient: config.gradient(),
            measure: config.measure(),
            radius: config.window().radius(),
            binomial: is_binomial(config),
            scale: walk.scale,
            quiet,
            part,
            copies: samples,
            signs,
            kept,
            gradients: tile,
            responses,
        };
        match walk.image.channels() {
            1 => v.enter(Kernel::<1>(tiles)),
            _ => v.enter(Kernel::<3>(tiles)),
        }
    }
}

/// Computes the responses of a block of rows, and marks those above a threshold.
struct Tiles<'a> {
    smoothing: Smoothing,
    gradient: Gradient,
    measure: Measure,
    /// Radius of the window, and whether it is binomial, not a box.
    radius: usize,
    binomial: bool,
    scale: f32,
    /// Which responses need not be computed.
    quiet: Quiet,
    part: Part<'a, u8>,
    /// From the first tile's first sample on: what stands for the samples of tiles that do not lie within the image, a row for each channel.
    copies: &'a SampleRows,
    /// What turns gy in each column, 1 or −1, from the first tile's first gradient on.
    signs: &'a [i16; SAMPLES],
    /// What tiles keep from block to block, channel by channel.
    kept: &'a mut [Kept],
    /// Of each channel, the gradients of one tile at a time.
    gradients: &'a mut [Block; 3],
    responses: &'a mut Responses,
}

/// The kernel for `C` channels.
struct Kernel<'a, const C: usize>(Tiles<'a>);

impl<const C: usize> Work for Kernel<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(mut self, v: V) {
        for tile in 0..self.0.part.words.number {
            self.0.tile::<V, C>(v, tile);
        }
    }
}

impl Tiles<'_> {
    #[inline(always)]
    fn tile<V: Simd, const C: usize>(&mut self, v: V, tile: usize) {
        let column = tile * self.part.words.step;
        let columns = self.part.words.step.min(self.part.width - column);
        let above = 2 * self.radius;
        let listen = Listen::new(self.quiet, (self.radius, self.binomial), columns);
        let turned = self.part.any_turned && self.signs[column..column + 2 * V::LANES].contains(&-1);
        let is_inside = C == 1 && self.part.inside.contains(&tile);
        let kinds = (self.smoothing, self.gradient);
        let read = 2 * V::LANES + beyond(self.smoothing);
        let edges = Edges::of(&self.part, column, 2 * V::LANES);
        let (mut loud, mut extended) = (0, false);
        for channel in 0..C {
            let kept = &mut self.kept[tile * C + channel];
            let block = &mut self.gradients[channel];
            for (row, kept) in block[..above].iter_mut().zip(&kept.gradients) {
                put(v, load(v, kept), row);
            }
            let out = &mut block[above..][..self.part.rows];
            let (mut from, mut last) = (0, NO_PAIR);
            loud = 0;
            while from < out.len() {
                let mut until = out.len();
                if let Some(edges) = &edges {
                    until = edges.until(from, until);
                    begin_or_end(v, self.gradient, edges, from, &mut kept.stages, &mut last);
                }
                let turns = Turns { kinds, listen, kept: &mut kept.stages, out: &mut out[from..until] };
                let new = if is_inside {
                    let column = (self.part.first + column as isize) as usize;
                    let (image, ahead) = (&self.part.image[from..until], &self.part.ahead[from..until]);
                    let rows = image.iter().zip(ahead).map(|(row, ahead)| {
                        v.prefetch(ahead, column);
                        &row[column..column + read]
                    });
                    turns.take(v, rows)
                } else {
                    let row = |row| &self.copies.row(row * C + channel)[column..column + read];
                    turns.take(v, (from..until).map(row))
                };
                if let Some(edges) = &edges {
                    stages::extend(edges, &mut kept.stages);
                }
                loud |= new << from;
                from = until;
            }
            if turned || self.part.turned_rows != 0 {
                for (row, pair) in out.iter_mut().enumerate() {
                    let [x, mut y] = load(v, pair);
                    if turned {
                        y = v.mul_i16(y, v.load_i16(self.signs, column));
                    }
                    if self.part.turned_rows >> row & 1 == 1 {
                        y = v.sub_i16(v.splat_i16(0), y);
                    }
                    put(v, [x, y], pair);
                }
            }
            if let Some(edges) = &edges {
                extended |= edges.extend_gradients(&mut block[..above + self.part.rows], above, last);
            }
            for (row, kept) in block[self.part.rows..][..above].iter().zip(&mut kept.gradients) {
                put(v, load(v, row), kept);
            }
        }
        // Of gray images only the rows before have not been listened to.
        let loud = if C == 1 && !extended {
            loud << above | listen.rows::<V, C>(v, self.gradients, above)
        } else {
            listen.rows::<V, C>(v, self.gradients, above + self.part.rows)
        };
        let Some([all, heard]) = self.part.heard(loud, above + 1) else { return };
        let word = (tile, self.part.words.start + column);
        let mut computed = 0;
        if heard != 0 {
            let windows = Windows {
                measure: self.measure,
                scale: self.scale,
                threshold: self.part.threshold,
                quiet: self.quiet,
                gradients: self.gradients,
                first: self.part.without,
                heard,
                responses: self.responses,
                slot: self.part.slot,
                word,
                columns,
            };
            computed = windows.respond(v, (self.radius, self.binomial, C));
        }
        self.responses.complete(v, word, self.part.slot, (all, computed));
    }
}

/// Where the image's first or last row of gradients is next, has stages begin or end with it, and puts the last one.
#[inline(always)]
fn begin_or_end<V: Simd>(
    v: V,
    gradient: Gradient,
    edges: &Edges,
    turn: usize,
    kept: &mut stages::Kept,
    last: &mut Pair,
) {
    if turn == edges.first || turn == edges.last {
        let mut stages = Stages::new(v);
        stages.load(v, kept);
        if turn == edges.first {
            stages.begin(v, gradient, edges);
        }
        if turn == edges.last {
            put(v, stages.end(v, gradient, edges), last);
        }
        stages.store(v, kept);
    }
}

/// Turns from rows of samples to as many of gradients, of a channel of a tile; tells in which gradients suffice for a response where there are
/// no other channels, as bits.
struct Turns<'a> {
    kinds: (Smoothing, Gradient),
    listen: Listen,
    kept: &'a mut stages::Kept,
    out: &'a mut [Pair],
}

impl Turns<'_> {
    #[inline(always)]
    fn take<'r, V: Simd>(self, v: V, rows: impl Iterator<Item = &'r [u8]>) -> u64 {
        let (smoothing, gradient) = self.kinds;
        let mut stages = Stages::new(v);
        stages.load(v, self.kept);
        let mut loud = 0;
        known!(smoothing, gradient, kinds => {
            for (samples, out) in rows.zip(&mut *self.out) {
                let [x, y] = stages.take(v, kinds, samples);
                put(v, [x, y], out);
                let squares = v.dot_add(v.dot(x, x), y, y);
                loud = loud << 1 | u64::from(self.listen.hears(v, squares));
            }
        });
        stages.store(v, self.kept);
        // The last row's bit is the lowest.
        u64::reverse_bits(loud) >> (64 - self.out.len())
    }
}

#[inline(always)]
pub(super) fn load<V: Simd>(v: V, pair: &Pair) -> [V::I16; 2] {
    [v.load_i16(&pair.0[0], 0), v.load_i16(&pair.0[1], 0)]
}

#[inline(always)]
fn put<V: Simd>(v: V, [x, y]: [V::I16; 2], pair: &mut Pair) {
    v.store_i16(&mut pair.0[0], 0, x);
    v.store_i16(&mut pair.0[1], 0, y);
}
