//! Box gradients and box windows in one walk, of larger sizes than [`fused`] kernels have.

use super::fused::EACH;
use crate::simt::WARP;

/// Columns that a lane has.
pub const LANE: u32 = 8;
/// Blocks, which are warps, that a multiprocessor is to hold.
pub const BLOCKS: u32 = 12;
/// The greatest radii of gradient and window.
pub const MOST: u32 = 15;

/// Rows of samples that wait in shared memory: from the last to come to that which leaves what leaves the window.
#[must_use]
pub const fn rows(reach: u32) -> u32 {
    2 * reach + 2
}

/// Columns of which a warp leaves the responses, where these depend on samples so many columns away.
#[must_use]
pub const fn own(reach: u32) -> u32 {
    LANE * WARP - (2 * reach).next_multiple_of(EACH)
}
