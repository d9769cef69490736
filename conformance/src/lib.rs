//! The conformance suite: the tests that every backend passes, and the images that they use.
//!
//! A backend's test file calls [`suite!`] once for each way to run it:
//!
//! ```text
//! harris_conformance::suite!(backend, |config| Box::new(MyDetector::new(config)));
//! ```

pub mod blobs;
pub mod boundaries;
pub mod cases;
pub mod choices;
pub mod descriptors;
pub mod equality;
pub mod extent;
pub mod faults;
pub mod features;
pub mod lists;
pub mod matches;
mod outcome;
pub mod pictures;
pub mod scenes;
pub mod strategies;

use harris_core::fast_hessian::FastHessianConfig;
use harris_core::features::{DetectAndDescribe, FeatureConfig};
use harris_core::matching::{MatchConfig, Matcher};
use harris_core::surf::{Extractor, SurfConfig};
use harris_core::{Detector, HarrisConfig};

/// Makes a detector of the backend under test.
pub type Make = fn(HarrisConfig) -> Box<dyn Detector>;

/// The constructors of a backend's SURF: a Fast-Hessian detector, an extractor and an exact
/// matcher.
#[derive(Clone, Copy)]
pub struct Features {
    /// Makes the detector.
    pub detector: fn(FastHessianConfig) -> Box<dyn Detector>,
    /// Makes the extractor.
    pub extractor: fn(SurfConfig) -> Box<dyn Extractor>,
    /// Makes the matcher.
    pub matcher: fn(MatchConfig) -> Box<dyn Matcher>,
    /// Makes what detects and describes in one call.
    pub features: fn(FeatureConfig) -> Box<dyn DetectAndDescribe>,
}

/// Defines a module of tests for a backend's [`Features`]. With a condition, the tests run only if
/// it holds.
#[macro_export]
macro_rules! features {
    ($name:ident, $features:expr) => {
        $crate::features!($name, $features, || true);
    };
    ($name:ident, $features:expr, $when:expr) => {
        mod $name {
            use super::*;

            const FEATURES: $crate::Features = $features;
            const WHEN: fn() -> bool = $when;

            $crate::tests! {
                blobs_equal_the_reference_on_random_images: blobs::on_random_images(FEATURES.detector);
                blobs_equal_the_reference_for_every_width_and_height:
                    blobs::for_every_width_and_height(FEATURES.detector);
                blobs_equal_the_reference_on_extreme_images: blobs::on_extreme_images(FEATURES.detector);
                blobs_equal_the_reference_with_the_largest_filters:
                    blobs::with_the_largest_filters(FEATURES.detector);
                blobs_equal_the_reference_on_photographs: blobs::on_photographs(FEATURES.detector);
                bad_images_for_blobs_are_errors: blobs::bad_images_are_errors(FEATURES.detector);
                descriptors_equal_the_reference_on_random_images:
                    descriptors::on_random_images(FEATURES.extractor);
                descriptors_equal_the_reference_on_photographs:
                    descriptors::on_photographs(FEATURES.extractor);
                bad_keypoints_are_errors: descriptors::bad_keypoints_are_errors(FEATURES.extractor);
                matches_equal_the_reference: matches::on_random_descriptors(FEATURES.matcher);
                bad_descriptors_are_errors: matches::bad_descriptors_are_errors(FEATURES.matcher);
                features_of_blobs_equal_the_reference:
                    features::of_blobs_on_random_images(FEATURES.features);
                features_of_corners_equal_the_reference:
                    features::of_corners_on_random_images(FEATURES.features);
                features_equal_the_reference_on_photographs: features::on_photographs(FEATURES.features);
                features_equal_the_reference_as_lists_grow: features::of_lists_that_grow(FEATURES.features);
                bad_images_for_features_are_errors: features::bad_images_are_errors(FEATURES.features);
            }
        }
    };
}

/// Defines a module of tests for the detectors that a function makes. With a condition, the tests
/// run only if it holds.
///
/// A fourth argument gives the sizes around the backend's own boundaries, as a
/// [`Boundaries`](crate::boundaries::Boundaries).
#[macro_export]
macro_rules! suite {
    ($name:ident, $make:expr) => {
        $crate::suite!($name, $make, || true);
    };
    ($name:ident, $make:expr, $when:expr) => {
        $crate::suite!($name, $make, $when, $crate::boundaries::NO_BOUNDARIES);
    };
    ($name:ident, $make:expr, $when:expr, $boundaries:expr) => {
        mod $name {
            use super::*;

            const MAKE: $crate::Make = $make;
            const WHEN: fn() -> bool = $when;
            const BOUNDARIES: $crate::boundaries::Boundaries = $boundaries;

            $crate::tests! {
                equals_the_reference_on_random_images_and_configurations: equality::on_random_images(MAKE);
                equals_the_reference_on_usual_images_and_configurations: equality::on_usual_images(MAKE);
                equals_the_reference_for_every_choice_at_boundary_sizes: equality::for_every_choice(MAKE);
                equals_the_reference_for_every_width_and_height:
                    equality::for_every_width_and_height(MAKE);
                equals_the_reference_on_extreme_images: equality::on_extreme_images(MAKE);
                equals_the_reference_on_photographs_with_every_preset: equality::on_photographs(MAKE);
                small_windows_equal_the_reference_at_boundaries:
                    boundaries::small_windows_at_boundaries(MAKE, BOUNDARIES);
                large_windows_equal_the_reference_at_boundaries:
                    boundaries::large_windows_at_boundaries(MAKE, BOUNDARIES);
                box_gradients_equal_the_reference_at_boundaries:
                    boundaries::box_gradients_at_boundaries(MAKE, BOUNDARIES);
                weighted_sums_equal_the_reference_at_boundaries:
                    boundaries::weighted_sums_at_boundaries(MAKE, BOUNDARIES);
                min_distance_equals_the_reference: lists::with_min_distances(MAKE);
                equal_responses_are_listed_like_the_reference: lists::of_equal_responses(MAKE);
                strong_corners_at_edges_equal_the_reference: lists::with_strong_corners_at_edges(MAKE);
                batches_equal_the_reference: lists::in_batches(MAKE);
                responses_do_not_depend_on_the_sample_type: equality::across_sample_types(MAKE);
                responses_come_in_any_array: equality::into_any_array(MAKE);
                ties_are_those_of_opencv: cases::ties_are_those_of_opencv(MAKE);
                masks_are_those_of_opencv: cases::masks_are_those_of_opencv(MAKE);
                distances_are_those_of_opencv: cases::distances_are_those_of_opencv(MAKE);
                refined_corners_keep_their_distance: cases::refined_corners_keep_their_distance(MAKE);
                finds_exactly_the_corners_of_chessboards: scenes::chessboards_have_their_corners(MAKE);
                bad_images_are_errors_and_the_next_image_works: faults::bad_images_are_errors(MAKE);
            }
        }
    };
}

/// Defines tests that call functions of this crate, if the condition `WHEN` holds.
#[doc(hidden)]
#[macro_export]
macro_rules! tests {
    ($($name:ident: $module:ident :: $test:ident ($($argument:expr),*);)*) => {$(
        #[test]
        fn $name() {
            if WHEN() {
                $crate::$module::$test($($argument),*);
            }
        }
    )*};
}
