//! The sweep by rows of floats: every sample type and window.

use std::mem;
use std::ops::Range;

use harris_core::Window;

use super::driver::{RowEngine, sweep_rows};
use super::f32_gradients::{GradientRows, WindowRing};
use super::f32_kernels::{Respond, ResponseOutput};
use super::f32_memory::{Memory, StageTaps, fill_slots, rows_around};
use super::f32_weighted::{ROWS_AT_ONCE, SumDown};
use super::f64_sums::{F64PrefixSums, F64Respond, F64Slide, F64SumDown};
use super::next_rows::NextRows;
use crate::peaks::ring::{RING, WordLayout};
use crate::plan::RowSums;
use crate::simd::Simd;
use crate::sweep::gate::{ActiveBlocks, FindActive, GradientGate};
use crate::sweep::halo::Columns;
use crate::sweep::lines::Weights;
use crate::sweep::sample::SweepSample;
use crate::sweep::strip::StripSweep;

/// Rows from the one that is read to the one that is prefetched.
const PREFETCHED: usize = 4;

/// The sweep down a strip.
struct RowSweep<'s, 'a, T> {
    sweep: &'s mut StripSweep<'a, T>,
    memory: &'s mut Memory,
    columns: &'s Columns,
    taps: &'s StageTaps,
    weights: Weights<&'s [f32]>,
    /// How exact sums are taken; none where sums are rounded.
    exact: Option<RowSums>,
    ring: WindowRing,
    next: NextRows,
    /// The row of samples that is prefetched.
    ahead: usize,
    /// All blocks of responses, and those whose windows contain an active gradient.
    all: ActiveBlocks,
    active: ActiveBlocks,
    gate: GradientGate,
    threshold: f32,
    /// The bound of the gradient gate.
    bound: Option<f32>,
}

/// Sweeps down a strip.
pub(crate) fn sweep_strip<T: SweepSample, V: Simd>(
    sweep: &mut StripSweep<'_, T>,
    memory: &mut Memory,
    v: V,
    strip: &Range<usize>,
    exact: Option<RowSums>,
) {
    let (config, channels) = (sweep.context.config, sweep.context.image.channels());
    let ring = WindowRing::new(config, exact.is_some());
    if let Err(error) = memory.begin(config, channels, (ring.is_exact, ring.length)) {
        return sweep.fail(error);
    }
    let taps = StageTaps::new(config);
    let weights = match config.window() {
        Window::Box { .. } => Weights::Box,
        Window::Binomial { .. } => Weights::Binomial,
        Window::Gaussian { .. } => Weights::Taps(&taps.window[..]),
    };
    let columns = sweep.context.columns(strip);
    let (next, ahead) = (NextRows::new(sweep.computed_rows().start, config), 0);
    let all = ActiveBlocks::all_of(&columns.span(&columns.responses));
    let (columns, taps) = (&columns, &taps);
    let (active, gate, threshold, bound) = (all, GradientGate::default(), f32::NEG_INFINITY, None);
    let mut engine = RowSweep {
        sweep,
        memory,
        columns,
        taps,
        weights,
        exact,
        ring,
        next,
        ahead,
        all,
        active,
        gate,
        threshold,
        bound,
    };
    sweep_rows(&mut engine, v, strip, WordLayout::by_rows::<V>(0));
}

impl<'a, T: SweepSample> RowEngine<'a, T> for RowSweep<'_, 'a, T> {
    fn parts(&mut self) -> (&mut StripSweep<'a, T>, &Columns) {
        (self.sweep, self.columns)
    }

    fn set_threshold(&mut self, threshold: f32) {
        (self.threshold, self.bound) = (threshold, self.gate_bound(threshold));
    }

