//! Images in a device's memory, and keypoints that stay there.

use std::ffi::c_void;
use std::marker::PhantomData;

use harris_core::{Error, ImageView, Keypoint};
use harris_gpu::{Depth, Device, GpuDetector, Lines, MaskSample, Resident, Rows};
use ndarray::Array2;

use crate::CudaError;
use crate::device::CudaDevice;
use crate::driver::{ContextGuard, DeviceMemory, Gpu};

/// An image in a GPU's memory: [`CudaDetector::detect_on_device`](crate::CudaDetector::detect_on_device) finds its corners without a
/// copy.
///
/// ```no_run
/// use harris_cuda::{CudaDetector, CudaImage, HarrisConfig, ImageView};
///
/// let samples = vec![0_u8; 640 * 480];
/// let image = CudaImage::upload(0, &ImageView::gray(&samples, 640, 480)?)?;
/// let mut detector = CudaDetector::on_device(0, HarrisConfig::default())?;
/// let corners = detector.detect_on_device(&image)?;
/// println!("{} corners, at {:#x} on the device", corners.len(), corners.pointer());
/// # Ok::<(), harris_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct CudaImage {
    memory: DeviceMemory,
    ordinal: u32,
    width: usize,
    height: usize,
    channels: usize,
    pitch: usize,
    depth: Depth,
    /// Its mask, and the bytes from row to row of that.
    mask: Option<(DeviceMemory, usize)>,
}

/// A stream of CUDA's driver: a `CUstream`, as `*mut c_void` (null is the default stream), or with the feature `cust` a
/// reference to a stream of cust's.
pub trait AsCudaStream {
    /// The driver's handle, a `CUstream`.
    fn as_cuda_stream(&self) -> *mut c_void;
}

impl AsCudaStream for *mut c_void {
    fn as_cuda_stream(&self) -> *mut c_void {
        *self
    }
}

/// What rows and images of a device start at a multiple of, in bytes.
const ALIGNMENT: usize = 4;

impl CudaImage {
    /// A copy of an image, and of its mask if it has one, in the memory of device number `ordinal`.
    ///
    /// # Errors
    /// [`Error::NonFinite`] and [`Error::SampleTooLarge`]; else as [`CudaDetector::on_device`](crate::CudaDetector::on_device).
    pub fn upload(ordinal: u32, image: &ImageView<'_>) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        image.check_samples()?;
        let depth = Depth::of(image);
        let (width, height, channels) = (image.width(), image.height(), image.channels());
        let mut device = CudaDevice::open(ordinal)?;
        let mut copy = |lines: Lines<'_>| -> Result<_, Error> {
            let pitch = lines.row(0).len().next_multiple_of(ALIGNMENT);
            let memory = device.allocate(pitch * height)?;
            device.upload(
                &memory,
                Rows { images: &[lines], rows: 0..height, pitch, offset: 0, lasting: true },
            )?;
            device.wait()?;
            Ok((memory, pitch))
        };
        let (memory, pitch) = copy(Lines::of(image))?;
        let mask = image.mask().map(|mask| copy(Lines::U8(mask))).transpose()?;
        Ok(Self { memory, ordinal, width, height, channels, pitch, depth, mask })
    }

    /// An image of 8-bit samples that others hold in the memory of device number `ordinal`: from a decoder, or written by a kernel.
    /// `pointer` and `pitch`, the bytes from row to row, are multiples of 4; channels, one or three, are interleaved.
    ///
    /// # Errors
    /// [`CudaError::Layout`] where these do not fit each other; else as
    /// [`CudaDetector::on_device`](crate::CudaDetector::on_device).
    ///
    /// # Safety
    /// The rows, `pitch` bytes apart from `pointer` on, are memory of that device, in its primary context, up to the next multiple of 4
    /// bytes. Until the image is dropped they stay so, and while a detector looks at it nothing writes there: work that did is complete, or
    /// queued where [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream) follows it.
    #[allow(unsafe_code, reason = "whoever has the pointer must promise that it is good")]
    pub unsafe fn from_raw(
        ordinal: u32,
        pointer: u64,
        pitch: usize,
        width: usize,
        height: usize,
        channels: usize,
    ) -> Result<Self, Error> {
        let memory = borrowed_memory(ordinal, pointer, pitch, (width, height, channels))?;
        Ok(Self { memory, ordinal, width, height, channels, pitch, depth: Depth::U8, mask: None })
    }

    /// The image with a mask of its size that others hold in the memory of its device, in place of any that it has: corners are sought
    /// where a byte is not zero. `pointer` and `pitch`, the bytes from row to row, are multiples of 4.
    ///
    /// # Errors
    /// As [`CudaImage::from_raw`].
    ///
    /// # Safety
    /// As that of [`CudaImage::from_raw`], for the mask's rows.
    #[allow(unsafe_code, reason = "whoever has the pointer must promise that it is good")]
    pub unsafe fn with_mask_from_raw(self, pointer: u64, pitch: usize) -> Result<Self, Error> {
        let memory = borrowed_memory(self.ordinal, pointer, pitch, (self.width, self.height, 1))?;
        Ok(Self { mask: Some((memory, pitch)), ..self })
    }

    /// Whether an image can lie so: [`CudaError::Layout`] where not.
    pub(crate) fn check_layout(
        pointer: u64,
        pitch: usize,
        (width, height, channels): (usize, usize, usize),
    ) -> Result<(), CudaError> {
        // Kernels count a row's bytes with 32 bits.
        let whole = u32::try_from(pitch).is_ok()
            && pitch.checked_mul(height).is_some_and(|bytes| bytes > 0 && bytes <= isize::MAX as usize);
        let row = width.checked_mul(channels).is_some_and(|bytes| bytes > 0 && bytes <= pitch);
        let aligned =
            pointer != 0 && pointer.is_multiple_of(ALIGNMENT as u64) && pitch.is_multiple_of(ALIGNMENT);
        if whole && row && aligned && matches!(channels, 1 | 3) {
            return Ok(());
        }
        Err(CudaError::Layout { pointer, pitch, width, height, channels })
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

    /// Its channels, one or three.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The number of its device.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Where it is in the device's memory, and the bytes from row to row.
    #[must_use]
    pub fn pointer(&self) -> (u64, usize) {
        (self.memory.pointer(), self.pitch)
    }

    /// The image as a detector takes it, of memory that it must let go of while `self` is borrowed.
    pub(crate) fn resident(&self) -> Resident<DeviceMemory> {
        Resident {
            memory: self.memory.alias(),
            width: self.width,
            height: self.height,
            channels: self.channels,
            pitch: self.pitch,
            depth: self.depth,
            mask: self.mask.as_ref().map(|(memory, pitch)| (memory.alias(), *pitch)),
        }
    }
}

