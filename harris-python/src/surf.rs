//! `harris.Surf` describes keypoints, and `harris.Features` finds and describes them.

use harris::cpu::{CpuFeatures, CpuSurf};
use harris::cuda::{CudaFeatures, CudaSurf};
use harris::fast_hessian::FastHessianConfig as LibraryFastHessian;
use harris::features::{
    DetectAndDescribe, DetectorConfig, FeatureConfig, Features as Found, ReferenceFeatures,
};
use harris::surf::{Extractor, ReferenceSurf, SurfConfig};
use harris::{Backend, Error};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::Copies;
use crate::backend::BackendChoice;
use crate::config::{Config, read};
use crate::detection::{host_image, host_images, in_chunks};
use crate::errors::{Failure, Result};
use crate::fast_hessian_config::FastHessianConfig;
use crate::keypoints::{keypoints, read_keypoints};
use crate::session::{Recipe, Session};

/// Reads the options of the descriptor.
fn surf_config(upright: bool, magnification: f32) -> Result<SurfConfig> {
    Ok(SurfConfig::builder().upright(upright).magnification(magnification).build()?)
}

/// How an extractor is made.
struct SurfRecipe {
    config: SurfConfig,
    backend: BackendChoice,
}

impl Recipe for SurfRecipe {
    type Made = Box<dyn Extractor>;

    fn make(&self) -> Result<Self::Made, Error> {
        let config = self.config.clone();
        Ok(match (self.backend.backend, self.backend.threads) {
            (Backend::Reference, _) => Box::new(ReferenceSurf::new(config)),
            (Backend::Cuda { device }, _) => Box::new(CudaSurf::on_device(device, config)?),
            (Backend::Cpu | Backend::Auto, None) => Box::new(CpuSurf::new(config)),
            (Backend::Cpu | Backend::Auto, Some(threads)) => {
                Box::new(CpuSurf::with_threads(config, threads)?)
            }
        })
    }

    fn describe(&self, _: &Self::Made) -> String {
        self.backend.backend.to_string()
    }
}

/// How a detector with an extractor is made.
struct FeaturesRecipe {
    config: FeatureConfig,
    backend: BackendChoice,
}

impl Recipe for FeaturesRecipe {
    type Made = Box<dyn DetectAndDescribe>;

    fn make(&self) -> Result<Self::Made, Error> {
        let config = self.config.clone();
        Ok(match (self.backend.backend, self.backend.threads) {
            (Backend::Reference, _) => Box::new(ReferenceFeatures::new(config)),
            (Backend::Cuda { device }, _) => Box::new(CudaFeatures::on_device(device, config)?),
            (Backend::Cpu | Backend::Auto, None) => Box::new(CpuFeatures::new(config)),
            (Backend::Cpu | Backend::Auto, Some(threads)) => {
                Box::new(CpuFeatures::with_threads(config, threads)?)
            }
        })
    }

    fn describe(&self, made: &Self::Made) -> String {
        made.describe()
    }
}

/// The SURF descriptor on the CPU or on a GPU.
///
/// Threads, forks and pickling are as in `Detector`.
///
/// Parameters
/// ----------
/// upright : bool, default False
///     Whether windows stay upright. They are then not rotated with the image, and faster.
/// magnification : float, default 1.0
///     Factor of the keypoints' scales, 0.1 to 64. A window is 24 scales wide. Corners have the
///     scale 1: choose 2.5 or so for them.
/// backend, threads, device
///     As in `Detector`.
///
/// Raises
/// ------
/// ConfigError
///     The magnification is out of range, or an option belongs to another backend.
/// BackendError
///     The backend cannot be used.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import harris
/// >>> image = np.zeros((48, 64), np.uint8)
/// >>> image[12:36, 16:40] = 255
/// >>> corners = harris.Detector().detect(image)
/// >>> harris.Surf(magnification=2.5).extract(image, corners).shape
/// (4, 64)
#[pyclass(module = "harris", frozen)]
pub(crate) struct Surf {
    session: Session<SurfRecipe>,
}

#[pymethods]
impl Surf {
    #[new]
    #[pyo3(signature = (*, upright=false, magnification=1.0, backend="auto", threads=None, device=None))]
    fn new(
        py: Python<'_>,
        upright: bool,
        magnification: f32,
        backend: &str,
        threads: Option<i64>,
        device: Option<i64>,
    ) -> PyResult<Self> {
        let config = surf_config(upright, magnification)?;
        let chosen = BackendChoice::of(backend, threads, device)?;
        let recipe = |backend| SurfRecipe { config: config.clone(), backend };
        Ok(Self { session: Session::open(py, chosen, recipe)? })
    }

