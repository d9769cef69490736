//! Homographies by RANSAC: what is recovered, and which pairs determine none.

use std::f64::consts::TAU;

use fastrand::Rng;
use harris_core::Error;
use harris_core::matching::{Fit, Homography, Pair, Ransac};
use proptest::prelude::*;

const TILTED: Homography = Homography { matrix: [[0.9, -0.2, 30.0], [0.25, 1.1, -12.0], [3e-4, -2e-4, 1.0]] };

fn ransac(pairs: &[Pair]) -> Option<Fit> {
    Homography::ransac(pairs, &Ransac::default()).unwrap()
}

fn within(distance: f64) -> Ransac {
    Ransac::builder().distance(distance).build().unwrap()
}

fn gap([x, y]: [f64; 2], [u, v]: [f64; 2]) -> f64 {
    (x - u).hypot(y - v)
}

/// A point uniform in 640 × 480 pixels.
fn place(random: &mut Rng) -> [f64; 2] {
    [random.f64() * 640.0, random.f64() * 480.0]
}

fn places(count: usize) -> Vec<[f64; 2]> {
    let mut random = Rng::with_seed(7);
    (0..count).map(|_| place(&mut random)).collect()
}

/// A point moved by a normal deviate in x and in y.
fn noisy([x, y]: [f64; 2], sigma: f64, random: &mut Rng) -> [f64; 2] {
    let radius = sigma * (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    let (sin, cos) = (TAU * random.f64()).sin_cos();
    [x + radius * cos, y + radius * sin]
}

fn mapped(homography: &Homography, points: &[[f64; 2]]) -> Vec<Pair> {
    points.iter().map(|point| (*point, homography.map(*point).unwrap())).collect()
}

/// Pairs that a shift by (20, -10) makes.
fn shifted(points: &[[f64; 2]]) -> Vec<Pair> {
    points.iter().map(|&[x, y]| ([x, y], [x + 20.0, y - 10.0])).collect()
}

/// The greatest distance between what two homographies make of points.
fn difference(found: &Homography, expected: &Homography, points: &[[f64; 2]]) -> f64 {
    let gaps = points.iter().map(|point| gap(found.map(*point).unwrap(), expected.map(*point).unwrap()));
    gaps.fold(0.0, f64::max)
}

const CORNERS: [[f64; 2]; 4] = [[0.0, 0.0], [640.0, 0.0], [0.0, 480.0], [640.0, 480.0]];

#[test]
fn outliers_are_left_out() {
    let mut random = Rng::with_seed(3);
    let grid: Vec<_> = (0..300).map(|i| [f64::from(i % 20) * 32.0, f64::from(i / 20) * 32.0]).collect();
    for points in [places(300), grid] {
        let mut pairs = mapped(&TILTED, &points);
        for (i, (_, b)) in pairs.iter_mut().enumerate() {
            *b = if i % 2 == 0 { noisy(*b, 0.4, &mut random) } else { place(&mut random) };
        }
        let fit = ransac(&pairs).unwrap();
        assert!(fit.inliers.len() >= 150 && (0..300).step_by(2).all(|i| fit.inliers.contains(&i)));
        assert!(fit.inliers.len() <= 155 && fit.support >= 150);
        let off = difference(&fit.homography, &TILTED, &CORNERS);
        assert!(off < 0.6, "a corner is {off} away");
    }
}

#[test]
fn pairs_that_lead_to_one_place_do_not_win() {
    let text = include_str!("homography/pairs-many-to-one.csv");
    let pairs: Vec<Pair> = (text.lines().skip(1))
        .map(|line| {
            let values: Vec<f64> = line.split(',').map(|value| value.parse().unwrap()).collect();
            ([values[0], values[1]], [values[2], values[3]])
        })
        .collect();
    assert_eq!(pairs.len(), 50);
    for seed in 0..20 {
        let config = Ransac::builder().seed(seed).build().unwrap();
        let fit = Homography::ransac(&pairs, &config).unwrap().unwrap();
        assert_eq!((fit.inliers, fit.support), ((0..20).collect(), 20));
        let shift = Homography { matrix: [[1.0, 0.0, 20.0], [0.0, 1.0, -10.0], [0.0, 0.0, 1.0]] };
        let off = difference(&fit.homography, &shift, &CORNERS);
        assert!(off < 1.5, "a corner is {off} away");
        // The pairs that lead to one place have no homography at all.
        assert_eq!(Homography::ransac(&pairs[20..], &config).unwrap(), None);
    }
    assert_eq!(Homography::fit(&pairs[20..]), None);
}

#[test]
fn a_place_of_either_image_counts_once() {
    // One keypoint of the second image has a match of each of 12 points within 5 x 5 pixels.
    let mut pairs = shifted(&places(15));
    let near = (0..12).map(|i| [300.0 + 1.5 * f64::from(i % 4), 200.0 + 2.0 * f64::from(i / 4)]);
    pairs.extend(near.map(|point| (point, [322.0, 192.0])));
    let fit = ransac(&pairs).unwrap();
    assert_eq!(fit.support, 16);
    assert!(fit.inliers.len() > 20);
    // With the images exchanged, many places of the second image share one of the first.
    let back: Vec<Pair> = pairs.iter().map(|(a, b)| (*b, *a)).collect();
    let fit = ransac(&back).unwrap();
    assert_eq!(fit.support, 16);
    assert!(fit.inliers.len() > 20);
    // A tie: both points are as far from the one whose match they have.
    let mut pairs = shifted(&places(8));
    pairs.extend([([99.0, 100.0], [120.0, 90.0]), ([101.0, 100.0], [120.0, 90.0])]);
    let fit = ransac(&pairs).unwrap();
    assert_eq!((fit.inliers.len(), fit.support), (10, 9));
}

#[test]
fn equal_pairs_count_once_and_their_order_does_not_matter() {
    let four = shifted(&CORNERS);
    let repeated = |count: usize| [&vec![four[0]; 1000][..], &four[1..count]].concat();
    let fit = ransac(&repeated(4)).unwrap();
    assert_eq!((fit.inliers.len(), fit.support), (1003, 4));
    assert!(difference(&fit.homography, &Homography::fit(&four).unwrap(), &CORNERS) < 1e-9);
    assert!(difference(&Homography::fit(&repeated(4)).unwrap(), &fit.homography, &CORNERS) < 1e-6);
    assert_eq!(ransac(&repeated(3)), None);
    assert_eq!(Homography::fit(&repeated(3)), None);

    // -0 is 0.
    let three = [[0.0, 9.0], [0.0, 50.0], [70.0, 30.0], [-0.0, 50.0]].map(|[x, y]| ([x, y], [y, 2.0 * x]));
    assert_eq!(ransac(&three), None);

    let mut random = Rng::with_seed(5);
    let mut pairs = mapped(&TILTED, &places(60));
    pairs.iter_mut().for_each(|(_, b)| *b = noisy(*b, 1.5, &mut random));
    let expected = ransac(&pairs).unwrap();
    let again: Vec<Pair> = pairs.iter().chain(&pairs[..20]).copied().collect();
    let fit = ransac(&again).unwrap();
    assert_eq!((fit.homography, fit.support), (expected.homography, expected.support));
    random.shuffle(&mut pairs);
    let fit = ransac(&pairs).unwrap();
    assert_eq!((fit.homography, fit.support), (expected.homography, expected.support));
}

#[test]
fn points_near_a_line_determine_no_homography() {
    for (seed, sigma) in [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.1, 0.3, 0.5, 1.0, 1.5].into_iter().enumerate()
    {
        for turn in 0..12 {
            let mut random = Rng::with_seed(seed as u64);
            let (angle, other) = (TAU * f64::from(turn) / 12.0, 2.0 - 0.4 * f64::from(turn));
            let pairs: Vec<Pair> = (0..40)
                .map(|_| {
                    let s = 500.0 * random.f64() - 250.0;
                    let on_line = |angle: f64, s: f64| [300.0 + s * angle.cos(), 250.0 + s * angle.sin()];
                    let a = noisy(on_line(angle, s), sigma, &mut random);
                    (a, noisy(on_line(other, 0.8 * s), sigma, &mut random))
                })
                .collect();
            assert_eq!(ransac(&pairs), None, "sigma {sigma}, turn {turn}");
            assert_eq!(Homography::fit(&pairs), None, "sigma {sigma}, turn {turn}");
            // One point beside the line leaves the scale across it free.
            let pairs = [&pairs[..], &[([40.0, 470.0], [610.0, 30.0])]].concat();
            assert_eq!(ransac(&pairs), None, "sigma {sigma}, turn {turn}, and a point");
            assert_eq!(Homography::fit(&pairs), None, "sigma {sigma}, turn {turn}, and a point");
        }
    }
}

#[test]
fn points_that_spread_across_a_line_determine_a_homography() {
    // A strip of 16 pixels, and a line with two points beside it.
    let mut random = Rng::with_seed(2);
    let strip: Vec<_> = (0..60).map(|_| [500.0 * random.f64(), 16.0 * random.f64()]).collect();
    let line = (0..20).map(|i| [25.0 * f64::from(i), 200.0]);
    let line: Vec<_> = line.chain([[100.0, 50.0], [400.0, 390.0]]).collect();
    for points in [strip, line] {
        let pairs = mapped(&TILTED, &points);
        let fit = ransac(&pairs).unwrap();
        assert_eq!(fit.support, pairs.len());
        assert!(difference(&fit.homography, &TILTED, &CORNERS) < 1e-6);
        assert!(difference(&Homography::fit(&pairs).unwrap(), &TILTED, &CORNERS) < 1e-6);
    }
}

#[test]
fn points_in_few_places_determine_no_homography() {
    let mut random = Rng::with_seed(4);
    for spots in 1..=3 {
        for sigma in [0.0, 1e-6, 0.2, 1.0] {
            let pairs: Vec<Pair> = (0..60)
                .map(|i| {
                    let [x, y] = CORNERS[i % spots];
                    let (a, b) = ([x, y], [0.5 * y + 100.0, x]);
                    (noisy(a, sigma, &mut random), noisy(b, sigma, &mut random))
                })
                .collect();
            assert_eq!(ransac(&pairs), None, "{spots} spots, sigma {sigma}");
            assert_eq!(Homography::fit(&pairs), None, "{spots} spots, sigma {sigma}");
        }
    }
    // Places of the second image alone.
    let to_one: Vec<Pair> = places(40).into_iter().map(|point| (point, [50.0, 60.0])).collect();
    let from_one: Vec<Pair> = places(40).into_iter().map(|point| ([50.0, 60.0], point)).collect();
    let to_line: Vec<Pair> = places(40).into_iter().map(|[x, y]| ([x, y], [x, 0.5 * x])).collect();
    for pairs in [to_one, from_one, to_line] {
        assert_eq!(ransac(&pairs), None);
        assert_eq!(Homography::fit(&pairs), None);
    }
}

#[test]
fn too_few_pairs_have_no_homography() {
    for count in 0..4 {
        assert_eq!(ransac(&shifted(&places(count))), None);
        assert_eq!(Homography::fit(&shifted(&places(count))), None);
    }
    let four = shifted(&CORNERS);
    assert_eq!(ransac(&four).unwrap().support, 4);
    // Any four of five pairs have a homography, so four that agree say nothing.
    let five = [&four[..], &[([320.0, 200.0], [20.0, 400.0])]].concat();
    assert_eq!(ransac(&five), None);
    let six = [&five[..], &shifted(&[[100.0, 300.0]])].concat();
    assert_eq!(ransac(&six).unwrap().inliers, [0, 1, 2, 3, 5]);
}

#[test]
fn coordinates_that_are_not_finite_are_outliers() {
    let wrong = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 1e60, f64::MIN];
    let mut pairs = mapped(&TILTED, &places(48));
    for (i, value) in wrong.into_iter().enumerate() {
        pairs[4 * i].0[i % 2] = value;
        pairs[4 * i + 1].1[i % 2] = value;
    }
    let fit = ransac(&pairs).unwrap();
    let right: Vec<_> = (0..48).filter(|i| *i >= 24 || i % 4 >= 2).collect();
    assert_eq!((fit.inliers, fit.support), (right, 36));
    assert!(difference(&fit.homography, &TILTED, &CORNERS) < 1e-6);
    for value in wrong {
        assert_eq!(ransac(&[([value; 2], [value; 2]); 8]), None);
        let four = [&shifted(&CORNERS)[..], &[([3.0, value], [1.0, value]); 3]].concat();
        assert_eq!(ransac(&four).unwrap().support, 4);
        let right = mapped(&TILTED, &places(3));
        assert_eq!(ransac(&[&right[..], &[([value, 1.0], [2.0, 3.0])]].concat()), None);
    }
}

