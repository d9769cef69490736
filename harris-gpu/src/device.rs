//! The trait [`Device`]: what the detectors need of a GPU, and the types of its arguments.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use harris_core::pipeline::numerics::SampleType;
use harris_core::{Error, ImageView, Raster, Sample, Samples};
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::Kernel;

/// A GPU with one queue of work, and a copy stream beside it.
///
/// The queue's work runs in the order of the calls. Calls return before the work is done, unless
/// they say otherwise. Failures are [`Error::Backend`].
///
/// In CUDA's terms the queue is a stream, and a [recording](Device::begin_recording) a graph.
pub trait Device: Debug + Send {
    /// Memory of the device; given back when dropped.
    type Memory: Debug + Send;

    /// A handle to bytes that a fetch, or a kernel, writes to the host's memory.
    type Fetched: Clone + Debug + Send;

    /// Recorded calls, which one call replays: a CUDA graph.
    type Recording: Debug + Send;

    /// Allocates `bytes` bytes of the device's memory.
    ///
    /// # Errors
    /// Where there is not enough.
    fn allocate(&self, bytes: usize) -> Result<Self::Memory, Error>;

    /// Copies rows from the host to `memory`, in the queue.
    ///
    /// # Errors
    /// Where the device fails.
    fn upload(&mut self, memory: &Self::Memory, rows: Rows<'_>) -> Result<(), Error>;

    /// Copies rows from the host to `memory` on the copy stream, while the queue's work runs.
    ///
    /// Nothing in the queue may use that memory meanwhile. Work behind [`Device::await_uploads`]
    /// sees the rows.
    ///
    /// # Errors
    /// Where the device fails.
    fn upload_on_copy_stream(&mut self, memory: &Self::Memory, rows: Rows<'_>) -> Result<(), Error>;

    /// Makes later work in the queue wait for all copies on the copy stream so far.
    ///
    /// # Errors
    /// Where the device fails.
    fn await_uploads(&mut self) -> Result<(), Error>;

    /// Signals, behind the copies on the copy stream so far, that they are complete, and sets a
    /// mark there.
    ///
    /// The queue waits for the signal with [`Device::await_signal`], which can be recorded. On some
    /// devices this pair reacts sooner than [`Device::await_uploads`].
    ///
    /// # Errors
    /// Where the device fails.
    fn signal_uploads(&mut self, mark: Mark) -> Result<(), Error> {
        self.await_uploads()?;
        self.mark(mark)
    }

    /// Makes later work wait for [`Device::signal_uploads`]. A recording may contain this call.
    ///
    /// # Errors
    /// Where the device fails.
    fn await_signal(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Size in bytes of the last block of an overlapped upload.
    ///
    /// Kernels work on the blocks before while it is copied. Uploads of at least half as many bytes
    /// are worth the copy stream.
    fn last_block_bytes(&self) -> usize;

    /// Copies `bytes` bytes from the start of `memory` to the host, in the queue.
    ///
    /// # Errors
    /// Where the device fails.
    fn fetch(&mut self, memory: &Self::Memory, bytes: usize) -> Result<Self::Fetched, Error>;

    /// Allocates `bytes` bytes of mapped memory: memory of the host that kernels write.
    ///
    /// [`Device::fetched`] reads it by the handle, after the next [`Device::wait`].
    ///
    /// # Errors
    /// Where there is not enough memory.
    fn mapped_memory(&mut self, bytes: usize) -> Result<(Self::Memory, Self::Fetched), Error>;

    /// Bytes that were fetched before the last [`Device::wait`]. The next fetch may overwrite them.
    fn fetched<'a>(&'a self, fetched: &'a Self::Fetched) -> Cow<'a, [u8]>;

    /// Copies the start of `memory` to `bytes`, and waits for all work in the queue.
    ///
    /// # Errors
    /// Where the device fails, also in earlier work.
    fn download(&mut self, memory: &Self::Memory, bytes: &mut [u8]) -> Result<(), Error>;

    /// A number that changes when earlier recordings become invalid.
    ///
    /// It does so when memory is allocated, or when fetches get another place in the host's memory.
    fn recording_epoch(&self) -> u64 {
        0
    }

    /// Begins a recording: later calls are recorded instead of done. False if the device cannot
    /// record.
    ///
    /// Recordings may share a place for what they fetch. The caller reads it before it replays the
    /// next one.
    ///
    /// # Errors
    /// Where the device fails.
    fn begin_recording(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Ends a recording, also where a call in it failed.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where no recording was begun.
    fn end_recording(&mut self) -> Result<Self::Recording, Error> {
        panic!("a device that cannot record")
    }

    /// Replays a recording in the queue. Its fetches write the places that they had when recorded.
    ///
    /// # Errors
    /// Where the device fails.
    fn replay(&mut self, recording: &Self::Recording) -> Result<(), Error> {
        let _ = recording;
        Ok(())
    }

    /// Waits for all work in the queue and on the copy stream.
    ///
    /// # Errors
    /// Where the device fails, also in earlier work.
    fn wait(&mut self) -> Result<(), Error>;

    /// Whether all work is done, or has failed.
    fn is_idle(&self) -> bool;

    /// Writes `words` zeros of 32 bits to the start of `memory`, in the queue.
    ///
    /// # Errors
    /// Where the device fails.
    fn clear(&self, memory: &Self::Memory, words: usize) -> Result<(), Error>;

    /// Launches a kernel on a grid of blocks: columns and rows.
    ///
    /// # Errors
    /// Where the device fails.
    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, Self::Memory>],
    ) -> Result<(), Error>;

    /// Sets a mark in the queue, for devices that measure time.
    ///
    /// # Errors
    /// Where the device fails.
    fn mark(&mut self, mark: Mark) -> Result<(), Error> {
        let _ = mark;
        Ok(())
    }

    /// Address of memory on the device.
    fn address(&self, memory: &Self::Memory) -> u64;

    /// Number of multiprocessors. It decides how work is divided, and changes no result.
    fn multiprocessors(&self) -> u32;

    /// The backend and the device's name, as in `cuda: NVIDIA H200`.
    fn describe(&self) -> String;
}

/// Rows of one or more images to upload: those of the first image, then those of the next.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    /// The images, all of one size.
    pub images: &'a [RowSource<'a>],
    /// The rows of each image.
    pub rows: Range<usize>,
    /// Bytes from row to row on the device: a row's length or more.
    pub pitch: usize,
    /// Byte offset of the first row on the device.
    pub offset: usize,
    /// Whether samples stay unchanged until [`Device::wait`]. The device may then copy straight
    /// from them.
    pub borrowed: bool,
}

