//! The memory that a detector keeps from one image to the next.

use harris_core::pipeline::selection;

use crate::buffers::Buffers;
use crate::peaks::found::SharedBound;
use crate::sweep::run::Scratch;

/// The response map, and the memory of both engines.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    /// H × W responses of the last image whose corners needed a response map.
    pub(crate) map: Vec<f32>,
    /// Buffers of the staged engine, one a band.
    pub(crate) buffers: Vec<Buffers>,
    /// Memory of the sweeps, one a thread.
    pub(crate) scratch: Vec<Scratch>,
    /// The bounds that all threads share.
    pub(crate) shared: SharedBound,
    /// Memory to select corners in.
    pub(crate) selection: selection::Memory,
}
