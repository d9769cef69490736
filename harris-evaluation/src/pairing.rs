//! Which points of two sets belong together.

use harris_core::Error;

/// Distances of pairs of `first` and `second`, ascending: one to one, the nearest first, none
/// farther than `tolerance`.
///
/// Points that are no numbers have no partner.
pub(crate) fn distances(first: &[[f64; 2]], second: &[[f64; 2]], tolerance: f64) -> Result<Vec<f64>, Error> {
    if !(tolerance.is_finite() && tolerance >= 0.0) {
        return Err(Error::Tolerance { tolerance });
    }
    let finite = |point: &&[f64; 2]| point.iter().all(|v| v.is_finite());
    let mut rows: Vec<_> = second.iter().filter(finite).collect();
    rows.sort_by(|a, b| a[1].total_cmp(&b[1]));
    let mut near = Vec::new();
    for (i, [x, y]) in first.iter().enumerate() {
        let above = rows.partition_point(|point| point[1] < y - tolerance);
        for (j, [u, v]) in
            rows.iter().enumerate().skip(above).take_while(|(_, point)| point[1] <= y + tolerance)
        {
            let distance = (x - u).hypot(y - v);
            if distance <= tolerance {
                near.push((distance, i, j));
            }
        }
    }
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (mut first_taken, mut second_taken) = (vec![false; first.len()], vec![false; rows.len()]);
    near.retain(|&(_, i, j)| {
        let free = !first_taken[i] && !second_taken[j];
        if free {
            (first_taken[i], second_taken[j]) = (true, true);
        }
        free
    });
    Ok(near.into_iter().map(|(distance, ..)| distance).collect())
}

/// The mean, `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_one_to_one_and_the_nearest_first() {
        // The middle point of the first set is nearest to both of the second: it gets the nearer,
        // the other its neighbour.
        let first = [[0.0, 0.0], [2.0, 0.0], [9.0, 9.0]];
        let second = [[2.5, 0.0], [1.25, 0.0]];
        assert_eq!(distances(&first, &second, 2.0).unwrap(), [0.5, 1.25]);
        assert_eq!(distances(&first, &second, 1.0).unwrap(), [0.5]);
        // A point twice in one set has one partner.
        assert_eq!(distances(&[[1.0, 1.0]; 2], &[[1.0, 2.0]], 1.0).unwrap(), [1.0]);
    }

    #[test]
    fn a_tolerance_includes_its_own_distance() {
        assert_eq!(distances(&[[0.0, 0.0]], &[[3.0, 4.0]], 5.0).unwrap(), [5.0]);
        assert_eq!(distances(&[[0.0, 0.0]], &[[3.0, 4.0]], 4.999).unwrap(), []);
        assert_eq!(distances(&[[7.0, 7.0]], &[[7.0, 7.0]], 0.0).unwrap(), [0.0]);
        assert_eq!(distances(&[], &[[3.0, 4.0]], 5.0).unwrap(), []);
    }

    #[test]
    fn what_is_no_number_has_no_partner_and_is_no_tolerance() {
        let odd = [[f64::NAN, 0.0], [0.0, f64::NAN], [f64::INFINITY, 0.0]];
        assert_eq!(distances(&odd, &odd, 1e9).unwrap(), []);
        for tolerance in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(matches!(distances(&[], &[], tolerance), Err(Error::Tolerance { .. })));
        }
    }

    #[test]
    fn many_points_have_the_pairs_that_all_distances_give() {
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..50 {
            let mut points = || -> Vec<[f64; 2]> {
                (0..random.usize(0..60)).map(|_| [random.f64() * 20.0, random.f64() * 20.0]).collect()
            };
            let (first, second) = (points(), points());
            // All pairs, the least left again and again.
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
            assert_eq!(distances(&first, &second, 3.0).unwrap(), expected);
        }
    }
}
