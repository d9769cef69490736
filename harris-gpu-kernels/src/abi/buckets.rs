//! Buckets of keys, for sorting lists.

/// Most buckets of an image.
pub const MAX: u32 = 32768;
/// Keys that a bucket can hold.
pub const CAPACITY: u32 = 256;
/// Warps that scatter the candidates of a tile.
pub const WARPS_PER_TILE: u32 = 1;
/// Buckets that a warp gathers.
pub const PER_WARP: u32 = 2;
/// Buckets whose keys are counted together.
pub const GROUP: u32 = 256;
/// Counters of each group, shared out over blocks, as atomic additions to one word are serial.
pub const COPIES: u32 = 8;

/// Words of one counter for each group.
#[must_use]
pub const fn groups(buckets: u32) -> u32 {
    // Padded to whole cache lines.
    buckets.div_ceil(GROUP).next_multiple_of(32)
}

/// Words of an image's counters: [`COPIES`] counters of each group, then one of each bucket.
#[must_use]
pub const fn counters(buckets: u32) -> u32 {
    COPIES * groups(buckets) + buckets
}
