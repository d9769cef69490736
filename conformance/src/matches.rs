//! Exact matching: equality with the reference, and errors.

use harris_core::Error;
use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
use ndarray::{Array2, s};

use crate::pictures::noise;

/// Makes a matcher of the backend under test.
pub type Make = fn(MatchConfig) -> Box<dyn Matcher>;

/// Makes rows of length 1, of which `distinct` are different, so that some are equal.
fn descriptors(seed: u64, rows: usize, distinct: usize) -> Array2<f32> {
    let mut values =
        Array2::from_shape_fn((rows, 64), |(row, i)| (noise(seed, i, row % distinct.max(1), 0) - 0.5) as f32);
    for mut row in values.rows_mut() {
        let length = row.iter().map(|v| v * v).sum::<f32>().sqrt();
        row.mapv_inplace(|v| v / length);
    }
    values
}

/// Compares lists whose lengths are around those of vectors and tiles, with equal distances among
/// them.
pub fn on_random_descriptors(make: Make) {
    let built = |ratio, cross_check| {
        MatchConfig::builder().ratio(ratio).cross_check(cross_check).build().expect("a valid ratio")
    };
    let configs = [MatchConfig::default(), built(1.0, false), built(1.0, true), built(0.97, true)];
    let lengths = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 127, 129, 257];
    for config in configs {
        let (mut matcher, mut reference) = (make(config), ReferenceMatcher::new(config));
        let mut some = 0;
        for (i, &queries) in lengths.iter().enumerate() {
            for j in [0, 1, 2, i, i / 2, 14 - i] {
                // Two in three rows of the query are copies of a train row with one value changed.
                let train = descriptors(5, lengths[j], if i % 2 == 0 { 100 } else { 20 });
                let mut query = descriptors(6, queries, 90);
                for row in (0..queries.min(lengths[j])).filter(|row| row % 3 > 0) {
                    query.row_mut(row).assign(&train.row(row));
                    query[[row, row % 64]] += 0.01;
                }
                // The query is a view that is not contiguous.
                let wide =
                    Array2::from_shape_fn(
                        (queries, 70),
                        |(y, x)| if x < 64 { query[[y, x]] } else { f32::NAN },
                    );
                let query = wide.slice(s![.., ..64]);
                let found = matcher.matches(query, train.view()).expect("valid descriptors");
                let expected = reference.matches(query, train.view()).expect("valid descriptors");
                assert_eq!(found, expected, "{queries} among {}: {config:?}", lengths[j]);
                some += found.len();
            }
        }
        assert!(some > 50, "{config:?}: {some}");
    }
}

/// Checks that descriptors of another length, and values that are not finite, are the right error.
///
/// # Panics
/// If the matcher accepts one, returns another error or does not work afterwards.
pub fn bad_descriptors_are_errors(make: Make) {
    let mut matcher = make(MatchConfig::nearest());
    let good = descriptors(1, 5, 5);
    let short = Array2::zeros((5, 63));
    for (query, train) in [(&short, &good), (&good, &short)] {
        let error = matcher.matches(query.view(), train.view());
        assert!(matches!(error, Err(Error::DescriptorLength { found: 63 })), "{error:?}");
    }
    let mut bad = good.clone();
    bad[[3, 9]] = f32::NAN;
    for (query, train) in [(&bad, &good), (&good, &bad)] {
        let error = matcher.matches(query.view(), train.view());
        assert!(matches!(error, Err(Error::DescriptorValue { row: 3, column: 9, .. })), "{error:?}");
    }
    let found = matcher.matches(good.view(), good.view()).expect("good descriptors after bad ones");
    assert!(found.len() == 5 && found.iter().all(|m| m.query == m.train && m.distance == 0.0));
}
