//! The host device with recordings, counts of what was launched, and failures where a test asks for
//! them.

use std::borrow::Cow;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use harris_core::Error;
use harris_gpu::{Argument, Device, Mark, Rows};
use harris_gpu_host as host;
use harris_gpu_host::{Fetched, HostDevice};
use harris_gpu_kernels::abi::Kernel;

/// Fails at one call of those that may fail: see [`TestDevice::fail_at`]. Clones count together;
/// each has a queue of its own.
#[derive(Debug, Default)]
pub(crate) struct TestDevice {
    /// Calls until the failure, that one included; 0 where there is none.
    calls_left: Arc<AtomicUsize>,
    /// How many times a recording was replayed.
    replays: Arc<AtomicUsize>,
    /// How many times lists were sorted by merging.
    merge_sorts: Arc<AtomicUsize>,
    /// How many times lists were sorted by buckets.
    bucket_sorts: Arc<AtomicUsize>,
    /// How many times the host waited for the device.
    waits: Arc<AtomicUsize>,
    recording: Mutex<Option<Vec<Step>>>,
    allocated: AtomicUsize,
    signalled: AtomicUsize,
    awaited: AtomicUsize,
}

impl Clone for TestDevice {
    fn clone(&self) -> Self {
        let Self { calls_left, replays, merge_sorts, bucket_sorts, waits, .. } = self;
        Self {
            calls_left: calls_left.clone(),
            replays: replays.clone(),
            merge_sorts: merge_sorts.clone(),
            bucket_sorts: bucket_sorts.clone(),
            waits: waits.clone(),
            ..Self::default()
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("an injected fault")]
pub(crate) struct InjectedFault;

/// A call that can be recorded.
#[derive(Debug)]
pub(crate) enum Step {
    Clear(Memory, usize),
    Launch(Kernel, [u32; 2], Vec<host::Argument>),
    Copy(Memory, Memory, usize),
    Await,
}

pub(crate) type Memory = <HostDevice as Device>::Memory;

impl TestDevice {
    fn step(&self) -> Result<(), Error> {
        let was = self.calls_left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if was == Ok(1) { Err(Error::Backend(Box::new(InjectedFault))) } else { Ok(()) }
    }

    /// Makes the `call`th call from now on fail; 0 makes none fail.
    pub(crate) fn fail_at(&self, call: usize) {
        self.calls_left.store(call, Relaxed);
    }

    /// Whether the call of [`TestDevice::fail_at`] has come.
    pub(crate) fn has_failed(&self) -> bool {
        self.calls_left.load(Relaxed) == 0
    }

    pub(crate) fn replays(&self) -> usize {
        self.replays.load(Relaxed)
    }

    pub(crate) fn merge_sorts(&self) -> usize {
        self.merge_sorts.load(Relaxed)
    }

    pub(crate) fn bucket_sorts(&self) -> usize {
        self.bucket_sorts.load(Relaxed)
    }

    pub(crate) fn waits(&self) -> usize {
        self.waits.load(Relaxed)
    }

    /// Counts a call that no recording may contain.
    fn step_unrecorded(&self) -> Result<(), Error> {
        assert!(self.recording.lock().unwrap().is_none(), "a call that cannot be recorded");
        self.step()
    }

    fn do_or_record(&self, step: Step) -> Result<(), Error> {
        self.step()?;
        match &mut *self.recording.lock().unwrap() {
            Some(steps) => steps.push(step),
            None => self.take(&step),
        }
        Ok(())
    }

    fn take(&self, step: &Step) {
        match step {
            Step::Clear(memory, words) => HostDevice.clear(memory, *words).unwrap(),
            Step::Launch(kernel, grid, arguments) => {
                self.merge_sorts.fetch_add(usize::from(*kernel == Kernel::sort_runs), Relaxed);
                self.bucket_sorts.fetch_add(usize::from(*kernel == Kernel::bucket_gather), Relaxed);
                host::launch(*kernel, *grid, arguments.clone());
            }
            Step::Copy(from, to, bytes) => {
                for i in 0..*bytes {
                    to.set_byte(i, from.written(i).unwrap_or(u8::MAX));
                }
            }
            Step::Await => {
                let awaited = 1 + self.awaited.fetch_add(1, Relaxed);
                assert_eq!(awaited, self.signalled.load(Relaxed), "one wait for each signalled upload");
            }
        }
    }
}

impl Device for TestDevice {
    type Memory = Memory;
    type Fetched = Fetched;
    type Recording = Vec<Step>;

    fn allocate(&self, bytes: usize) -> Result<Memory, Error> {
        self.step()?;
        self.allocated.fetch_add(1, Relaxed);
        HostDevice.allocate(bytes)
    }

    fn upload(&mut self, memory: &Memory, rows: Rows<'_>) -> Result<(), Error> {
        self.step_unrecorded()?;
        HostDevice.upload(memory, rows)
    }

    fn upload_on_copy_stream(&mut self, memory: &Memory, rows: Rows<'_>) -> Result<(), Error> {
        self.step_unrecorded()?;
        HostDevice.upload_on_copy_stream(memory, rows)
    }

    fn await_uploads(&mut self) -> Result<(), Error> {
        self.step_unrecorded()
    }

    fn signal_uploads(&mut self, _: Mark) -> Result<(), Error> {
        self.step_unrecorded()?;
        self.signalled.store(1 + self.awaited.load(Relaxed), Relaxed);
        Ok(())
    }

    fn await_signal(&mut self) -> Result<(), Error> {
        self.do_or_record(Step::Await)
    }

    fn last_block_bytes(&self) -> usize {
        HostDevice.last_block_bytes()
    }

    fn fetch(&mut self, memory: &Memory, bytes: usize) -> Result<Fetched, Error> {
        let to = Memory::new(bytes);
        self.do_or_record(Step::Copy(memory.clone(), to.clone(), bytes))?;
        Ok(Fetched::Mapped(to, bytes))
    }

    fn mapped_memory(&mut self, bytes: usize) -> Result<(Memory, Fetched), Error> {
        self.step()?;
        HostDevice.mapped_memory(bytes)
    }

    fn fetched<'a>(&'a self, fetched: &'a Fetched) -> Cow<'a, [u8]> {
        HostDevice.fetched(fetched)
    }

    fn download(&mut self, memory: &Memory, bytes: &mut [u8]) -> Result<(), Error> {
        self.waits.fetch_add(1, Relaxed);
        self.step_unrecorded()?;
        HostDevice.download(memory, bytes)
    }

    fn recording_epoch(&self) -> u64 {
        self.allocated.load(Relaxed) as u64
    }

    fn begin_recording(&mut self) -> Result<bool, Error> {
        self.step_unrecorded()?;
        *self.recording.lock().unwrap() = Some(Vec::new());
        Ok(true)
    }

    fn end_recording(&mut self) -> Result<Vec<Step>, Error> {
        let steps = self.recording.lock().unwrap().take().expect("begun before");
        self.step()?;
        Ok(steps)
    }

    fn replay(&mut self, recording: &Vec<Step>) -> Result<(), Error> {
        self.step_unrecorded()?;
        self.replays.fetch_add(1, Relaxed);
        for step in recording {
            self.take(step);
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        self.waits.fetch_add(1, Relaxed);
        self.step_unrecorded()
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn clear(&self, memory: &Memory, words: usize) -> Result<(), Error> {
        self.do_or_record(Step::Clear(memory.clone(), words))
    }

    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, Memory>],
    ) -> Result<(), Error> {
        let arguments = arguments.iter().map(|argument| match argument {
            Argument::Memory(memory) => host::Argument::Memory((*memory).clone()),
            Argument::Word(bits) => host::Argument::Word(*bits),
        });
        self.do_or_record(Step::Launch(kernel, grid, arguments.collect()))
    }

    fn address(&self, memory: &Memory) -> u64 {
        memory.address()
    }

    fn multiprocessors(&self) -> u32 {
        1
    }

    fn describe(&self) -> String {
        "test device".to_owned()
    }
}
