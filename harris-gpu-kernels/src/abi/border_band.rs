//! The border band: pixels along the edges that are affected by border rules other than mirroring.

/// Length of a tile along an edge, in pixels.
pub const TILE: u32 = 32;
/// Blocks that a multiprocessor must hold at a time.
pub const BLOCKS: u32 = 3;

/// Tiles along an edge of `len` pixels.
#[must_use]
pub const fn tiles_across(len: u32) -> u32 {
    len.div_ceil(TILE)
}

/// Tiles of an image whose width and height are at least twice the band's depth.
#[must_use]
pub const fn tiles(width: u32, height: u32, depth: u32) -> u32 {
    2 * (tiles_across(width) + tiles_across(height - 2 * depth))
}
