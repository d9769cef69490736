//! The walk by tiles ([`super::tiles`], [`super::float_tiles`]): blocks of rows, tile by tile.

use std::mem;
use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, HarrisConfig, Smoothing};

use super::FusedSample;
use super::layout::Layout;
use super::peaks::Peaks;
use super::responses::{RING, Words};
use super::scratch::{Aligned, BLOCK, Rows, SAMPLES, Scratch};
use super::stages::beyond;
use super::walk::{Columns, Walk};
use crate::simd::Simd;

/// A kind of tiles.
pub(super) trait Tiled {
    type Sample: FusedSample + Default;

    /// Turns between a row of samples that completes a row of gradients and that row.
    fn delay<V: Simd>(smoothing: Smoothing) -> usize;

    /// Where samples are copied to that stand for others.
    fn copies(scratch: &mut Scratch) -> &mut Rows<Self::Sample, SAMPLES>;

    /// Where a row of nothing is kept.
    fn nothing(scratch: &mut Scratch) -> &mut Vec<Self::Sample>;

    /// Makes room for so many tiles, which keep nothing yet.
    fn begin(scratch: &mut Scratch, config: &HarrisConfig, channels: usize, tiles: usize);

    /// Computes the responses of a part of a strip, and marks those above a threshold.
    fn respond<V: Simd>(walk: &mut Walk<'_, Self::Sample>, v: V, part: Part<'_, Self::Sample>);
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
    /// What stands for gradients beyond the image, where it is not what those of samples beyond it are.
    pub(super) beyond: Option<Beyond>,
    /// Rows of samples that complete no row of responses.
    pub(super) without: usize,
    /// The place of the first row of responses.
    pub(super) slot: usize,
    /// The tiles, and their columns in all.
    pub(super) words: Words,
    pub(super) width: usize,
}

impl<T> Part<'_, T> {
    /// The rows of responses that the part completes, as bits, and those in whose windows of `size` rows one is loud, of the rows of gradients
    /// that are; none where it completes none.
    #[inline(always)]
    pub(super) fn heard(&self, loud: u64, size: usize) -> Option<[u64; 2]> {
        let number = self.rows.checked_sub(self.without).filter(|&number| number > 0)?;
        let all = u64::MAX >> (64 - number);
        let heard = (0..size).fold(0, |heard, row| heard | loud >> row);
        Some([all, heard >> self.without & all])
    }
}

/// Under `Replicate` and `Zero`, what stands for smoothed samples and for gradients beyond the image is the nearest of them, or nothing: not
/// what the stages make of samples there.
#[derive(Clone, Copy)]
pub(super) struct Beyond {
    border: Border,
    width: usize,
    height: usize,
    /// The row of gradients of a part's first turn, and the column of those of the first tile's first lane.
    row: isize,
    column: isize,
}

/// Turns, and lanes of a row of gradients, that are within the image.
pub(super) struct Edges {
    border: Border,
    /// The turns that give the image's first and its last row of gradients, or none of the part's.
    pub(super) first: usize,
    pub(super) last: usize,
    /// The lanes of a row of gradients, and of the smoothed one before it.
    gradients: Range<usize>,
    smoothed: Range<usize>,
    lanes: usize,
    /// Whether lanes of the smoothed row lie beyond it.
    is_cut: bool,
    /// Rows of the part above the image, and the first one below it.
    above: usize,
    below: usize,
}

impl Beyond {
    /// For so many turns of a part, and so many lanes of a tile from a column on.
    #[inline(never)]
    fn edges(&self, rows: usize, column: usize, lanes: usize) -> Edges {
        let inside = |start: isize| {
            let within = |lane: isize| lane.clamp(0, lanes as isize) as usize;
            within(-start)..within(self.width as isize - start)
        };
        let turn = |row: isize| usize::try_from(row - self.row).ok().filter(|&turn| turn < rows);
        let column = self.column + column as isize;
        let (gradients, smoothed) = (inside(column), inside(column - 1));
        let within = |row: isize| (row - self.row).clamp(0, rows as isize) as usize;
        Edges {
            border: self.border,
            first: turn(0).unwrap_or(usize::MAX),
            last: turn(self.height as isize - 1).unwrap_or(usize::MAX),
            is_cut: smoothed.len() < lanes,
            gradients,
            smoothed,
            lanes,
            above: within(0),
            below: within(self.height as isize),
        }
    }
}

