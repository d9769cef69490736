//! The choice of a backend by arguments of Python, and the list of backends.

use harris::Backend;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, Result};

/// A backend as arguments choose it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackendChoice {
    pub(crate) backend: Backend,
    /// Threads of the CPU backend; `None` for the threads of rayon's shared pool.
    pub(crate) threads: Option<usize>,
}

impl BackendChoice {
    /// Reads the arguments `backend`, `threads` and `device`.
    ///
    /// # Errors
    /// [`Failure::Config`] for a name that is no backend's, and for an option of another backend.
    pub(crate) fn of(name: &str, threads: Option<i64>, device: Option<i64>) -> Result<Self> {
        let named: Backend =
            name.parse().map_err(|error: harris::UnknownBackend| Failure::Config(error.to_string()))?;
        let threads = threads
            .map(|count| {
                let error = || {
                    Failure::Config(format!(
                        "threads must be from 1 to {}, not {count}",
                        harris::cpu::MAX_THREADS
                    ))
                };
                usize::try_from(count)
                    .ok()
                    .filter(|count| (1..=harris::cpu::MAX_THREADS).contains(count))
                    .ok_or_else(error)
            })
            .transpose()?;
        let device = device
            .map(|number| {
                u32::try_from(number)
                    .map_err(|_| Failure::Config(format!("device must be at least 0, not {number}")))
            })
            .transpose()?;
        let backend = match (named, threads, device) {
            (Backend::Auto, Some(_), Some(_)) => {
                return Err(Failure::Config("threads belongs to the CPU, device to a GPU".to_owned()));
            }
            (Backend::Auto, Some(_), None) => Backend::Cpu,
            (Backend::Auto | Backend::Cuda { device: 0 }, None, Some(device)) => Backend::Cuda { device },
            (Backend::Cuda { device: named }, None, Some(device)) if named != device => {
                return Err(Failure::Config(format!("backend names GPU {named}, device GPU {device}")));
            }
            (Backend::Cuda { .. } | Backend::Reference, Some(_), _) => {
                return Err(Failure::Config(format!(
                    "threads belongs to the CPU, not to the backend {named}"
                )));
            }
            (Backend::Cpu | Backend::Reference, _, Some(_)) => {
                return Err(Failure::Config(format!("device belongs to a GPU, not to the backend {named}")));
            }
            (named, ..) => named,
        };
        Ok(Self { backend, threads })
    }

    /// The most images of a batch that are worked on between two looks for signals: a tenth of a
    /// second or so.
    pub(crate) fn chunk_limits(&self) -> ChunkLimits {
        match self.backend {
            Backend::Cuda { .. } => ChunkLimits { images: 512, pixels: 1 << 29 },
            Backend::Reference => ChunkLimits { images: 1, pixels: 1 },
            Backend::Cpu | Backend::Auto => ChunkLimits { images: 64, pixels: 1 << 23 },
        }
    }

    /// The choice as keyword arguments of Python.
    ///
    /// # Errors
    /// Exceptions of Python.
    pub(crate) fn arguments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arguments = PyDict::new(py);
        arguments.set_item("backend", self.backend.to_string())?;
        arguments.set_item("threads", self.threads)?;
        Ok(arguments)
    }

    /// Resolves the automatic choice: calls `make` with one backend after another until it succeeds.
    ///
    /// # Errors
    /// The errors of `make`.
    pub(crate) fn make<T>(
        self,
        mut make: impl FnMut(Self) -> Result<T, harris::Error>,
    ) -> Result<(T, Self), harris::Error> {
        let made = self.backend.make(|backend| make(Self { backend, ..self }))?;
        Ok((made.value, Self { backend: made.backend, ..self }))
    }
}

/// Limits of the images between two looks for signals, as from Ctrl-C.
#[derive(Clone, Copy)]
pub(crate) struct ChunkLimits {
    pub(crate) images: usize,
    pub(crate) pixels: usize,
}

/// List the backends, in the order in which ``"auto"`` tries them.
///
/// The call starts CUDA's driver if there is one. Children that are forked afterwards cannot use
/// CUDA.
///
/// Returns
/// -------
/// list of (str, bool, str)
///     For each backend its name, whether this machine has it, and its description, or the reason
///     why it cannot be used.
///
/// Examples
/// --------
/// >>> import harris
/// >>> [name for name, available, _ in harris.backends() if name in ("cpu", "reference")]
/// ['cpu', 'reference']
#[pyfunction]
pub(crate) fn backends(py: Python<'_>) -> Vec<(String, bool, String)> {
    py.detach(|| {
        let all = Backend::available().into_iter();
        all.map(|found| {
            let available = found.is_available();
            let text = found.status.unwrap_or_else(|error| error.to_string());
            (found.backend.to_string(), available, text)
        })
        .collect()
    })
}
