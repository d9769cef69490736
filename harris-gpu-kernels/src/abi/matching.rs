//! Tiles of descriptors that are matched.

/// Descriptors of a tile.
pub const TILE: u32 = 64;
/// Threads along a side of a block.
pub const SIDE: u32 = 16;
/// Words of a nearest: number, squared distance, squared distance of the second.
pub const WORDS: usize = 3;
