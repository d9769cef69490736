//! The pass down a strip of columns: what its engines have in common.

use std::ops::Range;

use harris_core::pipeline::bound::{squared_gradient_bound, trace_bound};
use harris_core::{Error, HarrisConfig, Plateau, Raster, memory};

use super::bound::RejectionBound;
use super::halo::Columns;
use super::sample::SweepSample;
use crate::peaks::collect::{Collect, CornerSink, WordMaxima};
use crate::peaks::found::{Peaks, SearchRules, SharedBound};
use crate::peaks::list_bound::SearchedArea;
use crate::peaks::ring::{NO_RESPONSE, RING, ResponseRing, WordLayout};
use crate::rows::{BLOCK_ROWS, LEFT_PADDING, MAX_SUPPRESSION_RADIUS};
use crate::simd::Simd;

/// Elements that suppression reads beyond the last column: its radius and whole vectors.
const SUPPRESSION_READS: usize = MAX_SUPPRESSION_RADIUS + 64;

/// Rows that sweeps by rows collect together.
const COLLECTED_ROWS: usize = 32;
const _: () = assert!(COLLECTED_ROWS < BLOCK_ROWS);

/// What does not change while an image is swept.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a, T> {
    pub(crate) image: Raster<'a, T>,
    /// Where corners are sought.
    pub(crate) mask: Option<Raster<'a, u8>>,
    pub(crate) config: &'a HarrisConfig,
    pub(crate) rules: SearchRules,
    /// 1 / ((norm · full scale)² · Σ weights)
    pub(crate) scale: f32,
    pub(crate) shared: &'a SharedBound,
}

impl<T: SweepSample> Context<'_, T> {
    /// Width of the frame of pixels that are not valid: all windows of sweeps are centred.
    pub(crate) fn frame(&self) -> usize {
        self.config.invalid_frame()[0]
    }

    /// Whether row y has responses.
    pub(crate) fn has_responses(&self, y: usize) -> bool {
        let frame = self.frame();
        y >= frame && y + frame < self.image.height()
    }

    /// The columns of a strip's stages.
    pub(crate) fn columns(&self, strip: &Range<usize>) -> Columns {
        Columns::new(strip, self.rules.radius, self.config, self.image.width())
    }
}

/// A thread's memory for the responses of a strip.
#[derive(Debug)]
pub(crate) struct StripMemory {
    pub(crate) responses: ResponseRing,
    maxima: [WordMaxima; RING],
    /// Whether a sample was not valid; then no other result means anything.
    pub(crate) is_invalid: bool,
    /// Why the sweep failed, if it did; then no other result means anything.
    pub(crate) failure: Option<Error>,
}

impl StripMemory {
    pub(crate) fn new() -> Result<Self, Error> {
        Ok(Self {
            responses: ResponseRing::new()?,
            maxima: [WordMaxima::default(); RING],
            is_invalid: false,
            failure: None,
        })
    }
}

/// A sweep over a band of rows: the state of the strip that is swept.
pub(crate) struct StripSweep<'a, T> {
    pub(crate) context: Context<'a, T>,
    /// The rows of the band.
    pub(crate) rows: Range<usize>,
    /// The rows of the response map that are the band's, if all responses are asked for.
    pub(crate) map: Option<&'a mut [f32]>,
    pub(crate) memory: &'a mut StripMemory,
    pub(crate) found: &'a mut Peaks,
}

/// The rows of a strip that wait to be collected.
pub(crate) struct Collection {
    pub(crate) words: WordLayout,
    /// The next row to collect.
    next: usize,
}

