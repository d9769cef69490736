//! Number types of tiles, and the stages and windows that compute with them.

use std::fmt::Debug;
use std::ops::Range;

use harris_core::pipeline::taps;
use harris_core::{HarrisConfig, Measure, Window};

use super::border::{BlockBorder, TileBorder};
use crate::peaks::ring::{RING, ResponseRing, WordLayout};
use crate::plan::{MAX_TILE_BOX_RADIUS, TILE_LANES, TileNumbers};
use crate::rows::{Aligned, BLOCK_ROWS, Rows, SAMPLE_ROW_LENGTH};
use crate::simd::Simd;
use crate::sweep::sample::SweepSample;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};
use crate::sweep::strip::StripSweep;

/// gx and gy of a row of a tile.
pub(crate) type Pair<N> = Aligned<[N; TILE_LANES], 2>;

/// The most rows of gradients that a block takes over from the one before: those of the window but
/// one.
pub(crate) const CARRIED_ROWS: usize = 2 * MAX_TILE_BOX_RADIUS;

/// The gradients of a channel of a tile: rows of the block before, then one for each row of
/// samples.
pub(crate) type Block<N> = [Pair<N>; CARRIED_ROWS + BLOCK_ROWS];

/// A block of rows of a strip, and its tiles.
pub(crate) struct RowBlock<'a, T> {
    /// A lower bound on the final threshold.
    pub(crate) threshold: f32,
    /// Rows of samples.
    pub(crate) rows: usize,
    /// The samples of gray images, for tiles that lie within it.
    pub(crate) image: &'a [&'a [T]; RING],
    /// The rows of samples that follow, for prefetching.
    pub(crate) ahead: &'a [&'a [T]; RING],
    /// The column of the first tile's first sample.
    pub(crate) first: isize,
    /// The tiles that read from `image`; others read from `halo`.
    pub(crate) inside: Range<usize>,
    /// Samples around the image's edges from the first tile's first sample on, a row for each
    /// channel.
    pub(crate) halo: &'a Rows<T, SAMPLE_ROW_LENGTH>,
    /// The sign of gy in each column, 1 or −1, from the first tile's first gradient on.
    pub(crate) signs: &'a [i16; SAMPLE_ROW_LENGTH],
    /// Whether gy is negated in any column.
    pub(crate) any_negated: bool,
    /// Bit i: gy is negated in the row of gradients of iteration i.
    pub(crate) negated_rows: u64,
    /// The block's place in the image, where stages extend their own input.
    pub(crate) border: Option<BlockBorder>,
    /// Rows of samples that complete no row of responses.
    pub(crate) warm_up: usize,
    /// The slot of the first row of responses.
    pub(crate) slot: usize,
    /// The tiles as words of a row of responses.
    pub(crate) words: WordLayout,
    /// Columns of all tiles.
    pub(crate) width: usize,
}

impl<T> RowBlock<'_, T> {
    /// The rows of responses that the block completes, as bits, and those whose windows of `size`
    /// rows contain an active row of gradients. None where it completes none.
    #[inline(always)]
    pub(crate) fn active_rows(&self, active: u64, size: usize) -> Option<[u64; 2]> {
        let completed = self.rows.checked_sub(self.warm_up).filter(|&completed| completed > 0)?;
        let all = u64::MAX >> (64 - completed);
        Some([all, active_windows(active, size) >> self.warm_up & all])
    }
}

/// The windows of `size` rows that contain an active row, as bits: window i begins at row i.
#[inline(always)]
fn active_windows(active: u64, size: usize) -> u64 {
    (0..size).fold(0, |windows, row| windows | active >> row)
}

/// The samples of a channel of a tile, for some iterations of a block.
pub(crate) struct TileRows<'b, 'a, T> {
    pub(crate) block: &'b RowBlock<'a, T>,
    /// The tile's first sample, from the first tile's one on.
    pub(crate) column: usize,
    /// Samples of a row that are read.
    pub(crate) read: usize,
    pub(crate) channel: usize,
    pub(crate) channels: usize,
    /// Whether samples are read from the image itself.
    pub(crate) is_inside: bool,
    pub(crate) iterations: Range<usize>,
}

impl<'b, T: Copy> TileRows<'b, '_, T> {
    /// Row `i` of samples in the image, and the row that follows it by a block from there on.
    #[inline(always)]
    pub(crate) fn of_image(&self, i: usize) -> [&'b [T]; 2] {
        let column = (self.block.first + self.column as isize) as usize;
        [&self.block.image[i][column..column + self.read], &self.block.ahead[i][column..]]
    }

    /// Row `i` of samples around the image's edges.
    #[inline(always)]
    pub(crate) fn of_halo(&self, i: usize) -> &'b [T] {
        &self.block.halo.row(i * self.channels + self.channel)[self.column..self.column + self.read]
    }
}

/// The windows of a tile and a block of rows.
pub(crate) struct Windows<'a, N, B> {
    pub(crate) measure: Measure,
    pub(crate) scale: f32,
    /// A lower bound on the final threshold.
    pub(crate) threshold: f32,
    /// The bounds by which responses are rejected, and the window's weights.
    pub(crate) bounds: B,
    pub(crate) radius: usize,
    /// Gradients of each channel.
    pub(crate) gradients: &'a [Block<N>; 3],
    pub(crate) channels: usize,
    /// The first row of gradients of the first window.
    pub(crate) first: usize,
    /// The rows of responses whose windows contain an active row of gradients, as bits.
    pub(crate) active: u64,
    pub(crate) responses: &'a mut ResponseRing,
    /// The slot of the first row of responses.
    pub(crate) slot: usize,
    /// The tile's number, and its first element in a row of responses.
    pub(crate) word: (usize, usize),
    /// Columns of the tile.
    pub(crate) columns: usize,
}

