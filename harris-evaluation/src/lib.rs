//! Evaluation of keypoints: precision, recall, localisation error and repeatability.
//!
//! It works with any [`Detector`](harris_core::Detector), and with keypoints from elsewhere.
//!
//! ```
//! use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
//! use harris_evaluation::scenes::{Scene, Shape};
//! use harris_evaluation::{Degradation, score};
//!
//! // Nine junctions of two edges, blurred and with noise, as a camera sees them.
//! let scene = Scene::of(Shape::L, 3, 1);
//! let image = Degradation::builder().blur(0.7).noise(2.0).build()?.apply(&scene.levels);
//!
//! let mut detector = ReferenceDetector::new(HarrisConfig::default());
//! let found = detector.detect(&ImageView::try_from(&image)?)?;
//! let score = score(&found, &scene.corners, 4.0)?;
//! assert_eq!((score.precision(), score.recall()), (1.0, 1.0));
//! println!("{:?} pixels from the corners", score.mean_error());
//! # Ok::<(), harris_core::Error>(())
//! ```
//!
//! | item | does |
//! | --- | --- |
//! | [`score`](fn@score) | precision, recall and localisation error against known corners |
//! | [`Correspondence`] | repeatability between two views under a known homography |
//! | [`pairs`] | which point of one set belongs to which of another |
//! | [`scenes`] | draws chessboards, junctions and polygons whose corners are known exactly |
//! | [`View`] | draws photographs under known homographies |
//! | [`Degradation`] | blur, brightness and noise |
//!
//! Places and distances are in pixels; the centre of the first pixel is 0, 0. The crate has no
//! features.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod degradation;
mod pairing;
mod repeatability;
pub mod scenes;
mod score;
mod view;

pub use degradation::{Degradation, DegradationBuilder};
pub use pairing::{Pair, pairs};
pub use repeatability::{Correspondence, CorrespondenceBuilder, Repeatability};
pub use score::{Score, score};
pub use view::{View, ViewBuilder};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
