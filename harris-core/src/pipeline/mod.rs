//! The stages of the Harris detector, one module each, as plain code to read and to compare with.
//!
//! They follow docs/arithmetic.md, whose sections have the numbers of the stages.
//! [`ReferenceDetector`](crate::ReferenceDetector) calls them in this order. They are slow: to
//! detect corners, use a [`Detector`](crate::Detector).
//!
//! | stage | module | does |
//! | --- | --- | --- |
//! | 1 | [`border`] | extends an image beyond its edges |
//! | 2 | [`smoothing`] | smooths each channel |
//! | 3 | [`gradient`] | differentiates it |
//! | 4, 5 | [`tensor`] | sums products of the gradient over channels and window |
//! | 6 | [`response`] | turns each structure tensor into a number |
//! | 7 | [`threshold`](mod@threshold) | finds the response that a corner exceeds |
//! | 8 | [`suppression`] | keeps the greatest responses of their neighbourhoods |
//! | 9 | [`selection`] | orders corners, and applies least distance and greatest number |
//! | 10 | [`subpixel`] | moves corners to places between pixels |
//!
//! ```
//! use harris_core::pipeline::{gradient, plane::Plane, response, smoothing, tensor};
//! use harris_core::{Detector, HarrisConfig, ImageView, ReferenceDetector};
//!
//! // The response map of a white square on black, stage by stage.
//! let samples: Vec<u8> = (0..32 * 32)
//!     .map(|i| if (8..24).contains(&(i % 32)) && (8..24).contains(&(i / 32)) { 255 } else { 0 })
//!     .collect();
//! let (image, config) = (ImageView::gray(&samples, 32, 32)?, HarrisConfig::default());
//! let border = config.border();
//! let mut gradients = Vec::new();
//! for channel in Plane::channels(&image)? {
//!     let smoothed = smoothing::smooth(&channel, config.smoothing(), border)?;
//!     gradients.push(gradient::gradient(&smoothed, config.gradient(), border)?);
//! }
//! let scale = config.tensor_scale(image.full_scale());
//! let tensor = tensor::tensor(&gradients, config.window(), border, scale)?;
//! let map = response::response(&tensor, config.measure())?;
//! assert_eq!(map, ReferenceDetector::new(config).response(&image)?);
//! # Ok::<(), harris_core::Error>(())
//! ```
//!
//! [`plane`] has the numbers between the stages, [`taps`] the weights of filters and windows.
// Backends also use what is hidden here: the number type of each stage, and what a response above a
// threshold needs at least.

pub mod border;
#[doc(hidden)]
pub mod bound;
pub mod gradient;
#[doc(hidden)]
pub mod numerics;
pub mod plane;
#[doc(hidden)]
pub mod range;
pub mod response;
pub mod selection;
pub mod smoothing;
pub mod subpixel;
pub mod suppression;
pub mod taps;
pub mod tensor;
pub mod threshold;
