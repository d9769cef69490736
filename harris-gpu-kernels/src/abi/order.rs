//! Lists of corners.
//!
//! A corner's key has its response's bits, all turned, in the upper half, and its pixel's number in the lower: keys
//! ascend as results do, from the strongest on; with their halves exchanged, in the order of rows.

/// Keys are sorted as they are: the strongest first, of equals the first in the order of rows.
pub const BY_RESPONSE: u32 = 0;
/// Keys are sorted in the order of rows.
pub const BY_ROWS: u32 = 1;
/// The strongest first, of equals the last in the order of rows.
pub const BY_RESPONSE_LAST_FIRST: u32 = 2;
/// Keys that a block compares with at a time.
pub const KEYS_AT_ONCE: u32 = 1024;
/// Runs that are merged at a time.
pub const RUNS_PER_MERGE: u32 = 16;
/// Threads that count together how many keys come before one.
pub const THREADS_PER_KEY: u32 = 8;
/// Shares of a list that are counted together.
pub const SHARES_PER_COUNT: u32 = 8;
/// Not yet decided.
pub const UNDECIDED: u32 = 0;
/// Kept.
pub const KEPT: u32 = 1;
/// Too near to one that is kept.
pub const REJECTED: u32 = 2;