/// Memory of others that has rows of bytes.
fn borrowed_memory(
    ordinal: u32,
    pointer: u64,
    pitch: usize,
    size: (usize, usize, usize),
) -> Result<DeviceMemory, Error> {
    CudaImage::check_layout(pointer, pitch, size)?;
    let gpu = Gpu::open(ordinal)?;
    Ok(DeviceMemory::borrowed(&gpu, pointer, pitch * size.1))
}

/// A detection on a device that is queued: see [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream). Dropped, it is
/// waited for.
#[derive(Debug)]
pub struct CudaPending<'a> {
    /// None when it is finished.
    detector: Option<&'a mut GpuDetector<CudaDevice>>,
    /// How many keypoints there are, where that is known.
    len: Option<usize>,
}

impl<'a> CudaPending<'a> {
    /// What a detector has begun.
    pub(crate) fn new(detector: &'a mut GpuDetector<CudaDevice>) -> Self {
        Self { detector: Some(detector), len: None }
    }

    fn detector(&self) -> &GpuDetector<CudaDevice> {
        self.detector.as_ref().expect("there until it is finished")
    }

    /// Waits for all of it.
    pub(crate) fn complete(&mut self) -> Result<usize, Error> {
        let _context = ContextGuard::save();
        let detector = self.detector.as_mut().expect("there until it is finished");
        let len = match self.len {
            Some(len) => Ok(len),
            None => detector.finish_on_device(),
        };
        // Also where it failed there is no more to wait for.
        self.len = Some(*len.as_ref().unwrap_or(&0));
        len
    }

    /// What is queued on a stream from here on waits for it.
    pub(crate) fn precede(&self, stream: *mut c_void) -> Result<(), CudaError> {
        self.detector().device().stream().precede(stream)
    }

