//! Kernels that wait for copies on the copy stream, without a wait of the whole stream.

use std::sync::atomic::Ordering::Relaxed;

use harris_gpu::Mark;
use harris_gpu_kernels::abi::Kernel;

use super::arrival_counter::ArrivalCounter;
use super::base::{Stream, Value};
use crate::CudaError;

impl Stream {
    /// Signals, behind the copies on the copy stream so far, that they are complete, and sets a
    /// mark there.
    ///
    /// [`Stream::await_signal`] is the wait, which can be recorded. Together they react some
    /// microseconds sooner than [`Stream::await_uploads`]. Later copies start some microseconds
    /// later.
    pub(crate) fn signal_uploads(&self, mark: Option<Mark>) -> Result<(), CudaError> {
        let Some(arrivals) = &self.arrivals else {
            self.await_uploads()?;
            return mark.map_or(Ok(()), |mark| self.mark(mark));
        };
        let cuda = self.gpu.enter()?;
        arrivals.signal_uploads(&cuda, self.copies.handle)?;
        mark.map_or(Ok(()), |mark| self.mark_on(self.copies.handle, mark))
    }

    /// Makes later work wait for the signal. Each signal is waited for once.
    pub(crate) fn await_signal(&mut self) -> Result<(), CudaError> {
        let Some(ArrivalCounter { words, .. }) = &self.arrivals else { return Ok(()) };
        // The copies are queued already, so the wait ends.
        self.launch(Kernel::wait_for_copy, [1, 1], &[Value::Memory(words)])?;
        match &mut self.recording {
            Some(waits) => *waits = true,
            None => self.note_wait(),
        }
        Ok(())
    }

    /// Notes that a wait for the signalled copies is queued.
    pub(super) fn note_wait(&self) {
        if let Some(arrivals) = &self.arrivals {
            arrivals.awaited.fetch_add(1, Relaxed);
        }
        self.has_pending_copies.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::PoisonError;

    use super::*;
    use crate::driver::{CopyStream, DeviceMemory, PinnedBuffer, Queue};

    /// After a failure between signal and wait, the next copy must still be waited for.
    #[test]
    fn signals_without_a_wait_are_taken_back() {
        let _alone = crate::driver::tests::ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(gpu) = crate::driver::tests::gpu() else { return };
        // Large enough for the copy to take milliseconds.
        const BYTES: usize = 64 << 20;
        let mut stream = Stream::new(&CopyStream::new(&gpu).unwrap()).unwrap();
        let memory = DeviceMemory::new(&gpu, BYTES).unwrap();
        let mut staging = PinnedBuffer::new(&gpu, BYTES).unwrap();
        let mut last = PinnedBuffer::new(&gpu, 8).unwrap();
        let copied = |stream: &mut Stream, staging: &mut PinnedBuffer, last: &mut PinnedBuffer, value: u8| {
            staging.as_mut_slice().fill(value);
            stream.upload(Queue::Copies, &memory, 0, &[staging.as_slice()]).unwrap();
            stream.signal_uploads(None).unwrap();
            stream.await_signal().unwrap();
            let end = DeviceMemory::borrowed(&gpu, memory.pointer() + BYTES as u64 - 8, 8);
            stream.fetch(&end, last, 0, 8).unwrap();
            stream.wait().unwrap();
            last.as_slice().to_vec()
        };
        for value in 1..4 {
            assert_eq!(copied(&mut stream, &mut staging, &mut last, value), [value; 8]);
            stream.signal_uploads(None).unwrap();
            if value == 2 {
                stream.signal_uploads(None).unwrap();
            }
        }
        assert_eq!(copied(&mut stream, &mut staging, &mut last, 9), [9; 8]);
    }
}
