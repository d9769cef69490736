//! Lower bound of an image's greatest response, predicted from earlier images.
//!
//! A sweep with a prediction finds fewer candidates from its beginning on. Without a greater
//! response in the image, corners may be missing, and the sweep must be repeated without it.

/// Ratio of the last greatest response to the prediction, as a difference of bits: 4.
pub const MARGIN: u32 = 2 << 23;
/// Consecutive images for which predictions must hold before one is used.
pub const LEAST_HELD: u32 = 8;
