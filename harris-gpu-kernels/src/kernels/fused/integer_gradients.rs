//! Gradients of smoothed 8-bit samples, as integers.

use core::array;

use super::lane::{LANE_COLUMNS, Lane};
use crate::Simt;
use crate::kernels::choices::match_gradient;
use crate::kernels::thread_per_column::push;

/// Pairs of samples of a lane.
pub(super) const PAIRS: usize = LANE_COLUMNS / 2;

/// Row of gradients along one axis.
pub(super) trait Gradient: Copy {
    /// Parts of smoothed rows that later gradients need.
    type Rows: Copy;
    /// State before the first row.
    const NONE: Self::Rows;

    /// Takes the next smoothed row, and returns gx and gy of the row before. `gradient` is one of
    /// [`gradient`].
    fn differentiate<S: Simt>(s: S, rows: &mut Self::Rows, smoothed: Smoothed, gradient: u32)
    -> (Self, Self);

    fn negated(self) -> Self;
}

/// Smoothed samples in pairs, from the one before the lane's first to the one after its last. A
/// sample is the low or the high byte of its half.
#[derive(Clone, Copy)]
pub(super) struct Smoothed {
    pub(super) pairs: [u32; PAIRS + 1],
    pub(super) is_high: bool,
    /// Selectors of the four samples around each pair of columns: see [`selectors`].
    pub(super) selectors: [u32; PAIRS],
}

/// Selectors of the samples around each pair of a lane's columns.
///
/// With `negates`, the samples left and right of the column beside the image are swapped. Its gx
/// then has the sign of the column that it mirrors.
#[inline(always)]
pub(super) fn selectors<S: Simt>(lane: &Lane<S>, is_high: bool, negates: bool) -> [u32; PAIRS] {
    array::from_fn(|pair| {
        let x = lane.x + 2 * pair as i32;
        // Other columns beside the image are farther outside, and nothing depends on them: see
        // `Strips`.
        let digits = if negates && x + 1 == -1 {
            0x2460
        } else if negates && x == lane.args.size.width as i32 {
            0x6024
        } else {
            0x6420
        };
        digits + 0x1111 * u32::from(is_high)
    })
}

/// Weights of a gradient along an edge: outer and centre.
#[inline(always)]
fn edge_weights(gradient: u32) -> (i8, i8) {
    match_gradient!(gradient, { CENTRAL => (0, 1), SCHARR => (3, 10), SOBEL => (1, 2) })
}

/// Gradients in packed pairs: see [`split`]. Two rows of horizontal differences and of sums along
/// the row are kept.
impl Gradient for [u32; PAIRS] {
    type Rows = [[[u32; PAIRS]; 2]; 2];
    const NONE: Self::Rows = [[[0; PAIRS]; 2]; 2];

    #[inline(always)]
    fn differentiate<S: Simt>(
        s: S,
        rows: &mut Self::Rows,
        smoothed: Smoothed,
        gradient: u32,
    ) -> (Self, Self) {
        let p = match smoothed.is_high {
            false => smoothed.pairs,
            true => array::from_fn(|i| s.permute(smoothed.pairs[i], 0, 0x4341)),
        };
        let (outer, centre) = edge_weights(gradient);
        let (outer, centre) = (outer as u32, centre as u32);
        let differences = array::from_fn(|i| p[i + 1].wrapping_sub(p[i]));
        let sums: [u32; PAIRS] = array::from_fn(|i| {
            let between = s.permute(p[i], p[i + 1], 0x5432);
            outer * (p[i] + p[i + 1]) + centre * between
        });
        let gx = array::from_fn(|i| {
            let outside = u32::wrapping_add(differences[i], rows[0][1][i]);
            let inside: u32 = rows[0][0][i];
            outside.wrapping_mul(outer).wrapping_add(inside.wrapping_mul(centre))
        });
        let gy = array::from_fn(|i| sums[i].wrapping_sub(rows[1][1][i]));
        push(&mut rows[0], differences);
        push(&mut rows[1], sums);
        (gx, gy)
    }

    #[inline(always)]
    fn negated(self) -> Self {
        self.map(u32::wrapping_neg)
    }
}

/// Gradients as single integers. The samples around each pair of columns are kept for two rows.
impl Gradient for [i32; LANE_COLUMNS] {
    type Rows = [[u32; PAIRS]; 2];
    const NONE: Self::Rows = [[0; PAIRS]; 2];

    #[inline(always)]
    fn differentiate<S: Simt>(
        s: S,
        rows: &mut Self::Rows,
        smoothed: Smoothed,
        gradient: u32,
    ) -> (Self, Self) {
        let Smoothed { pairs, selectors, .. } = smoothed;
        let next = array::from_fn(|i| s.permute(pairs[i], pairs[i + 1], selectors[i]));
        let [row, before] = *rows;
        let (outer, centre) = edge_weights(gradient);
        // Adds the weighted sum of three samples of a row to each column.
        let plus = |sums: Self, row: [u32; PAIRS], [left, middle, right]: [i8; 3]| -> Self {
            let weights = [[left, middle, right, 0], [0, left, middle, right]];
            array::from_fn(|i| s.dot(sums[i], row[i / 2], weights[i % 2]))
        };
        let across = |weight: i8| [-weight, 0, weight];
        let mut gx = [0; LANE_COLUMNS];
        if outer > 0 {
            gx = plus(gx, before, across(outer));
        }
        gx = plus(gx, row, across(centre));
        if outer > 0 {
            gx = plus(gx, next, across(outer));
        }
        let gy =
            plus(plus([0; LANE_COLUMNS], before, [-outer, -centre, -outer]), next, [outer, centre, outer]);
        push(rows, next);
        (gx, gy)
    }

    #[inline(always)]
    fn negated(self) -> Self {
        self.map(|gradient| -gradient)
    }
}

/// Unpacks pairs of signed numbers. A pair is the second times 2¹⁶ plus the first.
#[inline(always)]
pub(super) fn split(pairs: [u32; PAIRS]) -> [i32; LANE_COLUMNS] {
    array::from_fn(|i| {
        let pair = pairs[i / 2];
        let first = i32::from(pair as i16);
        if i % 2 == 0 { first } else { (pair as i32).wrapping_sub(first) >> 16 }
    })
}
