//! The walk by tiles ([`super::tiles`]): blocks of rows, tile by tile.

use std::array;
use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, HarrisConfig, Window};

use super::peaks::Peaks;
use super::scratch::{BLOCK, RING, Scratch, Words};
use super::tiles::{self, MOST_TILED, Tiles};
use super::walk::{Columns, Ring, Walk};
use crate::simd::Simd;

/// Where the tiles of a strip lie.
struct Layout {
    /// In a row of responses.
    words: Words,
    /// The column of the first tile's first sample; it may lie beyond the image.
    first: isize,
    /// The tiles that read gray samples where they are.
    inside: Range<usize>,
    /// From `first` on, the columns that other tiles read: of those before and of those after the ones inside.
    copied: [Copied; 2],
}

/// Columns of samples that are copied, some of which lie beyond the image.
struct Copied {
    /// Elements of a row of copies.
    out: Range<usize>,
    /// Of these, the first within the image, and its column; and how many there are.
    inside: usize,
    column: usize,
    number: usize,
    /// The columns that stand for those before and after.
    before: [usize; MOST_SUPPORT],
    after: [usize; MOST_SUPPORT],
}

/// The greatest support of tiles: smoothing, gradient, window.
const MOST_SUPPORT: usize = 2 + 1 + MOST_TILED;

impl Copied {
    fn new(out: Range<usize>, first: isize, width: usize, border: Border) -> Self {
        let (start, end) = (first + out.start as isize, first + out.end as isize);
        let clamped = |x: isize| x.clamp(0, width as isize) as usize;
        let (column, number) = (clamped(start), clamped(end) - clamped(start));
        // Where nothing stands for a sample, nothing valid depends on it.
        let from =
            |first: isize| array::from_fn(|i| border::inside(border, first + i as isize, width).unwrap_or(0));
        let inside = (column as isize - start).clamp(0, out.len() as isize) as usize;
        let after = start + (inside + number) as isize;
        Self { out, inside, column, number, before: from(start), after: from(after) }
    }

    /// Copies a channel of a row.
    fn copy(&self, row: &[u8], out: &mut [u8], (channel, channels): (usize, usize)) {
        let (before, rest) = out[self.out.clone()].split_at_mut(self.inside);
        let (middle, after) = rest.split_at_mut(self.number);
        if channels == 1 {
            middle.copy_from_slice(&row[self.column..self.column + self.number]);
        } else {
            let pixels = row[self.column * channels..].chunks_exact(channels);
            middle.iter_mut().zip(pixels).for_each(|(out, pixel)| *out = pixel[channel]);
        }
        for (out, x) in before.iter_mut().zip(self.before).chain(after.iter_mut().zip(self.after)) {
            *out = row[x * channels + channel];
        }
    }
}

impl Layout {
    fn new(
        columns: &Columns,
        config: &HarrisConfig,
        tile: usize,
        lanes: usize,
        (width, channels): (usize, usize),
    ) -> Self {
        let support = config.support_radius();
        let (start, number) = (columns.responses.start, columns.responses.len().div_ceil(tile));
        let words = Words { start: columns.place(start as isize), step: tile, number };
        let first = start as isize - support as isize;
        let is_inside = |t: &usize| {
            let sample = first + (t * tile) as isize;
            channels == 1 && sample >= 0 && sample as usize + lanes <= width
        };
        let from = (0..number).find(is_inside).unwrap_or(number);
        let inside = from..from + (from..number).take_while(is_inside).count();
        let read = columns.responses.len() + 2 * support;
        let before = if from == 0 { 0 } else { ((from - 1) * tile + lanes).min(read) };
        let after = (inside.end * tile).min(read)..read;
        let copied = [0..before, after].map(|out| Copied::new(out, first, width, config.border()));
        Self { words, first, inside, copied }
    }
}

