//! The Fast-Hessian detector: equality with the reference, and errors.

use harris_core::fast_hessian::{
    FastHessianConfig, FastHessianConfigBuilder, Pyramid, ReferenceFastHessian, Sampling, presets,
};
use harris_core::{Detector, Error, ImageView};
use proptest::prelude::*;

use crate::extent::part_of;
use crate::outcome::{Outcome, run};
use crate::pictures::{DEPTHS, Depth, Picture, noise, photographs};

/// Makes a detector of the backend under test.
pub type Make = fn(FastHessianConfig) -> Box<dyn Detector>;

fn assert_equal(
    detector: &mut dyn Detector,
    config: &FastHessianConfig,
    name: &dyn std::fmt::Debug,
    image: &ImageView<'_>,
) {
    let found = Outcome::of(detector, image);
    let expected = Outcome::of(&mut ReferenceFastHessian::new(config.clone()), image);
    assert!(
        found == expected,
        "{} differs from the reference on {name:?}: {}\n{config:?}",
        detector.describe(),
        found.difference(&expected),
    );
}

/// Returns one of four scenes; the last is smooth noise with blobs of many sizes, interpolated
/// between knots of three grids.
fn brightness(seed: u64, kind: usize) -> impl Fn(usize, usize, usize) -> f64 {
    move |x, y, c| match kind {
        0 => noise(seed, x, y, c),
        1 => noise(seed, x / 7, y / 7, c).round(),
        2 => ((x / 3 + y / 3) % 2) as f64,
        _ => {
            let layer = |size: usize| {
                let knot = |i, j| noise(seed + size as u64, x / size + i, y / size + j, c);
                let (u, v) = ((x % size) as f64 / size as f64, (y % size) as f64 / size as f64);
                let row = |j| knot(0, j) * (1.0 - u) + knot(1, j) * u;
                row(0) * (1.0 - v) + row(1) * v
            };
            (layer(5) + layer(11) + layer(23)) / 3.0
        }
    }
}

/// Pictures with blobs, some with masks and gaps between rows.
pub(crate) fn pictures() -> impl Strategy<Value = Picture> {
    let side = || prop_oneof![1 => 1_usize..40, 3 => 28_usize..80, 1 => 60_usize..170];
    let format = (prop::sample::select(&DEPTHS), prop::sample::select(&[1_usize, 3]), 0_usize..5, 0_u32..4);
    (side(), side(), format, any::<u64>(), 0_usize..6).prop_map(|(width, height, format, seed, kind)| {
        let (depth, channels, gap, mask) = format;
        let picture =
            Picture::draw(depth, (width, height, channels), brightness(seed >> 1, kind)).with_gap(gap);
        if mask == 0 { picture.with_mask(|x, y| noise(seed, x / 9, y / 5, 0) > 0.3) } else { picture }
    })
}

/// Any valid configuration.
pub(crate) fn configs() -> impl Strategy<Value = FastHessianConfig> {
    let threshold = prop_oneof![Just(0.0_f32), Just(0.0004), 0.0_f32..0.01];
    let most = prop_oneof![2 => Just(None), 1 => (1_usize..20).prop_map(Some)];
    let octaves = prop_oneof![4 => (1_u32..=4, 3_u32..=4), 1 => (1_u32..=7, 3_u32..=11)];
    let rules = (prop::sample::select(&SAMPLINGS), any::<bool>());
    (octaves, 1_u32..=6, rules, threshold, most).prop_map(
        |((octaves, intervals), step, (sampling, clamp), threshold, most)| {
            let builder = FastHessianConfig::builder().octaves(octaves).intervals(intervals).step(step);
            let builder = builder.sampling(sampling).clamp_negative(clamp);
            builder.threshold(threshold).max_keypoints(most).build().expect("every combination is valid")
        },
    )
}

const SAMPLINGS: [Sampling; 2] = [Sampling::Multiples, Sampling::Border];

/// Returns a builder for each preset.
fn rules() -> impl Iterator<Item = FastHessianConfigBuilder> {
    presets::ALL.iter().map(|preset| (preset.config)().to_builder())
}

/// Compares random images, up to three in a row through one detector, with random configurations.
pub fn on_random_images(make: Make) {
    run(150, &(configs(), prop::collection::vec(pictures(), 1..4)), |(config, pictures)| {
        let mut detector = make(config.clone());
        for picture in &pictures {
            let image = picture.view();
            let found = Outcome::of(&mut *detector, &image);
            let expected = Outcome::of(&mut ReferenceFastHessian::new(config.clone()), &image);
            prop_assert!(found == expected, "{}: {}", detector.describe(), found.difference(&expected));
        }
        Ok(())
    });
}

/// Compares every width and height up to several vectors, blocks and octaves.
pub fn for_every_width_and_height(make: Make) {
    for rules in rules() {
        let config = rules.threshold(0.0).build().expect("a valid choice");
        let mut detector = make(config.clone());
        for side in part_of(28..=150, 6) {
            for (width, height) in [(side, 34), (35, side)] {
                let picture = Picture::draw(Depth::U8, (width, height, 1), brightness(side as u64, 3));
                assert_equal(&mut *detector, &config, &picture, &picture.view());
            }
        }
        let picture = Picture::draw(Depth::U8, (420, 410, 1), brightness(1, 3));
        assert_equal(&mut *detector, &config, &picture, &picture.view());
        let found = detector.detect(&picture.view()).expect("a valid image");
        assert!(found.iter().any(|keypoint| keypoint.scale > 16.0), "none of the last octave");
    }
}

