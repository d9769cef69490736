//! Peaks between layers.

use std::ops::Range;

use harris_core::fast_hessian::{Cube, Pyramid, Triple, is_peak, offset};
use harris_core::{Keypoint, Raster};

use super::responses::hessian;
use crate::integral::Sums;

/// Determinants that are compared with the threshold at once.
const CHUNK: usize = 32;

/// What is searched.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) pyramid: &'a Pyramid,
    pub(super) sums: &'a Sums,
    /// Determinants of each layer.
    pub(super) responses: &'a [Vec<f32>],
    pub(super) mask: Option<Raster<'a, u8>>,
    pub(super) threshold: f32,
}

impl Search<'_> {
    /// The keypoints of some rows of a triple, in no order.
    pub(super) fn rows(&self, triple: &Triple, rows: Range<usize>) -> Vec<Keypoint> {
        let (columns, _) = self.pyramid.sought(triple);
        let middle = self.pyramid.layers[triple.middle];
        let stride = self.pyramid.stride(triple, triple.middle);
        let mut found = Vec::new();
        for row in rows {
            let start = row * stride * middle.width;
            let line = &self.responses[triple.middle][start..start + middle.width];
            if stride > 1 {
                for column in columns.clone().filter(|column| line[column * stride] > self.threshold) {
                    found.extend(self.keypoint(triple, column, row));
                }
                continue;
            }
            let mut column = columns.start;
            for chunk in line[columns.clone()].chunks(CHUNK) {
                if chunk.iter().fold(false, |any, &value| any | (value > self.threshold)) {
                    for (i, _) in chunk.iter().enumerate().filter(|(_, value)| **value > self.threshold) {
                        found.extend(self.keypoint(triple, column + i, row));
                    }
                }
                column += CHUNK;
            }
        }
        found
    }

    fn keypoint(&self, triple: &Triple, column: usize, row: usize) -> Option<Keypoint> {
        let step = self.pyramid.layers[triple.top].step;
        let (x, y) = (column * step, row * step);
        let cube: Cube = [triple.bottom, triple.middle, triple.top].map(|number| {
            let (stride, width) = (self.pyramid.stride(triple, number), self.pyramid.layers[number].width);
            let responses = &self.responses[number];
            [row - 1, row, row + 1].map(|row| {
                let start = row * stride * width;
                [column - 1, column, column + 1].map(|column| responses[start + column * stride])
            })
        });
        if !is_peak(&cube) || self.mask.is_some_and(|mask| mask.row(y)[x] == 0) {
            return None;
        }
        let offset = offset(&cube)?;
        let dark = hessian(self.sums, self.pyramid.layers[triple.middle].filter, x, y).is_dark();
        let response = if dark { cube[1][1][1] } else { -cube[1][1][1] };
        Some(self.pyramid.keypoint(triple, (column, row), offset, response))
    }
}
