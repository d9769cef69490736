//! The rows of the sweep by rows of floats.

use harris_core::pipeline::{border, taps};
use harris_core::{Border, Error, Gradient, HarrisConfig, Smoothing, Window};

use std::ops::Range;

use super::f32_weighted::ROWS_AT_ONCE;
use crate::rows::{FloatRows, ROW_LENGTH, Rows};
use crate::sweep::gate::{ActiveBlocks, ActiveMask};

/// A thread's memory for this engine. Rings hold row y in slot y mod their length, one ring a
/// channel.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Samples, or their Gaussian sums down; one row.
    pub(super) samples: FloatRows,
    /// Samples summed across; rings of 5. For a Gaussian smoothing samples in rings of its size,
    /// and a row of zeros behind them.
    pub(super) across: FloatRows,
    /// Smoothed samples; one row. For Gaussian derivatives rings of their size, and a row of zeros
    /// behind them.
    pub(super) smoothed: FloatRows,
    /// For Gaussian derivatives, sums down weighted by the Gaussian, and by its derivative; one row
    /// each.
    pub(super) derived: [FloatRows; 2],
    /// Differences across of smoothed rows; rings of 3.
    pub(super) differences: FloatRows,
    /// Weighted sums across of smoothed rows; rings of 3.
    pub(super) sums: FloatRows,
    /// Smoothed rows as integers, for box gradients of radius h; rings of 2h + 2.
    pub(super) integers: Rows<i32, ROW_LENGTH>,
    /// Box sums down the columns, and their differences; one row a channel.
    pub(super) boxes: [Rows<i32, ROW_LENGTH>; 2],
    /// Prefix sums across of these; one row.
    pub(super) box_prefix_sums: [Rows<i32, ROW_LENGTH>; 2],
    /// gx and gy. With exact sums rings of the window's rows and the one that leaves it, each with
    /// a row of zeros behind it; else one row.
    pub(super) gradients: [FloatRows; 2],
    /// Where gradients are active: a ring as long as those of gradients or products, and an empty
    /// mask behind it.
    pub(super) active: Vec<ActiveMask>,
    /// Products of float windows; one ring and a row of zeros behind it.
    pub(super) products: [FloatRows; 3],
    /// Their sums down the columns, of the rows that are summed together.
    pub(super) sums_down: [FloatRows; 3],
    /// The slots of the rows that are summed.
    pub(super) slots: Vec<usize>,
    /// Exact sums down the columns; one row.
    pub(super) exact_sums: [Rows<f64, ROW_LENGTH>; 3],
    /// The blocks of the exact sums that belong to the last row.
    pub(super) summed: ActiveBlocks,
    /// Prefix sums across of the exact sums; one row.
    pub(super) prefix_sums: [Rows<f64, ROW_LENGTH>; 3],
    /// A row of zeros.
    pub(super) zero: FloatRows,
    /// A row of integer zeros.
    pub(super) integer_zero: Rows<i32, ROW_LENGTH>,
}

