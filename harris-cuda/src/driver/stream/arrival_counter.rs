//! Waiting for copies ahead by a kernel.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use harris_gpu::Mark;
use harris_gpu_kernels::abi::Kernel;

use super::{Stream, Value};
use crate::CudaError;
use crate::driver::DeviceMemory;
use crate::driver::context::Entered;
use crate::driver::ffi::Handle;

/// Two words of the device's memory: one counts what has come ahead of a stream's work, written behind copies, the other how often the
/// work has waited for it.
///
/// The kernel `arrive` waits: it spins on the GPU. What it waits for is queued before it is launched, so that it comes. A stream that waits for another is looked at again only some microseconds after that one
/// has got there.
#[derive(Debug)]
pub(super) struct Arrivals {
    words: DeviceMemory,
    /// What was written last.
    announced: AtomicU32,
    /// How often it was, or will be, waited.
    awaited: AtomicU32,
}

impl Arrivals {
    /// For a new stream, where the device can start kernels early: those behind the one that waits then begin at once, too.
    pub(super) fn new(stream: &Stream) -> Result<Option<Self>, CudaError> {
        let cuda = stream.gpu.enter()?;
        if !(stream.gpu.kernels().starts_early() && cuda.has.cuStreamWriteValue32_v2) {
            return Ok(None);
        }
        let words = DeviceMemory::new(&stream.gpu, 2 * size_of::<u32>())?;
        stream.clear(&words, 2)?;
        // SAFETY: the stream is alive, and so are the words until the first is written.
        let written = unsafe { cuda.cuStreamWriteValue32_v2(stream.handle, words.pointer, 0, 0) };
        stream.wait()?;
        let (announced, awaited) = (AtomicU32::new(0), AtomicU32::new(0));
        Ok(written.is_ok().then_some(Self { words, announced, awaited }))
    }

    /// Counts what was queued on `stream` so far, when it has come.
    fn announce(&self, cuda: &Entered, stream: Handle) -> Result<(), CudaError> {
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

impl Stream {
    /// As [`Stream::arrive`], in two steps, of which this one sets a mark when all has come, and [`Stream::await_announced`] can be recorded.
    /// Copies that are queued ahead after this begin some microseconds later, and work here as much sooner.
    pub(crate) fn announce(&self, mark: Option<Mark>) -> Result<(), CudaError> {
        let Some(arrivals) = &self.arrivals else {
            self.arrive()?;
            return mark.map_or(Ok(()), |mark| self.mark(mark));
        };
        let cuda = self.gpu.enter()?;
        arrivals.announce(&cuda, self.ahead.handle)?;
        mark.map_or(Ok(()), |mark| self.mark_on(self.ahead.handle, mark))
    }

    /// Work from here on waits for what was announced, each time once.
    pub(crate) fn await_announced(&mut self) -> Result<(), CudaError> {
        let Some(Arrivals { words, .. }) = &self.arrivals else { return Ok(()) };
        // All that it waits for is under way: it will come.
        self.launch(Kernel::arrive, [1, 1], &[Value::Memory(words)])?;
        match &mut self.recording {
            Some(waits) => *waits = true,
            None => self.has_waited(),
        }
        Ok(())
    }

    /// Something is queued that waits for what was announced.
    pub(super) fn has_waited(&self) {
        if let Some(arrivals) = &self.arrivals {
            arrivals.awaited.fetch_add(1, Relaxed);
        }
        self.awaited.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::PoisonError;

    use super::*;
    use crate::driver::{Ahead, Queue, Staging};

    /// As after a failure between the two: the next copy is waited for all the same.
    #[test]
    fn an_announcement_that_nothing_waits_for_is_forgotten() {
        let _alone = crate::driver::tests::ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(gpu) = crate::driver::tests::gpu() else { return };
        // So many that the copy takes milliseconds.
        const BYTES: usize = 64 << 20;
        let mut stream = Stream::new(&Ahead::new(&gpu).unwrap()).unwrap();
        let memory = DeviceMemory::new(&gpu, BYTES).unwrap();
        let mut staging = Staging::new(&gpu, BYTES).unwrap();
        let mut last = Staging::new(&gpu, 8).unwrap();
        let copied = |stream: &mut Stream, staging: &mut Staging, last: &mut Staging, value: u8| {
            staging.as_mut_slice().fill(value);
            stream.upload(Queue::Ahead, &memory, 0, &[staging.as_slice()]).unwrap();
            stream.announce(None).unwrap();
            stream.await_announced().unwrap();
            let end = DeviceMemory::foreign(&gpu, memory.pointer() + BYTES as u64 - 8, 8);
            stream.fetch(&end, last, 0, 8).unwrap();
            stream.wait().unwrap();
            last.as_slice().to_vec()
        };
        for value in 1..4 {
            assert_eq!(copied(&mut stream, &mut staging, &mut last, value), [value; 8]);
            stream.announce(None).unwrap();
            if value == 2 {
                stream.announce(None).unwrap();
            }
        }
        assert_eq!(copied(&mut stream, &mut staging, &mut last, 9), [9; 8]);
    }
}
