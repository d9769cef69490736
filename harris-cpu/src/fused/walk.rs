//! The walk down the rows of a band, strip by strip.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, HarrisConfig, Raster};

use super::MOST_RADIUS;
use super::peaks::{Collect, Peaks, Scan};
use super::samples::{Across, Differentiate, Down};
use super::scratch::{BLOCK, LEAD, RING, STRIP, Scratch, Words};
use super::tensor::{self, NARROW, Respond, Slide};
use super::tiles::{self, Tiles};
use crate::simd::{Simd, WithSimd};

/// Elements that suppression reads beyond the last column: its radius and whole vectors.
const REACH: usize = MOST_RADIUS + 64;
/// Samples of a row beyond the image that is all zeros.
static NOTHING: [u8; STRIP + 2 * LEAD] = [0; STRIP + 2 * LEAD];

/// The work on one band of rows.
pub(crate) struct Walk<'a> {
    pub(crate) image: Raster<'a, u8>,
    pub(crate) mask: Option<Raster<'a, u8>>,
    pub(crate) config: &'a HarrisConfig,
    /// The band.
    pub(crate) rows: Range<usize>,
    /// 1 / ((norm · full scale)² · Σ weights)
    pub(crate) scale: f32,
    pub(crate) scratch: &'a mut Scratch,
}

impl WithSimd for Walk<'_> {
    type Output = Peaks;

    fn with<V: Simd>(mut self, v: V) -> Peaks {
        let mut found = Peaks::default();
        let width = self.image.width();
        let tile = tiles::covered(self.config).then(|| tiles::columns::<V>(self.config.support_radius()));
        for start in (0..width).step_by(STRIP) {
            let strip = start..(start + STRIP).min(width);
            match tile.flatten() {
                Some(tile) => self.strip_by_tiles(v, &strip, tile, &mut found),
                None => self.strip_by_rows(v, &strip, &mut found),
            }
        }
        found
    }
}

/// The columns that each stage computes for a strip: those within the image that the later ones reach.
struct Columns {
    /// Of the strip's first element, which may lie beyond the image.
    origin: isize,
    responses: Range<usize>,
    gradients: Range<usize>,
    smoothed: Range<usize>,
    samples: Range<usize>,
}

impl Columns {
    fn new(strip: &Range<usize>, config: &HarrisConfig, width: usize) -> Self {
        let reach = |columns: &Range<usize>, radius: usize| {
            columns.start.saturating_sub(radius)..(columns.end + radius).min(width)
        };
        let responses = reach(strip, config.suppression_radius());
        let gradients = reach(&responses, config.window().radius());
        let smoothed = reach(&gradients, config.gradient().radius());
        let samples = reach(&smoothed, config.smoothing().radius());
        Self { origin: strip.start as isize - LEAD as isize, responses, gradients, smoothed, samples }
    }

    /// The elements of columns.
    fn span(&self, columns: &Range<usize>) -> Range<usize> {
        self.place(columns.start as isize)..self.place(columns.end as isize)
    }

    fn place(&self, column: isize) -> usize {
        (column - self.origin) as usize
    }
}

