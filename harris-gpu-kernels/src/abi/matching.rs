//! Matching of descriptors, tile by tile.

/// Descriptors of a tile.
pub const TILE: u32 = 64;
/// Threads along a side of a block.
pub const SIDE: u32 = 16;
/// Words of a nearest neighbour: number, squared distance, and squared distance of the second
/// nearest.
pub const WORDS: usize = 3;
