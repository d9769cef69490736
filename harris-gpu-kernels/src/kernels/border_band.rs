//! Corners or responses of the border band, from samples, for the borders Replicate and Zero.
//!
//! Under these rules each stage extends its own input. The fused kernels only mirror samples, so
//! they compute the pixels that no border rule affects. The band along the edges remains. Blocks
//! are tiles of the band. All stages of a tile run in one block and pass their results on in shared
//! memory. Each stage computes the margins that the next one needs.

use core::array;

use super::border_area::{Area, Arithmetic, Bytes, Field, Floats, RoundedBytes, Settings, Words};
use super::border_band_stages::{differentiate, smooth, sum_columns, sum_rows};
use super::choices::match_smoothing;
use super::geometry::Size;
use super::mask::Mask;
use super::number::ordered;
use super::response::measure as measure_of;
use super::threshold::threshold_bound;
use crate::abi::rim::SIDE;
use crate::abi::{border, plateau, state};
use crate::simt::WARP;
use crate::{Simt, Word};

// Each lane has a column of a tile, and later a row.
const _: () = assert!(SIDE == WARP);

/// The response of pixels where no corner may lie: corners have greater ones.
const NO_CANDIDATE: f32 = 0.0;

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
            slides: u32,
            radius: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            margin: u32,
            plateau: u32,
            threshold: u32,
            value: f32,
            piece: u32,
            pieces: u32,
            room: u32,
            mask: S::Buffer<u8>,
            mask_pitch: u32,
            tap0: f32,
            tap1: f32,
            tap2: f32,
            tap3: f32,
        ) {
            let size = Size { width, height };
            let set = Settings { size, channels, border, smoothing, gradient, window, is_box: slides != 0, radius, scale, measure, parameter, taps: [tap0, tap1, tap2, tap3] };
            let image = Image { samples: image, start: s.block_row() as usize * stride as usize, pitch };
            let output = Output { state, keys, counts, margin, plateau, threshold, value, piece, pieces, capacity: room };
            border_band::<S, $arithmetic>(s, image, set, response, Mask::new(s, mask, mask_pitch), output);
        }
    )*};
}

border_bands! {
    rim_u8: Bytes, u8;
    rim_u16: Words, u16;
    rim_f32: Floats, f32;
    rim_rounded_u8: RoundedBytes, u8;
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

/// Where the kernel writes corners, or responses if `capacity` is 0.
#[derive(Clone, Copy)]
struct Output<S: Simt> {
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    /// The number of corners of each block.
    counts: S::Buffer<u32>,
    /// Least distance of corners from the edges.
    margin: u32,
    /// A rule of [`plateau`].
    plateau: u32,
    /// A kind of [`abi::threshold`](crate::abi::threshold), and its value.
    threshold: u32,
    value: f32,
    /// Index of the first block's tile among the image's tiles, and their number.
    piece: u32,
    pieces: u32,
    /// Keys that a tile has room for.
    capacity: u32,
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
    let Settings { size, border: rule, smoothing, window, radius, .. } = set;
    debug_assert!(rule != border::REFLECT, "fused kernels compute mirrored borders");
    let depth = smoothing + 1 + window + radius;
    let tile = Area::tile(s.block(), size, depth);
    // The area of each stage's results, from the tile back to the samples.
    let responses = tile.expanded(radius, radius, size);
    let sums = responses.expanded(window, 0, size);
    let gradients = sums.expanded(0, window, size);
    let smoothed = gradients.expanded(1, 1, size);
    let samples = smoothed.expanded(smoothing, smoothing, size);
    // Shared memory has three parts. The first holds smoothed samples, and later the corners of
    // each row. The second holds samples, then gradients, then responses. The third holds column
    // sums.
    let field = |area: Area, first: u32| Field { s, area, first, size, rule };
    let second = Field::<S>::words::<A::Value>(smoothed).max(SIDE).next_multiple_of(2);
    let [gradient_words, sum_words] =
        [Field::<S>::words::<A::Value>(gradients), Field::<S>::words::<A::Product>(sums)];
    let third = second + (2 * gradient_words).max(Field::<S>::words::<A::Value>(samples)).next_multiple_of(2);
    let unsmoothed = field(samples, if smoothing == 0 { 0 } else { second });
    let smoothed = field(smoothed, 0);
    let gradients = [field(gradients, second), field(gradients, second + gradient_words)];
    let sums: [_; 3] = array::from_fn(|i| field(sums, third + i as u32 * sum_words));
    let responses = field(responses, second);

    s.admit_next();
    s.await_last();
    for channel in 0..set.channels {
        s.barrier();
        let fetch = |x: u32, y: u32| {
            let row = image.start + s.product(y, image.pitch) as usize;
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
            s.store(response, size.number(x, y) as usize, value);
        } else {
            responses.set(x, y, value);
        }
    });
    if output.capacity > 0 {
        s.barrier();
        find_corners(s, tile, responses, mask, radius, output);
    }
}

