//! Words of the state that kernels pass on to each other. All are 0 at first. Each image of a stack
//! has its own state.

/// Least response, with bits ordered like numbers and then inverted.
pub const LEAST_RESPONSE: usize = 0;
/// Greatest response, with bits ordered like numbers.
pub const GREATEST_RESPONSE: usize = 1;
/// Threshold, as the bits of an f32.
pub const THRESHOLD: usize = 2;
/// Number of corners, which exceeds the capacity where the list is not complete.
pub const LENGTH: usize = 3;
/// Number of corners before the minimum distance was enforced.
pub const LENGTH_BEFORE_DISTANCE: usize = 4;
/// Whether a bucket had more keys than its capacity.
pub const BUCKET_OVERFLOW: usize = 5;
/// Whether a sample is outside the range that images may have.
pub const INVALID: usize = 6;
/// Initial value of the greatest response, predicted from earlier images: see
/// [`prediction`](super::prediction). It is verified where the sweep has found a greater one.
pub const PREDICTED: usize = 7;
/// Prediction for the next image.
pub const NEXT_PREDICTION: usize = 8;
/// Number of consecutive images whose prediction would have been verified.
pub const PREDICTIONS_HELD: usize = 9;
/// Number of corners before the minimum distance is enforced, which exceeds the capacity where some
/// are missing.
pub const DISTANCE_INPUT: usize = 10;
/// Peaks of the Fast-Hessian detector whose refined place is half a sample away or more.
pub const REJECTED_PEAKS: usize = 11;
/// Words of a state, some of them unused: the states of a stack begin at whole cache sectors.
pub const WORDS: usize = 16;
