//! A stream's handles, the work queued on it, and waiting for that work.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use harris_gpu::Mark;
use harris_gpu_kernels::abi::{Kernel, specialise};

use super::arrival_counter::ArrivalCounter;
use crate::CudaError;
use crate::driver::ffi::{self, Handle};
use crate::driver::library::Failure;
use crate::driver::{DeviceMemory, Gpu};

/// The most parts of a download that can be on their way at once.
pub(crate) const PARTS: usize = 4;

/// A kernel's argument.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Memory(&'a DeviceMemory),
    Word(u64),
}

/// A CUDA stream for copies that overlap other work. Several streams may share it: a device copies
/// faster from one queue than from several in rotation.
#[derive(Debug)]
pub(crate) struct CopyStream {
    pub(super) handle: Handle,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's functions on streams may be called from any thread.
unsafe impl Send for CopyStream {}
// SAFETY: the driver's functions on streams may be called by several threads at once.
unsafe impl Sync for CopyStream {}

impl CopyStream {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Arc<Self>, CudaError> {
        Ok(Arc::new(Self { handle: new_stream(gpu)?, gpu: Arc::clone(gpu) }))
    }
}

impl Drop for CopyStream {
    fn drop(&mut self) {
        if let Ok(cuda) = self.gpu.enter() {
            // SAFETY: the stream is alive and destroyed once; the driver lets its work end first. A
            // failure here cannot be handled.
            let _ = unsafe { cuda.cuStreamDestroy_v2(self.handle) };
        }
    }
}

/// Creates a stream that does not wait for others.
fn new_stream(gpu: &Gpu) -> Result<Handle, CudaError> {
    let cuda = gpu.enter()?;
    let mut handle = std::ptr::null_mut();
    // SAFETY: writes one handle.
    unsafe { cuda.cuStreamCreate(&mut handle, ffi::STREAM_NON_BLOCKING) }?;
    Ok(handle)
}

/// A CUDA stream that does not wait for others, with a copy stream beside it.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(super) handle: Handle,
    pub(super) copies: Arc<CopyStream>,
    /// Whether the copy stream has copies that no work waits for yet.
    pub(super) has_pending_copies: AtomicBool,
    /// The event by which one stream waits for another.
    order_event: Handle,
    /// Lets a kernel wait for copies, if the device supports it. That is faster than the event.
    pub(super) arrivals: Option<ArrivalCounter>,
    marks: [Handle; Mark::COUNT],
    /// Events behind the parts of a download.
    pub(super) part_events: [Handle; PARTS],
    /// During a recording, whether the recorded work waits for signalled copies.
    pub(super) recording: Option<bool>,
    pub(super) gpu: Arc<Gpu>,
}

// SAFETY: the driver's functions on streams and events may be called from any thread.
unsafe impl Send for Stream {}
// SAFETY: the driver's functions may be called by several threads at once. Functions that share one
// event (`order`, `signal_uploads`) are called by the detector's own thread alone; others only
// copy.
unsafe impl Sync for Stream {}

impl Stream {
    pub(crate) fn new(copies: &Arc<CopyStream>) -> Result<Self, CudaError> {
        let gpu = &copies.gpu;
        let cuda = gpu.enter()?;
        let none = std::ptr::null_mut();
        let mut stream = Self {
            handle: new_stream(gpu)?,
            copies: Arc::clone(copies),
            has_pending_copies: AtomicBool::new(false),
            order_event: none,
            arrivals: None,
            marks: [none; Mark::COUNT],
            part_events: [none; PARTS],
            recording: None,
            gpu: Arc::clone(gpu),
        };
        for event in stream.part_events.iter_mut().chain([&mut stream.order_event]) {
            // SAFETY: writes one handle.
            unsafe { cuda.cuEventCreate(event, ffi::EVENT_DISABLE_TIMING) }?;
        }
        for mark in &mut stream.marks {
            // SAFETY: writes one handle.
            unsafe { cuda.cuEventCreate(mark, 0) }?;
        }
        stream.arrivals = ArrivalCounter::new(gpu, stream.handle)?;
        Ok(stream)
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    /// Makes later work wait for all copies on the copy stream so far.
    pub(crate) fn await_uploads(&self) -> Result<(), CudaError> {
        self.order(self.copies.handle, self.handle)?;
        self.has_pending_copies.store(false, Relaxed);
        Ok(())
    }

    /// Makes later work wait for what is on `other` so far, a stream of this context.
    pub(crate) fn follow(&self, other: Handle) -> Result<(), CudaError> {
        self.order(other, self.handle)
    }

    /// Makes later work on `other`, a stream of this context, wait for all work so far.
    pub(crate) fn precede(&self, other: Handle) -> Result<(), CudaError> {
        self.order(self.handle, other)
    }

    /// Makes later work on `second` wait for what is on `first` so far. Both are alive and of this
    /// context.
    fn order(&self, first: Handle, second: Handle) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        // SAFETY: event and stream are alive and of one context, by the contract of this function.
        unsafe { cuda.cuEventRecord(self.order_event, first) }?;
        // SAFETY: event and stream are alive and of one context, by the contract of this function.
        // The wait is for the event's last record.
        Ok(unsafe { cuda.cuStreamWaitEvent(second, self.order_event, 0) }?)
    }