    /// Describe keypoints of an image.
    ///
    /// Parameters
    /// ----------
    /// image : array_like
    ///     An image as in `Detector.detect`. Samples of float32 are in 0..1.
    /// keypoints : Keypoints or array_like
    ///     Keypoints, or an array of shape (N, 4) with x, y, scale and response, or (N, 2).
    ///
    /// Returns
    /// -------
    /// ndarray
    ///     float32 of shape (N, 64): row i describes keypoint i, and has length 1, or is 0 where the
    ///     image is flat.
    ///
    /// Raises
    /// ------
    /// InputError
    ///     A keypoint lies outside the image, or its scale is too large.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> image = np.random.default_rng(1).integers(0, 256, (64, 64), np.uint8)
    /// >>> descriptors = harris.Surf().extract(image, [[30, 30], [40, 20]])
    /// >>> np.allclose(np.linalg.norm(descriptors, axis=1), 1)
    /// True
    fn extract<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        keypoints: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (image, keypoints) = (host_image(image, None)?, read_keypoints(keypoints)?);
        let view = image.view()?;
        let descriptors = self.session.run(py, |extractor| {
            let mut copies = Copies::default();
            Ok(extractor.extract(&view.image(&mut copies)?, &keypoints)?)
        })?;
        Ok(PyArray2::from_owned_array(py, descriptors))
    }

    /// Whether windows stay upright.
    #[getter]
    fn upright(&self) -> bool {
        self.session.recipe().config.upright()
    }

    /// Factor of the keypoints' scales.
    #[getter]
    fn magnification(&self) -> f32 {
        self.session.recipe().config.magnification()
    }

    /// The backend, as in ``"cpu"`` or ``"cuda:0"``.
    #[getter]
    fn backend(&self) -> &str {
        self.session.description()
    }

    /// Whether `close` was called.
    #[getter]
    fn closed(&self) -> bool {
        self.session.is_closed()
    }

    /// Free the extractor's memory and threads. A second call does nothing.
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

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((), Bound<'py, PyDict>)> {
        let arguments = self.session.recipe().backend.arguments(py)?;
        arguments.set_item("upright", self.upright())?;
        arguments.set_item("magnification", self.magnification())?;
        Ok(((), arguments))
    }
}

/// A detector with the SURF descriptor: both in one call, on the CPU or on a GPU.
///
/// A GPU gets the image once. Threads, forks and pickling are as in `Detector`.
///
/// Parameters
/// ----------
/// detector : FastHessianConfig, Config or str, optional
///     The configuration of the detector: of blobs, or of corners (also by the name of a preset). By
///     default blobs.
/// upright, magnification
///     As in `Surf`.
/// backend, threads, device
///     As in `Detector`.
///
/// Raises
/// ------
/// ConfigError
///     The magnification is out of range, or an option belongs to another backend.
/// BackendError
///     The backend cannot be used.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import harris
/// >>> image = np.zeros((48, 64), np.uint8)
/// >>> image[12:36, 16:40] = 255
/// >>> features = harris.Features(harris.Config(), magnification=2.5)
/// >>> keypoints, descriptors = features.detect_and_describe(image)
/// >>> len(keypoints), descriptors.shape
/// (4, (4, 64))
#[pyclass(module = "harris", frozen)]
pub(crate) struct Features {
    session: Session<FeaturesRecipe>,
}

/// Python's pair of keypoints and descriptors.
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray2<f32>>);

