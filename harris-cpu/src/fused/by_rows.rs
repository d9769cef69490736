//! The walk by rows of 16-bit integers: 8-bit samples, box and binomial windows.

use std::ops::Range;

use harris_core::Window;
use harris_core::pipeline::border;

use super::gradients;
use super::layout::Split;
use super::peaks::Peaks;
use super::quiet::Quiet;
use super::responses::{RING, Words};
use super::samples::{Across, Differentiate, Down};
use super::scratch::{LEAD, STRIP, Scratch};
use super::tensor::{MOST_ROWS, NARROW, Respond, Slide, SlideOn, SumDown};
use super::walk::{Columns, Next, Walk};
use crate::simd::Simd;

/// Rows between the one that is read and the one that is asked for.
const AHEAD: usize = 4;

/// Rows of samples that a row is smoothed of, and smoothed ones for a row of gradients.
const SPLIT: usize = 5;
const SMOOTHED: usize = 3;
/// Channels of colours.
const CHANNELS: usize = 3;

/// Samples of a row beyond the image that is all zeros.
pub(super) static NOTHING: [u8; STRIP + 2 * LEAD] = [0; STRIP + 2 * LEAD];

impl Walk<'_, u8> {
    pub(super) fn strip_by_rows<V: Simd>(&mut self, v: V, strip: &Range<usize>, found: &mut Peaks) {
        let columns = Columns::new(strip, self.config, self.image.width());
        let mut threshold = self.threshold(found);
        let mut quiet = self.quiet(threshold);
        let ring = self.gradient_ring::<V>();
        self.reserve_rows(ring);
        let rows = self.computed_rows();
        let mut next = Next::new(rows.start, self.config);
        let mut waiting = self.waiting(Words::by_rows::<V>(self.earlier::<V>()));
        for y in rows.clone() {
            self.sum_down(v, &columns, y, y == rows.start, &mut next);
            let now = self.threshold(found);
            if now > threshold {
                (threshold, quiet) = (now, self.quiet(now));
            }
            if self.is_binomial() {
                self.respond::<V, true>(v, &columns, y, waiting.words, (threshold, quiet));
            } else {
                self.respond::<V, false>(v, &columns, y, waiting.words, (threshold, quiet));
            }
            self.finish_row(&columns, strip, y, waiting.words, found);
            self.collect_at(v, &columns, strip, y, &mut waiting, found);
        }
    }

    fn reserve_rows(&mut self, ring: usize) {
        let channels = self.image.channels();
        self.scratch.reserve([SMOOTHED * channels, ring * channels, SPLIT * channels]);
    }

    /// Brings the window's sums down the columns to row y.
    fn sum_down<V: Simd>(&mut self, v: V, columns: &Columns, y: usize, first: bool, next: &mut Next) {
        let ring = self.gradient_ring::<V>();
        let height = self.image.height();
        let window = self.config.window().radius();
        let last = (y + window).min(height - 1);
        while next.gradient <= last {
            let until = (self.computed_rows().end + window).min(height);
            self.next_gradients(v, columns, next, until, ring);
        }
        let (y, window) = (y as isize, window as isize);
        if self.is_binomial() {
            self.sum(v, columns, y);
        } else if first {
            for sums in self.scratch.sums.rows_mut::<6>(0) {
                sums.fill(0);
            }
            for row in y - window..=y + window {
                self.slide(v, columns, row, None);
            }
        } else {
            self.slide(v, columns, y + window, Some(y - 1 - window));
        }
    }

    fn is_binomial(&self) -> bool {
        matches!(self.config.window(), Window::Binomial { .. })
    }

    /// Whether sums run on across, too.
    fn runs_on(&self) -> bool {
        self.config.window().radius() > NARROW
    }

    /// How far before multiples of their length vectors of responses begin: where sums run on across, so that windows begin with whole
    /// cache lines of them (and those of 31 end so, too).
    fn earlier<V: Simd>(&self) -> usize {
        let pairs_before = self.config.window().radius() / 2 + 1;
        if self.runs_on() { 2 * (pairs_before.next_multiple_of(V::LANES) - pairs_before) } else { 0 }
    }

    /// Rows in the rings of gradients: those of the window and the one that leaves it, and what is computed ahead.
    fn gradient_ring<V: Simd>(&self) -> usize {
        let ahead =
            if gradients::by_tiles::<V>(self.config, self.image.channels()) { gradients::BLOCK } else { 1 };
        2 * self.config.window().radius() + 1 + ahead
    }

    fn slide<V: Simd>(&mut self, v: V, columns: &Columns, enters: isize, leaves: Option<isize>) {
        let (ring, runs_on, window) =
            (self.gradient_ring::<V>(), self.runs_on(), self.config.window().radius());
        let (border, height) = (self.config.border(), self.image.height());
        for channel in 0..self.image.channels() {
            let Scratch { gradients, zero, sums, .. } = &mut *self.scratch;
            let row = |y: Option<isize>| {
                let place =
                    y.and_then(|y| border::inside(border, y, height)).map(|y| channel * ring + y % ring);
                gradients.each_ref().map(|rows| place.map_or(zero.row(0), |place| rows.row(place)))
            };
            let (enters, leaves) = (row(Some(enters)), row(leaves));
            let [aa, bb, cc, ao, bo, co] = sums.rows_mut(0);
            let (pairs, odds) = ([aa, bb, cc], [ao, bo, co]);
            let span = summed(columns, window);
            if runs_on {
                // From the column before those of the first window on.
                let span = span.start - 1..span.end;
                v.enter(SlideOn { enters, leaves, odds: pairs, evens: odds, span });
            } else {
                v.enter(Slide { enters, leaves, pairs, odds, span });
            }
        }
    }

    /// Sums the rows of a binomial window about row y.
    fn sum<V: Simd>(&mut self, v: V, columns: &Columns, y: isize) {
        let (ring, window) = (self.gradient_ring::<V>(), self.config.window().radius());
        let (border, height) = (self.config.border(), self.image.height());
        let span = summed(columns, window);
        for channel in 0..self.image.channels() {
            let Scratch { gradients, zero, sums, .. } = &mut *self.scratch;
            let mut rows = [[zero.row(0); 2]; MOST_ROWS];
            for (row, y) in rows.iter_mut().zip(y - window as isize..=y + window as isize) {
                if let Some(y) = border::inside(border, y, height) {
                    *row = gradients.each_ref().map(|rows| rows.row(channel * ring + y % ring));
                }
            }
            let [aa, bb, cc, ao, bo, co] = sums.rows_mut(0);
            let (pairs, odds, span) = ([aa, bb, cc], [ao, bo, co], span.clone());
            v.enter(SumDown { rows, number: 2 * window + 1, adds: channel > 0, pairs, odds, span });
        }
    }

    /// Computes the next row of gradients, or rows up to `until`.
    fn next_gradients<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        next: &mut Next,
        until: usize,
        ring: usize,
    ) {
        let start = next.gradient;
        if gradients::by_tiles::<V>(self.config, self.image.channels()) {
            next.gradient = until.min(start + gradients::BLOCK);
            self.gradients(v, columns, start..next.gradient, ring);
        } else {
            self.gradient(v, columns, next, ring);
        }
        for y in start..next.gradient {
            for channel in 0..self.image.channels() {
                for rows in &mut self.scratch.gradients {
                    columns.product_edge.extend(rows.row_mut(channel * ring + y % ring));
                }
            }
        }
    }

    /// Computes the next row of gradients.
    fn gradient<V: Simd>(&mut self, v: V, columns: &Columns, next: &mut Next, ring: usize) {
        let (y, height) = (next.gradient, self.image.height());
        while next.smoothed <= (y + 1).min(height - 1) {
            self.smooth(v, columns, next);
        }
        let border = self.config.border();
        for channel in 0..self.image.channels() {
            let Scratch { smoothed, zero, lines, gradients, .. } = &mut *self.scratch;
            let row = |dy: isize| match border::inside(border, y as isize + dy, height) {
                Some(y) => smoothed.row(channel * SMOOTHED + y % SMOOTHED),
                None => zero.row(0),
            };
            let [gx, gy] = gradients.each_mut().map(|rows| rows.row_mut(channel * ring + y % ring));
            v.enter(Differentiate {
                gradient: self.config.gradient(),
                smoothed: [row(-1), row(0), row(1)],
                lines: lines.each_mut().map(|rows| rows.row_mut(0)),
                gx,
                gy,
                span: columns.span(&columns.gradients),
            });
        }
        next.gradient += 1;
    }

    /// Smooths the next row.
    fn smooth<V: Simd>(&mut self, v: V, columns: &Columns, next: &mut Next) {
        let (image, y) = (self.image, next.smoothed);
        let (border, smoothing) = (self.config.border(), self.config.smoothing());
        let (last, samples) = (image.height() - 1, columns.samples.clone());
        if image.channels() > 1 {
            while next.across <= (y + smoothing.radius()).min(last) {
                self.split(v, columns, next.across);
                next.across += 1;
            }
        }
        for channel in 0..image.channels() {
            let Scratch { samples: split, column_sums, smoothed, .. } = &mut *self.scratch;
            let row = |dy: isize| match border::inside(border, y as isize + dy, image.height()) {
                Some(y) if image.channels() == 1 => &image.row(y)[samples.clone()],
                Some(y) => &split.row(y % SPLIT * CHANNELS + channel)[..samples.len()],
                None => &NOTHING[..samples.len()],
            };
            let rows = [row(-2), row(-1), row(0), row(1), row(2)];
            // What is split is asked for then.
            let ahead = if image.channels() == 1 {
                &image.row((y + 2 + AHEAD).min(last))[samples.clone()]
            } else {
                rows[2]
            };
            let (sums, out) = (column_sums.row_mut(0), smoothed.row_mut(channel * SMOOTHED + y % SMOOTHED));
            let start = columns.place(samples.start as isize);
            v.enter(Down { smoothing, rows, ahead, out: sums, start });
            columns.sample_edge.extend(sums);
            v.enter(Across { smoothing, sums, out, span: columns.span(&columns.smoothed) });
            columns.smoothed_edge.extend(out);
        }
        next.smoothed += 1;
    }

    /// Splits row y into its channels.
    fn split<V: Simd>(&mut self, v: V, columns: &Columns, y: usize) {
        let pixels = columns.samples.start * CHANNELS..columns.samples.end * CHANNELS;
        let ahead = self.image.row((y + AHEAD).min(self.image.height() - 1));
        for i in pixels.clone().step_by(64) {
            v.prefetch(ahead, i);
        }
        let out = self.scratch.samples.rows_mut(y % SPLIT * CHANNELS);
        v.enter(Split { pixels: self.image.row(y)[pixels].as_chunks().0, out, start: 0 });
    }

    /// Computes the responses of row y; `B` tells binomial windows.
    fn respond<V: Simd, const B: bool>(
        &mut self,
        v: V,
        columns: &Columns,
        y: usize,
        words: Words,
        (threshold, quiet): (f32, Quiet),
    ) {
        if !self.has_responses(y) {
            return;
        }
        let Scratch { sums, responses, .. } = &mut *self.scratch;
        let [aa, bb, cc, ao, bo, co] = sums.rows_mut(0).map(|row| &*row);
        v.enter(Respond::<B> {
            measure: self.config.measure(),
            threshold,
            quiet,
            radius: self.config.window().radius(),
            scale: self.scale,
            pairs: [aa, bb, cc],
            odds: [ao, bo, co],
            out: responses,
            slot: y % RING,
            words,
            span: columns.span(&columns.responses),
        });
    }
}

/// The elements that windows of a radius read.
fn summed(columns: &Columns, window: usize) -> Range<usize> {
    let reach = columns.span(&columns.responses);
    reach.start - window..reach.end + window
}
