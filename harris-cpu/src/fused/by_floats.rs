//! The walk by rows of floats: every sample type and window.

use std::mem;
use std::ops::Range;

use harris_core::pipeline::{border, taps};
use harris_core::{Border, Gradient, HarrisConfig, Raster, Smoothing, Window};

use super::floats::{
    Across, Boxes, Differentiate, Down, Hear, Kept, Multiply, Output, Products, Respond, SlideBoxes, Slopes,
    Take, Whole,
};
use super::loud::{Ear, Heard, Listen, Loud};
use super::peaks::Peaks;
use super::responses::{RING, Words};
use super::scratch::{FloatRow, Floats, Rows, Scratch};
use super::tensor::NARROW;
use super::walk::{Columns, Next, Walk};
use super::weighted::{DOWN, SumDown, WeighAcross, WeighDown, Weights};
use super::wide::{WideAdd, WideRespond, WideRunning, WideSlide};
use super::{FusedSample, has_exact_sums};
use crate::simd::Simd;

/// Rows between the one that is taken and the one that is asked for.
const AHEAD: usize = 4;

impl<T: FusedSample> Walk<'_, T> {
    pub(super) fn strip_by_floats<V: Simd>(&mut self, v: V, strip: &Range<usize>, found: &mut Peaks) {
        let columns = Columns::new(strip, self.config, self.image.width());
        let (config, channels) = (self.config, self.image.channels());
        self.scratch.floats.reserve(config, channels, (self.is_wide(), self.window_ring()));
        let taps = Taps::new(config);
        let weights = match config.window() {
            Window::Box { .. } => Weights::Box,
            Window::Binomial { .. } => Weights::Binomial,
            Window::Gaussian { .. } => Weights::Taps(&taps.window[..]),
        };
        let rows = self.computed_rows();
        let mut next = Next::new(rows.start, config);
        let all = Loud::all_of(&columns.span(&columns.responses));
        let (mut loud, mut ear) = (all, Ear::default());
        let mut waiting = self.waiting(Words::by_rows::<V>(0));
        let mut threshold = self.threshold(found);
        let mut limit = self.limit_of(threshold);
        for y in rows.clone() {
            // Rows whose sums are taken with this one's.
            let place = (y - rows.start) % DOWN;
            let until = if self.is_wide() { y } else { (y - place + DOWN).min(rows.end) - 1 };
            let last = (until + config.window().radius()).min(self.image.height() - 1);
            let ahead = next.across.max(next.smoothed) + AHEAD;
            self.ask_for(v, &columns, ahead, 0);
            let now = self.threshold(found);
            if now > threshold {
                (threshold, limit) = (now, self.limit_of(now));
            }
            while next.gradient <= last {
                let limit = limit.filter(|_| ear.listens_to(next.gradient));
                self.next_gradient(v, &columns, &taps, &mut next, limit);
            }
            self.ask_for(v, &columns, ahead, 1);
            if self.is_wide() || place == 0 {
                self.find_window(y);
                if limit.is_some() {
                    loud = if ear.listens_to(next.gradient - 1) { self.loud(v).and(all) } else { all };
                    ear.rest(loud, all, next.gradient, self.window_ring());
                }
                if self.is_wide() {
                    self.sum_wide(v, &columns, weights, loud);
                } else {
                    self.sum_floats(v, &columns, weights, loud);
                }
            }
            self.ask_for(v, &columns, ahead, 2);
            self.respond_floats(v, &columns, weights, (y, place), waiting.words, (threshold, loud));
            self.ask_for(v, &columns, ahead, 3);
            self.finish_row(&columns, strip, y, waiting.words, found);
            self.collect_at(v, &columns, strip, y, &mut waiting, found);
        }
    }

    /// Asks for the cache lines of a quarter of a row: all at once would be more than the processor waits for at a time.
    fn ask_for<V: Simd>(&self, v: V, columns: &Columns, y: usize, quarter: usize) {
        if y < self.image.height() {
            let channels = self.image.channels();
            let samples =
                &self.image.row(y)[columns.samples.start * channels..columns.samples.end * channels];
            let part = samples.len() * quarter / 4..samples.len() * (quarter + 1) / 4;
            for i in part.step_by(64 / size_of::<T>()) {
                v.prefetch(samples, i);
            }
        }
    }

    /// As [`Walk::limit`]; none where sums run on across, as then all are needed, either.
    fn limit_of(&self, threshold: f32) -> Option<f32> {
        if self.sums_run_on() { None } else { self.limit(threshold) }
    }

    /// Whether exact sums run on across.
    fn sums_run_on(&self) -> bool {
        let is_box = matches!(self.config.window(), Window::Box { .. });
        self.is_wide() && is_box && self.config.window().radius() > NARROW
    }

    /// Finds the rows that are summed for row y: those of its window, and the one above these where sums slide, or those of windows that are
    /// summed together.
    fn find_window(&mut self, y: usize) {
        let (config, height, ring) = (self.config, self.image.height(), self.window_ring());
        let radius = config.window().radius();
        let mut rows = about(y, radius, if self.is_wide() { 1 } else { DOWN });
        if self.is_wide() {
            rows.start -= 1;
        }
        find(&mut self.scratch.floats.slots, rows, (config.border(), height), (0, ring, ring));
    }

    /// Where the responses that are summed for may exceed the threshold.
    fn loud<V: Simd>(&self, v: V) -> Loud {
        let Floats { heard, slots, .. } = &self.scratch.floats;
        let slots = &slots[usize::from(self.is_wide())..];
        v.enter(Listen { ring: heard, slots, reach: self.config.window().radius() })
    }

    /// Whether the window's sums are exact, as 64-bit floats.
    fn is_wide(&self) -> bool {
        has_exact_sums::<T>(self.config)
    }

    /// Rows in the rings that windows look at: of gradients where sums are wide, those of the window and the one that leaves it; else
    /// of products, those that are summed together.
    fn window_ring(&self) -> usize {
        let radius = self.config.window().radius();
        if self.is_wide() { 2 * radius + 2 } else { 2 * radius + DOWN }
    }

    /// Where gx and gy of row y go.
    fn gradient_slot(&self, y: usize, channel: usize) -> usize {
        let ring = self.window_ring();
        if self.is_wide() { channel * (ring + 1) + y % ring } else { 0 }
    }

    /// Computes the next row of gradients, and of their products.
    fn next_gradient<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        taps: &Taps,
        next: &mut Next,
        limit: Option<f32>,
    ) {
        let (config, height) = (self.config, self.image.height());
        let (y, reach) = (next.gradient, config.gradient().radius());
        next.gradient += 1;
        let is_first = next.smoothed == y.saturating_sub(reach);
        if limit.is_none() {
            let ring = self.window_ring();
            self.scratch.floats.heard[y % ring] = Heard::ALL;
        }
        while next.smoothed <= (y + reach).min(height - 1) {
            while next.across <= (next.smoothed + config.smoothing().radius()).min(height - 1) {
                for channel in 0..self.image.channels() {
                    self.across_row(v, columns, next.across, channel);
                }
                next.across += 1;
            }
            for channel in 0..self.image.channels() {
                self.smoothed_row(v, columns, taps, next.smoothed, channel);
            }
            next.smoothed += 1;
        }
        let span = columns.span(&columns.gradients);
        for channel in 0..self.image.channels() {
            match config.gradient() {
                Gradient::Box { size } => {
                    self.box_gradient(v, &span, (y, channel, limit), (size / 2) as usize, is_first);
                    self.multiply(v, span.clone(), y, channel, limit);
                }
                Gradient::GaussianDerivative { .. } => {
                    self.derive(v, columns, taps, y, channel);
                    self.multiply(v, span.clone(), y, channel, limit);
                }
                Gradient::Sobel3
                | Gradient::Sobel5
                | Gradient::Sobel7
                | Gradient::Scharr3
                | Gradient::Central => {
                    self.differentiate(v, span.clone(), y, channel, limit);
                }
            }
        }
    }

    /// The gradients of row y by fixed taps: themselves where sums are wide, else their products.
    fn differentiate<V: Simd>(
        &mut self,
        v: V,
        span: Range<usize>,
        y: usize,
        channel: usize,
        limit: Option<f32>,
    ) {
        let (config, height, slot) = (self.config, self.image.height(), self.gradient_slot(y, channel));
        let (gradient, is_wide, ring) = (config.gradient(), self.is_wide(), self.window_ring());
        let Floats { differences, sums, gradients: [gx, gy], products, heard, zero, .. } =
            &mut self.scratch.floats;
        let hear = hear(heard, y, channel, limit);
        let place = |dy: isize| border::inside(config.border(), y as isize + dy, height);
        let differences = [-1, 0, 1].map(|dy| of_ring(differences, channel, 3, place(dy), zero));
        let sums = [-1, 1].map(|dy| of_ring(sums, channel, 3, place(dy), zero));
        if is_wide {
            let out = Kept { gx: gx.row_mut(slot), gy: gy.row_mut(slot), hear };
            v.enter(Differentiate { gradient, differences, sums, out, span });
        } else {
            let rows = products.each_mut().map(|rows| rows.row_mut(y % ring));
            let out = Products { adds: channel > 0, rows, hear };
            v.enter(Differentiate { gradient, differences, sums, out, span });
        }
    }

    /// The products of row y's gradients, but where sums are wide.
    fn multiply<V: Simd>(&mut self, v: V, span: Range<usize>, y: usize, channel: usize, limit: Option<f32>) {
        if self.is_wide() {
            return;
        }
        let (slot, ring) = (self.gradient_slot(y, channel), self.window_ring());
        let Floats { gradients: [gx, gy], products, heard, .. } = &mut self.scratch.floats;
        let hear = hear(heard, y, channel, limit);
        let rows = products.each_mut().map(|rows| rows.row_mut(y % ring));
        let out = Products { adds: channel > 0, rows, hear };
        v.enter(Multiply { gx: gx.row(slot), gy: gy.row(slot), out, span });
    }

    /// The Gaussian derivatives of row y.
    fn derive<V: Simd>(&mut self, v: V, columns: &Columns, taps: &Taps, y: usize, channel: usize) {
        let (config, height) = (self.config, self.image.height());
        let radius = config.gradient().radius();
        let (size, slot) = (2 * radius + 1, self.gradient_slot(y, channel));
        let number = size * self.image.channels();
        let Floats { smoothed, derived: [weighted, derived], slots, gradients: [gx, gy], .. } =
            &mut self.scratch.floats;
        find(slots, about(y, radius, 1), (config.border(), height), (channel * size, size, number));
        let [gaussian, derivative] = &taps.gradient;
        let [weighted, derived] = [weighted.row_mut(0), derived.row_mut(0)];
        v.enter(WeighDown {
            taps: [gaussian, derivative],
            ring: smoothed,
            slots,
            out: [&mut *weighted, &mut *derived],
            span: columns.span(&columns.smoothed),
        });
        let span = columns.span(&columns.gradients);
        for (row, taps, out) in [(weighted, derivative, gx), (derived, gaussian, gy)] {
            columns.smoothed_edge.extend(row);
            let out = out.row_mut(slot);
            v.enter(WeighAcross { taps, row, out, span: span.clone() });
        }
    }

    fn box_gradient<V: Simd>(
        &mut self,
        v: V,
        span: &Range<usize>,
        (y, channel, limit): (usize, usize, Option<f32>),
        half: usize,
        is_first: bool,
    ) {
        let (config, height) = (self.config, self.image.height());
        let (ring, slot) = (2 * half + 2, self.gradient_slot(y, channel));
        let Floats {
            whole,
            whole_zero,
            boxes: [columns, differences],
            running_boxes: [rc, rd],
            gradients: [gx, gy],
            heard,
            ..
        } = &mut self.scratch.floats;
        let row = |dy: isize| {
            let y = border::inside(config.border(), y as isize + dy, height);
            of_ring(whole, channel, ring, y, whole_zero)
        };
        let h = half as isize;
        let reach = span.start - half - 1..span.end + half;
        let (columns, differences) = (columns.row_mut(channel), differences.row_mut(channel));
        if is_first {
            // The sums of the row before this one, less what the step takes off and adds: then it gives this row's.
            for i in reach.clone() {
                let sum = |rows: Range<isize>| rows.map(|dy| row(dy)[i]).fold(0_i32, i32::wrapping_add);
                columns[i] = sum(-h - 1..h);
                let [lower, upper] = [sum(0..h), sum(-h - 1..-1)];
                differences[i] = lower.wrapping_sub(upper);
            }
        }
        let [rc, rd] = [rc.row_mut(0), rd.row_mut(0)];
        v.enter(SlideBoxes {
            rows: [row(h), row(0), row(-1), row(-1 - h)],
            columns,
            differences,
            running: [&mut *rc, &mut *rd],
            span: reach,
        });
        v.enter(Boxes {
            half,
            running: [rc, rd],
            out: Kept { gx: gx.row_mut(slot), gy: gy.row_mut(slot), hear: hear(heard, y, channel, limit) },
            span: span.clone(),
        });
    }

    /// Where there is a smoothing, takes row y, and for a binomial one sums it across.
    fn across_row<V: Simd>(&mut self, v: V, columns: &Columns, y: usize, channel: usize) {
        let smoothing = self.config.smoothing();
        let Floats { taken, across, .. } = &mut self.scratch.floats;
        match smoothing {
            Smoothing::None => return,
            Smoothing::Gaussian { size, .. } => {
                let size = size as usize;
                let row = across.row_mut(channel * size + y % size);
                self.scratch.is_invalid |= !take(v, self.image, columns, y, channel, row);
                return;
            }
            Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => {}
        }
        self.scratch.is_invalid |= !take(v, self.image, columns, y, channel, taken.row_mut(0));
        columns.sample_edge.extend(taken.row_mut(0));
        v.enter(Across {
            smoothing,
            row: taken.row(0),
            out: across.row_mut(channel * 5 + y % 5),
            span: columns.span(&columns.smoothed),
        });
    }

    /// Smooths row y, and prepares it for the gradient.
    fn smoothed_row<V: Simd>(&mut self, v: V, columns: &Columns, taps: &Taps, y: usize, channel: usize) {
        let (config, height) = (self.config, self.image.height());
        let reach = config.gradient().radius();
        let slot = match config.gradient() {
            Gradient::GaussianDerivative { .. } => channel * (2 * reach + 1) + y % (2 * reach + 1),
            Gradient::Sobel3
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Scharr3
            | Gradient::Central
            | Gradient::Box { .. } => 0,
        };
        let Floats { taken, across, smoothed, slots, zero, .. } = &mut self.scratch.floats;
        let (out, span) = (smoothed.row_mut(slot), columns.span(&columns.smoothed));
        match config.smoothing() {
            Smoothing::None => self.scratch.is_invalid |= !take(v, self.image, columns, y, channel, out),
            Smoothing::Gaussian { size, .. } => {
                let (size, radius) = (size as usize, config.smoothing().radius());
                let number = size * self.image.channels();
                find(slots, about(y, radius, 1), (config.border(), height), (channel * size, size, number));
                let (row, samples) = (taken.row_mut(0), columns.span(&columns.samples));
                let taps = &taps.smoothing[..];
                v.enter(WeighDown { taps: [taps], ring: across, slots, out: [&mut *row], span: samples });
                columns.sample_edge.extend(row);
                v.enter(WeighAcross { taps, row, out, span });
            }
            smoothing => {
                let place = |dy: isize| border::inside(config.border(), y as isize + dy, height);
                let rows = [-2, -1, 0, 1, 2].map(|dy| of_ring(across, channel, 5, place(dy), zero));
                v.enter(Down { smoothing, exact: T::EXACT, rows, out, span });
            }
        }
        // Rows for Gaussian derivatives are extended when they are weighted down.
        if matches!(config.gradient(), Gradient::GaussianDerivative { .. }) {
            return;
        }
        let Floats { smoothed, differences, sums, whole, .. } = &mut self.scratch.floats;
        columns.smoothed_edge.extend(smoothed.row_mut(0));
        match config.gradient() {
            Gradient::Box { size } => {
                let ring = 2 * (size / 2) as usize + 2;
                let span = columns.span(&columns.gradients);
                let span = span.start - reach - 1..span.end + reach;
                v.enter(Whole { row: smoothed.row(0), out: whole.row_mut(channel * ring + y % ring), span });
            }
            gradient => v.enter(Slopes {
                gradient,
                smoothed: smoothed.row(0),
                differences: differences.row_mut(channel * 3 + y % 3),
                sums: sums.row_mut(channel * 3 + y % 3),
                span: columns.span(&columns.gradients),
            }),
        }
    }

    /// Brings the exact sums down the columns to the next row, where responses are loud.
    fn sum_wide<V: Simd>(&mut self, v: V, columns: &Columns, weights: Weights<&[f32]>, loud: Loud) {
        let (radius, ring) = (self.config.window().radius(), self.window_ring());
        let runs_on = self.sums_run_on();
        let responses = columns.span(&columns.responses);
        let Floats { gradients, slots, wide_sums, wide_running, summed, .. } = &mut self.scratch.floats;
        let needed = loud.reached(radius);
        // Box windows slide where there are sums of the row above.
        let above = mem::replace(summed, needed);
        let sliding = if matches!(weights, Weights::Box) { needed.and(above) } else { Loud::NONE };
        let anew = needed.without(sliding);
        let stride = ring + 1;
        if sliding != Loud::NONE {
            let [leaves, enters] = [slots[0], slots[slots.len() - 1]];
            for first in (0..self.image.channels()).map(|channel| channel * stride) {
                v.enter(WideSlide {
                    enters: gradients.each_ref().map(|rows| rows.row(first + enters)),
                    leaves: gradients.each_ref().map(|rows| rows.row(first + leaves)),
                    sums: wide_sums.each_mut().map(|rows| rows.row_mut(0)),
                    needed: sliding,
                });
            }
        }
        if anew != Loud::NONE {
            v.enter(WideAdd {
                weights,
                gradients,
                channels: self.image.channels(),
                stride,
                slots: &slots[1..],
                sums: wide_sums.each_mut().map(|rows| rows.row_mut(0)),
                needed: anew,
            });
        }
        for sums in wide_sums.iter_mut() {
            columns.product_edge.extend(sums.row_mut(0));
        }
        if runs_on {
            // What whole vectors wrote before the first column, of whatever a row held before, must not be summed.
            let reach = responses;
            let first = (reach.start - radius - 1) / V::LANES * V::LANES;
            for sums in wide_sums.iter_mut() {
                sums.row_mut(0)[first..reach.start - radius].fill(0.0);
            }
            v.enter(WideRunning {
                rows: wide_sums.each_ref().map(|rows| rows.row(0)),
                running: wide_running.each_mut().map(|rows| rows.row_mut(0)),
                span: first..reach.end + radius,
            });
        }
    }

    /// The sums down the columns of rows that are summed together, in the order of the contract, where responses are loud.
    fn sum_floats<V: Simd>(&mut self, v: V, columns: &Columns, weights: Weights<&[f32]>, loud: Loud) {
        let radius = self.config.window().radius();
        let Floats { products, sums_down, slots, .. } = &mut self.scratch.floats;
        v.enter(SumDown {
            weights,
            products,
            slots,
            out: sums_down.each_mut().map(|rows| rows.rows_mut(0)),
            needed: loud.reached(radius),
        });
        for sums in sums_down {
            for place in 0..DOWN {
                columns.product_edge.extend(sums.row_mut(place));
            }
        }
    }

    /// Computes the responses of row y, whose place is among the rows that were summed together.
    fn respond_floats<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        weights: Weights<&[f32]>,
        (y, place): (usize, usize),
        words: Words,
        (threshold, loud): (f32, Loud),
    ) {
        if !self.has_responses(y) {
            return;
        }
        let quiet = if self.map.is_some() { f32::NEG_INFINITY } else { threshold };
        let (is_wide, radius) = (self.is_wide(), self.config.window().radius());
        let Scratch { floats, responses, .. } = &mut *self.scratch;
        let out = Output {
            measure: self.config.measure(),
            threshold,
            quiet,
            loud,
            scale: self.scale,
            responses,
            slot: y % RING,
            words,
            span: columns.span(&columns.responses),
        };
        if is_wide {
            v.enter(WideRespond {
                weights,
                radius,
                columns: floats.wide_sums.each_ref().map(|rows| rows.row(0)),
                running: floats.wide_running.each_ref().map(|rows| rows.row(0)),
                out,
            });
        } else {
            let columns = floats.sums_down.each_ref().map(|rows| rows.row(place));
            v.enter(Respond { weights, radius, columns, out });
        }
    }
}

