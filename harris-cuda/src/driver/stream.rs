//! A queue of work on a device.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;

use harris_gpu::{Mark, Rows};
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

/// Where a copy to the device is queued.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Queue {
    /// With all other work.
    Work,
    /// Ahead of it.
    Ahead,
}

/// A queue for copies, ahead of those of other work. Several may share it: a device is quicker with copies from one queue than from
/// several by turns.
#[derive(Debug)]
pub(crate) struct Ahead {
    handle: Handle,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's functions on streams may be called from any thread.
unsafe impl Send for Ahead {}
// SAFETY: as above, also at once.
unsafe impl Sync for Ahead {}

impl Ahead {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Arc<Self>, CudaError> {
        Ok(Arc::new(Self { handle: new_stream(gpu)?, gpu: Arc::clone(gpu) }))
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if self.gpu.enter().is_ok() {
            // SAFETY: the stream is alive and dropped once; the driver lets its work end first.
            unsafe { ffi::cuStreamDestroy_v2(self.handle) };
        }
    }
}

/// One that does not wait for others.
fn new_stream(gpu: &Gpu) -> Result<Handle, CudaError> {
    gpu.enter()?;
    let mut handle = std::ptr::null_mut();
    // SAFETY: writes one handle.
    let code = unsafe { ffi::cuStreamCreate(&mut handle, ffi::STREAM_NON_BLOCKING) };
    ffi::check("cuStreamCreate", code)?;
    Ok(handle)
}

/// Two words of the device's memory: one counts what has come ahead of a stream's work, written behind copies, the other how often the
/// work has waited for it.
///
/// A kernel waits that is there already. A stream that waits for another is looked at again only some microseconds after that one
/// has got there.
#[derive(Debug)]
struct Arrivals {
    words: DeviceMemory,
    write: ffi::WriteValue,
    /// What was written last.
    announced: AtomicU32,
    /// How often it was, or will be, waited.
    awaited: AtomicU32,
}

impl Arrivals {
    /// For a new stream, where the device can start kernels early: those behind the one that waits then begin at once, too.
    fn new(stream: &Stream) -> Result<Option<Self>, CudaError> {
        let Some(write) = stream.gpu.kernels().starts_early().then(ffi::write_value).flatten() else {
            return Ok(None);
        };
        let words = DeviceMemory::new(&stream.gpu, 2 * size_of::<u32>())?;
        stream.clear(&words, 2)?;
        // SAFETY: the stream is alive, and so are the words until the first is written.
        let code = unsafe { write(stream.handle, words.pointer, 0, 0) };
        stream.wait()?;
        let (announced, awaited) = (AtomicU32::new(0), AtomicU32::new(0));
        Ok((code == 0).then_some(Self { words, write, announced, awaited }))
    }

    /// Counts what was queued on `stream` so far, when it has come.
    fn announce(&self, stream: Handle) -> Result<(), CudaError> {
        let write = |number: u32| {
            // SAFETY: the stream is alive, and so are the words, until all that uses them has ended.
            let code = unsafe { (self.write)(stream, self.words.pointer, number, 0) };
            ffi::check("cuStreamWriteValue32", code)
        };
        let awaited = self.awaited.load(Relaxed);
        if self.announced.load(Relaxed) != awaited {
            // What was to wait for the last one could not be queued: as if that had not come.
            write(awaited)?;
            // SAFETY: the stream is alive.
            ffi::check("cuStreamSynchronize", unsafe { ffi::cuStreamSynchronize(stream) })?;
            self.announced.store(awaited, Relaxed);
        }
        write(awaited.wrapping_add(1))?;
        self.announced.store(awaited.wrapping_add(1), Relaxed);
        Ok(())
    }
}

/// A queue that does not wait for others, and one ahead of it for copies.
#[derive(Debug)]
pub(crate) struct Stream {
    handle: Handle,
    ahead: Arc<Ahead>,
    /// Whether there are copies ahead that no work waits for yet.
    awaited: AtomicBool,
    /// How far a queue had come that another waits for.
    passed: Handle,
    /// What tells work that copies have come, where there is a quicker way than that.
    arrivals: Option<Arrivals>,
    marks: [Handle; Mark::COUNT],
    /// While work is recorded: whether it waits for what is announced.
    recording: Option<bool>,
    gpu: Arc<Gpu>,
}

// SAFETY: the driver's functions on streams and events may be called from any thread.
unsafe impl Send for Stream {}
// SAFETY: as above, also at once.
unsafe impl Sync for Stream {}

impl Stream {
    pub(crate) fn new(ahead: &Arc<Ahead>) -> Result<Self, CudaError> {
        let gpu = &ahead.gpu;
        let none = std::ptr::null_mut();
        let mut stream = Self {
            handle: new_stream(gpu)?,
            ahead: Arc::clone(ahead),
            awaited: AtomicBool::new(false),
            passed: none,
            arrivals: None,
            marks: [none; Mark::COUNT],
            recording: None,
            gpu: Arc::clone(gpu),
        };
        // SAFETY: writes one handle.
        let code = unsafe { ffi::cuEventCreate(&mut stream.passed, ffi::EVENT_DISABLE_TIMING) };
        ffi::check("cuEventCreate", code)?;
        for mark in &mut stream.marks {
            // SAFETY: writes one handle.
            ffi::check("cuEventCreate", unsafe { ffi::cuEventCreate(mark, 0) })?;
        }
        stream.arrivals = Arrivals::new(&stream)?;
        Ok(stream)
    }