impl<T: SweepSample> StripSweep<'_, T> {
    /// The greatest lower bound on the final threshold that any thread knows.
    pub(crate) fn threshold(&mut self) -> f32 {
        self.context.shared.exchange(self.found);
        self.found.threshold(self.context.rules.threshold)
    }

    /// The rows whose responses the band needs: its own and those around it that suppression reads.
    pub(crate) fn computed_rows(&self) -> Range<usize> {
        let radius = self.context.rules.radius;
        self.rows.start.saturating_sub(radius)..(self.rows.end + radius).min(self.context.image.height())
    }

    /// Notes that the sweep has failed.
    pub(crate) fn fail(&mut self, error: Error) {
        self.memory.failure.get_or_insert(error);
    }

    /// Begins a strip.
    pub(crate) fn begin(&mut self, words: WordLayout) -> Collection {
        self.memory.responses.reset();
        Collection { words, next: self.rows.start }
    }

    /// Finishes a row of responses: the frame, the mask, the response map.
    pub(crate) fn finish_row(
        &mut self,
        columns: &Columns,
        strip: &Range<usize>,
        y: usize,
        words: WordLayout,
    ) {
        self.clear_invalid(columns, y);
        if let Some(mask) = self.context.mask
            && self.context.has_responses(y)
        {
            self.apply_mask(mask, columns, y, words);
        }
        self.write_responses(columns, strip, y);
    }

    /// Collects peaks every [`COLLECTED_ROWS`] rows and behind the last row, in a sweep by rows.
    pub(crate) fn collect_at<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        strip: &Range<usize>,
        y: usize,
        collection: &mut Collection,
    ) {
        if y + 1 == self.computed_rows().end || y >= collection.next + COLLECTED_ROWS {
            self.collect_until(v, columns, strip, y + 1, collection);
        }
    }

    /// Collects the rows whose neighbourhoods lie above row `end`; at the image's bottom nothing
    /// follows that they would wait for.
    pub(crate) fn collect_until<V: Simd>(
        &mut self,
        v: V,
        columns: &Columns,
        strip: &Range<usize>,
        end: usize,
        collection: &mut Collection,
    ) {
        let (width, height) = (self.context.image.width(), self.context.image.height());
        let SearchRules { radius, margin, plateau, .. } = self.context.rules;
        let until = if end == height { height } else { end.saturating_sub(radius) };
        let rows = collection.next..until.min(self.rows.end).max(collection.next);
        collection.next = rows.end;
        let threshold = self.threshold();
        // The most that can be found, so that the list does not grow meanwhile.
        let most = most_corners([rows.len(), strip.len()], radius, plateau);
        if let Err(error) = memory::reserve(&mut self.found.peaks, most) {
            return self.fail(error);
        }
        let StripMemory { responses, maxima, .. } = &mut *self.memory;
        v.enter(Collect {
            responses,
            height,
            words: collection.words,
            radius,
            plateau,
            pending: end.saturating_sub(rows.end),
            rows: rows.clone(),
            maxima,
            corners: CornerSink {
                threshold,
                found: self.found,
                origin: columns.origin,
                columns: strip.clone(),
                corner_rows: margin..height.saturating_sub(margin),
                corner_columns: margin..width.saturating_sub(margin),
            },
        });
        let (band, strip) = (self.rows.clone(), strip.clone());
        let area = SearchedArea { thread: self.found.thread, width, height, band, strip, rows };
        if let Err(error) = self.found.raise_floor(self.context.config, &area, self.context.shared) {
            self.fail(error);
        }
    }

    /// Bounds by which responses at most `threshold` are rejected; none is where a response map is
    /// asked for.
    pub(crate) fn rejection_bound(&self, threshold: f32) -> RejectionBound {
        if self.map.is_some() {
            RejectionBound::NONE
        } else {
            RejectionBound::new(self.context.config.measure(), self.context.scale, threshold)
        }
    }

    /// The least A + C, scaled, of a response above the threshold; 0 where a response map is asked
    /// for.
    pub(crate) fn least_trace(&self, threshold: f32) -> f32 {
        if self.map.is_some() {
            0.0
        } else {
            trace_bound(self.context.config.measure(), threshold.into()) as f32
        }
    }

    /// A bound that gx² + gy² of a channel exceeds in some pixel of each window with a response
    /// above the threshold; none where a response map is asked for.
    pub(crate) fn gradient_bound(&self, threshold: f32) -> Option<f32> {
        if self.map.is_some() {
            return None;
        }
        let Context { config, image, scale, .. } = self.context;
        let weights = config.window().weight_sum() * image.channels() as f64;
        Some(squared_gradient_bound(config.measure(), scale, threshold, weights))
    }

    /// Writes row y into the response map, if there is one and the row is the band's.
    fn write_responses(&mut self, columns: &Columns, strip: &Range<usize>, y: usize) {
        let Some(map) = &mut self.map else { return };
        if !self.rows.contains(&y) {
            return;
        }
        let (width, frame) = (self.context.image.width(), self.context.frame());
        let out = &mut map[(y - self.rows.start) * width..][strip.clone()];
        if self.context.has_responses(y) {
            out.copy_from_slice(&self.memory.responses.full(y % RING)[columns.span(strip)]);
            let within = |x: usize| x.clamp(strip.start, strip.end) - strip.start;
            out[..within(frame)].fill(0.0);
            out[within(width - frame)..].fill(0.0);
        } else {
            out.fill(0.0);
        }
    }

    /// Drops the candidates of row y outside the mask. The greatest response inside need not be a
    /// peak: a greater one outside may suppress it.
    fn apply_mask(&mut self, mask: Raster<'_, u8>, columns: &Columns, y: usize, words: WordLayout) {
        let (width, frame) = (self.context.image.width(), self.context.frame());
        let valid = columns.responses.start.max(frame)..columns.responses.end.min(width - frame);
        let row = mask.row(y);
        let greatest = self.memory.responses.restrict_candidates(y % RING, words, |place| {
            let x = (place as isize + columns.origin) as usize;
            valid.contains(&x) && row[x] != 0
        });
        self.found.greatest = self.found.greatest.max(greatest);
    }

    /// Puts no response where pixels of row y are not valid.
    fn clear_invalid(&mut self, columns: &Columns, y: usize) {
        let (width, frame) = (self.context.image.width(), self.context.frame());
        let has_responses = self.context.has_responses(y);
        let out = self.memory.responses.upper_mut(y % RING);
        if !has_responses {
            out.fill(NO_RESPONSE);
            return;
        }
        let valid = columns.responses.start.max(frame)..columns.responses.end.min(width - frame);
        let valid = valid.start..valid.end.max(valid.start);
        let place = columns.span(&valid);
        // What suppression and whole vectors read beyond the valid columns; other strips end within
        // them.
        if valid.start <= frame {
            let start = LEFT_PADDING - MAX_SUPPRESSION_RADIUS;
            out[start..place.start.max(start)].fill(NO_RESPONSE);
        }
        if valid.end + frame >= width {
            let end = (place.end + SUPPRESSION_READS).min(out.len());
            out[place.end..end].fill(NO_RESPONSE);
        }
    }
}

/// The most corners among so many rows and columns.
fn most_corners(size: [usize; 2], radius: usize, plateau: Plateau) -> usize {
    let apart = match plateau {
        Plateau::First => radius + 1,
        Plateau::All => 1,
    };
    size.map(|len| len.div_ceil(apart)).into_iter().product()
}
