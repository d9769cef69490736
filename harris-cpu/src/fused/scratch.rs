//! The rows between samples and peaks.

use super::{MOST_RADIUS, MOST_WINDOW};

/// Columns of a strip: the number that measured best (BENCHMARKING.md). The rows that a kernel uses together fit in the
/// first cache, those of all rings in the second.
pub(super) const STRIP: usize = 512;
/// Elements before the strip's first column: its halo, rounded up to whole vectors.
pub(super) const LEAD: usize = 128;
/// Elements of a row: lead, strip, halo, and what a last vector reads beyond it. Rows are 2688 or 5376 bytes apart, so
/// that no two that a kernel uses together lie a multiple of 4096 bytes apart, where a load would wait for an
/// unrelated store.
const ROW: usize = LEAD + STRIP + 192;

const _: () = assert!(ROW.is_multiple_of(64));

// 2 columns of smoothing, 1 of gradient, window, suppression.
const _: () = assert!(2 + 1 + MOST_WINDOW + MOST_RADIUS < LEAD);

/// Rows of responses that wait to be collected: a block of tiles and what suppression looks at around it; a power of
/// two.
pub(super) const RING: usize = 64;
/// Rows of a block of tiles at most.
pub(super) const BLOCK: usize = 35;
const _: () = assert!(BLOCK + 2 * MOST_RADIUS < RING);

/// Samples of a row that tiles read: strip, halo, and what the last tile reads beyond it.
pub(super) const SAMPLES: usize = STRIP + 192;

/// A row of 16-bit integers, of sums of pairs of columns, of responses. Their lengths are constants, so that the bounds
/// of a kernel's loads are checked once for all of its rows.
pub(super) type Row16 = [i16; ROW];
pub(super) type SumRow = [i32; ROW / 2];
pub(super) type ResponseRow = [f32; ROW];
/// Marks of candidates: words of up to 64 neighbouring columns each ([`Words`]).
pub(super) type Candidates = [u64; 136];

/// Where the columns of [`Candidates`] are in a row of responses: bit i of word j is element `start + step · j + i`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    pub(super) start: usize,
    pub(super) step: usize,
    pub(super) number: usize,
}

/// A row aligned to cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Aligned<T, const LENGTH: usize>(pub(super) [T; LENGTH]);

/// The responses of [`RING`] rows, by y mod that.
#[derive(Debug)]
pub(super) struct ResponseRing(pub(super) Box<[Aligned<f32, ROW>; RING]>);

pub(super) type CandidateRing = Box<[Candidates; RING]>;

/// Rows of one kind.
#[derive(Debug)]
pub(super) struct Rows<T, const LENGTH: usize>(Vec<Aligned<T, LENGTH>>);

impl<T: Copy, const LENGTH: usize> Rows<T, LENGTH> {
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
}

pub(super) type Rows16 = Rows<i16, ROW>;
pub(super) type SumRows = Rows<i32, { ROW / 2 }>;
pub(super) type ResponseRows = Rows<f32, ROW>;
pub(super) type SampleRows = Rows<u8, SAMPLES>;

/// The scratch memory of one band: 95 KiB, and 5 KiB for each row of the window.
#[derive(Debug)]
pub(crate) struct Scratch {
    /// Samples summed down the columns; one row.
    pub(super) column_sums: Rows16,
    /// Smoothed rows y − 1 to y + 1, by y mod 3.
    pub(super) smoothed: Rows16,
    /// Weighted sums and differences of three smoothed rows; two rows.
    pub(super) lines: [Rows16; 2],
    /// gx and gy of the rows in the window and the one that leaves it, by y mod their number.
    pub(super) gradients: [Rows16; 2],
    /// A row of zeros.
    pub(super) zero: Rows16,
    /// Of gx², gx·gy, gy², summed down the window: pairs of columns, and odd columns alone; one row each.
    pub(super) pairs: [SumRows; 3],
    pub(super) odds: [SumRows; 3],
    /// Running sums across of `pairs`, for wide windows.
    pub(super) prefixes: [SumRows; 3],
    /// Responses of the rows in the suppression's neighbourhood, by y mod their number.
    pub(super) responses: ResponseRing,
    /// A row that suppresses nothing.
    pub(super) nothing: ResponseRows,
    /// For each row of `responses`, which are candidates.
    pub(super) candidates: CandidateRing,
    /// A block of samples, a row for each channel.
    pub(super) samples: SampleRows,
    /// What turns gy in each column, 1 or −1.
    pub(super) signs: [i16; SAMPLES],
    /// What tiles keep from block to block.
    pub(super) kept: Vec<i16>,
    pub(super) kept_sums: Vec<i32>,
}

/// On the heap from the start: an array of this size has no place on the stack.
fn boxed<T: Clone + std::fmt::Debug>(row: T) -> Box<[T; RING]> {
    vec![row; RING].try_into().expect("as many rows as asked for")
}

impl Default for Scratch {
    fn default() -> Self {
        let sums = || Rows::new(1, 0);
        Self {
            column_sums: Rows::new(1, 0),
            smoothed: Rows::new(3, 0),
            lines: [Rows::new(1, 0), Rows::new(1, 0)],
            gradients: [Rows::new(0, 0), Rows::new(0, 0)],
            zero: Rows::new(1, 0),
            pairs: [sums(), sums(), sums()],
            odds: [sums(), sums(), sums()],
            prefixes: [sums(), sums(), sums()],
            responses: ResponseRing(boxed(Aligned([0.0; ROW]))),
            nothing: Rows::new(1, f32::NEG_INFINITY),
            candidates: boxed([0; 136]),
            samples: Rows::new(0, 0),
            signs: [1; SAMPLES],
            kept: Vec::new(),
            kept_sums: Vec::new(),
        }
    }
}

impl Scratch {
    /// Makes room for the gradients of a window of `radius`.
    pub(super) fn reserve(&mut self, radius: usize) {
        for rows in &mut self.gradients {
            let number = 2 * radius + 2;
            if rows.0.len() < number {
                *rows = Rows::new(number, 0);
            }
        }
    }

    /// Makes room for tiles: `rows` rows of samples, and `kept` numbers of 16 and of 32 bits, which become zero.
    pub(super) fn reserve_tiles(&mut self, rows: usize, kept: [usize; 2]) {
        if self.samples.0.len() < rows {
            self.samples = Rows::new(rows, 0);
        }
        self.kept.clear();
        self.kept.resize(kept[0], 0);
        self.kept_sums.clear();
        self.kept_sums.resize(kept[1], 0);
    }
}