fn pair(py: Python<'_>, found: Found) -> Result<Pair<'_>> {
    Ok((keypoints(py, found.keypoints)?, PyArray2::from_owned_array(py, found.descriptors)))
}

#[pymethods]
impl Features {
    #[new]
    #[pyo3(signature = (detector=None, *, upright=false, magnification=1.0, backend="auto", threads=None, device=None))]
    fn new(
        py: Python<'_>,
        detector: Option<&Bound<'_, PyAny>>,
        upright: bool,
        magnification: f32,
        backend: &str,
        threads: Option<i64>,
        device: Option<i64>,
    ) -> PyResult<Self> {
        let surf = surf_config(upright, magnification)?;
        let config = match detector {
            None => FeatureConfig::new(DetectorConfig::FastHessian(LibraryFastHessian::default()), surf),
            Some(detector) => match detector.cast::<FastHessianConfig>() {
                Ok(config) => FeatureConfig::new(config.get().config.clone(), surf),
                Err(_) if detector.is_instance_of::<Config>() || detector.extract::<&str>().is_ok() => {
                    FeatureConfig::new(read("Features", Some(detector), None)?, surf)
                }
                Err(_) => {
                    let text = "a detector is a harris.Config, a harris.FastHessianConfig or a preset's name";
                    return Err(Failure::InputType(text.to_owned()).into());
                }
            },
        };
        let chosen = BackendChoice::of(backend, threads, device)?;
        let recipe = |backend| FeaturesRecipe { config: config.clone(), backend };
        Ok(Self { session: Session::open(py, chosen, recipe)? })
    }

    /// Find the keypoints of an image, and describe them.
    ///
    /// Parameters
    /// ----------
    /// image : array_like
    ///     An image as in `Detector.detect`. Samples of float32 are in 0..1.
    /// mask : array_like, optional
    ///     uint8 or bool of shape (H, W): keypoints are sought where it is not zero.
    ///
    /// Returns
    /// -------
    /// keypoints : Keypoints
    /// descriptors : ndarray
    ///     float32 of shape (N, 64): row i describes keypoint i.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> keypoints, descriptors = harris.Features().detect_and_describe(np.zeros((64, 64), np.uint8))
    /// >>> len(keypoints), descriptors.shape
    /// (0, (0, 64))
    #[pyo3(signature = (image, mask=None))]
    fn detect_and_describe<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Pair<'py>> {
        let image = host_image(image, mask)?;
        let view = image.view()?;
        let found = self.session.run(py, |features| {
            let mut copies = Copies::default();
            Ok(features.detect_and_describe(&view.image(&mut copies)?)?)
        })?;
        Ok(pair(py, found)?)
    }

    /// Find and describe the keypoints of several images. Sizes and types may differ.
    ///
    /// Parameters
    /// ----------
    /// images : iterable of array_like
    ///     Images as in `detect_and_describe`.
    /// masks : iterable of array_like or None, optional
    ///     A mask or None for each image.
    ///
    /// Returns
    /// -------
    /// list of (Keypoints, ndarray)
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> found = harris.Features().detect_and_describe_batch(np.zeros((2, 64, 64), np.uint8))
    /// >>> [descriptors.shape for _, descriptors in found]
    /// [(0, 64), (0, 64)]
    #[pyo3(signature = (images, masks=None))]
    fn detect_and_describe_batch<'py>(
        &self,
        py: Python<'py>,
        images: &Bound<'py, PyAny>,
        masks: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let images = host_images(images, masks)?;
        let limits = self.session.recipe().backend.chunk_limits();
        let found = in_chunks(py, &self.session, &images, limits, |features, images| {
            features.detect_and_describe_batch(images)
        })?;
        PyList::new(py, found.into_iter().map(|found| pair(py, found)).collect::<Result<Vec<_>>>()?)
    }

    /// The detector's configuration.
    #[getter]
    fn detector<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.session.recipe().config.detector.clone() {
            DetectorConfig::Harris(config) => Ok(Bound::new(py, Config { config })?.into_any()),
            DetectorConfig::FastHessian(config) => {
                Ok(Bound::new(py, FastHessianConfig { config })?.into_any())
            }
        }
    }

    /// Whether windows stay upright.
    #[getter]
    fn upright(&self) -> bool {
        self.session.recipe().config.surf.upright()
    }

    /// Factor of the keypoints' scales.
    #[getter]
    fn magnification(&self) -> f32 {
        self.session.recipe().config.surf.magnification()
    }

    /// The backend and its hardware, as in ``"cpu: 8 threads, avx512"``.
    #[getter]
    fn backend(&self) -> &str {
        self.session.description()
    }

    /// Whether `close` was called.
    #[getter]
    fn closed(&self) -> bool {
        self.session.is_closed()
    }

    /// Free the memory and threads. A second call does nothing.
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

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Bound<'py, PyAny>,), Bound<'py, PyDict>)> {
        let arguments = self.session.recipe().backend.arguments(py)?;
        arguments.set_item("upright", self.upright())?;
        arguments.set_item("magnification", self.magnification())?;
        Ok(((self.detector(py)?,), arguments))
    }
}
