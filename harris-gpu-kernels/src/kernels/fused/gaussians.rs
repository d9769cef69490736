//! Responses by Gaussian windows, and boxes of floats, behind gradients that are weighted sums of floats, as Gaussian
//! derivatives are, central differences, or gradients of smoothed samples.
//!
//! Sums of floats depend on the order of their terms, so that what is mirrored is not what is computed of mirrored samples: each stage
//! goes on beyond the edges by its own input, of rows and columns that are there. Of rows those wait in shared memory; columns are within
//! the warp's strip.

use core::array;

use super::float_strip::{KEPT, Map, Open, Row, Samples, Strip, Weights, even};
use super::gradients::{Central, Gradients, Taps, Weighted};
use super::lane::EACH;
use super::smoothings::{Deep, Plain, Rounded, Smoothing, Weighed};
use crate::Simt;
use crate::abi::fused::{COLUMNS, EACH as LANE};
use crate::abi::{gaussians, state as states};
use crate::kernels::geometry::{Size, inside};
use crate::kernels::response::measure;
use crate::kernels::threshold::Extent;

/// Goes down a piece: leaves the responses of the window by these weights; tells the state of their extent, where it is asked for, and of samples
/// that images may not have.
#[inline(always)]
fn respond<
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
    (state, tells_extent): (S::Buffer<u32>, bool),
) {
    let mut extent = if tells_extent { Some(Extent::NONE) } else { None };
    let (s, map, window) = (strip.s, strip.map, WINDOW as i32);
    let height = map.size.height;
    // The last row whose gradients are known: those of rows above the image are others' that are within a window's reach of its edge.
    let mut newest = (top - window).max(0) - 1;
    let reach = M::RADIUS + G::RADIUS;
    let mut samples = Samples::<S, WORDS>::new(&strip, newest + 1 - reach);
    for _ in 0..2 * reach {
        let words = samples.take();
        let rows = smoothing.take(&strip, words);
        gradients.lead(&strip, rows);
    }
    let mut open = [Open::<WINDOW, COUNT>::NONE; 3];
    let mut row = top - window;
    while row < bottom + window {
        let source = inside(map.border, row, height).map_or(-1, |row| row as i32);
        let mut products = [[0.0; EACH]; 3];
        if newest < source {
            newest += 1;
            let words = samples.take();
            let rows = smoothing.take(&strip, words);
            let gradients = gradients.end(&strip, rows, newest);
            for channel in 0..CHANNELS {
                let [gx, gy] = gradients[channel];
                for i in 0..EACH {
                    let of_channel = [gx[i] * gx[i], gx[i] * gy[i], gy[i] * gy[i]];
                    for kind in 0..3 {
                        let sum = &mut products[kind][i];
                        *sum = if channel == 0 { of_channel[kind] } else { *sum + of_channel[kind] };
                    }
                }
            }
            // Those that stand for rows outside, now or later.
            if newest <= window || newest + window + 1 >= height as i32 {
                keep::<S, WINDOW>(s, newest, products);
            }
            if newest < source {
                continue;
            }
        } else if source >= 0 {
            products = kept::<S, WINDOW>(s, source);
        }
        let mut sums = products;
        for kind in 0..3 {
            sums[kind] = open[kind].end_even(&weights, products[kind]);
        }
        let y = row - window;
        if y >= top {
            let [a, b, c] = strip.beyond(sums).map(|sums| {
                let sums = strip.across::<WINDOW>(sums, |row, i| even::<WINDOW>(&weights, row, i));
                sums.map(|sum| sum * map.scale)
            });
            let values: Row = array::from_fn(|i| {
                measure(|square| s.sqrt(square), map.kind, map.parameter, a[i], b[i], c[i])
            });
            strip.store(y as u32, values, &mut extent);
        }
        row += 1;
    }
    if let Some(extent) = extent {
        extent.tell(s, state);
    }
    if !smoothing.are_valid() {
        s.atomic_max(state, states::INVALID, 1);
    }
}

