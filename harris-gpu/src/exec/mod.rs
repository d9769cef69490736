//! What surrounds kernels: memory, uploads, the sharing out of rows, recordings, and what is kept from image to image.

pub(crate) mod capacity;
pub(crate) mod context;
pub(crate) mod overlap;
pub(crate) mod prediction;
pub(crate) mod recordings;
pub(crate) mod tile_heights;
pub(crate) mod upload;
pub(crate) mod workspace;
