//! Hits, misses and false keypoints of one image.

use anyhow::{Result, bail};
use harris_evaluation::{Pair, Score, pairs};

use super::images::Place;

/// The most pairs of a keypoint and a corner in rows near each other.
const MAX_NEAR_ROWS: u64 = 1 << 30;

/// The most pairs of a keypoint and a corner within the tolerance, 24 bytes each.
const MAX_NEAR: u64 = 1 << 24;

/// The keypoints and corners of one image, and which belong together.
pub(super) struct Pairing<'a> {
    found: &'a [Place],
    corners: &'a [Place],
    hits: Vec<Pair>,
}

impl<'a> Pairing<'a> {
    /// Pairs keypoints with corners.
    ///
    /// # Errors
    /// There are too many pairs within the tolerance.
    pub(super) fn new(found: &'a [Place], corners: &'a [Place], tolerance: f64) -> Result<Self> {
        check_number(found, corners, tolerance, MAX_NEAR_ROWS, MAX_NEAR)?;
        Ok(Self { found, corners, hits: pairs(found, corners, tolerance)? })
    }

    /// Returns precision, recall and errors.
    pub(super) fn score(&self) -> Score {
        let errors = self.hits.iter().map(|pair| pair.distance).collect();
        Score::new(self.found.len(), self.corners.len(), errors)
    }

    /// Returns the keypoints that are paired with a corner.
    pub(super) fn hits(&self) -> impl Iterator<Item = Place> {
        self.hits.iter().map(|pair| self.found[pair.first])
    }

    /// Returns the keypoints without a corner.
    pub(super) fn false_keypoints(&self) -> impl Iterator<Item = Place> {
        without(self.found, self.hits.iter().map(|pair| pair.first))
    }

    /// Returns the corners without a keypoint.
    pub(super) fn misses(&self) -> impl Iterator<Item = Place> {
        without(self.corners, self.hits.iter().map(|pair| pair.second))
    }
}

/// Returns the places but those of some numbers.
fn without(places: &[Place], paired: impl Iterator<Item = usize>) -> impl Iterator<Item = Place> {
    let mut left = vec![true; places.len()];
    for place in paired {
        left[place] = false;
    }
    places.iter().zip(left).filter_map(|(&place, left)| left.then_some(place))
}

/// Refuses so many pairs within the tolerance that they would take minutes, or gigabytes.
fn check_number(
    found: &[Place],
    corners: &[Place],
    tolerance: f64,
    max_near_rows: u64,
    max_near: u64,
) -> Result<()> {
    let mut rows = corners.to_vec();
    rows.sort_by(|a, b| a[1].total_cmp(&b[1]));
    let strip = |y: f64| {
        let above = rows.partition_point(|corner| corner[1] < y - tolerance);
        let below = rows.partition_point(|corner| corner[1] <= y + tolerance);
        &rows[above..below]
    };
    let near_rows: u64 = found.iter().map(|place| strip(place[1]).len() as u64).sum();
    let near = || -> u64 {
        let near = |place: &Place| {
            let within = |corner: &&Place| (place[0] - corner[0]).hypot(place[1] - corner[1]) <= tolerance;
            strip(place[1]).iter().filter(within).count() as u64
        };
        found.iter().map(near).sum()
    };
    if near_rows > max_near_rows || (near_rows > max_near && near() > max_near) {
        bail!(
            "{} keypoints and {} corners have too many pairs within {tolerance} pixels; \
             choose a smaller --tolerance",
            found.len(),
            corners.len()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keypoint_is_a_hit_or_false_and_every_corner_a_hit_or_missed() {
        let found = [[10.0, 10.0], [50.0, 50.0], [11.0, 10.0], [80.0, 5.0]];
        let corners = [[90.0, 90.0], [10.75, 10.0], [50.0, 53.0]];
        let pairing = Pairing::new(&found, &corners, 4.0).unwrap();
        assert_eq!(pairing.score(), Score::new(4, 3, vec![0.25, 3.0]));
        assert_eq!(pairing.hits().collect::<Vec<_>>(), [[11.0, 10.0], [50.0, 50.0]]);
        assert_eq!(pairing.false_keypoints().collect::<Vec<_>>(), [[10.0, 10.0], [80.0, 5.0]]);
        assert_eq!(pairing.misses().collect::<Vec<_>>(), [[90.0, 90.0]]);
    }

    #[test]
    fn the_number_of_pairs_is_limited() {
        let (found, corners) = ([[1.0, 1.0]; 30], [[2.0, 1.0]; 40]);
        let check = |tolerance, rows, near| check_number(&found, &corners, tolerance, rows, near);
        assert!(check(4.0, 1200, 1200).is_ok());
        assert!(check(4.0, 1199, 1200).is_err());
        assert!(check(4.0, 1200, 1199).unwrap_err().to_string().contains("30 keypoints and 40 corners"));
        // In the same row, but too far apart.
        assert!(check(0.5, 1200, 0).is_ok());
        let many = vec![[3.0, 3.0]; 100_000];
        assert!(Pairing::new(&many, &many, 0.0).is_err());
    }
}
