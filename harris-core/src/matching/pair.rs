//! Pairs of points, and how matches become pairs.

use super::matcher::Match;
use crate::error::Error;
use crate::keypoint::Keypoint;
use crate::memory;

/// A point of the first image and its partner in the second, each as x and y.
pub type Pair = ([f64; 2], [f64; 2]);

/// The pairs of places that matches connect: the train keypoint's place, then the query keypoint's.
///
/// A homography of these pairs maps the train image to the query image. Pairs are in the order of
/// the matches. Several matches may have one train keypoint, unless
/// [`cross_check`](super::MatchConfigBuilder::cross_check) is on;
/// [`Homography::ransac`](super::Homography::ransac) counts such a place once.
///
/// ```
/// use harris_core::Keypoint;
/// use harris_core::matching::{Match, matched_pairs};
///
/// let query = [Keypoint::new(7.0, 8.0, 1.0)];
/// let train = [Keypoint::new(1.0, 2.0, 1.0), Keypoint::new(3.0, 4.0, 1.0)];
/// let matches = [Match::new(0, 1, 0.1)];
/// assert_eq!(matched_pairs(&matches, &query, &train)?, [([3.0, 4.0], [7.0, 8.0])]);
/// # Ok::<(), harris_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::MatchIndex`] where a match names a keypoint that its list does not have;
/// [`Error::OutOfMemory`].
pub fn matched_pairs(matches: &[Match], query: &[Keypoint], train: &[Keypoint]) -> Result<Vec<Pair>, Error> {
    let place = |keypoints: &[Keypoint], keypoint: usize, index: usize| match keypoints.get(keypoint) {
        Some(k) => Ok([f64::from(k.x), f64::from(k.y)]),
        None => Err(Error::MatchIndex { index, keypoint, keypoints: keypoints.len() }),
    };
    let mut pairs = Vec::new();
    memory::reserve_exact(&mut pairs, matches.len())?;
    for (index, found) in matches.iter().enumerate() {
        pairs.push((place(train, found.train, index)?, place(query, found.query, index)?));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_match_of_a_keypoint_that_does_not_exist_is_an_error() {
        let one = [Keypoint::new(1.0, 2.0, 1.0)];
        let matches = |query, train| [Match::new(0, 0, 0.0), Match::new(query, train, 0.0)];
        assert_eq!(matched_pairs(&matches(0, 0), &one, &one).unwrap(), [([1.0, 2.0], [1.0, 2.0]); 2]);
        for (query, train, missing) in [(0, 1, 1), (3, 0, 3)] {
            let error = matched_pairs(&matches(query, train), &one, &one).unwrap_err();
            assert!(
                matches!(error, Error::MatchIndex { index: 1, keypoint, keypoints: 1 } if keypoint == missing),
                "{error}"
            );
        }
        assert_eq!(matched_pairs(&[], &[], &[]).unwrap(), []);
    }
}