/// The weights of Gaussians, where there are any.
#[derive(Default)]
struct Taps {
    smoothing: Vec<f32>,
    /// The Gaussian and its derivative.
    gradient: [Vec<f32>; 2],
    window: Vec<f32>,
}

impl Taps {
    fn new(config: &HarrisConfig) -> Self {
        let mut all = Self::default();
        if let Smoothing::Gaussian { size, sigma } = config.smoothing() {
            all.smoothing = taps::gaussian(size, sigma);
        }
        if let Gradient::GaussianDerivative { size, sigma } = config.gradient() {
            all.gradient = [taps::gaussian(size, sigma), taps::gaussian_derivative(size, sigma)];
        }
        if let Window::Gaussian { size, sigma } = config.window() {
            all.window = taps::gaussian(size, sigma);
        }
        all
    }
}

/// Takes a channel of row y; tells whether all samples are valid.
fn take<T: FusedSample, V: Simd>(
    v: V,
    image: Raster<'_, T>,
    columns: &Columns,
    y: usize,
    channel: usize,
    out: &mut FloatRow,
) -> bool {
    let channels = image.channels();
    let samples = &image.row(y)[columns.samples.start * channels..columns.samples.end * channels];
    v.enter(Take { samples, channel, channels, out: &mut out[columns.span(&columns.samples)] })
}

