//! Stage 7: the threshold that a corner's response exceeds.

use std::ops::RangeInclusive;

use crate::config::Threshold;
use crate::error::Error;
use crate::memory;

/// The threshold T that a candidate's response must exceed, or `None` where nothing can be a
/// candidate.
///
/// `responses` iterates over the responses of all valid pixels inside the mask. It is called once
/// for each pass over them.
///
/// # Errors
/// [`Error::OutOfMemory`] for a histogram.
pub fn threshold<I>(choice: Threshold, responses: impl Fn() -> I) -> Result<Option<f32>, Error>
where
    I: Iterator<Item = f32>,
{
    Ok(match choice {
        Threshold::Absolute(value) => Some(value),
        Threshold::None => Some(0.0),
        Threshold::Relative(quality) => {
            extent(responses()).and_then(|extent| relative(quality, *extent.end()))
        }
        Threshold::Rosin { bins } => {
            let binning = extent(responses()).and_then(|extent| Binning::new(extent, bins));
            let Some(binning) = binning else { return Ok(None) };
            let mut histogram = memory::zeroed(bins as usize)?;
            responses().for_each(|response| histogram[binning.bin(response)] += 1);
            Some(binning.threshold(&histogram))
        }
    })
}

/// The least and the greatest response; `None` where there are no responses.
#[doc(hidden)]
#[must_use]
pub fn extent(responses: impl Iterator<Item = f32>) -> Option<RangeInclusive<f32>> {
    responses.fold(None, |extent, response| match extent {
        None => Some(response..=response),
        Some(extent) => Some(extent.start().min(response)..=extent.end().max(response)),
    })
}

/// q · Rmax, computed in f64 and rounded to f32; `None` where the greatest response is not
/// positive.
#[doc(hidden)]
#[must_use]
pub fn relative(quality: f64, greatest: f32) -> Option<f32> {
    (greatest > 0.0).then_some((quality * f64::from(greatest)) as f32)
}

/// The histogram bins of Rosin's method (Rosin 2001).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Binning {
    /// The least response.
    least: f32,
    /// Bins per unit of response.
    density: f32,
    /// Units of response per bin.
    width: f32,
    /// The number of the last bin.
    last: f32,
}

impl Binning {
    /// Divides the extent of the responses into `bins` bins.
    ///
    /// `None` where it is too narrow for a finite number of bins per unit, as in a flat image. Then
    /// no pixel is a candidate.
    #[must_use]
    pub fn new(extent: RangeInclusive<f32>, bins: u32) -> Option<Self> {
        let (least, greatest) = extent.into_inner();
        let span = greatest - least;
        let density = bins as f32 / span;
        density.is_finite().then_some(Self {
            least,
            density,
            width: span / bins as f32,
            last: (bins - 1) as f32,
        })
    }

    /// The bin of a response: min(bins − 1, ⌊(R − least)·(bins / (greatest − least))⌋).
    #[must_use]
    #[inline]
    pub fn bin(&self, response: f32) -> usize {
        // From 2²³ on floats are integers, so that adding 2²³ rounds to the nearest integer. Unlike
        // conversions, compilers vectorise this.
        const WHOLE: f32 = 8_388_608.0;
        let place = (response - self.least) * self.density;
        let place = if place > 0.0 { place } else { 0.0 };
        let place = if place < self.last { place } else { self.last };
        let nearest = place + WHOLE;
        let bin = nearest.to_bits() - WHOLE.to_bits() - u32::from(nearest - WHOLE > place);
        bin as usize
    }

    /// Rosin's threshold: the centre of bin j, least + (j + 0.5)·width, but at least 0.
    ///
    /// A line runs from the histogram's peak to its last non-empty bin. Of the bins below it, j is
    /// the one farthest from the line.
    ///
    /// # Panics
    /// Where the histogram has not as many bins as this binning, or is empty.
    #[must_use]
    pub fn threshold(&self, histogram: &[u64]) -> f32 {
        assert_eq!(histogram.len(), self.last as usize + 1, "a histogram has the bins of its binning");
        let bin = farthest_bin(histogram).expect("the histogram counts the least response");
        let threshold = self.least + (bin as f32 + 0.5) * self.width;
        threshold.max(0.0)
    }
}

