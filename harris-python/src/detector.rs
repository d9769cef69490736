//! `harris.Detector`: finds corners.

use harris::cpu::CpuDetector;
use harris::cuda::{CudaDetector, CudaError, CudaImage};
use harris::{Backend, Detector as _, Error, HarrisConfig, ImageView, ReferenceDetector};
use numpy::{PyArray2, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::Copies;
use crate::backend::BackendChoice;
use crate::config::{Config, read};
use crate::detection::{self, HasDetector, host_image, host_images};
use crate::device_keypoints::DeviceKeypoints;
use crate::dlpack::{self, Found, Place};
use crate::errors::{Failure, Result};
use crate::gpu_array::{GpuArray, Location, location};
use crate::keypoints::keypoints;
use crate::session::{Recipe, Session};

/// How a detector is made.
pub(crate) struct HarrisRecipe {
    config: HarrisConfig,
    backend: BackendChoice,
}

/// A detector of one of the backends.
pub(crate) enum Engine {
    Reference(ReferenceDetector),
    Cpu(Box<CpuDetector>),
    Cuda(Box<CudaDetector>),
}

impl Engine {
    /// The detector on a GPU.
    fn on_gpu(&mut self) -> Result<&mut CudaDetector> {
        match self {
            Self::Cuda(detector) => Ok(detector),
            Self::Reference(_) | Self::Cpu(_) => {
                Err(Failure::Backend("the detector is not on a GPU".to_owned()))
            }
        }
    }
}

impl HasDetector for Engine {
    fn detector(&mut self) -> &mut dyn harris::Detector {
        match self {
            Self::Reference(detector) => detector,
            Self::Cpu(detector) => &mut **detector,
            Self::Cuda(detector) => &mut **detector,
        }
    }

    fn response_into(&mut self, image: &ImageView<'_>, out: &mut [f32]) -> Result<(), Error> {
        match self {
            Self::Cpu(detector) => detector.response_into_slice(image, out),
            Self::Reference(_) | Self::Cuda(_) => {
                let map = self.detector().response(image)?;
                out.iter_mut().zip(&map).for_each(|(out, value)| *out = *value);
                Ok(())
            }
        }
    }
}

impl Recipe for HarrisRecipe {
    type Made = Engine;

    fn make(&self) -> Result<Engine, Error> {
        engine(&self.config, self.backend)
    }

    fn describe(&self, made: &Engine) -> String {
        match made {
            Engine::Reference(detector) => detector.describe(),
            Engine::Cpu(detector) => detector.describe(),
            Engine::Cuda(detector) => detector.describe(),
        }
    }
}

/// Makes a detector of a backend.
fn engine(config: &HarrisConfig, choice: BackendChoice) -> Result<Engine, Error> {
    let config = config.clone();
    Ok(match (choice.backend, choice.threads) {
        (Backend::Reference, _) => Engine::Reference(ReferenceDetector::new(config)),
        (Backend::Cuda { device }, _) => Engine::Cuda(Box::new(CudaDetector::on_device(device, config)?)),
        (Backend::Cpu | Backend::Auto, None) => Engine::Cpu(Box::new(CpuDetector::new(config))),
        (Backend::Cpu | Backend::Auto, Some(threads)) => {
            Engine::Cpu(Box::new(CpuDetector::with_threads(config, threads)?))
        }
    })
}

/// A Harris detector on the CPU or on a GPU.
///
/// A detector keeps memory from image to image. Threads may share it: it is locked while it works,
/// and the GIL is released. To work on several images at a time, make a detector for each thread.
/// An array must not be written while a detector reads it.
///
/// In a forked child the CPU's detectors work. CUDA does not: start workers with the method
/// ``spawn`` of `multiprocessing`. Detectors can be pickled: the copy is a new detector.
///
/// Parameters
/// ----------
/// config : str or Config, default "default"
///     A name of `presets`, or a configuration.
/// backend : str, default "auto"
///     ``"auto"`` (the first usable GPU, else the CPU), ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or
///     ``"reference"``. All give equal results, bit for bit.
/// threads : int, optional
///     Threads of the CPU, 1 to 1024; by default one for each hardware thread.
/// device : int, optional
///     The number of the GPU.
/// **changes
///     Changes to the configuration: the parameters of `Config`.
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
/// >>> image = np.zeros((48, 64), np.uint8)
/// >>> image[12:36, 16:40] = 255
/// >>> with harris.Detector("opencv_gftt", max_corners=2, backend="cpu") as detector:
/// ...     detector.detect(image).xy.tolist()
/// [[39.0, 35.0], [16.0, 35.0]]
#[pyclass(module = "harris", frozen)]
pub(crate) struct Detector {
    pub(crate) session: Session<HarrisRecipe>,
}

impl Detector {
    /// Finds the corners of an image in the host's or in a GPU's memory.
    fn detect_anywhere<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
        place: Place,
    ) -> Result<Bound<'py, PyAny>> {
        let ordinal = match self.session.recipe().backend.backend {
            Backend::Cuda { device } => Some(device),
            Backend::Cpu | Backend::Auto | Backend::Reference => None,
        };
        let found = match location(image)? {
            Location::Host => {
                if stream.is_some() {
                    let text = "a stream is for an image in a GPU's memory".to_owned();
                    return Err(Failure::Input(text));
                }
                let image = host_image(image, mask)?;
                if place == Place::Host {
                    return detection::detect(py, &self.session, &image);
                }
                let Some(ordinal) = ordinal else {
                    let text = format!("device=True needs a GPU; the detector is on {}", self.backend());
                    return Err(Failure::Backend(text));
                };
                let view = image.view()?;
                self.session.run(py, |engine| {
                    let mut copies = Copies::default();
                    let image = CudaImage::upload(ordinal, &view.image(&mut copies)?)?;
                    dlpack::detect_uploaded(engine.on_gpu()?, &image, place)
                })?
            }
            location => {
                let Some(ordinal) = ordinal else {
                    let text =
                        format!("the image is in a GPU's memory, the detector is on {}", self.backend());
                    return Err(Failure::Input(text));
                };
                let array = GpuArray::of(image, &location, stream)?;
                let mask = mask.map(|mask| Self::mask_on_gpu(mask, array.stream)).transpose()?;
                let image = array.image(mask.as_ref())?;
                if image.ordinal != ordinal {
                    return Err(CudaError::OtherDevice { image: image.ordinal, detector: ordinal }.into());
                }
                let stream = array.stream;
                self.session.run(py, |engine| dlpack::detect(engine.on_gpu()?, &image, stream, place))?
            }
        };
        match found {
            Found::Host(list) => keypoints(py, list),
            Found::Device(rows, count) => {
                let made = DeviceKeypoints::new(rows, count, ordinal.unwrap_or(0));
                Ok(Bound::new(py, made)?.into_any())
            }
        }
    }

    /// Reads a mask that goes with an image in a GPU's memory.
    fn mask_on_gpu<'py>(mask: &Bound<'py, PyAny>, stream: u64) -> Result<GpuArray<'py>> {
        match location(mask)? {
            Location::Host => {
                let text = "the image is in a GPU's memory, and its mask is not".to_owned();
                Err(Failure::Input(text))
            }
            location => {
                let stream = stream.into_pyobject(mask.py()).map_err(PyErr::from)?;
                GpuArray::of(mask, &location, Some(stream.as_any()))
            }
        }
    }
}

