//! Box sums.

/// The sum of the whole box.
pub const SUM: u32 = 0;
/// The side after the centre minus the side before it.
pub const DIFFERENCE: u32 = 1;
/// The greatest size.
pub const MAX_SIZE: u32 = 127;
/// Threads of a block that sums boxes of integers.
pub const THREADS: u32 = 128;
/// Columns that each adds up.
pub const COLUMNS_PER_THREAD: usize = 4;
/// Blocks that a multiprocessor is to hold.
pub const BLOCKS: u32 = 4;

/// Columns that are added up to each side of a block's, where boxes reach so far.
#[must_use]
pub const fn margin(radius: u32) -> u32 {
    radius.next_multiple_of(COLUMNS_PER_THREAD as u32)
}

/// Columns of a block of an image's so many, for boxes of some size: about as many for each.
#[must_use]
pub const fn columns(width: u32, size: u32) -> u32 {
    // There is a sum before the first.
    const { assert!(THREADS * COLUMNS_PER_THREAD as u32 > 2 * margin(MAX_SIZE / 2) + COLUMNS_PER_THREAD as u32) };
    let most = THREADS * COLUMNS_PER_THREAD as u32 - 2 * margin(size / 2) - COLUMNS_PER_THREAD as u32;
    width.div_ceil(width.div_ceil(most)).next_multiple_of(COLUMNS_PER_THREAD as u32)
}
