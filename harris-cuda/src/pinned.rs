//! Images in memory that a device copies straight from.

use std::time::Duration;

use harris_core::{Error, ImageView, Sample};
use harris_gpu::Mark;

use crate::driver::{ContextGuard, CopyStream, DeviceMemory, Gpu, PinnedBuffer, Queue, Stream};

/// An image in pinned memory of the host, from where every GPU copies at the full speed of its bus; from ordinary memory images are
/// brought there first.
///
/// Decode or receive into [`PinnedImage::samples_mut`]. [`CudaDetector`](crate::CudaDetector) sees that the samples of a view are
/// pinned, and [`CudaPipeline::push_pinned`](crate::CudaPipeline::push_pinned) takes the image along. Pinned memory is dear: keep
/// images and use them again. It must not be touched in a forked child.
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
    /// A gray image of zeros.
    ///
    /// # Errors
    /// [`Error::EmptyImage`] and what else [`ImageView::gray`] finds wrong with the size; [`CudaError`](crate::CudaError) inside
    /// [`Error::Backend`]: no driver, no device, out of pinned memory.
    pub fn gray(width: usize, height: usize) -> Result<Self, Error> {
        Self::new(width, height, 1)
    }

    /// A colour image of zeros, its three channels interleaved.
    ///
    /// # Errors
    /// As [`PinnedImage::gray`].
    pub fn rgb(width: usize, height: usize) -> Result<Self, Error> {
        Self::new(width, height, 3)
    }

    fn new(width: usize, height: usize, channels: usize) -> Result<Self, Error> {
        let bytes =
            width.checked_mul(height).and_then(|pixels| pixels.checked_mul(channels * size_of::<T>()));
        let Some(bytes) = bytes.filter(|bytes| *bytes > 0) else {
            // No slice is that long; the view says what is wrong.
            return ImageView::strided::<T>(&[], width, height, channels, width.saturating_mul(channels))
                .map(|_| unreachable!("an image without samples"));
        };
        let memory = PinnedBuffer::new(&Gpu::any()?, bytes)?;
        Ok(Self { memory, mask: None, width, height, channels, sample: std::marker::PhantomData })
    }

    /// The same image with a mask, in pinned memory as well: a byte a pixel, corners are sought where it is not 0. At first it is 255
    /// everywhere; [`PinnedImage::mask_mut`] changes it.
    ///
    /// ```no_run
    /// let mut image = harris_cuda::PinnedImage::<u8>::gray(640, 480)?.with_mask()?;
    /// // Nothing in the upper half.
    /// image.mask_mut().expect("just made")[..640 * 240].fill(0);
    /// # Ok::<(), harris_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CudaError`](crate::CudaError) inside [`Error::Backend`]: out of pinned memory.
    pub fn with_mask(mut self) -> Result<Self, Error> {
        let mut mask = PinnedBuffer::new(&Gpu::any()?, self.width * self.height)?;
        mask.as_mut_slice().fill(u8::MAX);
        self.mask = Some(mask);
        Ok(self)
    }

    /// Its width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Its height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Its samples, row by row without gaps, channels interleaved.
    #[must_use]
    pub fn samples(&self) -> &[T] {
        self.memory.as_samples()
    }

    /// Its samples, to be written.
    #[must_use]
    pub fn samples_mut(&mut self) -> &mut [T] {
        self.memory.as_mut_samples()
    }

    /// Its mask, where it has one: row by row without gaps, a byte a pixel.
    #[must_use]
    pub fn mask(&self) -> Option<&[u8]> {
        self.mask.as_ref().map(PinnedBuffer::as_slice)
    }

    /// Its mask, to be written.
    #[must_use]
    pub fn mask_mut(&mut self) -> Option<&mut [u8]> {
        self.mask.as_mut().map(PinnedBuffer::as_mut_slice)
    }

    /// The image as detectors take it, with its mask.
    #[must_use]
    pub fn view(&self) -> ImageView<'_> {
        let row = self.width * self.channels;
        let image = ImageView::strided(self.samples(), self.width, self.height, self.channels, row)
            .expect("made for this size");
        let Some(mask) = self.mask() else { return image };
        let mask = ImageView::gray(mask, self.width, self.height).expect("made for this size");
        image.with_mask(mask).expect("8-bit gray, of the same size")
    }

    /// How long the bare copies of some images to a GPU take, by its number, one right after the other: what bounds every use of them
    /// there; without masks. The median of 21.
    ///
    /// # Errors
    /// As [`CudaDetector::on_device`](crate::CudaDetector::on_device).
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
            stream.mark(Mark::Listed)?;
            stream.wait()?;
            times.push(stream.between(Mark::Uploaded, Mark::Listed)?);
        }
        times.sort();
        Ok(times[times.len() / 2])
    }

    /// A copy of a slice: `width` times `height` samples of one or three channels, row by row without gaps.
    ///
    /// # Errors
    /// As [`PinnedImage::gray`], and where the slice has another length.
    pub fn copied(samples: &[T], width: usize, height: usize, channels: usize) -> Result<Self, Error> {
        ImageView::strided(samples, width, height, channels, width.saturating_mul(channels))?;
        let mut image = Self::new(width, height, channels)?;
        let len = image.samples().len();
        image.samples_mut().copy_from_slice(&samples[..len]);
        Ok(image)
    }
}