    pub(crate) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    fn queue(&self, queue: Queue) -> Handle {
        match queue {
            Queue::Work => self.handle,
            Queue::Ahead => {
                self.awaited.store(true, Relaxed);
                self.ahead.handle
            }
        }
    }

    /// Copies what is staged to byte `offset` of `to`: `from` is a part of a [`Staging`]. It may be written again, and the
    /// staging dropped, after the next [`Stream::wait`]. Several threads may do so at once.
    pub(crate) fn upload(
        &self,
        queue: Queue,
        to: &DeviceMemory,
        offset: usize,
        pieces: &[&[u8]],
    ) -> Result<(), CudaError> {
        self.gpu.enter()?;
        let is_next = |pair: &[&[u8]]| pair[0].as_ptr_range().end == pair[1].as_ptr();
        assert!(pieces.windows(2).all(is_next), "pieces that lie one behind the other");
        let bytes = pieces.iter().map(|piece| piece.len()).sum();
        assert!(offset <= to.bytes && bytes <= to.bytes - offset, "a copy into memory");
        let Some(from) = pieces.first() else { return Ok(()) };
        // SAFETY: both ranges lie inside their memories; the source stays as it is until the copy is done, which is the
        // caller's to keep (all of them are in this crate).
        let code = unsafe {
            ffi::cuMemcpyHtoDAsync_v2(
                to.pointer + offset as u64,
                from.as_ptr().cast(),
                bytes,
                self.queue(queue),
            )
        };
        ffi::check("cuMemcpyHtoDAsync", code)
    }

    /// The same for rows of a single image in pinned memory, `stride` bytes apart; they must stay as they are until the next
    /// [`Stream::wait`].
    pub(crate) fn upload_rows(
        &self,
        queue: Queue,
        to: &DeviceMemory,
        rows: &Rows<'_>,
        stride: usize,
    ) -> Result<(), CudaError> {
        self.gpu.enter()?;
        let &Rows { pitch, offset, .. } = rows;
        let (first, count) = (rows.row(0), rows.count());
        let width = first.len();
        assert!(
            rows.images.len() == 1 && rows.images[0].stride() == Some(stride),
            "rows of an image that lie so far apart"
        );
        assert!(width <= pitch && (width <= stride || count == 1), "rows that do not overlap");
        let reached = rows.row(count - 1).as_ptr() as usize - first.as_ptr() as usize;
        assert_eq!(reached, (count - 1) * stride, "rows that lie so far apart");
        let last = offset + (count - 1) * pitch;
        assert!(last <= to.bytes && width <= to.bytes - last, "a copy into memory");
        let copy = ffi::Copy2d {
            from_x_bytes: 0,
            from_y: 0,
            from_type: ffi::MEMORYTYPE_HOST,
            from_host: first.as_ptr().cast(),
            from_device: 0,
            from_array: std::ptr::null_mut(),
            from_pitch: stride,
            to_x_bytes: 0,
            to_y: 0,
            to_type: ffi::MEMORYTYPE_DEVICE,
            to_host: std::ptr::null_mut(),
            to_device: to.pointer + offset as u64,
            to_array: std::ptr::null_mut(),
            to_pitch: pitch,
            width_bytes: width,
            height: count,
        };
        let stream = self.queue(queue);
        let code = if stride == pitch && width == pitch {
            // SAFETY: the rows follow each other without gaps, as an image's of that stride do, inside the memory on the device; they
            // stay as they are until the copy is done, which is the caller's to keep, as in `upload`.
            unsafe { ffi::cuMemcpyHtoDAsync_v2(copy.to_device, copy.from_host, width * count, stream) }
        } else {
            // SAFETY: as above, but that the rows lie evenly apart.
            unsafe { ffi::cuMemcpy2DAsync_v2(&copy, stream) }
        };
        ffi::check("cuMemcpy2DAsync", code)
    }

