//! The rows between samples and peaks.

use harris_core::config::BOX_GRADIENT_APERTURES;
use harris_core::{Gradient, HarrisConfig, Smoothing};

use super::float_tiles;
use super::loud::{Heard, Loud};
use super::peaks::{Maxima, Peaks};
use super::responses::{RING, Responses, boxed};
use super::tiles::{self, Block, Kept};
use super::weighted::DOWN;
use super::{MOST_RADIUS, MOST_WINDOW, NEAR};

/// Columns of a strip: the number that measured best (docs/log/cpu.md). The rows that a kernel uses together fit in the
/// first cache, those of all rings in the second.
pub(super) const STRIP: usize = 1024;
/// Elements before the strip's first column: its halo, rounded up to whole vectors.
pub(super) const LEAD: usize = 128;
/// Elements of a row: lead, strip, halo, and what a last vector reads beyond it. Rows are 2688, 5376 or 10752 bytes apart,
/// so that the few that a kernel uses together do not lie a multiple of 4096 bytes apart, where a load would wait for an
/// unrelated store.
pub(super) const ROW: usize = LEAD + STRIP + 192;

const _: () = assert!(ROW.is_multiple_of(64));

/// The greatest support, of smoothing, gradient and window, that a strip has room for: beyond it lie what suppression reaches, and
/// running sums of box gradients and whole vectors.
pub(super) const MOST_SUPPORT: usize = {
    let boxes = (*BOX_GRADIENT_APERTURES.end() / 2) as usize;
    LEAD - MOST_RADIUS - boxes - 1 - 16
};
// Widest windows and box gradients after a binomial.
const _: () = assert!(MOST_SUPPORT >= 2 + (*BOX_GRADIENT_APERTURES.end() / 2) as usize + MOST_WINDOW);
const _: () = assert!(LEAD + STRIP + LEAD <= ROW);

/// Rows of a block of tiles at most.
pub(super) const BLOCK: usize = 47;
// The rows around those that are collected together are all there; at the bottom of the image as many more are collected as the radius has.
const _: () = assert!(BLOCK + 2 * MOST_RADIUS < RING && BLOCK + MOST_RADIUS + 2 * NEAR < RING);

/// Samples of a row that tiles read: strip, halo, and what the last tile reads beyond it.
pub(super) const SAMPLES: usize = STRIP + 192;

/// Elements of a row of sums of pairs. Six of them are added to side by side: they are as far apart, modulo 4096 bytes, as six can be.
const SUMS: usize = 1024 + 11 * 16;
const _: () = assert!(ROW / 2 <= SUMS);

/// A row of 16-bit integers, of sums of pairs of columns. Their lengths are constants, so that the bounds
/// of a kernel's loads are checked once for all of its rows.
pub(super) type Row16 = [i16; ROW];
pub(super) type SumRow = [i32; SUMS];
pub(super) type FloatRow = [f32; ROW];
pub(super) type IntegerRow = [i32; ROW];
pub(super) type WideRow = [f64; ROW];

/// A row aligned to cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Aligned<T, const LENGTH: usize>(pub(super) [T; LENGTH]);

/// Rows of one kind.
#[derive(Debug)]
pub(super) struct Rows<T, const LENGTH: usize>(Vec<Aligned<T, LENGTH>>);

impl<T: Copy, const LENGTH: usize> Rows<T, LENGTH> {
    /// Makes room for `number` rows.
    pub(super) fn reserve(&mut self, number: usize)
    where
        T: Default,
    {
        if self.0.len() < number {
            *self = Self::new(number, T::default());
        }
    }

