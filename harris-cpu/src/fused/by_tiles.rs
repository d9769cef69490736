//! The walk by tiles ([`super::tiles`]): blocks of rows, tile by tile.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, HarrisConfig, Smoothing};

use super::FusedSample;
use super::layout::Layout;
use super::peaks::Peaks;
use super::responses::{RING, Words};
use super::scratch::{BLOCK, Rows, SAMPLES, Scratch};
use super::stages::beyond;
use super::walk::{Columns, Walk};
use crate::simd::Simd;

/// Samples of which there are tiles.
pub(super) trait Tiled: FusedSample + Default {
    /// Turns between a row of samples that completes a row of gradients and that row.
    fn delay<V: Simd>(smoothing: Smoothing) -> usize;

    /// Where samples are copied to that stand for others.
    fn copies(scratch: &mut Scratch) -> &mut Rows<Self, SAMPLES>;

    /// Makes room for so many tiles, which keep nothing yet.
    fn begin(scratch: &mut Scratch, config: &HarrisConfig, channels: usize, tiles: usize);

    /// Computes the responses of a part of a strip, and marks those above a threshold.
    fn respond<V: Simd>(walk: &mut Walk<'_, Self>, v: V, part: Part<'_, Self>);
}

/// A block of rows of a strip, and its tiles.
pub(super) struct Part<'a, T> {
    pub(super) threshold: f32,
    /// Rows of samples.
    pub(super) rows: usize,
    /// The samples of gray images, for tiles that lie within it.
    pub(super) image: &'a [&'a [T]; RING],
    /// The rows that follow.
    pub(super) ahead: &'a [&'a [T]; RING],
    /// The column of the first tile's first sample, and the tiles that read from `image`; others read copies.
    pub(super) first: isize,
    pub(super) inside: Range<usize>,
    /// Whether gy is turned in any column.
    pub(super) any_turned: bool,
    /// Of each row of samples as a bit, whether gy is turned in the row of gradients that is computed with it.
    pub(super) turned_rows: u64,
    /// Rows of samples that complete no row of responses.
    pub(super) without: usize,
    /// The place of the first row of responses.
    pub(super) slot: usize,
    /// The tiles, and their columns in all.
    pub(super) words: Words,
    pub(super) width: usize,
}

/// Walks down a strip by tiles of so many columns.
pub(super) fn strip<'a, T: Tiled, V: Simd>(
    walk: &mut Walk<'a, T>,
    v: V,
    strip: &Range<usize>,
    tile: usize,
    found: &mut Peaks,
) {
    let (config, image) = (walk.config, walk.image);
    let columns = Columns::new(strip, config, image.width());
    let (window, support, channels) = (config.window().radius(), config.support_radius(), image.channels());
    let layout = Layout::new(
        (&columns.responses, columns.place(columns.responses.start as isize)),
        (support, config.border()),
        (tile, 2 * V::LANES + beyond(config.smoothing())),
        &image,
    );
    let words = layout.words;
    T::copies(walk.scratch).reserve(BLOCK * channels);
    T::begin(walk.scratch, config, channels, words.number);
    let gradient_columns = columns.responses.start as isize - window as isize;
    let any_turned = turn(walk, gradient_columns, (words.number - 1) * tile + 2 * V::LANES);

    let rows = walk.computed_rows();
    let first = rows.start as isize - support as isize;
    // Rows of samples before the first that completes a row of responses.
    let delay = T::delay::<V>(config.smoothing());
    let without = 2 * support + delay;
    let mut waiting = walk.waiting(words);
    let (mut consumed, mut complete, mut turn) = (0, rows.start, 0);
    // The rows of two blocks by turns: one to walk, and the one that follows.
    let mut blocks: [[&[T]; RING]; 2] = [[&[]; RING]; 2];
    let block_from = |rows: &mut [&'a [T]; RING], top: isize| {
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
                    copied.copy(walked[i], T::copies(walk.scratch).row_mut(i));
                } else {
                    copied.split(v, walked[i], T::copies(walk.scratch).rows_mut(3 * i));
                }
                copied.prefetch(v, ahead[i], channels);
            }
            let gradient = top + i as isize - (config.smoothing().radius() + 1 + delay) as isize;
            turned_rows |= u64::from(is_turned(config.border(), gradient, image.height())) << i;
        }
        let threshold = walk.threshold(found);
        let part = Part {
            threshold,
            rows: number,
            image: walked,
            ahead,
            first: layout.first,
            inside: layout.inside.clone(),
            any_turned,
            turned_rows,
            without: without.saturating_sub(consumed),
            slot: complete % RING,
            words,
            width: columns.responses.len(),
        };
        T::respond(walk, v, part);
        consumed += number;
        turn = 1 - turn;
        let end = (rows.start + consumed.saturating_sub(without)).min(rows.end);
        for y in complete..end {
            walk.finish_row(&columns, strip, y);
        }
        complete = end;
        walk.collect_until(v, &columns, strip, complete, &mut waiting, found);
    }
}

/// Sets what turns gy in the `number` columns from `start` on, and returns whether any is turned.
fn turn<T: Tiled>(walk: &mut Walk<'_, T>, start: isize, number: usize) -> bool {
    let width = walk.image.width();
    let signs = &mut walk.scratch.signs[..number];
    signs.fill(1);
    let outside = (start..0).chain((width as isize).max(start)..start + number as isize);
    let mut any = false;
    for x in outside.filter(|&x| is_turned(walk.config.border(), x, width)) {
        signs[(x - start) as usize] = -1;
        any = true;
    }
    any
}

/// Whether samples stand mirrored at place `i` of a line of `len`.
fn is_turned(border: Border, i: isize, len: usize) -> bool {
    let period = 2 * (len as isize - 1);
    let is_inside = (0..len as isize).contains(&i);
    !is_inside && border == Border::Reflect101 && period > 0 && i.rem_euclid(period) > len as isize - 1
}
