//! The walk down the rows of a band, strip by strip.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{HarrisConfig, Keypoint, Raster, Threshold};

use super::MOST_RADIUS;
use super::peaks::{Scan, Suppress};
use super::samples::{Across, Differentiate, Down};
use super::scratch::{LEAD, STRIP, Scratch};
use super::tensor::{self, NARROW, Respond, Slide};
use crate::simd::{Simd, WithSimd};

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

/// What a band holds.
pub(crate) struct Peaks {
    /// Peaks above the threshold as far as the band knows it, in no order.
    pub(crate) peaks: Vec<Keypoint>,
    /// The greatest response of the band, at least; never more than the image's.
    pub(crate) greatest: f32,
}

impl WithSimd for Walk<'_> {
    type Output = Peaks;

    fn with<V: Simd>(mut self, v: V) -> Peaks {
        self.scratch.reserve(self.config.window().radius());
        let mut found = Peaks { peaks: Vec::new(), greatest: f32::NEG_INFINITY };
        let width = self.image.width();
        for start in (0..width).step_by(STRIP) {
            self.strip(v, start..(start + STRIP).min(width), &mut found);
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
    fn strip<V: Simd>(&mut self, v: V, strip: Range<usize>, found: &mut Peaks) {
        let height = self.image.height();
        let columns = Columns::new(&strip, self.config, self.image.width());
        let (radius, window) = (self.config.suppression_radius(), self.config.window().radius());
        let rows = self.rows.start.saturating_sub(radius)..(self.rows.end + radius).min(height);
        let mut next = Next { smoothed: 0, gradient: rows.start.saturating_sub(window) };
        next.smoothed = next.gradient.saturating_sub(1);
        let mut uncollected = self.rows.start;
        for y in rows.clone() {
            self.sum_down(v, &columns, y, y == rows.start, &mut next);
            let threshold = self.threshold(found.greatest);
            self.respond(v, &columns, y);
            let slot = y % (2 * radius + 1);
            let Scratch { responses, candidates, .. } = &mut *self.scratch;
            let greatest = v.enter(Scan {
                responses: responses.row(slot),
                threshold,
                candidates: &mut candidates[slot],
                width: strip.len(),
            });
            found.greatest = found.greatest.max(greatest);
            while uncollected < self.rows.end && uncollected + radius <= y {
                self.collect(v, &columns, &strip, uncollected, found);
                uncollected += 1;
            }
        }
        // The last rows of the image have no rows below them to wait for.
        for y in uncollected..self.rows.end {
            self.collect(v, &columns, &strip, y, found);
        }
    }

    /// The threshold as far as it is known: at most the final one.
    fn threshold(&self, greatest: f32) -> f32 {
        match self.config.threshold() {
            Threshold::Absolute(value) => value,
            Threshold::Relative(quality) if greatest > 0.0 => quality * greatest,
            Threshold::Relative(_) | Threshold::Rosin { .. } | Threshold::None => 0.0,
        }
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

    /// Computes the responses of row y; where there is none, or it does not compete, −∞ stands for it.
    fn respond<V: Simd>(&mut self, v: V, columns: &Columns, y: usize) {
        let (width, height) = (self.image.width(), self.image.height());
        let frame = self.config.invalid_frame();
        let slot = y % (2 * self.config.suppression_radius() + 1);
        let Scratch { pairs, odds, prefixes, responses, .. } = &mut *self.scratch;
        let out = responses.row_mut(slot);
        if y < frame || y + frame >= height {
            out.fill(f32::NEG_INFINITY);
            return;
        }
        v.enter(Respond {
            measure: self.config.measure(),
            radius: self.config.window().radius(),
            scale: self.scale,
            pairs: pairs.each_ref().map(|rows| rows.row(0)),
            odds: odds.each_ref().map(|rows| rows.row(0)),
            prefixes: prefixes.each_ref().map(|rows| rows.row(0)),
            out,
            span: columns.span(&columns.responses),
        });
        let valid = columns.responses.start.max(frame)..columns.responses.end.min(width - frame);
        let valid = valid.start..valid.end.max(valid.start);
        let place = columns.span(&valid);
        // What suppression and whole vectors reach beyond the valid columns; other strips end within them.
        if valid.start <= frame {
            let reach = LEAD - MOST_RADIUS;
            out[reach..place.start.max(reach)].fill(f32::NEG_INFINITY);
        }
        if valid.end + frame >= width {
            out[place.end..].fill(f32::NEG_INFINITY);
        }
        if let Some(mask) = self.mask {
            for (response, mask) in out[place].iter_mut().zip(&mask.row(y)[valid]) {
                if *mask == 0 {
                    *response = f32::NEG_INFINITY;
                }
            }
        }
    }

    /// Collects the peaks of row y, whose neighbourhood has been computed.
    fn collect<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        strip: &Range<usize>,
        y: usize,
        found: &mut Peaks,
    ) {
        let (width, height) = (self.image.width(), self.image.height());
        let (radius, margin) = (self.config.suppression_radius(), self.config.margin());
        if y < margin || height - y <= margin {
            return;
        }
        let within = strip.start.max(margin)..strip.end.min(width.saturating_sub(margin));
        let threshold = self.threshold(found.greatest);
        let ring = 2 * radius + 1;
        let Scratch { responses, nothing, candidates, .. } = &mut *self.scratch;
        let mut rows = [nothing.row(0); 2 * MOST_RADIUS + 1];
        for (i, row) in rows.iter_mut().enumerate().take(ring) {
            if (radius..height + radius).contains(&(y + i)) {
                *row = responses.row((y + i - radius) % ring);
            }
        }
        let candidates = &mut candidates[y % ring];
        v.enter(Suppress { rows, radius, threshold, candidates, width: strip.len() });
        for word in LEAD / 64..(LEAD + strip.len()).div_ceil(64) {
            let mut bits = candidates[word];
            while bits != 0 {
                let place = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let x = (place as isize + columns.origin) as usize;
                if within.contains(&x) {
                    found.peaks.push(Keypoint::new(x as f32, y as f32, rows[radius][place]));
                }
            }
        }
    }
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
