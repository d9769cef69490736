//! From the response map, or from samples in a fused sweep, to candidates.

pub(crate) mod map_threshold;
pub(crate) mod suppression;
pub(crate) mod sweep;
pub(crate) mod tiles;
