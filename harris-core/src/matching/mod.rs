//! Matching of descriptors between two images, and the homography between the images.
//!
//! ```
//! use harris_core::matching::{MatchConfig, Matcher, ReferenceMatcher};
//! use ndarray::Array2;
//!
//! let train = Array2::from_shape_fn((3, 64), |(i, j)| if i == j { 1.0 } else { 0.0 });
//! let query = train.slice(ndarray::s![1..2, ..]).to_owned();
//! let matches = ReferenceMatcher::new(MatchConfig::default()).matches(query.view(), train.view())?;
//! assert_eq!((matches[0].query, matches[0].train, matches[0].distance), (0, 1, 0.0));
//! # Ok::<(), harris_core::Error>(())
//! ```

mod homography;
mod least_squares;
mod matcher;
mod pair;
mod ransac;
mod reference;

pub use crate::limits::{INLIER_DISTANCES, RANSAC_SAMPLES};
pub use homography::Homography;
pub use matcher::{Match, MatchConfig, MatchConfigBuilder, Matcher, Nearest, check};
pub use pair::{Pair, matched_pairs};
pub use ransac::{Fit, Ransac, RansacBuilder};
pub use reference::ReferenceMatcher;
