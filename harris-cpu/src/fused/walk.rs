//! The walk down the rows of a band, strip by strip: what its ways have in common.

use std::mem;
use std::ops::Range;

use harris_core::config::BOX_GRADIENT_APERTURES;
use harris_core::pipeline::border;
use harris_core::{Border, HarrisConfig, Raster, Threshold};

use super::peaks::{Collect, Corners, Known, Peaks};
use super::quiet::Quiet;
use super::responses::{NOTHING, RING, Words};
use super::scratch::{BLOCK, LEAD, STRIP, Scratch};
use super::shortened::Seen;
use super::{FusedSample, MOST_RADIUS, MOST_WINDOW};
use crate::simd::{Simd, WithSimd};

/// Elements that suppression reads beyond the last column: its radius and whole vectors.
const REACH: usize = MOST_RADIUS + 64;

/// Rows that the walks by rows collect together.
const TOGETHER: usize = 32;
const _: () = assert!(TOGETHER < BLOCK);

/// Rows and columns of a probe: a tile and a block of them give as many with the usual configurations.
const PROBE: usize = 20;
/// Pixels of an image for each that probes compute, support included.
const PROBED: usize = 128;

/// The work on one band of rows; what it finds is left in the scratch memory.
pub(crate) struct Walk<'a, T> {
    pub(crate) image: Raster<'a, T>,
    pub(crate) mask: Option<Raster<'a, u8>>,
    pub(crate) config: &'a HarrisConfig,
    /// The band.
    pub(crate) rows: Range<usize>,
    /// 1 / ((norm · full scale)² · Σ weights)
    pub(crate) scale: f32,
    /// Where all responses of the band go, 0 where there are none, if they are asked for.
    pub(crate) map: Option<&'a mut [f32]>,
    /// Of the whole image, as far as it is known.
    pub(crate) known: &'a Known,
    pub(crate) scratch: &'a mut Scratch,
}

impl<T: FusedSample> WithSimd for Walk<'_, T> {
    type Output = ();

    fn with<V: Simd>(mut self, v: V) {
        let mut found = mem::take(&mut self.scratch.found);
        let width = self.image.width();
        // Another band may have told already.
        self.known.share(&mut found);
        if matches!(self.config.threshold(), Threshold::Relative(_)) && found.greatest == 0.0 {
            let map = self.map.take();
            self.probe(v, &mut found);
            self.map = map;
        }
        for start in (0..width).step_by(STRIP) {
            T::strip(&mut self, v, &(start..(start + STRIP).min(width)), &mut found);
        }
        self.known.share(&mut found);
        self.scratch.found = found;
    }
}

/// The columns that each stage computes for a strip: those within the image that the later ones reach.
pub(super) struct Columns {
    /// Of the strip's first element, which may lie beyond the image.
    pub(super) origin: isize,
    pub(super) responses: Range<usize>,
    pub(super) gradients: Range<usize>,
    pub(super) smoothed: Range<usize>,
    pub(super) samples: Range<usize>,
    /// Beyond the edges: of samples for the smoothing, of smoothed ones for the gradient, of products for the window.
    pub(super) sample_edge: Edge,
    pub(super) smoothed_edge: Edge,
    pub(super) product_edge: Edge,
}

impl Columns {
    pub(super) fn new(strip: &Range<usize>, config: &HarrisConfig, width: usize) -> Self {
        let reach = |columns: &Range<usize>, radius: usize| {
            columns.start.saturating_sub(radius)..(columns.end + radius).min(width)
        };
        let responses = reach(strip, config.suppression_radius());
        let gradients = reach(&responses, config.window().radius());
        let smoothed = reach(&gradients, config.gradient().radius());
        let samples = reach(&smoothed, config.smoothing().radius());
        let origin = strip.start as isize - LEAD as isize;
        let edge = |known, radius| Edge::new(known, radius, origin, config.border(), width);
        let sample_edge = edge(&samples, config.smoothing().radius());
        let smoothed_edge = edge(&smoothed, config.gradient().radius());
        let product_edge = edge(&gradients, config.window().radius());
        Self { origin, responses, gradients, smoothed, samples, sample_edge, smoothed_edge, product_edge }
    }

    /// The elements of columns.
    pub(super) fn span(&self, columns: &Range<usize>) -> Range<usize> {
        self.place(columns.start as isize)..self.place(columns.end as isize)
    }

    pub(super) fn place(&self, column: isize) -> usize {
        (column - self.origin) as usize
    }
}

