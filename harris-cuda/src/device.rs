//! A CUDA device as `harris-gpu` asks for it.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use harris_core::Error;
use harris_gpu::{Argument, Device, Mark, Rows};
use harris_gpu_kernels::abi::Kernel;

use crate::driver::{Ahead, DeviceMemory, Gpu, PARTS, Queue, Recording, Staging, Stream, Value, is_pinned};
use crate::{CudaError, staging};

/// The most that is staged at once.
const MOST_STAGED: usize = 64 << 20;

/// The least, for the small things that each image needs.
const LEAST_STAGED: usize = 64 << 10;

/// Bytes that are best sent last where work goes on beside: more would come too late, less is not worth a
/// launch.
const PORTION: usize = 768 << 10;

/// What comes to ordinary memory by way of pinned memory, where several threads copy it on: from so much on.
const LEAST_BY_PARTS: usize = 2 << 20;

/// What comes to the host begins at multiples of so many bytes: kernels write four words at once.
const ALIGNMENT: usize = 16;

/// A device, a stream on it and pinned memory on the way to it and back.
#[derive(Debug)]
pub(crate) struct CudaDevice {
    stream: Stream,
    staging: Option<Staging>,
    /// Bytes of the staging that copies may still be reading.
    staged: usize,
    returns: Returns,
    /// Counts what work depends on: allocations, and where what is fetched goes.
    changes: AtomicU64,
    /// Whether marks are set.
    timed: bool,
}

/// Recorded work.
#[derive(Debug)]
pub(crate) struct Recorded {
    recording: Recording,
    /// Bytes that it takes of the place for what is fetched.
    taken: usize,
}

/// Pinned memory for what is fetched.
#[derive(Debug, Default)]
struct Returns {
    places: Vec<Staging>,
    /// Bytes of the last place that are taken.
    taken: usize,
    /// Whether all that was fetched has come.
    settled: bool,
}

/// Where something fetched is.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    place: usize,
    start: usize,
    bytes: usize,
}

impl CudaDevice {
    pub(crate) fn open(ordinal: u32) -> Result<Self, CudaError> {
        Self::behind(&Ahead::new(&Gpu::open(ordinal)?)?)
    }

    /// One whose copies ahead are queued with those of others.
    pub(crate) fn behind(ahead: &Arc<Ahead>) -> Result<Self, CudaError> {
        Ok(Self {
            stream: Stream::new(ahead)?,
            staging: None,
            staged: 0,
            returns: Returns::default(),
            changes: AtomicU64::new(0),
            timed: true,
        })
    }

    /// Whether it takes the time. That takes some itself: a microsecond for each mark.
    pub(crate) fn set_timed(&mut self, timed: bool) {
        // What was recorded sets marks, or none.
        self.changed();
        self.timed = timed;
    }