    /// Writes `words` zeros of 32 bits.
    pub(crate) fn clear(&self, to: &DeviceMemory, words: usize) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        assert!(words <= to.bytes / 4, "words inside memory");
        // SAFETY: the range lies inside the memory.
        Ok(unsafe { cuda.cuMemsetD32Async(to.pointer, 0, words, self.handle) }?)
    }

    /// Launches a kernel. The arguments must be those of the table of kernels, with buffers as long
    /// as the kernel needs.
    pub(crate) fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        values: &[Value<'_>],
    ) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        let mut words: Vec<u64> = (values.iter())
            .map(|value| match value {
                Value::Memory(memory) => memory.pointer,
                Value::Word(word) => *word,
            })
            .collect();
        let variant = specialise::variant(kernel, |place| words[place] as u32);
        let function = self.gpu.kernels().function(&cuda, kernel, variant)?;
        // The driver reads a parameter from the low end of its word.
        let mut parameters: Vec<*mut c_void> =
            words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        if self.gpu.kernels().launches_early(kernel, self.is_recording()) {
            let config = ffi::LaunchConfig {
                grid: [grid[0], grid[1], 1],
                block: [kernel.threads(), 1, 1],
                shared_bytes: 0,
                stream: self.handle,
                attributes: &ffi::LaunchAttribute::EARLY,
                attribute_count: 1,
            };
            // SAFETY: the conditions are those of the launch below; the kernel waits for its
            // predecessors before it touches memory.
            let launched = unsafe {
                cuda.cuLaunchKernelEx(&config, function, parameters.as_mut_ptr(), std::ptr::null_mut())
            };
            return Ok(launched?);
        }
        // SAFETY: the function is of this context. Number and width of the parameters are those of
        // the kernel, and buffers are long enough, by the contract of this function. harris-gpu's
        // typed launches keep it.
        let launched = unsafe {
            cuda.cuLaunchKernel(
                function,
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
        Ok(launched?)
    }

    /// Whether work is recorded instead of done.
    pub(crate) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// Waits for all work, and returns its failures.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        // Both streams are waited for, even if one has failed.
        let wait = |handle: Handle| {
            // SAFETY: the stream is alive.
            unsafe { cuda.cuStreamSynchronize(handle) }.map_err(CudaError::from)
        };
        let copies =
            if self.has_pending_copies.swap(false, Relaxed) { wait(self.copies.handle) } else { Ok(()) };
        wait(self.handle).and(copies)
    }

    /// Whether all work is done, or has failed.
    pub(crate) fn is_idle(&self) -> bool {
        let Ok(cuda) = self.gpu.enter() else { return true };
        let busy = |handle: Handle| {
            // SAFETY: the stream is alive.
            let queried = unsafe { cuda.cuStreamQuery(handle) };
            matches!(queried, Err(Failure { code: ffi::NOT_READY, .. }))
        };
        let has_pending = self.has_pending_copies.load(Relaxed);
        !(has_pending && busy(self.copies.handle) || busy(self.handle))
    }

    /// Sets a mark behind the work so far.
    pub(crate) fn mark(&self, mark: Mark) -> Result<(), CudaError> {
        self.mark_on(self.handle, mark)
    }

    /// Sets a mark on a stream of this context.
    pub(super) fn mark_on(&self, stream: Handle, mark: Mark) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        let event = self.marks[mark as usize];
        // In a recording, every replay sets the mark.
        if self.is_recording() {
            // SAFETY: event and stream are alive and of one context.
            return Ok(unsafe { cuda.cuEventRecordWithFlags(event, stream, ffi::EVENT_RECORD_EXTERNAL) }?);
        }
        // SAFETY: event and stream are alive and of one context.
        Ok(unsafe { cuda.cuEventRecord(event, stream) }?)
    }

    /// Returns the device's time from one mark to another. Both have been passed, or will be soon.
    pub(crate) fn between(&self, from: Mark, to: Mark) -> Result<Duration, CudaError> {
        let cuda = self.gpu.enter()?;
        let mut milliseconds = 0.0;
        let (from, to) = (self.marks[from as usize], self.marks[to as usize]);
        // On the copy stream, the mark comes behind the write that work waited for.
        // SAFETY: the event is alive.
        unsafe { cuda.cuEventSynchronize(from) }?;
        // SAFETY: writes one number; both events are alive.
        unsafe { cuda.cuEventElapsedTime(&mut milliseconds, from, to) }?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds) / 1e3))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Ok(cuda) = self.gpu.enter() else { return };
        if self.is_recording() {
            // An unfinished recording is discarded.
            let _ = self.end_recording();
        }
        // The caller may free memory next that work still uses.
        let _ = self.wait();
        for event in self
            .marks
            .into_iter()
            .chain(self.part_events)
            .chain([self.order_event])
            .filter(|event| !event.is_null())
        {
            // SAFETY: the event is alive and destroyed once.
            let _ = unsafe { cuda.cuEventDestroy_v2(event) };
        }
        // SAFETY: the stream is alive and destroyed once; the driver lets its work end first.
        let _ = unsafe { cuda.cuStreamDestroy_v2(self.handle) };
    }
}