#[test]
fn strong_perspective_is_recovered_and_points_behind_the_horizon_are_outliers() {
    // The horizon is at x = 500; there are points from x = 0 to 640.
    let steep = Homography { matrix: [[1.0, 0.3, 5.0], [-0.2, 1.0, 40.0], [-2e-3, 0.0, 1.0]] };
    let points: Vec<_> = (0..400).map(|i| [f64::from(i % 20) * 33.0, f64::from(i / 20) * 24.0]).collect();
    let mut random = Rng::with_seed(9);
    let mut pairs = mapped(&steep, &points);
    for (i, (_, b)) in pairs.iter_mut().enumerate() {
        if i % 3 == 0 {
            *b = [random.f64() * 4000.0 - 1000.0, random.f64() * 4000.0 - 1000.0];
        }
    }
    let fit = ransac(&pairs).unwrap();
    let right: Vec<_> = (0..400).filter(|i| i % 3 != 0 && points[*i][0] < 500.0).collect();
    assert_eq!(fit.inliers, right);
    let before: Vec<_> = points.iter().copied().filter(|[x, _]| *x < 500.0).collect();
    assert!(difference(&fit.homography, &steep, &before) < 1e-5);
    // No camera sees both sides of the horizon.
    assert_eq!(Homography::fit(&mapped(&steep, &points)), None);
    assert!(Homography::fit(&mapped(&steep, &before)).is_some());
}

