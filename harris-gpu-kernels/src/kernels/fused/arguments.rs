//! The arguments of a sweep.

use crate::abi::fused;
use crate::kernels::geometry::Size;

/// Arguments of one sweep, equal for all warps.
#[derive(Clone, Copy)]
pub(super) struct SweepArguments {
    /// Samples from one image to the next, and from one row to the next.
    pub(super) stride: u64,
    pub(super) pitch: u32,
    pub(super) size: Size,
    /// Number of strips, and columns from one strip to the next.
    pub(super) strips: u32,
    pub(super) columns: u32,
    /// Range of rows whose corners are wanted; `last` is exclusive.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Tile heights in rows. The first `full_tiles` tiles of a strip have `rows` rows, later ones
    /// `tail_rows`.
    pub(super) rows: u32,
    pub(super) full_tiles: u32,
    pub(super) tail_rows: u32,
    pub(super) scale: f32,
    pub(super) measure: u32,
    pub(super) parameter: f32,
    pub(super) frame: u32,
    /// Radius of the binomial smoothing, and the gradient, one of [`crate::abi::gradient`].
    pub(super) smoothing: u32,
    pub(super) gradient: u32,
    /// Radii of the box gradient and of a window whose radius is an argument.
    pub(super) gradient_radius: u32,
    pub(super) window: u32,
    /// Radius of non-maximum suppression, or [`fused::NO_SUPPRESSION`].
    pub(super) suppression_radius: u32,
    pub(super) margin: u32,
    /// Plateau rule, one of [`crate::abi::plateau`].
    pub(super) plateau: u32,
    /// Kind of the threshold, one of [`crate::abi::threshold`], and its value: the threshold itself, or
    /// the factor of a relative one.
    pub(super) threshold_kind: u32,
    pub(super) threshold_value: f32,
    /// Factor from a response bound to the trace that any greater response needs. Harris's measure
    /// multiplies the bound's square root, the other measures the bound itself.
    pub(super) trace_factor: f32,
    /// Number of the first tile, tiles of an image, and candidates that a tile's list can hold.
    pub(super) first_tile: u32,
    pub(super) tiles: u32,
    pub(super) capacity: u32,
    /// Weights of a Gaussian window, from the centre outwards.
    pub(super) taps: [f32; 4],
}

impl SweepArguments {
    /// Whether the sweep writes responses instead of finding corners.
    #[inline(always)]
    pub(super) fn writes_responses(&self) -> bool {
        self.suppression_radius == fused::NO_SUPPRESSION
    }
}
