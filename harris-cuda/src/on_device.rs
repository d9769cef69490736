//! Images in a device's memory, and results that stay there.

use std::ffi::c_void;
use std::marker::PhantomData;

use harris_core::{Error, ImageView, Keypoint, Sample, memory};
use harris_gpu::{Depth, DetectOnDevice, Device, GpuDetector, MaskSample, Resident, RowSource, Rows};
use ndarray::Array2;

use crate::CudaError;
use crate::device::CudaDevice;
use crate::driver::{ContextGuard, DeviceMemory, Gpu};

/// An image in a GPU's memory.
///
/// [`CudaDetector::detect_on_device`](crate::CudaDetector::detect_on_device) finds its corners
/// without a copy.
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
    /// The mask, with its pitch in bytes.
    mask: Option<(DeviceMemory, usize)>,
}

/// A stream of CUDA's driver: a `CUstream`, given as `*mut c_void`.
///
/// Null is the default stream. With the feature `cust`, a reference to a stream of cust is also
/// one.
pub trait AsCudaStream {
    /// Returns the driver's handle, a `CUstream`.
    fn as_cuda_stream(&self) -> *mut c_void;
}

/// The handle as an integer, as PyTorch and CuPy give it.
impl AsCudaStream for u64 {
    fn as_cuda_stream(&self) -> *mut c_void {
        *self as usize as *mut c_void
    }
}

impl AsCudaStream for *mut c_void {
    fn as_cuda_stream(&self) -> *mut c_void {
        *self
    }
}

/// Alignment of images and of their rows in a device's memory, in bytes.
const ALIGNMENT: usize = 4;

