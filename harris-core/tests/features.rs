//! A second reading of sections 11 to 13 of docs/arithmetic.md: sums pixel by pixel, in f64 where
//! the definition has f32.

use harris_conformance::pictures::{Depth, Picture, noise};
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_core::{Detector, Keypoint};
use ndarray::Array2;

/// Levels in 0..1, 0 outside.
struct Levels(Vec<Vec<f64>>);

impl Levels {
    fn of(width: usize, height: usize, level: impl Fn(usize, usize) -> f64) -> Self {
        Self((0..height).map(|y| (0..width).map(|x| level(x, y)).collect()).collect())
    }

    fn at(&self, x: i64, y: i64) -> f64 {
        let row = usize::try_from(y).ok().and_then(|y| self.0.get(y));
        row.and_then(|row| row.get(usize::try_from(x).ok()?)).copied().unwrap_or(0.0)
    }

    /// The determinant from filters drawn as masks of weights.
    fn determinant(&self, filter: i64, x: i64, y: i64) -> f64 {
        let (lobe, half) = (filter / 3, filter / 2);
        // Which third of the filter a place is in: −1, 0, 1.
        let third = |i: i64| (i + half).div_euclid(lobe) - 1;
        let bar = |along: i64, across: i64| {
            if across.abs() >= lobe || along.abs() > half {
                return 0.0;
            }
            if third(along) == 0 { -2.0 } else { 1.0 }
        };
        let corner = |dx: i64, dy: i64| {
            if dx == 0 || dy == 0 || dx.abs() > lobe || dy.abs() > lobe {
                return 0.0;
            }
            if (dx > 0) == (dy > 0) { -1.0 } else { 1.0 }
        };
        let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
        for dy in -half..=half {
            for dx in -half..=half {
                let level = self.at(x + dx, y + dy);
                xx += bar(dx, dy) * level;
                yy += bar(dy, dx) * level;
                xy += corner(dx, dy) * level;
            }
        }
        let area = (filter * filter) as f64;
        (xx * yy - 0.81 * xy * xy) / (area * area)
    }
}

/// Smooth hills under a little noise, in levels of 255.
fn level(x: usize, y: usize) -> f64 {
    let wave = |i: usize, period: f64| (i as f64 / period).sin();
    let hills = wave(x, 3.1) * wave(y, 4.3) + wave(x + y, 7.7) * wave(x, 9.1);
    ((0.5 + 0.2 * hills + 0.05 * noise(3, x, y, 0)) * 255.0).round() / 255.0
}

#[test]
fn the_response_is_the_determinant_of_the_smallest_filter() {
    let (width, height) = (47, 41);
    let levels = Levels::of(width, height, level);
    for depth in [Depth::U8, Depth::U16, Depth::F32] {
        let picture = Picture::draw(depth, (width, height, 1), |x, y, _| level(x, y));
        let response =
            ReferenceFastHessian::new(FastHessianConfig::default()).response(&picture.view()).unwrap();
        for ((y, x), &found) in response.indexed_iter() {
            let inside = x >= 4 && y >= 4 && x + 4 < width && y + 4 < height;
            let expected = if inside { levels.determinant(9, x as i64, y as i64) } else { 0.0 };
            assert!((f64::from(found) - expected).abs() < 1e-6, "{depth:?} {x}, {y}: {found} for {expected}");
        }
    }
}

