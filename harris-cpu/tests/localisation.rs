//! Where corners are found, against where they are.

use std::sync::LazyLock;

use harris_conformance::pictures::photographs;
use harris_cpu::harris_core::{Gradient, Subpixel, Window, presets};
use harris_cpu::{CpuDetector, Detector, HarrisConfig, ImageView};
use harris_evaluation::scenes::{Scene, Shape};
use harris_evaluation::{Degradation, Score, score};

/// Pixels between a corner and its place.
const TOLERANCE: f64 = 4.0;

/// A scene of each shape.
static SCENES: LazyLock<[(Shape, Scene); 5]> =
    LazyLock::new(|| Scene::SHAPES.map(|shape| (shape, Scene::of(shape, 4, 4))));

/// The scores of all shapes under noise of a standard deviation in levels of 255.
fn scores(subpixel: Subpixel, noise: f64) -> Vec<(Shape, Score)> {
    let config = HarrisConfig::builder().subpixel(subpixel).build().unwrap();
    let mut detector = CpuDetector::new(config);
    let scored = SCENES.iter().map(|(shape, scene)| {
        let image = Degradation::builder().noise(noise).seed(9).build().unwrap().apply(&scene.levels);
        let found = detector.detect(&ImageView::try_from(&image).unwrap()).unwrap();
        (*shape, score(&found, &scene.corners, TOLERANCE).unwrap())
    });
    scored.collect()
}

fn mean(scores: &[(Shape, Score)]) -> f64 {
    scores.iter().map(|(_, score)| score.clone()).sum::<Score>().mean_error().unwrap()
}

#[test]
fn forstner_places_lie_where_corners_are_drawn() {
    for (noise, limit) in [(0.0, 0.15), (5.0, 0.3)] {
        let scores = scores(Subpixel::Forstner { radius: 5 }, noise);
        let all = mean(&scores);
        assert!(all < limit, "noise {noise}: {all}");
        for (shape, score) in scores {
            let error = score.mean_error().unwrap();
            let recall = score.recall();
            assert!(
                error < limit + 0.05 && recall > 0.9,
                "{shape:?}, noise {noise}: {error}, recall {recall}"
            );
        }
    }
}

#[test]
fn pixels_and_quadratic_places_lie_more_than_a_pixel_inside_the_corner() {
    // Why the above is needed: pixels, and parabolas through their responses, are off by more than
    // a pixel.
    for subpixel in [Subpixel::None, Subpixel::Quadratic] {
        let error = mean(&scores(subpixel, 0.0));
        assert!((1.0..1.7).contains(&error), "{subpixel}: {error}");
    }
}

#[test]
fn lococo_finds_most_corners_of_harris_with_gaussian_derivatives() {
    let mut lococo = CpuDetector::new(presets::lococo_2011());
    // A Gaussian as wide as the box, and the same window.
    let harris = presets::lococo_2011().to_builder();
    let gradient = Gradient::GaussianDerivative { size: 9, sigma: 9.0 / 3.5 };
    let harris = harris.gradient(gradient).window(Window::Box { size: 9 }).max_corners(500).build().unwrap();
    let mut harris = CpuDetector::new(harris);
    for (name, photograph) in photographs() {
        let gray = photograph.to_luma8();
        let image = ImageView::try_from(&gray).unwrap();
        let strongest = harris.detect(&image).unwrap();
        let places: Vec<_> = strongest.iter().map(|k| [f64::from(k.x), f64::from(k.y)]).collect();
        let found = score(&lococo.detect(&image).unwrap(), &places, 2.0).unwrap();
        assert!(
            found.wanted > 50 && found.recall() >= 0.85,
            "{name}: {} of {}",
            found.errors.len(),
            found.wanted
        );
    }
}
