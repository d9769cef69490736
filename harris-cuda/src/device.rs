//! The implementation of `harris_gpu::Device` for CUDA.

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

/// The most bytes of pinned memory for uploads.
const MAX_STAGING: usize = 64 << 20;

/// The fewest bytes of pinned memory for uploads: enough for the small data of an image.
const MIN_STAGING: usize = 64 << 10;

/// Bytes of the last block of an overlapped upload. A larger block would arrive too late; a smaller
/// one would not be worth a launch.
const LAST_BLOCK_BYTES: usize = 768 << 10;

/// The fewest bytes of a download to ordinary memory that goes through pinned memory in parts.
/// Several threads copy the parts on.
const MIN_DOWNLOAD_IN_PARTS: usize = 2 << 20;

/// Alignment, in bytes, of everything fetched to the host: kernels write four words at once.
const ALIGNMENT: usize = 16;

/// A stream on a device, with pinned memory for uploads and downloads.
#[derive(Debug)]
pub(crate) struct CudaDevice {
    stream: Stream,
    staging: Option<PinnedBuffer>,
    /// Bytes of `staging` that copies may still be reading.
    staged: usize,
    fetches: FetchBuffers,
    /// Counts what makes recordings invalid: allocations, and new places for fetched data.
    recording_epoch: AtomicU64,
    /// Whether marks are set, which measures time.
    timed: bool,
}

/// A recording of work on the stream.
#[derive(Debug)]
pub(crate) struct Recorded {
    recording: Recording,
    /// Bytes of the last fetch buffer that the recording uses.
    used: usize,
}

/// Pinned memory for data that is fetched from the device.
#[derive(Debug, Default)]
struct FetchBuffers {
    buffers: Vec<PinnedBuffer>,
    /// Bytes of the last buffer that are in use.
    used: usize,
    /// Whether all fetches so far are complete.
    complete: bool,
}

