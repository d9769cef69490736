//! Scores of keypoints against known corners.

use std::iter::Sum;

use harris_core::{Error, Keypoint};

use crate::pairing;

/// Precision, recall and localisation error of keypoints against known corners.
///
/// The [sum](Sum) of the scores of several images is their common score.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// Number of keypoints.
    pub found: usize,
    /// Number of known corners.
    pub wanted: usize,
    /// Distance in pixels of each correct keypoint from its corner, ascending.
    pub errors: Vec<f64>,
}

/// Scores keypoints against known corners: `wanted` has x and y of each in pixels.
///
/// A keypoint is correct when it is paired with a corner. Pairs are one to one, the nearest first,
/// none farther than `tolerance` pixels. Chahuara (2017) takes 4.
///
/// # Errors
/// [`Error::Tolerance`] where the tolerance is negative or not finite.
///
/// ```
/// use harris_core::Keypoint;
/// use harris_evaluation::score;
///
/// let found = [Keypoint::new(10.0, 10.0, 1.0), Keypoint::new(10.5, 10.0, 0.5), Keypoint::new(40.0, 3.0, 0.1)];
/// let score = score(&found, &[[10.0, 11.0], [70.0, 70.0]], 4.0)?;
/// // One place was found, by the nearer of the two keypoints there.
/// assert_eq!((score.precision(), score.recall(), score.mean_error()), (1.0 / 3.0, 0.5, Some(1.0)));
/// # Ok::<(), harris_core::Error>(())
/// ```
pub fn score(found: &[Keypoint], wanted: &[[f64; 2]], tolerance: f64) -> Result<Score, Error> {
    let places: Vec<_> = found.iter().map(|k| [f64::from(k.x), f64::from(k.y)]).collect();
    pairing::check(tolerance)?;
    let errors = pairing::distances(&places, wanted, tolerance);
    Ok(Score { found: found.len(), wanted: wanted.len(), errors })
}

impl Score {
    /// Makes the score of keypoints that are paired already.
    ///
    /// `found` and `wanted` are the numbers of keypoints and of known corners. `errors` has the
    /// distance of each pair in pixels, in any order.
    #[must_use]
    pub fn new(found: usize, wanted: usize, mut errors: Vec<f64>) -> Self {
        errors.sort_by(f64::total_cmp);
        Self { found, wanted, errors }
    }

    /// Precision: the fraction of keypoints that are correct; 1 where there are no keypoints.
    #[must_use]
    pub fn precision(&self) -> f64 {
        fraction(self.errors.len(), self.found)
    }

    /// Recall: the fraction of corners that were found; 1 where there are no corners.
    #[must_use]
    pub fn recall(&self) -> f64 {
        fraction(self.errors.len(), self.wanted)
    }

    /// Localisation error: the mean distance in pixels of correct keypoints from their corners.
    ///
    /// `None` where no keypoint is correct.
    #[must_use]
    pub fn mean_error(&self) -> Option<f64> {
        pairing::mean(&self.errors)
    }

    /// The greatest distance in pixels of a correct keypoint from its corner; `None` where there
    /// are none.
    #[must_use]
    pub fn max_error(&self) -> Option<f64> {
        self.errors.last().copied()
    }
}

impl Sum for Score {
    fn sum<I: Iterator<Item = Self>>(scores: I) -> Self {
        let mut all = scores.fold(Self::default(), |mut all, score| {
            all.found += score.found;
            all.wanted += score.wanted;
            all.errors.extend(score.errors);
            all
        });
        all.errors.sort_by(f64::total_cmp);
        all
    }
}

/// The fraction `part` / `all`; 1 for 0 / 0.
fn fraction(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_scores_is_their_common_score() {
        let at = |x: f32| Keypoint::new(x, 0.0, 1.0);
        let one = score(&[at(0.0), at(9.0)], &[[2.0, 0.0]], 4.0).unwrap();
        let other = score(&[at(5.0)], &[[4.0, 0.0], [50.0, 0.0], [70.0, 0.0]], 4.0).unwrap();
        assert_eq!((one.precision(), one.recall()), (0.5, 1.0));
        assert_eq!((other.precision(), other.recall()), (1.0, 1.0 / 3.0));
        let all: Score = [one, other].into_iter().sum();
        assert_eq!(all, Score { found: 3, wanted: 4, errors: vec![1.0, 2.0] });
        assert_eq!((all.mean_error(), all.max_error()), (Some(1.5), Some(2.0)));
    }

    #[test]
    fn without_keypoints_precision_is_1_and_without_corners_recall_is_1() {
        let empty = score(&[], &[], 4.0).unwrap();
        assert_eq!((empty.precision(), empty.recall(), empty.mean_error()), (1.0, 1.0, None));
        assert_eq!(score(&[], &[[1.0, 1.0]], 4.0).unwrap().recall(), 0.0);
        assert_eq!(score(&[Keypoint::default()], &[], 4.0).unwrap().precision(), 0.0);
        assert!(matches!(score(&[], &[], f64::NAN), Err(Error::Tolerance { .. })));
    }
}
