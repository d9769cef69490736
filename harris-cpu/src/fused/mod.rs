//! The fused path: from samples to peaks in one walk down the rows.
//!
//! The image is walked in strips of columns, each from top to bottom, so that all that lies between a sample and its
//! response stays in registers or in a few rows of scratch memory, in the first two caches; nothing of the image's size
//! is written. There are these ways down a strip, of which a sample type and a configuration take the first that does
//! them:
//!
//! - by tiles ([`by_tiles`]): windows up to 7, and boxes up to 11 of 8-bit samples, gradients of three taps after no smoothing or a
//!   binomial one. A tile is one or two vectors wide; what is between its samples and its gradients, and between these and its
//!   responses, never leaves the registers. Of 8-bit samples and box and binomial windows ([`tiles`], [`stages`], [`windows`]) with vectors of 512 bits, and of 256 where contrast is asked for and the window
//!   leaves them columns enough; of others ([`float_tiles`], [`float_stages`], [`float_windows`]) with 512 bits.
//! - by rows ([`by_rows`], [`samples`], [`tensor`]): 8-bit samples, box and binomial windows. A kernel for each stage, from rows
//!   of 16-bit gradients to 32-bit sums; gradients by tiles where these are wide enough ([`gradients`]).
//! - by floats ([`by_floats`], [`floats`], [`weighted`], [`wide`]): all else. Integers are exact as floats, as long as they fit; float images, and what
//!   Gaussians made of others, keep the order of the contract.
//!
//! Sums of box windows of integers run on: the row that enters the window is added and the one that leaves it taken off,
//! and wide windows are differences of running sums across, so that the cost does not depend on the window's size.
//!
//! All ways compute responses only where less than a response allows one above a threshold ([`quiet`]), and those by tiles and floats
//! even sums only where gradients do ([`windows`], [`loud`]), mark those above it ([`responses`]), and collect peaks where the suppression's
//! neighbourhood is known ([`peaks`]). The greatest response so far bounds a relative threshold from below, so that few pixels are looked at, and so do the corners so far where
//! a list is cut short ([`shortened`]); the final one filters the list. Where all
//! responses are asked for, as a map, all are computed, and each row goes there as well.

mod by_floats;
mod by_rows;
mod by_tiles;
mod float_stages;
mod float_tiles;
mod float_windows;
mod floats;
mod gradients;
mod layout;
mod loud;
mod peaks;
mod quiet;
mod responses;
mod samples;
mod scratch;
mod shortened;
mod stages;
mod tensor;
mod tiles;
mod walk;
mod weighted;
mod wide;
mod windows;

use std::ops::Range;

use harris_core::config::APERTURES;
use harris_core::{Gradient, HarrisConfig, ImageView, MAX_SAMPLE, Sample, Smoothing, Threshold, Window};

use float_tiles::{Deep, FloatTiles};
pub(crate) use peaks::Known;
use peaks::Peaks;
pub(crate) use scratch::Scratch;
use tiles::ShortTiles;
pub(crate) use walk::Walk;

use crate::bounds::{fits_f64, fits_i32, fits_u32};
use crate::simd::Simd;

/// The greatest suppression radius of the fused path, and that within which all candidates are looked at; of what is left, the pixels
/// farther around.
const MOST_RADIUS: usize = 8;
const NEAR: usize = 4;
/// Pixels of an image's side, whose places have 16 bits each.
const MOST_PIXELS: usize = 1 << u16::BITS;
/// The greatest window radius of all.
const MOST_WINDOW: usize = (*APERTURES.end() / 2) as usize;
/// Integers that 32-bit floats hold exactly.
const EXACT_FLOATS: f64 = (1 << 24) as f64;

/// A sample type and the ways of the walk for it.
pub(crate) trait FusedSample: Sample {
    /// Whether samples are integers.
    const EXACT: bool;

    /// As a float, exactly.
    fn float(self) -> f32;

    /// Whether it is one that [`ImageView::check_samples`] lets pass.
    fn is_valid(self) -> bool {
        true
    }

    /// Walks down a strip of columns.
    fn strip<V: Simd>(walk: &mut Walk<'_, Self>, v: V, strip: &Range<usize>, found: &mut Peaks) {
        walk.strip_by_floats(v, strip, found);
    }
}

impl FusedSample for u8 {
    const EXACT: bool = true;

    fn float(self) -> f32 {
        self.into()
    }

    fn strip<V: Simd>(walk: &mut Walk<'_, Self>, v: V, strip: &Range<usize>, found: &mut Peaks) {
        let (config, channels) = (walk.config, walk.image.channels());
        let is_short = is_short(config, channels);
        // Unsigned numbers are asked of the longest vectors alone.
        let has_integers = is_short || tiles::are_longest::<V>() && fits_u32(config, channels);
        if !has_integers {
            return float_strip(walk, v, strip, found);
        }
        let contrast = walk.contrast(walk.threshold(found));
        // A constant, so that tiles are compiled for no vectors that are too short for any.
        if const { tiles::has_tiles::<V>() }
            && let Some(tile) = tiles::columns::<V>(config, contrast)
        {
            by_tiles::strip::<ShortTiles, V>(walk, v, strip, tile, found);
        } else if is_short {
            walk.strip_by_rows(v, strip, found);
        } else {
            float_strip(walk, v, strip, found);
        }
    }
}

