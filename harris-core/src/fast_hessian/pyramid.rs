//! The pyramid: filters, their samples, and the triples of filters that are compared.

use std::ops::Range;

use super::config::FastHessianConfig;
use super::extrema::Offset;
use super::sampling::{Grid, filter};
use crate::keypoint::Keypoint;

/// A filter and its samples: the pixels whose column and row are `origin` plus a multiple of
/// `step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Width of the filter in pixels: three times an odd number.
    pub filter: usize,
    /// Pixels between samples.
    pub step: usize,
    /// Column and row of the first sample, in pixels.
    pub origin: usize,
    /// Samples in a row.
    pub width: usize,
    /// Rows of samples.
    pub height: usize,
}

impl Layer {
    /// The column or row of sample number `i`, in pixels.
    #[must_use]
    pub fn pixel(&self, i: usize) -> usize {
        self.origin + i * self.step
    }
}

/// Three neighbouring filters of an octave, as indices of layers.
///
/// Their widths are equally spaced.
///
/// Peaks are sought at the samples of the octave. A layer that another octave shares may be denser
/// and start elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triple {
    /// Layer of the smallest filter.
    pub bottom: usize,
    /// Layer of the filter whose peaks are sought.
    pub middle: usize,
    /// Layer of the largest filter.
    pub top: usize,
    /// Pixels between the octave's samples.
    pub step: usize,
    /// Column and row of the octave's first sample, in pixels.
    pub origin: usize,
    /// The octave's samples in a row.
    pub width: usize,
    /// The octave's rows of samples.
    pub height: usize,
    /// The first column and row of samples at which peaks are sought.
    pub first: usize,
    /// Numbers of columns and rows at the right and lower edges at which no peak is sought.
    pub after: usize,
}

impl Triple {
    /// The column or row of sample number `i`, in pixels.
    #[must_use]
    pub fn pixel(&self, i: usize) -> usize {
        self.origin + i * self.step
    }
}

/// The layers of an image, and its triples in the order of octaves.
///
/// A filter of several octaves has one layer, that of the first octave, where the samples of the
/// others are among its own. That holds for the default and for `hofmann_2009`. With
/// [`Sampling::Border`](super::Sampling::Border) and other steps a filter may have several layers.
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
    /// Triples of layers that are compared, those of the first octave first.
    pub triples: Vec<Triple>,
}

impl Pyramid {
    /// Width in pixels of the smallest filter.
    pub const FIRST_FILTER: usize = 9;

    /// Makes the pyramid of an image of `width` × `height` pixels.
    ///
    /// An octave that is too large for the image has no samples to compare.
    #[must_use]
    pub fn new(config: &FastHessianConfig, width: usize, height: usize) -> Self {
        let (mut layers, mut triples) = (Vec::<Layer>::new(), Vec::new());
        for octave in 0..config.octaves() {
            let grid = Grid::new(config.step(), config.intervals(), config.sampling(), octave);
            let Grid { step, origin, .. } = grid;
            let (width, height) = (grid.count(width), grid.count(height));
            // Earlier octaves have smaller borders, so their layers also reach as far to the other
            // edges.
            let has = |layer: &Layer| {
                step.is_multiple_of(layer.step)
                    && layer.origin <= origin
                    && (origin - layer.origin).is_multiple_of(layer.step)
            };
            let numbers: Vec<usize> = (0..config.intervals())
                .map(|interval| {
                    let filter = filter(octave, interval);
                    let same = |layer: &Layer| layer.filter == filter && has(layer);
                    layers.iter().position(same).unwrap_or_else(|| {
                        layers.push(Layer { filter, step, origin, width, height });
                        layers.len() - 1
                    })
                })
                .collect();
            triples.extend(numbers.windows(3).map(|three| {
                let (bottom, middle, top) = (three[0], three[1], three[2]);
                let [first, after] = grid.margins(layers[top].filter);
                Triple { bottom, middle, top, step, origin, width, height, first, after }
            }));
        }
        Self { layers, triples }
    }

    /// The least width and height of an image in which the first octave has a sample to compare.
    #[must_use]
    pub fn min_side(config: &FastHessianConfig) -> usize {
        Grid::min_side(config.step(), config.intervals(), config.sampling())
    }

    /// The columns and rows of a triple's samples at which peaks are sought; empty where the image
    /// is too small.
    #[must_use]
    pub fn search_range(&self, triple: &Triple) -> (Range<usize>, Range<usize>) {
        let range = |len: usize| triple.first..len.saturating_sub(triple.after);
        let (columns, rows) = (range(triple.width), range(triple.height));
        if columns.is_empty() || rows.is_empty() { (0..0, 0..0) } else { (columns, rows) }
    }

    /// Samples of layer `number` from one sample of the triple to the next.
    #[must_use]
    pub fn stride(&self, triple: &Triple, number: usize) -> usize {
        triple.step / self.layers[number].step
    }

    /// Index in layer `number` of the triple's sample `i`, along a row or a column.
    #[must_use]
    pub fn place(&self, triple: &Triple, number: usize, i: usize) -> usize {
        let layer = &self.layers[number];
        (triple.pixel(i) - layer.origin) / layer.step
    }