impl Walk<'_> {
    fn strip_by_rows<V: Simd>(&mut self, v: V, strip: &Range<usize>, found: &mut Peaks) {
        let height = self.image.height();
        let columns = Columns::new(strip, self.config, self.image.width());
        let (radius, window) = (self.config.suppression_radius(), self.config.window().radius());
        self.scratch.reserve(window);
        let rows = self.rows.start.saturating_sub(radius)..(self.rows.end + radius).min(height);
        let mut next = Next { smoothed: 0, gradient: rows.start.saturating_sub(window) };
        next.smoothed = next.gradient.saturating_sub(1);
        let mut ring = Ring {
            rows: 2 * radius + 1,
            words: Words { start: LEAD, step: 64, number: strip.len().div_ceil(64) },
            uncollected: self.rows.start,
        };
        for y in rows.clone() {
            self.sum_down(v, &columns, y, y == rows.start, &mut next);
            let threshold = found.threshold(self.config.threshold());
            let slot = y % ring.rows;
            self.respond(v, &columns, y, slot);
            self.confine(&columns, y, slot);
            let Scratch { responses, candidates, .. } = &mut *self.scratch;
            v.enter(Scan {
                responses: &responses.0[slot].0,
                threshold,
                candidates: &mut candidates[slot],
                words: ring.words,
            });
            self.collect_until(v, &columns, strip, y + 1, &mut ring, found);
        }
    }

    fn strip_by_tiles<V: Simd>(&mut self, v: V, strip: &Range<usize>, tile: usize, found: &mut Peaks) {
        let (width, height) = (self.image.width(), self.image.height());
        let columns = Columns::new(strip, self.config, width);
        let (radius, window) = (self.config.suppression_radius(), self.config.window().radius());
        let support = self.config.support_radius();
        let channels = self.image.channels();
        let rows = self.rows.start.saturating_sub(radius)..(self.rows.end + radius).min(height);
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

    /// Collects the rows whose neighbourhoods lie above row `end`; at the image's bottom there is nothing below to wait
    /// for.
    fn collect_until<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        strip: &Range<usize>,
        end: usize,
        ring: &mut Ring,
        found: &mut Peaks,
    ) {
        let (width, height) = (self.image.width(), self.image.height());
        let (radius, margin) = (self.config.suppression_radius(), self.config.margin());
        let until = if end == height { height } else { end.saturating_sub(radius) };
        let rows = ring.uncollected..until.min(self.rows.end).max(ring.uncollected);
        ring.uncollected = rows.end;
        let Scratch { responses, nothing, candidates, .. } = &mut *self.scratch;
        v.enter(Collect {
            responses,
            candidates,
            ring: ring.rows,
            nothing: nothing.row(0),
            height,
            words: ring.words,
            radius,
            threshold: self.config.threshold(),
            rows,
            corner_rows: margin..height.saturating_sub(margin),
            origin: columns.origin,
            columns: strip.clone(),
            corner_columns: margin..width.saturating_sub(margin),
            found,
        });
    }

    /// Brings the window's sums down the columns to row y.
    fn sum_down<V: Simd>(&mut self, v: V, columns: &Columns, y: usize, first: bool, next: &mut Next) {
        let height = self.image.height();
        let window = self.config.window().radius();
        let last = (y + window).min(height - 1);
        while next.gradient <= last {
            self.gradient(v, columns, next);
        }
        let (y, window) = (y as isize, window as isize);
        if first {
            for sums in self.scratch.pairs.iter_mut().chain(&mut self.scratch.odds) {
                sums.row_mut(0).fill(0);
            }
            for row in y - window..=y + window {
                self.slide(v, columns, row, None);
            }
        } else {
            self.slide(v, columns, y + window, Some(y - 1 - window));
        }
        let Scratch { pairs, odds, prefixes, .. } = &mut *self.scratch;
        for (pairs, odds) in pairs.iter_mut().zip(odds) {
            extend_sums(pairs.row_mut(0), odds.row_mut(0), columns, self.config, self.image.width());
        }
        if self.config.window().radius() > NARROW {
            let pairs = pairs.each_ref().map(|rows| rows.row(0));
            tensor::running_sums(pairs, prefixes.each_mut().map(|rows| rows.row_mut(0)));
        }
    }

    fn slide<V: Simd>(&mut self, v: V, columns: &Columns, enters: isize, leaves: Option<isize>) {
        let ring = 2 * self.config.window().radius() + 2;
        let (border, height) = (self.config.border(), self.image.height());
        let Scratch { gradients, zero, pairs, odds, .. } = &mut *self.scratch;
        let row = |y: Option<isize>| {
            let y = y.and_then(|y| border::inside(border, y, height));
            gradients.each_ref().map(|rows| y.map_or(zero.row(0), |y| rows.row(y % ring)))
        };
        v.enter(Slide {
            enters: row(Some(enters)),
            leaves: row(leaves),
            pairs: pairs.each_mut().map(|rows| rows.row_mut(0)),
            odds: odds.each_mut().map(|rows| rows.row_mut(0)),
            span: columns.span(&columns.gradients),
        });
    }

    /// Computes the next row of gradients.
    fn gradient<V: Simd>(&mut self, v: V, columns: &Columns, next: &mut Next) {
        let (y, height) = (next.gradient, self.image.height());
        while next.smoothed <= (y + 1).min(height - 1) {
            self.smooth(v, columns, next.smoothed);
            next.smoothed += 1;
        }
        let ring = 2 * self.config.window().radius() + 2;
        let border = self.config.border();
        let Scratch { smoothed, zero, lines, gradients, .. } = &mut *self.scratch;
        let row = |dy: isize| match border::inside(border, y as isize + dy, height) {
            Some(y) => smoothed.row(y % 3),
            None => zero.row(0),
        };
        let [gx, gy] = gradients.each_mut().map(|rows| rows.row_mut(y % ring));
        v.enter(Differentiate {
            gradient: self.config.gradient(),
            smoothed: [row(-1), row(0), row(1)],
            lines: lines.each_mut().map(|rows| rows.row_mut(0)),
            gx,
            gy,
            span: columns.span(&columns.gradients),
        });
        next.gradient += 1;
    }

    /// Smooths row y.
    fn smooth<V: Simd>(&mut self, v: V, columns: &Columns, y: usize) {
        let (width, height) = (self.image.width(), self.image.height());
        let (border, smoothing) = (self.config.border(), self.config.smoothing());
        let row = |dy: isize| match border::inside(border, y as isize + dy, height) {
            Some(y) => &self.image.row(y)[columns.samples.clone()],
            None => &NOTHING[..columns.samples.len()],
        };
        let rows = [row(-2), row(-1), row(0), row(1), row(2)];
        let Scratch { column_sums, smoothed, .. } = &mut *self.scratch;
        let (sums, out) = (column_sums.row_mut(0), smoothed.row_mut(y % 3));
        v.enter(Down { smoothing, rows, out: sums, start: columns.place(columns.samples.start as isize) });
        extend(sums, columns, &columns.samples, smoothing.radius(), self.config, width);
        v.enter(Across { smoothing, sums, out, span: columns.span(&columns.smoothed) });
        extend(out, columns, &columns.smoothed, self.config.gradient().radius(), self.config, width);
    }

    /// Computes the responses of row y.
    fn respond<V: Simd>(&mut self, v: V, columns: &Columns, y: usize, slot: usize) {
        let frame = self.config.invalid_frame();
        if y < frame || y + frame >= self.image.height() {
            return;
        }
        let Scratch { pairs, odds, prefixes, responses, .. } = &mut *self.scratch;
        v.enter(Respond {
            measure: self.config.measure(),
            radius: self.config.window().radius(),
            scale: self.scale,
            pairs: pairs.each_ref().map(|rows| rows.row(0)),
            odds: odds.each_ref().map(|rows| rows.row(0)),
            prefixes: prefixes.each_ref().map(|rows| rows.row(0)),
            out: &mut responses.0[slot].0,
            span: columns.span(&columns.responses),
        });
    }

    /// Puts −∞ where there is no response in row y, or it does not compete.
    fn confine(&mut self, columns: &Columns, y: usize, slot: usize) {
        let (width, height) = (self.image.width(), self.image.height());
        let frame = self.config.invalid_frame();
        let out = &mut self.scratch.responses.0[slot].0;
        if y < frame || y + frame >= height {
            out.fill(f32::NEG_INFINITY);
            return;
        }
        let valid = columns.responses.start.max(frame)..columns.responses.end.min(width - frame);
        let valid = valid.start..valid.end.max(valid.start);
        let place = columns.span(&valid);
        // What suppression and whole vectors reach beyond the valid columns; other strips end within them.
        if valid.start <= frame {
            let reach = LEAD - MOST_RADIUS;
            out[reach..place.start.max(reach)].fill(f32::NEG_INFINITY);
        }
        if valid.end + frame >= width {
            let end = (place.end + REACH).min(out.len());
            out[place.end..end].fill(f32::NEG_INFINITY);
        }
        if let Some(mask) = self.mask {
            for (response, mask) in out[place].iter_mut().zip(&mask.row(y)[valid]) {
                if *mask == 0 {
                    *response = f32::NEG_INFINITY;
                }
            }
        }
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
        middle.iter_mut().zip(inside.clone()).for_each(|(out, x)| *out = sample(x));
    }
    let beyond = |x: isize| border::inside(border, x, width).map_or(0, sample);
    before.iter_mut().enumerate().for_each(|(i, out)| *out = beyond(start + i as isize));
    after.iter_mut().enumerate().for_each(|(i, out)| *out = beyond((inside.end + i) as isize));
}