impl CudaImage {
    /// Copies an image, and its mask if it has one, to the memory of device number `ordinal`.
    ///
    /// # Errors
    /// [`Error::NonFinite`], [`Error::SampleTooLarge`], and the errors of
    /// [`CudaDetector::on_device`](crate::CudaDetector::on_device).
    pub fn upload(ordinal: u32, image: &ImageView<'_>) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        image.check_samples()?;
        let depth = Depth::of(image);
        let (width, height, channels) = (image.width(), image.height(), image.channels());
        let mut device = CudaDevice::open(ordinal)?;
        let mut copy = |lines: RowSource<'_>| -> Result<_, Error> {
            let pitch = lines.row(0).len().next_multiple_of(ALIGNMENT);
            let memory = device.allocate(pitch * height)?;
            device.upload(
                &memory,
                Rows { images: &[lines], rows: 0..height, pitch, offset: 0, borrowed: true },
            )?;
            device.wait()?;
            Ok((memory, pitch))
        };
        let (memory, pitch) = copy(RowSource::of(image))?;
        let mask = image.mask().map(|mask| copy(RowSource::U8(mask))).transpose()?;
        Ok(Self { memory, ordinal, width, height, channels, pitch, depth, mask })
    }

    /// Describes an image of samples `T`, `u8`, `u16` or `f32`, in the memory of device number
    /// `ordinal`, written by a decoder or a kernel, for example.
    ///
    /// The pitch is the number of bytes from row to row, a multiple of a sample's bytes; rows of
    /// whole words of four samples are faster. `pointer` is a multiple of 4. The channels, one or
    /// three, are interleaved.
    ///
    /// **Floats are not checked here.** Corner detectors find those that are not finite, or too
    /// large. For blobs and descriptors floats must be in 0..=1: an image that was normalised by
    /// its mean and deviation, as for neural networks, gives meaningless keypoints without an
    /// error.
    ///
    /// # Errors
    /// [`CudaError::Layout`] if the arguments do not fit each other, and the errors of
    /// [`CudaDetector::on_device`](crate::CudaDetector::on_device).
    ///
    /// # Safety
    /// - The rows are memory of that device in its primary context until the image is dropped. They
    ///   start at `pointer`, `pitch` bytes apart, and extend to the next multiple of 4 bytes.
    /// - Nothing writes there while a detector reads the image. Work that wrote it has ended, or is
    ///   on the stream that is given to `detect_on_stream` or `detect_and_describe_on_stream`.
    #[allow(unsafe_code, reason = "the caller must promise that the pointer is valid")]
    pub unsafe fn from_raw<T: Sample>(
        ordinal: u32,
        pointer: u64,
        pitch: usize,
        width: usize,
        height: usize,
        channels: usize,
    ) -> Result<Self, Error> {
        let sample = size_of::<T>();
        let memory = borrowed_memory(ordinal, pointer, pitch, (width, height, channels), (sample, sample))?;
        let depth = Depth::of_sample::<T>();
        Ok(Self { memory, ordinal, width, height, channels, pitch, depth, mask: None })
    }

    /// Adds a mask of the image's size in the memory of its device, in place of any other mask.
    ///
    /// Corners are sought where a byte is not zero. `pointer` and `pitch`, the number of bytes from
    /// row to row, are multiples of 4.
    ///
    /// # Errors
    /// See [`CudaImage::from_raw`].
    ///
    /// # Safety
    /// The conditions of [`CudaImage::from_raw`] hold for the mask's rows.
    #[allow(unsafe_code, reason = "the caller must promise that the pointer is valid")]
    pub unsafe fn with_mask_from_raw(self, pointer: u64, pitch: usize) -> Result<Self, Error> {
        let memory =
            borrowed_memory(self.ordinal, pointer, pitch, (self.width, self.height, 1), (1, ALIGNMENT))?;
        Ok(Self { mask: Some((memory, pitch)), ..self })
    }

    /// Checks that an image's address, pitch, size and channels fit each other, the bytes of a
    /// sample, and those that the pitch is a multiple of; [`CudaError::Layout`] if not.
    pub(crate) fn check_layout(
        pointer: u64,
        pitch: usize,
        (width, height, channels): (usize, usize, usize),
        (sample, unit): (usize, usize),
    ) -> Result<(), CudaError> {
        // Kernels count a row's bytes with 32 bits.
        let whole = u32::try_from(pitch).is_ok()
            && pitch.checked_mul(height).is_some_and(|bytes| bytes > 0 && bytes <= isize::MAX as usize);
        let bytes = width.checked_mul(channels).and_then(|samples| samples.checked_mul(sample));
        let row = bytes.is_some_and(|bytes| bytes > 0 && bytes <= pitch);
        let aligned = pointer != 0 && pointer.is_multiple_of(ALIGNMENT as u64) && pitch.is_multiple_of(unit);
        if whole && row && aligned && matches!(channels, 1 | 3) {
            return Ok(());
        }
        Err(CudaError::Layout { pointer, pitch, width, height, channels })
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

    /// Returns the number of channels, one or three.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// Returns the number of the image's device.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Returns the image's address in the device's memory, and its pitch in bytes.
    #[must_use]
    pub fn pointer(&self) -> (u64, usize) {
        (self.memory.pointer(), self.pitch)
    }

    /// Checks that the image is on device number `detector`; [`CudaError::OtherDevice`] if not.
    pub(crate) fn check_ordinal(&self, detector: u32) -> Result<(), CudaError> {
        if self.ordinal == detector {
            Ok(())
        } else {
            Err(CudaError::OtherDevice { image: self.ordinal, detector })
        }
    }

    /// Returns the image as a detector takes it. The memory is an alias, which must be dropped
    /// while `self` is borrowed.
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

/// Wraps rows of bytes in a device's memory that this crate does not own.
fn borrowed_memory(
    ordinal: u32,
    pointer: u64,
    pitch: usize,
    size: (usize, usize, usize),
    units: (usize, usize),
) -> Result<DeviceMemory, Error> {
    CudaImage::check_layout(pointer, pitch, size, units)?;
    let gpu = Gpu::open(ordinal)?;
    Ok(DeviceMemory::borrowed(&gpu, pointer, pitch * size.1))
}

/// A detector on the device.
type AnyDetector = dyn DetectOnDevice<Device = CudaDevice>;

/// Finds keypoints in an image that is on the device.
pub(crate) fn detect<'a>(
    detector: &'a mut AnyDetector,
    ordinal: u32,
    image: &CudaImage,
) -> Result<CudaKeypoints<'a>, Error> {
    let _context = ContextGuard::save();
    image.check_ordinal(ordinal)?;
    let len = detector.detect_on_device(image.resident())?;
    Ok(CudaKeypoints::new(detector, len))
}