    /// The columns and rows of layer `number` that any comparison reads; empty where none does.
    #[must_use]
    pub fn read(&self, number: usize) -> (Range<usize>, Range<usize>) {
        let mut read: Option<(Range<usize>, Range<usize>)> = None;
        for triple in &self.triples {
            if ![triple.bottom, triple.middle, triple.top].contains(&number) {
                continue;
            }
            let (columns, rows) = self.search_range(triple);
            if columns.is_empty() {
                continue;
            }
            // Comparisons read one sample on each side.
            let place = |i: usize| self.place(triple, number, i);
            let grown = |range: Range<usize>| place(range.start - 1)..place(range.end) + 1;
            let (columns, rows) = (grown(columns), grown(rows));
            read = Some(match read {
                None => (columns, rows),
                Some(other) => (union(&columns, &other.0), union(&rows, &other.1)),
            });
        }
        read.unwrap_or((0..0, 0..0))
    }

    /// The keypoint of a triple's peak, in pixels.
    ///
    /// x = (column + offset) · step + origin, and y likewise. The scale is
    /// (1.2 / 9) · (filter + offset · difference of filters).
    #[must_use]
    pub fn keypoint(
        &self,
        triple: &Triple,
        (column, row): (usize, usize),
        offset: Offset,
        response: f32,
    ) -> Keypoint {
        let (step, origin) = (triple.step as f32, triple.origin as f32);
        let filter = |number: usize| self.layers[number].filter as f32;
        let difference = filter(triple.middle) - filter(triple.bottom);
        Keypoint {
            x: (column as f32 + offset.x) * step + origin,
            y: (row as f32 + offset.y) * step + origin,
            scale: (1.2 / 9.0) * (filter(triple.middle) + offset.layer * difference),
            response,
        }
    }
}

/// The smallest range that holds both.
fn union(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    a.start.min(b.start)..a.end.max(b.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fast_hessian::sampling::Sampling;

    #[test]
    fn filters_are_those_of_opensurf() {
        let octaves = |octave| [0, 1, 2, 3].map(|interval| filter(octave, interval));
        let expected = [[9, 15, 21, 27], [15, 27, 39, 51], [27, 51, 75, 99], [51, 99, 147, 195]];
        assert_eq!([0, 1, 2, 3].map(octaves), expected);
    }

    #[test]
    fn borders_and_steps_are_those_of_hofmann() {
        let pyramid = Pyramid::new(&crate::fast_hessian::presets::hofmann_2009(), 640, 480);
        // 10 of 16 layers are computed.
        assert_eq!(pyramid.layers.len(), 10);
        let grids: Vec<_> = pyramid.triples.iter().map(|triple| (triple.origin, triple.step)).collect();
        assert_eq!(grids, [(14, 2), (14, 2), (26, 4), (26, 4), (50, 8), (50, 8), (98, 16), (98, 16)]);
        for triple in &pyramid.triples {
            let (columns, rows) = pyramid.search_range(triple);
            assert_eq!(triple.pixel(columns.start), triple.origin + triple.step);
            assert!(triple.pixel(columns.end) < 640 - triple.origin);
            assert!(triple.pixel(columns.end + 1) >= 640 - triple.origin);
            assert!(triple.pixel(rows.end) < 480 - triple.origin);
        }
    }

    #[test]
    fn reads_stay_in_their_layer_and_the_least_side_has_one_sample() {
        for (octaves, intervals) in [(1, 3), (2, 4), (3, 3), (4, 4), (2, 15), (4, 7), (7, 3)] {
            for step in 1..=6 {
                for sampling in [Sampling::Multiples, Sampling::Border] {
                    let config = FastHessianConfig::builder().octaves(octaves).intervals(intervals);
                    let config = config.step(step).sampling(sampling).build().unwrap();
                    let least = Pyramid::min_side(&config);
                    for side in least..least + 400 {
                        let pyramid = Pyramid::new(&config, side, least);
                        let (columns, rows) = pyramid.search_range(&pyramid.triples[0]);
                        assert!(!columns.is_empty() && rows.len() == 1, "{config:?}");
                        for (number, layer) in pyramid.layers.iter().enumerate() {
                            let (columns, rows) = pyramid.read(number);
                            assert!(columns.end <= layer.width && rows.end <= layer.height, "{config:?}");
                        }
                        let smaller = Pyramid::new(&config, side, least - 1);
                        assert!(smaller.search_range(&smaller.triples[0]).1.is_empty(), "{config:?}");
                    }
                }
            }
        }
    }

    /// Each sample of a triple is one of its layers', at the same pixel.
    #[test]
    fn octaves_share_layers_where_their_samples_coincide() {
        for (intervals, step) in [(3, 2), (4, 3), (5, 5), (15, 1), (8, 4)] {
            for sampling in [Sampling::Multiples, Sampling::Border] {
                let config = FastHessianConfig::builder().octaves(3).intervals(intervals);
                let config = config.step(step).sampling(sampling).build().unwrap();
                let pyramid = Pyramid::new(&config, 900, 700);
                for triple in &pyramid.triples {
                    for number in [triple.bottom, triple.middle, triple.top] {
                        let layer = &pyramid.layers[number];
                        for i in 0..triple.width {
                            assert_eq!(layer.pixel(pyramid.place(triple, number, i)), triple.pixel(i));
                        }
                    }
                }
                let filters: Vec<_> = pyramid.layers.iter().map(|layer| layer.filter).collect();
                let mut different = filters.clone();
                different.sort_unstable();
                different.dedup();
                // 3·2ᵒ·intervals pixels lie between the borders of two octaves, which whole steps
                // must be.
                let is_shared = sampling == Sampling::Multiples || (3 * intervals).is_multiple_of(step);
                assert_eq!(filters.len() == different.len(), is_shared, "{config:?}: {filters:?}");
            }
        }
    }
}
