//! Words of the state, which kernels leave for each other: zeros to start with. Stacks of images have one each.

/// The least response, as bits that compare like numbers, all turned.
pub const LEAST: usize = 0;
/// The greatest response, as bits that compare like numbers.
pub const GREATEST: usize = 1;
/// The threshold, as the bits of an f32.
pub const THRESHOLD: usize = 2;
/// Corners of the list; where it is not complete, more than there is room for.
pub const LENGTH: usize = 3;
/// Corners of the list before those that are too near to others were taken out of it.
pub const LENGTH_BEFORE_DISTANCE: usize = 4;
/// Whether a bin had no room for all its keys.
pub const BUCKET_OVERFLOW: usize = 5;
/// Whether a sample is no number that images may have.
pub const INVALID: usize = 6;
/// What the greatest response was set to before the walk, as others before were greater: see [`foretold`](super::foretold). It holds
/// where the walk has found a greater one.
pub const PREDICTED: usize = 7;
/// What the greatest response of the last image foretells.
pub const NEXT_PREDICTION: usize = 8;
/// How many images in a row had a greater one than the one before foretold.
pub const PREDICTIONS_HELD: usize = 9;
/// Corners of the list that those too near to others are being taken out of; more than there is room for where some are missing.
pub const DISTANCE_INPUT: usize = 10;
/// Peaks of the Fast-Hessian detector whose place between samples is half a sample away or more.
pub const REJECTED: usize = 11;
/// Its length, some of which is not used: states of a stack begin at whole sectors of the cache.
pub const WORDS: usize = 16;