#[test]
fn keypoints_are_the_peaks_of_determinants() {
    let (width, height) = (90, 83);
    let levels = Levels::of(width, height, level);
    let picture = Picture::draw(Depth::U8, (width, height, 1), |x, y, _| level(x, y));
    let config = FastHessianConfig::builder().octaves(2).build().unwrap();
    let found = ReferenceFastHessian::new(config).detect(&picture.view()).unwrap();
    let mut expected = Vec::new();
    // Octave, filters, step.
    for (filters, step) in [([9, 15, 21, 27], 2_i64), ([15, 27, 39, 51], 4)] {
        for three in filters.windows(3) {
            let border = (three[2] + 1) / (2 * step);
            for r in border + 1..height as i64 / step - border {
                for c in border + 1..width as i64 / step - border {
                    let at = |s: usize, i: i64, j: i64| {
                        levels.determinant(three[s], (c + i) * step, (r + j) * step)
                    };
                    let peak = at(1, 0, 0);
                    let others =
                        (0..3).flat_map(|s| (-1..=1).flat_map(move |j| (-1..=1).map(move |i| (s, i, j))));
                    let greatest = others.filter(|place| *place != (1, 0, 0)).map(|(s, i, j)| at(s, i, j));
                    if peak > 0.0004 && peak > greatest.fold(f64::NEG_INFINITY, f64::max) {
                        expected.push((c * step, r * step, three[1], step, peak));
                    }
                }
            }
        }
    }
    // All keypoints are at such peaks, less than half a sample away, and no stronger than there.
    assert!(found.len() > 10, "{}", found.len());
    for keypoint in &found {
        let near = expected.iter().any(|&(x, y, filter, step, peak)| {
            let within =
                |place: f32, sample: i64| (f64::from(place) - sample as f64).abs() < 0.5 * step as f64;
            within(keypoint.x, x)
                && within(keypoint.y, y)
                && (f64::from(keypoint.scale) / 1.2 * 9.0 - filter as f64).abs() <= 6.0
                && (f64::from(keypoint.response.abs()) - peak).abs() < 1e-6
        });
        assert!(near, "{keypoint:?}");
    }
    // And most peaks have theirs: the others' places are farther.
    assert!(
        found.len() <= expected.len() && found.len() * 3 > expected.len() * 2,
        "{} of {}",
        found.len(),
        expected.len()
    );
}

/// The descriptor with weights and wavelets pixel by pixel.
fn descriptor(levels: &Levels, keypoint: &Keypoint, [cos, sin]: [f64; 2]) -> Vec<f64> {
    let (x, y, scale) = (f64::from(keypoint.x), f64::from(keypoint.y), f64::from(keypoint.scale));
    let pixels = ((scale + 0.5).floor() as i64).max(1);
    let haar = |x: i64, y: i64| {
        let (mut across, mut down) = (0.0, 0.0);
        for j in -pixels..pixels {
            for i in -pixels..pixels {
                let level = levels.at(x + i, y + j);
                across += if i < 0 { -level } else { level };
                down += if j < 0 { -level } else { level };
            }
        }
        (across, down)
    };
    let bell = |x: f64, y: f64, sigma: f64| (-(x * x + y * y) / (2.0 * sigma * sigma)).exp();
    let mut values = Vec::new();
    for q in 0..4 {
        for p in 0..4 {
            let mut sums = [0.0; 4];
            for j in 0..9 {
                for i in 0..9 {
                    let (a, b) = (f64::from(5 * p + i) - 11.5, f64::from(5 * q + j) - 11.5);
                    let column = (x + scale * (a * cos - b * sin) + 0.5).floor() as i64;
                    let row = (y + scale * (a * sin + b * cos) + 0.5).floor() as i64;
                    let (across, down) = haar(column, row);
                    let weight = bell(f64::from(i) - 4.0, f64::from(j) - 4.0, 2.5);
                    let (dx, dy) =
                        (weight * (across * cos + down * sin), weight * (down * cos - across * sin));
                    for (sum, value) in sums.iter_mut().zip([dx, dy, dx.abs(), dy.abs()]) {
                        *sum += value;
                    }
                }
            }
            values.extend(sums.map(|sum| sum * bell(f64::from(p) - 1.5, f64::from(q) - 1.5, 1.5)));
        }
    }
    let length = values.iter().map(|v| v * v).sum::<f64>().sqrt();
    values.iter().map(|v| v / length).collect()
}

