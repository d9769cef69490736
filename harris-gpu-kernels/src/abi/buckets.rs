//! Bins of keys.

/// How many there are at most.
pub const MAX: u32 = 32768;
/// Keys that one has room for.
pub const CAPACITY: u32 = 256;
/// Warps that scatter the candidates of a piece.
pub const WARPS_PER_TILE: u32 = 1;
/// Bins whose keys a warp brings together.
pub const PER_WARP: u32 = 2;
/// Bins that are counted together.
pub const GROUP: u32 = 256;
/// How often a group is counted, by some blocks each, apart from each other: what counts in one place is done one after the other.
pub const COPIES: u32 = 8;

/// Words that count all groups once.
#[must_use]
pub const fn groups(buckets: u32) -> u32 {
    // Whole lines of a cache.
    buckets.div_ceil(GROUP).next_multiple_of(32)
}

/// Words that count an image's bins: all of each group, so many times, then each bin.
#[must_use]
pub const fn counters(buckets: u32) -> u32 {
    COPIES * groups(buckets) + buckets
}
