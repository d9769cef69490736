//! Peaks between layers.

use std::ops::Range;

use harris_core::fast_hessian::{Cube, Pyramid, Triple, is_peak, offset};
use harris_core::{Error, Keypoint, Raster, memory};

use super::responses::hessian;
use crate::buffers::spread_pitch;
use crate::integral::Sums;
use crate::simd::{Simd, SimdKernel, WithSimd};

/// The layers that are searched.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) pyramid: &'a Pyramid,
    pub(super) sums: &'a Sums,
    /// Determinants of each layer, rows apart by `spread_pitch`.
    pub(super) responses: &'a [Vec<f32>],
    pub(super) mask: Option<Raster<'a, u8>>,
    pub(super) threshold: f32,
}

/// Some rows of a triple of layers.
pub(super) struct Rows<'a> {
    pub(super) search: Search<'a>,
    pub(super) triple: &'a Triple,
    pub(super) rows: Range<usize>,
}

impl WithSimd for Rows<'_> {
    type Output = Result<(Vec<Keypoint>, usize), Error>;

    /// Returns the keypoints, in no order, and the number of rejected peaks.
    fn with<V: Simd>(self, v: V) -> Result<(Vec<Keypoint>, usize), Error> {
        let Self { search, triple, rows } = self;
        let pyramid = search.pyramid;
        let (columns, _) = pyramid.search_range(triple);
        let width = pyramid.layers[triple.middle].width;
        let stride = pyramid.stride(triple, triple.middle);
        let (responses, pitch) = (&search.responses[triple.middle], spread_pitch(width));
        let threshold = search.threshold;
        let place = |i: usize| pyramid.place(triple, triple.middle, i);
        // The octave's own layers number samples as the octave does.
        let in_vectors = stride == 1 && place(0) == 0 && columns.len() >= V::LANES;
        // A row's candidates at most.
        let mut candidates = Vec::new();
        memory::reserve_exact(&mut candidates, columns.len())?;
        let (mut found, mut rejected) = (Vec::new(), 0);
        for row in rows {
            let line = |row: usize| &responses[place(row) * pitch..][..width];
            let (above, middle, below) = (line(row - 1), line(row), line(row + 1));
            candidates.clear();
            let columns = columns.clone();
            if in_vectors {
                let candidates = &mut candidates;
                v.enter(Candidates { above, middle, below, columns, threshold, candidates });
            } else {
                let first = place(columns.start);
                candidates.extend(columns.clone().filter(|column| {
                    let i = first + (column - columns.start) * stride;
                    let value = middle[i];
                    value > threshold
                        && value > middle[i - stride]
                        && value > middle[i + stride]
                        && value > above[i]
                        && value > below[i]
                }));
            }
            for &column in &candidates {
                memory::reserve(&mut found, 1)?;
                match search.peak(triple, column, row) {
                    Some(Peak::Keypoint(keypoint)) => found.push(keypoint),
                    Some(Peak::Rejected) => rejected += 1,
                    None => {}
                }
            }
        }
        Ok((found, rejected))
    }
}

/// The place of a peak between samples.
enum Peak {
    Keypoint(Keypoint),
    /// It is half a sample or more away from its sample.
    Rejected,
}

/// Finds columns whose determinants exceed the threshold and those of their four neighbours.
struct Candidates<'a> {
    above: &'a [f32],
    middle: &'a [f32],
    below: &'a [f32],
    /// At least as many columns as a vector has lanes, without the row's first and last.
    columns: Range<usize>,
    threshold: f32,
    candidates: &'a mut Vec<usize>,
}

impl SimdKernel for Candidates<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { above, middle, below, columns, threshold, candidates } = self;
        let least = v.splat_f32(threshold);
        let mut start = columns.start;
        while start < columns.end {
            // The last vector begins earlier; columns that were searched do not count again.
            let i = start.min(columns.end - V::LANES);
            let value = v.load_f32(middle, i);
            let across = v.max(v.load_f32(middle, i - 1), v.load_f32(middle, i + 1));
            let down = v.max(v.load_f32(above, i), v.load_f32(below, i));
            let mut bits = v.greater(value, v.max(least, v.max(across, down)));
            bits &= u32::MAX << (start - i);
            while bits != 0 {
                candidates.push(i + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
            start = i + V::LANES;
        }
    }
}

impl Search<'_> {
    /// The peak at a sample, if there is one that the mask allows.
    fn peak(&self, triple: &Triple, column: usize, row: usize) -> Option<Peak> {
        let (x, y) = (triple.pixel(column), triple.pixel(row));
        let neighbourhood = |layer: usize| -> [[f32; 3]; 3] {
            let stride = self.pyramid.stride(triple, layer);
            let down = stride * spread_pitch(self.pyramid.layers[layer].width);
            let line = |start: usize| {
                let values = &self.responses[layer][start..=start + 2 * stride];
                [values[0], values[stride], values[2 * stride]]
            };
            let [above, before] = [row - 1, column - 1].map(|i| self.pyramid.place(triple, layer, i));
            let first = above * spread_pitch(self.pyramid.layers[layer].width) + before;
            [line(first), line(first + down), line(first + 2 * down)]
        };
        let middle = neighbourhood(triple.middle);
        let value = middle[1][1];
        // Most determinants do not exceed these.
        let not_below = |values: &[[f32; 3]; 3]| values.as_flattened().iter().any(|other| *other >= value);
        let [bottom, top] = [neighbourhood(triple.bottom), neighbourhood(triple.top)];
        if not_below(&bottom) || not_below(&top) {
            return None;
        }
        let cube: Cube = [bottom, middle, top];
        if !is_peak(&cube) || self.mask.is_some_and(|mask| mask.row(y)[x] == 0) {
            return None;
        }
        let Some(offset) = offset(&cube) else { return Some(Peak::Rejected) };
        let dark = hessian(self.sums, self.pyramid.layers[triple.middle].filter, x, y).is_dark();
        let response = if dark { value } else { -value };
        Some(Peak::Keypoint(self.pyramid.keypoint(triple, (column, row), offset, response)))
    }
}
