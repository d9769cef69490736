//! From samples to corners in one walk.
//!
//! A warp walks down a strip of columns, the same number for each lane, of which those in the middle are its own; the strips of
//! neighbours overlap. With each row come a row of smoothed samples, of gradients, of window sums, of responses, each a
//! little higher up than the one before; what later rows need of them stays in registers. Neighbours along a row come by
//! shuffles.
//!
//! Outside the image the samples are mirrored, and so are all that follow, but for gx beside it and gy above and below:
//! these change their sign, so the walk turns them back.
//!
//! A [`Front`] is the way from samples to responses, that of [`bytes`] by way of [`differences`] and a [`Window`](bytes::Window), that of
//! box gradients by [`Sides`], or takes [`Responses`] from a map; [`Corners`] is that from responses to corners; [`Writer`] writes the
//! responses themselves, and so do [`large`], for box gradients that need more room, and [`gaussians`], for what is weighted as floats,
//! by way of [`smoothings`] and [`gradients`].

mod arguments;
mod boxes;
mod bytes;
mod corners;
mod differences;
mod float_strip;
mod gaussians;
mod gradients;
mod lane;
mod large;
mod mirror;
mod responses;
mod running;
mod samples;
mod sides;
mod sliding;
mod smoothings;
mod source;
mod sweep;
mod weighted;
mod wide;
mod window;
mod write;

use arguments::Settings;
use boxes::Boxes;
use bytes::Bytes;
pub(crate) use gaussians::{
    map_binomial_gaussians5, map_binomial_gaussians9, map_central_gaussian5, map_f32_window5,
    map_f32_window9, map_gaussians9, map_rgb_central_gaussian5, map_smoothed_window5, map_smoothed_window9,
    map_u16_window5, map_u16_window9,
};
pub(crate) use large::map_boxes31;
use responses::Responses;
use samples::{Colours, Floats, Words};
use sides::Sides;
use sliding::Sliding;
use sweep::walk;
use weighted::{Binomial, Gaussian, Weighted};
use wide::Wide;

use super::geometry::Size;
use super::mask::Mask;
use crate::Simt;

macro_rules! entries {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $samples:ident, $weights:ident, $window:literal, $most:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<sample!($samples)>,
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
            whole: u32,
            later: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            frame: u32,
            smoothing: u32,
            gradient: u32,
            gradient_radius: u32,
            window: u32,
            radius: u32,
            margin: u32,
            plateau: u32,
            threshold: u32,
            value: f32,
            reach: f32,
            piece: u32,
            pieces: u32,
            room: u32,
            tables: u32,
            counters: u32,
            extent: u32,
            mask: S::Buffer<u8>,
            mask_pitch: u32,
            tap0: f32,
            tap1: f32,
            tap2: f32,
            tap3: f32,
        ) {
            let size = Size { width, height };
            let taps = [tap0, tap1, tap2, tap3];
            let set = Settings { stride, pitch, size, strips, columns, first, last, rows, whole, later, scale, measure, parameter, frame, smoothing, gradient, gradient_radius, window, radius, margin, plateau, threshold, value, reach, piece, pieces, room, taps };
            let mask = Mask::new(s, mask, mask_pitch);
            walk::<S, front!($samples, $weights, $window), $most>(s, image, mask, state, keys, counts, (response, extent == 1), set, (tables, counters));
        }
    )*};
}

macro_rules! front {
    (BoxGradients, Wide, $most:literal) => {
        Sides<S>
    };
    (Bytes, Box, $window:literal) => {
        Bytes<S, <Narrow<$window> as Suited>::Window>
    };
    (Bytes, Binomial, $window:literal) => {
        Bytes<S, Weighted<Binomial, $window>>
    };
    (Bytes, Gaussian, $window:literal) => {
        Bytes<S, Weighted<Gaussian, $window>>
    };
    (Bytes, Wide, $window:literal) => {
        Bytes<S, Wide<$window>>
    };
    (Responses, Box, $window:literal) => {
        Responses<S>
    };
    ($samples:ident, Box, $window:literal) => {
        $samples<S, $window>
    };
}

/// A box window of 8-bit samples, by its radius.
struct Narrow<const WINDOW: usize>;

/// How the sums of a window are made with fewest instructions and registers.
trait Suited {
    type Window;
}

impl Suited for Narrow<1> {
    type Window = Boxes;
}

impl Suited for Narrow<2> {
    type Window = Sliding<2>;
}

impl Suited for Narrow<3> {
    type Window = Sliding<3>;
}

macro_rules! sample {
    (Bytes) => {
        u8
    };
    (Words) => {
        u16
    };
    (Floats) => {
        f32
    };
    (Colours) => {
        u8
    };
    (BoxGradients) => {
        u8
    };
    (Responses) => {
        f32
    };
}

crate::for_each_fused!([entries]);
