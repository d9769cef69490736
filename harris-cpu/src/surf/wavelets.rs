//! Haar wavelets from sums of rows in one part.

use crate::integral::Sums;

/// An integral image whose rows are in one part.
#[derive(Clone, Copy)]
pub(super) struct Wavelets<'a> {
    sums: &'a [i32],
    pitch: usize,
    width: i32,
    height: i32,
}

impl<'a> Wavelets<'a> {
    pub(super) fn new(sums: &'a Sums) -> Self {
        let (width, height) = sums.size();
        let (sums, pitch) = sums.in_one_phase();
        Self { sums, pitch, width: width as i32, height: height as i32 }
    }

    /// Whether all pixels within `reach` of a place lie in the image.
    #[inline(always)]
    pub(super) fn holds(&self, x: i32, y: i32, reach: i32) -> bool {
        x >= reach && y >= reach && x + reach <= self.width && y + reach <= self.height
    }

    /// Wavelets across and down at a pixel, over squares of side 2 · `half`; `INSIDE` where all
    /// pixels lie in the image.
    #[inline(always)]
    pub(super) fn at<const INSIDE: bool>(&self, x: i32, y: i32, half: i32) -> [i32; 2] {
        let column = |x: i32| if INSIDE { x } else { x.clamp(0, self.width) } as usize;
        let row = |y: i32| if INSIDE { y } else { y.clamp(0, self.height) } as usize * self.pitch;
        let [left, middle, right] = [column(x - half), column(x), column(x + half)];
        let [above, level, below] = [row(y - half), row(y), row(y + half)];
        let (above, level, below) = (&self.sums[above..], &self.sums[level..], &self.sums[below..]);
        let [a, b, c] = [above[left], above[middle], above[right]];
        let [d, e] = [level[left], level[right]];
        let [f, g, h] = [below[left], below[middle], below[right]];
        // The sum between two columns of two rows.
        let between = |a: i32, b: i32, c: i32, d: i32| d.wrapping_sub(c).wrapping_sub(b.wrapping_sub(a));
        let across = between(b, c, g, h).wrapping_sub(between(a, b, f, g));
        let down = between(d, e, f, h).wrapping_sub(between(a, c, d, e));
        [across, down]
    }
}
