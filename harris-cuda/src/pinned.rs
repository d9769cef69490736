//! Images in pinned memory, which a device copies from directly.

use std::time::Duration;

use harris_core::{Error, ImageView, Sample};
use harris_gpu::Mark;

use crate::driver::{ContextGuard, CopyStream, DeviceMemory, Gpu, PinnedBuffer, Queue, Stream};

/// An image in pinned host memory.
///
/// GPUs copy it at the full speed of their bus; images in ordinary memory must be copied to pinned
/// memory first.
///
/// Decode or receive into [`PinnedImage::samples_mut`]. [`CudaDetector`](crate::CudaDetector)
/// notices that the samples of a view are pinned.
/// [`CudaPipeline::push_pinned`](crate::CudaPipeline::push_pinned) takes the image and returns it
/// with the result.
///
/// Allocating pinned memory is slow, so keep images and use them again. Pinned memory must not be
/// touched in a forked child.
///
/// ```no_run
/// use harris_cuda::{CudaDetector, Detector, HarrisConfig, PinnedImage};
///
/// let mut image = PinnedImage::<u8>::gray(1920, 1080)?;
/// image.samples_mut().fill(7);
/// let corners = CudaDetector::new(HarrisConfig::default())?.detect(&image.view())?;
/// # Ok::<(), harris_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct PinnedImage<T: Sample = u8> {
    memory: PinnedBuffer,
    mask: Option<PinnedBuffer>,
    width: usize,
    height: usize,
    channels: usize,
    sample: std::marker::PhantomData<T>,
}

impl<T: Sample> PinnedImage<T> {
    /// Makes a gray image of zeros.
    ///
    /// # Errors
    /// - [`Error::EmptyImage`] and the other errors of [`ImageView::gray`] about the size.
    /// - [`CudaError`](crate::CudaError) inside [`Error::Backend`]: there is no driver or no
    ///   device, or pinned memory is exhausted.
    pub fn gray(width: usize, height: usize) -> Result<Self, Error> {
        Self::new(width, height, 1)
    }

    /// Makes a colour image of zeros. The three channels are interleaved.
    ///
    /// # Errors
    /// See [`PinnedImage::gray`].
    pub fn rgb(width: usize, height: usize) -> Result<Self, Error> {
        Self::new(width, height, 3)
    }

    fn new(width: usize, height: usize, channels: usize) -> Result<Self, Error> {
        let bytes =
            width.checked_mul(height).and_then(|pixels| pixels.checked_mul(channels * size_of::<T>()));
        let Some(bytes) = bytes.filter(|bytes| *bytes > 0) else {
            // No slice is that long, and the view returns the right error.
            return ImageView::strided::<T>(&[], width, height, channels, width.saturating_mul(channels))
                .map(|_| unreachable!("an image without samples"));
        };
        let memory = PinnedBuffer::new(&Gpu::any()?, bytes)?;
        Ok(Self { memory, mask: None, width, height, channels, sample: std::marker::PhantomData })
    }

    /// Adds a mask in pinned memory, of one byte a pixel. Corners are sought where it is not 0.
    ///
    /// The mask is 255 everywhere at first; [`PinnedImage::mask_mut`] changes it.
    ///
    /// ```no_run
    /// let mut image = harris_cuda::PinnedImage::<u8>::gray(640, 480)?.with_mask()?;
    /// // Nothing in the upper half.
    /// image.mask_mut().expect("just made")[..640 * 240].fill(0);
    /// # Ok::<(), harris_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CudaError`](crate::CudaError) inside [`Error::Backend`]: pinned memory is exhausted.
    pub fn with_mask(mut self) -> Result<Self, Error> {
        let mut mask = PinnedBuffer::new(&Gpu::any()?, self.width * self.height)?;
        mask.as_mut_slice().fill(u8::MAX);
        self.mask = Some(mask);
        Ok(self)
    }

    /// Returns the width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the samples, row by row without gaps, channels interleaved.
    #[must_use]
    pub fn samples(&self) -> &[T] {
        self.memory.as_samples()
    }

    /// Returns the samples for writing.
    #[must_use]
    pub fn samples_mut(&mut self) -> &mut [T] {
        self.memory.as_mut_samples()
    }

    /// Returns the mask, if there is one: row by row without gaps, a byte a pixel.
    #[must_use]
    pub fn mask(&self) -> Option<&[u8]> {
        self.mask.as_ref().map(PinnedBuffer::as_slice)
    }

    /// Returns the mask for writing, if there is one.
    #[must_use]
    pub fn mask_mut(&mut self) -> Option<&mut [u8]> {
        self.mask.as_mut().map(PinnedBuffer::as_mut_slice)
    }

    /// Returns a view of the image with its mask, as detectors take it.
    #[must_use]
    pub fn view(&self) -> ImageView<'_> {
        let row = self.width * self.channels;
        let image = ImageView::strided(self.samples(), self.width, self.height, self.channels, row)
            .expect("made for this size");
        let Some(mask) = self.mask() else { return image };
        let mask = ImageView::gray(mask, self.width, self.height).expect("made for this size");
        image.with_mask(mask).expect("8-bit gray, of the same size")
    }

    /// Measures how long it takes to copy some images, without their masks, to a GPU one after
    /// another.
    ///
    /// Nothing that uses the images there can be faster. Returns the median of 21 runs.
    ///
    /// # Errors
    /// See [`CudaDetector::on_device`](crate::CudaDetector::on_device).
    pub fn copy_time(images: &[Self], ordinal: u32) -> Result<Duration, Error> {
        let _context = ContextGuard::save();
        let stream = Stream::new(&CopyStream::new(&Gpu::open(ordinal)?)?)?;
        let most = images.iter().map(|image| image.memory.bytes()).max().unwrap_or(0);
        let memory = DeviceMemory::new(stream.gpu(), most.max(1))?;
        let mut times = Vec::new();
        for _ in 0..21 {
            stream.mark(Mark::Uploaded)?;
            for image in images {
                stream.upload(Queue::Work, &memory, 0, &[image.memory.as_slice()])?;
            }
            stream.mark(Mark::Done)?;
            stream.wait()?;
            times.push(stream.between(Mark::Uploaded, Mark::Done)?);
        }
        times.sort();
        Ok(times[times.len() / 2])
    }

    /// Copies an image of one or three interleaved channels, row by row without gaps.
    ///
    /// Samples behind the `width` · `height` · `channels` of the image are ignored.
    ///
    /// # Errors
    /// The errors of [`PinnedImage::gray`], and [`Error::Channels`] and [`Error::SliceTooShort`].
    pub fn from_samples(samples: &[T], width: usize, height: usize, channels: usize) -> Result<Self, Error> {
        ImageView::strided(samples, width, height, channels, width.saturating_mul(channels))?;
        let mut image = Self::new(width, height, channels)?;
        let len = image.samples().len();
        image.samples_mut().copy_from_slice(&samples[..len]);
        Ok(image)
    }
}