impl FusedSample for u16 {
    const EXACT: bool = true;

    fn float(self) -> f32 {
        self.into()
    }

    fn strip<V: Simd>(walk: &mut Walk<'_, Self>, v: V, strip: &Range<usize>, found: &mut Peaks) {
        float_strip(walk, v, strip, found);
    }
}

impl FusedSample for f32 {
    const EXACT: bool = false;

    fn float(self) -> f32 {
        self
    }

    fn is_valid(self) -> bool {
        self.abs() <= MAX_SAMPLE
    }

    fn strip<V: Simd>(walk: &mut Walk<'_, Self>, v: V, strip: &Range<usize>, found: &mut Peaks) {
        float_strip(walk, v, strip, found);
    }
}

/// Walks down a strip of columns by tiles of floats, or by rows of them.
fn float_strip<T: Deep, V: Simd>(walk: &mut Walk<'_, T>, v: V, strip: &Range<usize>, found: &mut Peaks) {
    let contrast = walk.contrast(walk.threshold(found));
    if const { float_tiles::has_tiles::<V>() }
        && let Some(tile) = float_tiles::columns::<T, V>(walk.config, contrast)
    {
        by_tiles::strip::<FloatTiles<T>, V>(walk, v, strip, tile, found);
    } else {
        walk.strip_by_floats(v, strip, found);
    }
}

/// Whether the fused path finds the corners of a configuration whose responses it computes: those of larger images have no keys.
pub(crate) fn finds(config: &HarrisConfig, image: &ImageView<'_>) -> bool {
    config.suppression_radius() <= MOST_RADIUS && image.width().max(image.height()) <= MOST_PIXELS
}

/// The same responses, and no corners.
pub(crate) fn without_corners(config: &HarrisConfig) -> HarrisConfig {
    let builder = config.to_builder().suppression_radius(0).threshold(Threshold::Absolute(f32::MAX));
    builder.build().expect("as valid as before")
}

/// Whether the fused path computes the responses of `config` on images of samples `T`.
pub(crate) fn computes<T: FusedSample>(config: &HarrisConfig, channels: usize) -> bool {
    let exact = has_exact_gradients::<T>(config);
    let greatest = config.greatest_gradient(T::FULL_SCALE);
    let has_gradient = match config.gradient() {
        Gradient::Box { .. } => exact && greatest.is_some_and(|greatest| greatest < EXACT_FLOATS),
        Gradient::Sobel3 | Gradient::Scharr3 | Gradient::Central | Gradient::GaussianDerivative { .. } => {
            true
        }
        Gradient::Sobel5 | Gradient::Sobel7 => false,
    };
    let has_window = match config.window() {
        // The products of one channel round once, as the contract has it; of several, they must be exact.
        Window::Gaussian { .. } if exact && channels > 1 => {
            greatest.is_some_and(|greatest| channels as f64 * greatest * greatest <= EXACT_FLOATS)
        }
        Window::Box { .. } | Window::Binomial { .. } if exact => {
            fits_f64(config, channels, T::FULL_SCALE, scratch::ROW)
        }
        Window::Box { .. } | Window::Binomial { .. } | Window::Gaussian { .. } => true,
    };
    let is_centred = config.window().is_centred();
    has_gradient && has_window && is_centred && config.support_radius() <= scratch::MOST_SUPPORT
}

/// Whether gradients are integers.
fn has_exact_gradients<T: FusedSample>(config: &HarrisConfig) -> bool {
    T::EXACT
        && !matches!(config.smoothing(), Smoothing::Gaussian { .. })
        && !matches!(config.gradient(), Gradient::GaussianDerivative { .. })
}

/// Whether the sums of a window are, too.
fn has_exact_sums<T: FusedSample>(config: &HarrisConfig) -> bool {
    has_exact_gradients::<T>(config) && !matches!(config.window(), Window::Gaussian { .. })
}

/// Whether a gradient of integers is of three taps across and down.
fn has_three_taps(gradient: Gradient) -> bool {
    match gradient {
        Gradient::Sobel3 | Gradient::Scharr3 | Gradient::Central => true,
        Gradient::Box { size } => size == 3,
        Gradient::Sobel5 | Gradient::Sobel7 | Gradient::GaussianDerivative { .. } => false,
    }
}

/// Whether 16-bit gradients and 32-bit sums do for 8-bit images.
fn is_short(config: &HarrisConfig, channels: usize) -> bool {
    has_exact_gradients::<u8>(config)
        // Sums of smoothing without rounding leave 16 bits: images smoothed so go by floats.
        && config.smoothing() != Smoothing::Binomial3Exact
        && has_three_taps(config.gradient())
        && matches!(config.window(), Window::Box { .. } | Window::Binomial { .. })
        && fits_i32(config, channels, u8::FULL_SCALE)
}

// Scharr's greatest gradient of 8-bit samples is 16 · 255: it and twice as much fit in 16 bits.
const _: () = assert!(2 * 16 * 255 <= i16::MAX as i64);
// And 32-bit floats hold the sums of a smoothing or a gradient of 16-bit samples, and Scharr's gradients of sums of 16 samples.
const _: () = assert!((16 * 16 * u16::MAX as u32) as f64 <= EXACT_FLOATS);
const _: () = assert!((256 * u16::MAX as u32 + 128) as f64 <= EXACT_FLOATS);