impl Walk<'_, u8> {
    pub(super) fn strip_by_tiles<V: Simd>(
        &mut self,
        v: V,
        strip: &Range<usize>,
        tile: usize,
        found: &mut Peaks,
    ) {
        let (config, image) = (self.config, self.image);
        let columns = Columns::new(strip, config, image.width());
        let (window, support, channels) =
            (config.window().radius(), config.support_radius(), image.channels());
        let layout = Layout::new(&columns, config, tile, 2 * V::LANES, (image.width(), channels));
        let words = layout.words;
        let [kept, kept_sums] = tiles::kept(2 * window + 1, channels);
        let block = BLOCK / (2 * window + 1) * (2 * window + 1);
        let room = [words.number * kept * 2 * V::LANES, words.number * kept_sums * V::LANES];
        self.scratch.reserve_tiles(block * channels, room);
        let gradient_columns = columns.responses.start as isize - window as isize;
        let any_turned = self.turn(gradient_columns, (words.number - 1) * tile + 2 * V::LANES);

        let rows = self.computed_rows();
        let first = rows.start as isize - support as isize;
        // Rows of samples before the first that completes a row of responses.
        let without = 2 * support + tiles::DELAY;
        let mut ring = Ring { rows: RING, words, uncollected: self.rows.start };
        let (mut consumed, mut complete) = (0, rows.start);
        while complete < rows.end {
            let top = first + consumed as isize;
            let mut turned_rows = 0;
            let mut image_rows: [&[u8]; RING] = [&[]; RING];
            for (i, row) in image_rows[..block].iter_mut().enumerate() {
                let y = top + i as isize;
                // Where nothing stands for a row, nothing valid depends on it.
                *row = image.row(border::inside(config.border(), y, image.height()).unwrap_or(0));
                for copied in layout.copied.iter().filter(|copied| !copied.out.is_empty()) {
                    for channel in 0..channels {
                        let out = self.scratch.samples.row_mut(i * channels + channel);
                        copied.copy(row, out, (channel, channels));
                    }
                }
                let gradient = y - config.smoothing().radius() as isize - 2;
                turned_rows |= u64::from(is_turned(config.border(), gradient, image.height())) << i;
            }
            let Scratch { samples, signs, kept, kept_sums, responses, candidates, .. } = &mut *self.scratch;
            let tiles = Tiles {
                smoothing: config.smoothing(),
                gradient: config.gradient(),
                measure: config.measure(),
                radius: window,
                binomial: matches!(config.window(), Window::Binomial { .. }),
                scale: self.scale,
                threshold: found.threshold(config.threshold()),
                channels,
                rows: block,
                image: image_rows,
                first: layout.first,
                inside: layout.inside.clone(),
                extended: samples,
                signs,
                any_turned,
                turned_rows,
                kept,
                kept_sums,
                without: without.saturating_sub(consumed),
                responses,
                candidates,
                slot: complete % RING,
                words,
                width: columns.responses.len(),
            };
            tiles.walk(v);
            consumed += block;
            let end = (rows.start + consumed.saturating_sub(without)).min(rows.end);
            for y in complete..end {
                self.confine(&columns, y, y % RING);
            }
            complete = end;
            self.collect_until(v, &columns, strip, complete, &mut ring, found);
        }
    }

    /// Sets what turns gy in the `number` columns from `start` on, and returns whether any is turned.
    fn turn(&mut self, start: isize, number: usize) -> bool {
        let width = self.image.width();
        let signs = &mut self.scratch.signs[..number];
        signs.fill(1);
        let outside = (start..0).chain((width as isize).max(start)..start + number as isize);
        let mut any = false;
        for x in outside.filter(|&x| is_turned(self.config.border(), x, width)) {
            signs[(x - start) as usize] = -1;
            any = true;
        }
        any
    }
}

/// Whether samples stand mirrored at place `i` of a line of `len`.
fn is_turned(border: Border, i: isize, len: usize) -> bool {
    let period = 2 * (len as isize - 1);
    border == Border::Reflect101 && period > 0 && i.rem_euclid(period) > len as isize - 1
}
