//! The fused path: from 8-bit gray samples to peaks in one walk down the rows.
//!
//! The image is walked in strips of columns, each from top to bottom, so that all that lies between a sample and its
//! response stays in a few rows of scratch memory, in the first two caches; nothing of the image's size is written.
//! For each row of responses the walk
//!
//! 1. smooths the next row of samples and takes its gradient ([`samples`]), as 16-bit integers;
//! 2. adds the products of that row to the window's sums down the columns and takes off those of the row that leaves
//!    it ([`tensor`]): the cost does not depend on the window's height. Sums are kept in pairs of columns, as the
//!    processor's products of 16-bit pairs give them, and of odd columns alone;
//! 3. sums across, converts once, and computes the response ([`tensor`]);
//! 4. looks for peaks a suppression radius above ([`peaks`]). The greatest response so far bounds a relative threshold
//!    from below, so that few pixels are looked at; the final one filters the list.
//!
//! Integer sums are exact, so that only their order differs from the definition's.

mod peaks;
mod samples;
mod scratch;
mod tensor;
mod tiles;
mod walk;

use harris_core::config::APERTURES;
use harris_core::{
    Gradient, HarrisConfig, ImageView, Raster, Samples, Smoothing, Subpixel, Threshold, Window,
};

pub(crate) use scratch::Scratch;
pub(crate) use peaks::Peaks;
pub(crate) use walk::Walk;

use crate::bounds::fits_i32;

/// The greatest suppression radius of the fused path.
const MOST_RADIUS: usize = 4;
/// The greatest window radius of all.
const MOST_WINDOW: usize = (*APERTURES.end() / 2) as usize;

/// The samples of `image`, where the fused path does `config` on it.
pub(crate) fn covered<'a>(image: &ImageView<'a>, config: &HarrisConfig) -> Option<Raster<'a, u8>> {
    let Samples::U8(raster) = image.samples() else { return None };
    let is_covered = raster.channels() == 1
        && matches!(config.smoothing(), Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5)
        && matches!(config.gradient(), Gradient::Sobel3 | Gradient::Scharr3 | Gradient::Central)
        && matches!(config.window(), Window::Box { .. })
        && fits_i32(config, 1, 255.0)
        && !matches!(config.threshold(), Threshold::Rosin { .. })
        && config.suppression_radius() <= MOST_RADIUS
        && config.subpixel() != Subpixel::Quadratic;
    is_covered.then_some(raster)
}

// Scharr's greatest gradient of 8-bit samples is 16 · 255: it fits in 16 bits.
const _: () = assert!(16 * 255 <= i16::MAX as i64);
