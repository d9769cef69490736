//! Matches and homographies between photographs and their warped copies, whose geometry is known.

use harris_conformance::pictures::{noise, photographs};
use harris_cpu::harris_core::fast_hessian::FastHessianConfig;
use harris_cpu::harris_core::matching::{Homography, MatchConfig, Matcher, Pair, Ransac};
use harris_cpu::harris_core::surf::{Extractor, SurfConfig};
use harris_cpu::{
    CpuDetector, CpuFastHessian, CpuMatcher, CpuSurf, Detector, HarrisConfig, ImageView, Keypoint,
};
use ndarray::Array2;

/// Samples in 0..1.
type Gray = Array2<f32>;

/// How a view differs from the photograph.
#[derive(Clone, Copy, Debug)]
struct View {
    degrees: f64,
    scale: f64,
    /// Of the perspective, per pixel.
    tilt: f64,
    /// Standard deviation in levels of 255.
    noise: f64,
    blurred: bool,
    gain: f64,
    offset: f64,
}

const PLAIN: View =
    View { degrees: 0.0, scale: 1.0, tilt: 0.0, noise: 2.0, blurred: false, gain: 1.0, offset: 0.0 };

impl View {
    /// The middle of the view, in which the whole photograph lies.
    fn middle(&self, width: f64, height: f64) -> (f64, f64) {
        let (sin, cos) = self.degrees.abs().to_radians().sin_cos();
        let side = |along: f64, across: f64| (0.5 * self.scale * (along * cos + across * sin) + 10.0).ceil();
        (side(width, height), side(height, width))
    }

    /// The map from the photograph to the view: turned and scaled about the middle, then tilted.
    fn homography(&self, width: f64, height: f64) -> Homography {
        let (sin, cos) = self.degrees.to_radians().sin_cos();
        let (a, b) = (self.scale * cos, self.scale * sin);
        let ((x, y), (u, v)) = ((width / 2.0, height / 2.0), self.middle(width, height));
        let moved = [u - a * x + b * y, v - b * x - a * y];
        Homography { matrix: [[a, -b, moved[0]], [b, a, moved[1]], [self.tilt, -0.5 * self.tilt, 1.0]] }
    }

    fn draw(&self, photograph: &Gray, seed: u64) -> Gray {
        let (height, width) = photograph.dim();
        let back = inverse(&self.homography(width as f64, height as f64));
        let (u, v) = self.middle(width as f64, height as f64);
        let (width, height) = (2 * u as usize, 2 * v as usize);
        let warped = Array2::from_shape_fn((height, width), |(y, x)| {
            let [u, v] = back.map([x as f64, y as f64]).expect("not at infinity");
            interpolated(photograph, u, v)
        });
        let at = |x: isize, y: isize| {
            let clamp = |i: isize, len: usize| i.clamp(0, len as isize - 1) as usize;
            warped[[clamp(y, height), clamp(x, width)]]
        };
        Array2::from_shape_fn((height, width), |(y, x)| {
            let (i, j) = (x as isize, y as isize);
            let value = match self.blurred {
                true => {
                    let row = |j: isize| at(i - 1, j) + 2.0 * at(i, j) + at(i + 1, j);
                    (row(j - 1) + 2.0 * row(j) + row(j + 1)) / 16.0
                }
                false => warped[[y, x]],
            };
            // Twelve uniform numbers have a variance of 1.
            let grain: f64 = (0..12).map(|k| noise(seed, x, y, k)).sum::<f64>() - 6.0;
            let level = f64::from(value) * self.gain + self.offset + grain * self.noise / 255.0;
            (level.clamp(0.0, 1.0) * 255.0).round() as f32 / 255.0
        })
    }
}

fn interpolated(image: &Gray, x: f64, y: f64) -> f32 {
    let (height, width) = image.dim();
    if x < 0.0 || y < 0.0 || x > (width - 1) as f64 || y > (height - 1) as f64 {
        return 0.4;
    }
    let (i, j) = ((x as usize).min(width - 2), (y as usize).min(height - 2));
    let (u, v) = ((x - i as f64) as f32, (y - j as f64) as f32);
    let row = |j: usize| image[[j, i]] * (1.0 - u) + image[[j, i + 1]] * u;
    row(j) * (1.0 - v) + row(j + 1) * v
}

fn inverse(homography: &Homography) -> Homography {
    let [[a, b, c], [d, e, f], [g, h, i]] = homography.matrix;
    Homography {
        matrix: [
            [e * i - f * h, c * h - b * i, b * f - c * e],
            [f * g - d * i, a * i - c * g, c * d - a * f],
            [d * h - e * g, b * g - a * h, a * e - b * d],
        ],
    }
}

