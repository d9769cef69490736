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

use crate::driver::{
    CopyStream, DeviceMemory, Gpu, PARTS, PinnedBuffer, Queue, Recording, Stream, Value, is_pinned,
};
use crate::{CudaError, staging};

/// The most that is staged at once.
const MAX_STAGING: usize = 64 << 20;

/// The least, for the small things that each image needs.
const MIN_STAGING: usize = 64 << 10;

/// Bytes that are best sent last where work goes on beside: more would come too late, less is not worth a
/// launch.
const LAST_PORTION: usize = 768 << 10;

/// What comes to ordinary memory by way of pinned memory, where several threads copy it on: from so much on.
const MIN_DOWNLOAD_IN_PARTS: usize = 2 << 20;

/// What comes to the host begins at multiples of so many bytes: kernels write four words at once.
const ALIGNMENT: usize = 16;

/// A device, a stream on it and pinned memory on the way to it and back.
#[derive(Debug)]
pub(crate) struct CudaDevice {
    stream: Stream,
    staging: Option<PinnedBuffer>,
    /// Bytes of the staging that copies may still be reading.
    staged: usize,
    fetches: FetchBuffers,
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
struct FetchBuffers {
    buffers: Vec<PinnedBuffer>,
    /// Bytes of the last place that are taken.
    taken: usize,
    /// Whether all that was fetched has come.
    complete: bool,
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
        Self::with_copy_stream(&CopyStream::new(&Gpu::open(ordinal)?)?)
    }

    /// One whose copies ahead are queued with those of others.
    pub(crate) fn with_copy_stream(copies: &Arc<CopyStream>) -> Result<Self, CudaError> {
        Ok(Self {
            stream: Stream::new(copies)?,
            staging: None,
            staged: 0,
            fetches: FetchBuffers::default(),
            changes: AtomicU64::new(0),
            timed: true,
        })
    }

    /// Whether it takes the time. That takes some itself: a microsecond for each mark.
    pub(crate) fn set_timed(&mut self, timed: bool) {
        // What was recorded sets marks, or none.
        self.invalidate_recordings();
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
    fn invalidate_recordings(&self) {
        self.changes.fetch_add(1, Relaxed);
    }

    /// Room for at least `least` bytes that no copy reads any more, better for `wanted`, and where it starts. It grows until all
    /// has room that is staged from one wait to the next.
    fn reserve_staging(
        &mut self,
        least: usize,
        wanted: usize,
    ) -> Result<(&mut PinnedBuffer, usize), CudaError> {
        let needed = (self.staged + wanted).next_power_of_two().clamp(MIN_STAGING, MAX_STAGING).max(least);
        let room = self.staging.as_ref().map_or(0, PinnedBuffer::bytes);
        if room < needed {
            // Dropped only when the copies from it are done.
            self.stream.wait()?;
            self.staging = None;
            self.staging = Some(PinnedBuffer::new(self.stream.gpu(), needed)?);
            self.staged = 0;
        } else if room - self.staged < least {
            self.stream.wait()?;
            self.staged = 0;
        }
        let at = self.staged;
        Ok((self.staging.as_mut().expect("made above"), at))
    }

    /// Room for what comes to the host: it stays until more is asked for after the next wait.
    fn reserve_fetch(&mut self, bytes: usize) -> Result<Fetched, CudaError> {
        let Self { stream, fetches, changes, .. } = self;
        if std::mem::take(&mut fetches.complete) {
            fetches.taken = 0;
            // One that is large enough for all stays.
            if fetches.buffers.len() > 1 {
                changes.fetch_add(1, Relaxed);
                fetches.buffers.sort_by_key(|place| Reverse(place.bytes()));
                fetches.buffers.truncate(1);
            }
        }
        let room = fetches.buffers.last().map_or(0, |place| place.bytes() - fetches.taken);
        if room < bytes.next_multiple_of(ALIGNMENT) {
            let taken: usize = fetches.buffers.iter().map(PinnedBuffer::bytes).sum();
            let more = (taken + 2 * bytes).max(MIN_STAGING).next_multiple_of(ALIGNMENT);
            changes.fetch_add(1, Relaxed);
            fetches.buffers.push(PinnedBuffer::new(stream.gpu(), more)?);
            fetches.taken = 0;
        }
        let (place, start) = (fetches.buffers.len() - 1, fetches.taken);
        fetches.taken += bytes.next_multiple_of(ALIGNMENT);
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
            let (staging, at) = self.reserve_staging(pitch, pitch * left)?;
            let fitting = ((staging.bytes() - at) / pitch).min(left);
            self.staged = at + fitting * pitch;
            let Self { stream, staging, staged, .. } = self;
            let places = &mut staging.as_mut().expect("staged above").as_mut_slice()[at..*staged];
            staging::stage_rows(rows, sent, places, |first, pieces| {
                stream.upload(queue, memory, rows.offset + first * pitch, pieces)
            })?;
            sent += fitting;
        }
        Ok(())
    }

