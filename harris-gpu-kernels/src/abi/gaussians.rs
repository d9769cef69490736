//! Gradients and windows of float sums in one sweep.

use super::fused::{COLUMNS, LANE_COLUMNS};

/// Blocks, of one warp each, that a multiprocessor must hold at a time.
pub const BLOCKS: u32 = 8;
/// Blocks that a multiprocessor must hold, for kernels with narrow windows.
pub const BLOCKS_OF_NARROW: u32 = 12;
/// Blocks that a multiprocessor must hold, for central differences of one channel.
pub const BLOCKS_OF_CENTRAL: u32 = 16;
/// Blocks that a multiprocessor must hold, for central differences of three channels.
pub const BLOCKS_OF_COLOURS: u32 = 12;
/// Greatest radius of smoothing, of gradients and of windows.
pub const MAX_RADIUS: u32 = 4;
/// Greatest radius of narrow windows, of gradients before them, and of windows after central
/// differences.
pub const MAX_NARROW_RADIUS: u32 = 2;
/// Greatest radius of binomial smoothing.
pub const MAX_BINOMIAL_RADIUS: u32 = 2;

/// Columns by which strips overlap at each side. `gradient` is the greatest radius of a kernel's
/// smoothing and gradient together, `window` that of its window.
#[must_use]
pub const fn overlap(gradient: u32, window: u32) -> u32 {
    (gradient + window).next_multiple_of(LANE_COLUMNS)
}

/// Columns of a warp's responses.
#[must_use]
pub const fn own(gradient: u32, window: u32) -> u32 {
    COLUMNS - 2 * overlap(gradient, window)
}
