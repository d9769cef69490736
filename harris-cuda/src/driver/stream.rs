//! A queue of work on a device.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use harris_gpu::Mark;
use harris_gpu_kernels::abi::Kernel;

use super::ffi::{self, Handle};
use super::{DeviceMemory, Gpu, Staging};
use crate::CudaError;

/// A kernel's argument.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Memory(&'a DeviceMemory),
    Word(u64),
}

/// A stream that does not wait for others.
#[derive(Debug)]
pub(crate) struct Stream {
    handle: Handle,
    marks: [Handle; Mark::COUNT],
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's functions on streams and events may be called from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above, also at once.
unsafe impl Sync for Stream {}

impl Stream {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, CudaError> {
        gpu.enter()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        ffi::check("cuStreamCreate", unsafe { ffi::cuStreamCreate(&mut handle, ffi::STREAM_NON_BLOCKING) })?;
        let mut stream = Self { handle, marks: [std::ptr::null_mut(); Mark::COUNT], gpu: Arc::clone(gpu) };
        for mark in &mut stream.marks {
            // SAFETY: writes one handle.
            ffi::check("cuEventCreate", unsafe { ffi::cuEventCreate(mark, 0) })?;
        }
        Ok(stream)
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Copies what is staged to byte `offset` of `to`: `from` is a part of a [`Staging`]. It may be written again, and the
    /// staging dropped, after the next [`Stream::wait`]. Several threads may do so at once.
    pub(crate) fn upload(&self, to: &DeviceMemory, offset: usize, from: &[u8]) -> Result<(), CudaError> {
        self.gpu.enter()?;
        assert!(offset <= to.bytes && from.len() <= to.bytes - offset, "a copy into memory");
        // SAFETY: both ranges lie inside their memories; the source stays as it is until the copy is done, which is the
        // caller's to keep (all of them are in this crate).
        let code = unsafe {
            ffi::cuMemcpyHtoDAsync_v2(
                to.pointer + offset as u64,
                from.as_ptr().cast(),
                from.len(),
                self.handle,
            )
        };
        ffi::check("cuMemcpyHtoDAsync", code)
    }

    /// Copies the start of `from`, after all work before, to what is staged from `at` on, which no other copy may be
    /// reading. Pinned memory is faster for little.
    pub(crate) fn fetch(
        &self,
        from: &DeviceMemory,
        to: &mut Staging,
        at: usize,
        bytes: usize,
    ) -> Result<(), CudaError> {
        self.gpu.enter()?;
        assert!(bytes <= from.bytes, "a copy out of memory");
        let target: *mut c_void = to.as_mut_slice()[at..at + bytes].as_mut_ptr().cast();
        // SAFETY: both ranges lie inside their memories; the staging is borrowed until the copy is done.
        let code = unsafe { ffi::cuMemcpyDtoHAsync_v2(target, from.pointer, bytes, self.handle) };
        let copied = ffi::check("cuMemcpyDtoHAsync", code);
        self.wait().and(copied)
    }

    /// Copies the start of `from`, after all work before.
    pub(crate) fn download(&self, from: &DeviceMemory, to: &mut [u8]) -> Result<(), CudaError> {
        self.gpu.enter()?;
        assert!(to.len() <= from.bytes, "a copy out of memory");
        let target: *mut c_void = to.as_mut_ptr().cast();
        // SAFETY: the range lies inside the memory; `to` is borrowed until the copy is done.
        let code = unsafe { ffi::cuMemcpyDtoHAsync_v2(target, from.pointer, to.len(), self.handle) };
        let copied = ffi::check("cuMemcpyDtoHAsync", code);
        self.wait().and(copied)
    }

    /// Writes `words` zeros of 32 bits.
    pub(crate) fn clear(&self, to: &DeviceMemory, words: usize) -> Result<(), CudaError> {
        self.gpu.enter()?;
        assert!(words <= to.bytes / 4, "words inside memory");
        // SAFETY: the range lies inside the memory.
        let code = unsafe { ffi::cuMemsetD32Async(to.pointer, 0, words, self.handle) };
        ffi::check("cuMemsetD32Async", code)
    }

    /// Runs a kernel. The arguments are those of the list of kernels, and buffers as long as the kernel needs them.
    pub(crate) fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        values: &[Value<'_>],
    ) -> Result<(), CudaError> {
        self.gpu.enter()?;
        let mut words: Vec<u64> = (values.iter())
            .map(|value| match value {
                Value::Memory(memory) => memory.pointer,
                Value::Word(word) => *word,
            })
            .collect();
        // A parameter is read from the low end of its word.
        let mut parameters: Vec<*mut c_void> =
            words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        // SAFETY: the function is this context's; parameters are as many and as wide as the kernel's, and buffers as long
        // as it needs, by the contract of this function, which harris-gpu's typed launches keep.
        let code = unsafe {
            ffi::cuLaunchKernel(
                self.gpu.module().function(kernel),
                grid[0],
                grid[1],
                1,
                kernel.threads(),
                1,
                1,
                0,
                self.handle,
                parameters.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        ffi::check("cuLaunchKernel", code)
    }

    /// Waits for all work, and tells of failures in it.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        self.gpu.enter()?;
        // SAFETY: the stream is alive.
        ffi::check("cuStreamSynchronize", unsafe { ffi::cuStreamSynchronize(self.handle) })
    }

    /// Sets a mark here.
    pub(crate) fn mark(&self, mark: Mark) -> Result<(), CudaError> {
        self.gpu.enter()?;
        let event = self.marks[mark as usize];
        // SAFETY: event and stream are alive and of one context.
        ffi::check("cuEventRecord", unsafe { ffi::cuEventRecord(event, self.handle) })
    }

    /// The device's time from one mark to another, both of which have been passed.
    pub(crate) fn between(&self, from: Mark, to: Mark) -> Result<Duration, CudaError> {
        self.gpu.enter()?;
        let mut milliseconds = 0.0;
        let (from, to) = (self.marks[from as usize], self.marks[to as usize]);
        // SAFETY: writes one number; both events are alive.
        let code = unsafe { ffi::cuEventElapsedTime(&mut milliseconds, from, to) };
        ffi::check("cuEventElapsedTime", code)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds) / 1e3))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.gpu.enter().is_err() {
            return;
        }
        for mark in self.marks.into_iter().filter(|mark| !mark.is_null()) {
            // SAFETY: the event is alive and dropped once.
            unsafe { ffi::cuEventDestroy_v2(mark) };
        }
        // SAFETY: the stream is alive and dropped once; the driver lets its work end first.
        unsafe { ffi::cuStreamDestroy_v2(self.handle) };
    }
}
