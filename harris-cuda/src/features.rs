//! Blobs, descriptors and matches on CUDA.

use std::time::Duration;

use harris_core::fast_hessian::{FastHessianConfig, StepTimes};
use harris_core::matching::{Match, MatchConfig, Matcher};
use harris_core::surf::{Extractor, SurfConfig};
use harris_core::{Detector, Error, ImageView, Keypoint};
use harris_gpu::{GpuFastHessian, GpuMatcher, GpuSurf, Mark};
use ndarray::{Array2, ArrayView2};

use crate::CudaError;
use crate::device::CudaDevice;
use crate::driver::ContextGuard;

/// The constructors of a type around one of harris-gpu's, and the device's time.
macro_rules! on_cuda {
    ($type:ident, $inner:ident, $config:ty) => {
        impl $type {
            /// On the first device.
            ///
            /// # Errors
            /// A [`CudaError`] inside [`Error::Backend`]: no driver, no device, a driver or a device too old.
            pub fn new(config: $config) -> Result<Self, Error> {
                Self::on_device(0, config)
            }

            /// On device number `ordinal`, of those that [`devices`](crate::devices) lists.
            ///
            /// # Errors
            /// As `new`, and [`CudaError::NoSuchDevice`].
            pub fn on_device(ordinal: u32, config: $config) -> Result<Self, Error> {
                let _context = ContextGuard::save();
                Ok(Self { inner: $inner::new(CudaDevice::open(ordinal)?, config) })
            }

            /// How long the device worked on the last call: from the input's arrival in its memory to the complete result
            /// there, without the transfers.
            ///
            /// # Errors
            /// [`CudaError::Driver`] where there was no call yet.
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
}

on_cuda!(CudaFastHessian, GpuFastHessian, FastHessianConfig);

impl CudaFastHessian {
    /// How long the device took for each step of the last image; the list includes the host's look at its length.
    ///
    /// # Errors
    /// As [`CudaFastHessian::device_time`].
    pub fn step_times(&self) -> Result<StepTimes, CudaError> {
        let device = self.inner.device();
        Ok(StepTimes {
            integral: device.between(Mark::Uploaded, Mark::Integrated)?,
            responses: device.between(Mark::Integrated, Mark::Responded)?,
            peaks: device.between(Mark::Responded, Mark::Searched)?,
            list: device.between(Mark::Searched, Mark::Listed)?,
        })
    }
}

/// Errors of the device and of memory come as [`CudaError`](crate::CudaError), images that are too large as
/// [`GpuError`](crate::GpuError), both inside [`Error::Backend`].
impl Detector for CudaFastHessian {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        let _context = ContextGuard::save();
        self.inner.detect(image)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        self.inner.response(image)
    }

    fn rejected_peaks(&self) -> Option<usize> {
        self.inner.rejected_peaks()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

/// The SURF descriptor on an NVIDIA GPU.
#[derive(Debug)]
pub struct CudaSurf {
    inner: GpuSurf<CudaDevice>,
}

on_cuda!(CudaSurf, GpuSurf, SurfConfig);

impl Extractor for CudaSurf {
    fn extract(&mut self, image: &ImageView<'_>, keypoints: &[Keypoint]) -> Result<Array2<f32>, Error> {
        let _context = ContextGuard::save();
        self.inner.extract(image, keypoints)
    }
}

/// Exact matching on an NVIDIA GPU.
///
/// With cross check, [`CudaMatcher::device_time`] includes bringing back the nearest of one direction.
#[derive(Debug)]
pub struct CudaMatcher {
    inner: GpuMatcher<CudaDevice>,
}

on_cuda!(CudaMatcher, GpuMatcher, MatchConfig);

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
