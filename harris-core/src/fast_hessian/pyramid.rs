//! Which filters are taken where, and which of them are compared.

use std::ops::Range;

use super::{FastHessianConfig, Offset};
use crate::Keypoint;

/// A filter and where it is taken: at the pixels whose column and row are multiples of `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Width of the filter in pixels: three times an odd number.
    pub filter: usize,
    /// Pixels between samples.
    pub step: usize,
    /// Samples in a row.
    pub width: usize,
    /// Rows of samples.
    pub height: usize,
}

/// Three filters of an octave, each larger than the one before by as much, as numbers of layers.
///
/// Samples are those of the top layer; the others may be denser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple {
    /// The smallest filter.
    pub bottom: usize,
    /// The one whose peaks are sought.
    pub middle: usize,
    /// The largest.
    pub top: usize,
    /// Samples along each edge at which no peak is sought, as the top filter reaches beyond the edge there.
    pub border: usize,
}

/// The layers of an image, each filter once, in the first octave that has it, and the triples in the order of octaves.
///
/// ```
/// use harris_core::fast_hessian::{FastHessianConfig, Pyramid};
///
/// let pyramid = Pyramid::new(&FastHessianConfig::default(), 640, 480);
/// let filters: Vec<_> = pyramid.layers.iter().map(|layer| (layer.filter, layer.step)).collect();
/// assert_eq!(
///     filters,
///     [(9, 2), (15, 2), (21, 2), (27, 2), (39, 4), (51, 4), (75, 8), (99, 8), (147, 16), (195, 16)]
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pyramid {
    /// Filters and samples.
    pub layers: Vec<Layer>,
    /// What is compared, two filters of the first octave first.
    pub triples: Vec<Triple>,
}

/// The filter of an octave and an interval, both counted from 0.
fn filter(octave: usize, interval: usize) -> usize {
    3 * ((2 << octave) * (interval + 1) + 1)
}

impl Pyramid {
    /// Width in pixels of the smallest filter.
    pub const FIRST_FILTER: usize = 9;

    /// The pyramid of an image of `width` × `height` pixels. Octaves that are too large for it have no samples to compare.
    #[must_use]
    pub fn new(config: &FastHessianConfig, width: usize, height: usize) -> Self {
        let (mut layers, mut triples) = (Vec::<Layer>::new(), Vec::new());
        for octave in 0..config.octaves() {
            let step = config.step() << octave;
            let numbers: Vec<usize> = (0..config.intervals())
                .map(|interval| {
                    let filter = filter(octave, interval);
                    layers.iter().position(|layer| layer.filter == filter).unwrap_or_else(|| {
                        layers.push(Layer { filter, step, width: width / step, height: height / step });
                        layers.len() - 1
                    })
                })
                .collect();
            triples.extend(numbers.windows(3).map(|three| Triple {
                bottom: three[0],
                middle: three[1],
                top: three[2],
                border: border(layers[three[2]].filter, step),
            }));
        }
        Self { layers, triples }
    }

    /// The least width and height of an image in which the first octave has a sample to compare.
    #[must_use]
    pub fn least_side(config: &FastHessianConfig) -> usize {
        // The third filter is the smallest that is a top.
        (2 * border(filter(0, 2), config.step()) + 2) * config.step()
    }

    /// The columns and rows of a triple's samples at which peaks are sought; empty where the image is too small.
    #[must_use]
    pub fn sought(&self, triple: &Triple) -> (Range<usize>, Range<usize>) {
        let top = self.layers[triple.top];
        let range = |len: usize| triple.border + 1..len.saturating_sub(triple.border);
        let (columns, rows) = (range(top.width), range(top.height));
        if columns.is_empty() || rows.is_empty() { (0..0, 0..0) } else { (columns, rows) }
    }

    /// How many samples of layer `number` lie between two of the triple's.
    #[must_use]
    pub fn stride(&self, triple: &Triple, number: usize) -> usize {
        self.layers[triple.top].step / self.layers[number].step
    }

    /// The columns and rows of layer `number` that any comparison reads; empty where none does.
    #[must_use]
    pub fn read(&self, number: usize) -> (Range<usize>, Range<usize>) {
        let mut read: Option<(Range<usize>, Range<usize>)> = None;
        for triple in &self.triples {
            if ![triple.bottom, triple.middle, triple.top].contains(&number) {
                continue;
            }
            let (columns, rows) = self.sought(triple);
            if columns.is_empty() {
                continue;
            }
            // One sample to each side is compared with.
            let stride = self.stride(triple, number);
            let grown = |range: Range<usize>| (range.start - 1) * stride..range.end * stride + 1;
            let (columns, rows) = (grown(columns), grown(rows));
            read = Some(match read {
                None => (columns, rows),
                Some(other) => (union(&columns, &other.0), union(&rows, &other.1)),
            });
        }
        read.unwrap_or((0..0, 0..0))
    }

    /// A peak of a triple, in pixels: x = (column + offset) · step, scale = (1.2 / 9) · (filter + offset · difference).
    #[must_use]
    pub fn keypoint(
        &self,
        triple: &Triple,
        (column, row): (usize, usize),
        offset: Offset,
        response: f32,
    ) -> Keypoint {
        let step = self.layers[triple.top].step as f32;
        let filter = |number: usize| self.layers[number].filter as f32;
        let difference = filter(triple.middle) - filter(triple.bottom);
        Keypoint {
            x: (column as f32 + offset.x) * step,
            y: (row as f32 + offset.y) * step,
            scale: (1.2 / 9.0) * (filter(triple.middle) + offset.layer * difference),
            response,
        }
    }
}

fn border(top: usize, step: usize) -> usize {
    (top + 1) / (2 * step)
}

fn union(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_those_of_opensurf() {
        let octaves = |octave| [0, 1, 2, 3].map(|interval| filter(octave, interval));
        let expected = [[9, 15, 21, 27], [15, 27, 39, 51], [27, 51, 75, 99], [51, 99, 147, 195]];
        assert_eq!([0, 1, 2, 3].map(octaves), expected);
    }

    #[test]
    fn what_is_read_lies_in_its_layer_and_an_image_of_the_least_side_has_one_sample() {
        for octaves in 1..=4 {
            for intervals in 3..=4 {
                for step in 1..=6 {
                    let config =
                        FastHessianConfig::builder().octaves(octaves).intervals(intervals).step(step);
                    let config = config.build().unwrap();
                    let least = Pyramid::least_side(&config);
                    for side in least..least + 400 {
                        let pyramid = Pyramid::new(&config, side, least);
                        let (columns, rows) = pyramid.sought(&pyramid.triples[0]);
                        assert!(!columns.is_empty() && rows.len() == 1);
                        for (number, layer) in pyramid.layers.iter().enumerate() {
                            let (columns, rows) = pyramid.read(number);
                            assert!(columns.end <= layer.width && rows.end <= layer.height);
                        }
                        let smaller = Pyramid::new(&config, side, least - 1);
                        assert!(smaller.sought(&smaller.triples[0]).1.is_empty());
                    }
                }
            }
        }
    }
}