impl<'a> Rows<'a> {
    /// The first `count` rows, for the start of memory, without gaps. They need not stay unchanged.
    pub(crate) fn copied(source: &'a RowSource<'a>, count: usize) -> Self {
        let pitch = source.row(0).len();
        Self { images: std::slice::from_ref(source), rows: 0..count, pitch, offset: 0, borrowed: false }
    }

    /// Number of rows of all images.
    #[must_use]
    pub fn count(&self) -> usize {
        self.images.len() * self.rows.len()
    }

    /// Bytes of row `i`, counted over all images.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [u8] {
        self.images[i / self.rows.len()].row(self.rows.start + i % self.rows.len())
    }
}

/// Where rows come from: an image's samples, or bytes.
#[derive(Clone, Copy, Debug)]
pub enum RowSource<'a> {
    /// Rows of 8-bit samples.
    U8(Raster<'a, u8>),
    /// Rows of 16-bit samples.
    U16(Raster<'a, u16>),
    /// Rows of floats.
    F32(Raster<'a, f32>),
    /// Rows of bytes without gaps, and the length of a row.
    Packed(&'a [u8], usize),
}

impl<'a> RowSource<'a> {
    /// A single row of words.
    pub(crate) fn words<T: bytemuck::Pod>(words: &'a [T]) -> Self {
        let bytes = bytemuck::cast_slice(words);
        Self::Packed(bytes, bytes.len())
    }

    /// The rows of an image.
    #[must_use]
    pub fn of(image: &ImageView<'a>) -> Self {
        match image.samples() {
            Samples::U8(raster) => Self::U8(raster),
            Samples::U16(raster) => Self::U16(raster),
            Samples::F32(raster) => Self::F32(raster),
        }
    }

    /// Bytes of row `y`. All rows have the same length.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, y: usize) -> &'a [u8] {
        match self {
            Self::U8(raster) => raster.row(y),
            Self::U16(raster) => bytemuck::cast_slice(raster.row(y)),
            Self::F32(raster) => bytemuck::cast_slice(raster.row(y)),
            Self::Packed(bytes, row) => &bytes[y * row..][..*row],
        }
    }

    /// Bytes from each row to the next in memory; `None` where the next row has a lower address.
    #[must_use]
    pub fn stride(&self) -> Option<usize> {
        let (samples, bytes) = match self {
            Self::U8(raster) => (raster.row_stride(), 1),
            Self::U16(raster) => (raster.row_stride(), 2),
            Self::F32(raster) => (raster.row_stride(), 4),
            Self::Packed(_, row) => return Some(*row),
        };
        usize::try_from(samples).ok().map(|samples| samples * bytes)
    }
}

/// An image in a device's memory.
#[derive(Debug)]
pub struct Resident<M> {
    /// Samples, channels interleaved: rows `pitch` bytes apart. The last row is complete up to a
    /// multiple of 4 bytes.
    pub memory: M,
    /// Width in pixels.
    pub width: usize,
    /// Height in pixels.
    pub height: usize,
    /// Channels: one or three.
    pub channels: usize,
    /// Bytes from row to row: a multiple of a sample's bytes, at least a row's.
    pub pitch: usize,
    /// Sample type. Floats pass [`ImageView::check_samples`].
    pub depth: Depth,
    /// A mask of the image's size, if there is one, and the bytes from row to row: a multiple of 4,
    /// at least a row's. The last row is complete up to a multiple of 4 bytes.
    pub mask: Option<(M, usize)>,
}

/// Sample type of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// 8 bits.
    U8,
    /// 16 bits.
    U16,
    /// Floats.
    F32,
}

impl Depth {
    /// The sample type of an image.
    #[must_use]
    pub fn of(image: &ImageView<'_>) -> Self {
        match image.samples() {
            Samples::U8(_) => Self::U8,
            Samples::U16(_) => Self::U16,
            Samples::F32(_) => Self::F32,
        }
    }

    /// The type of samples `T`.
    #[must_use]
    pub fn of_sample<T: Sample>() -> Self {
        // The trait is sealed: u8, u16 and f32.
        match size_of::<T>() {
            1 => Self::U8,
            2 => Self::U16,
            _ => Self::F32,
        }
    }

    /// Bytes of a sample.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    /// Gray level of full brightness in integral images.
    pub(crate) fn levels(self) -> u32 {
        match self {
            Self::U8 => u8::LEVELS,
            Self::U16 => u16::LEVELS,
            Self::F32 => f32::LEVELS,
        }
    }

    /// Sample value of full brightness.
    pub(crate) fn full_scale(self) -> f64 {
        self.sample_type().full_scale()
    }

    /// The sample type as harris-core names it.
    pub(crate) fn sample_type(self) -> SampleType {
        match self {
            Self::U8 => SampleType::U8,
            Self::U16 => SampleType::U16,
            Self::F32 => SampleType::F32,
        }
    }
}

/// Points in the work on an image, by which its time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The image is on the device.
    Uploaded,
    /// The result is complete on the device: the list of keypoints, of descriptors or of nearest
    /// descriptors, or the response map.
    Done,
    /// The integral image is complete.
    Integrated,
    /// The responses, or the determinants of all layers, are complete.
    Responded,
    /// The corners or peaks are found; they are not yet sorted.
    Searched,
    /// The smoothed image is complete.
    Smoothed,
    /// The gradient is complete.
    Differentiated,
    /// The window sums down the columns are complete.
    Summed,
}

impl Mark {
    /// Number of marks.
    pub const COUNT: usize = Mark::Summed as usize + 1;
}

/// A kernel's argument.
#[derive(Debug)]
pub enum Argument<'a, M> {
    /// Memory of the device.
    Memory(&'a M),
    /// The bits of a number.
    Word(u64),
}

/// Memory of the device, as words of a type.
#[derive(Debug)]
pub(crate) struct Buffer<'a, M, T> {
    pub(crate) memory: &'a M,
    word: std::marker::PhantomData<T>,
}

impl<'a, M, T: Word> Buffer<'a, M, T> {
    pub(crate) fn new(memory: &'a M) -> Self {
        Self { memory, word: std::marker::PhantomData }
    }
}

impl<M, T> Clone for Buffer<'_, M, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M, T> Copy for Buffer<'_, M, T> {}