    fn sum_down<V: Simd>(&mut self, v: V, y: usize) {
        let (place, rows) = (self.place(y), self.sweep.computed_rows());
        let until = if self.ring.is_exact { y } else { (y - place + ROWS_AT_ONCE).min(rows.end) - 1 };
        let window = self.sweep.context.config.window().radius();
        let last = (until + window).min(self.sweep.context.image.height() - 1);
        self.ahead = self.next.across.max(self.next.smoothed) + PREFETCHED;
        self.prefetch(v, self.ahead, 0);
        while self.next.gradient <= last {
            let bound = self.bound.filter(|_| self.gate.compares(self.next.gradient));
            self.next_gradient(v, bound);
        }
        self.prefetch(v, self.ahead, 1);
        if self.ring.is_exact || place == 0 {
            self.find_window(y);
            if self.bound.is_some() {
                let compared = self.gate.compares(self.next.gradient - 1);
                self.active = if compared { self.active(v).and(self.all) } else { self.all };
                self.gate.update(self.active, self.all, self.next.gradient, self.ring.length);
            }
            match self.exact {
                Some(sums) => self.sum_exact(v, sums, self.active),
                None => self.sum_rounded(v, self.active),
            }
        }
        self.prefetch(v, self.ahead, 2);
    }

    fn respond<V: Simd>(&mut self, v: V, y: usize, words: WordLayout) {
        self.respond_at(v, (y, self.place(y)), words);
        self.prefetch(v, self.ahead, 3);
    }
}

impl<T: SweepSample> RowSweep<'_, '_, T> {
    /// The row's number among those that are summed together.
    fn place(&self, y: usize) -> usize {
        (y - self.sweep.computed_rows().start) % ROWS_AT_ONCE
    }

    /// Prefetches a quarter of a row's cache lines: a whole row is more than the processor waits
    /// for at a time.
    fn prefetch<V: Simd>(&self, v: V, y: usize, quarter: usize) {
        let image = self.sweep.context.image;
        if y < image.height() {
            let (channels, columns) = (image.channels(), &self.columns.samples);
            let samples = &image.row(y)[columns.start * channels..columns.end * channels];
            let range = samples.len() * quarter / 4..samples.len() * (quarter + 1) / 4;
            for i in range.step_by(64 / size_of::<T>()) {
                v.prefetch(samples, i);
            }
        }
    }

    /// The bound of the gradient gate; none with prefix sums across, which need all sums.
    fn gate_bound(&self, threshold: f32) -> Option<f32> {
        match self.exact {
            Some(RowSums::PrefixSums) => None,
            Some(RowSums::Sliding | RowSums::Weighted) | None => self.sweep.gradient_bound(threshold),
        }
    }

    /// Computes the next row of gradients, and of their products where sums are rounded.
    fn next_gradient<V: Simd>(&mut self, v: V, bound: Option<f32>) {
        let Self { memory, columns, taps, ring, next, .. } = self;
        let mut rows = GradientRows {
            context: &self.sweep.context,
            memory,
            columns,
            taps,
            ring: *ring,
            is_invalid: &mut self.sweep.memory.is_invalid,
        };
        rows.next(v, next, bound);
    }

    /// Finds the slots of the rows that are summed for row y.
    ///
    /// With exact sums these are the row that leaves the window, then the window's. Else they are
    /// the rows of all windows that are summed together.
    fn find_window(&mut self, y: usize) {
        let (config, height) = (self.sweep.context.config, self.sweep.context.image.height());
        let WindowRing { is_exact, length } = self.ring;
        let radius = config.window().radius();
        let mut rows = rows_around(y, radius, if is_exact { 1 } else { ROWS_AT_ONCE });
        if is_exact {
            rows.start -= 1;
        }
        fill_slots(&mut self.memory.slots, rows, (config.border(), height), (0, length, length));
    }

    /// The blocks of responses whose windows contain an active gradient.
    fn active<V: Simd>(&self, v: V) -> ActiveBlocks {
        let Memory { active, slots, .. } = &*self.memory;
        let slots = &slots[usize::from(self.ring.is_exact)..];
        v.enter(FindActive { ring: active, slots, radius: self.sweep.context.config.window().radius() })
    }

