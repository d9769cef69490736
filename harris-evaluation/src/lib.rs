//! Evaluation of keypoints: precision, recall, localisation error and repeatability.
//!
//! ```
//! use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
//! use harris_evaluation::scenes::Chessboard;
//! use harris_evaluation::score;
//!
//! let board = Chessboard::builder().squares(8).size(128).build()?;
//! let (image, corners) = (board.draw(), board.corners());
//! let found = ReferenceDetector::new(HarrisConfig::default()).detect(&ImageView::try_from(&image)?)?;
//! let score = score(&found, &corners, 2.0)?;
//! assert_eq!((score.precision(), score.recall()), (1.0, 1.0));
//! assert!(score.mean_error() < Some(0.8));
//! # Ok::<(), harris_core::Error>(())
//! ```
//!
//! - [`score`]: precision, recall and localisation error against known corners.
//! - [`pairs`]: which point of one set belongs to which of another.
//! - [`Correspondence`]: repeatability between two views under a known transformation.
//! - [`scenes`]: chessboards, junctions and polygons whose corners are known exactly.
//! - [`View`]: photographs under known transformations.
//! - [`Degradation`]: blur, brightness and noise.

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