    /// The time from one mark to another.
    pub(crate) fn between(&self, from: Mark, to: Mark) -> Result<Duration, CudaError> {
        if self.timed { self.stream.between(from, to) } else { Err(CudaError::NotTimed) }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// From the arrival of the last input in the device's memory to the complete list there.
    pub(crate) fn time(&self) -> Result<Duration, CudaError> {
        self.between(Mark::Uploaded, Mark::Listed)
    }

    /// What was recorded may use memory that is there no more.
    fn changed(&self) {
        self.changes.fetch_add(1, Relaxed);
    }

    /// Room for at least `least` bytes that no copy reads any more, better for `wanted`, and where it starts. It grows until all
    /// has room that is staged from one wait to the next.
    fn stage(&mut self, least: usize, wanted: usize) -> Result<(&mut Staging, usize), CudaError> {
        let needed = (self.staged + wanted).next_power_of_two().clamp(LEAST_STAGED, MOST_STAGED).max(least);
        let room = self.staging.as_ref().map_or(0, Staging::bytes);
        if room < needed {
            // Dropped only when the copies from it are done.
            self.stream.wait()?;
            self.staging = None;
            self.staging = Some(Staging::new(self.stream.gpu(), needed)?);
            self.staged = 0;
        } else if room - self.staged < least {
            self.stream.wait()?;
            self.staged = 0;
        }
        let at = self.staged;
        Ok((self.staging.as_mut().expect("made above"), at))
    }

    /// Room for what comes to the host: it stays until more is asked for after the next wait.
    fn place(&mut self, bytes: usize) -> Result<Fetched, CudaError> {
        let Self { stream, returns, changes, .. } = self;
        if std::mem::take(&mut returns.settled) {
            returns.taken = 0;
            // One that is large enough for all stays.
            if returns.places.len() > 1 {
                changes.fetch_add(1, Relaxed);
                returns.places.sort_by_key(|place| Reverse(place.bytes()));
                returns.places.truncate(1);
            }
        }
        let room = returns.places.last().map_or(0, |place| place.bytes() - returns.taken);
        if room < bytes.next_multiple_of(ALIGNMENT) {
            let taken: usize = returns.places.iter().map(Staging::bytes).sum();
            let more = (taken + 2 * bytes).max(LEAST_STAGED).next_multiple_of(ALIGNMENT);
            changes.fetch_add(1, Relaxed);
            returns.places.push(Staging::new(stream.gpu(), more)?);
            returns.taken = 0;
        }
        let (place, start) = (returns.places.len() - 1, returns.taken);
        returns.taken += bytes.next_multiple_of(ALIGNMENT);
        Ok(Fetched { place, start, bytes })
    }

    fn transfer(&mut self, queue: Queue, memory: &DeviceMemory, rows: &Rows<'_>) -> Result<(), CudaError> {
        if !rows.lasting {
            return self.transfer_staged(queue, memory, rows);
        }
        // Images that follow each other may be of memory that does not, and of any kind.
        let mut offset = rows.offset;
        for image in rows.images {
            let rows = Rows { images: std::slice::from_ref(image), rows: rows.rows.clone(), offset, ..*rows };
            let ends = [rows.row(0), rows.row(rows.count() - 1)];
            let pinned = ends.iter().all(|row| is_pinned(self.stream.gpu(), row));
            match image.stride().filter(|_| pinned) {
                Some(stride) => self.stream.upload_rows(queue, memory, &rows, stride)?,
                None => self.transfer_staged(queue, memory, &rows)?,
            }
            offset += rows.count() * rows.pitch;
        }
        Ok(())
    }

    /// By way of pinned memory.
    fn transfer_staged(
        &mut self,
        queue: Queue,
        memory: &DeviceMemory,
        rows: &Rows<'_>,
    ) -> Result<(), CudaError> {
        let pitch = rows.pitch;
        let mut sent = 0;
        // As many rows at once as can be staged.
        while sent < rows.count() {
            let left = rows.count() - sent;
            let (staging, at) = self.stage(pitch, pitch * left)?;
            let fitting = ((staging.bytes() - at) / pitch).min(left);
            self.staged = at + fitting * pitch;
            let Self { stream, staging, staged, .. } = self;
            let places = &mut staging.as_mut().expect("staged above").as_mut_slice()[at..*staged];
            staging::stage(rows, sent, places, |first, pieces| {
                stream.upload(queue, memory, rows.offset + first * pitch, pieces)
            })?;
            sent += fitting;
        }
        Ok(())
    }

    /// Reads the start of `memory` by way of pinned memory.
    fn download_by_parts(&mut self, memory: &DeviceMemory, bytes: &mut [u8]) -> Result<(), CudaError> {
        let part = staging::PART.min((bytes.len() / PARTS).next_multiple_of(staging::SHARE));
        let (_, at) = self.stage(PARTS * part, PARTS * part)?;
        let Self { stream, staging, .. } = self;
        let places = &mut staging.as_mut().expect("staged above").as_mut_slice()[at..][..PARTS * part];
        let read = staging::unstage(
            places.chunks_mut(part).collect(),
            bytes,
            |number, place| stream.fetch_part(number, memory, number * part, place),
            |number| stream.has_come(number),
        );
        // Also where it failed nothing is on its way any more.
        self.stream.wait().and(read)
    }
}

impl Device for CudaDevice {
    type Memory = DeviceMemory;
    type Fetched = Fetched;
    type Recording = Recorded;

