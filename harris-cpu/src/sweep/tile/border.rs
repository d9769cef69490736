//! Tiles under `Replicate` and `Zero`: gradients and smoothed samples beyond the image.

use std::ops::Range;

use harris_core::Border;

use crate::rows::Aligned;

/// Where a block of rows lies in the image, under `Replicate` and `Zero`.
///
/// Smoothed samples and gradients beyond the image are the nearest ones within it, or 0: not what
/// stages compute from samples there.
#[derive(Clone, Copy)]
pub(crate) struct BlockBorder {
    pub(crate) border: Border,
    /// The image's size.
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// The row of gradients of the block's first iteration.
    pub(crate) row: isize,
    /// The column of the gradients of the first tile's first lane.
    pub(crate) column: isize,
}

/// The iterations and lanes of a tile that are within the image.
pub(crate) struct TileBorder {
    border: Border,
    /// The iteration that gives the image's first row of gradients; the greatest number where the
    /// block has none.
    pub(crate) first: usize,
    /// The iteration that gives the image's last row of gradients; the greatest number where the
    /// block has none.
    pub(crate) last: usize,
    /// The lanes of a row of gradients within the image.
    gradients: Range<usize>,
    /// The lanes of the smoothed row before it within the image.
    smoothed: Range<usize>,
    lanes: usize,
    /// Whether lanes of the smoothed row lie beyond the image.
    is_cut: bool,
    /// Rows of the block above the image.
    above: usize,
    /// The block's first row below the image.
    below: usize,
}

impl BlockBorder {
    /// For `rows` iterations of a block and `lanes` lanes of the tile at `column` of the strip.
    #[inline(never)]
    pub(crate) fn of_tile(&self, rows: usize, column: usize, lanes: usize) -> TileBorder {
        let inside = |start: isize| {
            let within = |lane: isize| lane.clamp(0, lanes as isize) as usize;
            within(-start)..within(self.width as isize - start)
        };
        let iteration = |row: isize| usize::try_from(row - self.row).ok().filter(|&i| i < rows);
        let column = self.column + column as isize;
        let (gradients, smoothed) = (inside(column), inside(column - 1));
        let within = |row: isize| (row - self.row).clamp(0, rows as isize) as usize;
        TileBorder {
            border: self.border,
            first: iteration(0).unwrap_or(usize::MAX),
            last: iteration(self.height as isize - 1).unwrap_or(usize::MAX),
            is_cut: smoothed.len() < lanes,
            gradients,
            smoothed,
            lanes,
            above: within(0),
            below: within(self.height as isize),
        }
    }
}

impl TileBorder {
    /// The iteration at which a run that begins with iteration `from`, of `iterations` in all,
    /// ends: where smoothed samples lie beyond the image, they are filled in after each.
    #[inline(always)]
    pub(crate) fn run_end(&self, from: usize, iterations: usize) -> usize {
        if self.is_cut {
            return from + 1;
        }
        let stop = |stop: usize| if stop > from { stop } else { iterations };
        stop(self.first).min(stop(self.last)).min(iterations)
    }

    /// Whether rows and columns beyond the image are the nearest ones; else they are 0.
    #[inline(always)]
    pub(crate) fn replicates(&self) -> bool {
        match self.border {
            Border::Replicate => true,
            Border::Zero | Border::Reflect101 | Border::Skip => false,
        }
    }

    /// Fills the lanes of a smoothed row beyond the image.
    pub(crate) fn extend_smoothed<N: Copy + Default>(&self, row: &mut [N]) {
        if self.is_cut {
            self.extend(&mut row[..self.lanes], &self.smoothed);
        }
    }

    fn extend<N: Copy + Default>(&self, row: &mut [N], inside: &Range<usize>) {
        let [mut before, mut after] = [N::default(); 2];
        if self.replicates() {
            [before, after] = [row[inside.start], row[inside.end - 1]];
        }
        row[..inside.start].fill(before);
        row[inside.end..].fill(after);
    }

