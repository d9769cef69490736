//! The detector on CUDA.

use std::time::Duration;

use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, StageTimes};
use harris_gpu::{GpuDetector, GpuPipeline, Mark, MaskSample};
use ndarray::Array2;

use crate::device::CudaDevice;
use crate::driver::ContextGuard;
use crate::{
    AsCudaStream, CudaError, CudaImage, CudaKeypointMask, CudaKeypoints, CudaPending, CudaResponses, pipeline,
};

/// Stacks of a batch that are in flight on each device.
const BATCHES_IN_FLIGHT: usize = 4;

/// Harris on an NVIDIA GPU.
///
/// A detector has a stream and memory of its own, which it keeps from image to image; detectors on one device share its
/// primary context and its kernels, and may work at once on several threads. Images of more than half a
/// megabyte in ordinary memory are brought to pinned memory with the help of threads of rayon's current pool.
///
/// ```no_run
/// use harris_cuda::{CudaDetector, Detector, HarrisConfig, ImageView};
///
/// for device in harris_cuda::devices()? {
///     println!("{}: {}", device.ordinal, device.name);
/// }
/// let mut detector = CudaDetector::on_device(0, HarrisConfig::default())?;
/// let samples = vec![0.5_f32; 100 * 100];
/// assert_eq!(detector.detect(&ImageView::gray(&samples, 100, 100)?)?, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CudaDetector {
    inner: GpuDetector<CudaDevice>,
    /// The devices of batches.
    ordinals: Vec<u32>,
    /// Made with the first batch.
    batches: Option<GpuPipeline<CudaDevice, ()>>,
}

impl CudaDetector {
    /// A detector on the first device.
    ///
    /// # Errors
    /// A [`CudaError`](crate::CudaError) inside [`Error::Backend`]: no driver, no device, a driver or a device too old.
    pub fn new(config: HarrisConfig) -> Result<Self, Error> {
        Self::on_device(0, config)
    }

    /// A detector on device number `ordinal`, of those that [`devices`](crate::devices) lists.
    ///
    /// # Errors
    /// As [`CudaDetector::new`], and [`CudaError::NoSuchDevice`](crate::CudaError::NoSuchDevice).
    pub fn on_device(ordinal: u32, config: HarrisConfig) -> Result<Self, Error> {
        Self::on_devices(&[ordinal], config)
    }

