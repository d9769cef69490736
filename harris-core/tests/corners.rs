//! The reference's corners against a second reading of docs/arithmetic.md, sections 7 to 10, that
//! shares no code with it: it compares every pixel of a response map with every other, in 64-bit
//! floats where rounding is not the question.

use harris_conformance::pictures::Picture;
use harris_conformance::strategies;
use harris_core::pipeline::subpixel;
use harris_core::{
    Border, Detector, HarrisConfig, ImageView, Keypoint, Order, Plateau, ReferenceDetector, Smoothing,
    Subpixel, Threshold, Ties, Window,
};
use ndarray::Array2;
use proptest::prelude::*;

/// A corner's column, row and response.
type Corner = (usize, usize, f32);

/// Every corner of a picture with the response map `map`, and which of them come first.
fn corners(picture: &Picture, config: &HarrisConfig, map: &Array2<f32>) -> Vec<Corner> {
    let (width, height) = (picture.width, picture.height);
    let edge_distance = |x: usize, y: usize| x.min(y).min(width - 1 - x).min(height - 1 - y);
    // An even window reaches one pixel less to the right and below.
    let has_support = |x: usize, y: usize| match (config.border(), config.window()) {
        (Border::Reflect101 | Border::Replicate | Border::Zero, _) => true,
        (Border::Skip, Window::Box { size }) if size % 2 == 0 => {
            let radius = config.support_radius();
            x.min(y) >= radius && (width - x).min(height - y) >= radius
        }
        (Border::Skip, _) => edge_distance(x, y) >= config.support_radius(),
    };
    let pixels = || (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let valid: Vec<_> = pixels().filter(|&(x, y)| has_support(x, y)).collect();
    let in_mask = |x: usize, y: usize| picture.mask.as_ref().is_none_or(|mask| mask[y * width + x] != 0);
    let sought: Vec<_> = valid.iter().copied().filter(|&(x, y)| in_mask(x, y)).collect();
    let greatest = sought.iter().map(|&(x, y)| map[[y, x]]).fold(f32::NEG_INFINITY, f32::max);
    let threshold = match config.threshold() {
        Threshold::Absolute(value) => value,
        Threshold::None => 0.0,
        Threshold::Relative(quality) if greatest > 0.0 => (quality * f64::from(greatest)) as f32,
        Threshold::Relative(_) => return Vec::new(),
        Threshold::Rosin { .. } => unreachable!("the caller has replaced it"),
    };
    let radius = config.suppression_radius();
    let is_beaten = |x: usize, y: usize| {
        valid.iter().any(|&(u, v)| {
            let is_around = x.abs_diff(u) <= radius && y.abs_diff(v) <= radius && (u, v) != (x, y);
            let is_first = config.plateau() == Plateau::First && (v, u) < (y, x);
            let (own, other) = (map[[y, x]], map[[v, u]]);
            is_around && (other > own || is_first && other == own)
        })
    };
    let mut corners: Vec<_> = sought
        .into_iter()
        .filter(|&(x, y)| map[[y, x]] > threshold && edge_distance(x, y) >= config.margin())
        .filter(|&(x, y)| !is_beaten(x, y))
        .map(|(x, y)| (x, y, map[[y, x]]))
        .collect();
    // They are in raster order, and a stable sort leaves equals so.
    if config.ties() == Ties::Descending {
        corners.reverse();
    }
    corners.sort_by(|one, other| other.2.total_cmp(&one.2));
    let distance = config.min_distance();
    let mut kept: Vec<Corner> = Vec::new();
    for corner in corners {
        let far = |other: &Corner| {
            let [dx, dy] = [corner.0.abs_diff(other.0), corner.1.abs_diff(other.1)];
            (dx * dx + dy * dy) as f64 >= distance * distance
        };
        if kept.iter().all(far) && config.max_corners().is_none_or(|most| kept.len() < most) {
            kept.push(corner);
        }
    }
    if config.order() == Order::Raster {
        kept.sort_by_key(|&(x, y, _)| (y, x));
    }
    kept
}

/// Which of corners that are placed between pixels stay: from the strongest on, those that no kept
/// one is too near to.
fn merged(places: &[Keypoint], corners: &[Corner], config: &HarrisConfig) -> Vec<Keypoint> {
    let mut ranks: Vec<_> = (0..places.len()).collect();
    ranks.sort_by_key(|&i| (corners[i].1, corners[i].0));
    if config.ties() == Ties::Descending {
        ranks.reverse();
    }
    ranks.sort_by(|&i, &j| corners[j].2.total_cmp(&corners[i].2));
    let mut kept: Vec<usize> = Vec::new();
    for i in ranks {
        let square = |a: f32, b: f32| (f64::from(a) - f64::from(b)).powi(2);
        let far = |&j: &usize| {
            square(places[i].x, places[j].x) + square(places[i].y, places[j].y)
                >= config.min_distance() * config.min_distance()
        };
        if kept.iter().all(far) {
            kept.push(i);
        }
    }
    kept.sort_unstable();
    kept.into_iter().map(|i| places[i]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn corners_are_those_of_comparing_every_pixel_with_every_other(
        config in strategies::configs(),
        picture in strategies::pictures(),
    ) {
        let threshold = match config.threshold() {
            Threshold::Rosin { .. } => Threshold::None,
            other => other,
        };
        let builder = config.to_builder().threshold(threshold);
        let config = builder.clone().subpixel(Subpixel::None).build().unwrap();
        let mut reference = ReferenceDetector::new(config.clone());
        if let Ok(map) = reference.response(&picture.view()) {
            let found = corners(&picture, &config, &map);
            let expected: Vec<_> = found
                .iter()
                .map(|&(x, y, response)| Keypoint::new(x as f32, y as f32, response))
                .collect();
            prop_assert_eq!(&reference.detect(&picture.view()).unwrap(), &expected, "{:?}", picture);
            let choice = Subpixel::Forstner { radius: 3 };
            let mut places = expected;
            subpixel::refine(&mut places, choice, &picture.view(), |_, _| None);
            let refined = ReferenceDetector::new(builder.subpixel(choice).build().unwrap()).detect(&picture.view());
            prop_assert_eq!(refined.unwrap(), merged(&places, &found, &config), "{:?}", picture);
        }
    }
}

/// Round spots: by their symmetry the response is greatest in their centres, which lie between
/// pixels.
#[test]
fn quadratic_places_lie_where_spots_do() {
    let centres = [(20.3_f32, 15.7_f32), (44.75, 14.2), (19.6, 40.4), (43.0, 39.35)];
    let samples: Vec<f32> = (0..64 * 56)
        .map(|i| {
            let (x, y) = ((i % 64) as f32, (i / 64) as f32);
            centres.iter().map(|(u, v)| (-((x - u).powi(2) + (y - v).powi(2)) / 4.5).exp()).sum()
        })
        .collect();
    let image = ImageView::gray(&samples, 64, 56).unwrap();
    let config = HarrisConfig::builder()
        .smoothing(Smoothing::None)
        .window(Window::Gaussian { size: 15, sigma: 3.0 })
        .threshold(Threshold::Relative(0.2))
        .suppression_radius(4)
        .subpixel(Subpixel::Quadratic)
        .order(Order::Raster)
        .build()
        .unwrap();
    let found = ReferenceDetector::new(config).detect(&image).unwrap();
    assert_eq!(found.len(), centres.len());
    for (u, v) in centres {
        let is_there = |corner: &&Keypoint| (corner.x - u).abs() < 0.1 && (corner.y - v).abs() < 0.1;
        assert_eq!(found.iter().filter(is_there).count(), 1, "{u}, {v}: {found:?}");
    }
}
