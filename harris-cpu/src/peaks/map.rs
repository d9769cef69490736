//! A response map, and the corners in it: extent, histogram and suppression, in bands of rows.

use std::ops::{Range, RangeInclusive};

use harris_core::pipeline::threshold::{self, Binning};
use harris_core::{Error, HarrisConfig, ImageView, Keypoint, Plateau, Raster, Threshold, memory};

use crate::bands::Threads;

/// Responses that are compared together.
const CHUNK: usize = 16;
/// Counters of a bin.
const COUNTERS_PER_BIN: usize = 8;

/// The responses of an image, and which of them take part.
#[derive(Clone, Copy)]
pub(crate) struct Map<'a> {
    values: &'a [f32],
    width: usize,
    height: usize,
    frame: [usize; 2],
    mask: Option<Raster<'a, u8>>,
}

impl<'a> Map<'a> {
    pub(crate) fn new(values: &'a [f32], image: &ImageView<'a>, config: &HarrisConfig) -> Self {
        let (width, height) = (image.width(), image.height());
        Self { values, width, height, frame: config.invalid_frame(), mask: image.mask() }
    }

    /// The response at x, y; `None` beyond the image or where it is not valid.
    pub(crate) fn at(&self, x: isize, y: isize) -> Option<f32> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        let valid = self.columns().contains(&x) && self.rows().contains(&y);
        valid.then(|| self.row(y)[x])
    }

    /// Finds all corners, in no order.
    pub(crate) fn corners(self, config: &HarrisConfig, threads: &Threads) -> Result<Vec<Keypoint>, Error> {
        let threshold = match config.threshold() {
            Threshold::Absolute(value) => Some(value),
            Threshold::None => Some(0.0),
            Threshold::Relative(quality) => {
                self.extent(threads)?.and_then(|extent| threshold::relative(quality, *extent.end()))
            }
            Threshold::Rosin { bins } => self.rosin(bins, threads)?,
        };
        let Some(threshold) = threshold else { return Ok(Vec::new()) };
        let corners = self.by_bands(threads, |band| self.corners_in(band, config, threshold))?;
        memory::concat(&corners.into_iter().collect::<Result<Vec<_>, _>>()?)
    }

    /// Rosin's threshold; `None` where nothing can be a candidate.
    pub(crate) fn rosin(self, bins: u32, threads: &Threads) -> Result<Option<f32>, Error> {
        let binning = self.extent(threads)?.and_then(|extent| Binning::new(extent, bins));
        let Some(binning) = binning else { return Ok(None) };
        let mut counts = memory::zeroed(bins as usize)?;
        for histogram in self.by_bands(threads, |band| self.histogram(band, binning, bins))? {
            counts.iter_mut().zip(histogram?).for_each(|(count, more)| *count += more);
        }
        Ok(Some(binning.threshold(&counts)))
    }

    fn by_bands<R: Send>(
        self,
        threads: &Threads,
        work: impl Fn(Range<usize>) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        threads.map(threads.bands(self.height).iter().collect(), work)
    }

    /// The least and the greatest response that take part.
    fn extent(self, threads: &Threads) -> Result<Option<RangeInclusive<f32>>, Error> {
        let extents = self.by_bands(threads, |band| self.extent_in(band))?.into_iter().flatten();
        Ok(threshold::extent(extents.flat_map(|extent| [*extent.start(), *extent.end()])))
    }

    /// The least and the greatest response that take part in `rows`.
    fn extent_in(&self, rows: Range<usize>) -> Option<RangeInclusive<f32>> {
        if self.mask.is_some() {
            return threshold::extent(self.searched(rows));
        }
        // Lane by lane, so that the compiler compares many at once; which of equal ones is kept
        // makes no difference.
        let (mut least, mut greatest) = ([f32::INFINITY; CHUNK], [f32::NEG_INFINITY; CHUNK]);
        for y in self.band(rows) {
            let (chunks, rest) = self.row(y)[self.columns()].as_chunks::<CHUNK>();
            let mut widen = |i: usize, response: f32| {
                least[i] = if response < least[i] { response } else { least[i] };
                greatest[i] = if response > greatest[i] { response } else { greatest[i] };
            };
            for chunk in chunks {
                (0..CHUNK).for_each(|i| widen(i, chunk[i]));
            }
            rest.iter().enumerate().for_each(|(i, &response)| widen(i, response));
        }
        threshold::extent(least.into_iter().chain(greatest).filter(|response| response.is_finite()))
    }

    /// How many responses that take part in `rows` fall into each bin.
    fn histogram(&self, rows: Range<usize>, binning: Binning, bins: u32) -> Result<Vec<u64>, Error> {
        // Most responses fall into few bins. Several counters for each keep additions from waiting
        // for one another. Chunks of flat image are counted at once.
        let mut counters = memory::zeroed::<[u64; COUNTERS_PER_BIN]>(bins as usize)?;
        let flat = binning.bin(0.0);
        let of_flat = responses_of(flat, binning);
        let mut flat_chunks = 0;
        if self.mask.is_some() {
            self.searched(rows).for_each(|response| counters[binning.bin(response)][0] += 1);
        } else {
            for y in self.band(rows) {
                let (chunks, rest) = self.row(y)[self.columns()].as_chunks::<CHUNK>();
                for chunk in chunks {
                    if chunk.iter().fold(true, |all, response| all & of_flat.contains(response)) {
                        flat_chunks += 1;
                        continue;
                    }
                    let mut bins = [0; CHUNK];
                    (0..CHUNK).for_each(|i| bins[i] = binning.bin(chunk[i]));
                    (0..CHUNK).for_each(|i| counters[bins[i]][i % COUNTERS_PER_BIN] += 1);
                }
                rest.iter().for_each(|&response| counters[binning.bin(response)][0] += 1);
            }
        }
        counters[flat][0] += flat_chunks * CHUNK as u64;
        memory::collect(counters.into_iter().map(|counters| counters.into_iter().sum()))
    }

    /// The corners in `rows` whose response exceeds `threshold`, from top to bottom and left to
    /// right.
    fn corners_in(
        &self,
        rows: Range<usize>,
        config: &HarrisConfig,
        threshold: f32,
    ) -> Result<Vec<Keypoint>, Error> {
        let margin = config.margin();
        let within = |range: Range<usize>, len: usize| {
            range.start.max(margin)..range.end.min(len.saturating_sub(margin))
        };
        let columns = within(self.columns(), self.width);
        let mut corners = Vec::new();
        for y in within(self.band(rows), self.height) {
            let row = self.row(y);
            for start in columns.clone().step_by(CHUNK) {
                let places = start..(start + CHUNK).min(columns.end);
                // Few chunks hold a candidate; the others are skipped at once.
                if !row[places.clone()].iter().fold(false, |any, &response| any | (response > threshold)) {
                    continue;
                }
                memory::reserve(&mut corners, CHUNK)?;
                for x in places {
                    if row[x] > threshold && self.in_mask(x, y) && self.wins(x, y, config) {
                        corners.push(Keypoint::new(x as f32, y as f32, row[x]));
                    }
                }
            }
        }
        Ok(corners)
    }

    /// Whether no other response within the radius beats the one at x, y.
    fn wins(&self, x: usize, y: usize, config: &HarrisConfig) -> bool {
        let radius = config.suppression_radius();
        let around = |i: usize, valid: Range<usize>| {
            valid.start.max(i.saturating_sub(radius))
                ..valid.end.min(i.saturating_add(radius).saturating_add(1))
        };
        let columns = around(x, self.columns());
        let response = self.row(y)[x];
        let after = |x: Range<usize>, y: usize| self.competitors(x, y).all(|other| response >= other);
        let before = |x: Range<usize>, y: usize| match config.plateau() {
            Plateau::First => self.competitors(x, y).all(|other| response > other),
            Plateau::All => after(x, y),
        };
        let rows = around(y, self.rows());
        before(columns.start..x, y)
            && after(x + 1..columns.end, y)
            && (rows.start..y).all(|y| before(columns.clone(), y))
            && (y + 1..rows.end).all(|y| after(columns.clone(), y))
    }

    /// Responses inside the mask.
    fn searched(&self, rows: Range<usize>) -> impl Iterator<Item = f32> {
        self.band(rows).flat_map(move |y| {
            self.columns().filter(move |&x| self.in_mask(x, y)).map(move |x| self.row(y)[x])
        })
    }

    /// Responses that may beat others, inside the mask or not.
    fn competitors(&self, columns: Range<usize>, y: usize) -> impl Iterator<Item = f32> + 'a {
        self.row(y)[columns].iter().copied()
    }

    fn in_mask(&self, x: usize, y: usize) -> bool {
        self.mask.is_none_or(|mask| mask.row(y)[x] != 0)
    }

    fn row(&self, y: usize) -> &'a [f32] {
        &self.values[y * self.width..(y + 1) * self.width]
    }

    /// The columns that have a response.
    fn columns(&self) -> Range<usize> {
        self.frame[0]..self.width - self.frame[1]
    }

    /// The rows that have a response.
    fn rows(&self) -> Range<usize> {
        self.frame[0]..self.height - self.frame[1]
    }

    fn band(&self, rows: Range<usize>) -> Range<usize> {
        rows.start.max(self.frame[0])..rows.end.min(self.height - self.frame[1])
    }
}

