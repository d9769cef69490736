//! SURF on CUDA: the Fast-Hessian detector, descriptors, both in one call, and matching.

use std::time::Duration;

use harris_core::fast_hessian::{FastHessianConfig, StepTimes};
use harris_core::features::{DetectAndDescribe, FeatureConfig, Features};
use harris_core::matching::{Match, MatchConfig, Matcher};
use harris_core::surf::{Extractor, SurfConfig};
use harris_core::{Detector, Error, ImageView, Keypoint};
use harris_gpu::{GpuFastHessian, GpuFeatures, GpuMatcher, GpuPipeline, GpuSurf, Mark};
use ndarray::{Array2, ArrayView2};

use crate::device::CudaDevice;
use crate::driver::ContextGuard;
use crate::pipeline::task::{Task, TaskDevice, Worker};
use crate::pipeline::{self, DEFAULT_IN_FLIGHT};
use crate::{AsCudaStream, CudaError, CudaImage, CudaKeypoints, CudaPending, on_device};

/// Defines the constructors of a type that wraps one of harris-gpu, and its device time.
macro_rules! on_cuda {
    ($type:ident, $inner:ident, $config:ty) => {
        impl $type {
            /// Returns the number of its device.
            #[must_use]
            pub fn ordinal(&self) -> u32 {
                self.ordinal
            }

            /// Uses the first device.
            ///
            /// # Errors
            /// A [`CudaError`] inside [`Error::Backend`]: there is no driver or no device, or
            /// either of them is too old.
            pub fn new(config: $config) -> Result<Self, Error> {
                Self::on_device(0, config)
            }

            /// Uses device number `ordinal` of the list that [`devices`](crate::devices) returns.
            ///
            /// # Errors
            /// The errors of `new`, and [`CudaError::NoSuchDevice`].
            pub fn on_device(ordinal: u32, config: $config) -> Result<Self, Error> {
                let _context = ContextGuard::save();
                Ok(Self::on(ordinal, $inner::new(CudaDevice::open(ordinal)?, config.clone()), config))
            }

            /// Returns how long the device worked on the last call: from the input's arrival in its
            /// memory to the complete result there.
            ///
            /// Transfers are not included.
            ///
            /// # Errors
            /// [`CudaError::Driver`] if there was no call yet.
            pub fn device_time(&self) -> Result<Duration, CudaError> {
                self.inner.device().time()
            }
        }
    };
}

/// SURF's Fast-Hessian detector on an NVIDIA GPU.
///
/// ```no_run
/// use harris_cuda::harris_core::fast_hessian::FastHessianConfig;
/// use harris_cuda::{CudaFastHessian, Detector, ImageView};
///
/// let samples = vec![0_u8; 640 * 480];
/// let mut detector = CudaFastHessian::new(FastHessianConfig::default())?;
/// let blobs = detector.detect(&ImageView::gray(&samples, 640, 480)?)?;
/// # Ok::<(), harris_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct CudaFastHessian {
    inner: GpuFastHessian<CudaDevice>,
    ordinal: u32,
    batches: Batches<FastHessianConfig>,
}

on_cuda!(CudaFastHessian, GpuFastHessian, FastHessianConfig);

impl CudaFastHessian {
    fn on(ordinal: u32, inner: GpuFastHessian<CudaDevice>, config: FastHessianConfig) -> Self {
        Self { inner, ordinal, batches: Batches::new(ordinal, config) }
    }

    /// Finds the blobs of an image in the memory of the detector's device, and leaves them there.
    ///
    /// Returns when the list is complete.
    ///
    /// Samples that are floats are to be in 0..=1. They are not checked.
    ///
    /// # Errors
    /// [`CudaError::OtherDevice`], and the errors of [`Detector::detect`].
    pub fn detect_on_device(&mut self, image: &CudaImage) -> Result<CudaKeypoints<'_>, Error> {
        on_device::detect(&mut self.inner, self.ordinal, image)
    }

    /// Queues a detection between other work on a CUDA stream, without waiting for it.
    ///
    /// The order of work is that of
    /// [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream).
    ///
    /// The call waits for the result if the image has a mask, which a list that was too short could
    /// need again.
    ///
    /// # Errors
    /// The errors of [`CudaFastHessian::detect_on_device`], and [`CudaError::Driver`] if `stream`
    /// is of another context.
    ///
    /// # Safety
    /// The conditions of [`CudaDetector::detect_on_stream`](crate::CudaDetector::detect_on_stream).
    #[allow(unsafe_code, reason = "the caller must promise that the stream is alive")]
    pub unsafe fn detect_on_stream<'a>(
        &'a mut self,
        image: &'a CudaImage,
        stream: impl AsCudaStream,
    ) -> Result<CudaPending<'a>, Error> {
        on_device::detect_on_stream(&mut self.inner, self.ordinal, image, stream.as_cuda_stream())
    }

    /// Returns how long the device took for each step of the last image.
    ///
    /// The step `list` includes the time in which the host reads the list's length.
    ///
    /// # Errors
    /// See [`CudaFastHessian::device_time`].
    pub fn step_times(&self) -> Result<StepTimes, CudaError> {
        let device = self.inner.device();
        let mut times = StepTimes::default();
        times.integral = device.between(Mark::Uploaded, Mark::Integrated)?;
        times.responses = device.between(Mark::Integrated, Mark::Responded)?;
        times.peaks = device.between(Mark::Responded, Mark::Searched)?;
        times.list = device.between(Mark::Searched, Mark::Done)?;
        Ok(times)
    }
}

