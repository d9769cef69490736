//! The sweep by rows of 16-bit integers: 8-bit samples, box and binomial windows.

use std::ops::Range;

use harris_core::Error;
use harris_core::pipeline::border;

use super::driver::{RowEngine, sweep_rows};
use super::i16_gradients::{EXTENDED_ROWS, GRADIENT_ROWS, ZERO_SAMPLES, gradient_tiles};
use super::i16_kernels::{Differentiate, SmoothAcross, SmoothDown};
use super::i16_tensor::{MAX_ROWS, Respond, Slide, SlidePrefixSums, SumDown};
use super::next_rows::NextRows;
use crate::peaks::ring::{RING, WordLayout};
use crate::plan::{RowGradients, RowSums};
use crate::rows::{Rows16, SampleRows, SumRows};
use crate::simd::Simd;
use crate::sweep::bound::RejectionBound;
use crate::sweep::halo::Columns;
use crate::sweep::layout::SplitChannels;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};
use crate::sweep::strip::StripSweep;

/// Rows from the one that is read to the one that is prefetched.
const PREFETCHED: usize = 4;

/// Rows of samples in the ring of each channel, and smoothed ones.
const SAMPLE_RING_ROWS: usize = 5;
const SMOOTHED: usize = 3;
/// Channels of colours.
const CHANNELS: usize = 3;

/// A thread's memory for this engine.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Samples summed down the columns; one row.
    column_sums: Rows16,
    /// Smoothed rows y − 1 to y + 1; rings of 3, one a channel.
    smoothed: Rows16,
    /// Weighted sums and differences of three smoothed rows; one row each.
    lines: [Rows16; 2],
    /// gx and gy of the rows in the window, the one that leaves it, and those that are computed
    /// ahead; rings, one a channel.
    gradients: [Rows16; 2],
    /// A row of zeros.
    zero: Rows16,
    /// Of gx², gx·gy and gy² summed down the window: pairs of columns, then odd columns alone; one
    /// row each.
    ///
    /// With prefix sums these are sums up to and with each odd column, then each even one.
    sums: SumRows,
    /// Samples by channel: rings of 5 rows. For gradients by tiles, the samples around the image's
    /// edges.
    samples: SampleRows,
}

/// The sweep down a strip.
struct RowSweep<'s, 'a> {
    sweep: &'s mut StripSweep<'a, u8>,
    memory: &'s mut Memory,
    columns: Columns,
    smoothing: StageSmoothing,
    gradient: ThreeTaps,
    gradients: RowGradients,
    sums: RowSums,
    /// Rows in the rings of gradients.
    ring: usize,
    next: NextRows,
    threshold: f32,
    bound: RejectionBound,
}

/// Sweeps down a strip.
pub(crate) fn sweep_strip<V: Simd>(
    sweep: &mut StripSweep<'_, u8>,
    memory: &mut Memory,
    v: V,
    strip: &Range<usize>,
    (gradients, sums): (RowGradients, RowSums),
) {
    let ahead = match gradients {
        RowGradients::Tiles => GRADIENT_ROWS,
        RowGradients::Rows => 1,
    };
    let ring = 2 * sweep.context.config.window().radius() + 1 + ahead;
    let columns = sweep.context.columns(strip);
    let config = sweep.context.config;
    let smoothing = StageSmoothing::of(config.smoothing()).expect("plans have Gaussian smoothings by floats");
    let gradient = ThreeTaps::of(config.gradient()).expect("plans have other gradients by floats");
    let next = NextRows::new(sweep.computed_rows().start, config);
    let (threshold, bound) = (f32::NEG_INFINITY, RejectionBound::NONE);
    let mut engine = RowSweep {
        sweep,
        memory,
        columns,
        smoothing,
        gradient,
        gradients,
        sums,
        ring,
        next,
        threshold,
        bound,
    };
    if let Err(error) = engine.reserve() {
        return engine.sweep.fail(error);
    }
    let words = WordLayout::by_rows::<V>(engine.earlier::<V>());
    sweep_rows(&mut engine, v, strip, words);
}

impl<'a> RowEngine<'a, u8> for RowSweep<'_, 'a> {
    fn parts(&mut self) -> (&mut StripSweep<'a, u8>, &Columns) {
        (self.sweep, &self.columns)
    }

    fn set_threshold(&mut self, threshold: f32) {
        (self.threshold, self.bound) = (threshold, self.sweep.rejection_bound(threshold));
    }

    fn sum_down<V: Simd>(&mut self, v: V, y: usize) {
        let first = y == self.sweep.computed_rows().start;
        let height = self.sweep.context.image.height();
        let window = self.sweep.context.config.window().radius();
        let last = (y + window).min(height - 1);
        while self.next.gradient <= last {
            let until = (self.sweep.computed_rows().end + window).min(height);
            self.next_gradients(v, until);
        }
        let (y, window) = (y as isize, window as isize);
        match self.sums {
            RowSums::Weighted => self.sum(v, y),
            RowSums::Sliding | RowSums::PrefixSums if first => {
                for sums in self.memory.sums.rows_mut::<6>(0) {
                    sums.fill(0);
                }
                for row in y - window..=y + window {
                    self.slide(v, row, None);
                }
            }
            RowSums::Sliding | RowSums::PrefixSums => self.slide(v, y + window, Some(y - 1 - window)),
        }
    }