impl<T: FusedSample> Walk<'_, T> {
    /// Looks at small squares all over the band for a response that bounds the relative threshold from the start: else
    /// faint texture at the top would be full of candidates.
    fn probe<V: Simd>(&mut self, v: V, found: &mut Peaks) {
        let (band, width, known) = (self.rows.clone(), self.image.width(), found.peaks.len());
        // What probes find is found again later, so it must not count.
        let shortened = mem::take(&mut found.shortened);
        let side = PROBE + 2 * self.config.support_radius();
        let number = if band.len() < PROBE { 0 } else { band.len() * width / (PROBED * side * side) };
        let place = |i: usize| {
            let top = band.start + (band.len() - PROBE) * i / number;
            // Multiples of the golden ratio spread evenly.
            let left = ((i as f64 * 0.618_034).fract() * (width - PROBE.min(width)) as f64) as usize;
            (top, left)
        };
        for i in 0..number {
            let (top, left) = place(i + 1);
            for y in top..(top + PROBE).min(self.image.height()) {
                v.prefetch(self.image.row(y), left * self.image.channels());
            }
            let (top, left) = place(i);
            self.rows = top..top + PROBE;
            T::strip(self, v, &(left..(left + PROBE).min(width)), found);
        }
        self.rows = band;
        found.peaks.truncate(known);
        found.shortened = shortened;
    }

    /// The threshold as far as it is known to any thread: at most the final one.
    pub(super) fn threshold(&self, found: &mut Peaks) -> f32 {
        self.known.share(found);
        found.threshold(self.config.threshold())
    }

    /// The rows whose responses the band needs: its own and what suppression looks at around it.
    pub(super) fn computed_rows(&self) -> Range<usize> {
        let radius = self.config.suppression_radius();
        self.rows.start.saturating_sub(radius)..(self.rows.end + radius).min(self.image.height())
    }

    /// Begins a strip.
    pub(super) fn waiting(&mut self, words: Words) -> Waiting {
        self.scratch.responses.clear();
        Waiting { words, uncollected: self.rows.start }
    }

    /// Does with a computed row of responses what is left to do before its peaks are collected.
    pub(super) fn finish_row(
        &mut self,
        columns: &Columns,
        strip: &Range<usize>,
        y: usize,
        words: Words,
        found: &mut Peaks,
    ) {
        self.confine(columns, y);
        if let Some(mask) = self.mask
            && self.has_responses(y)
        {
            self.seek_inside(mask, columns, y, words, found);
        }
        self.keep(columns, strip, y);
    }

    /// In a walk by rows, collects peaks now and then, and at the end.
    pub(super) fn collect_at<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        strip: &Range<usize>,
        y: usize,
        waiting: &mut Waiting,
        found: &mut Peaks,
    ) {
        if y + 1 == self.computed_rows().end || y >= waiting.uncollected + TOGETHER {
            self.collect_until(v, columns, strip, y + 1, waiting, found);
        }
    }

    /// Collects the rows whose neighbourhoods lie above row `end`; at the image's bottom there is nothing below to wait
    /// for.
    pub(super) fn collect_until<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        strip: &Range<usize>,
        end: usize,
        waiting: &mut Waiting,
        found: &mut Peaks,
    ) {
        let (width, height) = (self.image.width(), self.image.height());
        let (radius, margin) = (self.config.suppression_radius(), self.config.margin());
        let until = if end == height { height } else { end.saturating_sub(radius) };
        let rows = waiting.uncollected..until.min(self.rows.end).max(waiting.uncollected);
        waiting.uncollected = rows.end;
        let threshold = self.threshold(found);
        let Scratch { responses, maxima, .. } = &mut *self.scratch;
        v.enter(Collect {
            responses,
            height,
            words: waiting.words,
            radius,
            plateau: self.config.plateau(),
            waiting: end.saturating_sub(rows.end),
            rows: rows.clone(),
            maxima,
            corners: Corners {
                threshold,
                found,
                origin: columns.origin,
                columns: strip.clone(),
                corner_rows: margin..height.saturating_sub(margin),
                corner_columns: margin..width.saturating_sub(margin),
            },
        });
        let (band, strip) = (self.rows.clone(), strip.clone());
        let seen = Seen { thread: found.thread, width, height, band, strip, rows };
        found.shorten(self.config, &seen, self.known);
    }

    /// Which responses need not be computed: those that do not exceed the threshold, unless all are asked for.
    pub(super) fn quiet(&self, threshold: f32) -> Quiet {
        if self.map.is_some() {
            Quiet::NONE
        } else {
            Quiet::new(self.config.measure(), self.scale, threshold)
        }
    }

    /// The A + C that a response must have to be computed, scaled.
    pub(super) fn contrast(&self, threshold: f32) -> f32 {
        if self.map.is_some() { 0.0 } else { Quiet::contrast(self.config.measure(), threshold) }
    }

    /// What gx² + gy² of a channel exceed in some pixel of a window with a response above the threshold; none where all responses are asked for.
    pub(super) fn limit(&self, threshold: f32) -> Option<f32> {
        if self.map.is_some() {
            return None;
        }
        let weights = self.config.window().weight_sum() * self.image.channels() as f64;
        Some(Quiet::limit(self.config.measure(), self.scale, threshold, weights))
    }

    /// Puts row y into the map, where it is one of the band.
    fn keep(&mut self, columns: &Columns, strip: &Range<usize>, y: usize) {
        let Some(map) = self.map.take() else { return };
        if self.rows.contains(&y) {
            let (width, frame) = (self.image.width(), self.frame());
            let out = &mut map[(y - self.rows.start) * width..][strip.clone()];
            if self.has_responses(y) {
                out.copy_from_slice(&self.scratch.responses.full(y % RING)[columns.span(strip)]);
                let within = |x: usize| x.clamp(strip.start, strip.end) - strip.start;
                out[..within(frame)].fill(0.0);
                out[within(width - frame)..].fill(0.0);
            } else {
                out.fill(0.0);
            }
        }
        self.map = Some(map);
    }

    /// Width of the frame that is not valid: fused walks have windows that reach as far to every side.
    fn frame(&self) -> usize {
        self.config.invalid_frame()[0]
    }

    /// Whether row y has responses.
    pub(super) fn has_responses(&self, y: usize) -> bool {
        let frame = self.frame();
        y >= frame && y + frame < self.image.height()
    }

    /// Leaves no candidates in row y but those inside the mask. The greatest response there need not be a peak: a greater one
    /// beyond the mask may suppress it.
    fn seek_inside(
        &mut self,
        mask: Raster<'_, u8>,
        columns: &Columns,
        y: usize,
        words: Words,
        found: &mut Peaks,
    ) {
        let (width, frame) = (self.image.width(), self.frame());
        let valid = columns.responses.start.max(frame)..columns.responses.end.min(width - frame);
        let row = mask.row(y);
        let greatest = self.scratch.responses.unmark(y % RING, words, |place| {
            let x = (place as isize + columns.origin) as usize;
            valid.contains(&x) && row[x] != 0
        });
        found.greatest = found.greatest.max(greatest);
    }

    /// Puts nothing where there is no response in row y.
    pub(super) fn confine(&mut self, columns: &Columns, y: usize) {
        let width = self.image.width();
        let frame = self.frame();
        let has_responses = self.has_responses(y);
        let out = self.scratch.responses.upper_mut(y % RING);
        if !has_responses {
            out.fill(NOTHING);
            return;
        }
        let valid = columns.responses.start.max(frame)..columns.responses.end.min(width - frame);
        let valid = valid.start..valid.end.max(valid.start);
        let place = columns.span(&valid);
        // What suppression and whole vectors reach beyond the valid columns; other strips end within them.
        if valid.start <= frame {
            let reach = LEAD - MOST_RADIUS;
            out[reach..place.start.max(reach)].fill(NOTHING);
        }
        if valid.end + frame >= width {
            let end = (place.end + REACH).min(out.len());
            out[place.end..end].fill(NOTHING);
        }
    }
}