    /// Where the keypoints will be in the device's memory: as [`CudaKeypoints::pointer`].
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.detector().on_device().pointer()
    }

    /// Where the number of corners will be, a 32-bit word; the list has as many, but no more than
    /// [`max_corners`](harris_core::HarrisConfig::max_corners). More than [`CudaPending::room`] tells that it is not complete: the detector
    /// had seen no image of this size with so many, and lists them again in [`CudaPending::finish`].
    #[must_use]
    pub fn count_pointer(&self) -> u64 {
        let (memory, at) = self.detector().count_on_device();
        memory.pointer() + at as u64
    }

    /// How many keypoints there is room for at [`CudaPending::pointer`].
    #[must_use]
    pub fn room(&self) -> usize {
        self.detector().room_on_device()
    }

    /// Waits until the list is complete.
    ///
    /// # Errors
    /// As [`CudaDetector::detect_on_device`](crate::CudaDetector::detect_on_device).
    ///
    /// # Panics
    /// Never.
    pub fn finish(mut self) -> Result<CudaKeypoints<'a>, Error> {
        let len = self.complete()?;
        let detector: &'a GpuDetector<CudaDevice> = self.detector.take().expect("there until it is finished");
        Ok(CudaKeypoints::new(detector, len))
    }
}

impl Drop for CudaPending<'_> {
    fn drop(&mut self) {
        if self.detector.is_some() {
            // Whether it failed is not asked for any more.
            let _ = self.complete();
        }
    }
}

/// Keypoints in a GPU's memory, until the detector that found them finds others.
#[derive(Debug)]
pub struct CudaKeypoints<'a> {
    device: &'a CudaDevice,
    memory: &'a DeviceMemory,
    len: usize,
}

impl<'a> CudaKeypoints<'a> {
    /// Those of the last single image of a detector.
    pub(crate) fn new(detector: &'a GpuDetector<CudaDevice>, len: usize) -> Self {
        Self { device: detector.device(), memory: detector.on_device(), len }
    }

    /// How many they are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where they are in the device's memory: x, y, scale and response of each, 32-bit floats, in the configuration's order. They are
    /// complete: kernels on any stream can read them.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.memory.pointer()
    }

    /// A copy on the host.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the device fails.
    pub fn to_vec(&self) -> Result<Vec<Keypoint>, Error> {
        let mut words = vec![[0_f32; 4]; self.len];
        if !words.is_empty() {
            self.device.stream().download(self.memory, bytemuck::cast_slice_mut(&mut words))?;
        }
        Ok(words.into_iter().map(|[x, y, scale, response]| Keypoint { x, y, scale, response }).collect())
    }
}

/// Responses in a GPU's memory, until the detector that computed them is given another image.
#[derive(Debug)]
pub struct CudaResponses<'a> {
    detector: &'a mut GpuDetector<CudaDevice>,
    width: usize,
    height: usize,
}

impl<'a> CudaResponses<'a> {
    /// Those of the last image of a detector.
    pub(crate) fn new(detector: &'a mut GpuDetector<CudaDevice>, image: &CudaImage) -> Self {
        Self { detector, width: image.width, height: image.height }
    }

    /// The width of the image in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The height of the image in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Where they are in the device's memory: a 32-bit float a pixel, row after row without gaps. They are complete: kernels on any
    /// stream can read them.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.detector.responses_on_device().pointer()
    }

    /// A copy on the host, of shape height × width.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the device fails, [`CudaError::OutOfMemory`].
    pub fn to_array(&mut self) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        let mut map = Array2::zeros((self.height, self.width));
        self.detector.read_responses(map.as_slice_mut().expect("a new array lies in rows"))?;
        Ok(map)
    }
}

/// A binary mask of keypoints in a GPU's memory, until the detector that found them is given another image: see
/// [`CudaDetector::keypoint_mask_on_device`](crate::CudaDetector::keypoint_mask_on_device).
#[derive(Debug)]
pub struct CudaKeypointMask<'a, T: MaskSample> {
    detector: &'a mut GpuDetector<CudaDevice>,
    pointer: u64,
    width: usize,
    height: usize,
    samples: PhantomData<T>,
}

impl<'a, T: MaskSample> CudaKeypointMask<'a, T> {
    /// The mask of the last image of a detector.
    pub(crate) fn new(detector: &'a mut GpuDetector<CudaDevice>, pointer: u64, image: &CudaImage) -> Self {
        Self { detector, pointer, width: image.width, height: image.height, samples: PhantomData }
    }

    /// The width of the image in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The height of the image in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Where it is in the device's memory: a sample a pixel, 0 or 1, row after row without gaps. It is complete: kernels on any
    /// stream can read it.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// A copy on the host, of shape height × width.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the device fails, [`CudaError::OutOfMemory`].
    pub fn to_array(&mut self) -> Result<Array2<T>, Error> {
        let _context = ContextGuard::save();
        let mut mask = Array2::from_elem((self.height, self.width), T::zeroed());
        self.detector.read_keypoint_mask(mask.as_slice_mut().expect("a new array lies in rows"))?;
        Ok(mask)
    }
}