    fn allocate(&self, bytes: usize) -> Result<DeviceMemory, Error> {
        self.changed();
        Ok(DeviceMemory::new(self.stream.gpu(), bytes)?)
    }

    fn upload(&mut self, memory: &DeviceMemory, rows: Rows<'_>) -> Result<(), Error> {
        Ok(self.transfer(Queue::Work, memory, &rows)?)
    }

    fn send(&mut self, memory: &DeviceMemory, rows: Rows<'_>) -> Result<(), Error> {
        Ok(self.transfer(Queue::Ahead, memory, &rows)?)
    }

    fn arrive(&mut self) -> Result<(), Error> {
        Ok(self.stream.arrive()?)
    }

    fn announce(&mut self, mark: Mark) -> Result<(), Error> {
        Ok(self.stream.announce(self.timed.then_some(mark))?)
    }

    fn await_announced(&mut self) -> Result<(), Error> {
        Ok(self.stream.await_announced()?)
    }

    fn portion(&self) -> usize {
        PORTION
    }

    fn fetch(&mut self, memory: &DeviceMemory, bytes: usize) -> Result<Fetched, Error> {
        let fetched = self.place(bytes)?;
        self.stream.fetch(memory, &self.returns.places[fetched.place], fetched.start, bytes)?;
        Ok(fetched)
    }

    fn returned(&mut self, bytes: usize) -> Result<(DeviceMemory, Fetched), Error> {
        let fetched = self.place(bytes)?;
        let memory = self.returns.places[fetched.place].lent(fetched.start, bytes);
        Ok((memory, fetched))
    }

    fn fetched<'a>(&'a self, fetched: &'a Fetched) -> Cow<'a, [u8]> {
        let Fetched { place, start, bytes } = *fetched;
        assert!(self.returns.settled, "fetched and waited for");
        self.returns.places[place].as_slice()[start..start + bytes].into()
    }

    fn download(&mut self, memory: &DeviceMemory, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.len() <= LEAST_STAGED {
            let fetched = self.fetch(memory, bytes.len())?;
            self.wait()?;
            bytes.copy_from_slice(&self.fetched(&fetched));
            return Ok(());
        }
        if bytes.len() < LEAST_BY_PARTS || is_pinned(self.stream.gpu(), bytes) {
            self.stream.download(memory, bytes)?;
        } else {
            self.download_by_parts(memory, bytes)?;
        }
        self.staged = 0;
        Ok(())
    }

    fn changes(&self) -> u64 {
        self.changes.load(Relaxed)
    }

    fn record(&mut self) -> Result<bool, Error> {
        Ok(self.stream.record()?)
    }

    fn recorded(&mut self) -> Result<Recorded, Error> {
        Ok(Recorded { recording: self.stream.recorded()?, taken: self.returns.taken })
    }

    fn play(&mut self, recorded: &Recorded) -> Result<(), Error> {
        self.stream.play(&recorded.recording)?;
        self.returns.taken = recorded.taken;
        self.returns.settled = false;
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        self.stream.wait()?;
        self.staged = 0;
        self.returns.settled = true;
        Ok(())
    }

    fn is_idle(&self) -> bool {
        self.stream.is_idle()
    }

    fn clear(&self, memory: &DeviceMemory, words: usize) -> Result<(), Error> {
        Ok(self.stream.clear(memory, words)?)
    }

    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, DeviceMemory>],
    ) -> Result<(), Error> {
        let values: Vec<_> = (arguments.iter())
            .map(|argument| match argument {
                Argument::Memory(memory) => Value::Memory(memory),
                Argument::Word(bits) => Value::Word(*bits),
            })
            .collect();
        Ok(self.stream.launch(kernel, grid, &values)?)
    }

    fn mark(&mut self, mark: Mark) -> Result<(), Error> {
        if self.timed { Ok(self.stream.mark(mark)?) } else { Ok(()) }
    }

    fn address(&self, memory: &DeviceMemory) -> u64 {
        memory.pointer()
    }

    fn multiprocessors(&self) -> u32 {
        self.stream.gpu().multiprocessors()
    }

    fn describe(&self) -> String {
        format!("cuda: {}", self.stream.gpu().info().name)
    }
}