    fn respond<V: Simd>(&mut self, v: V, y: usize, words: WordLayout) {
        match self.sums {
            RowSums::Weighted => self.respond_to::<V, true>(v, y, words),
            RowSums::Sliding | RowSums::PrefixSums => self.respond_to::<V, false>(v, y, words),
        }
    }
}

impl RowSweep<'_, '_> {
    fn reserve(&mut self) -> Result<(), Error> {
        let channels = self.sweep.context.image.channels();
        let Memory { column_sums, smoothed, lines, gradients, zero, sums, samples } = &mut *self.memory;
        column_sums.reserve(1)?;
        smoothed.reserve(SMOOTHED * channels)?;
        lines.iter_mut().try_for_each(|rows| rows.reserve(1))?;
        gradients.iter_mut().try_for_each(|rows| rows.reserve(self.ring * channels))?;
        zero.reserve(1)?;
        sums.reserve(6)?;
        samples.reserve(match self.gradients {
            RowGradients::Tiles => EXTENDED_ROWS,
            RowGradients::Rows => SAMPLE_RING_ROWS * channels,
        })
    }

    /// Elements before multiples of their length at which vectors of responses begin: with prefix
    /// sums across, windows begin with whole cache lines of them (and windows of 31 end so).
    fn earlier<V: Simd>(&self) -> usize {
        let pairs_before = self.sweep.context.config.window().radius() / 2 + 1;
        match self.sums {
            RowSums::PrefixSums => 2 * (pairs_before.next_multiple_of(V::LANES) - pairs_before),
            RowSums::Sliding | RowSums::Weighted => 0,
        }
    }

    /// Adds the products of row `enters` to the sums, and subtracts those of row `leaves`.
    fn slide<V: Simd>(&mut self, v: V, enters: isize, leaves: Option<isize>) {
        let (ring, window) = (self.ring, self.sweep.context.config.window().radius());
        let (border, height) = (self.sweep.context.config.border(), self.sweep.context.image.height());
        for channel in 0..self.sweep.context.image.channels() {
            let Memory { gradients, zero, sums, .. } = &mut *self.memory;
            let row = |y: Option<isize>| {
                let place =
                    y.and_then(|y| border::inside(border, y, height)).map(|y| channel * ring + y % ring);
                gradients.each_ref().map(|rows| place.map_or(zero.row(0), |place| rows.row(place)))
            };
            let (enters, leaves) = (row(Some(enters)), row(leaves));
            let [aa, bb, cc, ao, bo, co] = sums.rows_mut(0);
            let (pair_sums, odd_sums) = ([aa, bb, cc], [ao, bo, co]);
            let span = summed(&self.columns, window);
            match self.sums {
                RowSums::PrefixSums => {
                    // From the column before those of the first window on.
                    let span = span.start - 1..span.end;
                    v.enter(SlidePrefixSums {
                        enters,
                        leaves,
                        up_to_odd: pair_sums,
                        up_to_even: odd_sums,
                        span,
                    });
                }
                RowSums::Sliding | RowSums::Weighted => {
                    v.enter(Slide { enters, leaves, pair_sums, odd_sums, span });
                }
            }
        }
    }

    /// Sums the rows of a binomial window around row y.
    fn sum<V: Simd>(&mut self, v: V, y: isize) {
        let (ring, window) = (self.ring, self.sweep.context.config.window().radius());
        let (border, height) = (self.sweep.context.config.border(), self.sweep.context.image.height());
        let span = summed(&self.columns, window);
        for channel in 0..self.sweep.context.image.channels() {
            let Memory { gradients, zero, sums, .. } = &mut *self.memory;
            let mut rows = [[zero.row(0); 2]; MAX_ROWS];
            for (row, y) in rows.iter_mut().zip(y - window as isize..=y + window as isize) {
                if let Some(y) = border::inside(border, y, height) {
                    *row = gradients.each_ref().map(|rows| rows.row(channel * ring + y % ring));
                }
            }
            let [aa, bb, cc, ao, bo, co] = sums.rows_mut(0);
            let (pair_sums, odd_sums, span) = ([aa, bb, cc], [ao, bo, co], span.clone());
            v.enter(SumDown {
                rows,
                window_rows: 2 * window + 1,
                adds: channel > 0,
                pair_sums,
                odd_sums,
                span,
            });
        }
    }

