//! A device of the host that records, and fails where it is told to.

#![allow(dead_code, reason = "each test uses some of it")]

use std::borrow::Cow;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use harris_core::Error;
use harris_gpu::host::{Fetched, HostDevice};
use harris_gpu::{Argument, Device, Mark, Rows};
use harris_gpu_kernels::abi::Kernel;
use harris_gpu_kernels::simt::host;

/// Fails at one call, counted from when it was set, of those that may fail. Clones fail together; each has a queue of its own.
#[derive(Debug, Default)]
pub(crate) struct Faulty {
    left: Arc<AtomicUsize>,
    /// How many recordings were played.
    played: Arc<AtomicUsize>,
    /// How many lists, or stacks of them, were sorted by merging.
    merged: Arc<AtomicUsize>,
    /// How many times the list of an image, or those of a stack, were made by way of bins.
    gathered: Arc<AtomicUsize>,
    recording: Mutex<Option<Vec<Step>>>,
    allocated: AtomicUsize,
    announced: AtomicUsize,
    awaited: AtomicUsize,
}

impl Clone for Faulty {
    fn clone(&self) -> Self {
        let Self { left, played, merged, gathered, .. } = self;
        Self {
            left: left.clone(),
            played: played.clone(),
            merged: merged.clone(),
            gathered: gathered.clone(),
            ..Self::default()
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a fault")]
pub(crate) struct Fault;

/// What can be recorded.
#[derive(Debug)]
pub(crate) enum Step {
    Clear(Memory, usize),
    Launch(Kernel, [u32; 2], Vec<host::Argument>),
    Copy(Memory, Memory, usize),
    Await,
}

pub(crate) type Memory = <HostDevice as Device>::Memory;

impl Faulty {
    fn step(&self) -> Result<(), Error> {
        let was = self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        if was == Ok(1) { Err(Error::Backend(Box::new(Fault))) } else { Ok(()) }
    }

    /// Fails at the `call`th call from now on; 0 is never.
    pub(crate) fn set(&self, call: usize) {
        self.left.store(call, Relaxed);
    }

    /// Whether it has failed since.
    pub(crate) fn is_over(&self) -> bool {
        self.left.load(Relaxed) == 0
    }

    pub(crate) fn played(&self) -> usize {
        self.played.load(Relaxed)
    }

    pub(crate) fn merged(&self) -> usize {
        self.merged.load(Relaxed)
    }

    pub(crate) fn gathered(&self) -> usize {
        self.gathered.load(Relaxed)
    }

    /// What must not be asked for while work is recorded.
    fn step_unrecorded(&self) -> Result<(), Error> {
        assert!(self.recording.lock().unwrap().is_none(), "what cannot be recorded");
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
                self.merged.fetch_add(usize::from(*kernel == Kernel::rank), Relaxed);
                self.gathered.fetch_add(usize::from(*kernel == Kernel::gather), Relaxed);
                host::launch(*kernel, *grid, arguments.clone());
            }
            Step::Copy(from, to, bytes) => {
                for i in 0..*bytes {
                    to.set_byte(i, from.written(i).unwrap_or(u8::MAX));
                }
            }
            Step::Await => {
                let awaited = 1 + self.awaited.fetch_add(1, Relaxed);
                assert_eq!(awaited, self.announced.load(Relaxed), "waits for what was announced, once");
            }
        }
    }
}

impl Device for Faulty {
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

    fn send(&mut self, memory: &Memory, rows: Rows<'_>) -> Result<(), Error> {
        self.step_unrecorded()?;
        HostDevice.send(memory, rows)
    }

    fn arrive(&mut self) -> Result<(), Error> {
        self.step_unrecorded()
    }

    fn announce(&mut self, _: Mark) -> Result<(), Error> {
        self.step_unrecorded()?;
        self.announced.store(1 + self.awaited.load(Relaxed), Relaxed);
        Ok(())
    }

    fn await_announced(&mut self) -> Result<(), Error> {
        self.do_or_record(Step::Await)
    }

    fn portion(&self) -> usize {
        HostDevice.portion()
    }

    fn fetch(&mut self, memory: &Memory, bytes: usize) -> Result<Fetched, Error> {
        let to = Memory::new(bytes);
        self.do_or_record(Step::Copy(memory.clone(), to.clone(), bytes))?;
        Ok(Fetched::Returned(to, bytes))
    }

    fn returned(&mut self, bytes: usize) -> Result<(Memory, Fetched), Error> {
        self.step()?;
        HostDevice.returned(bytes)
    }

    fn fetched<'a>(&'a self, fetched: &'a Fetched) -> Cow<'a, [u8]> {
        HostDevice.fetched(fetched)
    }

    fn download(&mut self, memory: &Memory, bytes: &mut [u8]) -> Result<(), Error> {
        self.step_unrecorded()?;
        HostDevice.download(memory, bytes)
    }

    fn changes(&self) -> u64 {
        self.allocated.load(Relaxed) as u64
    }

    fn record(&mut self) -> Result<bool, Error> {
        self.step_unrecorded()?;
        *self.recording.lock().unwrap() = Some(Vec::new());
        Ok(true)
    }

    fn recorded(&mut self) -> Result<Vec<Step>, Error> {
        let steps = self.recording.lock().unwrap().take().expect("begun before");
        self.step()?;
        Ok(steps)
    }

    fn play(&mut self, recording: &Vec<Step>) -> Result<(), Error> {
        self.step_unrecorded()?;
        self.played.fetch_add(1, Relaxed);
        for step in recording {
            self.take(step);
        }
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
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
        "faulty".to_owned()
    }
}
