//! Comparison of a detector with the reference, bit by bit.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::sync::{Arc, Mutex, OnceLock};

use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, ReferenceDetector, Samples};
use ndarray::Array2;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::extent::random_cases;

/// The results of a detector for an image, in a form that compares bits and prints errors.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    keypoints: Result<Vec<Keypoint>, String>,
    response: Result<Vec<u32>, String>,
    /// The number of rejected peaks, for blobs.
    rejected: Option<usize>,
}

impl Outcome {
    pub(crate) fn of(detector: &mut dyn Detector, image: &ImageView<'_>) -> Self {
        let message = |error: Error| error.to_string();
        let bits = |response: Array2<f32>| response.iter().map(|v| v.to_bits()).collect();
        let keypoints = detector.detect(image).map_err(message);
        // The number has no meaning after an error.
        let rejected = keypoints.as_ref().ok().and_then(|_| detector.rejected_peaks());
        Self { keypoints, response: detector.response(image).map(bits).map_err(message), rejected }
    }

    pub(crate) fn of_reference(config: &HarrisConfig, image: &ImageView<'_>) -> Self {
        Self::of(&mut ReferenceDetector::new(config.clone()), image)
    }

    /// Returns the reference's outcome, and keeps it for all suites of a process: the reference is
    /// slow, and most suites need equal outcomes.
    fn of_reference_once(config: &HarrisConfig, image: &ImageView<'_>) -> Arc<Self> {
        type CachedOutcome = Arc<OnceLock<Arc<Outcome>>>;
        static CACHE: Mutex<BTreeMap<[u64; 2], CachedOutcome>> = Mutex::new(BTreeMap::new());
        let key = [0, 1].map(|seed| {
            let mut hasher = DefaultHasher::new();
            seed.hash(&mut hasher);
            format!("{config:?}").hash(&mut hasher);
            hash_image(image, &mut hasher);
            hasher.finish()
        });
        let cached = Arc::clone(CACHE.lock().expect("no holder panics").entry(key).or_default());
        // Only threads that need this outcome wait for it.
        Arc::clone(cached.get_or_init(|| Arc::new(Self::of_reference(config, image))))
    }

    /// Describes the first difference of two outcomes.
    pub(crate) fn difference(&self, expected: &Self) -> String {
        match (&self.keypoints, &expected.keypoints) {
            (Ok(found), Ok(wanted)) if found != wanted => {
                let first = found.iter().zip(wanted).find(|(found, wanted)| found != wanted);
                format!("{} keypoints for {}; first difference {first:?}", found.len(), wanted.len())
            }
            (Ok(_), Ok(_)) if self.rejected != expected.rejected => {
                format!("{:?} rejected peaks for {:?}", self.rejected, expected.rejected)
            }
            (Ok(_), Ok(_)) => match (&self.response, &expected.response) {
                (Ok(found), Ok(wanted)) => {
                    let i = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
                    let value = |bits: &[u32]| i.map(|i| f32::from_bits(bits[i]));
                    format!("response at sample {i:?}: {:?} for {:?}", value(found), value(wanted))
                }
                (found, wanted) => format!("response: {:?} for {:?}", found.is_ok(), wanted.is_ok()),
            },
            (found, wanted) => format!("{found:?} for {wanted:?}"),
        }
    }
}

/// Hashes all of an image that an outcome depends on.
fn hash_image(image: &ImageView<'_>, hasher: &mut impl Hasher) {
    (image.width(), image.height(), image.channels()).hash(hasher);
    mem::discriminant(&image.samples()).hash(hasher);
    let rows = 0..image.height();
    match image.samples() {
        Samples::U8(raster) => rows.for_each(|y| raster.row(y).hash(hasher)),
        Samples::U16(raster) => rows.for_each(|y| raster.row(y).hash(hasher)),
        Samples::F32(raster) => {
            rows.for_each(|y| raster.row(y).iter().for_each(|sample| sample.to_bits().hash(hasher)));
        }
    }
    if let Some(mask) = image.mask() {
        (0..mask.height()).for_each(|y| mask.row(y).hash(hasher));
    }
}

/// Fails unless `detector` equals the reference. The message has the configuration and `name`,
/// which describes the picture.
pub(crate) fn assert_equal(
    detector: &mut dyn Detector,
    config: &HarrisConfig,
    name: &dyn std::fmt::Debug,
    image: &ImageView<'_>,
) {
    let (found, expected) = (Outcome::of(detector, image), Outcome::of_reference_once(config, image));
    assert!(
        found == *expected,
        "{} differs from the reference on {name:?}: {}\n{config:?}",
        detector.describe(),
        found.difference(&expected),
    );
}

/// Runs a property on `cases` random inputs, or on an eighth of them: see [`random_cases`].
///
/// # Panics
/// If the property does not hold, with the simplest input found.
pub(crate) fn run<S: Strategy>(
    cases: u32,
    inputs: &S,
    property: impl Fn(S::Value) -> Result<(), TestCaseError>,
) {
    let cases = random_cases(cases, cases.div_ceil(8));
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    if let Err(error) = TestRunner::new(config).run(inputs, property) {
        panic!("{error}");
    }
}