/// Where a row's products wait: as many rows as there are to one side of the window's centre, and it.
#[inline(always)]
fn place(s: impl Simt, window: usize, row: i32, kind: usize) -> u32 {
    let slot = 3 * (row as u32 % (window as u32 + 1)) + kind as u32;
    KEPT + COLUMNS * slot + LANE * s.lane()
}

#[inline(always)]
fn keep<S: Simt, const WINDOW: usize>(s: S, row: i32, products: [Row; 3]) {
    for kind in 0..3 {
        let place = place(s, WINDOW, row, kind);
        for i in 0..EACH {
            s.set_shared_word(place + i as u32, products[kind][i].to_bits());
        }
    }
}

#[inline(always)]
fn kept<S: Simt, const WINDOW: usize>(s: S, row: i32) -> [Row; 3] {
    array::from_fn(|kind| {
        let place = place(s, WINDOW, row, kind);
        array::from_fn(|i| f32::from_bits(s.shared_word(place + i as u32)))
    })
}

macro_rules! maps {
    ($($name:ident: [$words:literal, $channels:literal], $window:literal, [$($weight:ident),*], ($($argument:ident),*), $radius:expr, $smoothing:expr, $gradients:expr;)*) => {$(
        /// Leaves the responses of rows from the first to the one before the last in a map, row after row without gaps, 0 where they are not valid.
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
            extent: u32,
            $($argument: f32,)*
            $($weight: f32,)*
        ) {
            let size = Size { width, height };
            let map = Map { image, to, size, pitch, first, last, rows, border, scale, kind, parameter, frame };
            let mut weights = [0.0; gaussians::MOST as usize + 1];
            for (i, weight) in [$($weight),*].into_iter().enumerate() {
                weights[i] = weight;
            }
            let piece = Strip::new(s, map, gaussians::side($radius, $window));
            let stages = ($smoothing, $gradients);
            respond::<S, _, _, $words, $channels, $window, { 2 * $window }>(piece, stages, weights, (state, extent == 1));
        }
    )*};
}

maps! {
    map_gaussians9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (along0, along1, along2, along3, along4, across1, across2, across3, across4), 4,
        Plain,
        Weighted::<4, 8>::new([along0, along1, along2, along3, along4], [0.0, across1, across2, across3, across4]);
    map_binomial_gaussians9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, along0, along1, along2, along3, along4, across1, across2, across3, across4), 6,
        Rounded::new([smoothing0, smoothing1, smoothing2], unit),
        Weighted::<4, 8>::new([along0, along1, along2, along3, along4], [0.0, across1, across2, across3, across4]);
    map_binomial_gaussians5: [1, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, along0, along1, along2, across1, across2), 4,
        Rounded::new([smoothing0, smoothing1, smoothing2], unit),
        Weighted::<2, 4>::new([along0, along1, along2, 0.0, 0.0], [0.0, across1, across2, 0.0, 0.0]);
    map_smoothed_window5: [1, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, smoothing3, smoothing4, outside, inside), 5,
        Weighed::<4, 8>::new([smoothing0, smoothing1, smoothing2, smoothing3, smoothing4]),
        Taps::new(outside, inside);
    map_smoothed_window9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, smoothing3, smoothing4, outside, inside), 5,
        Weighed::<4, 8>::new([smoothing0, smoothing1, smoothing2, smoothing3, smoothing4]),
        Taps::new(outside, inside);
    map_central_gaussian5: [1, 1], 2, [window0, window1, window2], (), 1, Plain, Central::NONE;
    map_rgb_central_gaussian5: [3, 3], 2, [window0, window1, window2], (), 1, Plain, Central::NONE;
    map_u16_window5: [2, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
    map_u16_window9: [2, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
    map_f32_window5: [4, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
    map_f32_window9: [4, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
}
