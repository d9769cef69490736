//! Matches and homographies between photographs and their warped copies, whose geometry is known.

use harris_conformance::pictures::photographs;
use harris_cpu::harris_core::fast_hessian::FastHessianConfig;
use harris_cpu::harris_core::matching::{Homography, MatchConfig, Matcher, Pair, Ransac, matched_pairs};
use harris_cpu::harris_core::surf::{Extractor, SurfConfig};
use harris_cpu::{
    CpuDetector, CpuFastHessian, CpuMatcher, CpuSurf, Detector, HarrisConfig, ImageView, Keypoint,
};
use harris_evaluation::{Degradation, View};
use ndarray::Array2;

/// The photograph in gray, in levels of 0 to 1.
fn levels(image: &image::DynamicImage) -> Array2<f64> {
    let image = image.to_luma8();
    Array2::from_shape_fn((image.height() as usize, image.width() as usize), |(y, x)| {
        f64::from(image.get_pixel(x as u32, y as u32).0[0]) / 255.0
    })
}

/// As f32, so that the float paths are tried, too.
fn floats(image: &Array2<u8>) -> Array2<f32> {
    image.mapv(|v| f32::from(v) / 255.0)
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
    let config = MatchConfig::builder().ratio(ratio).cross_check(true).build().unwrap();
    let matches = CpuMatcher::new(config).matches(query.view(), train.view()).unwrap();
    matched_pairs(&matches, found, trained).unwrap()
}

fn distance([x, y]: [f64; 2], [u, v]: [f64; 2]) -> f64 {
    (x - u).hypot(y - v)
}

impl Pipeline {
    fn features(&mut self, image: &Array2<f32>) -> (Vec<Keypoint>, Array2<f32>) {
        let view = ImageView::try_from(image).unwrap();
        let keypoints = self.detector.detect(&view).unwrap();
        let descriptors = self.extractor.extract(&view, &keypoints).unwrap();
        (keypoints, descriptors)
    }

    /// Matches the photographs with their views: nine of ten are right by 3 pixels, and the
    /// homography by 2 at the corners, where few matches lie, but for two of a photograph's views,
    /// which may be off by up to 4.
    fn matches_views(&mut self, views: &[View]) {
        for (name, photograph) in photographs() {
            let photograph = levels(&photograph);
            let (height, width) = photograph.dim();
            let trained = self.features(&floats(&Degradation::default().apply(&photograph)));
            let (mut matched, mut right, mut far) = (0, 0, 0);
            for (seed, view) in views.iter().enumerate() {
                let truth = view.homography(width, height);
                let noise = view.degradation().to_builder().seed(seed as u64).build().unwrap();
                let seen = view.to_builder().degradation(noise).build().unwrap();
                let found = self.features(&floats(&seen.draw(&photograph).unwrap()));
                let near = |(a, b): &&Pair| distance(truth.map(*a).unwrap(), *b) <= 3.0;
                // Beyond the photograph the view shows its mirror image, which has no place in it.
                let back = truth.inverse().unwrap();
                let within = |v: f64, len: usize| (0.0..=len as f64 - 1.0).contains(&v);
                let shown =
                    |b: [f64; 2]| back.map(b).is_some_and(|[x, y]| within(x, width) && within(y, height));
                let pairs_of = |ratio| -> Vec<Pair> {
                    pairs(ratio, &found, &trained).into_iter().filter(|(_, b)| shown(*b)).collect()
                };
                let strict = pairs_of(0.6);
                matched += strict.len();
                right += strict.iter().filter(near).count();
                // More matches, of which more are wrong, determine the homography better.
                let fit = Homography::ransac(&pairs_of(0.8), &Ransac::default()).unwrap().unwrap();
                let corners =
                    [(0, 0), (width, 0), (0, height), (width, height)].map(|(x, y)| [x as f64, y as f64]);
                let off = |corner| distance(fit.homography.map(corner).unwrap(), truth.map(corner).unwrap());
                let error = corners.map(off).into_iter().fold(0.0, f64::max);
                assert!(error <= 4.0, "{name} {view:?}: a corner is {error} away");
                far += usize::from(error > 2.0);
            }
            assert!(far <= 2, "{name}: {far} homographies are off by more than 2 pixels at a corner");
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
            let degradation = Degradation::builder()
                .noise([2.0, 3.0][j % 2])
                .blur(if (i + j) % 4 == 0 { 0.7 } else { 0.0 })
                .gain(light.0)
                .offset(light.1);
            let view = View::builder().degrees(degrees).scale(scale).tilt([0.0, 1e-4][(i + j) % 2]);
            views.push(view.degradation(degradation.build().unwrap()).build().unwrap());
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
    let views = [(10.0, 1.0, 0.0), (-20.0, 0.7, 0.1), (30.0, 1.2, -0.1), (0.0, 0.6, 0.0), (0.0, 1.0, 0.15)]
        .map(|(degrees, gain, offset)| {
            let degradation = Degradation::builder().noise(2.0).gain(gain).offset(offset).build().unwrap();
            View::builder().degrees(degrees).degradation(degradation).build().unwrap()
        });
    let surf = SurfConfig::builder().magnification(2.0).build().unwrap();
    let mut pipeline = Pipeline {
        detector: Box::new(CpuDetector::new(HarrisConfig::default())),
        extractor: CpuSurf::new(surf),
    };
    pipeline.matches_views(&views);
}