/// Listens to row y of a channel, where there is a limit.
fn hear(heard: &mut [Heard], y: usize, channel: usize, limit: Option<f32>) -> Option<Hear<'_>> {
    // Behind the ring lies silence.
    let slot = y % (heard.len() - 1);
    limit.map(|limit| Hear { limit, adds: channel > 0, heard: &mut heard[slot] })
}

/// Sets `slots` to those of rows of an image of `height`, in a ring of `length` rows from slot `first` on; rows that are not there are the
/// zeros in slot `zeros`.
fn find(
    slots: &mut Vec<usize>,
    rows: Range<isize>,
    (rule, height): (Border, usize),
    (first, length, zeros): (usize, usize, usize),
) {
    slots.clear();
    // The row after the last one, and its place: divided only where they do not follow each other.
    let (mut next, mut place) = (usize::MAX, 0);
    slots.extend(rows.map(|y| {
        border::inside(rule, y, height).map_or(zeros, |y| {
            let own = if y == next { place } else { y % length };
            (next, place) = (y + 1, if own + 1 == length { 0 } else { own + 1 });
            first + own
        })
    }));
}

/// The 2 · radius + 1 rows about row y, and as many more as there are together with that.
fn about(y: usize, radius: usize, together: usize) -> Range<isize> {
    let (y, radius) = (y as isize, radius as isize);
    y - radius..y + radius + together as isize
}

/// Row y of a channel in rings of `number` rows, one a channel; zeros where nothing stands for it.
fn of_ring<'a, T: Copy, const LENGTH: usize>(
    rows: &'a Rows<T, LENGTH>,
    channel: usize,
    number: usize,
    y: Option<usize>,
    zero: &'a Rows<T, LENGTH>,
) -> &'a [T; LENGTH] {
    y.map_or(zero.row(0), |y| rows.row(channel * number + y % number))
}
