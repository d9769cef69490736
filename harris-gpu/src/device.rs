//! What a detector asks of a GPU.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

use harris_core::{Error, ImageView, Raster, Samples};
use harris_gpu_kernels::Word;
use harris_gpu_kernels::abi::Kernel;

/// A GPU with one queue of work: what is asked for is done in that order.
///
/// Failures come inside [`Error::Backend`].
pub trait Device: Debug + Send {
    /// Memory of the device; given back when dropped.
    type Memory: Debug + Send;

    /// What was fetched from memory, or will be.
    type Fetched: Clone + Debug + Send;

    /// Work that can be asked for at once, as often as one likes.
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

    /// The same ahead of the queue, on memory that nothing in it uses; what is asked for after [`Device::arrive`] is done when
    /// the rows have come.
    ///
    /// # Errors
    /// Where the device fails.
    fn send(&mut self, memory: &Self::Memory, rows: Rows<'_>) -> Result<(), Error>;

    /// From here on the queue waits for what was sent.
    ///
    /// # Errors
    /// Where the device fails.
    fn arrive(&mut self) -> Result<(), Error>;

    /// The same in two steps, where nothing more is sent for a while and someone waits for the work, for devices that can then begin
    /// sooner. This one notes, as [`Device::mark`], when all has come; [`Device::await_announced`] follows.
    ///
    /// # Errors
    /// Where the device fails.
    fn announce(&mut self, mark: Mark) -> Result<(), Error> {
        self.arrive()?;
        self.mark(mark)
    }

    /// From here on the queue waits for what was announced. It can be part of a recording.
    ///
    /// # Errors
    /// Where the device fails.
    fn await_announced(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Bytes of an image that are best sent last, on their own, so that the queue can work on the others while they are on their way;
    /// from half as many on it is worth while to send them ahead of the queue at all.
    fn portion(&self) -> usize;

    /// Reads `bytes` from the start of `memory` when the queue comes to it.
    ///
    /// # Errors
    /// Where the device fails.
    fn fetch(&mut self, memory: &Self::Memory, bytes: usize) -> Result<Self::Fetched, Error>;

    /// Room among what is fetched, which kernels fill: memory of so many bytes, and what [`Device::fetched`] tells of it after the
    /// [`Device::wait`] that follows.
    ///
    /// # Errors
    /// Where there is not enough memory.
    fn returned(&mut self, bytes: usize) -> Result<(Self::Memory, Self::Fetched), Error>;

    /// What was fetched before the last [`Device::wait`]. It is gone when the next is fetched.
    fn fetched<'a>(&'a self, fetched: &'a Self::Fetched) -> Cow<'a, [u8]>;

    /// Reads the start of `memory`, and so waits for all work before.
    ///
    /// # Errors
    /// Where the device fails, also in work that was asked for before.
    fn download(&mut self, memory: &Self::Memory, bytes: &mut [u8]) -> Result<(), Error>;

    /// A number that is another one when recordings of before can be played no more: memory was allocated, or what is fetched goes
    /// elsewhere.
    fn changes(&self) -> u64 {
        0
    }

    /// What is asked for from here on is recorded, and not done; tells whether the device can. Recordings may fetch to the same place:
    /// what one has fetched is read before the next is played.
    ///
    /// # Errors
    /// Where the device fails.
    fn record(&mut self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Ends what was begun with [`Device::record`], also where something in it failed.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where nothing was begun.
    fn recorded(&mut self) -> Result<Self::Recording, Error> {
        panic!("a device that cannot record")
    }

    /// Asks for all that was recorded: what it fetched is fetched to where it was.
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

    /// Notes that the work has come this far, for devices that take the time.
    ///
    /// # Errors
    /// Where the device fails.
    fn mark(&mut self, mark: Mark) -> Result<(), Error> {
        let _ = mark;
        Ok(())
    }

    /// Where memory begins, by which it is told from other memory.
    fn address(&self, memory: &Self::Memory) -> u64;

    /// How many multiprocessors it has, by which work is shared out; the result does not depend on it.
    fn multiprocessors(&self) -> u32;

    /// The device in words, as in `cuda: NVIDIA H200`.
    fn describe(&self) -> String;
}

/// Rows of images, one image after the other, on their way to a device.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    /// The images, of one size.
    pub images: &'a [Lines<'a>],
    /// The rows of each.
    pub rows: Range<usize>,
    /// Bytes from row to row on the device: a row's length or more.
    pub pitch: usize,
    /// Where the first is to be, in bytes.
    pub offset: usize,
    /// Whether they stay as they are until [`Device::wait`], so that the device may copy straight from them.
    pub lasting: bool,
}

impl<'a> Rows<'a> {
    /// Rows for the start of memory, without gaps, of which the device takes a copy.
    pub(crate) fn copied(lines: &'a Lines<'a>, count: usize) -> Self {
        let pitch = lines.row(0).len();
        Self { images: std::slice::from_ref(lines), rows: 0..count, pitch, offset: 0, lasting: false }
    }

