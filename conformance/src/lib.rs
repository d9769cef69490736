//! The tests that every backend passes, and the images that they are made with.
//!
//! A backend's test file calls [`suite!`] once for each way to run it:
//!
//! ```text
//! harris_conformance::suite!(two_threads, |config| Box::new(CpuDetector::with_threads(config, 2).unwrap()));
//! ```

pub mod blobs;
pub mod cases;
pub mod descriptors;
pub mod equality;
pub mod faults;
pub mod matches;
pub mod pictures;
pub mod scenes;
pub mod strategies;
pub mod walks;

use harris_core::fast_hessian::FastHessianConfig;
use harris_core::matching::{MatchConfig, Matcher};
use harris_core::surf::{Extractor, SurfConfig};
use harris_core::{Detector, HarrisConfig};

/// Makes a detector of the backend under test.
pub type Make = fn(HarrisConfig) -> Box<dyn Detector>;

/// What a backend makes for features: a Fast-Hessian detector, a SURF extractor and an exact matcher.
#[derive(Clone, Copy)]
pub struct Features {
    /// The detector.
    pub detector: fn(FastHessianConfig) -> Box<dyn Detector>,
    /// The extractor.
    pub extractor: fn(SurfConfig) -> Box<dyn Extractor>,
    /// The matcher.
    pub matcher: fn(MatchConfig) -> Box<dyn Matcher>,
}

/// A module of tests for a backend's [`Features`]; where a condition is given, only when it holds.
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

            $crate::features!(@tests
                blobs_equal_the_reference_on_random_images: blobs::on_random_images(FEATURES.detector);
                blobs_equal_the_reference_for_every_width_and_height: blobs::for_every_width_and_height(FEATURES.detector);
                blobs_equal_the_reference_on_extreme_images: blobs::on_extreme_images(FEATURES.detector);
                blobs_equal_the_reference_with_the_widest_filters: blobs::with_the_widest_filters(FEATURES.detector);
                blobs_equal_the_reference_on_photographs: blobs::on_photographs(FEATURES.detector);
                bad_images_for_blobs_are_errors: blobs::bad_images_are_errors(FEATURES.detector);
                descriptors_equal_the_reference_on_random_images: descriptors::on_random_images(FEATURES.extractor);
                descriptors_equal_the_reference_on_photographs: descriptors::on_photographs(FEATURES.extractor);
                bad_keypoints_are_errors: descriptors::bad_keypoints_are_errors(FEATURES.extractor);
                matches_equal_the_reference: matches::on_random_descriptors(FEATURES.matcher);
                bad_descriptors_are_errors: matches::bad_descriptors_are_errors(FEATURES.matcher);
            );
        }
    };
    (@tests $($name:ident: $module:ident :: $test:ident ($make:expr);)*) => {$(
        #[test]
        fn $name() {
            if WHEN() {
                $crate::$module::$test($make);
            }
        }
    )*};
}

/// A module of tests for the detectors that a function makes; where a condition is given, only when it holds.
#[macro_export]
macro_rules! suite {
    ($name:ident, $make:expr) => {
        $crate::suite!($name, $make, || true);
    };
    ($name:ident, $make:expr, $when:expr) => {
        mod $name {
            use super::*;

            const MAKE: $crate::Make = $make;
            const WHEN: fn() -> bool = $when;

            #[test]
            fn equals_the_reference_on_random_images_and_configurations() {
                if WHEN() {
                    $crate::equality::on_random_images(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_on_usual_images_and_configurations() {
                if WHEN() {
                    $crate::equality::on_usual_images(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_for_every_choice_at_boundary_sizes() {
                if WHEN() {
                    $crate::equality::for_every_choice(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_for_every_width_and_height() {
                if WHEN() {
                    $crate::equality::for_every_width_and_height(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_on_extreme_images() {
                if WHEN() {
                    $crate::equality::on_extreme_images(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_on_photographs_with_every_preset() {
                if WHEN() {
                    $crate::equality::on_photographs(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_with_every_least_distance() {
                if WHEN() {
                    $crate::equality::with_every_least_distance(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_on_many_equal_corners() {
                if WHEN() {
                    $crate::equality::on_equal_corners(MAKE);
                }
            }

            #[test]
            fn ties_are_those_of_opencv() {
                if WHEN() {
                    $crate::cases::ties_are_those_of_opencv(MAKE);
                }
            }

            #[test]
            fn masks_are_those_of_opencv() {
                if WHEN() {
                    $crate::cases::masks_are_those_of_opencv(MAKE);
                }
            }

            #[test]
            fn distances_are_those_of_opencv() {
                if WHEN() {
                    $crate::cases::distances_are_those_of_opencv(MAKE);
                }
            }

            #[test]
            fn refined_corners_keep_their_distance() {
                if WHEN() {
                    $crate::cases::refined_corners_keep_their_distance(MAKE);
                }
            }

            #[test]
            fn batches_equal_the_reference() {
                if WHEN() {
                    $crate::equality::in_batches(MAKE);
                }
            }

            #[test]
            fn finds_exactly_the_corners_of_chessboards() {
                if WHEN() {
                    $crate::scenes::chessboards_have_their_corners(MAKE);
                }
            }

            #[test]
            fn responses_do_not_depend_on_the_sample_type() {
                if WHEN() {
                    $crate::equality::across_sample_types(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_by_every_walk() {
                if WHEN() {
                    $crate::walks::with_every_walk(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_with_every_wide_window() {
                if WHEN() {
                    $crate::walks::with_every_wide_window(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_with_every_box_gradient() {
                if WHEN() {
                    $crate::walks::with_every_box_gradient(MAKE);
                }
            }

            #[test]
            fn equals_the_reference_with_every_gaussian() {
                if WHEN() {
                    $crate::walks::with_every_gaussian(MAKE);
                }
            }

            #[test]
            fn responses_come_in_any_array() {
                if WHEN() {
                    $crate::equality::into_any_array(MAKE);
                }
            }

            #[test]
            fn bad_images_are_errors_and_leave_the_detector_working() {
                if WHEN() {
                    $crate::faults::bad_images_are_errors(MAKE);
                }
            }
        }
    };
}