#[test]
fn a_horizon_through_the_origin_and_mirrored_views_are_recovered() {
    let upright = Homography { matrix: [[1.0, 0.0, 300.0], [0.0, 1.0, 200.0], [0.002, 0.001, 0.0]] };
    let negative = Homography { matrix: [[-300.0, 0.0, 0.0], [0.0, -300.0, 0.0], [0.0, -1.0, 100.0]] };
    let mirrored = Homography { matrix: [[-1.0, 0.0, 640.0], [0.1, 1.0, 0.0], [1e-4, 0.0, 1.0]] };
    for expected in [upright, negative, mirrored] {
        let points: Vec<_> = places(80).into_iter().map(|[x, y]| [x + 50.0, y + 150.0]).collect();
        let mut pairs = mapped(&expected, &points);
        let mut random = Rng::with_seed(11);
        pairs[..30].iter_mut().for_each(|(_, b)| *b = place(&mut random));
        let fit = ransac(&pairs).unwrap();
        assert_eq!(fit.inliers, (30..80).collect::<Vec<_>>());
        assert!(difference(&fit.homography, &expected, &points) < 1e-6);
        let alone = Homography::fit(&pairs[30..]).unwrap();
        assert!(difference(&alone, &expected, &points) < 1e-6);
    }
}

