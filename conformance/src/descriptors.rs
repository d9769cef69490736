//! The SURF descriptor: equality with the reference, and errors.

use harris_core::fast_hessian::{FastHessianConfig, ReferenceFastHessian};
use harris_core::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris_core::{Detector, Error, ImageView, Keypoint};
use proptest::prelude::*;

use crate::outcome::run;
use crate::pictures::{DEPTHS, Picture, noise, photographs};

/// Makes an extractor of the backend under test.
pub type Make = fn(SurfConfig) -> Box<dyn Extractor>;

/// Returns the bits of the descriptors, or the error's text.
fn outcome(
    extractor: &mut dyn Extractor,
    image: &ImageView<'_>,
    keypoints: &[Keypoint],
) -> Result<Vec<[u32; 64]>, String> {
    let descriptors = extractor.extract(image, keypoints).map_err(|error| error.to_string())?;
    assert_eq!(descriptors.dim(), (keypoints.len(), 64));
    Ok(descriptors.rows().into_iter().map(|row| std::array::from_fn(|i| row[i].to_bits())).collect())
}

/// Describes the first difference of two outcomes.
fn difference(found: &Result<Vec<[u32; 64]>, String>, expected: &Result<Vec<[u32; 64]>, String>) -> String {
    let (Ok(found), Ok(expected)) = (found, expected) else { return format!("{found:?} for {expected:?}") };
    let rows = found.iter().zip(expected).enumerate();
    let first =
        rows.flat_map(|(row, (a, b))| (0..64).map(move |i| (row, i, a[i], b[i]))).find(|(_, _, a, b)| a != b);
    first.map_or("nowhere".to_owned(), |(row, i, a, b)| {
        format!("value {i} of descriptor {row}: {} for {}", f32::from_bits(a), f32::from_bits(b))
    })
}

/// Any valid configuration, of scales that are not huge.
pub(crate) fn configs() -> impl Strategy<Value = SurfConfig> {
    (any::<bool>(), prop_oneof![2 => Just(1.0_f32), 1 => 0.5_f32..4.0]).prop_map(
        |(upright, magnification)| {
            SurfConfig::builder()
                .upright(upright)
                .magnification(magnification)
                .build()
                .expect("a valid choice")
        },
    )
}

/// Compares keypoints of all scales at random positions, also at the edges, of random images.
pub fn on_random_images(make: Make) {
    let format = (prop::sample::select(&DEPTHS), prop::sample::select(&[1_usize, 3]), 0_usize..5);
    let scale = prop_oneof![3 => 0.6_f32..4.0, 1 => 0.01_f32..16.0];
    let keypoints = prop::collection::vec((0.0_f32..=1.0, 0.0_f32..=1.0, scale), 0..40);
    let inputs = (configs(), (1_usize..90, 1_usize..90), format, any::<u64>(), 1_usize..8, keypoints);
    run(100, &inputs, |(config, (width, height), (depth, channels, gap), seed, grain, keypoints)| {
        let picture =
            Picture::draw(depth, (width, height, channels), |x, y, c| noise(seed, x / grain, y / grain, c));
        let picture = picture.with_gap(gap);
        let place = |part: f32, len: usize| part * len as f32 - 0.5;
        let keypoints: Vec<_> = (keypoints.into_iter())
            .map(|(x, y, scale)| Keypoint { scale, ..Keypoint::new(place(x, width), place(y, height), 1.0) })
            .collect();
        let found = outcome(&mut *make(config.clone()), &picture.view(), &keypoints);
        let expected = outcome(&mut ReferenceSurf::new(config), &picture.view(), &keypoints);
        prop_assert!(found == expected, "{}", difference(&found, &expected));
        Ok(())
    });
}

/// Compares the blobs of photographs, with one extractor for all.
pub fn on_photographs(make: Make) {
    for upright in [false, true] {
        let config = SurfConfig::builder().upright(upright).build().expect("a valid choice");
        let mut extractor = make(config.clone());
        for (name, photograph) in photographs() {
            let image = ImageView::try_from(&photograph).expect("a photograph is gray or RGB");
            let most = FastHessianConfig::builder().max_keypoints(150).build().expect("a valid choice");
            let keypoints = ReferenceFastHessian::new(most).detect(&image).expect("a valid image");
            let found = outcome(&mut *extractor, &image, &keypoints);
            let expected = outcome(&mut ReferenceSurf::new(config.clone()), &image, &keypoints);
            assert!(found == expected, "{name}: {}", difference(&found, &expected));
        }
    }
}

/// Checks that keypoints outside the image, bad scales and bad samples are the right error, and
/// that no keypoints give no rows.
///
/// # Panics
/// If the extractor accepts one, returns another error or does not work afterwards.
pub fn bad_keypoints_are_errors(make: Make) {
    let mut extractor = make(SurfConfig::default());
    let samples = vec![7_u8; 20 * 10];
    let image = ImageView::gray(&samples, 20, 10).expect("a valid image");
    let good = Keypoint::new(19.5, -0.5, 1.0);
    for (x, y) in [(-0.6, 1.0), (19.6, 1.0), (1.0, 9.6), (f32::NAN, 1.0), (1.0, f32::INFINITY)] {
        let error = extractor.extract(&image, &[good, Keypoint::new(x, y, 1.0)]);
        assert!(
            matches!(error, Err(Error::KeypointOutside { index: 1, width: 20, height: 10, .. })),
            "{error:?}"
        );
    }
    for scale in [0.0, -1.0, f32::NAN, 64.1, f32::INFINITY] {
        let error = extractor.extract(&image, &[Keypoint { scale, ..good }]);
        assert!(matches!(error, Err(Error::KeypointScale { index: 0, .. })), "{error:?}");
    }
    let bad = [0.5, f32::NAN];
    let error = extractor.extract(&ImageView::gray(&bad, 2, 1).expect("a valid view"), &[]);
    assert!(matches!(error, Err(Error::NonFinite { x: 1, .. })), "{error:?}");
    assert_eq!(extractor.extract(&image, &[]).expect("no keypoints").dim(), (0, 64));
    // The edge of the image is a gradient, also at the greatest scale.
    let edge = extractor.extract(&image, &[good, Keypoint { scale: 64.0, ..good }]).expect("good keypoints");
    assert!(edge.iter().any(|value| *value > 0.0));
    let flat = vec![200_u16; 90 * 90];
    let flat = ImageView::gray(&flat, 90, 90).expect("a valid image");
    let none = extractor.extract(&flat, &[Keypoint::new(44.0, 45.0, 1.0)]).expect("a good keypoint");
    assert!(none.iter().all(|value| *value == 0.0));
}
