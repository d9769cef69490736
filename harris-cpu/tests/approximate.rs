//! Approximate matching: refuses what exact matching refuses, and finds what it finds, but for a
//! few.

#![cfg(feature = "approximate")]

use std::collections::BTreeSet;

use harris_conformance::extent::is_thorough;
use harris_conformance::matches::bad_descriptors_are_errors;
use harris_conformance::pictures::noise;
use harris_cpu::harris_core::matching::{Match, MatchConfig, Matcher};
use harris_cpu::{ApproximateIndex, ApproximateMatcher, CpuMatcher};
use ndarray::Array2;

#[test]
fn bad_descriptors_are_errors_and_empty_lists_match_nothing() {
    bad_descriptors_are_errors(|config| Box::new(ApproximateMatcher::new(config)));
    let none = Array2::zeros((0, 64));
    let some = Array2::<f32>::ones((3, 64));
    let mut matcher = ApproximateMatcher::new(MatchConfig::builder().cross_check(true).build().unwrap());
    assert_eq!(matcher.matches(none.view(), some.view()).unwrap(), []);
    assert_eq!(matcher.matches(some.view(), none.view()).unwrap(), []);
    assert_eq!(ApproximateIndex::new(none.view()).unwrap().nearest(some.view()).unwrap(), []);
}

#[test]
fn finds_nearly_all_that_exact_matching_finds() {
    // Each descriptor is there twice, with a tenth of noise.
    let count = if is_thorough() { 2000 } else { 500 };
    let descriptor = |seed: u64| {
        Array2::from_shape_fn((count, 64), |(row, i)| {
            (noise(1, i, row, 0) - 0.5 + 0.1 * (noise(seed, i, row, 0) - 0.5)) as f32
        })
    };
    let (query, train) = (descriptor(2), descriptor(3));
    for config in
        [MatchConfig::default(), MatchConfig::builder().ratio(1.0).cross_check(true).build().unwrap()]
    {
        let exact = CpuMatcher::new(config).matches(query.view(), train.view()).unwrap();
        let found = ApproximateMatcher::new(config).matches(query.view(), train.view()).unwrap();
        let pairs = |list: &[Match]| list.iter().map(|m| (m.query, m.train)).collect::<BTreeSet<_>>();
        let common = pairs(&exact).intersection(&pairs(&found)).count();
        assert!(exact.len() * 100 > count * 95, "{}", exact.len());
        assert!(common * 100 >= exact.len() * 98, "{common} of {}", exact.len());
    }
}
