//! `harris.FastHessian`: finds blobs.

use harris::cpu::CpuFastHessian;
use harris::cuda::CudaFastHessian;
use harris::fast_hessian::{FastHessianConfig as LibraryConfig, ReferenceFastHessian};
use harris::{Backend, Error};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::backend::BackendChoice;
use crate::detection::{self, HasDetector, host_image, host_images};
use crate::errors::Result;
use crate::fast_hessian_config::{FastHessianConfig, read};
use crate::session::{Recipe, Session};

/// How a detector is made.
pub(crate) struct FastHessianRecipe {
    config: LibraryConfig,
    backend: BackendChoice,
}

impl HasDetector for Box<dyn harris::Detector> {
    fn detector(&mut self) -> &mut dyn harris::Detector {
        &mut **self
    }
}

impl Recipe for FastHessianRecipe {
    type Made = Box<dyn harris::Detector>;

    fn make(&self) -> Result<Self::Made, Error> {
        let config = self.config.clone();
        Ok(match (self.backend.backend, self.backend.threads) {
            (Backend::Reference, _) => Box::new(ReferenceFastHessian::new(config)),
            (Backend::Cuda { device }, _) => Box::new(CudaFastHessian::on_device(device, config)?),
            (Backend::Cpu | Backend::Auto, None) => Box::new(CpuFastHessian::new(config)),
            (Backend::Cpu | Backend::Auto, Some(threads)) => {
                Box::new(CpuFastHessian::with_threads(config, threads)?)
            }
        })
    }

    fn describe(&self, made: &Self::Made) -> String {
        made.describe()
    }
}

/// SURF's blob detector (Fast-Hessian) on the CPU or on a GPU.
///
/// Threads, forks and pickling are as in `Detector`.
///
/// Parameters
/// ----------
/// config : str or FastHessianConfig, default "default"
///     A name of `FastHessianConfig.presets`, or a configuration.
/// backend, threads, device
///     As in `Detector`.
/// **changes
///     Changes to the configuration: the parameters of `FastHessianConfig`.
///
/// Raises
/// ------
/// ConfigError
///     A value of the configuration is out of range, or an option belongs to another backend.
/// BackendError
///     The backend cannot be used.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import harris
/// >>> y, x = np.mgrid[:64, :64]
/// >>> disc = np.where((x - 32) ** 2 + (y - 30) ** 2 <= 36, 255, 0).astype(np.uint8)
/// >>> blobs = harris.FastHessian(max_keypoints=1).detect(disc)
/// >>> np.round(blobs.xy).tolist()
/// [[32.0, 30.0]]
#[pyclass(module = "harris", frozen)]
pub(crate) struct FastHessian {
    session: Session<FastHessianRecipe>,
}

#[pymethods]
impl FastHessian {
    #[new]
    #[pyo3(signature = (config=None, *, backend="auto", threads=None, device=None, **changes))]
    fn new(
        py: Python<'_>,
        config: Option<&Bound<'_, PyAny>>,
        backend: &str,
        threads: Option<i64>,
        device: Option<i64>,
        changes: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let config = read("FastHessian", config, changes)?;
        let chosen = BackendChoice::of(backend, threads, device)?;
        let recipe = |backend| FastHessianRecipe { config: config.clone(), backend };
        Ok(Self { session: Session::open(py, chosen, recipe)? })
    }

    /// Find the blobs of an image.
    ///
    /// Parameters
    /// ----------
    /// image : array_like
    ///     An image as in `Detector.detect`. Samples of float32 are in 0..1.
    /// mask : array_like, optional
    ///     uint8 or bool of shape (H, W): blobs are sought where it is not zero.
    ///
    /// Returns
    /// -------
    /// Keypoints
    ///     The blobs, the strongest first.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> len(harris.FastHessian().detect(np.zeros((64, 64), np.uint8)))
    /// 0
    #[pyo3(signature = (image, mask=None))]
    fn detect<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        Ok(detection::detect(py, &self.session, &host_image(image, mask)?)?)
    }

    /// Find the blobs of several images. Sizes and types may differ.
    ///
    /// Parameters
    /// ----------
    /// images : iterable of array_like
    ///     Images as in `detect`.
    /// masks : iterable of array_like or None, optional
    ///     A mask or None for each image.
    ///
    /// Returns
    /// -------
    /// list of Keypoints
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> [len(found) for found in harris.FastHessian().detect_batch(np.zeros((2, 64, 64), np.uint8))]
    /// [0, 0]
    #[pyo3(signature = (images, masks=None))]
    fn detect_batch<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        masks: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let images = host_images(images, masks)?;
        let limits = self.session.recipe().backend.chunk_limits();
        Ok(detection::detect_batch(py, &self.session, &images, limits)?)
    }

    /// Compute the determinants under the smallest filter.
    ///
    /// Parameters
    /// ----------
    /// image : array_like
    ///     An image as in `detect`.
    /// out : ndarray, optional
    ///     An array for the result, as in `Detector.response`.
    ///
    /// Returns
    /// -------
    /// ndarray
    ///     float32 of shape (H, W).
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> harris.FastHessian().response(np.zeros((48, 64), np.uint8)).shape
    /// (48, 64)
    #[pyo3(signature = (image, out=None))]
    fn response<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(detection::response(py, &self.session, image, out)?)
    }

    /// The backend and its hardware, as in ``"cpu: 8 threads, avx512"``.
    #[getter]
    fn backend(&self) -> &str {
        self.session.description()
    }

    /// The configuration.
    #[getter]
    fn config(&self) -> FastHessianConfig {
        FastHessianConfig { config: self.session.recipe().config.clone() }
    }

    /// Whether `close` was called.
    #[getter]
    fn closed(&self) -> bool {
        self.session.is_closed()
    }

    /// Free the detector's memory and threads. A second call does nothing.
    fn close(&self, py: Python<'_>) {
        self.session.close(py);
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.session.close(py);
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<harris.FastHessian on {}, {}>", self.session.description(), self.config().__repr__(py)?))
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((FastHessianConfig,), Bound<'py, PyDict>)> {
        Ok(((self.config(),), self.session.recipe().backend.arguments(py)?))
    }
}
