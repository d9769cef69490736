//! Rows and columns of mirrored images.

use core::array;

use super::lane::LANE_COLUMNS;

/// Where a lane whose first column is `x` finds its four bytes in a row: in the two words from a byte on, picked by a selector.
/// Outside the image they are mirrored; so far outside that no corner depends on them they are any.
#[inline(always)]
pub(super) fn columns(x: i32, width: u32) -> (u32, u32) {
    let columns: [u32; LANE_COLUMNS] = array::from_fn(|i| mirrored(x + i as i32, width));
    let leftmost = columns[0].min(columns[1]).min(columns[2]).min(columns[3]);
    // The row is at least two words long; behind the last one there may be nothing.
    let start = leftmost.min(width - 5) & !3;
    let digit = |i: usize| (columns[i] - start).min(7) << (4 * i);
    (start, digit(0) | digit(1) | digit(2) | digit(3))
}

/// Where row or column `i` of a mirrored line is read; somewhere inside where it is too far away to matter.
#[inline(always)]
pub(super) fn mirrored(i: i32, len: u32) -> u32 {
    let last = len as i32 - 1;
    mirrored_end(i.abs(), last)
}

/// The same of one that is not before the first, by the number of the last.
#[inline(always)]
pub(super) fn mirrored_end(i: i32, last: i32) -> u32 {
    i.min(2 * last - i).max(0) as u32
}
