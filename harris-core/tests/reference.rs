//! What every backend must do that does not compare with the reference itself.

use harris_conformance::{Make, cases, equality, faults, scenes};
use harris_core::ReferenceDetector;

const MAKE: Make = |config| Box::new(ReferenceDetector::new(config));

#[test]
fn finds_exactly_the_corners_of_chessboards() {
    scenes::chessboards_have_their_corners(MAKE);
}

#[test]
fn ties_are_those_of_opencv() {
    cases::ties_are_those_of_opencv(MAKE);
}

#[test]
fn masks_are_those_of_opencv() {
    cases::masks_are_those_of_opencv(MAKE);
}

#[test]
fn distances_are_those_of_opencv() {
    cases::distances_are_those_of_opencv(MAKE);
}

#[test]
fn refined_corners_keep_their_distance() {
    cases::refined_corners_keep_their_distance(MAKE);
}

#[test]
fn responses_do_not_depend_on_the_sample_type() {
    equality::across_sample_types(MAKE);
}

#[test]
fn bad_images_are_errors_and_leave_the_detector_working() {
    faults::bad_images_are_errors(MAKE);
}