/// The number types of a tile's stages and windows, and the operations on them.
///
/// Methods on vectors are inlined into the driver's kernel, which is compiled for each level.
pub(crate) trait TileArithmetic: Sized {
    type Sample: SweepSample;
    /// Numbers of gradients.
    type Number: Copy + Default + Debug;
    /// Vectors that stages carry from block to block, in memory.
    type Carry: Clone + Debug;
    /// The bounds by which responses are rejected, and the window's weights.
    type Bounds<'a>: Copy;
    /// The gradient gate of a tile.
    type Gate<V: Simd>: Copy;
    /// Channels where they are a constant, else 0.
    const CHANNELS: usize;

    /// The carry above the first row.
    fn zero_carry() -> Self::Carry;

    /// Iterations between a row of samples that completes a row of gradients and the one that gives
    /// it.
    fn latency<V: Simd>(smoothing: StageSmoothing) -> usize;

    /// The bounds for a threshold; `taps` are those of a Gaussian window.
    fn bounds<'a>(
        sweep: &StripSweep<'_, Self::Sample>,
        numbers: TileNumbers,
        threshold: f32,
        taps: &'a [f32],
    ) -> Self::Bounds<'a>;

    /// The gate for so many columns of windows of a radius.
    fn gate<V: Simd>(v: V, bounds: Self::Bounds<'_>, radius: usize, columns: usize) -> Self::Gate<V>;

    /// Runs the stages over rows of samples, to as many rows of gradients. Returns the active ones,
    /// as bits, as far as one channel tells, and whether all samples are valid.
    fn run_stages<V: Simd>(
        v: V,
        kinds: (StageSmoothing, ThreeTaps),
        gate: Self::Gate<V>,
        carry: &mut Self::Carry,
        rows: TileRows<'_, '_, Self::Sample>,
        out: &mut [Pair<Self::Number>],
    ) -> (u64, bool);

    /// Has stages start with the image's first row of gradients or finish with its last, `last`, if
    /// that is the one of the next iteration.
    fn start_or_finish_image<V: Simd>(
        v: V,
        gradient: ThreeTaps,
        border: &TileBorder,
        iteration: usize,
        carry: &mut Self::Carry,
        last: &mut Pair<Self::Number>,
    );

    /// Fills the last smoothed row beyond the image.
    fn extend_smoothed(border: &TileBorder, carry: &mut Self::Carry);

    /// Negates gy in columns with a negative sign, if there are `any`, and in `rows`, as bits.
    fn negate<V: Simd>(v: V, out: &mut [Pair<Self::Number>], signs: &[i16], any: bool, rows: u64);

    fn copy<V: Simd>(v: V, from: &Pair<Self::Number>, to: &mut Pair<Self::Number>);

    /// The active rows of a channel's block, as bits, behind `carried` rows of which `before` were
    /// active.
    ///
    /// The stages gave `new`. Neither counts where the border `changed` gradients.
    fn channel_active<V: Simd>(
        v: V,
        gate: Self::Gate<V>,
        rows: &[Pair<Self::Number>],
        carried: usize,
        active: ActiveRows,
    ) -> u64;

    /// The active rows of all channels, as bits: `active` are those of any single one. They do not
    /// count where the border `changed` gradients.
    fn all_active<V: Simd>(
        v: V,
        gate: Self::Gate<V>,
        blocks: &[Block<Self::Number>; 3],
        rows: [usize; 2],
        active: u64,
        changed: bool,
    ) -> u64;

    /// Puts the responses of rows that are not rejected, and marks candidates. Returns these rows,
    /// as bits.
    fn respond<V: Simd>(v: V, windows: Windows<'_, Self::Number, Self::Bounds<'_>>) -> u64;
}

/// Active rows of gradients of a channel, as bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActiveRows {
    /// Carried rows.
    pub(crate) before: u64,
    /// Rows of the block.
    pub(crate) new: u64,
    /// Whether the border changed any of them.
    pub(crate) changed: bool,
}

/// What a tile carries of a channel from block to block.
#[derive(Debug)]
pub(crate) struct Carry<L: TileArithmetic> {
    pub(crate) stages: L::Carry,
    /// The last rows of gradients.
    pub(crate) gradients: [Pair<L::Number>; CARRIED_ROWS],
    /// The active ones of these, as bits.
    pub(crate) active: u64,
}

impl<L: TileArithmetic> Carry<L> {
    pub(crate) fn zero() -> Self {
        Self { stages: L::zero_carry(), gradients: [zero_pair(); CARRIED_ROWS], active: 0 }
    }
}

/// A row of zeros.
pub(crate) fn zero_pair<N: Copy + Default>() -> Pair<N> {
    Aligned([[N::default(); TILE_LANES]; 2])
}

/// The taps of a configuration's window, where it is a Gaussian.
pub(crate) fn window_taps(config: &HarrisConfig) -> Vec<f32> {
    match config.window() {
        Window::Gaussian { size, sigma } => taps::gaussian(size, sigma),
        Window::Box { .. } | Window::Binomial { .. } => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_of_a_window_makes_it_active() {
        for size in 1..=9 {
            for row in 10..30 {
                let windows = active_windows(1 << row, size);
                let expected = (0..64).filter(|first| (*first..first + size).contains(&row));
                assert_eq!(windows, expected.map(|first| 1 << first).sum(), "row {row} of {size}");
            }
        }
        assert_eq!(active_windows(0, 5), 0);
    }
}
