//! The interface of a GPU: memory, uploads, launches, recordings.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use harris_core::pipeline::numerics::SampleType;
use harris_core::{Error, ImageView, Raster, Samples};
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::Kernel;

/// A GPU with one queue of work, which is done in the order of the calls.
///
/// Failures come inside [`Error::Backend`].
pub trait Device: Debug + Send {
    /// Memory of the device; given back when dropped.
    type Memory: Debug + Send;

    /// A handle to bytes that are fetched from memory, or will be.
    type Fetched: Clone + Debug + Send;

    /// Recorded calls, which one call replays.
    type Recording: Debug + Send;

    /// Reserves memory.
    ///
    /// # Errors
    /// Where there is not enough.
    fn allocate(&self, bytes: usize) -> Result<Self::Memory, Error>;

    /// Writes rows to `memory` when the queue comes to it.
    ///
    /// # Errors
    /// Where the device fails.
    fn upload(&mut self, memory: &Self::Memory, rows: Rows<'_>) -> Result<(), Error>;

    /// Writes rows to `memory` in a queue of its own, beside the work: nothing in the queue uses
    /// that memory. Work that is asked for after [`Device::arrive`] is done when the rows have
    /// arrived.
    ///
    /// # Errors
    /// Where the device fails.
    fn send(&mut self, memory: &Self::Memory, rows: Rows<'_>) -> Result<(), Error>;

    /// Makes the queue wait for all rows of [`Device::send`].
    ///
    /// # Errors
    /// Where the device fails.
    fn arrive(&mut self) -> Result<(), Error>;

    /// First half of [`Device::arrive`], after the last rows of an image. The second half is
    /// [`Device::await_announced`], which can be recorded. It notes, as [`Device::mark`], when all
    /// rows have arrived.
    ///
    /// Some devices then begin sooner than by [`Device::arrive`].
    ///
    /// # Errors
    /// Where the device fails.
    fn announce(&mut self, mark: Mark) -> Result<(), Error> {
        self.arrive()?;
        self.mark(mark)
    }

    /// Makes the queue wait for the rows that were announced. A recording may contain this call.
    ///
    /// # Errors
    /// Where the device fails.
    fn await_announced(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// The size in bytes of the last block of an overlapped upload: the queue works on the blocks
    /// before while it is on its way.
    ///
    /// From half as many bytes on, uploads in a queue of their own pay.
    fn portion(&self) -> usize;

    /// Reads `bytes` from the start of `memory` when the queue comes to it.
    ///
    /// # Errors
    /// Where the device fails.
    fn fetch(&mut self, memory: &Self::Memory, bytes: usize) -> Result<Self::Fetched, Error>;

    /// Memory of the host that kernels write to, of so many bytes, and the handle by which
    /// [`Device::fetched`] reads it after the next [`Device::wait`].
    ///
    /// # Errors
    /// Where there is not enough memory.
    fn returned(&mut self, bytes: usize) -> Result<(Self::Memory, Self::Fetched), Error>;

    /// The bytes that were fetched before the last [`Device::wait`]. The next fetch may overwrite
    /// them.
    fn fetched<'a>(&'a self, fetched: &'a Self::Fetched) -> Cow<'a, [u8]>;

    /// Reads the start of `memory`, after all work before.
    ///
    /// # Errors
    /// Where the device fails, also in work that was asked for before.
    fn download(&mut self, memory: &Self::Memory, bytes: &mut [u8]) -> Result<(), Error>;

    /// A number that changes when earlier recordings become invalid: when memory was allocated, or
    /// fetched bytes go to another place.
    fn changes(&self) -> u64 {
        0
    }

    /// Begins a recording: the calls that follow are recorded, and not done. Returns whether the
    /// device can record.
    ///
    /// Recordings may fetch to the same place: what one has fetched is read before the next is
    /// replayed.
    ///
    /// # Errors
    /// Where the device fails.
    fn record(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Ends a recording, also where a call in it failed.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where no recording was begun.
    fn recorded(&mut self) -> Result<Self::Recording, Error> {
        panic!("a device that cannot record")
    }

    /// Replays a recording. Its fetches go to the same places as before.
    ///
    /// # Errors
    /// Where the device fails.
    fn play(&mut self, recording: &Self::Recording) -> Result<(), Error> {
        let _ = recording;
        Ok(())
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// Where the device fails, also in work that was asked for before.
    fn wait(&mut self) -> Result<(), Error>;

    /// Whether all work is done, or has failed.
    fn is_idle(&self) -> bool;

    /// Writes `words` zeros of 32 bits.
    ///
    /// # Errors
    /// Where the device fails.
    fn clear(&self, memory: &Self::Memory, words: usize) -> Result<(), Error>;

    /// Runs a kernel on a grid of blocks.
    ///
    /// # Errors
    /// Where the device fails.
    fn launch(
        &self,
        kernel: Kernel,
        grid: [u32; 2],
        arguments: &[Argument<'_, Self::Memory>],
    ) -> Result<(), Error>;

    /// Notes a point in the work, for devices that measure time.
    ///
    /// # Errors
    /// Where the device fails.
    fn mark(&mut self, mark: Mark) -> Result<(), Error> {
        let _ = mark;
        Ok(())
    }

    /// The address of memory, which identifies it.
    fn address(&self, memory: &Self::Memory) -> u64;

    /// The number of multiprocessors, by which work is divided. Results do not depend on it.
    fn multiprocessors(&self) -> u32;

    /// The device's name, as in `cuda: NVIDIA H200`.
    fn describe(&self) -> String;
}

/// Rows of images to upload, one image after the other.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    /// The images, all of one size.
    pub images: &'a [Lines<'a>],
    /// The rows of each image.
    pub rows: Range<usize>,
    /// Bytes from row to row on the device: a row's length or more.
    pub pitch: usize,
    /// Byte offset of the first row on the device.
    pub offset: usize,
    /// Whether samples stay as they are until [`Device::wait`], so that the device may copy
    /// straight from them.
    pub lasting: bool,
}

impl<'a> Rows<'a> {
    /// Rows without gaps for the start of memory. The device copies them before the call returns.
    pub(crate) fn copied(lines: &'a Lines<'a>, count: usize) -> Self {
        let pitch = lines.row(0).len();
        Self { images: std::slice::from_ref(lines), rows: 0..count, pitch, offset: 0, lasting: false }
    }

    /// Number of rows of all images.
    #[must_use]
    pub fn count(&self) -> usize {
        self.images.len() * self.rows.len()
    }

    /// The bytes of row `i` of all rows.
    ///
    /// # Panics
    /// Where there is no such row.
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [u8] {
        self.images[i / self.rows.len()].row(self.rows.start + i % self.rows.len())
    }
}

/// The rows of an image, or of bytes.
#[derive(Clone, Copy, Debug)]
pub enum Lines<'a> {
    /// Rows of 8-bit samples.
    U8(Raster<'a, u8>),
    /// Rows of 16-bit samples.
    U16(Raster<'a, u16>),
    /// Rows of floats.
    F32(Raster<'a, f32>),
    /// Bytes, and how many a row has, one row after the other.
    Packed(&'a [u8], usize),
}

impl<'a> Lines<'a> {
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

    /// The bytes of row `y`. All rows have the same length.
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
    /// One or three.
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

    /// Bytes of a sample.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    /// The sample of full brightness.
    pub(crate) fn full_scale(self) -> f64 {
        self.sample_type().full_scale()
    }

    /// The sample type in the terms of the arithmetic.
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
    Listed,
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

/// Memory as words of a type.
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
