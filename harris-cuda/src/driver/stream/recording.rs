//! Work that comes again, asked for at once: CUDA graphs, recorded by stream capture.

use std::sync::Arc;

use super::base::Stream;
use crate::CudaError;
use crate::driver::Gpu;
use crate::driver::ffi::{self, Handle};

/// Work that can be asked for at once, as often as one likes.
#[derive(Debug)]
pub(crate) struct Recording {
    instance: Handle,
    /// Whether it waits for what is announced.
    waits: bool,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's functions on graphs may be called from any thread, one at a time.
unsafe impl Send for Recording {}

impl Drop for Recording {
    fn drop(&mut self) {
        if let Ok(cuda) = self.gpu.enter() {
            // SAFETY: it is alive and dropped once; the driver lets its work end first. Where that fails nothing can be done.
            let _ = unsafe { cuda.cuGraphExecDestroy(self.instance) };
        }
    }
}

impl Stream {
    /// From here on work is recorded, and not done; false where the driver cannot record.
    pub(crate) fn record(&mut self) -> Result<bool, CudaError> {
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
            // SAFETY: the stream is alive. Memory may be allocated meanwhile, as the mode says.
            unsafe { cuda.cuStreamBeginCapture_v2(self.handle, ffi::STREAM_CAPTURE_MODE_RELAXED) }?;
            self.recording = Some(false);
        }
        Ok(records)
    }

    /// What was recorded. The memory that it uses must live as long as it is played, which is the caller's to keep.
    pub(crate) fn recorded(&mut self) -> Result<Recording, CudaError> {
        let cuda = self.gpu.enter()?;
        let waits = self.recording.take().unwrap_or_default();
        let (mut graph, mut instance) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: writes one handle.
        unsafe { cuda.cuStreamEndCapture(self.handle, &mut graph) }?;
        // SAFETY: the graph is alive; writes one handle.
        let made = unsafe { cuda.cuGraphInstantiateWithFlags(&mut instance, graph, 0) };
        // SAFETY: the graph is alive and dropped once; what was made from it needs it no more. Where that fails nothing can be
        // done.
        let _ = unsafe { cuda.cuGraphDestroy(graph) };
        made?;
        Ok(Recording { instance, waits, gpu: Arc::clone(&self.gpu) })
    }

    /// Does what was recorded on this stream.
    pub(crate) fn play(&self, recording: &Recording) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        // SAFETY: both are alive and of one context; the memory is still there, by the contract of `recorded`.
        unsafe { cuda.cuGraphLaunch(recording.instance, self.handle) }?;
        if recording.waits {
            self.has_waited();
        }
        Ok(())
    }
}