    /// `number` rows of a value.
    fn new(number: usize, value: T) -> Self {
        Self(vec![Aligned([value; LENGTH]); number])
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &[T; LENGTH] {
        &self.0[i].0
    }

    #[inline(always)]
    pub(super) fn row_mut(&mut self, i: usize) -> &mut [T; LENGTH] {
        &mut self.0[i].0
    }

    /// `N` rows from row `i` on.
    pub(super) fn rows_mut<const N: usize>(&mut self, i: usize) -> [&mut [T; LENGTH]; N] {
        let rows: &mut [_; N] = (&mut self.0[i..i + N]).try_into().expect("a slice of N");
        rows.each_mut().map(|row| &mut row.0)
    }
}

impl<T, const LENGTH: usize> Default for Rows<T, LENGTH> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

pub(super) type Rows16 = Rows<i16, ROW>;
pub(super) type SumRows = Rows<i32, SUMS>;
pub(super) type FloatRows = Rows<f32, ROW>;
pub(super) type SampleRows = Rows<u8, SAMPLES>;

/// The scratch memory of one thread: about 700 KiB, of which a walk uses what it needs, and what a configuration adds.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Samples summed down the columns; one row.
    pub(super) column_sums: Rows16,
    /// Smoothed rows y − 1 to y + 1; rings of 3, one a channel.
    pub(super) smoothed: Rows16,
    /// Weighted sums and differences of three smoothed rows; two rows.
    pub(super) lines: [Rows16; 2],
    /// gx and gy of the rows in the window and the one that leaves it; rings, one a channel.
    pub(super) gradients: [Rows16; 2],
    /// A row of zeros.
    pub(super) zero: Rows16,
    /// Of gx², gx·gy, gy², summed down the window: pairs of columns, and odd columns alone; one row each. For wide windows, running
    /// sums across of these: up to and with each odd column, and each even one.
    pub(super) sums: SumRows,
    pub(super) responses: Responses,
    /// For collecting peaks.
    pub(super) maxima: [Maxima; RING],
    /// A block of samples, a row for each channel; of the walk by rows, those that are smoothed together.
    pub(super) samples: SampleRows,
    /// Samples of a row of nothing as wide as the image, where one is needed.
    pub(super) nothing: Vec<u8>,
    /// What turns gy in each column, 1 or −1.
    pub(super) signs: [i16; SAMPLES],
    /// What tiles keep from block to block, and the gradients of one.
    pub(super) kept: Vec<Kept>,
    pub(super) tile: Box<[Block; 3]>,
    /// Of tiles of floats, by their samples.
    pub(super) tiles_of_u8: float_tiles::Memory<u8>,
    pub(super) tiles_of_u16: float_tiles::Memory<u16>,
    pub(super) tiles_of_f32: float_tiles::Memory<f32>,
    /// Of the walk by floats.
    pub(super) floats: Floats,
    pub(crate) found: Peaks,
    /// Whether a sample was not valid: then nothing else here means anything.
    pub(crate) is_invalid: bool,
}

/// The rows of the walk by floats; those of rings one ring a channel, by y mod its length.
#[derive(Debug, Default)]
pub(super) struct Floats {
    /// Samples, or what a Gaussian smoothing made of them down; one row.
    pub(super) taken: FloatRows,
    /// Samples summed across; rings of 5. For a Gaussian smoothing, samples; rings of its size, and a row of zeros behind them.
    pub(super) across: FloatRows,
    /// Smoothed samples; one row. For Gaussian derivatives, rings of their size, and a row of zeros behind them.
    pub(super) smoothed: FloatRows,
    /// For Gaussian derivatives, weighted down by the Gaussian, and by its derivative; one row.
    pub(super) derived: [FloatRows; 2],
    /// Differences and weighted sums across of smoothed rows; rings of 3.
    pub(super) differences: FloatRows,
    pub(super) sums: FloatRows,
    /// Smoothed rows as integers, for box gradients of radius h; rings of 2h + 2.
    pub(super) whole: Rows<i32, ROW>,
    /// Sums of boxes down the columns and their differences; one row a channel.
    pub(super) boxes: [Rows<i32, ROW>; 2],
    /// Their running sums across; one row.
    pub(super) running_boxes: [Rows<i32, ROW>; 2],
    /// gx and gy; rings of the window's rows and the one that leaves it, each with a row of zeros behind it; or one row where products are
    /// made of them at once.
    pub(super) gradients: [FloatRows; 2],
    /// Where they are great: a ring as long as those of gradients or products, and a row of silence behind it.
    pub(super) heard: Vec<Heard>,
    /// Products, and their sums down the columns, of float windows: one ring and a row of zeros behind it; the rows that are summed
    /// together.
    pub(super) products: [FloatRows; 3],
    pub(super) sums_down: [FloatRows; 3],
    /// The rows in a ring that are summed.
    pub(super) slots: Vec<usize>,
    /// Exact sums down the columns, and their running sums across; one row.
    pub(super) wide_sums: [Rows<f64, ROW>; 3],
    /// Which of them are of the last row.
    pub(super) summed: Loud,
    pub(super) wide_running: [Rows<f64, ROW>; 3],
    /// Rows of zeros.
    pub(super) zero: FloatRows,
    pub(super) whole_zero: Rows<i32, ROW>,
}

