//! Stage 1: the extension of a stage's input beyond the image.

use crate::config::Border;

/// The index in a line of `len` samples whose sample extends the line at index `i`; `None` for
/// zero.
///
/// Under `Skip` no valid value depends on the samples outside. They are taken to be zero.
///
/// ```
/// use harris_core::{Border, pipeline::border::inside};
///
/// let line = |border| (-4..7).map(|i| inside(border, i, 3)).collect::<Vec<_>>();
/// assert_eq!(line(Border::Reflect101), [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2].map(Some));
/// assert_eq!(line(Border::Replicate), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2].map(Some));
/// assert_eq!(inside(Border::Zero, -1, 3), None);
/// // One sample repeats.
/// assert_eq!(inside(Border::Reflect101, 5, 1), Some(0));
/// ```
///
/// # Panics
/// Where `len` is 0.
#[must_use]
#[inline]
pub fn inside(border: Border, i: isize, len: usize) -> Option<usize> {
    assert!(len > 0, "a line of no samples cannot be extended");
    let last = len as isize - 1;
    if (0..=last).contains(&i) {
        return Some(i as usize);
    }
    match border {
        Border::Reflect101 if last == 0 => Some(0),
        Border::Reflect101 => {
            let i = i.rem_euclid(2 * last);
            Some(if i > last { 2 * last - i } else { i } as usize)
        }
        Border::Replicate => Some(i.clamp(0, last) as usize),
        Border::Zero | Border::Skip => None,
    }
}
