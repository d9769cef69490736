//! Lists of corner keys, and what a key holds.

use super::choices::match_order;
use crate::Simt;
use crate::abi::state;

/// The list that belongs to the block's row in the grid.
#[derive(Clone, Copy)]
pub(super) struct CornerList {
    /// Index of its first key.
    start: usize,
    /// Number of its keys.
    pub(super) count: u32,
}

impl CornerList {
    /// Reads the length of the list from the image's state, at most `most`.
    ///
    /// The list is empty if it needed more than `pitch` keys: some are missing then.
    #[inline(always)]
    pub(super) fn new<S: Simt>(s: S, state: S::Buffer<u32>, pitch: u32, most: u32) -> Self {
        let row = s.block_row() as usize;
        let length = s.load_constant(state, row * state::WORDS + state::LENGTH);
        let count = if length > pitch { 0 } else { length.min(most) };
        Self { start: row * pitch as usize, count }
    }

    /// Index of key `i` of the list.
    #[inline(always)]
    pub(super) fn at(self, i: u32) -> usize {
        self.start + i as usize
    }
}

/// A number that ascends in the chosen order of keys. The function is its own inverse.
///
/// It is the key, the key with its halves exchanged, or the key with the index of its pixel
/// inverted.
#[inline(always)]
pub(super) fn sort_number(key: u64, order: u32) -> u64 {
    match_order!(order, {
        BY_RESPONSE => key,
        BY_ROWS => key.rotate_left(32),
        BY_RESPONSE_LAST_FIRST => key ^ 0xFFFF_FFFF,
    })
}

/// Column and row of a key's corner.
#[inline(always)]
pub(super) fn pixel_of_key(key: u64, width: u32) -> (u32, u32) {
    let pixel = key as u32;
    (pixel % width, pixel / width)
}

/// A mask of the lanes with a lower index.
#[inline(always)]
pub(super) fn lanes_below(lane: u32) -> u32 {
    (1 << lane) - 1
}
