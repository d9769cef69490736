//! Responses by weighted sums of floats: Gaussian windows, and boxes of floats. Gradients are
//! Gaussian derivatives, central differences, or gradients of smoothed samples.
//!
//! Sums of floats depend on the order of their terms, so mirrored sums differ from sums of mirrored
//! samples. Each stage therefore applies the border rule to its own input. Rows for this are kept
//! in shared memory, and columns are within the warp's strip.

use core::array;

use super::float_gradients::{CentralDifferences, Gradients, ThreeTapGradient, WeightedGradient};
use super::float_smoothing::{DeepSmoothing, RoundedBinomial, Smoothing, Unsmoothed, WeightedSmoothing};
use super::float_strip::{
    CARRIED_PRODUCTS, PartialSums, ResponseMap, Row, SampleRows, Strip, Weights, symmetric_sum,
};
use super::lane::LANE_COLUMNS;
use crate::Simt;
use crate::abi::fused::{COLUMNS, LANE_COLUMNS as LANE};
use crate::abi::{gaussians, state as states};
use crate::kernels::geometry::{Size, inside};
use crate::kernels::response::measure;
use crate::kernels::threshold::ResponseRange;

/// Sweeps down a tile and writes the responses of windows with these weights. Merges the range
/// into the state where it is wanted, and marks samples that images may not have.
#[inline(always)]
fn sweep<
    S: Simt,
    M: Smoothing<S, WORDS, CHANNELS>,
    G: Gradients<S, CHANNELS>,
    const WORDS: usize,
    const CHANNELS: usize,
    const WINDOW: usize,
    const COUNT: usize,
>(
    (strip, [top, bottom]): (Strip<S>, [i32; 2]),
    (mut smoothing, mut gradients): (M, G),
    weights: Weights,
    (state, finds_range): (S::Buffer<u32>, bool),
) {
    let mut range = if finds_range { Some(ResponseRange::NONE) } else { None };
    let (s, map, window) = (strip.s, strip.map, WINDOW as i32);
    let height = map.size.height;
    // Last row of gradients so far. Rows above the image use rows within the window's radius of its
    // edge.
    let mut newest_row = (top - window).max(0) - 1;
    let support_radius = M::RADIUS + G::RADIUS;
    let mut samples = SampleRows::<S, WORDS>::new(&strip, newest_row + 1 - support_radius);
    for _ in 0..2 * support_radius {
        let words = samples.take_row();
        let rows = smoothing.push_row(&strip, words);
        gradients.warm_up(&strip, rows);
    }
    let mut partial = [PartialSums::<WINDOW, COUNT>::NONE; 3];
    let mut row = top - window;
    while row < bottom + window {
        let source = inside(map.border, row, height).map_or(-1, |row| row as i32);
        let mut products = [[0.0; LANE_COLUMNS]; 3];
        if newest_row < source {
            newest_row += 1;
            let words = samples.take_row();
            let rows = smoothing.push_row(&strip, words);
            let gradients = gradients.push_row(&strip, rows, newest_row);
            for channel in 0..CHANNELS {
                let [gx, gy] = gradients[channel];
                for i in 0..LANE_COLUMNS {
                    let of_channel = [gx[i] * gx[i], gx[i] * gy[i], gy[i] * gy[i]];
                    for kind in 0..3 {
                        let sum = &mut products[kind][i];
                        *sum = if channel == 0 { of_channel[kind] } else { *sum + of_channel[kind] };
                    }
                }
            }
            // Stores rows that stand for rows outside the image, before or after them.
            if newest_row <= window || newest_row + window + 1 >= height as i32 {
                store_products::<S, WINDOW>(s, newest_row, products);
            }
            if newest_row < source {
                continue;
            }
        } else if source >= 0 {
            products = load_products::<S, WINDOW>(s, source);
        }
        let mut sums = products;
        for kind in 0..3 {
            sums[kind] = partial[kind].push_symmetric(&weights, products[kind]);
        }
        let y = row - window;
        if y >= top {
            let [a, b, c] = strip.with_border(sums).map(|sums| {
                let sums = strip.across::<WINDOW>(sums, |row, i| symmetric_sum::<WINDOW>(&weights, row, i));
                sums.map(|sum| sum * map.scale)
            });
            let values: Row = array::from_fn(|i| {
                measure(|square| s.sqrt(square), map.kind, map.parameter, a[i], b[i], c[i])
            });
            strip.store(y as u32, values, &mut range);
        }
        row += 1;
    }
    if let Some(range) = range {
        range.update_state(s, state);
    }
    if !smoothing.are_valid() {
        s.atomic_max(state, states::INVALID, 1);
    }
}

