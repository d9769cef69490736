//! The driver of the sweeps by rows: the way down a strip that all engines share.

use std::ops::Range;

use crate::peaks::ring::WordLayout;
use crate::simd::Simd;
use crate::sweep::halo::Columns;
use crate::sweep::sample::SweepSample;
use crate::sweep::strip::StripSweep;

/// How a row of responses is computed.
pub(super) trait RowEngine<'a, T: 'a> {
    /// The strip's sweep and its columns.
    fn parts(&mut self) -> (&mut StripSweep<'a, T>, &Columns);

    /// Sets the threshold of the rows that follow. It only rises.
    fn set_threshold(&mut self, threshold: f32);

    /// Brings the window's sums down the columns to row y.
    fn sum_down<V: Simd>(&mut self, v: V, y: usize);

    /// Computes the responses of row y from the sums.
    fn respond<V: Simd>(&mut self, v: V, y: usize, words: WordLayout);
}

/// Sweeps down a strip.
#[inline(always)]
pub(super) fn sweep_rows<'a, T: SweepSample + 'a, V: Simd>(
    engine: &mut impl RowEngine<'a, T>,
    v: V,
    strip: &Range<usize>,
    words: WordLayout,
) {
    let (sweep, _) = engine.parts();
    let rows = sweep.computed_rows();
    let mut collection = sweep.begin(words);
    let mut threshold = sweep.threshold();
    engine.set_threshold(threshold);
    for y in rows {
        let now = engine.parts().0.threshold();
        if now > threshold {
            threshold = now;
            engine.set_threshold(now);
        }
        engine.sum_down(v, y);
        engine.respond(v, y, collection.words);
        let (sweep, columns) = engine.parts();
        sweep.finish_row(columns, strip, y, collection.words);
        sweep.collect_at(v, columns, strip, y, &mut collection);
    }
}