#[pymethods]
impl Detector {
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
        let config = read("Detector", config, changes)?;
        let chosen = BackendChoice::of(backend, threads, device)?;
        let recipe = |backend| HarrisRecipe { config: config.clone(), backend };
        Ok(Self { session: Session::open(py, chosen, recipe)? })
    }

    /// Find the corners of an image.
    ///
    /// Parameters
    /// ----------
    /// image : array_like
    ///     Samples of shape (H, W), (H, W, 1) or (H, W, 3): uint8, uint16 or float32. An array
    ///     whose rows are contiguous is read where it lies. Other layouts, as one channel of a
    ///     colour image, are copied once.
    ///     An array in a GPU's memory (CuPy, PyTorch, JAX, Numba) is read there, if the detector
    ///     is on that GPU. Its rows must be contiguous.
    /// mask : array_like, optional
    ///     uint8 or bool of shape (H, W), in the memory of the image: corners are sought where it
    ///     is not zero.
    /// stream : int or object, optional
    ///     For an image in a GPU's memory the stream on which it is written: a handle, or a stream
    ///     of CuPy, PyTorch or another library with ``__cuda_stream__``. By default the current
    ///     stream of CuPy or PyTorch, else the default stream. The detection runs after the work
    ///     on that stream.
    /// device : bool, default False
    ///     Whether the keypoints stay in the GPU's memory.
    ///
    /// Returns
    /// -------
    /// Keypoints or DeviceKeypoints
    ///     The corners, in the order of the configuration.
    ///
    /// Raises
    /// ------
    /// InputError
    ///     The image or the mask is empty, too small or of another shape, a sample is not finite,
    ///     or the image is in the memory of another device than the detector's.
    /// InputTypeError
    ///     The samples are of another type.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> image = np.zeros((48, 64, 3), np.float32)
    /// >>> image[12:36, 16:40] = 1
    /// >>> mask = np.zeros((48, 64), bool)
    /// >>> mask[:, :30] = True
    /// >>> harris.Detector().detect(image, mask).xy.tolist()
    /// [[16.0, 12.0], [16.0, 35.0]]
    #[pyo3(signature = (image, mask=None, stream=None, device=false))]
    fn detect<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
        stream: Option<&Bound<'py, PyAny>>,
        device: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !device && stream.is_none() && image.is_instance_of::<PyUntypedArray>() {
            return Ok(detection::detect(py, &self.session, &host_image(image, mask)?)?);
        }
        Ok(self.detect_anywhere(py, image, mask, stream, if device { Place::Device } else { Place::Host })?)
    }

    /// Find the corners of several images. Sizes and types may differ.
    ///
    /// A GPU works on several images at once. Ctrl-C interrupts the call between images.
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
    /// >>> images = np.zeros((3, 48, 64), np.uint8)
    /// >>> images[1, 12:36, 16:40] = 255
    /// >>> [len(found) for found in harris.Detector().detect_batch(images)]
    /// [0, 4, 0]
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

    /// Compute the response map of an image, in the units of an image in 0..1.
    ///
    /// Parameters
    /// ----------
    /// image : array_like
    ///     An image as in `detect`.
    /// out : ndarray, optional
    ///     An array of float32 and of shape (H, W) for the result: contiguous, writeable, without
    ///     memory in common with the image.
    ///
    /// Returns
    /// -------
    /// ndarray
    ///     float32 of shape (H, W), 0 where a response is not valid; `out` if it was given.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> image = np.zeros((48, 64), np.uint8)
    /// >>> image[12:36, 16:40] = 255
    /// >>> response = harris.Detector().response(image)
    /// >>> divmod(int(response.argmax()), 64)
    /// (12, 16)
    #[pyo3(signature = (image, out=None))]
    fn response<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        Ok(detection::response(py, &self.session, image, out)?)
    }

    /// Find the corners of an image, as a binary mask.
    ///
    /// Parameters
    /// ----------
    /// image, mask
    ///     As in `detect`.
    ///
    /// Returns
    /// -------
    /// ndarray
    ///     uint8 of shape (H, W): 1 at the nearest pixel of each corner, else 0.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> image = np.zeros((48, 64), np.uint8)
    /// >>> image[12:36, 16:40] = 255
    /// >>> int(harris.Detector().keypoint_mask(image).sum())
    /// 4
    #[pyo3(signature = (image, mask=None))]
    fn keypoint_mask<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        Ok(detection::keypoint_mask(py, &self.session, &host_image(image, mask)?)?)
    }

    /// The backend and its hardware, as in ``"cpu: 8 threads, avx512"``.
    #[getter]
    fn backend(&self) -> &str {
        self.session.description()
    }

    /// The configuration.
    #[getter]
    fn config(&self) -> Config {
        Config { config: self.session.recipe().config.clone() }
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
        Ok(format!("<harris.Detector on {}, {}>", self.session.description(), self.config().__repr__(py)?))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Config,), Bound<'py, PyDict>)> {
        Ok(((self.config(),), self.session.recipe().backend.arguments(py)?))
    }
}