    /// Fills a tile's gradients beyond the image, and puts `last` as the image's last row of them.
    ///
    /// The block's rows follow `carried` rows of the block before. Returns whether any gradient
    /// changed.
    pub(crate) fn extend_gradients<N: Copy + Default, const L: usize>(
        &self,
        rows: &mut [Aligned<[N; L], 2>],
        carried: usize,
        last: Aligned<[N; L], 2>,
    ) -> bool {
        if let Some(row) = rows[carried..].get_mut(self.last) {
            *row = last;
        }
        let new_rows = rows.len() - carried;
        let below = self.below.min(new_rows);
        let is_cut = self.gradients.len() < self.lanes;
        if is_cut {
            for row in &mut rows[carried + self.above..carried + below] {
                for row in &mut row.0 {
                    self.extend(&mut row[..self.lanes], &self.gradients);
                }
            }
        }
        let zero = Aligned([[N::default(); L]; 2]);
        let nearest = |at: usize| if self.replicates() { Some(at) } else { None };
        if self.above > 0 {
            let row = nearest(carried + self.above).map_or(zero, |at| rows[at]);
            rows[carried..carried + self.above].fill(row);
        }
        if below < new_rows {
            let row = nearest(carried + below - 1).map_or(zero, |at| rows[at]);
            rows[carried + below..].fill(row);
        }
        is_cut || self.above > 0 || below < new_rows || self.last < new_rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANES: usize = 8;
    const ROWS: usize = 5;
    const CARRIED: usize = 2;

    /// The gradients of row y from column x on, each axis with numbers of its own.
    fn row(y: isize, x: isize, of: impl Fn(isize, isize) -> isize) -> Aligned<[isize; LANES], 2> {
        let lanes = std::array::from_fn(|lane| of(y, x + lane as isize));
        Aligned([lanes, lanes.map(|value| -value)])
    }

    /// Gradients beyond the image become the nearest within it, or 0. The result says whether there
    /// are any, or the last row was put.
    #[test]
    fn gradients_beyond_the_image_are_filled() {
        let (mut changes, mut cases) = (0, 0);
        for (border, (w, h)) in [Border::Replicate, Border::Zero]
            .into_iter()
            .flat_map(|border| [(1, 1), (3, 2), (20, 20)].map(|size| (border, size)))
        {
            let found = |y: isize, x: isize| 1000 + 100 * y + x;
            let is_last = |top: isize, y: isize| y == h - 1 && (0..ROWS as isize).contains(&(y - top));
            // Tiles have columns of the image; blocks have rows of the image, or follow its last
            // row.
            for (top, x) in
                (1 - ROWS as isize..h + 2).flat_map(|top| (2 - LANES as isize..w - 1).map(move |x| (top, x)))
            {
                let block =
                    BlockBorder { border, width: w as usize, height: h as usize, row: top, column: x - 3 };
                let edges = block.of_tile(ROWS, 3, LANES);
                let expected = |y: isize, x: isize| {
                    let (near_y, near_x) = (y.clamp(0, h - 1), x.clamp(0, w - 1));
                    if border == Border::Zero && (y, x) != (near_y, near_x) {
                        0
                    } else {
                        found(near_y, near_x) + if is_last(top, near_y) { 1_000_000 } else { 0 }
                    }
                };
                // Carried rows are filled already.
                let first = top - CARRIED as isize;
                let mut rows: [_; CARRIED + ROWS] = std::array::from_fn(|i| {
                    let y = first + i as isize;
                    if i < CARRIED { row(y, x, expected) } else { row(y, x, found) }
                });
                let last = row(h - 1, x, |y, x| found(y, x) + 1_000_000);
                let is_changed = edges.extend_gradients(&mut rows, CARRIED, last);
                for (i, found) in rows.iter().enumerate() {
                    let y = first + i as isize;
                    assert_eq!(
                        found.0,
                        row(y, x, expected).0,
                        "{border:?}, {w} x {h}, row {y}, from column {x} on"
                    );
                }
                let is_any = x < 0 || x + LANES as isize > w || top < 0 || top + ROWS as isize > h - 1;
                assert_eq!(is_changed, is_any, "{border:?}, {w} x {h}, from row {top} and column {x} on");
                changes += usize::from(is_changed);
                cases += 1;
            }
        }
        assert!(changes > 0 && changes < cases, "{changes} of {cases}");
    }
}
