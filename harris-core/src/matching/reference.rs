//! Brute force as plain code: the oracle of every other exact matcher.

use ndarray::{ArrayView1, ArrayView2, Axis};

use super::matcher::{Match, MatchConfig, Matcher, Nearest};
use crate::error::Error;

/// The reference implementation of exact matching: all distances, no threads, no speed.
#[derive(Clone, Debug)]
pub struct ReferenceMatcher {
    config: MatchConfig,
}

impl ReferenceMatcher {
    /// A matcher of this configuration.
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
        self.config.matches(query, train, |query, train| Ok(nearest(query, train)))
    }
}

fn nearest(query: ArrayView2<'_, f32>, train: ArrayView2<'_, f32>) -> Vec<Nearest> {
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
    query.axis_iter(Axis(0)).map(nearest_of).collect()
}

/// Σ (a − b)², ascending.
fn squared_distance(a: ArrayView1<'_, f32>, b: ArrayView1<'_, f32>) -> f32 {
    let mut sum = 0.0;
    for (a, b) in a.iter().zip(b) {
        let difference = a - b;
        sum += difference * difference;
    }
    sum
}
