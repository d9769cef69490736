//! Recorded work: CUDA graphs, made by stream capture.

use std::sync::Arc;

use super::base::Stream;
use crate::CudaError;
use crate::driver::Gpu;
use crate::driver::ffi::{self, Handle};

/// Recorded work, which can be replayed any number of times with one call.
#[derive(Debug)]
pub(crate) struct Recording {
    instance: Handle,
    /// Whether it waits for signalled copies.
    waits_for_copies: bool,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's functions on graphs may be called from any thread, one at a time.
unsafe impl Send for Recording {}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Ok(cuda) = self.gpu.enter() {
            // SAFETY: the graph is alive and destroyed once; the driver lets its work end first. A
            // failure here cannot be handled.
            let _ = unsafe { cuda.cuGraphExecDestroy(self.instance) };
        }
    }
}

impl Stream {
    /// Starts to record work instead of doing it; false if the driver cannot record.
    pub(crate) fn begin_recording(&mut self) -> Result<bool, CudaError> {
        let cuda = self.gpu.enter()?;
        let has = &cuda.has;
        let records = has.cuStreamBeginCapture_v2
            && has.cuStreamEndCapture
            && has.cuGraphInstantiateWithFlags
            && has.cuGraphLaunch
            && has.cuGraphExecDestroy
            && has.cuGraphDestroy
            && has.cuEventRecordWithFlags;
        if records {
            // SAFETY: the stream is alive. The mode allows allocations meanwhile.
            unsafe { cuda.cuStreamBeginCapture_v2(self.handle, ffi::STREAM_CAPTURE_MODE_RELAXED) }?;
            self.recording = Some(false);
        }
        Ok(records)
    }

    /// Ends the recording and returns it. The caller keeps the memory that the work uses as long as
    /// the recording may be played.
    pub(crate) fn end_recording(&mut self) -> Result<Recording, CudaError> {
        let cuda = self.gpu.enter()?;
        let waits_for_copies = self.recording.take().unwrap_or_default();
        let (mut graph, mut instance) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: writes one handle.
        unsafe { cuda.cuStreamEndCapture(self.handle, &mut graph) }?;
        // SAFETY: the graph is alive; writes one handle.
        let made = unsafe { cuda.cuGraphInstantiateWithFlags(&mut instance, graph, 0) };
        // SAFETY: the graph is alive and destroyed once; the instance does not need it. A failure
        // here cannot be handled.
        let _ = unsafe { cuda.cuGraphDestroy(graph) };
        made?;
        Ok(Recording { instance, waits_for_copies, gpu: Arc::clone(&self.gpu) })
    }

    /// Replays a recording on this stream.
    pub(crate) fn replay(&self, recording: &Recording) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        // SAFETY: both are alive and of one context; the memory is still there, by the contract of
        // `end_recording`.
        unsafe { cuda.cuGraphLaunch(recording.instance, self.handle) }?;
        if recording.waits_for_copies {
            self.note_wait();
        }
        Ok(())
    }
}
