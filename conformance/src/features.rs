//! Keypoints and descriptors in one call: equality with detection followed by description.

use harris_core::fast_hessian::FastHessianConfig;
use harris_core::features::{DetectAndDescribe, FeatureConfig, Features, ReferenceFeatures};
use harris_core::surf::SurfConfig;
use harris_core::{Error, HarrisConfig, ImageView, Order, Subpixel, Threshold};
use proptest::prelude::*;

use crate::blobs;
use crate::descriptors;
use crate::outcome::run;
use crate::pictures::{Depth, Picture, noise, photographs};
use crate::strategies;

/// Makes what is under test.
pub type Make = fn(FeatureConfig) -> Box<dyn DetectAndDescribe>;

/// The bits of keypoints and descriptors, or the error's text.
type Outcome = Result<(Vec<[u32; 4]>, Vec<[u32; 64]>), String>;

fn outcome(result: Result<Features, Error>) -> Outcome {
    let Features { keypoints, descriptors, .. } = result.map_err(|error| error.to_string())?;
    assert_eq!(descriptors.dim(), (keypoints.len(), 64));
    let keypoints = keypoints.iter().map(|k| [k.x, k.y, k.scale, k.response].map(f32::to_bits)).collect();
    let bits = |row: ndarray::ArrayView1<'_, f32>| std::array::from_fn(|i| row[i].to_bits());
    Ok((keypoints, descriptors.rows().into_iter().map(bits).collect()))
}

/// Describes where two outcomes differ.
fn difference(found: &Outcome, expected: &Outcome) -> String {
    let (Ok(found), Ok(expected)) = (found, expected) else {
        return match (found, expected) {
            (Err(found), Err(expected)) => format!("{found:?} for {expected:?}"),
            (Err(error), Ok(_)) => format!("the error {error:?}"),
            (Ok(_), _) => "no error".to_owned(),
        };
    };
    let (a, b) = (&found.0, &expected.0);
    if a != b {
        return format!("{} keypoints for {}, or other ones", a.len(), b.len());
    }
    let row = found.1.iter().zip(&expected.1).position(|(a, b)| a != b);
    format!("descriptor {row:?}")
}

fn assert_equal(
    features: &mut dyn DetectAndDescribe,
    config: &FeatureConfig,
    name: &dyn std::fmt::Debug,
    image: &ImageView<'_>,
) {
    let found = outcome(features.detect_and_describe(image));
    let expected = outcome(ReferenceFeatures::new(config.clone()).detect_and_describe(image));
    assert!(
        found == expected,
        "{} differs from the reference on {name:?}: {}\n{config:?}",
        features.describe(),
        difference(&found, &expected),
    );
}

/// Compares blobs of random images, up to three in a row, with random configurations.
pub fn of_blobs_on_random_images(make: Make) {
    let pictures = prop::collection::vec(blobs::pictures(), 1..4);
    run(60, &(blobs::configs(), descriptors::configs(), pictures), |(detector, surf, pictures)| {
        let config = FeatureConfig::new(detector, surf);
        let mut features = make(config.clone());
        for picture in &pictures {
            let image = picture.view();
            let found = outcome(features.detect_and_describe(&image));
            let expected = outcome(ReferenceFeatures::new(config.clone()).detect_and_describe(&image));
            prop_assert!(found == expected, "{}: {}", features.describe(), difference(&found, &expected));
        }
        Ok(())
    });
}

/// Compares corners of random images with random configurations.
pub fn of_corners_on_random_images(make: Make) {
    let inputs =
        (strategies::usual_configs(), descriptors::configs(), any::<u64>(), (20_usize..90, 20_usize..70));
    run(60, &inputs, |(detector, surf, seed, (width, height))| {
        let config = FeatureConfig::new(detector, surf);
        let mut features = make(config.clone());
        for (depth, grain) in [(Depth::U8, 3), (Depth::U16, 5)] {
            let picture =
                Picture::draw(depth, (width, height, 1), |x, y, c| noise(seed, x / grain, y / grain, c));
            let found = outcome(features.detect_and_describe(&picture.view()));
            let expected =
                outcome(ReferenceFeatures::new(config.clone()).detect_and_describe(&picture.view()));
            prop_assert!(found == expected, "{}: {}", features.describe(), difference(&found, &expected));
        }
        Ok(())
    });
}