    /// Reads the start of `memory` by way of pinned memory.
    fn download_in_parts(&mut self, memory: &DeviceMemory, bytes: &mut [u8]) -> Result<(), CudaError> {
        let part = staging::PART.min((bytes.len() / PARTS).next_multiple_of(staging::CHUNK));
        let (_, at) = self.reserve_staging(PARTS * part, PARTS * part)?;
        let Self { stream, staging, .. } = self;
        let places = &mut staging.as_mut().expect("staged above").as_mut_slice()[at..][..PARTS * part];
        let read = staging::copy_parts_to_host(
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
        self.invalidate_recordings();
        Ok(DeviceMemory::new(self.stream.gpu(), bytes)?)
    }

    fn upload(&mut self, memory: &DeviceMemory, rows: Rows<'_>) -> Result<(), Error> {
        Ok(self.transfer(Queue::Work, memory, &rows)?)
    }

    fn send(&mut self, memory: &DeviceMemory, rows: Rows<'_>) -> Result<(), Error> {
        Ok(self.transfer(Queue::Copies, memory, &rows)?)
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
        LAST_PORTION
    }

    fn fetch(&mut self, memory: &DeviceMemory, bytes: usize) -> Result<Fetched, Error> {
        let fetched = self.reserve_fetch(bytes)?;
        self.stream.fetch(memory, &self.fetches.buffers[fetched.place], fetched.start, bytes)?;
        Ok(fetched)
    }

    fn returned(&mut self, bytes: usize) -> Result<(DeviceMemory, Fetched), Error> {
        let fetched = self.reserve_fetch(bytes)?;
        let memory = self.fetches.buffers[fetched.place].alias(fetched.start, bytes);
        Ok((memory, fetched))
    }

    fn fetched<'a>(&'a self, fetched: &'a Fetched) -> Cow<'a, [u8]> {
        let Fetched { place, start, bytes } = *fetched;
        assert!(self.fetches.complete, "fetched and waited for");
        self.fetches.buffers[place].as_slice()[start..start + bytes].into()
    }

    fn download(&mut self, memory: &DeviceMemory, bytes: &mut [u8]) -> Result<(), Error> {
        if bytes.len() <= MIN_STAGING {
            let fetched = self.fetch(memory, bytes.len())?;
            self.wait()?;
            bytes.copy_from_slice(&self.fetched(&fetched));
            return Ok(());
        }
        if bytes.len() < MIN_DOWNLOAD_IN_PARTS || is_pinned(self.stream.gpu(), bytes) {
            self.stream.download(memory, bytes)?;
        } else {
            self.download_in_parts(memory, bytes)?;
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
        Ok(Recorded { recording: self.stream.recorded()?, taken: self.fetches.taken })
    }

    fn play(&mut self, recorded: &Recorded) -> Result<(), Error> {
        self.stream.play(&recorded.recording)?;
        self.fetches.taken = recorded.taken;
        self.fetches.complete = false;
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        self.stream.wait()?;
        self.staged = 0;
        self.fetches.complete = true;
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