impl Floats {
    /// Makes room for the rows of a configuration, in which nothing is heard yet, nor summed.
    pub(super) fn reserve(&mut self, config: &HarrisConfig, channels: usize, (is_wide, ring): (bool, usize)) {
        for rows in [&mut self.taken, &mut self.smoothed, &mut self.zero] {
            rows.reserve(1);
        }
        match config.smoothing() {
            Smoothing::None => {}
            Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => {
                self.across.reserve(5 * channels);
            }
            Smoothing::Gaussian { size, .. } => reserve_rings(&mut self.across, size as usize * channels),
        }
        match config.gradient() {
            Gradient::Box { size } => {
                self.whole.reserve((size as usize + 1) * channels);
                self.boxes.iter_mut().for_each(|rows| rows.reserve(channels));
                self.running_boxes.iter_mut().for_each(|rows| rows.reserve(1));
                self.whole_zero.reserve(1);
            }
            Gradient::GaussianDerivative { size, .. } => {
                reserve_rings(&mut self.smoothed, size as usize * channels);
                self.derived.iter_mut().for_each(|rows| rows.reserve(1));
            }
            Gradient::Sobel3
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Scharr3
            | Gradient::Central => {
                self.differences.reserve(3 * channels);
                self.sums.reserve(3 * channels);
            }
        }
        self.heard.clear();
        self.heard.resize(ring + 1, Heard::NONE);
        self.summed = Loud::NONE;
        if is_wide {
            for rows in &mut self.gradients {
                rows.reserve((ring + 1) * channels);
                (0..channels).for_each(|channel| rows.row_mut(channel * (ring + 1) + ring).fill(0.0));
            }
            self.wide_sums.iter_mut().for_each(|rows| rows.reserve(1));
            self.wide_running.iter_mut().for_each(|rows| rows.reserve(1));
        } else {
            self.gradients.iter_mut().for_each(|rows| rows.reserve(1));
            self.products.iter_mut().for_each(|rows| reserve_rings(rows, ring));
            self.sums_down.iter_mut().for_each(|rows| rows.reserve(DOWN));
        }
    }
}

/// Makes room for `number` rows in all rings, and for a row of zeros behind them.
fn reserve_rings(rows: &mut FloatRows, number: usize) {
    rows.reserve(number + 1);
    rows.row_mut(number).fill(0.0);
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            column_sums: Rows::new(1, 0),
            smoothed: Rows::new(0, 0),
            lines: [Rows::new(1, 0), Rows::new(1, 0)],
            gradients: [Rows::new(0, 0), Rows::new(0, 0)],
            zero: Rows::new(1, 0),
            sums: Rows::new(6, 0),
            responses: Responses::default(),
            maxima: [Maxima::default(); RING],
            samples: Rows::new(0, 0),
            nothing: Vec::new(),
            signs: [1; SAMPLES],
            kept: Vec::new(),
            tile: boxed(tiles::NO_GRADIENTS),
            tiles_of_u8: float_tiles::Memory::default(),
            tiles_of_u16: float_tiles::Memory::default(),
            tiles_of_f32: float_tiles::Memory::default(),
            floats: Floats::default(),
            found: Peaks::default(),
            is_invalid: false,
        }
    }
}

impl Scratch {
    /// Begins an image, as one of some threads that share it.
    pub(crate) fn begin(&mut self, config: &HarrisConfig, thread: (usize, usize)) {
        self.found.begin(config, thread);
        self.is_invalid = false;
    }

    /// Makes room for so many rows of smoothed samples, of gradients, and of samples of channels.
    pub(super) fn reserve(&mut self, [smoothed, gradients, samples]: [usize; 3]) {
        self.smoothed.reserve(smoothed);
        self.gradients.iter_mut().for_each(|rows| rows.reserve(gradients));
        self.samples.reserve(samples);
    }
}
