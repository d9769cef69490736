//! Waiting for copies ahead by a kernel.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::CudaError;
use crate::driver::context::ActiveContext;
use crate::driver::ffi::Handle;
use crate::driver::{DeviceMemory, Gpu};

/// Two words of the device's memory: one counts what has come ahead of a stream's work, written behind copies, the other how often the
/// work has waited for it.
///
/// The kernel `arrive` waits: it spins on the GPU. What it waits for is queued before it is launched, so that it comes. A stream that waits for another is looked at again only some microseconds after that one
/// has got there.
#[derive(Debug)]
pub(super) struct ArrivalCounter {
    pub(super) words: DeviceMemory,
    /// What was written last.
    announced: AtomicU32,
    /// How often it was, or will be, waited.
    pub(super) awaited: AtomicU32,
}

impl ArrivalCounter {
    /// For a new stream, where the device can start kernels early: those behind the one that waits then begin at once, too.
    pub(super) fn new(gpu: &Arc<Gpu>, stream: Handle) -> Result<Option<Self>, CudaError> {
        let cuda = gpu.enter()?;
        if !(gpu.kernels().starts_early() && cuda.has.cuStreamWriteValue32_v2) {
            return Ok(None);
        }
        let words = DeviceMemory::new(gpu, 2 * size_of::<u32>())?;
        // SAFETY: the stream is alive, and the memory has two words.
        unsafe { cuda.cuMemsetD32Async(words.pointer, 0, 2, stream) }?;
        // SAFETY: the stream is alive, and so are the words until the first is written.
        let written = unsafe { cuda.cuStreamWriteValue32_v2(stream, words.pointer, 0, 0) };
        // SAFETY: the stream is alive.
        unsafe { cuda.cuStreamSynchronize(stream) }?;
        let (announced, awaited) = (AtomicU32::new(0), AtomicU32::new(0));
        Ok(written.is_ok().then_some(Self { words, announced, awaited }))
    }

    /// Counts what was queued on `stream` so far, when it has come.
    pub(super) fn announce(&self, cuda: &ActiveContext, stream: Handle) -> Result<(), CudaError> {
        // SAFETY: the stream is alive, and so are the words, until all that uses them has ended.
        let write = |number| unsafe { cuda.cuStreamWriteValue32_v2(stream, self.words.pointer, number, 0) };
        let awaited = self.awaited.load(Relaxed);
        if self.announced.load(Relaxed) != awaited {
            // What was to wait for the last one could not be queued: as if that had not come.
            write(awaited)?;
            // SAFETY: the stream is alive.
            unsafe { cuda.cuStreamSynchronize(stream) }?;
            self.announced.store(awaited, Relaxed);
        }
        write(awaited.wrapping_add(1))?;
        self.announced.store(awaited.wrapping_add(1), Relaxed);
        Ok(())
    }
}
