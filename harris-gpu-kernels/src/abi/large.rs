//! Box gradients and box windows in one sweep, larger than [`fused`] kernels support.

use super::fused;
use crate::simt::WARP;

/// Columns of a lane.
pub const LANE_COLUMNS: u32 = 8;
/// Blocks, of one warp each, that a multiprocessor must hold at a time.
pub const BLOCKS: u32 = 12;
/// Greatest radius of gradient and window.
pub const MAX_RADIUS: u32 = 15;

/// Rows of samples in shared memory, from the latest to the highest that a leaving gradient depends
/// on.
#[must_use]
pub const fn rows(support_radius: u32) -> u32 {
    2 * support_radius + 2
}

/// Columns of a warp's responses. `support_radius` is the number of columns from a response to the
/// farthest sample it depends on.
#[must_use]
pub const fn own(support_radius: u32) -> u32 {
    LANE_COLUMNS * WARP - (2 * support_radius).next_multiple_of(fused::LANE_COLUMNS)
}