/// The rows of a strip that wait to be collected.
pub(super) struct Waiting {
    pub(super) words: Words,
    /// The next row to collect.
    uncollected: usize,
}

/// The next rows to compute.
pub(super) struct Next {
    pub(super) across: usize,
    pub(super) smoothed: usize,
    pub(super) gradient: usize,
}

impl Next {
    /// Before the row `y` of responses.
    pub(super) fn new(y: usize, config: &HarrisConfig) -> Self {
        let gradient = y.saturating_sub(config.window().radius());
        let smoothed = gradient.saturating_sub(config.gradient().radius());
        Self { across: smoothed.saturating_sub(config.smoothing().radius()), smoothed, gradient }
    }
}

/// What stands for the elements of a row beyond the image.
#[derive(Debug)]
pub(super) struct Edge {
    /// Elements, and those within the image that stand for them.
    places: [(u16, Option<u16>); 2 * MOST_WINDOW],
    number: usize,
}

impl Edge {
    /// By the border rule, `radius` columns beyond the edges that the columns `known` reach.
    fn new(known: &Range<usize>, radius: usize, origin: isize, border: Border, width: usize) -> Self {
        let (reach, end) = (radius as isize, width as isize);
        let before = if known.start == 0 { -reach..0 } else { 0..0 };
        let after = if known.end == width { end..end + reach } else { 0..0 };
        let mut edge = Self { places: [(0, None); 2 * MOST_WINDOW], number: 0 };
        for (column, place) in before.chain(after).zip(&mut edge.places) {
            let inside = border::inside(border, column, width).map(|x| (x as isize - origin) as u16);
            *place = ((column - origin) as u16, inside);
            edge.number += 1;
        }
        edge
    }

    pub(super) fn extend<N: Copy + Default>(&self, row: &mut [N]) {
        for (place, inside) in self.places() {
            row[place] = inside.map_or(N::default(), |inside| row[inside]);
        }
    }

    pub(super) fn places(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        self.places[..self.number].iter().map(|&(place, inside)| (place.into(), inside.map(usize::from)))
    }
}

// A radius is at most that of a window.
const _: () = assert!(2 <= MOST_WINDOW && (*BOX_GRADIENT_APERTURES.end() / 2) as usize <= MOST_WINDOW);
