//! Positions of rows and columns in mirrored images.

use core::array;

use super::lane::LANE_COLUMNS;

/// Byte offset and selector of a lane's four samples in a row, for a lane whose first column is
/// `x`. The selector picks them from the two words at the offset.
///
/// Columns outside the image are mirrored. Columns too far outside to affect a corner yield any
/// sample.
#[inline(always)]
pub(super) fn columns(x: i32, width: u32) -> (u32, u32) {
    let columns: [u32; LANE_COLUMNS] = array::from_fn(|i| mirrored(x + i as i32, width));
    let leftmost = columns[0].min(columns[1]).min(columns[2]).min(columns[3]);
    // A row has at least two words. Memory behind the last one may not exist.
    let start = leftmost.min(width - 5) & !3;
    let digit = |i: usize| (columns[i] - start).min(7) << (4 * i);
    (start, digit(0) | digit(1) | digit(2) | digit(3))
}

/// Row or column that stands for number `i` of a mirrored line, clamped to the line where it is too
/// far away to matter.
#[inline(always)]
pub(super) fn mirrored(i: i32, len: u32) -> u32 {
    let last = len as i32 - 1;
    mirrored_end(i.abs(), last)
}

/// Row or column that stands for number `i`, at least 0, of a mirrored line whose last number is
/// `last`.
#[inline(always)]
pub(super) fn mirrored_end(i: i32, last: i32) -> u32 {
    i.min(2 * last - i).max(0) as u32
}
