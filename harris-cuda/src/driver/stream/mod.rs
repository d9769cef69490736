//! CUDA streams: queues of work on a device.

mod arrival_counter;
mod base;
mod copies;
mod overlap;
mod recording;

pub(crate) use base::{CopyStream, PARTS, Stream, Value};
pub(crate) use copies::Queue;
pub(crate) use recording::Recording;