/// The finite responses that fall into a bin that is not empty.
fn responses_of(bin: usize, binning: Binning) -> RangeInclusive<f32> {
    // Integers in the order of the floats that they stand for.
    let float = |place: i32| f32::from_bits((place ^ (place >> 31 & i32::MAX)) as u32);
    let greatest = f32::MAX.to_bits() as i32;
    // The first integer for which a condition holds that also holds for all greater ones.
    let first = |holds: &dyn Fn(usize) -> bool| {
        let (mut before, mut at) = (i64::from(!greatest) - 1, i64::from(greatest) + 1);
        while at - before > 1 {
            let middle = before + (at - before) / 2;
            if holds(binning.bin(float(middle as i32))) {
                at = middle;
            } else {
                before = middle;
            }
        }
        at as i32
    };
    float(first(&|other| other >= bin))..=float(first(&|other| other > bin) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_of_a_bin_are_those_that_fall_into_it() {
        for (extent, bins) in [(-0.3..=0.7, 256), (-1e-6..=3e-5, 2), (-2.0..=-1.0, 16), (0.5..=1e20, 65_536)]
        {
            let binning = Binning::new(extent.clone(), bins).unwrap();
            for bin in [0.0, *extent.start(), *extent.end(), 0.37].map(|response| binning.bin(response)) {
                let (least, greatest) = responses_of(bin, binning).into_inner();
                assert_eq!([least, greatest].map(|response| binning.bin(response)), [bin; 2], "{extent:?}");
                assert!(least == -f32::MAX || binning.bin(least.next_down()) < bin, "{extent:?}, {bin}");
                assert!(greatest == f32::MAX || binning.bin(greatest.next_up()) > bin, "{extent:?}, {bin}");
            }
        }
    }
}
