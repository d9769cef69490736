//! The arguments of a sweep.

use crate::abi::fused;
use crate::kernels::geometry::Size;

/// The numbers of a walk.
#[derive(Clone, Copy)]
pub(super) struct SweepArguments {
    /// Samples from image to image, and from row to row.
    pub(super) stride: u64,
    pub(super) pitch: u32,
    pub(super) size: Size,
    /// The number of strips, and columns from one to the next.
    pub(super) strips: u32,
    pub(super) columns: u32,
    /// The rows whose corners are sought.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Rows of a strip that one warp walks: of the first so many warps, and of those after them.
    pub(super) rows: u32,
    pub(super) full_tiles: u32,
    pub(super) tail_rows: u32,
    pub(super) scale: f32,
    pub(super) measure: u32,
    pub(super) parameter: f32,
    pub(super) frame: u32,
    /// The radius of a binomial smoothing, and the gradient, of [`crate::abi::gradient`].
    pub(super) smoothing: u32,
    pub(super) gradient: u32,
    /// The radii of a box gradient and of a wide window.
    pub(super) gradient_radius: u32,
    pub(super) window: u32,
    /// The radius of suppression.
    pub(super) radius: u32,
    pub(super) margin: u32,
    /// Of [`crate::abi::plateau`].
    pub(super) plateau: u32,
    pub(super) threshold: u32,
    pub(super) value: f32,
    /// From what a response exceeds to what the trace of its sums reaches at least: a factor of the former, or, for Harris's
    /// measure, of its root.
    pub(super) trace_factor: f32,
    /// Number of the first piece, pieces of an image, and candidates that one has room for.
    pub(super) first_tile: u32,
    pub(super) tiles: u32,
    pub(super) capacity: u32,
    /// A Gaussian window's weights, from its centre on.
    pub(super) taps: [f32; 4],
}

impl SweepArguments {
    /// Whether responses are written, and no corners sought.
    #[inline(always)]
    pub(super) fn writes_responses(&self) -> bool {
        self.radius == fused::WRITES_RESPONSES
    }
}
