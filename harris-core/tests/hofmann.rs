//! A second reading of Hofmann's detector (2009, appendix A): planes of the image's size,
//! everything in f64.

use harris_conformance::pictures::photographs;
use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian, Sampling, presets};
use harris_core::{Detector, ImageView};
use image::GrayImage;

/// His parameters.
struct Parameters {
    octaves: usize,
    intervals: usize,
    step: usize,
    threshold: f64,
}

/// A keypoint as his list has it; the strength's sign is that of the trace.
#[derive(Clone, Copy, Debug)]
struct Point {
    x: f64,
    y: f64,
    scale: f64,
    strength: f64,
}

/// Gray levels in 0..1, summed up.
struct Sums {
    width: i64,
    height: i64,
    sums: Vec<f64>,
}

impl Sums {
    fn of(image: &GrayImage) -> Self {
        let (width, height) = (i64::from(image.width()), i64::from(image.height()));
        let mut sums = vec![0.0; ((width + 1) * (height + 1)) as usize];
        for y in 0..height {
            let mut row = 0.0;
            for x in 0..width {
                row += f64::from(image.get_pixel(x as u32, y as u32).0[0]) / 255.0;
                sums[((y + 1) * (width + 1) + x + 1) as usize] =
                    sums[(y * (width + 1) + x + 1) as usize] + row;
            }
        }
        Self { width, height, sums }
    }

    /// The sum of `height` rows from `row` on and `width` columns from `column` on, as OpenSURF's
    /// box integral has it.
    fn area(&self, row: i64, column: i64, height: i64, width: i64) -> f64 {
        let at = |y: i64, x: i64| {
            self.sums[(y.clamp(0, self.height) * (self.width + 1) + x.clamp(0, self.width)) as usize]
        };
        at(row + height, column + width) - at(row, column + width) - at(row + height, column)
            + at(row, column)
    }

    /// Magnitude and sign under the filter of lobe `l`: a negative determinant is 0.
    fn determinant(&self, l: i64, r: i64, c: i64) -> f64 {
        let (w, b) = (3 * l, 3 * l / 2);
        let dxx =
            self.area(r - l + 1, c - b, 2 * l - 1, w) - self.area(r - l + 1, c - l / 2, 2 * l - 1, l) * 3.0;
        let dyy =
            self.area(r - b, c - l + 1, w, 2 * l - 1) - self.area(r - l / 2, c - l + 1, l, 2 * l - 1) * 3.0;
        let dxy = self.area(r - l, c + 1, l, l) + self.area(r + 1, c - l, l, l)
            - self.area(r - l, c - l, l, l)
            - self.area(r + 1, c + 1, l, l);
        let [dxx, dyy, dxy] = [dxx, dyy, dxy].map(|d| d / (w * w) as f64);
        let determinant = (dxx * dyy - 0.81 * dxy * dxy).max(0.0);
        if dxx + dyy >= 0.0 { determinant } else { -determinant }
    }
}

/// Solves A·x = b by Gaussian elimination; nothing where A is singular.
fn solve(mut a: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for i in 0..3 {
        let pivot = (i..3).max_by(|p, q| a[*p][i].abs().total_cmp(&a[*q][i].abs()))?;
        a.swap(i, pivot);
        if a[i][i] == 0.0 {
            return None;
        }
        for row in 0..3 {
            if row != i {
                let factor = a[row][i] / a[i][i];
                for column in i..4 {
                    a[row][column] -= factor * a[i][column];
                }
            }
        }
    }
    Some([0, 1, 2].map(|i| a[i][3] / a[i][i]))
}

/// His keypoints, and how many extrema the interpolation rejects.
fn detect(image: &GrayImage, parameters: &Parameters) -> (Vec<Point>, usize) {
    let sums = Sums::of(image);
    let (mut points, mut rejected) = (Vec::new(), 0);
    for octave in 0..parameters.octaves {
        let lobe = |interval: usize| (2_i64 << octave) * (interval as i64 + 1) + 1;
        let step = (parameters.step << octave) as i64;
        let border = 3 * lobe(parameters.intervals - 1) / 2 + 1;
        let planes: Vec<Vec<f64>> = (0..parameters.intervals)
            .map(|interval| {
                let mut plane = vec![0.0; (sums.width * sums.height) as usize];
                for y in (border..sums.height - border).step_by(step as usize) {
                    for x in (border..sums.width - border).step_by(step as usize) {
                        plane[(y * sums.width + x) as usize] = sums.determinant(lobe(interval), y, x);
                    }
                }
                plane
            })
            .collect();
        for interval in 1..parameters.intervals - 1 {
            for y in (border + step..sums.height - border - step).step_by(step as usize) {
                for x in (border + step..sums.width - border - step).step_by(step as usize) {
                    let signed = |i: i64, dx: i64, dy: i64| {
                        planes[(interval as i64 + i) as usize]
                            [((y + dy * step) * sums.width + x + dx * step) as usize]
                    };
                    let d = |i: i64, dx: i64, dy: i64| signed(i, dx, dy).abs();
                    let v = d(0, 0, 0);
                    let around = (-1..=1)
                        .flat_map(|i| (-1..=1).flat_map(move |dx| (-1..=1).map(move |dy| (i, dx, dy))));
                    let greatest = around
                        .filter(|place| *place != (0, 0, 0))
                        .map(|(i, dx, dy)| d(i, dx, dy))
                        .fold(0.0, f64::max);
                    if v <= parameters.threshold || v <= greatest {
                        continue;
                    }
                    let cross =
                        |f: &dyn Fn(i64, i64) -> f64| (f(1, 1) - f(1, -1) - f(-1, 1) + f(-1, -1)) / 4.0;
                    let (xy, xs, ys) =
                        (cross(&|a, b| d(0, a, b)), cross(&|a, b| d(b, a, 0)), cross(&|a, b| d(b, 0, a)));
                    let xx = d(0, 1, 0) + d(0, -1, 0) - 2.0 * v;
                    let yy = d(0, 0, 1) + d(0, 0, -1) - 2.0 * v;
                    let ss = d(1, 0, 0) + d(-1, 0, 0) - 2.0 * v;
                    let gradient = [
                        (d(0, 1, 0) - d(0, -1, 0)) / 2.0,
                        (d(0, 0, 1) - d(0, 0, -1)) / 2.0,
                        (d(1, 0, 0) - d(-1, 0, 0)) / 2.0,
                    ];
                    let rows = [[xx, xy, xs], [xy, yy, ys], [xs, ys, ss]];
                    let system = [0, 1, 2].map(|i| [rows[i][0], rows[i][1], rows[i][2], -gradient[i]]);
                    match solve(system) {
                        Some([dx, dy, ds]) if [dx, dy, ds].iter().all(|offset| offset.abs() < 0.5) => {
                            points.push(Point {
                                x: x as f64 + dx * step as f64,
                                y: y as f64 + dy * step as f64,
                                scale: 1.2 / 9.0
                                    * 3.0
                                    * ((2_i64 << octave) as f64 * (interval as f64 + ds + 1.0) + 1.0),
                                strength: signed(0, 0, 0),
                            });
                        }
                        _ => rejected += 1,
                    }
                }
            }
        }
    }
    (points, rejected)
}