/// The range of a fetch buffer that a fetch writes.
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

    /// Makes a device whose overlapped copies go to a copy stream that others share.
    pub(crate) fn with_copy_stream(copies: &Arc<CopyStream>) -> Result<Self, CudaError> {
        Ok(Self {
            stream: Stream::new(copies)?,
            staging: None,
            staged: 0,
            fetches: FetchBuffers::default(),
            recording_epoch: AtomicU64::new(0),
            timed: true,
        })
    }

    /// Sets whether time is measured. That costs about a microsecond for each mark.
    pub(crate) fn set_timed(&mut self, timed: bool) {
        // Recordings contain the marks.
        self.invalidate_recordings();
        self.timed = timed;
    }

    /// Returns the device's time from one mark to another.
    pub(crate) fn between(&self, from: Mark, to: Mark) -> Result<Duration, CudaError> {
        if self.timed { self.stream.between(from, to) } else { Err(CudaError::NotTimed) }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Returns the time from the arrival of the last input in the device's memory to the complete
    /// list there.
    pub(crate) fn time(&self) -> Result<Duration, CudaError> {
        self.between(Mark::Uploaded, Mark::Done)
    }

    /// Frees the pinned memory. Where the device fails it stays.
    pub(crate) fn shrink_to_fit(&mut self) {
        if self.stream.wait().is_ok() {
            (self.staging, self.staged, self.fetches) = (None, 0, FetchBuffers::default());
            self.invalidate_recordings();
        }
    }

    /// Marks all recordings as invalid: they may use memory that is freed.
    fn invalidate_recordings(&self) {
        self.recording_epoch.fetch_add(1, Relaxed);
    }

    /// Reserves pinned memory that no copy reads any more, and returns it with the offset of the
    /// free part. The free part has `least` bytes or more, and `wanted` if possible.
    ///
    /// The buffer grows until it holds everything that is staged between two waits.
    fn reserve_staging(
        &mut self,
        least: usize,
        wanted: usize,
    ) -> Result<(&mut PinnedBuffer, usize), CudaError> {
        let needed = (self.staged + wanted).next_power_of_two().clamp(MIN_STAGING, MAX_STAGING).max(least);
        let capacity = self.staging.as_ref().map_or(0, PinnedBuffer::bytes);
        if capacity < needed {
            // The buffer may be freed only when the copies from it are done.
            self.stream.wait()?;
            self.staging = None;
            self.staging = Some(PinnedBuffer::new(self.stream.gpu(), needed)?);
            self.staged = 0;
        } else if capacity - self.staged < least {
            self.stream.wait()?;
            self.staged = 0;
        }
        let at = self.staged;
        Ok((self.staging.as_mut().expect("made above"), at))
    }

    /// Reserves pinned memory for a fetch. It stays valid until the first reservation after the
    /// next wait.
    fn reserve_fetch(&mut self, bytes: usize) -> Result<Fetched, CudaError> {
        let Self { stream, fetches, recording_epoch, .. } = self;
        if std::mem::take(&mut fetches.complete) {
            fetches.used = 0;
            // The largest buffer can hold everything and stays.
            if fetches.buffers.len() > 1 {
                recording_epoch.fetch_add(1, Relaxed);
                fetches.buffers.sort_by_key(|place| Reverse(place.bytes()));
                fetches.buffers.truncate(1);
            }
        }
        let free = fetches.buffers.last().map_or(0, |place| place.bytes() - fetches.used);
        if free < bytes.next_multiple_of(ALIGNMENT) {
            let used: usize = fetches.buffers.iter().map(PinnedBuffer::bytes).sum();
            let more = (used + 2 * bytes).max(MIN_STAGING).next_multiple_of(ALIGNMENT);
            recording_epoch.fetch_add(1, Relaxed);
            fetches.buffers.push(PinnedBuffer::new(stream.gpu(), more)?);
            fetches.used = 0;
        }
        let (place, start) = (fetches.buffers.len() - 1, fetches.used);
        fetches.used += bytes.next_multiple_of(ALIGNMENT);
        Ok(Fetched { place, start, bytes })
    }

    fn transfer(&mut self, queue: Queue, memory: &DeviceMemory, rows: &Rows<'_>) -> Result<(), CudaError> {
        if !rows.borrowed {
            return self.transfer_staged(queue, memory, rows);
        }
        // Images of a group may be in memory of different kinds.
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

    /// Uploads rows by way of pinned memory.
    fn transfer_staged(
        &mut self,
        queue: Queue,
        memory: &DeviceMemory,
        rows: &Rows<'_>,
    ) -> Result<(), CudaError> {
        let pitch = rows.pitch;
        let mut sent = 0;
        // Each round takes as many rows as fit.
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

    /// Reads the start of `memory` by way of pinned memory, in parts.
    fn download_in_parts(&mut self, memory: &DeviceMemory, bytes: &mut [u8]) -> Result<(), CudaError> {
        let part = staging::PART.min((bytes.len() / PARTS).next_multiple_of(staging::CHUNK));
        let (_, at) = self.reserve_staging(PARTS * part, PARTS * part)?;
        let Self { stream, staging, .. } = self;
        let places = &mut staging.as_mut().expect("staged above").as_mut_slice()[at..][..PARTS * part];
        let read = staging::copy_parts_to_host(
            places.chunks_mut(part).collect(),
            bytes,
            |number, place| stream.fetch_part(number, memory, number * part, place),
            |number| stream.has_arrived(number),
        );
        // After a failure, too, nothing may be on its way any more.
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

    fn upload_on_copy_stream(&mut self, memory: &DeviceMemory, rows: Rows<'_>) -> Result<(), Error> {
        Ok(self.transfer(Queue::Copies, memory, &rows)?)
    }

    fn await_uploads(&mut self) -> Result<(), Error> {
        Ok(self.stream.await_uploads()?)
    }

    fn signal_uploads(&mut self, mark: Mark) -> Result<(), Error> {
        Ok(self.stream.signal_uploads(self.timed.then_some(mark))?)
    }

    fn await_signal(&mut self) -> Result<(), Error> {
        Ok(self.stream.await_signal()?)
    }

    fn last_block_bytes(&self) -> usize {
        LAST_BLOCK_BYTES
    }

    fn fetch(&mut self, memory: &DeviceMemory, bytes: usize) -> Result<Fetched, Error> {
        let fetched = self.reserve_fetch(bytes)?;
        self.stream.fetch(memory, &self.fetches.buffers[fetched.place], fetched.start, bytes)?;
        Ok(fetched)
    }

    fn mapped_memory(&mut self, bytes: usize) -> Result<(DeviceMemory, Fetched), Error> {
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

    fn recording_epoch(&self) -> u64 {
        self.recording_epoch.load(Relaxed)
    }

    fn begin_recording(&mut self) -> Result<bool, Error> {
        Ok(self.stream.begin_recording()?)
    }

    fn end_recording(&mut self) -> Result<Recorded, Error> {
        Ok(Recorded { recording: self.stream.end_recording()?, used: self.fetches.used })
    }

    fn replay(&mut self, recorded: &Recorded) -> Result<(), Error> {
        self.stream.replay(&recorded.recording)?;
        self.fetches.used = recorded.used;
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
