//! Where tiles lie in a strip, and copies of the samples around the image's edges.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, Raster, Sample};

use crate::peaks::ring::WordLayout;
use crate::plan::MAX_TILE_BOX_RADIUS;
use crate::rows::SAMPLE_ROW_LENGTH;
use crate::simd::{Simd, SimdKernel};

/// Where the tiles of a strip lie.
pub(crate) struct TileLayout {
    /// The tiles as words of a row of responses.
    pub(crate) words: WordLayout,
    /// The column of the first tile's first sample; it may lie beyond the image.
    pub(crate) first: isize,
    /// The tiles that read gray samples from the image itself; others read copies.
    pub(crate) inside: Range<usize>,
    /// The columns that the tiles before and behind these read, from `first` on.
    halos: [HaloColumns; 2],
}

/// Columns of samples that are copied, some of which lie beyond the image.
pub(crate) struct HaloColumns {
    /// Elements of a row of copies.
    out: Range<usize>,
    /// The first of these within the image.
    inside: usize,
    /// The column of that element.
    column: usize,
    /// Elements within the image.
    inside_len: usize,
    /// Where [`COPIED_COLUMNS`] columns with all of them begin in the image and in a row of copies,
    /// if the image has so many.
    bulk: Option<[usize; 2]>,
    /// The elements beyond the image, and the columns that stand for them, if any.
    beyond: [(usize, Option<usize>); 2 * MAX_SUPPORT],
    beyond_count: usize,
}

/// The greatest support radius of tiles: smoothing, gradient, window.
const MAX_SUPPORT: usize = 2 + 1 + MAX_TILE_BOX_RADIUS;
/// Columns that are copied at once, which is faster than to copy just those that are needed.
const COPIED_COLUMNS: usize = 64;

impl HaloColumns {
    fn new(out: Range<usize>, first: isize, width: usize, border: Border) -> Self {
        let (start, end) = (first + out.start as isize, first + out.end as isize);
        let clamped = |x: isize| x.clamp(0, width as isize) as usize;
        let (column, inside_len) = (clamped(start), clamped(end) - clamped(start));
        let inside = out.start + (column as isize - start).clamp(0, out.len() as isize) as usize;
        let from = column.min(width.saturating_sub(COPIED_COLUMNS));
        let to = (inside + from).checked_sub(column).filter(|to| to + COPIED_COLUMNS <= SAMPLE_ROW_LENGTH);
        let bulk =
            to.filter(|_| inside_len <= COPIED_COLUMNS && COPIED_COLUMNS <= width).map(|to| [from, to]);
        let mut halo = Self {
            out,
            inside,
            column,
            inside_len,
            bulk,
            beyond: [(0, None); 2 * MAX_SUPPORT],
            beyond_count: 0,
        };
        for place in (halo.out.start..inside).chain(inside + inside_len..halo.out.end) {
            halo.beyond[halo.beyond_count] = (place, border::inside(border, first + place as isize, width));
            halo.beyond_count += 1;
        }
        halo
    }

    /// Copies a row of gray samples.
    pub(crate) fn copy<T: Copy + Default>(&self, row: &[T], out: &mut [T; SAMPLE_ROW_LENGTH]) {
        if let Some([from, to]) = self.bulk {
            out[to..to + COPIED_COLUMNS].copy_from_slice(&row[from..from + COPIED_COLUMNS]);
        } else {
            let samples = &row[self.column..self.column + self.inside_len];
            out[self.inside..self.inside + self.inside_len].copy_from_slice(samples);
        }
        for &(place, column) in &self.beyond[..self.beyond_count] {
            out[place] = column.map_or_else(T::default, |column| row[column]);
        }
    }

    /// Copies a row of colours, each channel to a row.
    pub(crate) fn split<T: Copy + Default, V: Simd>(
        &self,
        v: V,
        row: &[T],
        out: [&mut [T; SAMPLE_ROW_LENGTH]; 3],
    ) {
        for &(place, column) in &self.beyond[..self.beyond_count] {
            for channel in 0..3 {
                out[channel][place] = column.map_or_else(T::default, |column| row[column * 3 + channel]);
            }
        }
        let pixels = row[self.column * 3..].as_chunks().0;
        v.enter(SplitChannels { pixels: &pixels[..self.inside_len], out, start: self.inside });
    }

    /// Prefetches the cache lines of a row that is copied later.
    pub(crate) fn prefetch<T, V: Simd>(&self, v: V, row: &[T], channels: usize) {
        let end = (self.column + self.inside_len) * channels;
        for i in (self.column * channels..end).step_by(64 / size_of::<T>()) {
            v.prefetch(row, i);
        }
        v.prefetch(row, end - 1);
    }
}

/// Copies the channels of pixels to a row each, from element `start` on.
pub(crate) struct SplitChannels<'a, T> {
    pub(crate) pixels: &'a [[T; 3]],
    pub(crate) out: [&'a mut [T; SAMPLE_ROW_LENGTH]; 3],
    pub(crate) start: usize,
}

impl<T: Copy> SimdKernel for SplitChannels<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, _: V) {
        let Self { pixels, out: [red, green, blue], start } = self;
        let place = start..start + pixels.len();
        let (red, green, blue) = (&mut red[place.clone()], &mut green[place.clone()], &mut blue[place]);
        for (((pixel, red), green), blue) in pixels.iter().zip(red).zip(green).zip(blue) {
            (*red, *green, *blue) = (pixel[0], pixel[1], pixel[2]);
        }
    }
}

impl TileLayout {
    /// Tiles of `tile` columns that compute `columns`, the first of which is element `place` of a
    /// row.
    ///
    /// A tile reads `lanes` samples; a response depends on samples within `support` columns.
    pub(crate) fn new(
        (columns, place): (&Range<usize>, usize),
        (support, border): (usize, Border),
        (tile, lanes): (usize, usize),
        image: &Raster<'_, impl Sample>,
    ) -> Self {
        let width = image.width();
        let count = columns.len().div_ceil(tile);
        let words = WordLayout { start: place, step: tile, count };
        let first = columns.start as isize - support as isize;
        let is_inside = |t: &usize| {
            let sample = first + (t * tile) as isize;
            image.channels() == 1 && sample >= 0 && sample as usize + lanes <= width
        };
        let from = (0..count).find(is_inside).unwrap_or(count);
        let inside = from..from + (from..count).take_while(is_inside).count();
        let read = columns.len() + 2 * support;
        let before = if from == 0 { 0 } else { ((from - 1) * tile + lanes).min(read) };
        let after = if inside.end == count { read } else { inside.end * tile }.min(read)..read;
        let halos = [0..before, after].map(|out| HaloColumns::new(out, first, width, border));
        Self { words, first, inside, halos }
    }

    /// The columns that are copied.
    pub(crate) fn halos(&self) -> impl Iterator<Item = &HaloColumns> {
        self.halos.iter().filter(|halo| !halo.out.is_empty())
    }
}