#[test]
fn descriptors_are_weighted_sums_of_gradients() {
    let (width, height) = (80, 70);
    let levels = Levels::of(width, height, level);
    let picture = Picture::draw(Depth::U16, (width, height, 1), |x, y, _| level(x, y));
    let keypoints = [(40.2, 35.1, 1.0), (20.0, 30.5, 1.45), (60.71, 22.13, 2.63), (3.0, 66.0, 1.2)];
    let keypoints = keypoints.map(|(x, y, scale)| Keypoint { scale, ..Keypoint::new(x, y, 1.0) });
    let upright = SurfConfig::builder().upright(true).build().unwrap();
    let found = ReferenceSurf::new(upright).extract(&picture.view(), &keypoints).unwrap();
    for (row, keypoint) in found.rows().into_iter().zip(&keypoints) {
        for (i, (found, expected)) in row.iter().zip(descriptor(&levels, keypoint, [1.0, 0.0])).enumerate() {
            assert!(
                (f64::from(*found) - expected).abs() < 2e-6,
                "{keypoint:?} value {i}: {found} for {expected}"
            );
        }
    }
}

/// A picture rotated by a right angle has the descriptors of the original.
#[test]
fn descriptors_are_invariant_under_right_angles() {
    let side = 81;
    let slope = |x: usize, y: usize| (level(x, y) * 0.3 + 0.5 * x as f64 / side as f64).min(1.0);
    let picture = Picture::draw(Depth::U8, (side, side, 1), |x, y, _| slope(x, y));
    let turned = Picture::draw(Depth::U8, (side, side, 1), |x, y, _| slope(y, side - 1 - x));
    let mut extractor = ReferenceSurf::new(SurfConfig::default());
    let a = extractor
        .extract(&picture.view(), &[Keypoint { scale: 1.7, ..Keypoint::new(40.0, 40.0, 1.0) }])
        .unwrap();
    let b = extractor
        .extract(&turned.view(), &[Keypoint { scale: 1.7, ..Keypoint::new(40.0, 40.0, 1.0) }])
        .unwrap();
    let distance = (&a - &b).iter().map(|v| v * v).sum::<f32>().sqrt();
    // Wavelets of an even side lie half a pixel beside their pixel, which turns to another side.
    assert!(distance < 0.2, "{distance}");
    let upright = SurfConfig::builder().upright(true).build().unwrap();
    let c = ReferenceSurf::new(upright).extract(&turned.view(), &[Keypoint::new(40.0, 40.0, 1.0)]).unwrap();
    assert!((&a - &c).iter().map(|v| v * v).sum::<f32>().sqrt() > 0.5);
}

#[test]
fn matches_are_nearest_and_distinct() {
    let rows = |rows: &[[f32; 2]]| {
        Array2::from_shape_fn((rows.len(), 64), |(i, j)| rows[i].get(j).copied().unwrap_or(0.0))
    };
    let train = rows(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.25], [0.0, 3.0]]);
    let query = rows(&[[0.0, 0.5], [1.0, 0.125], [0.0, 2.5], [1.0, -0.25]]);
    let found = |config: MatchConfig| -> Vec<_> {
        let matches = ReferenceMatcher::new(config).matches(query.view(), train.view()).unwrap();
        matches.iter().map(|m| (m.query, m.train, m.distance)).collect()
    };
    // The second query is as near to two, of which the first is taken.
    let all = [(0, 0, 0.5), (1, 1, 0.125), (2, 3, 0.5), (3, 1, 0.25)];
    assert_eq!(found(MatchConfig::nearest()), all);
    // 1 and 2 are 0.25 and 0.5 from the last.
    assert_eq!(found(MatchConfig::default()), [all[0], all[2], all[3]]);
    assert_eq!(found(MatchConfig::builder().ratio(0.5).build().unwrap()), [all[0], all[2]]);
    // The first is nearer to the second query than to the last.
    assert_eq!(found(MatchConfig::nearest().to_builder().cross_check(true).build().unwrap()), all[..3]);
    for ratio in [0.0, -0.1, 1.1, f32::NAN] {
        assert!(MatchConfig::builder().ratio(ratio).build().is_err());
    }
}