/// Queues a detection between other work on a stream of a caller, who keeps the promises of
/// [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream).
pub(crate) fn detect_on_stream<'a>(
    detector: &'a mut AnyDetector,
    ordinal: u32,
    image: &'a CudaImage,
    stream: *mut c_void,
) -> Result<CudaPending<'a>, Error> {
    let _context = ContextGuard::save();
    image.check_ordinal(ordinal)?;
    detector.device().stream().follow(stream)?;
    detector.begin_on_device(image.resident(), false)?;
    let waits = detector.may_read_again();
    let mut pending = CudaPending { detector: Some(detector), len: None };
    if waits {
        pending.complete()?;
    }
    pending.detector().device().stream().precede(stream)?;
    Ok(pending)
}

/// A queued detection on a device: see
/// [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream).
///
/// Dropping it waits for its end.
#[derive(Debug)]
pub struct CudaPending<'a> {
    /// None once it is finished.
    detector: Option<&'a mut AnyDetector>,
    /// The number of keypoints, once it is known.
    len: Option<usize>,
}

impl<'a> CudaPending<'a> {
    fn detector(&self) -> &AnyDetector {
        self.detector.as_deref().expect("there until it is finished")
    }

    /// Waits for the detection, and returns the number of keypoints.
    fn complete(&mut self) -> Result<usize, Error> {
        let _context = ContextGuard::save();
        let detector = self.detector.as_mut().expect("there until it is finished");
        let len = match self.len {
            Some(len) => Ok(len),
            None => detector.finish_on_device(),
        };
        // After a failure, too, nothing is left to wait for.
        self.len = Some(*len.as_ref().unwrap_or(&0));
        len
    }

    /// Returns the device address of the keypoints, in the format of [`CudaKeypoints::pointer`].
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.detector().keypoints_on_device().pointer()
    }

    /// Returns the device address of the number of keypoints that were found, a 32-bit word.
    ///
    /// The list has that many, but at most as many as the configuration allows.
    ///
    /// A number above [`CudaPending::capacity`] means that the list is not complete: no earlier
    /// image of this size had so many keypoints. [`CudaPending::finish`] then lists them again.
    #[must_use]
    pub fn count_pointer(&self) -> u64 {
        let (memory, at) = self.detector().count_on_device();
        memory.pointer() + at as u64
    }

    /// Returns the capacity of the list at [`CudaPending::pointer`], in keypoints.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.detector().keypoint_capacity()
    }

    /// Waits until the list is complete.
    ///
    /// # Errors
    /// See [`CudaDetector::detect_on_device`](crate::CudaDetector::detect_on_device).
    pub fn finish(mut self) -> Result<CudaKeypoints<'a>, Error> {
        let len = self.complete()?;
        let detector: &'a AnyDetector = self.detector.take().expect("there until it is finished");
        Ok(CudaKeypoints::new(detector, len))
    }
}

impl Drop for CudaPending<'_> {
    fn drop(&mut self) {
        if self.detector.is_some() {
            // Nobody is there to receive an error.
            let _ = self.complete();
        }
    }
}

/// Keypoints in a GPU's memory.
///
/// They are valid until the detector that found them starts on another image.
#[derive(Debug)]
pub struct CudaKeypoints<'a> {
    device: &'a CudaDevice,
    memory: &'a DeviceMemory,
    len: usize,
}