#[test]
fn coordinates_may_be_far_from_the_origin_large_or_small() {
    let points = places(60);
    let pairs = mapped(&TILTED, &points);
    // Scale and offset of either image, and the distance that fits the second.
    for (scale, offset, to, away, distance) in [
        (1.0, 1e6, 1.0, -1e6, 3.0),
        (0.01, 1e6, 0.01, 1e6, 0.03),
        (1e30, 0.0, 1.0, 0.0, 3.0),
        (1e30, 1e30, 1e4, 0.0, 3e4),
        (1e-30, 0.0, 1.0, 1e6, 3.0),
        (1e-3, 0.0, 1e-7, 0.0, 3e-7),
    ] {
        let mut pairs: Vec<Pair> =
            (pairs.iter()).map(|(a, b)| (a.map(|v| scale * v + offset), b.map(|v| to * v + away))).collect();
        pairs.iter_mut().step_by(4).for_each(|(_, [u, _])| *u += 200.0 * to);
        let fit = Homography::ransac(&pairs, &within(distance)).unwrap().unwrap();
        assert_eq!(fit.inliers, (0..60).filter(|i| i % 4 != 0).collect::<Vec<_>>(), "{scale} {offset}");
        for i in fit.inliers {
            let error = gap(fit.homography.map(pairs[i].0).unwrap(), pairs[i].1);
            assert!(error < 0.01 * to, "{scale} {offset}: {error}");
        }
    }
    // Most rounding errors of these are above every distance, but some are 0.
    let huge: Vec<Pair> = pairs.iter().map(|(a, b)| (*a, b.map(|v| 1e30 * v))).collect();
    let fit = Homography::ransac(&huge, &within(1e6)).unwrap();
    assert!(
        fit.is_none_or(|fit| fit.inliers.iter().all(|i| fit.homography.map(huge[*i].0) == Some(huge[*i].1)))
    );
}

