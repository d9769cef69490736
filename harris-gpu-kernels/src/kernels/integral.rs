//! Integral images: prefix sums along rows by warps, then along columns in bands of rows.

use core::array;

use crate::simt::WARP;
use crate::{Simt, Word};

/// Segments of a row that a warp scans at once, so that their loads overlap.
const SEGMENTS: usize = 4;

pub(crate) fn integral_rows_u8<S: Simt>(
    s: S,
    image: S::Buffer<u8>,
    sums: S::Buffer<u32>,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
    pitch: u32,
) {
    row_sums(s, image, sums, width, height, channels, stride, pitch, u32::from);
}

pub(crate) fn integral_rows_u16<S: Simt>(
    s: S,
    image: S::Buffer<u16>,
    sums: S::Buffer<u32>,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
    pitch: u32,
) {
    row_sums(s, image, sums, width, height, channels, stride, pitch, u32::from);
}

pub(crate) fn integral_rows_f32<S: Simt>(
    s: S,
    image: S::Buffer<f32>,
    sums: S::Buffer<u32>,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
    pitch: u32,
) {
    // From 2²³ on floats are integers, so the addition rounds to nearest, ties to even.
    let level = |sample: f32| (sample * 65535.0 + 8_388_608.0).to_bits() & 0x7F_FFFF;
    row_sums(s, image, sums, width, height, channels, stride, pitch, level);
}

/// Prefix sums of gray levels along rows, a row a warp: the sum before each column.
#[inline(always)]
fn row_sums<S: Simt, T: Word>(
    s: S,
    image: S::Buffer<T>,
    sums: S::Buffer<u32>,
    width: u32,
    height: u32,
    channels: u32,
    stride: u64,
    pitch: u32,
    level: impl Fn(T) -> u32,
) {
    let y = s.index() / WARP;
    if y >= height {
        return;
    }
    let from = y as usize * stride as usize;
    let to = (y as usize + 1) * pitch as usize;
    if s.lane() == 0 {
        s.store(sums, to, 0);
    }
    let sample = |i: usize| level(s.load_constant(image, from + i));
    let mut before = 0_u32;
    let mut start = 0;
    while start < width {
        let levels: [u32; SEGMENTS] = array::from_fn(|segment| {
            let x = start + segment as u32 * WARP + s.lane();
            match (x < width, channels) {
                (false, _) => 0,
                (true, 1) => sample(x as usize),
                (true, _) => {
                    let first = 3 * x as usize;
                    (sample(first) + sample(first + 1) + sample(first + 2) + 1) / 3
                }
            }
        });
        let scanned = levels.map(|level| scan(s, level));
        for segment in 0..SEGMENTS {
            let sum = scanned[segment];
            let x = start + segment as u32 * WARP + s.lane();
            if x < width {
                s.store(sums, to + x as usize + 1, before.wrapping_add(sum));
            }
            before = before.wrapping_add(s.shuffle(sum, WARP - 1));
        }
        start += SEGMENTS as u32 * WARP;
    }
}

/// Inclusive prefix sum over the lanes of a warp.
#[inline(always)]
fn scan<S: Simt>(s: S, word: u32) -> u32 {
    let mut sum = word;
    let mut delta = 1;
    while delta < WARP {
        let below = s.shuffle_up(sum, delta);
        if s.lane() >= delta {
            sum = sum.wrapping_add(below);
        }
        delta *= 2;
    }
    sum
}

/// The rows `first..end` of the block's band, as rows of the integral image: the first row of
/// pixels is 1.
#[inline(always)]
fn band<S: Simt>(s: S, height: u32, band: u32) -> (u32, u32) {
    let first = s.block_row() * band + 1;
    (first, (first + band).min(height + 1))
}

/// Sums of each column over the rows of each band.
pub(crate) fn integral_bands<S: Simt>(
    s: S,
    sums: S::Buffer<u32>,
    bands: S::Buffer<u32>,
    width: u32,
    height: u32,
    pitch: u32,
    rows: u32,
) {
    let x = s.index();
    if x > width {
        return;
    }
    let (first, end) = band(s, height, rows);
    let mut total = 0_u32;
    for y in first..end {
        total = total.wrapping_add(s.load_constant(sums, y as usize * pitch as usize + x as usize));
    }
    s.store(bands, s.block_row() as usize * pitch as usize + x as usize, total);
}

/// Prefix sums along columns: adds the sums of all rows above, from the sums of bands.
pub(crate) fn integral_columns<S: Simt>(
    s: S,
    sums: S::Buffer<u32>,
    bands: S::Buffer<u32>,
    width: u32,
    height: u32,
    pitch: u32,
    rows: u32,
) {
    let x = s.index();
    if x > width {
        return;
    }
    if s.block_row() == 0 {
        s.store(sums, x as usize, 0);
    }
    let mut above = 0_u32;
    for before in 0..s.block_row() {
        above = above.wrapping_add(s.load_constant(bands, before as usize * pitch as usize + x as usize));
    }
    let (first, end) = band(s, height, rows);
    for y in first..end {
        let i = y as usize * pitch as usize + x as usize;
        above = above.wrapping_add(s.load(sums, i));
        s.store(sums, i, above);
    }
}

/// An integral image; coordinates outside are clamped to its edges.
#[derive(Clone, Copy)]
pub(crate) struct Sums<S: Simt> {
    s: S,
    sums: S::Buffer<u32>,
    width: u32,
    height: u32,
    pitch: u32,
}

impl<S: Simt> Sums<S> {
    #[inline(always)]
    pub(crate) fn new(s: S, sums: S::Buffer<u32>, width: u32, height: u32, pitch: u32) -> Self {
        Self { s, sums, width, height, pitch }
    }

    /// The column nearest to `x` inside the image.
    #[inline(always)]
    pub(crate) fn column(self, x: i32) -> u32 {
        x.clamp(0, self.width as i32) as u32
    }

    /// Index of the first sum of the row nearest to `y` inside the image.
    #[inline(always)]
    pub(crate) fn row(self, y: i32) -> usize {
        y.clamp(0, self.height as i32) as usize * self.pitch as usize
    }

    /// The sum at a row and a column that [`Sums::row`] and [`Sums::column`] returned.
    #[inline(always)]
    pub(crate) fn at(self, row: usize, column: u32) -> u32 {
        self.s.load_constant(self.sums, row + column as usize)
    }
}
