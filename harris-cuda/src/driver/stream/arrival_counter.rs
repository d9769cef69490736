//! A counter in the device's memory by which kernels wait for copies.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::CudaError;
use crate::driver::context::ActiveContext;
use crate::driver::ffi::Handle;
use crate::driver::{DeviceMemory, Gpu};

/// Two words of the device's memory. The first counts the copies that have arrived, and is written
/// behind them. The second counts how often a stream's work has waited.
///
/// The kernel `wait_for_copy` spins on the GPU until the words agree. The copies are queued before
/// the kernel, so the wait ends. A wait of one stream for another would react some microseconds
/// later.
#[derive(Debug)]
pub(super) struct ArrivalCounter {
    pub(super) words: DeviceMemory,
    /// The number that the last signal writes.
    signalled: AtomicU32,
    /// The number of waits that were queued.
    pub(super) awaited: AtomicU32,
}

impl ArrivalCounter {
    /// Makes the counter of a new stream, if the device can start kernels early: then those behind
    /// the waiting kernel start at once, too.
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
        let (signalled, awaited) = (AtomicU32::new(0), AtomicU32::new(0));
        Ok(written.is_ok().then_some(Self { words, signalled, awaited }))
    }

    /// Queues a write behind the work on `stream`, which counts it as arrived.
    pub(super) fn signal_uploads(&self, cuda: &ActiveContext, stream: Handle) -> Result<(), CudaError> {
        // SAFETY: the stream is alive, and so are the words until all work that uses them has
        // ended.
        let write = |number| unsafe { cuda.cuStreamWriteValue32_v2(stream, self.words.pointer, number, 0) };
        let awaited = self.awaited.load(Relaxed);
        if self.signalled.load(Relaxed) != awaited {
            // The wait for the last write could not be queued, so that write is taken back.
            write(awaited)?;
            // SAFETY: the stream is alive.
            unsafe { cuda.cuStreamSynchronize(stream) }?;
            self.signalled.store(awaited, Relaxed);
        }
        write(awaited.wrapping_add(1))?;
        self.signalled.store(awaited.wrapping_add(1), Relaxed);
        Ok(())
    }
}
