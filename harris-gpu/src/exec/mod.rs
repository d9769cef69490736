//! How kernels are executed: memory, uploads, tiles of rows, recordings, and states that images
//! hand on.

pub(crate) mod capacity;
pub(crate) mod context;
pub(crate) mod overlap;
pub(crate) mod prediction;
pub(crate) mod recordings;
pub(crate) mod tile_heights;
pub(crate) mod upload;
pub(crate) mod workspace;
