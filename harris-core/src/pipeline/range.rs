//! Images of floats far below 1, whose responses are lost among the subnormal numbers.
//!
//! Responses grow with the fourth power of the samples, or with the second. Where no corner has a
//! response that is a normal number, and the samples of each channel lie closer together than
//! [`MIN_RANGE`], the list of corners means nothing: that is an error. The test
//! needs the list first, so that it costs nothing where there are corners.

use crate::config::{Border, HarrisConfig, Threshold};
use crate::error::Error;
use crate::image::{ImageView, Samples};
use crate::keypoint::Keypoint;
use crate::limits::MIN_RANGE;

/// The range of an image's samples, if it is so small that corners may be lost.
///
/// The range is the greatest difference of two samples of a channel; under [`Border::Zero`] the
/// zeros around the image count. `None` for integers, for a flat image, for a range of at least
/// [`MIN_RANGE`], and for an absolute threshold that is a normal number, which no
/// lost response exceeds. Most images are known by their first few samples.
#[must_use]
pub fn small_range(image: &ImageView<'_>, config: &HarrisConfig) -> Option<f32> {
    let Samples::F32(raster) = image.samples() else { return None };
    match config.threshold() {
        Threshold::Absolute(value) if value >= f32::MIN_POSITIVE => return None,
        Threshold::Absolute(_) | Threshold::Relative(_) | Threshold::Rosin { .. } | Threshold::None => {}
    }
    let start = match config.border() {
        Border::Zero => [0.0, 0.0],
        Border::Reflect101 | Border::Replicate | Border::Skip => [f32::INFINITY, f32::NEG_INFINITY],
    };
    let channels = raster.channels();
    let mut extents = [start; 3];
    // Samples that are looked at together: whole pixels of one channel or three.
    const CHUNK: usize = 192;
    for y in 0..raster.height() {
        for chunk in raster.row(y).chunks(CHUNK) {
            for (channel, [least, greatest]) in extents[..channels].iter_mut().enumerate() {
                for &sample in chunk.iter().skip(channel).step_by(channels) {
                    (*least, *greatest) = (least.min(sample), greatest.max(sample));
                }
                if *greatest - *least >= MIN_RANGE {
                    return None;
                }
            }
        }
    }
    let range =
        extents[..channels].iter().fold(0.0_f32, |range, [least, greatest]| range.max(greatest - least));
    (range > 0.0).then_some(range)
}

/// Checks the corners of an image whose [`small_range`] is `range`.
///
/// # Errors
/// [`Error::RangeTooSmall`] where there is such a range, and no corner has a response that is a
/// normal number.
pub fn check_corners(range: Option<f32>, corners: &[Keypoint]) -> Result<(), Error> {
    match range {
        Some(range) if are_lost(corners) => Err(Error::RangeTooSmall { range, least: MIN_RANGE }),
        Some(_) | None => Ok(()),
    }
}

/// Checks the corners of an image, which is looked at only where they may be lost.
///
/// # Errors
/// As [`check_corners`].
pub fn check(image: &ImageView<'_>, config: &HarrisConfig, corners: &[Keypoint]) -> Result<(), Error> {
    if are_lost(corners) { check_corners(small_range(image, config), corners) } else { Ok(()) }
}

/// Whether no response is a normal number.
fn are_lost(corners: &[Keypoint]) -> bool {
    corners.iter().all(|corner| corner.response < f32::MIN_POSITIVE)
}