impl<'a> CudaKeypoints<'a> {
    /// Wraps the keypoints of a detector's last single image.
    pub(crate) fn new(detector: &'a AnyDetector, len: usize) -> Self {
        Self { device: detector.device(), memory: detector.keypoints_on_device(), len }
    }

    /// Returns the number of keypoints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the device address of the keypoints.
    ///
    /// Each has four 32-bit floats: x, y, scale and response. They are in the configuration's
    /// order.
    ///
    /// The list is complete: kernels on any stream can read it.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.memory.pointer()
    }

    /// Copies the keypoints to the host.
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the device fails.
    pub fn to_vec(&self) -> Result<Vec<Keypoint>, Error> {
        let mut words = memory::zeroed::<[f32; 4]>(self.len)?;
        if !words.is_empty() {
            self.device.stream().download(self.memory, bytemuck::cast_slice_mut(&mut words))?;
        }
        memory::collect(words.into_iter().map(|[x, y, scale, response]| Keypoint { x, y, scale, response }))
    }
}

/// A response map in a GPU's memory.
///
/// It is valid until the detector that computed it starts on another image.
#[derive(Debug)]
pub struct CudaResponses<'a> {
    detector: &'a mut GpuDetector<CudaDevice>,
    width: usize,
    height: usize,
}

impl<'a> CudaResponses<'a> {
    /// Wraps the response map of a detector's last image.
    pub(crate) fn new(detector: &'a mut GpuDetector<CudaDevice>, image: &CudaImage) -> Self {
        Self { detector, width: image.width, height: image.height }
    }

    /// Returns the image's width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the image's height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the device address of the map: one 32-bit float a pixel, row after row without gaps.
    ///
    /// The map is complete: kernels on any stream can read it.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.detector.responses_on_device().pointer()
    }

    /// Copies the map to the host, as an array of shape (height, width).
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the device fails, [`CudaError::OutOfMemory`].
    pub fn to_array(&mut self) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        let mut map = memory::zeros::<f32>((self.height, self.width))?;
        self.detector.read_responses(map.as_slice_mut().expect("a new array lies in rows"))?;
        Ok(map)
    }
}

/// A binary mask of keypoints in a GPU's memory: see
/// [`CudaDetector::keypoint_mask_on_device`](crate::CudaDetector::keypoint_mask_on_device).
///
/// It is valid until the detector starts on another image.
#[derive(Debug)]
pub struct CudaKeypointMask<'a, T: MaskSample> {
    detector: &'a mut GpuDetector<CudaDevice>,
    pointer: u64,
    width: usize,
    height: usize,
    samples: PhantomData<T>,
}

impl<'a, T: MaskSample> CudaKeypointMask<'a, T> {
    /// Wraps the keypoint mask of a detector's last image.
    pub(crate) fn new(detector: &'a mut GpuDetector<CudaDevice>, pointer: u64, image: &CudaImage) -> Self {
        Self { detector, pointer, width: image.width, height: image.height, samples: PhantomData }
    }

    /// Returns the image's width in pixels.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the image's height in pixels.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the device address of the mask: one sample a pixel, 0 or 1, row after row without
    /// gaps.
    ///
    /// The mask is complete: kernels on any stream can read it.
    #[must_use]
    pub fn pointer(&self) -> u64 {
        self.pointer
    }

    /// Copies the map to the host, as an array of shape (height, width).
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the device fails, [`CudaError::OutOfMemory`].
    pub fn to_array(&mut self) -> Result<Array2<T>, Error> {
        let _context = ContextGuard::save();
        let mut mask = memory::zeros::<T>((self.height, self.width))?;
        self.detector.read_keypoint_mask(mask.as_slice_mut().expect("a new array lies in rows"))?;
        Ok(mask)
    }
}
