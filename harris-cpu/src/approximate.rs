//! Approximate matching: most of the nearest descriptors, without computing all distances.

use harris_core::Error;
use harris_core::matching::{Match, MatchConfig, Matcher, Nearest, check};
use harris_core::surf::LENGTH;
use instant_distance::{Builder, Hnsw, Point, PointId, Search};
use ndarray::ArrayView2;
use rayon::prelude::*;

use crate::matching::rows;

/// Candidates during construction of the graph, and during a search.
const CANDIDATES: usize = 100;

/// An index of descriptors: a hierarchical navigable small-world graph (Malkov and Yashunin 2018).
///
/// It pays for a hundred thousand descriptors and more that are searched again and again. Among
/// some ten thousand, [`CpuMatcher`](crate::CpuMatcher) is faster, and exact
/// (docs/log/measurements.md has figures).
///
/// ```
/// use harris_cpu::ApproximateIndex;
/// use ndarray::Array2;
///
/// let train = Array2::from_shape_fn((50, 64), |(i, j)| if i == j { 1.0 } else { 0.0 });
/// let index = ApproximateIndex::new(train.view())?;
/// assert_eq!(index.nearest(train.view())?[7].index, 7);
/// # Ok::<(), harris_cpu::Error>(())
/// ```
pub struct ApproximateIndex {
    graph: Hnsw<Descriptor>,
    /// The row of each point of the graph.
    rows: Vec<usize>,
}

impl std::fmt::Debug for ApproximateIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ApproximateIndex of {} descriptors", self.rows.len())
    }
}

#[derive(Clone, Debug)]
struct Descriptor([f32; LENGTH]);

impl Point for Descriptor {
    /// The squared distance, which has the order of distances.
    fn distance(&self, other: &Self) -> f32 {
        // Sixteen sums at once, for vectors: the order of additions is free here.
        let mut sums = [0.0_f32; 16];
        for (a, b) in self.0.chunks_exact(16).zip(other.0.chunks_exact(16)) {
            for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum += (a - b) * (a - b);
            }
        }
        sums.iter().sum()
    }
}

impl ApproximateIndex {
    /// Makes an index of descriptors, M × 64, on rayon's shared pool.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`].
    pub fn new(train: ArrayView2<'_, f32>) -> Result<Self, Error> {
        check(train)?;
        let points = rows(train)?.into_iter().map(Descriptor).collect();
        let builder = Builder::default().seed(1).ef_construction(CANDIDATES).ef_search(CANDIDATES);
        let (graph, places): (Hnsw<Descriptor>, Vec<PointId>) = builder.build_hnsw(points);
        let mut rows = vec![0; places.len()];
        for (row, place) in places.into_iter().enumerate() {
            rows[place.into_inner() as usize] = row;
        }
        Ok(Self { graph, rows })
    }

    /// The nearest descriptor of each query, N × 64, or one that is nearly as near; empty where the
    /// index is.
    ///
    /// # Errors
    /// [`Error::DescriptorLength`], [`Error::DescriptorValue`].
    pub fn nearest(&self, query: ArrayView2<'_, f32>) -> Result<Vec<Nearest>, Error> {
        check(query)?;
        if self.rows.is_empty() {
            return Ok(Vec::new());
        }
        let nearest = |search: &mut Search, query: [f32; LENGTH]| {
            let query = Descriptor(query);
            let mut found = self.graph.search(&query, search);
            let first = found.next().expect("the graph is not empty");
            Nearest {
                index: self.rows[first.pid.into_inner() as usize],
                distance: first.distance,
                second: found.next().map_or(f32::INFINITY, |second| second.distance),
            }
        };
        Ok(rows(query)?.into_par_iter().map_init(Search::default, nearest).collect())
    }
}

/// Approximate matching on the CPU.
///
/// Each call makes an [`ApproximateIndex`] of the train descriptors, and one of the queries for a
/// cross check.
///
/// The graph depends on the order of threads, so one match in some hundred may differ from run to
/// run.
#[derive(Clone, Debug)]
pub struct ApproximateMatcher {
    config: MatchConfig,
}

impl ApproximateMatcher {
    /// Makes a matcher.
    #[must_use]
    pub fn new(config: MatchConfig) -> Self {
        Self { config }
    }
}

impl Matcher for ApproximateMatcher {
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error> {
        self.config.matches(query, train, |query, train| ApproximateIndex::new(train)?.nearest(query))
    }
}