/// Whether samples stand mirrored at place `i` of a line of `len`.
fn is_turned(border: Border, i: isize, len: usize) -> bool {
    let period = 2 * (len as isize - 1);
    border == Border::Reflect101 && period > 0 && i.rem_euclid(period) > len as isize - 1
}

/// The rows of responses that wait to be collected, by y mod `rows`.
struct Ring {
    rows: usize,
    words: Words,
    /// The next row to collect.
    uncollected: usize,
}

/// The next rows to compute.
struct Next {
    smoothed: usize,
    gradient: usize,
}

/// Extends a row of the columns `known` by the border rule, `radius` columns beyond the edges of the image.
fn extend(
    row: &mut [i16],
    columns: &Columns,
    known: &Range<usize>,
    radius: usize,
    config: &HarrisConfig,
    width: usize,
) {
    for column in beyond(known, radius, width) {
        let value =
            border::inside(config.border(), column, width).map_or(0, |x| row[columns.place(x as isize)]);
        row[columns.place(column)] = value;
    }
}

/// The same for the sums of pairs and odd columns.
fn extend_sums(pairs: &mut [i32], odds: &mut [i32], columns: &Columns, config: &HarrisConfig, width: usize) {
    for column in beyond(&columns.gradients, config.window().radius(), width) {
        let sum = border::inside(config.border(), column, width).map_or(0, |x| {
            let place = columns.place(x as isize);
            let odd = odds[place / 2];
            if place % 2 == 1 { odd } else { pairs[place / 2].wrapping_sub(odd) }
        });
        let place = columns.place(column);
        let odd = odds[place / 2];
        let even = pairs[place / 2].wrapping_sub(odd);
        let [even, odd] = if place % 2 == 1 { [even, sum] } else { [sum, odd] };
        pairs[place / 2] = even.wrapping_add(odd);
        odds[place / 2] = odd;
    }
}

/// The columns beyond the image's edges, where `known` reaches them.
fn beyond(known: &Range<usize>, radius: usize, width: usize) -> impl Iterator<Item = isize> {
    let (radius, width) = (radius as isize, width as isize);
    let before = if known.start == 0 { -radius..0 } else { 0..0 };
    let after = if known.end as isize == width { width..width + radius } else { 0..0 };
    before.chain(after)
}
