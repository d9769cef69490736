//! The tests that every backend passes, and the images that they are made with.
//!
//! A backend's test file calls [`suite!`] once for each way to run it:
//!
//! ```text
//! harris_conformance::suite!(two_threads, |config| Box::new(CpuDetector::with_threads(config, 2).unwrap()));
//! ```

pub mod equality;
pub mod faults;
pub mod pictures;
pub mod scenes;
pub mod strategies;

use harris_core::{Detector, HarrisConfig};

/// Makes a detector of the backend under test.
pub type Make = fn(HarrisConfig) -> Box<dyn Detector>;

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
            fn bad_images_are_errors_and_leave_the_detector_working() {
                if WHEN() {
                    $crate::faults::bad_images_are_errors(MAKE);
                }
            }
        }
    };
}
