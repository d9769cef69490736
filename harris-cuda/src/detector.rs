//! The Harris detector on CUDA.

use std::time::Duration;

use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, StageTimes};
use harris_gpu::{DetectOnDevice, GpuDetector, GpuPipeline, Mark, MaskSample};
use ndarray::Array2;

use crate::device::CudaDevice;
use crate::driver::ContextGuard;
use crate::{
    AsCudaStream, CudaError, CudaImage, CudaKeypointMask, CudaKeypoints, CudaPending, CudaResponses,
    on_device, pipeline,
};

/// Groups of images of a batch that are in flight at once on each device.
const BATCHES_IN_FLIGHT: usize = 4;

/// A Harris detector on an NVIDIA GPU.
///
/// A detector owns a stream and memory, and reuses them from image to image. Detectors on one
/// device share its primary context and its kernels, and may run at the same time on several
/// threads.
///
/// Images of more than half a megabyte in ordinary memory are copied to pinned memory first.
/// Threads of rayon's current pool help with that copy.
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
    /// The devices that batches are distributed over.
    ordinals: Vec<u32>,
    /// Made when the first batch comes.
    batches: Option<GpuPipeline<GpuDetector<CudaDevice>, ()>>,
}

impl CudaDetector {
    /// Makes a detector on the first device.
    ///
    /// # Errors
    /// A [`CudaError`](crate::CudaError) inside [`Error::Backend`]: there is no driver or no
    /// device, or either of them is too old.
    pub fn new(config: HarrisConfig) -> Result<Self, Error> {
        Self::on_device(0, config)
    }

    /// Makes a detector on device number `ordinal` of the list that [`devices`](crate::devices)
    /// returns.
    ///
    /// # Errors
    /// The errors of [`CudaDetector::new`], and
    /// [`CudaError::NoSuchDevice`](crate::CudaError::NoSuchDevice).
    pub fn on_device(ordinal: u32, config: HarrisConfig) -> Result<Self, Error> {
        Self::on_devices(&[ordinal], config)
    }

