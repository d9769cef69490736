//! Gradients by rows of floats: from samples to gx and gy, or to their products.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Gradient, HarrisConfig, Raster, Smoothing};

use super::f32_kernels::{
    BinomialAcross, BinomialDown, BoxGradients, Differentiate, LoadChannel, MarkActive, Multiply, RowSlopes,
    SlideBoxSums, StoreGradients, StoreProducts, ToIntegers,
};
use super::f32_memory::{Memory, StageTaps, fill_slots, of_ring, rows_around};
use super::f32_weighted::{ROWS_AT_ONCE, WeightedAcross, WeightedDown};
use super::next_rows::NextRows;
use crate::rows::FloatRow;
use crate::simd::Simd;
use crate::sweep::gate::ActiveMask;
use crate::sweep::halo::Columns;
use crate::sweep::sample::SweepSample;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};
use crate::sweep::strip::Context;

/// The rings that windows read: of gradients where sums are exact, else of products.
#[derive(Clone, Copy)]
pub(super) struct WindowRing {
    pub(super) is_exact: bool,
    /// Rows: those of the window and the one that leaves it, or those of windows that are summed
    /// together.
    pub(super) length: usize,
}

impl WindowRing {
    pub(super) fn new(config: &HarrisConfig, is_exact: bool) -> Self {
        let radius = config.window().radius();
        Self { is_exact, length: if is_exact { 2 * radius + 2 } else { 2 * radius + ROWS_AT_ONCE } }
    }

    /// The slot of gx and gy of row y.
    fn gradient_slot(self, y: usize, channel: usize) -> usize {
        if self.is_exact { channel * (self.length + 1) + y % self.length } else { 0 }
    }
}

/// The stages up to the gradient.
pub(super) struct GradientRows<'s, 'a, T> {
    pub(super) context: &'s Context<'a, T>,
    pub(super) memory: &'s mut Memory,
    pub(super) columns: &'s Columns,
    pub(super) taps: &'s StageTaps,
    pub(super) ring: WindowRing,
    /// Becomes true where a sample is not valid.
    pub(super) is_invalid: &'s mut bool,
}

impl<T: SweepSample> GradientRows<'_, '_, T> {
    /// Computes the next row of gradients, and of their products where sums are rounded. Marks the
    /// active ones where there is a bound.
    pub(super) fn next<V: Simd>(&mut self, v: V, next: &mut NextRows, bound: Option<f32>) {
        let (config, height) = (self.context.config, self.context.image.height());
        let channels = self.context.image.channels();
        let (y, radius) = (next.gradient, config.gradient().radius());
        next.gradient += 1;
        let is_first = next.smoothed == y.saturating_sub(radius);
        if bound.is_none() {
            self.memory.active[y % self.ring.length] = ActiveMask::ALL;
        }
        while next.smoothed <= (y + radius).min(height - 1) {
            while next.across <= (next.smoothed + config.smoothing().radius()).min(height - 1) {
                for channel in 0..channels {
                    self.across_row(v, next.across, channel);
                }
                next.across += 1;
            }
            for channel in 0..channels {
                self.smoothed_row(v, next.smoothed, channel);
            }
            next.smoothed += 1;
        }
        for channel in 0..channels {
            match config.gradient() {
                Gradient::Box { size } => {
                    self.box_gradient(v, (y, channel, bound), (size / 2) as usize, is_first);
                    self.multiply(v, y, channel, bound);
                }
                Gradient::GaussianDerivative { .. } => {
                    self.derive(v, y, channel);
                    self.multiply(v, y, channel, bound);
                }
                Gradient::Sobel3
                | Gradient::Sobel5
                | Gradient::Sobel7
                | Gradient::Scharr3
                | Gradient::Central => {
                    self.differentiate(v, y, channel, bound);
                }
            }
        }
    }

    /// Computes row y of a gradient of three taps, or its products where sums are rounded.
    fn differentiate<V: Simd>(&mut self, v: V, y: usize, channel: usize, bound: Option<f32>) {
        let (config, height) = (self.context.config, self.context.image.height());
        let (slot, gradient) = (self.ring.gradient_slot(y, channel), three_taps(config));
        let span = self.columns.span(&self.columns.gradients);
        let Memory { differences, sums, gradients: [gx, gy], products, active, zero, .. } = &mut *self.memory;
        let mark = mark(active, y, channel, bound);
        let place = |dy: isize| border::inside(config.border(), y as isize + dy, height);
        let differences = [-1, 0, 1].map(|dy| of_ring(differences, channel, 3, place(dy), zero));
        let sums = [-1, 1].map(|dy| of_ring(sums, channel, 3, place(dy), zero));
        if self.ring.is_exact {
            let out = StoreGradients { gx: gx.row_mut(slot), gy: gy.row_mut(slot), mark };
            v.enter(Differentiate { gradient, differences, sums, out, span });
        } else {
            let rows = products.each_mut().map(|rows| rows.row_mut(y % self.ring.length));
            let out = StoreProducts { adds: channel > 0, rows, mark };
            v.enter(Differentiate { gradient, differences, sums, out, span });
        }
    }