/// Failures of the device and its memory are [`CudaError`](crate::CudaError)s, and images that are
/// too large are [`GpuError`](crate::GpuError)s. Both come inside [`Error::Backend`].
impl Detector for CudaFastHessian {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        let _context = ContextGuard::save();
        self.inner.detect(image)
    }

    /// Several images are in flight at a time.
    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        let _context = ContextGuard::save();
        self.batches.run(images)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        self.inner.response(image)
    }

    fn shrink_to_fit(&mut self) {
        let _context = ContextGuard::save();
        self.inner.shrink_to_fit();
        self.batches.close();
    }

    fn rejected_peaks(&self) -> Option<usize> {
        self.inner.rejected_peaks()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

/// Corners or blobs with SURF descriptors, on an NVIDIA GPU.
///
/// The image is uploaded once, and its integral image computed once. Keypoints are described on the
/// device, and the lists come back together.
///
/// ```no_run
/// use harris_cuda::harris_core::features::{DetectAndDescribe, FeatureConfig};
/// use harris_cuda::{CudaFeatures, ImageView};
///
/// let samples = vec![0_u8; 640 * 480];
/// let mut features = CudaFeatures::new(FeatureConfig::default())?;
/// let found = features.detect_and_describe(&ImageView::gray(&samples, 640, 480)?)?;
/// println!("{} keypoints", found.keypoints.len());
/// # Ok::<(), harris_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct CudaFeatures {
    inner: GpuFeatures<CudaDevice>,
    ordinal: u32,
    batches: Batches<FeatureConfig>,
}

on_cuda!(CudaFeatures, GpuFeatures, FeatureConfig);

impl CudaFeatures {
    fn on(ordinal: u32, inner: GpuFeatures<CudaDevice>, config: FeatureConfig) -> Self {
        Self { inner, ordinal, batches: Batches::new(ordinal, config) }
    }

    /// Returns what works, and the number of its device.
    pub(crate) fn inner_and_ordinal(&mut self) -> (&mut GpuFeatures<CudaDevice>, u32) {
        (&mut self.inner, self.ordinal)
    }
}

impl DetectAndDescribe for CudaFeatures {
    fn detect_and_describe(&mut self, image: &ImageView<'_>) -> Result<Features, Error> {
        let _context = ContextGuard::save();
        self.inner.detect_and_describe(image)
    }

    /// Several images are in flight at a time.
    fn detect_and_describe_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Features>, Error> {
        let _context = ContextGuard::save();
        self.batches.run(images)
    }

    fn shrink_to_fit(&mut self) {
        let _context = ContextGuard::save();
        self.inner.shrink_to_fit();
        self.batches.close();
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

/// A pipeline for batches, which is made when the first one comes.
#[derive(Debug)]
struct Batches<C: Task> {
    ordinal: u32,
    config: C,
    pipeline: Option<GpuPipeline<Worker<C::Result>, ()>>,
}

impl<C: Task> Batches<C> {
    fn new(ordinal: u32, config: C) -> Self {
        Self { ordinal, config, pipeline: None }
    }

    fn run(&mut self, images: &[ImageView<'_>]) -> Result<Vec<C::Result>, Error> {
        let pipeline = match &mut self.pipeline {
            Some(pipeline) => pipeline,
            None => {
                let workers = |devices: Vec<CudaDevice>| {
                    self.config.workers(devices.into_iter().map(TaskDevice).collect())
                };
                self.pipeline.insert(pipeline::open(workers, &[self.ordinal], DEFAULT_IN_FLIGHT)?)
            }
        };
        pipeline.run_batch(images)
    }

    /// Frees the device's memory.
    fn close(&mut self) {
        self.pipeline = None;
    }
}

/// A SURF descriptor extractor on an NVIDIA GPU.
#[derive(Debug)]
pub struct CudaSurf {
    inner: GpuSurf<CudaDevice>,
    ordinal: u32,
}

on_cuda!(CudaSurf, GpuSurf, SurfConfig);

impl CudaSurf {
    fn on(ordinal: u32, inner: GpuSurf<CudaDevice>, _: SurfConfig) -> Self {
        Self { inner, ordinal }
    }
}

impl Extractor for CudaSurf {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        self.inner.extract(image, keypoints)
    }

    fn shrink_to_fit(&mut self) {
        let _context = ContextGuard::save();
        self.inner.shrink_to_fit();
    }
}

/// An exact descriptor matcher on an NVIDIA GPU.
///
/// With cross-check, [`CudaMatcher::device_time`] includes the copy of one direction's nearest
/// neighbours to the host.
#[derive(Debug)]
pub struct CudaMatcher {
    inner: GpuMatcher<CudaDevice>,
    ordinal: u32,
}

on_cuda!(CudaMatcher, GpuMatcher, MatchConfig);

impl CudaMatcher {
    fn on(ordinal: u32, inner: GpuMatcher<CudaDevice>, _: MatchConfig) -> Self {
        Self { inner, ordinal }
    }

    /// Returns what works, and the number of its device.
    pub(crate) fn inner_and_ordinal(&mut self) -> (&mut GpuMatcher<CudaDevice>, u32) {
        (&mut self.inner, self.ordinal)
    }
}

impl Matcher for CudaMatcher {
    fn matches(
        &mut self,
        query: ArrayView2<'_, f32>,
        train: ArrayView2<'_, f32>,
    ) -> Result<Vec<Match>, Error> {
        let _context = ContextGuard::save();
        self.inner.matches(query, train)
    }
}