/// Compares photographs, gray and colour, one by one and as a batch, where lists of all lengths
/// follow each other.
pub fn on_photographs(make: Make) {
    let corners = HarrisConfig::builder().max_corners(200).build().expect("a valid choice");
    let few = FastHessianConfig::builder().max_keypoints(120).build().expect("a valid choice");
    let coarse = FastHessianConfig::builder().step(3).threshold(0.003).build().expect("a valid choice");
    let upright = SurfConfig::builder().upright(true).magnification(2.5).build().expect("a valid choice");
    let configs = [
        FeatureConfig::new(few, SurfConfig::default()),
        FeatureConfig::new(coarse, SurfConfig::default()),
        FeatureConfig::new(corners, upright),
    ];
    for config in configs {
        let mut features = make(config.clone());
        let photographs: Vec<_> = photographs();
        for (name, photograph) in &photographs {
            let image = ImageView::try_from(photograph).expect("a photograph is gray or RGB");
            assert_equal(&mut *features, &config, name, &image);
        }
        let views: Vec<_> =
            photographs.iter().map(|(_, image)| ImageView::try_from(image).expect("gray or RGB")).collect();
        let batch = features.detect_and_describe_batch(&views).expect("valid images");
        assert_eq!(batch.len(), views.len());
        for (found, image) in batch.into_iter().zip(&views) {
            let expected = ReferenceFeatures::new(config.clone()).detect_and_describe(image);
            assert!(outcome(Ok(found)) == outcome(expected), "in a batch");
        }
    }
}

/// Compares lists that come to be far longer than those before, and empty ones.
pub fn of_lists_that_grow(make: Make) {
    let all = FastHessianConfig::builder().threshold(0.0).step(1).build().expect("a valid choice");
    let corners = HarrisConfig::builder().threshold(Threshold::None).build().expect("a valid choice");
    let refined = corners.to_builder().subpixel(Subpixel::Quadratic).order(Order::Raster).min_distance(3.0);
    let refined = refined.build().expect("a valid choice");
    for config in [
        FeatureConfig::new(all, SurfConfig::default()),
        FeatureConfig::new(corners, SurfConfig::default()),
        FeatureConfig::new(refined, SurfConfig::default()),
    ] {
        let mut features = make(config.clone());
        for (name, size, grain) in
            [("flat", 60, 1000), ("fine", 190, 2), ("flat", 190, 1000), ("small", 40, 3)]
        {
            let picture =
                Picture::draw(Depth::U8, (size, size, 1), |x, y, c| noise(5, x / grain, y / grain, c));
            assert_equal(&mut *features, &config, &name, &picture.view());
        }
    }
}

/// Checks that bad images and keypoints that cannot be described are the reference's errors, and
/// that the next image works.
///
/// # Panics
/// If one is accepted, or gives another error.
pub fn bad_images_are_errors(make: Make) {
    let large = SurfConfig::builder().magnification(64.0).build().expect("a valid choice");
    let detector = FastHessianConfig::builder().threshold(0.0).build().expect("a valid choice");
    let mut samples = vec![1.0_f32; 60 * 60];
    samples[60 * 7 + 3] = f32::NAN;
    let bad = ImageView::gray(&samples, 60, 60).expect("a valid view");
    let small = ImageView::gray(&[0_u8; 4], 2, 2).expect("a valid view");
    let good = Picture::draw(Depth::U8, (90, 80, 1), |x, y, c| noise(3, x / 6, y / 6, c));
    for config in [
        FeatureConfig::new(detector, large),
        FeatureConfig::new(HarrisConfig::default(), SurfConfig::default()),
    ] {
        let mut features = make(config.clone());
        for (name, image) in
            [("NaN", bad), ("small", small), ("good", good.view()), ("NaN", bad), ("good", good.view())]
        {
            assert_equal(&mut *features, &config, &name, &image);
        }
        assert!(features.detect_and_describe(&bad).is_err());
    }
    let expected = ReferenceFeatures::new(FeatureConfig::new(
        FastHessianConfig::builder().threshold(0.0).build().expect("a valid choice"),
        SurfConfig::builder().magnification(64.0).build().expect("a valid choice"),
    ))
    .detect_and_describe(&good.view());
    assert!(matches!(expected, Err(Error::KeypointScale { .. })), "{expected:?}");
}