fn gray(image: &image::DynamicImage) -> Gray {
    let image = image.to_luma8();
    Array2::from_shape_fn((image.height() as usize, image.width() as usize), |(y, x)| {
        f32::from(image.get_pixel(x as u32, y as u32).0[0]) / 255.0
    })
}

struct Pipeline {
    detector: Box<dyn Detector>,
    extractor: CpuSurf,
}

/// Pairs of places of the matches of this ratio.
fn pairs(
    ratio: f32,
    (found, query): &(Vec<Keypoint>, Array2<f32>),
    (trained, train): &(Vec<Keypoint>, Array2<f32>),
) -> Vec<Pair> {
    let config = MatchConfig::default().with_ratio(ratio).unwrap().with_cross_check(true);
    let matches = CpuMatcher::new(config).matches(query.view(), train.view()).unwrap();
    let place = |k: &Keypoint| [f64::from(k.x), f64::from(k.y)];
    matches.iter().map(|m| (place(&trained[m.train]), place(&found[m.query]))).collect()
}

fn distance([x, y]: [f64; 2], [u, v]: [f64; 2]) -> f64 {
    (x - u).hypot(y - v)
}

impl Pipeline {
    fn features(&mut self, image: &Gray) -> (Vec<Keypoint>, Array2<f32>) {
        let view = ImageView::try_from(image).unwrap();
        let keypoints = self.detector.detect(&view).unwrap();
        let descriptors = self.extractor.extract(&view, &keypoints).unwrap();
        (keypoints, descriptors)
    }

    /// Matches the photographs with their views: nine of ten are right by 3 pixels, and the homography by 2 at the corners.
    fn matches_views(&mut self, views: &[View]) {
        for (name, photograph) in photographs() {
            let photograph = gray(&photograph);
            let (height, width) = photograph.dim();
            let trained = self.features(&photograph);
            let (mut matched, mut right) = (0, 0);
            for (seed, view) in views.iter().enumerate() {
                let truth = view.homography(width as f64, height as f64);
                let found = self.features(&view.draw(&photograph, seed as u64));
                let near = |(a, b): &&Pair| distance(truth.map(*a).unwrap(), *b) <= 3.0;
                let strict = pairs(0.6, &found, &trained);
                matched += strict.len();
                right += strict.iter().filter(near).count();
                // More matches, of which more are wrong, determine the homography better.
                let fit = Homography::ransac(&pairs(0.8, &found, &trained), &Ransac::default()).unwrap();
                for (x, y) in [(0, 0), (width, 0), (0, height), (width, height)] {
                    let corner = [x as f64, y as f64];
                    let error = distance(fit.homography.map(corner).unwrap(), truth.map(corner).unwrap());
                    assert!(error <= 2.0, "{name} {view:?}: corner {corner:?} is {error} away");
                }
            }
            println!("{name}: {right} of {matched} matches in {} views are right", views.len());
            assert!(matched > 30 * views.len() && right * 10 >= matched * 9, "{name}: {right} of {matched}");
        }
    }
}

#[test]
fn surf_keypoints_are_matched_under_rotation_scale_noise_blur_and_light() {
    let mut views = Vec::new();
    for (i, scale) in [0.7, 0.85, 1.0, 1.2, 1.4].into_iter().enumerate() {
        for (j, degrees) in [-30.0, -17.0, 0.0, 10.0, 30.0].into_iter().enumerate() {
            let light = [(1.0, 0.0), (0.85, 0.05), (1.15, -0.1)][(i + j) % 3];
            views.push(View {
                degrees,
                scale,
                tilt: [0.0, 1e-4][(i + j) % 2],
                noise: [2.0, 3.0][j % 2],
                blurred: (i + j) % 4 == 0,
                gain: light.0,
                offset: light.1,
            });
        }
    }
    // Sampled densely, and without the large blobs, whose places are less certain by their scale.
    let config = FastHessianConfig::builder().step(1).octaves(2).threshold(0.0002).build().unwrap();
    let mut pipeline = Pipeline {
        detector: Box::new(CpuFastHessian::new(config)),
        extractor: CpuSurf::new(SurfConfig::default()),
    };
    pipeline.matches_views(&views);
}

#[test]
fn harris_keypoints_are_matched_under_rotation_and_light() {
    let views = [
        View { degrees: 10.0, ..PLAIN },
        View { degrees: -20.0, gain: 0.7, offset: 0.1, ..PLAIN },
        View { degrees: 30.0, gain: 1.2, offset: -0.1, ..PLAIN },
        View { gain: 0.6, ..PLAIN },
        View { offset: 0.15, ..PLAIN },
    ];
    let surf = SurfConfig::builder().magnification(2.0).build().unwrap();
    let mut pipeline = Pipeline {
        detector: Box::new(CpuDetector::new(HarrisConfig::default())),
        extractor: CpuSurf::new(surf),
    };
    pipeline.matches_views(&views);
}
