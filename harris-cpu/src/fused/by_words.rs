//! The walk by words of rows: 8-bit samples, box and binomial windows up to 7.
//!
//! Rows of gradients as in the walk by rows ([`super::by_rows`]), but windows word by word, a block of rows at a time, and only where something is
//! loud ([`super::windows`]). A word has as many columns as a vector has whole windows.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{HarrisConfig, Measure, Window};

use super::MOST_RADIUS;
use super::by_rows::CHANNELS;
use super::peaks::Peaks;
use super::quiet::Quiet;
use super::responses::{RING, Responses, Words};
use super::scratch::{Row16, Scratch};
use super::tensor::NARROW;
use super::walk::{Columns, Next, Walk};
use super::windows::{Gradients, Listen, Windows, heard};
use crate::simd::{Simd, Work};

/// Columns of a word of windows at least, those of box windows, and the A + C that a response asks for: with less, sums of whole rows take less
/// time than those of the words that are loud.
const LEAST_WORD: usize = 10;
const LEAST_BOX_WORD: usize = 12;
const LEAST_CONTRAST: f32 = 0.004;

/// Whether vectors have words: the narrowest window takes two of their columns.
pub(super) const fn has_words<V: Simd>() -> bool {
    V::IN_REGISTERS && 2 * V::LANES >= 2 + LEAST_WORD
}

/// Columns of a word, where words take less time than sums of whole rows; `contrast` is the A + C that the threshold asks for.
pub(super) fn columns<V: Simd>(config: &HarrisConfig, contrast: f32) -> Option<usize> {
    let (lanes, radius) = (2 * V::LANES, config.window().radius());
    let least = if matches!(config.window(), Window::Box { .. }) { LEAST_BOX_WORD } else { LEAST_WORD };
    let is_quicker = contrast >= LEAST_CONTRAST && radius <= NARROW && lanes >= 2 * radius + least;
    is_quicker.then(|| lanes - 2 * radius)
}

impl Walk<'_, u8> {
    /// The walk by blocks of rows, word by word: windows are summed where gradients suffice for a response.
    pub(super) fn strip_by_words<V: Simd>(
        &mut self,
        v: V,
        strip: &Range<usize>,
        step: usize,
        found: &mut Peaks,
    ) {
        let columns = &Columns::new(strip, self.config, self.image.width());
        let (height, window) = (self.image.height(), self.config.window().radius());
        let ring = 2 * window + ROWS;
        self.reserve_rows(ring);
        let (rows, binomial) = (self.computed_rows(), self.is_binomial());
        let mut next = Next::new(rows.start, self.config);
        let start = columns.place(columns.responses.start as isize);
        let words = Words { start, step, number: columns.responses.len().div_ceil(step) };
        let mut waiting = self.waiting(words);
        for top in rows.clone().step_by(ROWS) {
            let end = (top + ROWS).min(rows.end);
            let last = (end + window).min(height);
            while next.gradient < last {
                self.next_gradients(v, columns, &mut next, last, ring);
            }
            let threshold = self.threshold(found);
            let quiet = self.quiet(threshold);
            let Scratch { gradients, zero, responses, .. } = &mut *self.scratch;
            let mut gradients_of = [[[zero.row(0); 2]; ROWS + 2 * NARROW]; CHANNELS];
            for (channel, rows) in gradients_of.iter_mut().enumerate().take(self.image.channels()) {
                for (row, y) in rows.iter_mut().zip(top as isize - window as isize..(end + window) as isize) {
                    if let Some(y) = border::inside(self.config.border(), y, height) {
                        *row = gradients.each_ref().map(|rows| rows.row(channel * ring + y % ring));
                    }
                }
            }
            let block = Block {
                measure: self.config.measure(),
                radius: window,
                binomial,
                scale: self.scale,
                threshold,
                quiet,
                channels: self.image.channels(),
                gradients: gradients_of,
                rows: end - top,
                slot: top % RING,
                responses,
                words,
                width: columns.responses.len(),
            };
            block.respond(v);
            for y in top..end {
                self.finish_row(columns, strip, y);
            }
            self.collect_until(v, columns, strip, end, &mut waiting, found);
        }
    }
}

/// Rows of a block at most.
const ROWS: usize = 32;
const _: () = assert!(ROWS + 4 * MOST_RADIUS < RING);

/// gx and gy of a block's rows and those of their windows.
type Rows<'a> = [[&'a Row16; 2]; ROWS + 2 * NARROW];

/// A block of rows.
struct Block<'a> {
    measure: Measure,
    /// Radius of the window, and whether it is binomial, not a box.
    radius: usize,
    binomial: bool,
    scale: f32,
    threshold: f32,
    quiet: Quiet,
    channels: usize,
    /// Channel by channel.
    gradients: [Rows<'a>; 3],
    /// Rows of responses, and the place of the first.
    rows: usize,
    slot: usize,
    responses: &'a mut Responses,
    words: Words,
    /// Columns in all.
    width: usize,
}

/// Vectors of rows, from an element on.
struct Word<'a> {
    rows: &'a [Rows<'a>; 3],
    place: usize,
}

impl Gradients for Word<'_> {
    #[inline(always)]
    fn load<V: Simd>(&self, v: V, channel: usize, row: usize) -> [V::I16; 2] {
        let [x, y] = self.rows[channel][row];
        [v.load_i16(x, self.place), v.load_i16(y, self.place)]
    }
}

struct Kernel<'a, const S: usize, const C: usize, const B: bool>(Block<'a>);

impl<'a> Block<'a> {
    fn respond<V: Simd>(self, v: V) {
        match (self.binomial, self.channels) {
            (false, 1) => self.enter::<V, 1, false>(v),
            (false, _) => self.enter::<V, 3, false>(v),
            (true, 1) => self.enter::<V, 1, true>(v),
            (true, _) => self.enter::<V, 3, true>(v),
        }
    }

    fn enter<V: Simd, const C: usize, const B: bool>(self, v: V) {
        match self.radius {
            1 => v.enter(Kernel::<'a, 3, C, B>(self)),
            2 => v.enter(Kernel::<'a, 5, C, B>(self)),
            _ => v.enter(Kernel::<'a, 7, C, B>(self)),
        }
    }
}

impl<const S: usize, const C: usize, const B: bool> Work for Kernel<'_, S, C, B> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Block { measure, scale, threshold, quiet, gradients, rows, slot, responses, words, .. } = self.0;
        let all = u64::MAX >> (64 - rows);
        for number in 0..words.number {
            let column = number * words.step;
            let columns = words.step.min(self.0.width - column);
            let word = (number, words.start + column);
            let listen = Listen::new(v, quiet, (S / 2, B), columns);
            let source = Word { rows: &gradients, place: word.1 - S / 2 };
            let heard = heard(listen.rows::<C>(v, &source, rows + S - 1), S) & all;
            let mut computed = 0;
            if heard != 0 {
                let windows = Windows {
                    measure,
                    scale,
                    threshold,
                    quiet,
                    gradients: &source,
                    first: 0,
                    heard,
                    responses: &mut *responses,
                    slot,
                    word,
                    columns,
                };
                computed = windows.within::<V, S, C, B>(v);
            }
            responses.complete(v, word, slot, (all, computed));
        }
    }
}
