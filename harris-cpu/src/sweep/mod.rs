//! One pass down the rows of a strip of columns, from samples to responses and corners.
//!
//! A strip is swept from top to bottom, so that all between a sample and its response stays in
//! registers or in a few rows of memory, in the first two caches. Nothing of the image's size is
//! written, but for a response map that is asked for. [`crate::plan`] chooses the engine of a
//! strip:
//!
//! - [`tile`]: a tile is one or two vectors wide. What lies between its samples and its gradients,
//!   and between these and its responses, never leaves the registers.
//! - [`row`]: a kernel for each stage, from a few rows in memory to the next; 16-bit gradients and
//!   32-bit sums, or floats.
//!
//! Exact sums of box windows slide: the row that enters the window is added and the one that leaves
//! it subtracted. Sums across wide windows are differences of prefix sums. So the cost does not
//! depend on the window's size.
//!
//! Most of an image has no response above the threshold. Where the least trace or the lesser of A
//! and C excludes one ([`bound`]), no response is computed; where no gradient of a window is large
//! enough ([`gate`]), tiles and rows of floats sum nothing. The greatest response so far bounds a
//! relative threshold from below, the corners so far one of `max_corners` ([`crate::peaks`]); the
//! final threshold filters the list.
//!
//! Modules import downwards only: [`run`], then the engines, then [`strip`], then the others.

pub(crate) mod bound;
pub(crate) mod gate;
pub(crate) mod halo;
pub(crate) mod layout;
pub(crate) mod lines;
pub(crate) mod measure;
pub(crate) mod row;
pub(crate) mod run;
pub(crate) mod sample;
pub(crate) mod stage_kinds;
pub(crate) mod strip;
pub(crate) mod tile;
pub(crate) mod vectors_f32;
pub(crate) mod vectors_i16;
