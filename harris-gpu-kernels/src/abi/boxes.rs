//! Box sums of integers.

/// Sum of the whole box.
pub const SUM: u32 = 0;
/// Sum after the centre less the sum before it.
pub const DIFFERENCE: u32 = 1;
/// Greatest size of a box.
pub const MAX_SIZE: u32 = 127;
/// Threads of a block.
pub const THREADS: u32 = 128;
/// Columns of a thread.
pub const COLUMNS_PER_THREAD: usize = 4;
/// Blocks that a multiprocessor must hold at a time.
pub const BLOCKS: u32 = 4;

/// Columns summed at each side of a block's own, for boxes of this radius.
#[must_use]
pub const fn margin(radius: u32) -> u32 {
    radius.next_multiple_of(COLUMNS_PER_THREAD as u32)
}

/// Columns of a block, chosen so that blocks share `width` columns about evenly. `size` is that of
/// the boxes.
#[must_use]
pub const fn columns(width: u32, size: u32) -> u32 {
    // A prefix sum before the first column is needed, too.
    const { assert!(THREADS * COLUMNS_PER_THREAD as u32 > 2 * margin(MAX_SIZE / 2) + COLUMNS_PER_THREAD as u32) };
    let most = THREADS * COLUMNS_PER_THREAD as u32 - 2 * margin(size / 2) - COLUMNS_PER_THREAD as u32;
    width.div_ceil(width.div_ceil(most)).next_multiple_of(COLUMNS_PER_THREAD as u32)
}
