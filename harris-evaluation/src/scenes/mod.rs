//! Scenes whose corners are known exactly.
//!
//! ```
//! use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
//! use harris_evaluation::scenes::{Scene, Shape};
//! use harris_evaluation::{Degradation, score};
//!
//! let scene = Scene::of(Shape::Y, 3, 7);
//! let image = Degradation::builder().noise(3.0).build()?.apply(&scene.levels);
//! let found = ReferenceDetector::new(HarrisConfig::default()).detect(&ImageView::try_from(&image)?)?;
//! assert_eq!(score(&found, &scene.corners, 4.0)?.recall(), 1.0);
//! # Ok::<(), harris_core::Error>(())
//! ```

mod chessboard;
mod drawing;
mod shapes;

pub use chessboard::{Chessboard, ChessboardBuilder};
pub use shapes::{Scene, Shape};
