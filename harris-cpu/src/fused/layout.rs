//! Where tiles lie in a strip, and what stands for the samples of those that reach beyond the image.

use std::ops::Range;

use harris_core::pipeline::border;
use harris_core::{Border, Raster, Sample};

use super::responses::Words;
use super::scratch::SAMPLES;
use super::tiles::MOST_BOX;
use crate::simd::{Simd, Work};

/// Where the tiles of a strip lie.
pub(super) struct Layout {
    /// In a row of responses.
    pub(super) words: Words,
    /// The column of the first tile's first sample; it may lie beyond the image.
    pub(super) first: isize,
    /// The tiles that read gray samples where they are.
    pub(super) inside: Range<usize>,
    /// From `first` on, the columns that other tiles read: of those before and of those after the ones inside.
    copied: [Copied; 2],
}

/// Columns of samples that are copied, some of which lie beyond the image.
pub(super) struct Copied {
    /// Elements of a row of copies.
    out: Range<usize>,
    /// Of these, the first within the image, and its column; and how many there are.
    inside: usize,
    column: usize,
    number: usize,
    /// Where [`WHOLE`] columns begin that hold all of them, in the image and in a row of copies, if there are as many.
    whole: Option<[usize; 2]>,
    /// The elements beyond the image, and the columns that stand for them, if any.
    beyond: [(usize, Option<usize>); 2 * MOST_SUPPORT],
    beyond_number: usize,
}

/// The greatest support of tiles: smoothing, gradient, window.
const MOST_SUPPORT: usize = 2 + 1 + MOST_BOX;
/// Columns that are copied at once, which is quicker than to copy just those that are asked for.
const WHOLE: usize = 64;

impl Copied {
    fn new(out: Range<usize>, first: isize, width: usize, border: Border) -> Self {
        let (start, end) = (first + out.start as isize, first + out.end as isize);
        let clamped = |x: isize| x.clamp(0, width as isize) as usize;
        let (column, number) = (clamped(start), clamped(end) - clamped(start));
        let inside = out.start + (column as isize - start).clamp(0, out.len() as isize) as usize;
        let from = column.min(width.saturating_sub(WHOLE));
        let to = (inside + from).checked_sub(column).filter(|to| to + WHOLE <= SAMPLES);
        let whole = to.filter(|_| number <= WHOLE && WHOLE <= width).map(|to| [from, to]);
        let mut copied = Self {
            out,
            inside,
            column,
            number,
            whole,
            beyond: [(0, None); 2 * MOST_SUPPORT],
            beyond_number: 0,
        };
        for place in (copied.out.start..inside).chain(inside + number..copied.out.end) {
            copied.beyond[copied.beyond_number] =
                (place, border::inside(border, first + place as isize, width));
            copied.beyond_number += 1;
        }
        copied
    }

    /// Copies a row of gray samples.
    pub(super) fn copy<T: Copy + Default>(&self, row: &[T], out: &mut [T; SAMPLES]) {
        if let Some([from, to]) = self.whole {
            out[to..to + WHOLE].copy_from_slice(&row[from..from + WHOLE]);
        } else {
            let samples = &row[self.column..self.column + self.number];
            out[self.inside..self.inside + self.number].copy_from_slice(samples);
        }
        for &(place, column) in &self.beyond[..self.beyond_number] {
            out[place] = column.map_or_else(T::default, |column| row[column]);
        }
    }

    /// Copies a row of colours, each channel to a row.
    pub(super) fn split<T: Copy + Default, V: Simd>(&self, v: V, row: &[T], out: [&mut [T; SAMPLES]; 3]) {
        for &(place, column) in &self.beyond[..self.beyond_number] {
            for channel in 0..3 {
                out[channel][place] = column.map_or_else(T::default, |column| row[column * 3 + channel]);
            }
        }
        let pixels = row[self.column * 3..].as_chunks().0;
        v.enter(Split { pixels: &pixels[..self.number], out, start: self.inside });
    }

    /// Asks for the cache lines of a row that is to be copied.
    pub(super) fn prefetch<T, V: Simd>(&self, v: V, row: &[T], channels: usize) {
        let end = (self.column + self.number) * channels;
        for i in (self.column * channels..end).step_by(64 / size_of::<T>()) {
            v.prefetch(row, i);
        }
        v.prefetch(row, end - 1);
    }
}

/// Copies pixels, each channel to a row from element `start` on.
pub(super) struct Split<'a, T> {
    pub(super) pixels: &'a [[T; 3]],
    pub(super) out: [&'a mut [T; SAMPLES]; 3],
    pub(super) start: usize,
}

impl<T: Copy> Work for Split<'_, T> {
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

impl Layout {
    /// That of tiles of `tile` columns each that compute `columns`, the first of them element `place` of a row, from samples within
    /// `support` columns of these.
    pub(super) fn new(
        (columns, place): (&Range<usize>, usize),
        (support, border): (usize, Border),
        (tile, lanes): (usize, usize),
        image: &Raster<'_, impl Sample>,
    ) -> Self {
        let width = image.width();
        let number = columns.len().div_ceil(tile);
        let words = Words { start: place, step: tile, number };
        let first = columns.start as isize - support as isize;
        let is_inside = |t: &usize| {
            let sample = first + (t * tile) as isize;
            image.channels() == 1 && sample >= 0 && sample as usize + lanes <= width
        };
        let from = (0..number).find(is_inside).unwrap_or(number);
        let inside = from..from + (from..number).take_while(is_inside).count();
        let read = columns.len() + 2 * support;
        let before = if from == 0 { 0 } else { ((from - 1) * tile + lanes).min(read) };
        let after = if inside.end == number { read } else { inside.end * tile }.min(read)..read;
        let copied = [0..before, after].map(|out| Copied::new(out, first, width, border));
        Self { words, first, inside, copied }
    }

    /// What of the rows is copied.
    pub(super) fn copied(&self) -> impl Iterator<Item = &Copied> {
        self.copied.iter().filter(|copied| !copied.out.is_empty())
    }
}
