//! The walk by tiles ([`super::tiles`]): blocks of rows, tile by tile.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, HarrisConfig, Window};

use super::peaks::Peaks;
use super::responses::{RING, Words};
use super::scratch::{BLOCK, SAMPLES, Scratch};
use super::tiles::{self, MOST_TILED, Tiles};
use super::walk::{Columns, Walk};
use crate::simd::{Simd, Work};

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
    /// Where [`WHOLE`] columns begin that hold all of them, in the image and in a row of copies, if there are as many.
    whole: Option<[usize; 2]>,
    /// The elements beyond the image, and the columns that stand for them.
    beyond: [[usize; 2]; 2 * MOST_SUPPORT],
    beyond_number: usize,
}

/// The greatest support of tiles: smoothing, gradient, window.
const MOST_SUPPORT: usize = 2 + 1 + MOST_TILED;
/// Columns that are copied at once, which is quicker than to copy just those that are asked for.
const WHOLE: usize = 64;

impl Copied {
    fn new(out: Range<usize>, first: isize, width: usize, border: Border) -> Self {
        let (start, end) = (first + out.start as isize, first + out.end as isize);
        let clamped = |x: isize| x.clamp(0, width as isize) as usize;
        let (column, number) = (clamped(start), clamped(end) - clamped(start));
        let inside = out.start + (column as isize - start).clamp(0, out.len() as isize) as usize;
        let from = column.min(width.saturating_sub(WHOLE));
        let to = (inside + from).checked_sub(column).filter(|to| to + WHOLE <= SAMPLES);
        let whole = to.filter(|_| number <= WHOLE && WHOLE <= width).map(|to| [from, to]);
        let mut copied =
            Self { out, inside, column, number, whole, beyond: [[0; 2]; 2 * MOST_SUPPORT], beyond_number: 0 };
        for place in (copied.out.start..inside).chain(inside + number..copied.out.end) {
            // Where nothing stands for a sample, nothing valid depends on it.
            let column = border::inside(border, first + place as isize, width).unwrap_or(0);
            copied.beyond[copied.beyond_number] = [place, column];
            copied.beyond_number += 1;
        }
        copied
    }

    /// Copies a row of gray samples.
    fn copy(&self, row: &[u8], out: &mut [u8; SAMPLES]) {
        if let Some([from, to]) = self.whole {
            out[to..to + WHOLE].copy_from_slice(&row[from..from + WHOLE]);
        } else {
            let samples = &row[self.column..self.column + self.number];
            out[self.inside..self.inside + self.number].copy_from_slice(samples);
        }
        for &[place, column] in &self.beyond[..self.beyond_number] {
            out[place] = row[column];
        }
    }

    /// Copies a row of colours, each channel to a row.
    fn split<V: Simd>(&self, v: V, row: &[u8], out: [&mut [u8; SAMPLES]; 3]) {
        for &[place, column] in &self.beyond[..self.beyond_number] {
            for channel in 0..3 {
                out[channel][place] = row[column * 3 + channel];
            }
        }
        let pixels = row[self.column * 3..].as_chunks().0;
        v.enter(Split { pixels: &pixels[..self.number], out, start: self.inside });
    }

    /// Asks for the cache lines of a row that is to be copied.
    fn prefetch<V: Simd>(&self, v: V, row: &[u8], channels: usize) {
        let end = (self.column + self.number) * channels;
        for i in (self.column * channels..end).step_by(64) {
            v.prefetch(row, i);
        }
        v.prefetch(row, end - 1);
    }
}

/// Copies pixels, each channel to a row from element `start` on.
struct Split<'a> {
    pixels: &'a [[u8; 3]],
    out: [&'a mut [u8; SAMPLES]; 3],
    start: usize,
}

