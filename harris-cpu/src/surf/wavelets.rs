//! Haar wavelets from sums of rows in one part.

use harris_core::surf::{CIRCLE, Tables};

use crate::integral::Sums;

/// An integral image whose rows are in one part.
#[derive(Clone, Copy)]
pub(super) struct Wavelets<'a> {
    sums: &'a [i32],
    pitch: usize,
    width: i32,
    height: i32,
}

/// Rows and columns of the samples of the circle.
const CIRCLE_SIDE: usize = 11;
/// Rows and columns of the corners of their wavelets, which extend two spacings from a sample.
const LATTICE_SIDE: usize = CIRCLE_SIDE + 4;
/// A row of samples in whole vectors.
const CIRCLE_ROW: usize = CIRCLE_SIDE.next_multiple_of(16);

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

    /// Wavelets across and down at the samples of the circle around a pixel, in their order.
    ///
    /// Samples are `pixels` apart, and their squares have sides of 4 · `pixels`: all corners lie on
    /// a lattice, whose sums are read once.
    #[inline(always)]
    pub(super) fn circle(&self, x: i32, y: i32, pixels: i32) -> [[i32; 2]; CIRCLE] {
        let offset = |i: usize| (i as i32 - LATTICE_SIDE as i32 / 2) * pixels;
        let columns: [usize; LATTICE_SIDE] =
            std::array::from_fn(|i| (x + offset(i)).clamp(0, self.width) as usize);
        let mut lattice = [[0; CIRCLE_ROW + 4]; LATTICE_SIDE];
        for (i, sums) in lattice.iter_mut().enumerate() {
            let start = (y + offset(i)).clamp(0, self.height) as usize * self.pitch;
            let row = &self.sums[start..=start + self.width as usize];
            for (sum, column) in sums.iter_mut().zip(columns) {
                *sum = row[column];
            }
        }
        // Columns beyond the circle's are computed, but not read.
        let mut square = [[[0; 2]; CIRCLE_ROW]; CIRCLE_SIDE];
        for (v, wavelets) in square.iter_mut().enumerate() {
            let [above, level, below] = [&lattice[v], &lattice[v + 2], &lattice[v + 4]];
            for (u, wavelet) in wavelets.iter_mut().enumerate() {
                *wavelet = haar(
                    [above[u], above[u + 2], above[u + 4]],
                    [level[u], level[u + 4]],
                    [below[u], below[u + 2], below[u + 4]],
                );
            }
        }
        let place = |i: i32| (i + CIRCLE_SIDE as i32 / 2) as usize;
        Tables::get().circle.map(|(u, v, _)| square[place(v)][place(u)])
    }

    /// Wavelets across and down at a pixel, over squares of side 2 · `half`; `INSIDE` where all
    /// pixels lie in the image.
    #[inline(always)]
    pub(super) fn at<const INSIDE: bool>(&self, x: i32, y: i32, half: i32) -> [i32; 2] {
        if INSIDE {
            let start = (y - half) as usize * self.pitch + (x - half) as usize;
            let (half, down) = (half as usize, half as usize * self.pitch);
            // Slices of just what is read leave few checks.
            let block = &self.sums[start..][..2 * down + 2 * half + 1];
            let (above, rest) = block.split_at(down);
            let (level, below) = rest.split_at(down);
            return haar(
                [above[0], above[half], above[2 * half]],
                [level[0], level[2 * half]],
                [below[0], below[half], below[2 * half]],
            );
        }
        let column = |x: i32| x.clamp(0, self.width) as usize;
        let row = |y: i32| &self.sums[y.clamp(0, self.height) as usize * self.pitch..];
        let [left, middle, right] = [column(x - half), column(x), column(x + half)];
        let (above, level, below) = (row(y - half), row(y), row(y + half));
        haar(
            [above[left], above[middle], above[right]],
            [level[left], level[right]],
            [below[left], below[middle], below[right]],
        )
    }
}

/// The wavelets across and down of the sums at the corners of a square and in the middles of its
/// sides: above, level with its centre, and below.
#[inline(always)]
fn haar([a, b, c]: [i32; 3], [d, e]: [i32; 2], [f, g, h]: [i32; 3]) -> [i32; 2] {
    let twice = |from: i32, to: i32| to.wrapping_sub(from).wrapping_mul(2);
    // Both diagonals.
    let (falling, rising) = (h.wrapping_sub(a), c.wrapping_sub(f));
    let across = falling.wrapping_sub(rising).wrapping_sub(twice(b, g));
    let down = falling.wrapping_add(rising).wrapping_sub(twice(d, e));
    [across, down]
}