/// Compares black, white, edges and dots of the greatest contrast: the largest sums, and many equal
/// peaks.
pub fn on_extreme_images(make: Make) {
    type Scene = fn(usize, usize) -> f64;
    let scenes: [(&str, Scene); 6] = [
        ("black", |_, _| 0.0),
        ("white", |_, _| 1.0),
        ("columns", |x, _| (x / 8 % 2) as f64),
        ("dots", |x, y| f64::from(x % 16 < 5 && y % 16 < 5)),
        ("holes", |x, y| f64::from((x % 20).abs_diff(10).pow(2) + (y % 20).abs_diff(10).pow(2) > 16)),
        ("halves", |x, y| f64::from(x + y > 150)),
    ];
    for (rules, step) in rules().flat_map(|rules| [1, 2, 3].map(|step| (rules.clone(), step))) {
        let config = rules.step(step).threshold(0.0).build().expect("a valid choice");
        let mut detector = make(config.clone());
        for (i, (name, scene)) in scenes.into_iter().enumerate() {
            let picture = Picture::draw(DEPTHS[i % 3], (161, 150, 1 + 2 * (i % 2)), |x, y, _| scene(x, y));
            assert_equal(&mut *detector, &config, &name, &picture.view());
        }
    }
}

/// Compares filters that only 8-bit samples allow, and the largest for 16 bits, on patches of the
/// greatest contrast.
pub fn with_the_largest_filters(make: Make) {
    for (depth, octaves, intervals, side) in [(Depth::U8, 5, 3, 420), (Depth::U16, 3, 11, 301)] {
        for sampling in SAMPLINGS {
            let builder = FastHessianConfig::builder().octaves(octaves).intervals(intervals).step(3);
            let config = builder.sampling(sampling).threshold(0.0).build().expect("a valid choice");
            let mut detector = make(config.clone());
            let patches = |x: usize, y: usize, c: usize| brightness(7, 3)(x / 5, y / 5, c).round();
            let picture = Picture::draw(depth, (side, side + 1, 1), patches);
            assert_equal(&mut *detector, &config, &(depth, sampling), &picture.view());
            let found = detector.detect(&picture.view()).expect("a valid image");
            assert!(!found.is_empty(), "{depth:?}, {sampling:?}: none");
        }
    }
}

/// Compares photographs, gray and colour.
pub fn on_photographs(make: Make) {
    for preset in presets::ALL {
        let config = (preset.config)();
        let mut detector = make(config.clone());
        for (name, photograph) in photographs() {
            let image = ImageView::try_from(&photograph).expect("a photograph is gray or RGB");
            assert!(detector.detect(&image).expect("a valid image").len() > 200);
            assert!(detector.rejected_peaks().is_some_and(|rejected| rejected > 0));
            assert_equal(&mut *detector, &config, &(preset.name, &name), &image);
        }
    }
}

/// Checks that samples which are not finite or out of range, and images that are too small, are the
/// right error. Then a good image must work.
///
/// # Panics
/// If the detector accepts a bad image, returns another error or does not work afterwards.
pub fn bad_images_are_errors(make: Make) {
    let config = FastHessianConfig::default();
    let needed = Pyramid::min_side(&config);
    let mut detector = make(config);
    let good = vec![0_u8; needed * needed];
    let good = ImageView::gray(&good, needed, needed).expect("a valid image");
    for (value, finite) in [(f32::NAN, false), (f32::INFINITY, false), (1.001, true), (-0.001, true)] {
        let mut samples = vec![1.0_f32; 40 * 40];
        samples[40 * 7 + 3] = value;
        let image = ImageView::gray(&samples, 40, 40).expect("a valid view");
        for error in [detector.detect(&image).map(drop), detector.response(&image).map(drop)] {
            match error {
                Err(Error::NonFinite { x: 3, y: 7, channel: 0, .. }) if !finite => {}
                Err(Error::SampleOutOfRange { x: 3, y: 7, channel: 0, .. }) if finite => {}
                other => panic!("{value}: {other:?}"),
            }
        }
        assert_eq!(detector.detect(&good).expect("a good image after a bad one"), []);
    }
    for (width, height) in [(needed - 1, needed), (needed, needed - 1), (1, 1)] {
        let samples = vec![0_u16; width * height];
        let image = ImageView::gray(&samples, width, height).expect("a valid view");
        let error = detector.detect(&image);
        assert!(
            matches!(error, Err(Error::ImageTooSmall { needed: least, .. }) if least == needed),
            "{error:?}"
        );
    }
    assert_eq!(detector.detect_batch(&[good, good]).expect("two good images"), [[], []]);
    let mut detector = make(FastHessianConfig::builder().octaves(5).build().expect("a valid choice"));
    let samples = vec![0_u16; 500 * 500];
    let image = ImageView::gray(&samples, 500, 500).expect("a valid view");
    for error in [detector.detect(&image).map(drop), detector.response(&image).map(drop)] {
        assert!(matches!(error, Err(Error::FilterTooLarge { filter: 387, most: 267, .. })), "{error:?}");
    }
}
