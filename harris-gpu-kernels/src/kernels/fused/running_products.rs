//! Sums down of products that run on: rows that enter the window are added, those that leave it taken off. The rows in between wait in shared
//! memory, as gradients.

use core::array;

use super::integer_gradients::{PAIRS, split};
use super::lane::LANE_COLUMNS;
use crate::Simt;
use crate::simt::WARP;

/// Cells of a row of gradients: the lanes' gx, and then their gy.
const ROW: u32 = 2 * WARP;

/// A lane's part of them; `START` is the first cell of the rows.
pub(super) struct RunningProducts<const START: u32> {
    /// Where the gradients of the row that leaves next are.
    oldest: u32,
    /// Sums down of gx², twice gx·gy and gy².
    pub(super) sums: [[i32; LANE_COLUMNS]; 3],
}

impl<const START: u32> RunningProducts<START> {
    /// Over windows of so many rows, of which none has entered.
    #[inline(always)]
    pub(super) fn new(s: impl Simt, rows: u32) -> Self {
        // What never entered leaves as nothing.
        for row in 0..rows {
            let at = Self::row(s.lane(), row);
            s.set_shared(at, 0);
            s.set_shared(at + WARP, 0);
        }
        Self { oldest: Self::row(s.lane(), 0), sums: [[0; LANE_COLUMNS]; 3] }
    }

    /// Adds a row of gradients, before as many have entered as a window of so many has.
    #[inline(always)]
    pub(super) fn warm_up(&mut self, s: impl Simt, (gx, gy): ([u32; PAIRS], [u32; PAIRS]), rows: u32) {
        self.replace_oldest(s, gx, gy, rows);
        let (gx, gy) = (split(gx), split(gy));
        self.add([gx, gx], [gy, gy]);
    }

    /// Brings the sums to the window of so many rows that ends with a row of gradients.
    #[inline(always)]
    pub(super) fn add_row(&mut self, s: impl Simt, (gx, gy): ([u32; PAIRS], [u32; PAIRS]), rows: u32) {
        let leaving = [self.oldest, self.oldest + WARP].map(|cell| pair(s.shared(cell)));
        self.replace_oldest(s, gx, gy, rows);
        // e² - l² is (e + l)(e - l), and twice what the product of two numbers e, f exceeds that of l, m by is
        // (e + l)(f - m) + (e - l)(f + m).
        let [x, y] = [(gx, leaving[0]), (gy, leaving[1])].map(|(enters, leaves)| {
            let sums: [u32; PAIRS] = array::from_fn(|i| enters[i].wrapping_add(leaves[i]));
            let differences: [u32; PAIRS] = array::from_fn(|i| enters[i].wrapping_sub(leaves[i]));
            [split(sums), split(differences)]
        });
        self.add(x, y);
    }

    /// Where number `row` of the rows of gradients in memory has the lane's gx.
    #[inline(always)]
    fn row(lane: u32, row: u32) -> u32 {
        START + ROW * row + lane
    }

    /// Keeps a row of gradients in place of the one that leaves.
    #[inline(always)]
    fn replace_oldest(&mut self, s: impl Simt, gx: [u32; PAIRS], gy: [u32; PAIRS], rows: u32) {
        s.set_shared(self.oldest, cell(gx));
        s.set_shared(self.oldest + WARP, cell(gy));
        let next = self.oldest + ROW;
        self.oldest = if next >= Self::row(0, rows) { Self::row(s.lane(), 0) } else { next };
    }

    /// Adds the products of what is first and second of two kinds.
    #[inline(always)]
    fn add(&mut self, x: [[i32; LANE_COLUMNS]; 2], y: [[i32; LANE_COLUMNS]; 2]) {
        let [xx, xy, yy] = &mut self.sums;
        for i in 0..LANE_COLUMNS {
            xx[i] = xx[i].wrapping_add(x[0][i] * x[1][i]);
            xy[i] = xy[i].wrapping_add(x[0][i] * y[1][i]).wrapping_add(x[1][i] * y[0][i]);
            yy[i] = yy[i].wrapping_add(y[0][i] * y[1][i]);
        }
    }
}

/// A cell of two words.
#[inline(always)]
pub(super) fn cell([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The words of a cell.
#[inline(always)]
pub(super) fn pair(cell: u64) -> [u32; 2] {
    [cell as u32, (cell >> 32) as u32]
}
