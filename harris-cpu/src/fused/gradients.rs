//! Gradients of a block of rows, by tiles: columns as wide as a vector, from samples to gradients without leaving the registers
//! ([`super::tiles`]).

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, Gradient, HarrisConfig, Smoothing};

use super::by_rows::NOTHING;
use super::layout::Layout;
use super::responses::Words;
use super::scratch::{Rows16, SAMPLES, STRIP, SampleRows, Scratch};
use super::stages::{Stages, beyond, delay, known};
use super::walk::{Columns, Walk};
use super::{MOST_RADIUS, MOST_WINDOW};
use crate::simd::{Simd, Work};

/// Rows of a block at most.
pub(super) const BLOCK: usize = 32;
/// Pairs of columns of a tile at least.
const LEAST_LANES: usize = 8;
/// What a gradient reaches: smoothing and gradient.
const MOST_REACH: usize = 3;

/// Whether gradients are computed by tiles: where they keep most of a vector that is a register, and what stands for samples beyond the
/// image makes the same of smoothed ones.
pub(super) fn by_tiles<V: Simd>(config: &HarrisConfig, channels: usize) -> bool {
    V::IN_REGISTERS
        && V::LANES >= LEAST_LANES
        && channels == 1
        && matches!(config.border(), Border::Reflect101 | Border::Skip)
}

/// Computes gx and gy of a block of rows.
struct Gradients<'a> {
    smoothing: Smoothing,
    gradient: Gradient,
    /// Rows of samples, of which so many complete no row of gradients.
    rows: &'a [&'a [u8]],
    without: usize,
    /// The rows that follow.
    ahead: &'a [&'a [u8]],
    /// The column of the first tile's first sample, and the tiles that read from `rows`.
    first: isize,
    inside: Range<usize>,
    /// From that column on: what stands for the samples of the others.
    extended: &'a SampleRows,
    words: Words,
    /// gx and gy, by y mod `ring`; and the first row's place there.
    out: &'a mut [Rows16; 2],
    ring: usize,
    slot: usize,
}

impl Work for Gradients<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let (smoothing, gradient) = (self.smoothing, self.gradient);
        known!(smoothing, gradient, kinds => self.tiles(v, kinds));
    }
}

impl Gradients<'_> {
    #[inline(always)]
    fn tiles<V: Simd>(self, v: V, (smoothing, gradient): (Smoothing, Gradient)) {
        let Self { rows, ahead, extended, without, .. } = self;
        let mut slots = [0; BLOCK];
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = (self.slot + i) % self.ring;
        }
        let read = 2 * V::LANES + beyond(smoothing);
        let mut tile = Tile { smoothing, gradient, without, place: 0, out: self.out, slots: &slots };
        for number in 0..self.words.number {
            let column = number * self.words.step;
            tile.place = self.words.start + column;
            if self.inside.contains(&number) {
                let column = (self.first + column as isize) as usize;
                let rows = rows.iter().zip(ahead);
                tile.walk(
                    v,
                    rows.map(|(row, ahead)| {
                        v.prefetch(ahead, column);
                        &row[column..column + read]
                    }),
                );
            } else {
                tile.walk(v, (0..rows.len()).map(|row| &extended.row(row)[column..column + read]));
            }
        }
    }
}

/// The rows of a tile.
struct Tile<'a> {
    smoothing: Smoothing,
    gradient: Gradient,
    without: usize,
    place: usize,
    out: &'a mut [Rows16; 2],
    slots: &'a [usize; BLOCK],
}

impl Tile<'_> {
    #[inline(always)]
    fn walk<'a, V: Simd>(&mut self, v: V, mut rows: impl ExactSizeIterator<Item = &'a [u8]>) {
        let kinds = (self.smoothing, self.gradient);
        let number = rows.len() - self.without;
        let mut stages = Stages::new(v);
        // Turns that give no row of gradients; in the last ones, there are no more samples.
        for _ in 0..self.without + delay::<V>(self.smoothing) {
            stages.take(v, kinds, rows.next().unwrap_or(&NOTHING));
        }
        let mut slots = self.slots[..number].iter();
        for (samples, &slot) in rows.zip(&mut slots) {
            self.put(v, slot, stages.take(v, kinds, samples));
        }
        for &slot in slots {
            self.put(v, slot, stages.take(v, kinds, &NOTHING));
        }
    }

    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, slot: usize, [x, y]: [V::I16; 2]) {
        let [gx, gy] = &mut *self.out;
        v.store_i16(gx.row_mut(slot), self.place, x);
        v.store_i16(gy.row_mut(slot), self.place, y);
    }
}

impl Walk<'_, u8> {
    /// Computes `rows` of gradients, at most [`BLOCK`], into rings of `ring` rows.
    pub(super) fn gradients<V: Simd>(&mut self, v: V, columns: &Columns, rows: Range<usize>, ring: usize) {
        let (config, image) = (self.config, self.image);
        let reach = config.smoothing().radius() + config.gradient().radius();
        let beyond = beyond(config.smoothing());
        let layout = Layout::new(
            (&columns.gradients, columns.place(columns.gradients.start as isize)),
            (reach, config.border()),
            (2 * V::LANES + beyond - 2 * reach, 2 * V::LANES + beyond),
            &image,
        );
        let mut samples: [&[u8]; 2 * (BLOCK + 2 * MOST_REACH)] = [&[]; 2 * (BLOCK + 2 * MOST_REACH)];
        for (row, y) in samples.iter_mut().zip(rows.start as isize - reach as isize..) {
            // Where nothing stands for a row, nothing valid depends on it.
            *row = image.row(border::inside(config.border(), y, image.height()).unwrap_or(0));
        }
        let (samples, ahead) = samples.split_at(rows.len() + 2 * reach);
        self.scratch.samples.reserve(BLOCK + 2 * MOST_REACH);
        let Scratch { samples: extended, gradients, .. } = &mut *self.scratch;
        for (i, row) in samples.iter().enumerate() {
            for copied in layout.copied() {
                copied.copy(row, extended.row_mut(i));
            }
        }
        v.enter(Gradients {
            smoothing: config.smoothing(),
            gradient: config.gradient(),
            rows: samples,
            without: 2 * reach,
            ahead,
            first: layout.first,
            inside: layout.inside.clone(),
            extended,
            words: layout.words,
            out: gradients,
            ring,
            slot: rows.start % ring,
        });
    }
}

// Copies have room for a strip, all that its gradients reach, and the last vector.
const _: () = assert!(
    STRIP + 2 * (MOST_RADIUS + MOST_WINDOW + MOST_REACH) + 32 + beyond(Smoothing::Binomial5) <= SAMPLES
);