    /// A detector whose batches ([`Detector::detect_batch`]) are spread over several devices; single images go to the first.
    ///
    /// # Errors
    /// As [`CudaDetector::on_device`], and [`CudaError::NoDeviceNamed`](crate::CudaError::NoDeviceNamed) where none is named.
    pub fn on_devices(ordinals: &[u32], config: HarrisConfig) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        let first = *ordinals.first().ok_or(CudaError::NoDeviceNamed)?;
        let mut device = CudaDevice::open(first)?;
        device.set_timed(false);
        let inner = GpuDetector::new(device, config);
        Ok(Self { inner, ordinals: ordinals.to_vec(), batches: None })
    }

    /// The same detector with one kernel a stage also where there is a fused one, for comparing them.
    #[must_use]
    pub fn staged(self) -> Self {
        Self { inner: self.inner.staged(), batches: None, ..self }
    }

    /// Whether the device's time is taken, for [`CudaDetector::device_time`] and [`CudaDetector::stage_times`]. It is not at first: an image
    /// takes two microseconds longer where it is.
    pub fn set_timed(&mut self, timed: bool) {
        self.inner.device_mut().set_timed(timed);
    }

    /// The corners of an image that is in the memory of the detector's device (the first of several), and that stay there. It
    /// returns when they are complete.
    ///
    /// # Errors
    /// [`CudaError::OtherDevice`](crate::CudaError::OtherDevice); else as [`Detector::detect`].
    pub fn detect_on_device(&mut self, image: &CudaImage) -> Result<CudaKeypoints<'_>, Error> {
        let _context = ContextGuard::save();
        self.check_ordinal(image)?;
        let len = self.inner.detect_on_device(image.resident())?;
        Ok(CudaKeypoints::new(&self.inner, len))
    }

    /// The same between work of others on the device, without waiting for it: behind what is queued on `stream` so far, which may write
    /// the image, and ahead of what is queued there later, which may read the keypoints, and write the image and its mask again. With corners
    /// between pixels, or a mask where there is no fused kernel, for which a list that had no room would need these again, this waits.
    ///
    /// ```no_run
    /// use harris_cuda::{CudaDetector, CudaImage, HarrisConfig};
    ///
    /// # let (decoded, stream) = (0_u64, std::ptr::null_mut::<std::ffi::c_void>());
    /// let mut detector = CudaDetector::new(HarrisConfig::default())?;
    /// // SAFETY: a decoder writes the image there, on the same stream.
    /// let image = unsafe { CudaImage::from_raw(0, decoded, 2048, 1920, 1080, 1) }?;
    /// // SAFETY: the stream is alive; nothing on another writes the image.
    /// let pending = unsafe { detector.detect_on_stream(&image, stream) }?;
    /// let (keypoints, count, room) = (pending.pointer(), pending.count_pointer(), pending.room());
    /// // Kernels on the stream may read them now, the first min(count, room); later:
    /// println!("{} corners", pending.finish()?.len());
    /// # Ok::<(), harris_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CudaDetector::detect_on_device`], and [`CudaError::Driver`](crate::CudaError::Driver) where `stream` is of another context.
    ///
    /// # Safety
    /// `stream` is alive. Until [`CudaPending::finish`], or until what is returned is dropped (it
    /// must not be forgotten), the image's memory stays, and its mask's, and only work on that stream writes there.
    #[allow(unsafe_code, reason = "whoever has the stream must promise that it is good")]
    pub unsafe fn detect_on_stream<'a>(
        &'a mut self,
        image: &'a CudaImage,
        stream: impl AsCudaStream,
    ) -> Result<CudaPending<'a>, Error> {
        let _context = ContextGuard::save();
        let stream = stream.as_cuda_stream();
        self.check_ordinal(image)?;
        self.inner.device().stream().follow(stream)?;
        self.inner.begin_on_device(image.resident())?;
        let waits = self.inner.may_look_again();
        let mut pending = CudaPending::new(&mut self.inner);
        if waits {
            pending.complete()?;
        }
        pending.precede(stream)?;
        Ok(pending)
    }

    /// The responses of an image that is in the memory of the detector's device (the first of several), and that stay there: what
    /// [`Detector::response`] returns, without a copy. A mask has no part in it. It returns when they are complete.
    ///
    /// ```no_run
    /// use harris_cuda::{CudaDetector, CudaImage, HarrisConfig, ImageView};
    ///
    /// let samples = vec![0_u8; 640 * 480];
    /// let image = CudaImage::upload(0, &ImageView::gray(&samples, 640, 480)?)?;
    /// let mut detector = CudaDetector::on_device(0, HarrisConfig::default())?;
    /// let mut responses = detector.response_on_device(&image)?;
    /// println!("{} floats at {:#x}", responses.width() * responses.height(), responses.pointer());
    /// assert_eq!(responses.to_array()?.dim(), (480, 640));
    /// # Ok::<(), harris_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CudaDetector::detect_on_device`].
    pub fn response_on_device(&mut self, image: &CudaImage) -> Result<CudaResponses<'_>, Error> {
        let _context = ContextGuard::save();
        self.check_ordinal(image)?;
        self.inner.respond_on_device(image.resident())?;
        Ok(CudaResponses::new(&mut self.inner, image))
    }

    /// The corners of an image that is in the memory of the detector's device (the first of several) as a binary mask, which stays
    /// there: as [`Detector::keypoint_mask`], with samples `T`, `u8` or `f32`. Corners are sought inside the image's own mask, if it has
    /// one. It returns when the mask of keypoints is complete.
    ///
    /// ```no_run
    /// use harris_cuda::{CudaDetector, CudaImage, HarrisConfig, ImageView};
    ///
    /// let samples = vec![0_u8; 640 * 480];
    /// let image = CudaImage::upload(0, &ImageView::gray(&samples, 640, 480)?)?;
    /// let mut detector = CudaDetector::on_device(0, HarrisConfig::default())?;
    /// let mut mask = detector.keypoint_mask_on_device::<u8>(&image)?;
    /// println!("{} bytes at {:#x}", mask.width() * mask.height(), mask.pointer());
    /// assert_eq!(mask.to_array()?.dim(), (480, 640));
    /// # Ok::<(), harris_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`CudaDetector::detect_on_device`].
    pub fn keypoint_mask_on_device<T: MaskSample>(
        &mut self,
        image: &CudaImage,
    ) -> Result<CudaKeypointMask<'_, T>, Error> {
        let _context = ContextGuard::save();
        self.check_ordinal(image)?;
        let count = self.inner.detect_on_device(image.resident())?;
        let pointer =
            self.inner.keypoint_mask_on_device::<T>(count, image.width(), image.height())?.pointer();
        Ok(CudaKeypointMask::new(&mut self.inner, pointer, image))
    }

    /// The number of the detector's device, the first of several.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinals[0]
    }

    fn check_ordinal(&self, image: &CudaImage) -> Result<(), CudaError> {
        let (image, detector) = (image.ordinal(), self.ordinals[0]);
        if image == detector { Ok(()) } else { Err(CudaError::OtherDevice { image, detector }) }
    }

    /// How long the device worked, by its own clock, on the last image that [`Detector::detect`], [`CudaDetector::detect_on_device`], or their
    /// counterparts for responses were given while times were taken: from the arrival of its last row in its memory to the complete list of
    /// keypoints, or map, there, without the transfers. Where the
    /// device works on the first rows of a large image while others are on their way, that is the rest of its work.
    ///
    /// # Errors
    /// [`CudaError::NotTimed`](crate::CudaError::NotTimed) without [`CudaDetector::set_timed`];
    /// [`CudaError::Driver`](crate::CudaError::Driver) where none was detected while they were.
    pub fn device_time(&self) -> Result<Duration, CudaError> {
        self.inner.device().time()
    }

    /// How long the device took for each stage of the last image that [`Detector::detect`] was given; `None` where a fused kernel
    /// did all at once, or all up to the response.
    ///
    /// # Errors
    /// [`CudaError::NotTimed`](crate::CudaError::NotTimed) without [`CudaDetector::set_timed`], where there are stages;
    /// [`CudaError::Driver`](crate::CudaError::Driver) where the device fails.
    pub fn stage_times(&self) -> Result<Option<StageTimes>, CudaError> {
        if !self.inner.in_stages() {
            return Ok(None);
        }
        let device = self.inner.device();
        Ok(Some(StageTimes {
            smoothing: device.between(Mark::Uploaded, Mark::Smoothed)?,
            gradient: device.between(Mark::Smoothed, Mark::Differentiated)?,
            tensor: device.between(Mark::Differentiated, Mark::Summed)?,
            response: device.between(Mark::Summed, Mark::Responded)?,
            suppression: device.between(Mark::Responded, Mark::Searched)?,
            selection: device.between(Mark::Searched, Mark::Listed)?,
        }))
    }
}

/// Errors of the device and of memory come as [`CudaError`](crate::CudaError), images that are too large as
/// [`GpuError`](crate::GpuError), both inside [`Error::Backend`].
impl Detector for CudaDetector {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        let _context = ContextGuard::save();
        self.inner.detect(image)
    }

    /// Several images are in flight at once, and those of one size and kind share launches.
    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        let _context = ContextGuard::save();
        let batches = match &mut self.batches {
            Some(batches) => batches,
            None => {
                let (config, staged) = (self.inner.config(), self.inner.is_staged());
                self.batches.insert(pipeline::open(config, &self.ordinals, BATCHES_IN_FLIGHT, staged)?)
            }
        };
        batches.detect_batch(images)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        self.inner.response(image)
    }

    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        let _context = ContextGuard::save();
        self.inner.response_into(image, map)
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}