    /// Makes a detector that distributes batches ([`Detector::detect_batch`]) over several devices.
    ///
    /// Single images go to the first.
    ///
    /// # Errors
    /// The errors of [`CudaDetector::on_device`], and
    /// [`CudaError::EmptyDeviceList`](crate::CudaError::EmptyDeviceList) if the list is empty.
    pub fn on_devices(ordinals: &[u32], config: HarrisConfig) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        let first = *ordinals.first().ok_or(CudaError::EmptyDeviceList)?;
        let mut device = CudaDevice::open(first)?;
        device.set_timed(false);
        let inner = GpuDetector::new(device, config);
        Ok(Self { inner, ordinals: ordinals.to_vec(), batches: None })
    }

    /// Makes the detector run one kernel for each stage, even where a fused kernel exists.
    ///
    /// Use it to compare the two.
    #[must_use]
    pub fn staged(self) -> Self {
        Self { inner: self.inner.staged(), batches: None, ..self }
    }

    /// Sets whether the device's time is measured, for [`CudaDetector::device_time`] and
    /// [`CudaDetector::stage_times`].
    ///
    /// The default is off: measuring adds two microseconds to an image.
    pub fn set_timed(&mut self, timed: bool) {
        self.inner.device_mut().set_timed(timed);
    }

    /// Finds the corners of an image in the memory of the detector's first device, and leaves them
    /// there.
    ///
    /// Returns when the list is complete.
    ///
    /// # Errors
    /// [`CudaError::OtherDevice`](crate::CudaError::OtherDevice), and the errors of
    /// [`Detector::detect`].
    pub fn detect_on_device(&mut self, image: &CudaImage) -> Result<CudaKeypoints<'_>, Error> {
        let ordinal = self.ordinal();
        on_device::detect(&mut self.inner, ordinal, image)
    }

    /// Queues a detection between other work on a CUDA stream, without waiting for it.
    ///
    /// - It runs after all work that is on `stream` so far. That work may write the image.
    /// - It runs before all work that is queued on `stream` later. That work may read the
    ///   keypoints, and may overwrite the image and its mask.
    ///
    /// The call waits for the result where a list that was too short could need the image again.
    /// That is so with subpixel refinement, and with a mask where no fused kernel serves the
    /// configuration.
    ///
    /// ```no_run
    /// use harris_cuda::{CudaDetector, CudaImage, HarrisConfig};
    ///
    /// # let (decoded, stream) = (0_u64, std::ptr::null_mut::<std::ffi::c_void>());
    /// let mut detector = CudaDetector::new(HarrisConfig::default())?;
    /// // SAFETY: a decoder writes the image there, on this stream.
    /// let image = unsafe { CudaImage::from_raw::<u8>(0, decoded, 2048, 1920, 1080, 1) }?;
    /// // SAFETY: the stream is alive; no other stream writes the image.
    /// let pending = unsafe { detector.detect_on_stream(&image, stream) }?;
    /// let (keypoints, count, capacity) = (pending.pointer(), pending.count_pointer(), pending.capacity());
    /// // Kernels on the stream may now read the first min(count, capacity) keypoints.
    /// // Later:
    /// println!("{} corners", pending.finish()?.len());
    /// # Ok::<(), harris_cuda::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`CudaDetector::detect_on_device`], and
    /// [`CudaError::Driver`](crate::CudaError::Driver) if `stream` is of another context.
    ///
    /// # Safety
    /// - `stream` is alive during the call, and is not being captured into a graph.
    /// - Until the result is finished or dropped, the memory of the image and of its mask stays
    ///   allocated, and only work on `stream` writes it.
    /// - The result must not be forgotten (`std::mem::forget`).
    #[allow(unsafe_code, reason = "the caller must promise that the stream is alive")]
    pub unsafe fn detect_on_stream<'a>(
        &'a mut self,
        image: &'a CudaImage,
        stream: impl AsCudaStream,
    ) -> Result<CudaPending<'a>, Error> {
        let ordinal = self.ordinal();
        on_device::detect_on_stream(&mut self.inner, ordinal, image, stream.as_cuda_stream())
    }

    /// Computes the response map of an image in the memory of the detector's first device, and
    /// leaves it there.
    ///
    /// Returns when the map is complete.
    ///
    /// The values are those of [`Detector::response`]. The image's mask is ignored.
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
        image.check_ordinal(self.ordinal())?;
        self.inner.respond_on_device(image.resident())?;
        Ok(CudaResponses::new(&mut self.inner, image))
    }

    /// Finds the corners of an image in the memory of the detector's first device, and draws them
    /// as a binary mask that stays there.
    ///
    /// Returns when the mask is complete.
    ///
    /// The mask is that of [`Detector::keypoint_mask`], with samples `T`: `u8` or `f32`. If the
    /// image has a mask of its own, corners are sought inside it.
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
        image.check_ordinal(self.ordinal())?;
        let count = self.inner.detect_on_device(image.resident())?;
        let pointer =
            self.inner.keypoint_mask_on_device::<T>(count, image.width(), image.height())?.pointer();
        Ok(CudaKeypointMask::new(&mut self.inner, pointer, image))
    }

    /// Returns the number of the detector's first device.
    #[must_use]
    pub fn ordinal(&self) -> u32 {
        self.ordinals[0]
    }

    /// Returns how long the device worked on the last image that was timed, by the device's own
    /// clock.
    ///
    /// The time runs from the arrival of the image's last row to the complete list of keypoints or
    /// response map in the device's memory. Transfers are not included. If the device starts on the
    /// first rows of a large image while others are copied, only the work after the last row
    /// counts.
    ///
    /// # Errors
    /// - [`CudaError::NotTimed`](crate::CudaError::NotTimed) without [`CudaDetector::set_timed`].
    /// - [`CudaError::Driver`](crate::CudaError::Driver) if no image came since times are measured.
    pub fn device_time(&self) -> Result<Duration, CudaError> {
        self.inner.device().time()
    }

    /// Returns how long the device took for each stage of the last image given to
    /// [`Detector::detect`].
    ///
    /// `None` if a fused kernel did several of them at once.
    ///
    /// # Errors
    /// - [`CudaError::NotTimed`](crate::CudaError::NotTimed) without [`CudaDetector::set_timed`],
    ///   if there are stages.
    /// - [`CudaError::Driver`](crate::CudaError::Driver) if the device fails.
    pub fn stage_times(&self) -> Result<Option<StageTimes>, CudaError> {
        if !self.inner.ran_staged() {
            return Ok(None);
        }
        let device = self.inner.device();
        let mut times = StageTimes::default();
        times.smoothing = device.between(Mark::Uploaded, Mark::Smoothed)?;
        times.gradient = device.between(Mark::Smoothed, Mark::Differentiated)?;
        times.tensor = device.between(Mark::Differentiated, Mark::Summed)?;
        times.response = device.between(Mark::Summed, Mark::Responded)?;
        times.suppression = device.between(Mark::Responded, Mark::Searched)?;
        times.selection = device.between(Mark::Searched, Mark::Done)?;
        Ok(Some(times))
    }
}

/// Failures of the device and its memory are [`CudaError`](crate::CudaError)s, and images that are
/// too large are [`GpuError`](crate::GpuError)s. Both come inside [`Error::Backend`].
impl Detector for CudaDetector {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        let _context = ContextGuard::save();
        self.inner.detect(image)
    }

    /// Several images are in flight at once. Images of one size and type share launches.
    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        let _context = ContextGuard::save();
        let batches = match &mut self.batches {
            Some(batches) => batches,
            None => {
                let (config, staged) = (self.inner.config(), self.inner.is_staged());
                let worker = |device| {
                    let detector = GpuDetector::new(device, config.clone());
                    if staged { detector.staged() } else { detector }
                };
                let workers = |devices: Vec<CudaDevice>| devices.into_iter().map(worker).collect();
                self.batches.insert(pipeline::open(workers, &self.ordinals, BATCHES_IN_FLIGHT)?)
            }
        };
        batches.run_batch(images)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        self.inner.response(image)
    }

    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        let _context = ContextGuard::save();
        self.inner.response_into(image, map)
    }

    /// Frees memory of the devices, and pinned memory.
    fn shrink_to_fit(&mut self) {
        let _context = ContextGuard::save();
        self.batches = None;
        self.inner.shrink_to_fit();
        self.inner.device_mut().shrink_to_fit();
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}
