//! Gaussian windows in one walk, with the gradients behind which they are.

use super::fused::{COLUMNS, EACH};

/// Blocks, which are warps, that a multiprocessor is to hold.
pub const BLOCKS: u32 = 8;
/// Of kernels for narrow windows.
pub const BLOCKS_OF_NARROW: u32 = 12;
/// Behind central differences.
pub const BLOCKS_OF_CENTRAL: u32 = 16;
/// Behind those of three channels.
pub const BLOCKS_OF_COLOURS: u32 = 12;
/// The greatest radius of smoothing, of gradients, and of windows behind them.
pub const MOST: u32 = 4;
/// That of narrow windows, of gradients before such, and of windows behind central differences.
pub const MOST_NARROW: u32 = 2;
/// That of binomials.
pub const MOST_OF_BINOMIAL: u32 = 2;

/// Columns to each side of a warp's that only lead to others, for a kernel of such greatest radii, the gradient's with that of what smooths
/// before it.
#[must_use]
pub const fn side(gradient: u32, window: u32) -> u32 {
    (gradient + window).next_multiple_of(EACH)
}

/// Columns of which a warp leaves the responses.
#[must_use]
pub const fn own(gradient: u32, window: u32) -> u32 {
    COLUMNS - 2 * side(gradient, window)
}