/// The first bin j with the greatest (e − p)(h\[p\] − h\[j\]) − (j − p)(h\[p\] − h\[e\]), in exact
/// integers.
///
/// p is the first fullest bin and e the last that is not empty; j lies between them.
fn farthest_bin(histogram: &[u64]) -> Option<usize> {
    let last = histogram.iter().rposition(|&count| count > 0)?;
    let fullest = *histogram.iter().max()?;
    let peak = histogram.iter().position(|&count| count == fullest)?;
    let h = |bin: usize| i128::from(histogram[bin]);
    let span = |from: usize, to: usize| (to - from) as i128;
    let distance = |j: usize| span(peak, last) * (h(peak) - h(j)) - span(peak, j) * (h(peak) - h(last));
    let greatest = (peak..=last).map(distance).max()?;
    (peak..=last).find(|&j| distance(j) == greatest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rosin_finds_the_elbow_of_a_falling_histogram() {
        // The line falls from 100 at bin 1 to 1 at bin 9; bin 3 lies farthest below it.
        let histogram = [4, 100, 30, 8, 6, 5, 3, 2, 1, 1, 0, 0];
        assert_eq!(farthest_bin(&histogram), Some(3));
        // By hand: 8·(100 − 8) − 2·99 = 538 against 8·70 − 99 = 461 at bin 2 and 8·94 − 3·99 = 455
        // at bin 4.
        let binning = Binning::new(-1.0..=11.0, 12).unwrap();
        assert_eq!(binning.threshold(&histogram), -1.0 + 3.5);
    }

    #[test]
    fn rosin_takes_the_first_of_equal_bins_and_one_bin_alone() {
        assert_eq!(farthest_bin(&[0, 0, 7]), Some(2));
        assert_eq!(farthest_bin(&[5, 5, 5]), Some(0));
        assert_eq!(farthest_bin(&[9, 1, 1, 1]), Some(1));
        assert_eq!(farthest_bin(&[0, 0]), None);
    }

    #[test]
    fn a_bin_includes_its_lower_edge() {
        let binning = Binning::new(0.0..=8.0, 4).unwrap();
        assert_eq!([0.0, 1.99, 2.0, 7.0, 8.0].map(|r| binning.bin(r)), [0, 0, 1, 3, 3]);
        // Outside the extent: the nearest bin.
        assert_eq!([-3.0, 9.0, f32::INFINITY, f32::NAN].map(|r| binning.bin(r)), [0, 3, 3, 0]);
    }

    #[test]
    fn bin_numbers_round_down() {
        let binning = Binning::new(0.0..=65536.0, 65536).unwrap();
        for bin in [0_u32, 1, 2, 3, 254, 255, 32767, 32768, 65534, 65535] {
            let place = bin as f32;
            for inside in [place, place + 0.25, place + 0.5, place + 0.75, (place + 1.0).next_down()] {
                assert_eq!(binning.bin(inside), bin as usize, "{inside}");
            }
        }
    }

    #[test]
    fn a_flat_image_has_no_threshold() {
        assert_eq!(threshold(Threshold::Rosin { bins: 16 }, || [0.5; 9].into_iter()).unwrap(), None);
        assert_eq!(threshold(Threshold::Rosin { bins: 16 }, || [0.0, 1e-40].into_iter()).unwrap(), None);
        assert_eq!(threshold(Threshold::Relative(0.5), || [0.0, -1.0].into_iter()).unwrap(), None);
        assert_eq!(threshold(Threshold::Relative(0.5), std::iter::empty).unwrap(), None);
        assert_eq!(threshold(Threshold::Relative(0.5), || [0.25, -1.0].into_iter()).unwrap(), Some(0.125));
    }
}