/// Writes the keys of the tile's corners, and updates the greatest response of the image.
#[inline(always)]
fn find_corners<S: Simt>(
    s: S,
    tile: Area,
    responses: Field<S>,
    mask: Mask<S>,
    radius: u32,
    output: Output<S>,
) {
    let size = responses.size;
    let greatest_of_image = s.block_row() as usize * state::WORDS + state::GREATEST;
    let found_so_far = s.load_shared_by_all(output.state, greatest_of_image);
    let bound = threshold_bound(output.threshold, output.value, found_so_far);
    let mut greatest = NO_CANDIDATE;
    let mut row = s.warp();
    while row < SIDE {
        let (x, y) = (tile.left + s.lane(), tile.top + row);
        let may_be_corner = tile.contains(x, y) && mask.allows_in_stack(size.height, x, y);
        let own = if may_be_corner { responses.get(x, y) } else { NO_CANDIDATE };
        greatest = if own > greatest { own } else { greatest };
        let is_corner = own > bound
            && size.within(output.margin, x, y)
            && is_strongest(responses, x, y, radius, output.plateau);
        let corners = s.ballot(is_corner);
        if s.lane() == 0 {
            s.set_shared_word(row, corners);
        }
        row += s.threads() / WARP;
    }
    let mut greatest = ordered(greatest);
    if s.any(greatest > found_so_far.max(ordered(NO_CANDIDATE))) {
        let mut delta = WARP / 2;
        while delta > 0 {
            greatest = greatest.max(s.shuffle_xor(greatest, delta));
            delta /= 2;
        }
        if s.lane() == 0 {
            s.atomic_max(output.state, greatest_of_image, greatest);
        }
    }
    s.barrier();
    if s.warp() == 0 {
        write_keys(s, tile, responses, output);
    }
}

/// Writes the keys of the corners found; each lane writes those of one row.
#[inline(always)]
fn write_keys<S: Simt>(s: S, tile: Area, responses: Field<S>, output: Output<S>) {
    let mut corners = s.shared_word(s.lane());
    let mut through = corners.count_ones();
    let mut delta = 1;
    while delta < WARP {
        through = s.plus_below(through, delta);
        delta *= 2;
    }
    let piece = (s.block_row() * output.pieces + output.piece + s.block()) as usize;
    let mut index = through - corners.count_ones();
    let y = tile.top + s.lane();
    while corners != 0 && index < output.capacity {
        let x = tile.left + 31 - (corners & corners.wrapping_neg()).leading_zeros();
        let response = responses.get::<u32>(x, y);
        let key = u64::from(!response) << 32 | u64::from(responses.size.number(x, y));
        s.store(output.keys, piece * output.capacity as usize + index as usize, key);
        corners &= corners - 1;
        index += 1;
    }
    if s.lane() == WARP - 1 {
        s.store(output.counts, piece, through);
    }
}

/// Whether no response within `radius` is greater than that at `x`, `y`.
///
/// If only the first pixel of a plateau is a corner, no earlier response may be equal either.
#[inline(always)]
fn is_strongest<S: Simt>(responses: Field<S>, x: u32, y: u32, radius: u32, plateau: u32) -> bool {
    let own: f32 = responses.get(x, y);
    let Size { width, height } = responses.size;
    let mut v = y.saturating_sub(radius);
    while v <= (y + radius).min(height - 1) {
        let mut u = x.saturating_sub(radius);
        while u <= (x + radius).min(width - 1) {
            let other: f32 = responses.get(u, v);
            let is_before = v < y || v == y && u < x;
            if other > own || plateau == plateau::FIRST && other == own && is_before {
                return false;
            }
            u += 1;
        }
        v += 1;
    }
    true
}
