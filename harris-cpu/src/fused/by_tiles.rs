//! The walk by tiles ([`super::tiles`]): blocks of rows, tile by tile.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::Border;

use super::peaks::Peaks;
use super::scratch::{BLOCK, RING, Scratch, Words};
use super::tiles::{self, Tiles};
use super::walk::{Columns, Ring, Walk};
use crate::simd::Simd;

impl Walk<'_, u8> {
    pub(super) fn strip_by_tiles<V: Simd>(&mut self, v: V, strip: &Range<usize>, tile: usize, found: &mut Peaks) {
        let (width, height) = (self.image.width(), self.image.height());
        let columns = Columns::new(strip, self.config, width);
        let window = self.config.window().radius();
        let support = self.config.support_radius();
        let channels = self.image.channels();
        let rows = self.computed_rows();
        let start = columns.responses.start;
        let words = Words {
            start: columns.place(start as isize),
            step: tile,
            number: columns.responses.len().div_ceil(tile),
        };
        let [kept, kept_sums] = tiles::kept(2 * window + 1, channels);
        let block = BLOCK / (2 * window + 1) * (2 * window + 1);
        let room = [words.number * kept * 2 * V::LANES, words.number * kept_sums * V::LANES];
        self.scratch.reserve_tiles(block * channels, room);
        let any_turned = self.turn(start as isize - window as isize);
        // Columns of samples, of all tiles and of those within the image.
        let sample_columns = start as isize - support as isize;
        let number = (words.number - 1) * tile + 2 * V::LANES;
        let reaches = |t: usize| sample_columns + (t * tile) as isize;
        let is_inside =
            |t: &usize| channels == 1 && reaches(*t) >= 0 && reaches(*t) + 2 * V::LANES as isize <= width as isize;
        let from = (0..words.number).find(is_inside).unwrap_or(words.number);
        let inside = from..(from..words.number).take_while(is_inside).last().map_or(from, |t| t + 1);
        let extended = [0..((inside.start.max(1) - 1) * tile + 2 * V::LANES).min(number), (inside.end * tile).min(number)..number];
        let extended = if inside.start == 0 { [0..0, extended[1].clone()] } else { extended };
        let mut ring = Ring { rows: RING, words, uncollected: self.rows.start };
        let first = rows.start as isize - support as isize;
        // Rows of samples before the first that completes a row of responses.
        let without = 2 * support + tiles::DELAY;
        let mut consumed = 0;
        let mut complete = rows.start;
        while complete < rows.end {
            let top = first + consumed as isize;
            let mut turned_rows = 0;
            let mut image: [&[u8]; RING] = [&[]; RING];
            for i in 0..block {
                let y = top + i as isize;
                // Where nothing stands for a row, nothing valid depends on it.
                image[i] = self.image.row(border::inside(self.config.border(), y, height).unwrap_or(0));
                for columns in &extended {
                    for channel in 0..channels {
                        let out = &mut self.scratch.samples.row_mut(i * channels + channel)[columns.clone()];
                        extend_samples(out, image[i], (channel, channels), sample_columns + columns.start as isize, self.config.border());
                    }
                }
                let gradient = y - self.config.smoothing().radius() as isize - 2;
                turned_rows |= u64::from(is_turned(self.config.border(), gradient, height)) << i;
            }
            let threshold = found.threshold(self.config.threshold());
            let Scratch { samples, signs, kept, kept_sums, responses, candidates, .. } = &mut *self.scratch;
            v.enter(Tiles {
                smoothing: self.config.smoothing(),
                gradient: self.config.gradient(),
                measure: self.config.measure(),
                radius: window,
                scale: self.scale,
                threshold,
                channels,
                rows: block,
                image,
                first: sample_columns,
                inside: inside.clone(),
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
            });
            consumed += block;
            let end = (rows.start + consumed.saturating_sub(without)).min(rows.end);
            for y in complete..end {
                self.confine(&columns, y, y % RING);
            }
            complete = end;
            self.collect_until(v, &columns, strip, complete, &mut ring, found);
        }
    }

    /// Sets what turns gy in the columns from `start` on, and returns whether any is turned.
    fn turn(&mut self, start: isize) -> bool {
        let mut any = false;
        for (i, sign) in self.scratch.signs.iter_mut().enumerate() {
            let turned = is_turned(self.config.border(), start + i as isize, self.image.width());
            any |= turned;
            *sign = if turned { -1 } else { 1 };
        }
        any
    }
}

/// The samples of a channel of a row from column `start` on, extended beyond the image.
fn extend_samples(out: &mut [u8], row: &[u8], (channel, channels): (usize, usize), start: isize, border: Border) {
    let (width, number) = (row.len() / channels, out.len());
    let sample = |x: usize| row[x * channels + channel];
    // The columns within the image, and the elements for them.
    let inside = start.clamp(0, width as isize) as usize..(start + number as isize).clamp(0, width as isize) as usize;
    let place = (inside.start as isize - start).clamp(0, number as isize) as usize;
    let (before, rest) = out.split_at_mut(place);
    let (middle, after) = rest.split_at_mut(inside.len());
    if channels == 1 {
        middle.copy_from_slice(&row[inside.clone()]);
    } else {
        let pixels = row[inside.start * channels..].chunks_exact(channels);
        middle.iter_mut().zip(pixels).for_each(|(out, pixel)| *out = pixel[channel]);
    }
    let beyond = |x: isize| border::inside(border, x, width).map_or(0, sample);
    before.iter_mut().enumerate().for_each(|(i, out)| *out = beyond(start + i as isize));
    let first = start + (number - after.len()) as isize;
    after.iter_mut().enumerate().for_each(|(i, out)| *out = beyond(first + i as isize));
}

/// Whether samples stand mirrored at place `i` of a line of `len`.
fn is_turned(border: Border, i: isize, len: usize) -> bool {
    let period = 2 * (len as isize - 1);
    border == Border::Reflect101 && period > 0 && i.rem_euclid(period) > len as isize - 1
}