/// The keypoints of the reference are those of the second reading, all of them and no others.
fn assert_same(name: &str, image: &GrayImage, parameters: &Parameters) -> (usize, usize) {
    let config = FastHessianConfig::builder()
        .octaves(parameters.octaves as u32)
        .intervals(parameters.intervals as u32)
        .step(parameters.step as u32)
        .threshold(parameters.threshold as f32)
        .sampling(Sampling::Border)
        .clamp_negative(true)
        .build()
        .unwrap();
    let mut detector = ReferenceFastHessian::new(config);
    let found = detector.detect(&ImageView::try_from(image).unwrap()).unwrap();
    let (expected, rejected) = detect(image, parameters);
    assert_eq!(found.len(), expected.len(), "{name}");
    assert_eq!(detector.rejected_peaks(), Some(rejected), "{name}");
    let mut taken = vec![false; found.len()];
    for point in &expected {
        let same = found.iter().position(|keypoint| {
            (f64::from(keypoint.x) - point.x).abs() < 1e-3
                && (f64::from(keypoint.y) - point.y).abs() < 1e-3
                && (f64::from(keypoint.scale) - point.scale).abs() < 1e-3
                && (f64::from(keypoint.response) - point.strength).abs() < 1e-6
                && keypoint.response.is_sign_positive() == point.strength.is_sign_positive()
        });
        let same = same.unwrap_or_else(|| panic!("{name}: {point:?} is missing"));
        assert!(!std::mem::replace(&mut taken[same], true), "{name}: {point:?} twice");
    }
    (found.len(), rejected)
}

#[test]
fn the_preset_finds_hofmanns_keypoints_on_photographs() {
    let parameters = Parameters { octaves: 4, intervals: 4, step: 2, threshold: 0.0004 };
    for (name, photograph) in photographs() {
        let image = photograph.to_luma8();
        let (found, rejected) = assert_same(&name, &image, &parameters);
        println!("{name}: {found} found, {rejected} rejected");
        let view = ImageView::try_from(&image).unwrap();
        let mut detector = ReferenceFastHessian::new(presets::hofmann_2009());
        assert_eq!(detector.detect(&view).unwrap().len(), found);
        assert!(found > 200 && rejected > 0, "{name}");
        // The default is another detector: many of his keypoints are not among its own.
        let others = ReferenceFastHessian::new(FastHessianConfig::default()).detect(&view).unwrap();
        let (points, _) = detect(&image, &parameters);
        let is_missing = |point: &&Point| {
            !others.iter().any(|keypoint| {
                (f64::from(keypoint.x) - point.x).hypot(f64::from(keypoint.y) - point.y) <= 0.5
                    && (f64::from(keypoint.scale) - point.scale).abs() <= 0.05 * point.scale
            })
        };
        let missing = points.iter().filter(is_missing).count();
        println!("{name}: {missing} are not among the default's");
        assert!(missing * 10 > found, "{name}: {missing} of {found}");
    }
}

/// Octaves, intervals and steps to the ends of their ranges, also where octaves have no layer in
/// common.
#[test]
fn other_octaves_intervals_and_steps_are_his_too() {
    let (_, photograph) = photographs().into_iter().next().unwrap();
    let image = photograph.to_luma8();
    let mut found = 0;
    for (octaves, intervals, step) in [(1, 15, 1), (3, 3, 2), (2, 10, 3), (3, 7, 5), (6, 4, 2), (7, 3, 1)] {
        let parameters = Parameters { octaves, intervals, step, threshold: 0.0002 };
        found += assert_same(
            &format!("{octaves} octaves, {intervals} intervals, step {step}"),
            &image,
            &parameters,
        )
        .0;
    }
    assert!(found > 1000, "{found}");
}