/// Cell of a row's products. As many rows are kept as the radius of the window, and one more.
#[inline(always)]
fn cell(s: impl Simt, window: usize, row: i32, kind: usize) -> u32 {
    let slot = 3 * (row as u32 % (window as u32 + 1)) + kind as u32;
    CARRIED_PRODUCTS + COLUMNS * slot + LANE * s.lane()
}

#[inline(always)]
fn store_products<S: Simt, const WINDOW: usize>(s: S, row: i32, products: [Row; 3]) {
    for kind in 0..3 {
        let cell = cell(s, WINDOW, row, kind);
        for i in 0..LANE_COLUMNS {
            s.set_shared_word(cell + i as u32, products[kind][i].to_bits());
        }
    }
}

#[inline(always)]
fn load_products<S: Simt, const WINDOW: usize>(s: S, row: i32) -> [Row; 3] {
    array::from_fn(|kind| {
        let cell = cell(s, WINDOW, row, kind);
        array::from_fn(|i| f32::from_bits(s.shared_word(cell + i as u32)))
    })
}

macro_rules! maps {
    ($($name:ident: [$words:literal, $channels:literal], $window:literal, [$($weight:ident),*], ($($argument:ident),*), $radius:expr, $smoothing:expr, $gradients:expr;)*) => {$(
        /// Writes the responses of the rows from `first` to `last`, exclusive, to a dense map.
        /// Responses that are not valid become 0.
        #[inline(always)]
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<u8>,
            state: S::Buffer<u32>,
            to: S::Buffer<f32>,
            width: u32,
            height: u32,
            pitch: u32,
            first: u32,
            last: u32,
            rows: u32,
            border: u32,
            scale: f32,
            kind: u32,
            parameter: f32,
            frame: u32,
            finds_range: u32,
            $($argument: f32,)*
            $($weight: f32,)*
        ) {
            let size = Size { width, height };
            let map = ResponseMap { image, to, size, pitch, first, last, rows, border, scale, kind, parameter, frame };
            let mut weights = [0.0; gaussians::MAX_RADIUS as usize + 1];
            for (i, weight) in [$($weight),*].into_iter().enumerate() {
                weights[i] = weight;
            }
            let tile = Strip::new(s, map, gaussians::overlap($radius, $window));
            let stages = ($smoothing, $gradients);
            sweep::<S, _, _, $words, $channels, $window, { 2 * $window }>(tile, stages, weights, (state, finds_range == 1));
        }
    )*};
}

maps! {
    map_gaussians9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (along0, along1, along2, along3, along4, across1, across2, across3, across4), 4,
        Unsmoothed,
        WeightedGradient::<4, 8>::new([along0, along1, along2, along3, along4], [0.0, across1, across2, across3, across4]);
    map_binomial_gaussians9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, along0, along1, along2, along3, along4, across1, across2, across3, across4), 6,
        RoundedBinomial::new([smoothing0, smoothing1, smoothing2], unit),
        WeightedGradient::<4, 8>::new([along0, along1, along2, along3, along4], [0.0, across1, across2, across3, across4]);
    map_binomial_gaussians5: [1, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, along0, along1, along2, across1, across2), 4,
        RoundedBinomial::new([smoothing0, smoothing1, smoothing2], unit),
        WeightedGradient::<2, 4>::new([along0, along1, along2, 0.0, 0.0], [0.0, across1, across2, 0.0, 0.0]);
    map_smoothed_window5: [1, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, smoothing3, smoothing4, outside, inside), 5,
        WeightedSmoothing::<4, 8>::new([smoothing0, smoothing1, smoothing2, smoothing3, smoothing4]),
        ThreeTapGradient::new(outside, inside);
    map_smoothed_window9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, smoothing3, smoothing4, outside, inside), 5,
        WeightedSmoothing::<4, 8>::new([smoothing0, smoothing1, smoothing2, smoothing3, smoothing4]),
        ThreeTapGradient::new(outside, inside);
    map_central_gaussian5: [1, 1], 2, [window0, window1, window2], (), 1, Unsmoothed, CentralDifferences::NONE;
    map_rgb_central_gaussian5: [3, 3], 2, [window0, window1, window2], (), 1, Unsmoothed, CentralDifferences::NONE;
    map_u16_window5: [2, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        DeepSmoothing::new([smoothing0, smoothing1, smoothing2], unit), ThreeTapGradient::new(outside, inside);
    map_u16_window9: [2, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        DeepSmoothing::new([smoothing0, smoothing1, smoothing2], unit), ThreeTapGradient::new(outside, inside);
    map_f32_window5: [4, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        DeepSmoothing::new([smoothing0, smoothing1, smoothing2], unit), ThreeTapGradient::new(outside, inside);
    map_f32_window9: [4, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        DeepSmoothing::new([smoothing0, smoothing1, smoothing2], unit), ThreeTapGradient::new(outside, inside);
}
