//! `harris.Detector`: finds corners.

use harris::cpu::CpuDetector;
use harris::cuda::CudaDetector;
use harris::{Backend, Detector as _, Error, HarrisConfig, ReferenceDetector};
use ndarray::Array2;
use numpy::{PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{Copies, HostImage, host_array, no_array};
use crate::backend::BackendChoice;
use crate::config::{Config, read};
use crate::errors::{Failure, Result};
use crate::keypoints::keypoints;
use crate::session::{Describe, Recipe, Session};

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
    fn detector(&mut self) -> &mut dyn harris::Detector {
        match self {
            Self::Reference(detector) => detector,
            Self::Cpu(detector) => &mut **detector,
            Self::Cuda(detector) => &mut **detector,
        }
    }
}

impl Describe for Engine {
    fn describe(&self) -> String {
        match self {
            Self::Reference(detector) => detector.describe(),
            Self::Cpu(detector) => detector.describe(),
            Self::Cuda(detector) => detector.describe(),
        }
    }
}

impl Recipe for HarrisRecipe {
    type Made = Engine;

    fn make(&self) -> Result<Engine, Error> {
        engine(&self.config, self.backend)
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
#[pyclass(module = "harris", frozen)]
pub(crate) struct Detector {
    session: Session<HarrisRecipe>,
    description: String,
}

impl Detector {
    fn host_image<'py>(
        image: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> Result<HostImage<'py>> {
        let array = host_array(image)?.ok_or_else(|| no_array("an image", image))?;
        HostImage::of(&array, mask)
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
        let (session, description) =
            Session::open(py, chosen, |backend| HarrisRecipe { config: config.clone(), backend })?;
        Ok(Self { session, description })
    }

    #[pyo3(signature = (image, mask=None))]
    fn detect<'py>(
        &self,
        py: Python<'py>,
        image: &Bound<'py, PyAny>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let image = Self::host_image(image, mask)?;
        let view = image.view()?;
        let found = self.session.run(py, |engine| {
            let mut copies = Copies::default();
            Ok(engine.detector().detect(&view.image(&mut copies)?)?)
        })?;
        Ok(keypoints(py, found)?)
    }

    #[getter]
    fn backend(&self) -> &str {
        &self.description
    }
}