#[test]
fn options_out_of_range_are_errors() {
    for distance in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e7] {
        let error = Ransac::builder().distance(distance).build().unwrap_err();
        assert!(matches!(error, Error::InlierDistance { .. }), "{error}");
        assert!(error.to_string().contains(&format!("not {distance}")), "{error}");
    }
    for confidence in [0.0, 1.0, -0.5, 99.0, f64::NAN] {
        let error = Ransac::builder().confidence(confidence).build().unwrap_err();
        assert!(matches!(error, Error::Confidence { .. }), "{error}");
    }
    for samples in [0, 10_000_001, u32::MAX] {
        let error = Ransac::builder().max_samples(samples).build().unwrap_err();
        assert!(matches!(error, Error::Count { what: "samples", least: 1, .. }), "{error}");
    }
    let config = Ransac::builder().distance(2.0).confidence(0.5).max_samples(9).seed(4).build().unwrap();
    assert_eq!((config.distance(), config.confidence()), (2.0, 0.5));
    assert_eq!((config.max_samples(), config.seed()), (9, 4));
    assert_eq!(Ransac::builder().build().unwrap(), Ransac::default());
}

/// A coordinate: whole and small, so that there are ties and lines; of an image; or of any bits.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![6 => (0..8).prop_map(f64::from), 6 => 0.0..640.0, 1 => any::<f64>(), 1 => -1e40..1e40]
}

/// Pairs of all kinds: some at random, some that a homography maps, some repeated.
fn pairs() -> impl Strategy<Value = Vec<Pair>> {
    let point = || [coordinate(), coordinate()];
    let matrix = prop::array::uniform3(prop::array::uniform3(-1.0..1.0));
    let random = prop::collection::vec((point(), point()), 0..12);
    let points = prop::collection::vec(point(), 0..20);
    (matrix, random, points, 0..4_usize).prop_map(
        |(matrix, random, points, repeated): (_, Vec<Pair>, _, _)| {
            let agreeing = points.into_iter().filter_map(|a| Some((a, Homography { matrix }.map(a)?)));
            let again: Vec<Pair> = random.iter().take(repeated).copied().collect();
            random.into_iter().chain(agreeing).chain(again).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_fit_is_finite_and_its_inliers_are_near(pairs in pairs(), exponent in -9.0..6.0, seed: u64) {
        let distance = 10_f64.powf(exponent).clamp(1e-9, 1e6);
        let config = Ransac::builder().distance(distance).max_samples(200).seed(seed).build().unwrap();
        let is_finite = |found: &Homography| found.matrix.as_flattened().iter().all(|v| v.is_finite());
        if let Some(found) = Homography::fit(&pairs) {
            prop_assert!(is_finite(&found), "{found:?}");
        }
        let fit = Homography::ransac(&pairs, &config).unwrap();
        prop_assert_eq!(&fit, &Homography::ransac(&pairs, &config).unwrap());
        let Some(fit) = fit else { return Ok(()) };
        prop_assert!(is_finite(&fit.homography));
        prop_assert!(fit.homography.inverse().is_some());
        prop_assert!(4 <= fit.support && fit.support <= fit.inliers.len(), "{fit:?}");
        prop_assert!(fit.inliers.is_sorted_by(|a, b| a < b));
        for (i, (a, b)) in pairs.iter().enumerate() {
            let error = fit.homography.map(*a).map_or(f64::INFINITY, |mapped| gap(mapped, *b));
            if fit.inliers.contains(&i) {
                prop_assert!(error <= distance * (1.0 + 1e-12), "{error} for {distance}");
            }
        }
        // All inliers lie on one side of the horizon.
        let side = |i: &usize| {
            let ([x, y], [g, h, w]) = (pairs[*i].0, fit.homography.matrix[2]);
            (g * x + h * y + w).signum()
        };
        prop_assert!(fit.inliers.iter().all(|i| side(i) == side(&fit.inliers[0])));
    }
}