impl Edges {
    /// For a tile of a part, of so many lanes from a column on; none where nothing but samples beyond the image matters.
    #[inline(always)]
    pub(super) fn of<T>(part: &Part<'_, T>, column: usize, lanes: usize) -> Option<Self> {
        part.beyond.map(|beyond| beyond.edges(part.rows, column, lanes))
    }

    /// Up to where turns go on from turn `from`, of so many: where smoothed samples lie beyond the image, they are extended after each.
    #[inline(always)]
    pub(super) fn until(&self, from: usize, number: usize) -> usize {
        if self.is_cut {
            return from + 1;
        }
        let stop = |stop: usize| if stop > from { stop } else { number };
        stop(self.first).min(stop(self.last)).min(number)
    }

    /// Whether what stages repeat is the last row, not nothing.
    #[inline(always)]
    pub(super) fn repeats(&self) -> bool {
        self.border == Border::Replicate
    }

    pub(super) fn extend_smoothed<N: Copy + Default>(&self, row: &mut [N]) {
        if self.is_cut {
            self.extend(&mut row[..self.lanes], &self.smoothed);
        }
    }

    fn extend<N: Copy + Default>(&self, row: &mut [N], inside: &Range<usize>) {
        let [mut before, mut after] = [N::default(); 2];
        if self.repeats() {
            [before, after] = [row[inside.start], row[inside.end - 1]];
        }
        row[..inside.start].fill(before);
        row[inside.end..].fill(after);
    }

    /// Puts what stands for gradients beyond the image, and the image's last row of them, in a tile's rows of gradients, of which the part's begin
    /// behind `known` ones; tells whether there was any.
    pub(super) fn extend_gradients<N: Copy + Default, const L: usize>(
        &self,
        rows: &mut [Aligned<[N; L], 2>],
        known: usize,
        last: Aligned<[N; L], 2>,
    ) -> bool {
        if let Some(row) = rows[known..].get_mut(self.last) {
            *row = last;
        }
        let number = rows.len() - known;
        let below = self.below.min(number);
        let is_cut = self.gradients.len() < self.lanes;
        if is_cut {
            for row in &mut rows[known + self.above..known + below] {
                for row in &mut row.0 {
                    self.extend(&mut row[..self.lanes], &self.gradients);
                }
            }
        }
        let nothing = Aligned([[N::default(); L]; 2]);
        let nearest = |at: usize| if self.repeats() { Some(at) } else { None };
        if self.above > 0 {
            let row = nearest(known + self.above).map_or(nothing, |at| rows[at]);
            rows[known..known + self.above].fill(row);
        }
        if below < number {
            let row = nearest(known + below - 1).map_or(nothing, |at| rows[at]);
            rows[known + below..].fill(row);
        }
        is_cut || self.above > 0 || below < number || self.last < number
    }
}

/// Walks down a strip by tiles of so many columns.
pub(super) fn strip<T: Tiled, V: Simd>(
    walk: &mut Walk<'_, T::Sample>,
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
    let mut nothing = mem::take(T::nothing(walk.scratch));
    if config.border() == Border::Zero {
        nothing.resize(image.width() * channels, T::Sample::default());
    }
    // The rows of two blocks by turns: one to walk, and the one that follows.
    let mut blocks: [[&[T::Sample]; RING]; 2] = [[&[]; RING]; 2];
    let block_from = |rows: &mut [_; RING], top: isize| {
        for (row, y) in rows[..BLOCK].iter_mut().zip(top..) {
            *row = match border::inside(config.border(), y, image.height()) {
                Some(y) => image.row(y),
                None if config.border() == Border::Zero => &nothing[..],
                // Nothing valid depends on it.
                None => image.row(0),
            };
        }
    };
    block_from(&mut blocks[0], first);
    while complete < rows.end {
        let top = first + consumed as isize;
        let number = BLOCK.min(rows.len() + without - consumed);
        block_from(&mut blocks[1 - turn], top + BLOCK as isize);
        let [walked, ahead] = [&blocks[turn], &blocks[1 - turn]];
        let gradient = top - (config.smoothing().radius() + 1 + delay) as isize;
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
            turned_rows |= u64::from(is_turned(config.border(), gradient + i as isize, image.height())) << i;
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
            beyond: matches!(config.border(), Border::Replicate | Border::Zero).then_some(Beyond {
                border: config.border(),
                width: image.width(),
                height: image.height(),
                row: gradient,
                column: gradient_columns,
            }),
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
            walk.finish_row(&columns, strip, y, words, found);
        }
        complete = end;
        walk.collect_until(v, &columns, strip, complete, &mut waiting, found);
    }
    *T::nothing(walk.scratch) = nothing;
}

