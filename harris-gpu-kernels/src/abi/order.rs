//! Orders and states of corner lists.
//!
//! The upper half of a corner's key has the inverted bits of its response, the lower half its
//! pixel's number. Keys ascend from the strongest corner on. With their halves exchanged they
//! ascend in row order.

/// Descending response, and row order among equal responses.
pub const BY_RESPONSE: u32 = 0;
/// Row order.
pub const BY_ROWS: u32 = 1;
/// Descending response, and reverse row order among equal responses.
pub const BY_RESPONSE_LAST_FIRST: u32 = 2;
/// Keys that a block compares with at a time.
pub const KEYS_AT_ONCE: u32 = 1024;
/// Sorted runs that are merged at a time.
pub const RUNS_PER_MERGE: u32 = 16;
/// Threads that count the keys before one key.
pub const THREADS_PER_KEY: u32 = 8;
/// Shares of a list that a warp counts together.
pub const SHARES_PER_COUNT: u32 = 8;
/// Not decided yet.
pub const UNDECIDED: u32 = 0;
/// Kept.
pub const KEPT: u32 = 1;
/// Not kept: too near to a corner that is kept.
pub const TOO_NEAR: u32 = 2;
