//! Pairing of points of two sets.

use harris_core::Error;

/// A point of one set and its partner in the other.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Pair {
    /// Index of the point in the first set.
    pub first: usize,
    /// Index of the point in the second set.
    pub second: usize,
    /// Distance between them, in pixels.
    pub distance: f64,
}

/// Pairs the points of two sets one to one, the nearest first, none farther than `tolerance`
/// pixels.
///
/// Pairs are in ascending order of distance.
///
/// Points that are not finite have no partner.
///
/// # Errors
/// [`Error::Tolerance`] where the tolerance is negative or not finite.
pub fn pairs(first: &[[f64; 2]], second: &[[f64; 2]], tolerance: f64) -> Result<Vec<Pair>, Error> {
    check(tolerance)?;
    Ok(valid_pairs(first, second, tolerance))
}

/// Checks that a tolerance is finite and at least 0.
pub(crate) fn check(tolerance: f64) -> Result<(), Error> {
    if tolerance.is_finite() && tolerance >= 0.0 { Ok(()) } else { Err(Error::Tolerance { tolerance }) }
}

/// Pairs points as [`pairs`] does, for a tolerance that is valid.
fn valid_pairs(first: &[[f64; 2]], second: &[[f64; 2]], tolerance: f64) -> Vec<Pair> {
    let finite = |(_, point): &(usize, &[f64; 2])| point.iter().all(|v| v.is_finite());
    let mut rows: Vec<_> = second.iter().enumerate().filter(finite).collect();
    rows.sort_by(|(_, a), (_, b)| a[1].total_cmp(&b[1]));
    let mut near = Vec::new();
    for (i, [x, y]) in first.iter().enumerate() {
        let above = rows.partition_point(|(_, point)| point[1] < y - tolerance);
        for (j, [u, v]) in rows[above..].iter().take_while(|(_, point)| point[1] <= y + tolerance) {
            let distance = (x - u).hypot(y - v);
            if distance <= tolerance {
                near.push(Pair { first: i, second: *j, distance });
            }
        }
    }
    near.sort_by(|a, b| {
        a.distance.total_cmp(&b.distance).then((a.first, a.second).cmp(&(b.first, b.second)))
    });
    let (mut first_taken, mut second_taken) = (vec![false; first.len()], vec![false; second.len()]);
    near.retain(|pair| {
        let free = !first_taken[pair.first] && !second_taken[pair.second];
        if free {
            (first_taken[pair.first], second_taken[pair.second]) = (true, true);
        }
        free
    });
    near
}

/// Returns the distances of [`pairs`], in ascending order, for a tolerance that is valid.
pub(crate) fn distances(first: &[[f64; 2]], second: &[[f64; 2]], tolerance: f64) -> Vec<f64> {
    valid_pairs(first, second, tolerance).into_iter().map(|pair| pair.distance).collect()
}

/// The mean; `None` for no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_name_the_points_by_their_places_in_the_sets() {
        let second = [[f64::NAN, 0.0], [9.0, 9.0], [1.0, 0.0]];
        let pair = |first, second, distance| Pair { first, second, distance };
        let found = pairs(&[[1.0, 1.0], [9.0, 9.0]], &second, 2.0).unwrap();
        assert_eq!(found, [pair(1, 1, 0.0), pair(0, 2, 1.0)]);
    }

    #[test]
    fn pairs_are_one_to_one_and_the_nearest_first() {
        // The middle point of the first set is nearest to both of the second: it gets the nearer,
        // the other its neighbour.
        let first = [[0.0, 0.0], [2.0, 0.0], [9.0, 9.0]];
        let second = [[2.5, 0.0], [1.25, 0.0]];
        assert_eq!(distances(&first, &second, 2.0), [0.5, 1.25]);
        assert_eq!(distances(&first, &second, 1.0), [0.5]);
        // A point twice in one set has one partner.
        assert_eq!(distances(&[[1.0, 1.0]; 2], &[[1.0, 2.0]], 1.0), [1.0]);
    }

    #[test]
    fn a_tolerance_includes_its_own_distance() {
        assert_eq!(distances(&[[0.0, 0.0]], &[[3.0, 4.0]], 5.0), [5.0]);
        assert_eq!(distances(&[[0.0, 0.0]], &[[3.0, 4.0]], 4.999), []);
        assert_eq!(distances(&[[7.0, 7.0]], &[[7.0, 7.0]], 0.0), [0.0]);
        assert_eq!(distances(&[], &[[3.0, 4.0]], 5.0), []);
    }

    #[test]
    fn points_that_are_not_finite_have_no_partner_and_such_tolerances_are_errors() {
        let odd = [[f64::NAN, 0.0], [0.0, f64::NAN], [f64::INFINITY, 0.0]];
        assert_eq!(distances(&odd, &odd, 1e9), []);
        for tolerance in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(matches!(pairs(&[], &[], tolerance), Err(Error::Tolerance { .. })));
        }
    }

    #[test]
    fn pairs_equal_those_of_a_greedy_search_over_all_distances() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..50 {
            let mut points = || -> Vec<[f64; 2]> {
                (0..random.usize(0..60)).map(|_| [random.f64() * 20.0, random.f64() * 20.0]).collect()
            };
            let (first, second) = (points(), points());
            // The greedy search: the nearest of all remaining pairs, repeatedly.
            let (mut left, mut right, mut expected) = (first.clone(), second.clone(), Vec::new());
            loop {
                let all = left.iter().enumerate().flat_map(|(i, a)| {
                    right.iter().enumerate().map(move |(j, b)| ((a[0] - b[0]).hypot(a[1] - b[1]), i, j))
                });
                match all.min_by(|a, b| a.0.total_cmp(&b.0)) {
                    Some((distance, i, j)) if distance <= 3.0 => {
                        expected.push(distance);
                        left.remove(i);
                        right.remove(j);
                    }
                    _ => break,
                }
            }
            assert_eq!(distances(&first, &second, 3.0), expected);
        }
    }
}
