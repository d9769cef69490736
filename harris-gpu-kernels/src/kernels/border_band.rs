//! Corners or responses of the border band, from samples, for the borders Replicate and Zero.
//!
//! Under these rules each stage extends its own input. The fused kernels only mirror samples, so
//! they compute the pixels that no border rule affects. The band along the edges remains. Blocks
//! are tiles of the band. All stages of a tile run in one block and pass their results on in shared
//! memory. Each stage computes the margins that the next one needs.

use core::array;

use super::border_area::{Area, Arithmetic, Bytes, Field, Floats, RoundedBytes, Settings, Words};
use super::border_band_stages::{differentiate, smooth, sum_columns, sum_rows};
use super::border_corners::{Output, find_corners};
use super::choices::match_smoothing;
use super::geometry::Size;
use super::mask::Mask;
use super::response::measure as measure_of;
use crate::abi::border;
use crate::abi::border_band::TILE;
use crate::{Simt, Word};

macro_rules! border_bands {
    ($($name:ident: $arithmetic:ident, $sample:ident;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<$sample>,
            state: S::Buffer<u32>,
            keys: S::Buffer<u64>,
            counts: S::Buffer<u32>,
            response: S::Buffer<f32>,
            stride: u64,
            width: u32,
            height: u32,
            pitch: u32,
            channels: u32,
            border: u32,
            smoothing: u32,
            gradient: u32,
            window: u32,
            is_box: u32,
            suppression_radius: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            margin: u32,
            plateau: u32,
            threshold_kind: u32,
            threshold_value: f32,
            first_tile: u32,
            tiles: u32,
            capacity: u32,
            mask: S::Buffer<u8>,
            mask_pitch: u32,
            tap0: f32,
            tap1: f32,
            tap2: f32,
            tap3: f32,
        ) {
            let size = Size { width, height };
            let set = Settings { size, channels, border, smoothing, gradient, window, is_box: is_box != 0, suppression_radius, scale, measure, parameter, taps: [tap0, tap1, tap2, tap3] };
            let image = Image { samples: image, start: s.block_row() as usize * stride as usize, pitch };
            let output = Output { state, keys, counts, margin, plateau, threshold_kind, threshold_value, first_tile, tiles, capacity };
            border_band::<S, $arithmetic>(s, image, set, response, Mask::new(s, mask, mask_pitch), output);
        }
    )*};
}

border_bands! {
    border_band_u8: Bytes, u8;
    border_band_u16: Words, u16;
    border_band_f32: Floats, f32;
    border_band_rounded_u8: RoundedBytes, u8;
}

/// An image of interleaved samples.
#[derive(Clone, Copy)]
struct Image<S: Simt, T: Word> {
    samples: S::Buffer<T>,
    /// Index of the first sample.
    start: usize,
    /// Samples from one row to the next.
    pitch: u32,
}

#[inline(always)]
fn border_band<S: Simt, A: Arithmetic>(
    s: S,
    image: Image<S, A::Sample>,
    set: Settings,
    response: S::Buffer<f32>,
    mask: Mask<S>,
    output: Output<S>,
) {
    let Settings { size, border: rule, smoothing, window, suppression_radius, .. } = set;
    debug_assert!(rule != border::REFLECT, "fused kernels compute mirrored borders");
    let depth = smoothing + 1 + window + suppression_radius;
    let tile = Area::tile(s.block(), size, depth);
    // The area of each stage's results, from the tile back to the samples.
    let responses = tile.expanded(suppression_radius, suppression_radius, size);
    let sums = responses.expanded(window, 0, size);
    let gradients = sums.expanded(0, window, size);
    let smoothed = gradients.expanded(1, 1, size);
    let samples = smoothed.expanded(smoothing, smoothing, size);
    // Shared memory has three parts. The first holds smoothed samples, and later the corners of
    // each row. The second holds samples, then gradients, then responses. The third holds column
    // sums.
    let field = |area: Area, first: u32| Field { s, area, first, size, rule };
    let second = Field::<S>::words::<A::Value>(smoothed).max(TILE).next_multiple_of(2);
    let [gradient_words, sum_words] =
        [Field::<S>::words::<A::Value>(gradients), Field::<S>::words::<A::Product>(sums)];
    let third = second + (2 * gradient_words).max(Field::<S>::words::<A::Value>(samples)).next_multiple_of(2);
    let unsmoothed = field(samples, if smoothing == 0 { 0 } else { second });
    let smoothed = field(smoothed, 0);
    let gradients = [field(gradients, second), field(gradients, second + gradient_words)];
    let sums: [_; 3] = array::from_fn(|i| field(sums, third + i as u32 * sum_words));
    let responses = field(responses, second);

    s.allow_next_kernel();
    s.wait_for_previous_kernels();
    for channel in 0..set.channels {
        s.barrier();
        let fetch = |x: u32, y: u32| {
            let row = image.start + s.mul_wide(y, image.pitch) as usize;
            A::value(s.load_constant(image.samples, row + (x * set.channels + channel) as usize))
        };
        unsmoothed.area.for_each::<S, _, 4>(s, fetch, |x, y, value| unsmoothed.set(x, y, value));
        s.barrier();
        match_smoothing!(smoothing, {
            0 => {},
            1 => smooth::<S, A, 1>(s, unsmoothed, smoothed),
            2 => smooth::<S, A, 2>(s, unsmoothed, smoothed),
        });
        s.barrier();
        differentiate::<S, A>(s, set, smoothed, gradients);
        s.barrier();
        sum_columns::<S, A>(s, set, gradients, sums, channel > 0);
    }
    s.barrier();
    sum_rows::<S, A>(set, sums, responses.area, |x, y, [a, b, c]| {
        let value = measure_of(|square| s.sqrt(square), set.measure, set.parameter, a, b, c);
        if output.capacity == 0 {
            s.store(response, size.index(x, y) as usize, value);
        } else {
            responses.set(x, y, value);
        }
    });
    if output.capacity > 0 {
        s.barrier();
        find_corners(s, tile, responses, mask, suppression_radius, output);
    }
}