/// Sets what turns gy in the `number` columns from `start` on, and returns whether any is turned.
fn turn<T: FusedSample>(walk: &mut Walk<'_, T>, start: isize, number: usize) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    const LANES: usize = 8;
    const ROWS: usize = 5;
    const KNOWN: usize = 2;

    /// The gradients of row y from column x on, each axis with numbers of its own.
    fn row(y: isize, x: isize, of: impl Fn(isize, isize) -> isize) -> Aligned<[isize; LANES], 2> {
        let lanes = std::array::from_fn(|lane| of(y, x + lane as isize));
        Aligned([lanes, lanes.map(|value| -value)])
    }

    /// Gradients beyond the image become the nearest within it, or nothing; and it is told where any stand there, or the last row was put.
    #[test]
    fn what_stands_beyond_the_image_is_put_and_told() {
        let (mut told, mut cases) = (0, 0);
        for (border, (w, h)) in [Border::Replicate, Border::Zero]
            .into_iter()
            .flat_map(|border| [(1, 1), (3, 2), (20, 20)].map(|size| (border, size)))
        {
            let found = |y: isize, x: isize| 1000 + 100 * y + x;
            let is_last = |top: isize, y: isize| y == h - 1 && (0..ROWS as isize).contains(&(y - top));
            // Tiles have columns of the image, and parts reach its rows or follow them at once.
            for (top, x) in
                (1 - ROWS as isize..h + 2).flat_map(|top| (2 - LANES as isize..w - 1).map(move |x| (top, x)))
            {
                let beyond =
                    Beyond { border, width: w as usize, height: h as usize, row: top, column: x - 3 };
                let edges = beyond.edges(ROWS, 3, LANES);
                let expected = |y: isize, x: isize| {
                    let (near_y, near_x) = (y.clamp(0, h - 1), x.clamp(0, w - 1));
                    if border == Border::Zero && (y, x) != (near_y, near_x) {
                        0
                    } else {
                        found(near_y, near_x) + if is_last(top, near_y) { 1_000_000 } else { 0 }
                    }
                };
                // Rows that are known are as they shall be.
                let first = top - KNOWN as isize;
                let mut rows: [_; KNOWN + ROWS] = std::array::from_fn(|i| {
                    let y = first + i as isize;
                    if i < KNOWN { row(y, x, expected) } else { row(y, x, found) }
                });
                let last = row(h - 1, x, |y, x| found(y, x) + 1_000_000);
                let is_told = edges.extend_gradients(&mut rows, KNOWN, last);
                for (i, found) in rows.iter().enumerate() {
                    let y = first + i as isize;
                    assert_eq!(
                        found.0,
                        row(y, x, expected).0,
                        "{border:?}, {w} x {h}, row {y}, from column {x} on"
                    );
                }
                let is_any = x < 0 || x + LANES as isize > w || top < 0 || top + ROWS as isize > h - 1;
                assert_eq!(is_told, is_any, "{border:?}, {w} x {h}, from row {top} and column {x} on");
                told += usize::from(is_told);
                cases += 1;
            }
        }
        assert!(told > 0 && told < cases, "{told} of {cases}");
    }
}
