//! Refinement of corners to positions between pixels.

/// Greatest radius that fits in shared memory.
pub const MAX_RADIUS: u32 = 15;
