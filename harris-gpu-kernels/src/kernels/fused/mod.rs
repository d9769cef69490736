//! Kernels that go from samples to corners in one sweep.
//!
//! A warp sweeps down a strip of columns, with the same number of columns per lane. Neighbouring
//! strips overlap, and a strip owns the columns in the middle. Each new row of samples completes
//! one row each of smoothed samples, gradients, window sums and responses. Registers hold what
//! later rows need of them. Lanes exchange values along a row by shuffles.
//!
//! Outside the image, samples are mirrored. All later stages are mirrored too, except that gx
//! changes sign beside the image and gy above and below it. The sweep negates these again.
//!
//! - [`source::ResponseSource`] goes from samples to responses: [`byte_source`], [`sample_source`],
//!   [`box_gradient_source`] and [`response_map_source`].
//! - [`window::Window`] is the window of [`byte_source`].
//! - [`corner_suppression`] goes from responses to corners, and [`response_writer`] writes the
//!   responses.
//! - [`large_boxes`] writes responses by box gradients and windows that need more space.
//! - [`float_sweep`] writes responses by weighted sums of floats.

mod arguments;
mod box3;
mod box_gradient_source;
mod byte_source;
mod corner_suppression;
mod float_gradients;
mod float_smoothing;
mod float_strip;
mod float_sweep;
mod integer_gradients;
mod lane;
mod large_boxes;
mod mirror;
mod response_map_source;
mod response_writer;
mod running_products;
mod sample_source;
mod sample_types;
mod sliding_box;
mod source;
mod sweep;
mod weighted_window;
mod wide_box;
mod window;

use arguments::SweepArguments;
use box_gradient_source::BoxGradientSource;
use box3::Box3;
use byte_source::ByteSource;
pub(crate) use float_sweep::{
    map_binomial_gaussians5, map_binomial_gaussians9, map_central_gaussian5, map_f32_window5,
    map_f32_window9, map_gaussians9, map_rgb_central_gaussian5, map_smoothed_window5, map_smoothed_window9,
    map_u16_window5, map_u16_window9,
};
pub(crate) use large_boxes::map_boxes31;
use response_map_source::ResponseMapSource;
use sample_source::{ColourSource, FloatSource, WordSource};
use sliding_box::SlidingBox;
use sweep::sweep;
use weighted_window::{Binomial, Gaussian, WeightedWindow};
use wide_box::WideBox;

use super::geometry::Size;
use super::mask::Mask;
use crate::Simt;

macro_rules! entries {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $input:ident, $weights:ident, $window:literal, $most:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<sample!($input)>,
            state: S::Buffer<u32>,
            keys: S::Buffer<u64>,
            counts: S::Buffer<u32>,
            response: S::Buffer<f32>,
            stride: u64,
            width: u32,
            height: u32,
            pitch: u32,
            strips: u32,
            columns: u32,
            first: u32,
            last: u32,
            rows: u32,
            full_tiles: u32,
            tail_rows: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            frame: u32,
            smoothing: u32,
            gradient: u32,
            gradient_radius: u32,
            window: u32,
            suppression_radius: u32,
            margin: u32,
            plateau: u32,
            threshold_kind: u32,
            threshold_value: f32,
            trace_factor: f32,
            first_tile: u32,
            tiles: u32,
            capacity: u32,
            counters_start: u32,
            counters: u32,
            finds_range: u32,
            mask: S::Buffer<u8>,
            mask_pitch: u32,
            tap0: f32,
            tap1: f32,
            tap2: f32,
            tap3: f32,
        ) {
            let size = Size { width, height };
            let taps = [tap0, tap1, tap2, tap3];
            let args = SweepArguments { stride, pitch, size, strips, columns, first, last, rows, full_tiles, tail_rows, scale, measure, parameter, frame, smoothing, gradient, gradient_radius, window, suppression_radius, margin, plateau, threshold_kind, threshold_value, trace_factor, first_tile, tiles, capacity, taps };
            let mask = Mask::new(s, mask, mask_pitch);
            sweep::<S, response_source!($input, $weights, $window), $most>(s, image, mask, state, keys, counts, (response, finds_range == 1), args, (counters_start, counters));
        }
    )*};
}

macro_rules! response_source {
    (GrayU8BoxGradient, VariableBox, $most:literal) => {
        BoxGradientSource<S>
    };
    (GrayU8, Box, $window:literal) => {
        ByteSource<S, <BoxRadius<$window> as SelectWindow>::Window>
    };
    (GrayU8, Binomial, $window:literal) => {
        ByteSource<S, WeightedWindow<Binomial, $window>>
    };
    (GrayU8, Gaussian, $window:literal) => {
        ByteSource<S, WeightedWindow<Gaussian, $window>>
    };
    (GrayU8, VariableBox, $window:literal) => {
        ByteSource<S, WideBox<$window>>
    };
    (ResponseMap, Box, $window:literal) => {
        ResponseMapSource<S>
    };
    (GrayU16, Box, $window:literal) => {
        WordSource<S, $window>
    };
    (GrayF32, Box, $window:literal) => {
        FloatSource<S, $window>
    };
    (RgbU8, Box, $window:literal) => {
        ColourSource<S, $window>
    };
}

/// Selects the box window of 8-bit samples by its radius.
struct BoxRadius<const WINDOW: usize>;

/// Window with the fewest instructions and registers for a radius.
trait SelectWindow {
    type Window;
}

impl SelectWindow for BoxRadius<1> {
    type Window = Box3;
}

impl SelectWindow for BoxRadius<2> {
    type Window = SlidingBox<2>;
}

impl SelectWindow for BoxRadius<3> {
    type Window = SlidingBox<3>;
}

macro_rules! sample {
    (GrayU8) => {
        u8
    };
    (GrayU16) => {
        u16
    };
    (GrayF32) => {
        f32
    };
    (RgbU8) => {
        u8
    };
    (GrayU8BoxGradient) => {
        u8
    };
    (ResponseMap) => {
        f32
    };
}

crate::for_each_fused!([entries]);