    /// Work from here on waits for what was queued ahead of it.
    pub(crate) fn arrive(&self) -> Result<(), CudaError> {
        self.chain(self.ahead.handle, self.handle)?;
        self.awaited.store(false, Relaxed);
        Ok(())
    }

    /// The same in two steps, of which this one sets a mark when all has come, and [`Stream::await_announced`] can be recorded. Copies that
    /// are queued ahead after this begin some microseconds later, and work here as much sooner.
    pub(crate) fn announce(&self, mark: Option<Mark>) -> Result<(), CudaError> {
        let Some(arrivals) = &self.arrivals else {
            self.arrive()?;
            return mark.map_or(Ok(()), |mark| self.mark(mark));
        };
        self.gpu.enter()?;
        arrivals.announce(self.ahead.handle)?;
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
    fn has_waited(&self) {
        if let Some(arrivals) = &self.arrivals {
            arrivals.awaited.fetch_add(1, Relaxed);
        }
        self.awaited.store(false, Relaxed);
    }

    /// Work from here on waits for what is queued on `other`, a stream of this context, so far.
    pub(crate) fn follow(&self, other: Handle) -> Result<(), CudaError> {
        self.chain(other, self.handle)
    }

    /// What is queued on `other`, a stream of this context, from here on waits for all work so far.
    pub(crate) fn precede(&self, other: Handle) -> Result<(), CudaError> {
        self.chain(self.handle, other)
    }

    /// Makes what is queued on one stream from here on wait for what is on another; both are alive and of this context.
    fn chain(&self, first: Handle, second: Handle) -> Result<(), CudaError> {
        self.gpu.enter()?;
        // SAFETY: event and stream are alive and of one context, by the contract of this function.
        ffi::check("cuEventRecord", unsafe { ffi::cuEventRecord(self.passed, first) })?;
        // SAFETY: as above. What is waited for is what the event was recorded behind last.
        ffi::check("cuStreamWaitEvent", unsafe { ffi::cuStreamWaitEvent(second, self.passed, 0) })
    }

    /// Copies the start of `from`, after all work before, to what is staged from `at` on. It may be read after the next
    /// [`Stream::wait`], and until then the staging must not be dropped, which is the caller's to keep.
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
        // SAFETY: both ranges lie inside their memories; the staging is neither read nor dropped until the copy is done, by the
        // contract of this function.
        let code = unsafe { ffi::cuMemcpyDtoHAsync_v2(target, from.pointer, bytes, self.handle) };
        ffi::check("cuMemcpyDtoHAsync", code)
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
        let function = self.gpu.kernels().function(kernel)?;
        let mut words: Vec<u64> = (values.iter())
            .map(|value| match value {
                Value::Memory(memory) => memory.pointer,
                Value::Word(word) => *word,
            })
            .collect();
        // A parameter is read from the low end of its word.
        let mut parameters: Vec<*mut c_void> =
            words.iter_mut().map(|word| std::ptr::from_mut(word).cast()).collect();
        if let Some(launch) = self.gpu.kernels().launch_early(kernel, self.is_recording()) {
            let config = ffi::LaunchConfig {
                grid: [grid[0], grid[1], 1],
                block: [kernel.threads(), 1, 1],
                shared_bytes: 0,
                stream: self.handle,
                attributes: &ffi::LaunchAttribute::EARLY,
                attribute_count: 1,
            };
            // SAFETY: as below; the kernel waits for those ahead before it touches what they do.
            let code = unsafe { launch(&config, function, parameters.as_mut_ptr(), std::ptr::null_mut()) };
            return ffi::check("cuLaunchKernelEx", code);
        }
        // SAFETY: the function is this context's; parameters are as many and as wide as the kernel's, and buffers as long
        // as it needs, by the contract of this function, which harris-gpu's typed launches keep.
        let code = unsafe {
            ffi::cuLaunchKernel(
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
        ffi::check("cuLaunchKernel", code)
    }

    /// Waits for all work, and tells of failures in it.
    pub(crate) fn wait(&self) -> Result<(), CudaError> {
        self.gpu.enter()?;
        // All are waited for, also where one has failed.
        let wait = |handle: Handle| {
            // SAFETY: the stream is alive.
            ffi::check("cuStreamSynchronize", unsafe { ffi::cuStreamSynchronize(handle) })
        };
        let ahead = if self.awaited.swap(false, Relaxed) { wait(self.ahead.handle) } else { Ok(()) };
        wait(self.handle).and(ahead)
    }

    /// Whether all work is done, or has failed.
    pub(crate) fn is_idle(&self) -> bool {
        let busy = |handle: Handle| {
            // SAFETY: the stream is alive.
            unsafe { ffi::cuStreamQuery(handle) == ffi::NOT_READY }
        };
        let is_awaited = self.awaited.load(Relaxed);
        self.gpu.enter().is_err() || !(is_awaited && busy(self.ahead.handle) || busy(self.handle))
    }

    /// Sets a mark here.
    pub(crate) fn mark(&self, mark: Mark) -> Result<(), CudaError> {
        self.mark_on(self.handle, mark)
    }

    /// Sets a mark on a stream of this context.
    fn mark_on(&self, stream: Handle, mark: Mark) -> Result<(), CudaError> {
        self.gpu.enter()?;
        let event = self.marks[mark as usize];
        // While work is recorded, so is this: each time that it is asked for the mark is set.
        let flags = if self.is_recording() { ffi::EVENT_RECORD_EXTERNAL } else { 0 };
        // SAFETY: event and stream are alive and of one context.
        let code = unsafe { ffi::cuEventRecordWithFlags(event, stream, flags) };
        ffi::check("cuEventRecord", code)
    }

    /// From here on work is recorded, and not done.
    pub(crate) fn record(&mut self) -> Result<(), CudaError> {
        self.gpu.enter()?;
        // SAFETY: the stream is alive. Memory may be allocated meanwhile, as the mode says.
        let code = unsafe { ffi::cuStreamBeginCapture_v2(self.handle, ffi::STREAM_CAPTURE_MODE_RELAXED) };
        ffi::check("cuStreamBeginCapture", code)?;
        self.recording = Some(false);
        Ok(())
    }

    /// Whether work is recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.recording.is_some()
    }

    /// What was recorded. The memory that it uses must live as long as it is played, which is the caller's to keep.
    pub(crate) fn recorded(&mut self) -> Result<Recording, CudaError> {
        self.gpu.enter()?;
        let waits = self.recording.take().unwrap_or_default();
        let (mut graph, mut instance) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: writes one handle.
        let code = unsafe { ffi::cuStreamEndCapture(self.handle, &mut graph) };
        ffi::check("cuStreamEndCapture", code)?;
        // SAFETY: the graph is alive; writes one handle.
        let code = unsafe { ffi::cuGraphInstantiateWithFlags(&mut instance, graph, 0) };
        // SAFETY: the graph is alive and dropped once; what was made from it needs it no more.
        unsafe { ffi::cuGraphDestroy(graph) };
        ffi::check("cuGraphInstantiate", code)?;
        Ok(Recording { instance, waits, gpu: Arc::clone(&self.gpu) })
    }

    /// Does what was recorded on this stream.
    pub(crate) fn play(&self, recording: &Recording) -> Result<(), CudaError> {
        self.gpu.enter()?;
        // SAFETY: both are alive and of one context; the memory is still there, by the contract of `recorded`.
        ffi::check("cuGraphLaunch", unsafe { ffi::cuGraphLaunch(recording.instance, self.handle) })?;
        if recording.waits {
            self.has_waited();
        }
        Ok(())
    }

    /// The device's time from one mark to another, both of which have been passed.
    pub(crate) fn between(&self, from: Mark, to: Mark) -> Result<Duration, CudaError> {
        self.gpu.enter()?;
        let mut milliseconds = 0.0;
        let (from, to) = (self.marks[from as usize], self.marks[to as usize]);
        // On the queue of copies it stands behind the word that work waited for.
        // SAFETY: the event is alive.
        ffi::check("cuEventSynchronize", unsafe { ffi::cuEventSynchronize(from) })?;
        // SAFETY: writes one number; both events are alive.
        let code = unsafe { ffi::cuEventElapsedTime(&mut milliseconds, from, to) };
        ffi::check("cuEventElapsedTime", code)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds) / 1e3))
    }
}

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
        if self.gpu.enter().is_ok() {
            // SAFETY: it is alive and dropped once; the driver lets its work end first.
            unsafe { ffi::cuGraphExecDestroy(self.instance) };
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.gpu.enter().is_err() {
            return;
        }
        if self.is_recording() {
            // What is half recorded is forgotten.
            let _ = self.recorded();
        }
        for event in self.marks.into_iter().chain([self.passed]).filter(|event| !event.is_null()) {
            // SAFETY: the event is alive and dropped once.
            unsafe { ffi::cuEventDestroy_v2(event) };
        }
        // SAFETY: the stream is alive and dropped once; the driver lets its work end first.
        unsafe { ffi::cuStreamDestroy_v2(self.handle) };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::PoisonError;

    use super::*;

    /// As after a failure between the two: the next copy is waited for all the same.
    #[test]
    fn an_announcement_that_nothing_waits_for_is_forgotten() {
        let _alone = crate::driver::tests::ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(gpu) = Gpu::open(0) else {
            println!("no GPU: not tried");
            return;
        };
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
