//! `harris.Matcher` matches descriptors, and `harris.find_homography` finds the map between images.

use harris::cpu::CpuMatcher;
use harris::cuda::CudaMatcher;
use harris::matching::{Homography, Match, MatchConfig, Matcher as LibraryMatcher, Ransac, ReferenceMatcher};
use harris::{Backend, Error};
use numpy::{PyArray1, PyArray2, PyReadonlyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{borrow, host_array, no_array, readable};
use crate::backend::BackendChoice;
use crate::errors::{Failure, Result};
use crate::session::{Recipe, Session};

/// How a matcher is made.
struct MatcherRecipe {
    config: MatchConfig,
    backend: BackendChoice,
}

impl Recipe for MatcherRecipe {
    type Made = Box<dyn LibraryMatcher>;

    fn make(&self) -> Result<Self::Made, Error> {
        let config = self.config;
        Ok(match (self.backend.backend, self.backend.threads) {
            (Backend::Reference, _) => Box::new(ReferenceMatcher::new(config)),
            (Backend::Cuda { device }, _) => Box::new(CudaMatcher::on_device(device, config)?),
            (Backend::Cpu | Backend::Auto, None) => Box::new(CpuMatcher::new(config)),
            (Backend::Cpu | Backend::Auto, Some(threads)) => {
                Box::new(CpuMatcher::with_threads(config, threads)?)
            }
        })
    }

    fn describe(&self, _: &Self::Made) -> String {
        self.backend.backend.to_string()
    }
}

/// A matcher of descriptors by exact search, on the CPU or on a GPU.
///
/// Threads, forks and pickling are as in `Detector`.
///
/// Parameters
/// ----------
/// ratio : float, default 0.7
///     The nearest descriptor is less than this times as far as the second nearest. With 1 every
///     nearest descriptor is a match.
/// cross_check : bool, default False
///     Whether each descriptor of a match is the other's nearest.
/// backend, threads, device
///     As in `Detector`.
///
/// Raises
/// ------
/// ConfigError
///     The ratio is out of range, or an option belongs to another backend.
/// BackendError
///     The backend cannot be used.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import harris
/// >>> train = np.eye(3, 64, dtype=np.float32)
/// >>> query, index, distance = harris.Matcher().match(train[1:2], train)
/// >>> query.tolist(), index.tolist(), distance.tolist()
/// ([0], [1], [0.0])
#[pyclass(module = "harris", frozen)]
pub(crate) struct Matcher {
    session: Session<MatcherRecipe>,
}

#[pymethods]
impl Matcher {
    #[new]
    #[pyo3(signature = (ratio=0.7, cross_check=false, *, backend="auto", threads=None, device=None))]
    fn new(
        py: Python<'_>,
        ratio: f32,
        cross_check: bool,
        backend: &str,
        threads: Option<i64>,
        device: Option<i64>,
    ) -> PyResult<Self> {
        let config = MatchConfig::builder().ratio(ratio).cross_check(cross_check).build();
        let config = config.map_err(Failure::from)?;
        let chosen = BackendChoice::of(backend, threads, device)?;
        let recipe = |backend| MatcherRecipe { config, backend };
        Ok(Self { session: Session::open(py, chosen, recipe)? })
    }

    /// Match descriptors.
    ///
    /// Parameters
    /// ----------
    /// query, train : array_like
    ///     Descriptors: float32 of shapes (N, 64) and (M, 64).
    ///
    /// Returns
    /// -------
    /// Matches
    ///     The matches in the order of queries, as the arrays `query`, `train` and `distance`.
    ///
    /// Raises
    /// ------
    /// InputError
    ///     A descriptor has another length, or a value that is not finite.
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> import harris
    /// >>> train = np.eye(3, 64, dtype=np.float32)
    /// >>> harris.Matcher(ratio=1).match(train[::-1], train).train.tolist()
    /// [2, 1, 0]
    #[pyo3(name = "match")]
    fn matches<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, PyAny>,
        train: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (query, train) = (descriptors(query)?, descriptors(train)?);
        let (query, train) = (query.as_array(), train.as_array());
        let found = self.session.run(py, |matcher| Ok(matcher.matches(query, train)?))?;
        let class = py.import(intern!(py, "harris._results"))?.getattr(intern!(py, "Matches"))?;
        let rows = |row: fn(&Match) -> usize| -> Bound<'py, PyArray1<i64>> {
            PyArray1::from_iter(py, found.iter().map(|found| i64::try_from(row(found)).unwrap_or(i64::MAX)))
        };
        let distances = PyArray1::from_iter(py, found.iter().map(|found| found.distance));
        class.call1((rows(|found| found.query), rows(|found| found.train), distances))
    }

    /// The ratio of the ratio test.
    #[getter]
    fn ratio(&self) -> f32 {
        self.session.recipe().config.ratio()
    }

    /// Whether each descriptor of a match is the other's nearest.
    #[getter]
    fn cross_check(&self) -> bool {
        self.session.recipe().config.cross_check()
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

    /// Free the matcher's memory and threads. A second call does nothing.
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

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((f32, bool), Bound<'py, PyDict>)> {
        Ok(((self.ratio(), self.cross_check()), self.session.recipe().backend.arguments(py)?))
    }
}

