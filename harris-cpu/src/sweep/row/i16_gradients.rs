//! Gradients of a block of rows by tiles: columns as wide as a vector, from samples to gradients in
//! registers.

use std::ops::Range;

use harris_core::pipeline::border;

use crate::peaks::ring::WordLayout;
use crate::rows::{
    LEFT_PADDING, MAX_SUPPRESSION_RADIUS, MAX_WINDOW_RADIUS, Rows16, SAMPLE_ROW_LENGTH, STRIP_COLUMNS,
    SampleRows,
};
use crate::simd::{Simd, SimdKernel};
use crate::sweep::halo::Columns;
use crate::sweep::layout::TileLayout;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps, specialize};
use crate::sweep::strip::Context;
use crate::sweep::tile::i16_stages::{Stages, latency};

/// The most rows of a block.
pub(crate) const GRADIENT_ROWS: usize = 32;
/// The greatest support radius of a gradient: smoothing and gradient.
const MAX_SUPPORT: usize = 3;

/// Samples of a row beyond the image: zeros.
pub(crate) static ZERO_SAMPLES: [u8; STRIP_COLUMNS + 2 * LEFT_PADDING] =
    [0; STRIP_COLUMNS + 2 * LEFT_PADDING];

/// Computes gx and gy of a block of rows.
struct Gradients<'a> {
    smoothing: StageSmoothing,
    gradient: ThreeTaps,
    /// Rows of samples.
    rows: &'a [&'a [u8]],
    /// The first of them, which complete no row of gradients.
    warm_up: usize,
    /// The rows that follow.
    ahead: &'a [&'a [u8]],
    /// The column of the first tile's first sample, and the tiles that read from `rows`.
    first: isize,
    inside: Range<usize>,
    /// The samples of the other tiles, from that column on.
    extended: &'a SampleRows,
    words: WordLayout,
    /// gx and gy, row y in slot y mod `ring`; `slot` is the first row's.
    out: &'a mut [Rows16; 2],
    ring: usize,
    slot: usize,
}

impl SimdKernel for Gradients<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let (smoothing, gradient) = (self.smoothing, self.gradient);
        specialize!(smoothing, gradient, kinds => self.tiles(v, kinds));
    }
}

impl Gradients<'_> {
    #[inline(always)]
    fn tiles<V: Simd>(self, v: V, (smoothing, gradient): (StageSmoothing, ThreeTaps)) {
        let Self { rows, ahead, extended, warm_up, .. } = self;
        let mut slots = [0; GRADIENT_ROWS];
        for (i, slot) in slots.iter_mut().enumerate() {
            *slot = (self.slot + i) % self.ring;
        }
        let read = 2 * V::LANES + smoothing.extra_columns();
        let mut tile = Tile { smoothing, gradient, warm_up, place: 0, out: self.out, slots: &slots };
        for word in 0..self.words.count {
            let column = word * self.words.step;
            tile.place = self.words.start + column;
            if self.inside.contains(&word) {
                let column = (self.first + column as isize) as usize;
                let rows = rows.iter().zip(ahead);
                tile.run(
                    v,
                    rows.map(|(row, ahead)| {
                        v.prefetch(ahead, column);
                        &row[column..column + read]
                    }),
                );
            } else {
                tile.run(v, (0..rows.len()).map(|row| &extended.row(row)[column..column + read]));
            }
        }
    }
}

/// The rows of a tile.
struct Tile<'a> {
    smoothing: StageSmoothing,
    gradient: ThreeTaps,
    warm_up: usize,
    place: usize,
    out: &'a mut [Rows16; 2],
    slots: &'a [usize; GRADIENT_ROWS],
}

impl Tile<'_> {
    #[inline(always)]
    fn run<'a, V: Simd>(&mut self, v: V, mut rows: impl ExactSizeIterator<Item = &'a [u8]>) {
        let kinds = (self.smoothing, self.gradient);
        let row_count = rows.len() - self.warm_up;
        let mut stages = Stages::new(v);
        // Iterations without a row of gradients.
        for _ in 0..self.warm_up + latency::<V>(self.smoothing) {
            stages.push_row(v, kinds, rows.next().unwrap_or(&ZERO_SAMPLES));
        }
        let mut slots = self.slots[..row_count].iter();
        for (samples, &slot) in rows.zip(&mut slots) {
            self.put(v, slot, stages.push_row(v, kinds, samples));
        }
        for &slot in slots {
            self.put(v, slot, stages.push_row(v, kinds, &ZERO_SAMPLES));
        }
    }

    #[inline(always)]
    fn put<V: Simd>(&mut self, v: V, slot: usize, [x, y]: [V::I16; 2]) {
        let [gx, gy] = &mut *self.out;
        v.store_i16(gx.row_mut(slot), self.place, x);
        v.store_i16(gy.row_mut(slot), self.place, y);
    }
}

/// Rows of samples around the image's edges.
pub(crate) const EXTENDED_ROWS: usize = GRADIENT_ROWS + 2 * MAX_SUPPORT;

/// Computes `rows` of gradients, at most [`GRADIENT_ROWS`], into rings of `ring` rows, with
/// [`EXTENDED_ROWS`] rows of memory.
pub(crate) fn gradient_tiles<V: Simd>(
    context: &Context<'_, u8>,
    v: V,
    columns: &Columns,
    rows: Range<usize>,
    extended: &mut SampleRows,
    (out, ring): (&mut [Rows16; 2], usize),
) {
    let (config, image) = (context.config, context.image);
    let support = config.smoothing().radius() + config.gradient().radius();
    let smoothing = StageSmoothing::of(config.smoothing()).expect("plans have Gaussian smoothings by floats");
    let gradient = ThreeTaps::of(config.gradient()).expect("plans have other gradients by floats");
    let extra = smoothing.extra_columns();
    let layout = TileLayout::new(
        (&columns.gradients, columns.place(columns.gradients.start as isize)),
        (support, config.border()),
        (2 * V::LANES + extra - 2 * support, 2 * V::LANES + extra),
        &image,
    );
    let mut samples: [&[u8]; 2 * EXTENDED_ROWS] = [&[]; 2 * EXTENDED_ROWS];
    for (row, y) in samples.iter_mut().zip(rows.start as isize - support as isize..) {
        // No valid pixel depends on a row that nothing stands for.
        *row = image.row(border::inside(config.border(), y, image.height()).unwrap_or(0));
    }
    let (samples, ahead) = samples.split_at(rows.len() + 2 * support);
    for (i, row) in samples.iter().enumerate() {
        for halo in layout.halos() {
            halo.copy(row, extended.row_mut(i));
        }
    }
    v.enter(Gradients {
        smoothing,
        gradient,
        rows: samples,
        warm_up: 2 * support,
        ahead,
        first: layout.first,
        inside: layout.inside.clone(),
        extended,
        words: layout.words,
        out,
        ring,
        slot: rows.start % ring,
    });
}

// Copies hold a strip, all that its gradients read, and the last vector.
const _: () = assert!(
    STRIP_COLUMNS
        + 2 * (MAX_SUPPRESSION_RADIUS + MAX_WINDOW_RADIUS + MAX_SUPPORT)
        + 32
        + StageSmoothing::Binomial5.extra_columns()
        <= SAMPLE_ROW_LENGTH
);