    /// How many they are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.images.len() * self.rows.len()
    }

    /// The bytes of one.
    ///
    /// # Panics
    /// Where there are not so many.
    #[must_use]
    pub fn row(&self, i: usize) -> &'a [u8] {
        self.images[i / self.rows.len()].row(self.rows.start + i % self.rows.len())
    }
}

/// The rows of an image, or of bytes.
#[derive(Clone, Copy, Debug)]
pub enum Lines<'a> {
    /// Of 8-bit samples.
    U8(Raster<'a, u8>),
    /// Of 16-bit samples.
    U16(Raster<'a, u16>),
    /// Of floats.
    F32(Raster<'a, f32>),
    /// Of so many bytes each, one after the other.
    Packed(&'a [u8], usize),
}

impl<'a> Lines<'a> {
    /// A single one of words.
    pub(crate) fn words<T: bytemuck::Pod>(words: &'a [T]) -> Self {
        let bytes = bytemuck::cast_slice(words);
        Self::Packed(bytes, bytes.len())
    }

    /// Those of an image.
    #[must_use]
    pub fn of(image: &ImageView<'a>) -> Self {
        match image.samples() {
            Samples::U8(raster) => Self::U8(raster),
            Samples::U16(raster) => Self::U16(raster),
            Samples::F32(raster) => Self::F32(raster),
        }
    }

    /// The bytes of row `y`, of which all have as many.
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

    /// Bytes from each row to the next in memory; `None` where that is upwards.
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
    /// Its samples, channels interleaved: rows `pitch` bytes apart, the last up to the next multiple of 4 bytes.
    pub memory: M,
    /// Its width in pixels.
    pub width: usize,
    /// Its height in pixels.
    pub height: usize,
    /// One or three.
    pub channels: usize,
    /// Bytes from row to row: whole samples, and a whole row or more.
    pub pitch: usize,
    /// The type of its samples. Floats are finite, and none is too large for [`ImageView::check_samples`].
    pub depth: Depth,
    /// A mask of its size, if it has one, and the bytes from row to row of that: a multiple of 4, and a row or more. The last row is
    /// complete up to the next such multiple.
    pub mask: Option<(M, usize)>,
}

/// A type of samples.
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
    /// That of an image.
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

    /// What stands for 1.
    pub(crate) fn full_scale(self) -> f64 {
        match self {
            Self::U8 => f64::from(u8::MAX),
            Self::U16 => f64::from(u16::MAX),
            Self::F32 => 1.0,
        }
    }
}

/// How far the work on an image has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The image is on the device.
    Uploaded,
    /// What was asked for is complete on the device: the list of keypoints, of descriptors or of nearest ones, or the map of responses.
    Listed,
    /// The integral image is there.
    Integrated,
    /// The responses, or the determinants of all layers, are there.
    Responded,
    /// The corners or peaks are found, in no order.
    Searched,
    /// The smoothed image is there.
    Smoothed,
    /// The gradient is there.
    Differentiated,
    /// The sums of its products down the window are there.
    Summed,
}

impl Mark {
    /// How many there are.
    pub const COUNT: usize = Mark::Summed as usize + 1;
}

/// A kernel's argument.
#[derive(Debug)]
pub enum Argument<'a, M> {
    /// Memory, all of it.
    Memory(&'a M),
    /// A number, by its bits.
    Word(u64),
}

/// Memory, seen as words of a type.
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
