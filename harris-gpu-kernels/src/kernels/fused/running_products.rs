//! Running column sums of products. Rows that enter the window are added, and rows that leave it
//! are subtracted. Shared memory holds the gradients in between.

use core::array;

use super::integer_gradients::{PAIRS, split};
use super::lane::LANE_COLUMNS;
use crate::Simt;
use crate::simt::WARP;

/// Cells of a row of gradients: gx of the lanes, then gy.
const ROW: u32 = 2 * WARP;

/// Running column sums of a lane. `START` is the first cell of the rows of gradients.
pub(super) struct RunningProducts<const START: u32> {
    /// Cell of the gradients that leave next.
    oldest: u32,
    /// Column sums of gx², 2·gx·gy and gy².
    pub(super) sums: [[i32; LANE_COLUMNS]; 3],
}

impl<const START: u32> RunningProducts<START> {
    /// Sums over windows of `rows` rows, before the first row.
    #[inline(always)]
    pub(super) fn new(s: impl Simt, rows: u32) -> Self {
        // Rows that never entered leave as zeros.
        for row in 0..rows {
            let at = Self::row(s.lane(), row);
            s.set_shared(at, 0);
            s.set_shared(at + WARP, 0);
        }
        Self { oldest: Self::row(s.lane(), 0), sums: [[0; LANE_COLUMNS]; 3] }
    }

    /// Adds a row of gradients while the window is not full.
    #[inline(always)]
    pub(super) fn warm_up(&mut self, s: impl Simt, (gx, gy): ([u32; PAIRS], [u32; PAIRS]), rows: u32) {
        self.replace_oldest(s, gx, gy, rows);
        let (gx, gy) = (split(gx), split(gy));
        self.add([gx, gx], [gy, gy]);
    }

    /// Adds a row of gradients, and subtracts the row that leaves.
    #[inline(always)]
    pub(super) fn add_row(&mut self, s: impl Simt, (gx, gy): ([u32; PAIRS], [u32; PAIRS]), rows: u32) {
        let leaving = [self.oldest, self.oldest + WARP].map(|cell| pair(s.shared(cell)));
        self.replace_oldest(s, gx, gy, rows);
        // e² - l² = (e + l)(e - l). For gx·gy, with e and f entering, and l and m leaving: 2(ef -
        // lm) = (e + l)(f - m) + (e - l)(f + m).
        let [x, y] = [(gx, leaving[0]), (gy, leaving[1])].map(|(enters, leaves)| {
            let sums: [u32; PAIRS] = array::from_fn(|i| enters[i].wrapping_add(leaves[i]));
            let differences: [u32; PAIRS] = array::from_fn(|i| enters[i].wrapping_sub(leaves[i]));
            [split(sums), split(differences)]
        });
        self.add(x, y);
    }

    /// Cell of the lane's gx in row `row` of shared memory.
    #[inline(always)]
    fn row(lane: u32, row: u32) -> u32 {
        START + ROW * row + lane
    }

    /// Replaces the row of gradients that leaves by the row that enters.
    #[inline(always)]
    fn replace_oldest(&mut self, s: impl Simt, gx: [u32; PAIRS], gy: [u32; PAIRS], rows: u32) {
        s.set_shared(self.oldest, cell(gx));
        s.set_shared(self.oldest + WARP, cell(gy));
        let next = self.oldest + ROW;
        self.oldest = if next >= Self::row(0, rows) { Self::row(s.lane(), 0) } else { next };
    }

    /// Adds products of the first and second factors of gx and gy.
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

/// Packs two words into a cell.
#[inline(always)]
pub(super) fn cell([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Unpacks the two words of a cell.
#[inline(always)]
pub(super) fn pair(cell: u64) -> [u32; 2] {
    [cell as u32, (cell >> 32) as u32]
}