impl Work for Split<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, _: V) {
        let Self { pixels, out: [red, green, blue], start } = self;
        let place = start..start + pixels.len();
        let (red, green, blue) = (&mut red[place.clone()], &mut green[place.clone()], &mut blue[place]);
        for (((pixel, red), green), blue) in pixels.iter().zip(red).zip(green).zip(blue) {
            (*red, *green, *blue) = (pixel[0], pixel[1], pixel[2]);
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
        let after = if inside.end == number { read } else { inside.end * tile }.min(read)..read;
        let copied = [0..before, after].map(|out| Copied::new(out, first, width, config.border()));
        Self { words, first, inside, copied }
    }
}

impl<'a> Walk<'a, u8> {
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
        // Tiles walk as many rows as the window has, or a multiple.
        let size = 2 * window + 1;
        let block = BLOCK / size * size;
        let [kept, kept_sums] = tiles::kept(size, channels);
        let room = [words.number * kept * 2 * V::LANES, words.number * kept_sums * V::LANES];
        self.scratch.reserve_tiles(block * channels, room);
        let gradient_columns = columns.responses.start as isize - window as isize;
        let any_turned = self.turn(gradient_columns, (words.number - 1) * tile + 2 * V::LANES);

        let rows = self.computed_rows();
        let first = rows.start as isize - support as isize;
        // Rows of samples before the first that completes a row of responses.
        let without = 2 * support + tiles::DELAY;
        let mut waiting = self.waiting(words);
        let (mut consumed, mut complete, mut turn) = (0, rows.start, 0);
        // The rows of two blocks by turns: one to walk, and the one that follows.
        let mut blocks: [[&[u8]; RING]; 2] = [[&[]; RING]; 2];
        let block_from = |rows: &mut [&'a [u8]; RING], top: isize| {
            for (row, y) in rows[..block].iter_mut().zip(top..) {
                // Where nothing stands for a row, nothing valid depends on it.
                *row = image.row(border::inside(config.border(), y, image.height()).unwrap_or(0));
            }
        };
        block_from(&mut blocks[0], first);
        while complete < rows.end {
            let top = first + consumed as isize;
            let number = block.min((rows.len() + without - consumed).div_ceil(size) * size);
            block_from(&mut blocks[1 - turn], top + block as isize);
            let [walked, ahead] = [&blocks[turn], &blocks[1 - turn]];
            let mut turned_rows = 0;
            for i in 0..number {
                for copied in layout.copied.iter().filter(|copied| !copied.out.is_empty()) {
                    if channels == 1 {
                        copied.copy(walked[i], self.scratch.samples.row_mut(i));
                    } else {
                        copied.split(v, walked[i], self.scratch.samples.rows_mut(3 * i));
                    }
                    copied.prefetch(v, ahead[i], channels);
                }
                let gradient = top + i as isize - config.smoothing().radius() as isize - 2;
                turned_rows |= u64::from(is_turned(config.border(), gradient, image.height())) << i;
            }
            let threshold = found.threshold(config.threshold());
            let quiet = self.quiet(threshold);
            let Scratch { samples, signs, kept, kept_sums, responses, .. } = &mut *self.scratch;
            let tiles = Tiles {
                smoothing: config.smoothing(),
                gradient: config.gradient(),
                measure: config.measure(),
                radius: window,
                binomial: matches!(config.window(), Window::Binomial { .. }),
                scale: self.scale,
                threshold,
                quiet,
                channels,
                rows: number,
                image: walked,
                ahead,
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
                slot: complete % RING,
                words,
                width: columns.responses.len(),
            };
            tiles.walk(v);
            consumed += number;
            turn = 1 - turn;
            let end = (rows.start + consumed.saturating_sub(without)).min(rows.end);
            for y in complete..end {
                self.confine(&columns, y);
            }
            complete = end;
            self.collect_until(v, &columns, strip, complete, &mut waiting, found);
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
    let is_inside = (0..len as isize).contains(&i);
    !is_inside && border == Border::Reflect101 && period > 0 && i.rem_euclid(period) > len as isize - 1
}