/// Borrows descriptors.
fn descriptors<'py>(object: &Bound<'py, PyAny>) -> Result<PyReadonlyArray2<'py, f32>> {
    let array = host_array(object)?.ok_or_else(|| no_array("descriptors", object))?;
    if array.ndim() != 2 {
        return Err(Failure::Input(format!(
            "descriptors have the shape (N, 64), not {}",
            array.getattr("shape")?
        )));
    }
    if array.cast::<PyArray2<f32>>().is_err() {
        return Err(Failure::InputType(format!("descriptors must be float32, not {}", array.dtype())));
    }
    borrow(&readable(&array)?)
}

/// Python's pair of a matrix and a mask of inliers.
type MatrixAndInliers<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<bool>>);

/// Find the homography that most pairs of points agree with, by RANSAC.
///
/// Parameters
/// ----------
/// src, dst : array_like or Keypoints
///     Points of the first image and their partners in the second: arrays of shape (N, 2) or
///     (N, 1, 2).
/// distance : float, default 3.0
///     Greatest distance of an inlier's mapped point from its partner, in pixels of the second
///     image.
/// confidence : float, default 0.999
///     Probability with which a sample without outliers has been drawn at the end.
/// max_samples : int, default 5000
///     Greatest number of samples drawn.
/// seed : int, default 1
///     Seed of the draws. Equal seeds give equal results.
///
/// Returns
/// -------
/// (ndarray, ndarray) or None
///     The matrix, float64 of shape (3, 3), and the inliers, bool of shape (N,). None where the
///     pairs determine no view of a plane. Few inliers may be due to chance: ask for 8 or so.
///
/// Raises
/// ------
/// InputError
///     The arrays have other shapes.
/// ConfigError
///     A value is out of range.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> import harris
/// >>> src = np.array([[x, y] for x in range(0, 50, 10) for y in range(0, 40, 10)])
/// >>> dst = src * 0.5 + [3, -1]
/// >>> dst[3] = 99
/// >>> matrix, inliers = harris.find_homography(src, dst)
/// >>> np.allclose(matrix, [[0.5, 0, 3], [0, 0.5, -1], [0, 0, 1]])
/// True
/// >>> np.flatnonzero(~inliers).tolist()
/// [3]
#[pyfunction]
#[pyo3(signature = (src, dst, *, distance=3.0, confidence=0.999, max_samples=5000, seed=1))]
pub(crate) fn find_homography<'py>(
    py: Python<'py>,
    src: &Bound<'py, PyAny>,
    dst: &Bound<'py, PyAny>,
    distance: f64,
    confidence: f64,
    max_samples: i64,
    seed: u64,
) -> PyResult<Option<MatrixAndInliers<'py>>> {
    let max_samples = u32::try_from(max_samples.max(0)).unwrap_or(u32::MAX);
    let config =
        Ransac::builder().distance(distance).confidence(confidence).max_samples(max_samples).seed(seed);
    let config = config.build().map_err(Failure::from)?;
    let (src, dst) = (points("src", src)?, points("dst", dst)?);
    if src.len() != dst.len() {
        let text = format!("there are {} points in src, {} in dst", src.len(), dst.len());
        return Err(Failure::Input(text).into());
    }
    let pairs: Vec<_> = src.into_iter().zip(dst).collect();
    let fit = py.detach(|| crate::session::guarded(|| Ok(Homography::ransac(&pairs, &config)?)))?;
    let Some(fit) = fit else { return Ok(None) };
    let mut inliers = vec![false; pairs.len()];
    fit.inliers.iter().for_each(|&index| inliers[index] = true);
    let matrix = PyArray2::from_owned_array(py, ndarray::arr2(&fit.homography.matrix));
    Ok(Some((matrix, PyArray1::from_vec(py, inliers))))
}

/// Reads points.
fn points(name: &str, object: &Bound<'_, PyAny>) -> Result<Vec<[f64; 2]>> {
    let py = object.py();
    let object = match object.hasattr(intern!(py, "xy"))? {
        true => object.getattr(intern!(py, "xy"))?,
        false => object.clone(),
    };
    let numpy = py.import(intern!(py, "numpy"))?;
    let array = numpy.call_method1(intern!(py, "ascontiguousarray"), (object, numpy::dtype::<f64>(py)))?;
    let array = array.cast_into::<PyUntypedArray>().map_err(PyErr::from)?;
    match array.shape() {
        [_, 2] | [_, 1, 2] => {}
        _ => {
            let text = format!("{name} has the shape (N, 2) or (N, 1, 2), not {}", array.getattr("shape")?);
            return Err(Failure::Input(text));
        }
    }
    let array: numpy::PyReadonlyArrayDyn<'_, f64> = array.extract()?;
    let values = array.as_slice().map_err(|_| Failure::Input(format!("{name} is not contiguous")))?;
    Ok(values.as_chunks::<2>().0.to_vec())
}