    /// Computes the products of row y's gradients where sums are rounded.
    fn multiply<V: Simd>(&mut self, v: V, y: usize, channel: usize, bound: Option<f32>) {
        if self.ring.is_exact {
            return;
        }
        let slot = self.ring.gradient_slot(y, channel);
        let span = self.columns.span(&self.columns.gradients);
        let Memory { gradients: [gx, gy], products, active, .. } = &mut *self.memory;
        let mark = mark(active, y, channel, bound);
        let rows = products.each_mut().map(|rows| rows.row_mut(y % self.ring.length));
        let out = StoreProducts { adds: channel > 0, rows, mark };
        v.enter(Multiply { gx: gx.row(slot), gy: gy.row(slot), out, span });
    }

    /// Computes the Gaussian derivatives of row y.
    fn derive<V: Simd>(&mut self, v: V, y: usize, channel: usize) {
        let (config, image, columns) = (self.context.config, self.context.image, self.columns);
        let radius = config.gradient().radius();
        let (size, slot) = (2 * radius + 1, self.ring.gradient_slot(y, channel));
        let ring_rows = size * image.channels();
        let Memory { smoothed, derived: [weighted, derived], slots, gradients: [gx, gy], .. } =
            &mut *self.memory;
        let rows = rows_around(y, radius, 1);
        fill_slots(slots, rows, (config.border(), image.height()), (channel * size, size, ring_rows));
        let [gaussian, derivative] = &self.taps.gradient;
        let [weighted, derived] = [weighted.row_mut(0), derived.row_mut(0)];
        v.enter(WeightedDown {
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
            v.enter(WeightedAcross { taps, row, out, span: span.clone() });
        }
    }

    /// Computes row y of a box gradient of radius `half`.
    fn box_gradient<V: Simd>(
        &mut self,
        v: V,
        (y, channel, bound): (usize, usize, Option<f32>),
        half: usize,
        is_first: bool,
    ) {
        let (config, height) = (self.context.config, self.context.image.height());
        let (ring, slot) = (2 * half + 2, self.ring.gradient_slot(y, channel));
        let span = self.columns.span(&self.columns.gradients);
        let Memory {
            integers,
            integer_zero,
            boxes: [columns, differences],
            box_prefix_sums: [column_sums, difference_sums],
            gradients: [gx, gy],
            active,
            ..
        } = &mut *self.memory;
        let row = |dy: isize| {
            let y = border::inside(config.border(), y as isize + dy, height);
            of_ring(integers, channel, ring, y, integer_zero)
        };
        let h = half as isize;
        let read = span.start - half - 1..span.end + half;
        let (columns, differences) = (columns.row_mut(channel), differences.row_mut(channel));
        if is_first {
            // The sums of the row above, less what the step from it subtracts and adds: then the
            // step gives this row's.
            for i in read.clone() {
                let sum = |rows: Range<isize>| rows.map(|dy| row(dy)[i]).fold(0_i32, i32::wrapping_add);
                columns[i] = sum(-h - 1..h);
                let [lower, upper] = [sum(0..h), sum(-h - 1..-1)];
                differences[i] = lower.wrapping_sub(upper);
            }
        }
        let [column_sums, difference_sums] = [column_sums.row_mut(0), difference_sums.row_mut(0)];
        v.enter(SlideBoxSums {
            rows: [row(h), row(0), row(-1), row(-1 - h)],
            columns,
            differences,
            running: [&mut *column_sums, &mut *difference_sums],
            span: read,
        });
        let mark = mark(active, y, channel, bound);
        v.enter(BoxGradients {
            half,
            running: [column_sums, difference_sums],
            out: StoreGradients { gx: gx.row_mut(slot), gy: gy.row_mut(slot), mark },
            span,
        });
    }

    /// Loads row y where there is a smoothing, and sums it across for a binomial one.
    fn across_row<V: Simd>(&mut self, v: V, y: usize, channel: usize) {
        let smoothing = self.context.config.smoothing();
        let (image, columns) = (self.context.image, self.columns);
        let Memory { samples, across, .. } = &mut *self.memory;
        match smoothing {
            Smoothing::None => return,
            Smoothing::Gaussian { size, .. } => {
                let size = size as usize;
                let row = across.row_mut(channel * size + y % size);
                *self.is_invalid |= !load(v, image, columns, y, channel, row);
                return;
            }
            Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => {}
        }
        let smoothing = stage_smoothing(self.context.config);
        *self.is_invalid |= !load(v, image, columns, y, channel, samples.row_mut(0));
        columns.sample_edge.extend(samples.row_mut(0));
        v.enter(BinomialAcross {
            smoothing,
            row: samples.row(0),
            out: across.row_mut(channel * 5 + y % 5),
            span: columns.span(&columns.smoothed),
        });
    }

    /// Smooths row y, and prepares it for the gradient.
    fn smoothed_row<V: Simd>(&mut self, v: V, y: usize, channel: usize) {
        let (config, image, columns) = (self.context.config, self.context.image, self.columns);
        let (radius, height) = (config.gradient().radius(), image.height());
        let slot = match config.gradient() {
            Gradient::GaussianDerivative { size, .. } => channel * size as usize + y % size as usize,
            Gradient::Sobel3
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Scharr3
            | Gradient::Central
            | Gradient::Box { .. } => 0,
        };
        let Memory { samples, across, smoothed, differences, sums, integers, slots, zero, .. } =
            &mut *self.memory;
        let (out, span) = (smoothed.row_mut(slot), columns.span(&columns.smoothed));
        match config.smoothing() {
            Smoothing::None => *self.is_invalid |= !load(v, image, columns, y, channel, out),
            Smoothing::Gaussian { size, .. } => {
                let (size, radius) = (size as usize, config.smoothing().radius());
                let ring_rows = size * image.channels();
                let rows = rows_around(y, radius, 1);
                fill_slots(slots, rows, (config.border(), height), (channel * size, size, ring_rows));
                let (row, samples) = (samples.row_mut(0), columns.span(&columns.samples));
                let taps = &self.taps.smoothing[..];
                v.enter(WeightedDown { taps: [taps], ring: across, slots, out: [&mut *row], span: samples });
                columns.sample_edge.extend(row);
                v.enter(WeightedAcross { taps, row, out, span });
            }
            Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => {
                let smoothing = stage_smoothing(config);
                let place = |dy: isize| border::inside(config.border(), y as isize + dy, height);
                let rows = [-2, -1, 0, 1, 2].map(|dy| of_ring(across, channel, 5, place(dy), zero));
                v.enter(BinomialDown { smoothing, exact: T::EXACT, rows, out, span });
            }
        }
        match config.gradient() {
            // Rows for Gaussian derivatives are extended when they are weighted down.
            Gradient::GaussianDerivative { .. } => {}
            Gradient::Box { size } => {
                columns.smoothed_edge.extend(smoothed.row_mut(0));
                let ring = 2 * (size / 2) as usize + 2;
                let span = columns.span(&columns.gradients);
                let span = span.start - radius - 1..span.end + radius;
                let out = integers.row_mut(channel * ring + y % ring);
                v.enter(ToIntegers { row: smoothed.row(0), out, span });
            }
            Gradient::Sobel3
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Scharr3
            | Gradient::Central => {
                let gradient = three_taps(config);
                columns.smoothed_edge.extend(smoothed.row_mut(0));
                v.enter(RowSlopes {
                    gradient,
                    smoothed: smoothed.row(0),
                    differences: differences.row_mut(channel * 3 + y % 3),
                    sums: sums.row_mut(channel * 3 + y % 3),
                    span: columns.span(&columns.gradients),
                });
            }
        }
    }
}

/// A smoothing that is not a Gaussian.
fn stage_smoothing(config: &HarrisConfig) -> StageSmoothing {
    StageSmoothing::of(config.smoothing()).expect("Gaussians are matched before")
}

/// A gradient that is neither a box nor a Gaussian derivative.
fn three_taps(config: &HarrisConfig) -> ThreeTaps {
    ThreeTaps::of(config.gradient()).expect("plans have Sobel's wider gradients staged")
}

/// Loads a channel of row y; returns whether all samples are valid.
fn load<T: SweepSample, V: Simd>(
    v: V,
    image: Raster<'_, T>,
    columns: &Columns,
    y: usize,
    channel: usize,
    out: &mut FloatRow,
) -> bool {
    let channels = image.channels();
    let samples = &image.row(y)[columns.samples.start * channels..columns.samples.end * channels];
    v.enter(LoadChannel { samples, channel, channels, out: &mut out[columns.span(&columns.samples)] })
}

/// Marks active gradients of row y, where there is a bound.
fn mark(active: &mut [ActiveMask], y: usize, channel: usize, bound: Option<f32>) -> Option<MarkActive<'_>> {
    // Behind the ring lies an empty mask.
    let slot = y % (active.len() - 1);
    bound.map(|bound| MarkActive { bound, adds: channel > 0, active: &mut active[slot] })
}