impl Memory {
    /// Allocates the rows of a configuration, with rings of `ring` rows for the window. No gradient
    /// is active yet, and nothing is summed.
    pub(super) fn begin(
        &mut self,
        config: &HarrisConfig,
        channels: usize,
        (exact, ring): (bool, usize),
    ) -> Result<(), Error> {
        for rows in [&mut self.samples, &mut self.smoothed, &mut self.zero] {
            rows.reserve(1)?;
        }
        match config.smoothing() {
            Smoothing::None => {}
            Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => {
                self.across.reserve(5 * channels)?;
            }
            Smoothing::Gaussian { size, .. } => reserve_rings(&mut self.across, size as usize * channels)?,
        }
        match config.gradient() {
            Gradient::Box { size } => {
                self.integers.reserve((size as usize + 1) * channels)?;
                self.boxes.iter_mut().try_for_each(|rows| rows.reserve(channels))?;
                self.box_prefix_sums.iter_mut().try_for_each(|rows| rows.reserve(1))?;
                self.integer_zero.reserve(1)?;
            }
            Gradient::GaussianDerivative { size, .. } => {
                reserve_rings(&mut self.smoothed, size as usize * channels)?;
                self.derived.iter_mut().try_for_each(|rows| rows.reserve(1))?;
            }
            Gradient::Sobel3
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Scharr3
            | Gradient::Central => {
                self.differences.reserve(3 * channels)?;
                self.sums.reserve(3 * channels)?;
            }
        }
        self.active.clear();
        self.active.resize(ring + 1, ActiveMask::NONE);
        self.summed = ActiveBlocks::NONE;
        if exact {
            for rows in &mut self.gradients {
                rows.reserve((ring + 1) * channels)?;
                (0..channels).for_each(|channel| rows.row_mut(channel * (ring + 1) + ring).fill(0.0));
            }
            self.exact_sums.iter_mut().try_for_each(|rows| rows.reserve(1))?;
            self.prefix_sums.iter_mut().try_for_each(|rows| rows.reserve(1))?;
        } else {
            self.gradients.iter_mut().try_for_each(|rows| rows.reserve(1))?;
            self.products.iter_mut().try_for_each(|rows| reserve_rings(rows, ring))?;
            self.sums_down.iter_mut().try_for_each(|rows| rows.reserve(ROWS_AT_ONCE))?;
        }
        Ok(())
    }
}

/// Allocates `row_count` rows for all rings, and a row of zeros behind them.
fn reserve_rings(rows: &mut FloatRows, row_count: usize) -> Result<(), Error> {
    rows.reserve(row_count + 1)?;
    rows.row_mut(row_count).fill(0.0);
    Ok(())
}

/// The taps of Gaussians, where a configuration has any.
#[derive(Default)]
pub(super) struct StageTaps {
    pub(super) smoothing: Vec<f32>,
    /// The Gaussian and its derivative.
    pub(super) gradient: [Vec<f32>; 2],
    pub(super) window: Vec<f32>,
}

impl StageTaps {
    pub(super) fn new(config: &HarrisConfig) -> Self {
        let mut all = Self::default();
        if let Smoothing::Gaussian { size, sigma } = config.smoothing() {
            all.smoothing = taps::gaussian(size, sigma);
        }
        if let Gradient::GaussianDerivative { size, sigma } = config.gradient() {
            all.gradient = [taps::gaussian(size, sigma), taps::gaussian_derivative(size, sigma)];
        }
        if let Window::Gaussian { size, sigma } = config.window() {
            all.window = taps::gaussian(size, sigma);
        }
        all
    }
}

/// Sets `slots` to those of rows of an image of `height`, in a ring of `length` rows from slot
/// `first` on. Rows that nothing stands for are the zeros in slot `zeros`.
pub(super) fn fill_slots(
    slots: &mut Vec<usize>,
    rows: Range<isize>,
    (rule, height): (Border, usize),
    (first, length, zeros): (usize, usize, usize),
) {
    slots.clear();
    // The row after the last one, and its slot: most rows follow one another, which spares the
    // division.
    let (mut next, mut next_slot) = (usize::MAX, 0);
    slots.extend(rows.map(|y| {
        border::inside(rule, y, height).map_or(zeros, |y| {
            let own = if y == next { next_slot } else { y % length };
            (next, next_slot) = (y + 1, if own + 1 == length { 0 } else { own + 1 });
            first + own
        })
    }));
}

/// The 2 · radius + 1 rows around row y, and around the `together` − 1 rows behind it.
pub(super) fn rows_around(y: usize, radius: usize, together: usize) -> Range<isize> {
    let (y, radius) = (y as isize, radius as isize);
    y - radius..y + radius + together as isize
}

/// Row y of a channel in rings of `ring_rows` rows, one a channel; zeros where nothing stands for
/// it.
pub(super) fn of_ring<'a, T: Copy, const LENGTH: usize>(
    rows: &'a Rows<T, LENGTH>,
    channel: usize,
    ring_rows: usize,
    y: Option<usize>,
    zero: &'a Rows<T, LENGTH>,
) -> &'a [T; LENGTH] {
    y.map_or(zero.row(0), |y| rows.row(channel * ring_rows + y % ring_rows))
}
