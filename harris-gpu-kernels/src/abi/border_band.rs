//! The rim of images, as deep as border rules have a part in their corners.

/// Columns, or rows, of a tile along an edge.
pub const TILE: u32 = 32;
/// Blocks that a multiprocessor is to hold.
pub const BLOCKS: u32 = 3;

/// Tiles along a line of so many pixels.
#[must_use]
pub const fn tiles_across(len: u32) -> u32 {
    len.div_ceil(TILE)
}

/// Tiles of an image, which is at least twice as wide and high as its rim is deep.
#[must_use]
pub const fn tiles(width: u32, height: u32, depth: u32) -> u32 {
    2 * (tiles_across(width) + tiles_across(height - 2 * depth))
}
