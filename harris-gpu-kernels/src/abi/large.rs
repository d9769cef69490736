//! Box gradients and box windows in one sweep, larger than [`fused`](super::fused) kernels support.

use super::fused::EACH;
use crate::simt::WARP;

/// Columns of a lane.
pub const LANE: u32 = 8;
/// Blocks, of one warp each, that a multiprocessor must hold at a time.
pub const BLOCKS: u32 = 12;
/// Greatest radius of gradient and window.
pub const MOST: u32 = 15;

/// Rows of samples in shared memory, from the latest to the highest that a leaving gradient depends
/// on.
#[must_use]
pub const fn rows(reach: u32) -> u32 {
    2 * reach + 2
}

/// Columns of a warp's responses, for responses that depend on samples `reach` columns away.
#[must_use]
pub const fn own(reach: u32) -> u32 {
    LANE * WARP - (2 * reach).next_multiple_of(EACH)
}
