//! The walk by tiles ([`super::tiles`]): blocks of rows, tile by tile.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, Window};

use super::layout::Layout;
use super::peaks::Peaks;
use super::responses::RING;
use super::scratch::{BLOCK, Scratch};
use super::stages;
use super::tiles::Tiles;
use super::walk::{Columns, Walk};
use crate::simd::Simd;

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
        let layout = Layout::new(
            (&columns.responses, columns.place(columns.responses.start as isize)),
            (support, config.border()),
            (tile, 2 * V::LANES + stages::beyond(config.smoothing())),
            &image,
        );
        let words = layout.words;
        self.scratch.reserve_tiles(BLOCK * channels, words.number * channels);
        let gradient_columns = columns.responses.start as isize - window as isize;
        let any_turned = self.turn(gradient_columns, (words.number - 1) * tile + 2 * V::LANES);

        let rows = self.computed_rows();
        let first = rows.start as isize - support as isize;
        // Rows of samples before the first that completes a row of responses.
        let delay = stages::delay::<V>(config.smoothing());
        let without = 2 * support + delay;
        let mut waiting = self.waiting(words);
        let (mut consumed, mut complete, mut turn) = (0, rows.start, 0);
        // The rows of two blocks by turns: one to walk, and the one that follows.
        let mut blocks: [[&[u8]; RING]; 2] = [[&[]; RING]; 2];
        let block_from = |rows: &mut [&'a [u8]; RING], top: isize| {
            for (row, y) in rows[..BLOCK].iter_mut().zip(top..) {
                // Where nothing stands for a row, nothing valid depends on it.
                *row = image.row(border::inside(config.border(), y, image.height()).unwrap_or(0));
            }
        };
        block_from(&mut blocks[0], first);
        while complete < rows.end {
            let top = first + consumed as isize;
            let number = BLOCK.min(rows.len() + without - consumed);
            block_from(&mut blocks[1 - turn], top + BLOCK as isize);
            let [walked, ahead] = [&blocks[turn], &blocks[1 - turn]];
            let mut turned_rows = 0;
            for i in 0..number {
                for copied in layout.copied() {
                    if channels == 1 {
                        copied.copy(walked[i], self.scratch.samples.row_mut(i));
                    } else {
                        copied.split(v, walked[i], self.scratch.samples.rows_mut(3 * i));
                    }
                    copied.prefetch(v, ahead[i], channels);
                }
                let gradient = top + i as isize - (config.smoothing().radius() + 1 + delay) as isize;
                turned_rows |= u64::from(is_turned(config.border(), gradient, image.height())) << i;
            }
            let threshold = self.threshold(found);
            let quiet = self.quiet(threshold);
            let Scratch { samples, signs, kept, tile, responses, .. } = &mut *self.scratch;
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
                gradients: tile,
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
                self.finish_row(&columns, strip, y);
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
