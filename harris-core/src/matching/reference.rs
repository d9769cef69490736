//! The reference matcher by brute force, with which every exact matcher is compared.

use ndarray::{ArrayView1, ArrayView2, Axis};

use super::matcher::{Match, MatchConfig, Matcher, Nearest};
use crate::error::Error;
use crate::{float_mode, memory};

/// The reference implementation of exact matching: all distances, on one thread, and slow.
#[derive(Clone, Debug)]
pub struct ReferenceMatcher {
    config: MatchConfig,
}

impl ReferenceMatcher {
    /// Makes a matcher of this configuration.
    #[must_use]
    pub fn new(config: MatchConfig) -> Self {
        Self { config }
    }
}

impl Matcher for ReferenceMatcher {
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error> {
        float_mode::standard(|| self.config.matches(query, train, nearest))
    }
}

/// The nearest and second nearest train descriptor of each query.
fn nearest(query: ArrayView2<'_, f32>, train: ArrayView2<'_, f32>) -> Result<Vec<Nearest>, Error> {
    let nearest_of = |query: ArrayView1<'_, f32>| {
        let mut nearest = Nearest { index: 0, distance: f32::INFINITY, second: f32::INFINITY };
        for (index, train) in train.axis_iter(Axis(0)).enumerate() {
            let distance = squared_distance(query, train);
            if distance < nearest.distance {
                nearest = Nearest { index, distance, second: nearest.distance };
            } else if distance < nearest.second {
                nearest.second = distance;
            }
        }
        nearest
    };
    memory::collect(query.axis_iter(Axis(0)).map(nearest_of))
}

/// Squared distance Σ (a − b)², added in ascending order.
fn squared_distance(a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>) -> f32 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        let difference = a - b;
        sum += difference * difference;
    }
    sum
}
