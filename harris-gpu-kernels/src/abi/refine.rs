//! Corners between pixels.

/// The greatest radius that there is room for.
pub const MAX_RADIUS: u32 = 15;
