//! The columns that each stage of a strip computes, and what stands beyond the image's edges.

use std::ops::Range;

use harris_core::config::BOX_GRADIENT_APERTURES;
use harris_core::pipeline::border;
use harris_core::{Border, HarrisConfig};

use crate::rows::{LEFT_PADDING, MAX_WINDOW_RADIUS};

/// The columns that each stage computes for a strip: those within the image that later stages read.
pub(crate) struct Columns {
    /// The column of a row's first element; it may lie beyond the image.
    pub(crate) origin: isize,
    pub(crate) responses: Range<usize>,
    pub(crate) gradients: Range<usize>,
    pub(crate) smoothed: Range<usize>,
    pub(crate) samples: Range<usize>,
    /// Samples beyond the edges, for the smoothing.
    pub(crate) sample_edge: EdgeColumns,
    /// Smoothed samples beyond the edges, for the gradient.
    pub(crate) smoothed_edge: EdgeColumns,
    /// Products beyond the edges, for the window.
    pub(crate) product_edge: EdgeColumns,
}

impl Columns {
    /// The columns of a strip, with as many more responses to each side as the suppression radius
    /// has.
    pub(crate) fn new(
        strip: &Range<usize>,
        suppression_radius: usize,
        config: &HarrisConfig,
        width: usize,
    ) -> Self {
        let widened = |columns: &Range<usize>, radius: usize| {
            columns.start.saturating_sub(radius)..(columns.end + radius).min(width)
        };
        let responses = widened(strip, suppression_radius);
        let gradients = widened(&responses, config.window().radius());
        let smoothed = widened(&gradients, config.gradient().radius());
        let samples = widened(&smoothed, config.smoothing().radius());
        let origin = strip.start as isize - LEFT_PADDING as isize;
        let edge = |computed, radius| EdgeColumns::new(computed, radius, origin, config.border(), width);
        let sample_edge = edge(&samples, config.smoothing().radius());
        let smoothed_edge = edge(&smoothed, config.gradient().radius());
        let product_edge = edge(&gradients, config.window().radius());
        Self { origin, responses, gradients, smoothed, samples, sample_edge, smoothed_edge, product_edge }
    }

    /// The elements of columns in a row.
    pub(crate) fn span(&self, columns: &Range<usize>) -> Range<usize> {
        self.place(columns.start as isize)..self.place(columns.end as isize)
    }

    /// The element of a column in a row.
    pub(crate) fn place(&self, column: isize) -> usize {
        (column - self.origin) as usize
    }
}

/// The elements of a row beyond the image, and what stands for them.
#[derive(Debug)]
pub(crate) struct EdgeColumns {
    /// Elements, and those within the image that stand for them.
    places: [(u16, Option<u16>); 2 * MAX_WINDOW_RADIUS],
    count: usize,
}

impl EdgeColumns {
    /// `radius` columns beyond each edge that the columns `computed` reach, by the border rule.
    fn new(computed: &Range<usize>, radius: usize, origin: isize, border: Border, width: usize) -> Self {
        let (radius, end) = (radius as isize, width as isize);
        let before = if computed.start == 0 { -radius..0 } else { 0..0 };
        let after = if computed.end == width { end..end + radius } else { 0..0 };
        let mut edge = Self { places: [(0, None); 2 * MAX_WINDOW_RADIUS], count: 0 };
        for (column, place) in before.chain(after).zip(&mut edge.places) {
            let inside = border::inside(border, column, width).map(|x| (x as isize - origin) as u16);
            *place = ((column - origin) as u16, inside);
            edge.count += 1;
        }
        edge
    }

    /// Fills the elements beyond the image.
    pub(crate) fn extend<N: Copy + Default>(&self, row: &mut [N]) {
        for &(place, inside) in &self.places[..self.count] {
            row[usize::from(place)] = inside.map_or(N::default(), |inside| row[usize::from(inside)]);
        }
    }
}

// No radius is greater than a window's.
const _: () = assert!(2 <= MAX_WINDOW_RADIUS);
const _: () = assert!((*BOX_GRADIENT_APERTURES.end() / 2) as usize <= MAX_WINDOW_RADIUS);