    /// Computes the next row of gradients, or rows up to `until`.
    fn next_gradients<V: Simd>(&mut self, v: V, until: usize) {
        let start = self.next.gradient;
        match self.gradients {
            RowGradients::Tiles => {
                self.next.gradient = until.min(start + GRADIENT_ROWS);
                let Memory { samples, gradients, .. } = &mut *self.memory;
                let rows = start..self.next.gradient;
                gradient_tiles(&self.sweep.context, v, &self.columns, rows, samples, (gradients, self.ring));
            }
            RowGradients::Rows => self.gradient(v),
        }
        for y in start..self.next.gradient {
            for channel in 0..self.sweep.context.image.channels() {
                for rows in &mut self.memory.gradients {
                    self.columns.product_edge.extend(rows.row_mut(channel * self.ring + y % self.ring));
                }
            }
        }
    }

    /// Computes the next row of gradients.
    fn gradient<V: Simd>(&mut self, v: V) {
        let (y, ring, height) = (self.next.gradient, self.ring, self.sweep.context.image.height());
        while self.next.smoothed <= (y + 1).min(height - 1) {
            self.smooth(v);
        }
        let border = self.sweep.context.config.border();
        for channel in 0..self.sweep.context.image.channels() {
            let Memory { smoothed, zero, lines, gradients, .. } = &mut *self.memory;
            let row = |dy: isize| match border::inside(border, y as isize + dy, height) {
                Some(y) => smoothed.row(channel * SMOOTHED + y % SMOOTHED),
                None => zero.row(0),
            };
            let [gx, gy] = gradients.each_mut().map(|rows| rows.row_mut(channel * ring + y % ring));
            v.enter(Differentiate {
                gradient: self.gradient,
                smoothed: [row(-1), row(0), row(1)],
                lines: lines.each_mut().map(|rows| rows.row_mut(0)),
                gx,
                gy,
                span: self.columns.span(&self.columns.gradients),
            });
        }
        self.next.gradient += 1;
    }

    /// Smooths the next row.
    fn smooth<V: Simd>(&mut self, v: V) {
        let (image, config, y) = (self.sweep.context.image, self.sweep.context.config, self.next.smoothed);
        let (border, smoothing) = (config.border(), self.smoothing);
        let (last, samples) = (image.height() - 1, self.columns.samples.clone());
        if image.channels() > 1 {
            while self.next.across <= (y + config.smoothing().radius()).min(last) {
                self.split(v, self.next.across);
                self.next.across += 1;
            }
        }
        let columns = &self.columns;
        for channel in 0..image.channels() {
            let Memory { samples: split, column_sums, smoothed, .. } = &mut *self.memory;
            let row = |dy: isize| match border::inside(border, y as isize + dy, image.height()) {
                Some(y) if image.channels() == 1 => &image.row(y)[samples.clone()],
                Some(y) => &split.row(y % SAMPLE_RING_ROWS * CHANNELS + channel)[..samples.len()],
                None => &ZERO_SAMPLES[..samples.len()],
            };
            let rows = [row(-2), row(-1), row(0), row(1), row(2)];
            // Colours are prefetched when they are split.
            let ahead = if image.channels() == 1 {
                &image.row((y + 2 + PREFETCHED).min(last))[samples.clone()]
            } else {
                rows[2]
            };
            let (sums, out) = (column_sums.row_mut(0), smoothed.row_mut(channel * SMOOTHED + y % SMOOTHED));
            let start = columns.place(samples.start as isize);
            v.enter(SmoothDown { smoothing, rows, ahead, out: sums, start });
            columns.sample_edge.extend(sums);
            v.enter(SmoothAcross { smoothing, sums, out, span: columns.span(&columns.smoothed) });
            columns.smoothed_edge.extend(out);
        }
        self.next.smoothed += 1;
    }

    /// Splits row y into its channels.
    fn split<V: Simd>(&mut self, v: V, y: usize) {
        let (image, samples) = (self.sweep.context.image, &self.columns.samples);
        let pixels = samples.start * CHANNELS..samples.end * CHANNELS;
        let ahead = image.row((y + PREFETCHED).min(image.height() - 1));
        for i in pixels.clone().step_by(64) {
            v.prefetch(ahead, i);
        }
        let out = self.memory.samples.rows_mut(y % SAMPLE_RING_ROWS * CHANNELS);
        v.enter(SplitChannels { pixels: image.row(y)[pixels].as_chunks().0, out, start: 0 });
    }

    /// Computes the responses of row y, of binomial windows where `B`.
    fn respond_to<V: Simd, const B: bool>(&mut self, v: V, y: usize, words: WordLayout) {
        let context = &self.sweep.context;
        if !context.has_responses(y) {
            return;
        }
        let [aa, bb, cc, ao, bo, co] = self.memory.sums.rows_mut(0).map(|row| &*row);
        v.enter(Respond::<B> {
            measure: context.config.measure(),
            threshold: self.threshold,
            bound: self.bound,
            radius: context.config.window().radius(),
            scale: context.scale,
            pair_sums: [aa, bb, cc],
            odd_sums: [ao, bo, co],
            out: &mut self.sweep.memory.responses,
            slot: y % RING,
            words,
            span: self.columns.span(&self.columns.responses),
        });
    }
}

/// The elements that windows of a radius read.
fn summed(columns: &Columns, window: usize) -> Range<usize> {
    let span = columns.span(&columns.responses);
    span.start - window..span.end + window
}