    /// Brings the exact sums down the columns to the next row, where responses are active.
    fn sum_exact<V: Simd>(&mut self, v: V, sums: RowSums, active: ActiveBlocks) {
        let radius = self.sweep.context.config.window().radius();
        let responses = self.columns.span(&self.columns.responses);
        let Memory { gradients, slots, exact_sums, prefix_sums, summed, .. } = &mut *self.memory;
        let needed = active.dilated(radius);
        // Sums of box windows slide where there are sums of the row above.
        let above = mem::replace(summed, needed);
        let sliding = match sums {
            RowSums::Sliding | RowSums::PrefixSums => needed.and(above),
            RowSums::Weighted => ActiveBlocks::NONE,
        };
        let anew = needed.without(sliding);
        let stride = self.ring.length + 1;
        let channels = self.sweep.context.image.channels();
        if sliding != ActiveBlocks::NONE {
            let [leaves, enters] = [slots[0], slots[slots.len() - 1]];
            for first in (0..channels).map(|channel| channel * stride) {
                v.enter(F64Slide {
                    enters: gradients.each_ref().map(|rows| rows.row(first + enters)),
                    leaves: gradients.each_ref().map(|rows| rows.row(first + leaves)),
                    sums: exact_sums.each_mut().map(|rows| rows.row_mut(0)),
                    needed: sliding,
                });
            }
        }
        if anew != ActiveBlocks::NONE {
            v.enter(F64SumDown {
                weights: self.weights,
                gradients,
                channels,
                stride,
                slots: &slots[1..],
                sums: exact_sums.each_mut().map(|rows| rows.row_mut(0)),
                needed: anew,
            });
        }
        for sums in exact_sums.iter_mut() {
            self.columns.product_edge.extend(sums.row_mut(0));
        }
        match sums {
            RowSums::PrefixSums => {
                // Whole vectors wrote before the first column, from gradients of an earlier strip:
                // zeros, not these, are summed.
                let first = (responses.start - radius - 1) / V::LANES * V::LANES;
                for sums in exact_sums.iter_mut() {
                    sums.row_mut(0)[first..responses.start - radius].fill(0.0);
                }
                v.enter(F64PrefixSums {
                    rows: exact_sums.each_ref().map(|rows| rows.row(0)),
                    running: prefix_sums.each_mut().map(|rows| rows.row_mut(0)),
                    span: first..responses.end + radius,
                });
            }
            RowSums::Sliding | RowSums::Weighted => {}
        }
    }

    /// Sums down the columns for the rows that are summed together, where responses are active.
    fn sum_rounded<V: Simd>(&mut self, v: V, active: ActiveBlocks) {
        let radius = self.sweep.context.config.window().radius();
        let Memory { products, sums_down, slots, .. } = &mut *self.memory;
        v.enter(SumDown {
            weights: self.weights,
            products,
            slots,
            out: sums_down.each_mut().map(|rows| rows.rows_mut(0)),
            needed: active.dilated(radius),
        });
        for sums in sums_down {
            for place in 0..ROWS_AT_ONCE {
                self.columns.product_edge.extend(sums.row_mut(place));
            }
        }
    }

    /// Computes the responses of row y, row `place` of those that were summed together.
    fn respond_at<V: Simd>(&mut self, v: V, (y, place): (usize, usize), words: WordLayout) {
        let (threshold, active) = (self.threshold, self.active);
        let context = &self.sweep.context;
        if !context.has_responses(y) {
            return;
        }
        let radius = context.config.window().radius();
        let out = ResponseOutput {
            measure: context.config.measure(),
            threshold,
            reject_below: if self.sweep.map.is_some() { f32::NEG_INFINITY } else { threshold },
            active,
            scale: context.scale,
            responses: &mut self.sweep.memory.responses,
            slot: y % RING,
            words,
            span: self.columns.span(&self.columns.responses),
        };
        let memory = &*self.memory;
        if self.ring.is_exact {
            v.enter(F64Respond {
                weights: self.weights,
                radius,
                columns: memory.exact_sums.each_ref().map(|rows| rows.row(0)),
                running: memory.prefix_sums.each_ref().map(|rows| rows.row(0)),
                out,
            });
        } else {
            let columns = memory.sums_down.each_ref().map(|rows| rows.row(place));
            v.enter(Respond { weights: self.weights, radius, columns, out });
        }
    }
}
