//! Backends, and how one is chosen.

use std::fmt;
use std::str::FromStr;

use harris_core::{Detector, Error, HarrisConfig};
use harris_cpu::CpuDetector;

/// A backend: what computes.
///
/// All backends give bit-identical results.
///
/// As text, for [`FromStr`] and [`Display`](fmt::Display): `auto`, `cpu`, `cuda` (the first
/// device), `cuda:1` or `reference`, in lower case.
///
/// ```
/// use harris::Backend;
///
/// assert_eq!("cuda:1".parse(), Ok(Backend::Cuda { device: 1 }));
/// assert_eq!("auto".parse(), Ok(Backend::default()));
/// assert!("abacus".parse::<Backend>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// The first usable CUDA device, else the CPU.
    ///
    /// The choice is made when a detector is made, and does not depend on the images. In a child
    /// that was forked after CUDA was used, the CPU is chosen.
    #[default]
    Auto,
    /// All cores of the CPU, with the widest instruction set it has.
    Cpu,
    /// An NVIDIA GPU.
    Cuda {
        /// The device's number, from 0, in the driver's order.
        device: u32,
    },
    /// Plain code on one thread: the reference that the others are compared with.
    Reference,
}

/// The result of [`Backend::make`].
#[derive(Debug)]
#[non_exhaustive]
pub struct OnBackend<T, E> {
    /// The value that was made.
    pub value: T,
    /// The backend that it was made on, never [`Backend::Auto`].
    pub backend: Backend,
    /// The backends that were tried before, each with the reason why it cannot be used.
    pub skipped: Vec<(Backend, E)>,
}

/// A backend, and whether this machine has it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Availability {
    /// The backend, never [`Backend::Auto`].
    pub backend: Backend,
    /// A description, as in `cuda: NVIDIA H200` or `cpu: 8 threads, avx512`, or why the backend
    /// cannot be used.
    pub status: Result<String, Error>,
}

impl Availability {
    /// Whether the backend can be used.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.status.is_ok()
    }
}

impl Backend {
    /// Lists all backends in the order in which [`Backend::Auto`] tries them: each CUDA device, the
    /// CPU, the reference.
    ///
    /// Without a CUDA device, one entry tells why there is none.
    ///
    /// The call starts CUDA's driver if there is one, but uses no device. Children that are forked
    /// afterwards cannot use CUDA. So a server that forks its workers calls this in the workers.
    ///
    /// ```
    /// for backend in harris::Backend::available() {
    ///     match backend.status {
    ///         Ok(description) => println!("{}: {description}", backend.backend),
    ///         Err(reason) => println!("{}: not available, {reason}", backend.backend),
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn available() -> Vec<Availability> {
        let mut all = cuda();
        let cpu = CpuDetector::new(HarrisConfig::default());
        let reference = harris_core::ReferenceDetector::new(HarrisConfig::default());
        all.push(Availability { backend: Self::Cpu, status: Ok(cpu.describe()) });
        all.push(Availability { backend: Self::Reference, status: Ok(reference.describe()) });
        all
    }

    /// Makes something on this backend with the function `make`.
    ///
    /// `make` never receives [`Backend::Auto`]; for that one, it is called with one candidate after
    /// another until it succeeds. The functions of this crate use this method. So can programs that
    /// need a backend's own types.
    ///
    /// ```
    /// use harris::cpu::CpuDetector;
    /// use harris::cuda::CudaDetector;
    /// use harris::{Backend, Detector, Error, HarrisConfig};
    ///
    /// let config = HarrisConfig::default();
    /// let made = Backend::Auto.make(|backend| -> Result<Box<dyn Detector>, Error> {
    ///     Ok(match backend {
    ///         Backend::Cuda { device } => {
    ///             let mut detector = CudaDetector::on_device(device, config.clone())?;
    ///             detector.set_timed(true);
    ///             Box::new(detector)
    ///         }
    ///         _ => Box::new(CpuDetector::with_threads(config.clone(), 2)?),
    ///     })
    /// })?;
    /// println!("{}", made.value.describe());
    /// for (backend, reason) in &made.skipped {
    ///     println!("not on {backend}: {reason}");
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of `make`. For [`Backend::Auto`], the error for the last candidate, the CPU.
    pub fn make<T, E: From<Error>>(
        self,
        mut make: impl FnMut(Self) -> Result<T, E>,
    ) -> Result<OnBackend<T, E>, E> {
        let mut skipped = Vec::new();
        if self == Self::Auto {
            for Availability { backend, status } in cuda() {
                match status.map_err(E::from).and_then(|_| make(backend)) {
                    Ok(value) => return Ok(OnBackend { value, backend, skipped }),
                    Err(error) => skipped.push((backend, error)),
                }
            }
        }
        let backend = if self == Self::Auto { Self::Cpu } else { self };
        Ok(OnBackend { value: make(backend)?, backend, skipped })
    }
}

/// Lists the CUDA devices, or one entry that tells why there is none.
#[cfg(feature = "cuda")]
fn cuda() -> Vec<Availability> {
    let status = |info: &harris_cuda::DeviceInfo| {
        info.check()?;
        Ok(format!("cuda: {}", info.name))
    };
    match harris_cuda::devices() {
        Ok(devices) => (devices.iter())
            .map(|info| Availability {
                backend: Backend::Cuda { device: info.ordinal },
                status: status(info),
            })
            .collect(),
        Err(error) => vec![Availability { backend: Backend::Cuda { device: 0 }, status: Err(error.into()) }],
    }
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Vec<Availability> {
    vec![Availability { backend: Backend::Cuda { device: 0 }, status: Err(CudaNotBuilt.into()) }]
}

/// [`Backend::Cuda`] was chosen in a program that was built without it.
///
/// The error comes inside [`Error::Backend`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this program was built without the feature `cuda` of the crate harris")]
pub struct CudaNotBuilt;

impl From<CudaNotBuilt> for Error {
    fn from(error: CudaNotBuilt) -> Self {
        Self::Backend(Box::new(error))
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda { device } => write!(f, "cuda:{device}"),
            Self::Reference => f.write_str("reference"),
        }
    }
}

/// The error for a text that names no backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown backend `{0}`; expected auto, cpu, cuda, cuda:NUMBER or reference")]
pub struct UnknownBackend(String);

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(text: &str) -> Result<Self, UnknownBackend> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "cuda" => Ok(Self::Cuda { device: 0 }),
            "reference" => Ok(Self::Reference),
            other => {
                let digits =
                    other.strip_prefix("cuda:").filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
                match digits.and_then(|text| text.parse().ok()) {
                    Some(device) => Ok(Self::Cuda { device }),
                    None => Err(UnknownBackend(other.to_owned())),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Backend; 5] = [
        Backend::Auto,
        Backend::Cpu,
        Backend::Cuda { device: 0 },
        Backend::Cuda { device: 12 },
        Backend::Reference,
    ];

    #[test]
    fn texts_are_read_back() {
        for backend in ALL {
            assert_eq!(backend.to_string().parse(), Ok(backend));
        }
        for text in [
            "",
            "Auto",
            "gpu",
            "cuda:",
            "cuda:x",
            "cuda:-1",
            "cuda:+1",
            "cuda:99999999999",
            "cuda:0 ",
            "cpu:4",
        ] {
            let error = text.parse::<Backend>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }

    fn refused() -> Error {
        Error::Backend("refused".into())
    }

    #[test]
    fn auto_takes_the_first_usable_backend_and_reports_the_others() {
        let gpus: Vec<_> = cuda();
        // If every GPU fails, the CPU is chosen.
        let mut tried = Vec::new();
        let made = Backend::Auto
            .make(|backend| {
                tried.push(backend);
                if matches!(backend, Backend::Cuda { .. }) { Err(refused()) } else { Ok(backend) }
            })
            .unwrap();
        assert_eq!((made.value, made.backend), (Backend::Cpu, Backend::Cpu));
        assert_eq!(made.skipped.len(), gpus.len());
        assert_eq!(tried.len(), 1 + gpus.iter().filter(|gpu| gpu.is_available()).count());
        // If nothing fails, the first GPU is chosen, if there is one.
        let made = Backend::Auto.make(Ok::<_, Error>).unwrap();
        let first = gpus.iter().find(|gpu| gpu.is_available()).map_or(Backend::Cpu, |gpu| gpu.backend);
        assert_eq!(made.backend, first);
    }

    #[test]
    fn a_named_backend_is_the_only_one_tried() {
        for backend in ALL.into_iter().filter(|backend| *backend != Backend::Auto) {
            assert_eq!(backend.make(Ok::<_, Error>).unwrap().value, backend);
            let mut tried = 0;
            let failed = backend.make(|_| -> Result<(), Error> {
                tried += 1;
                Err(refused())
            });
            assert_eq!((failed.unwrap_err().to_string().as_str(), tried), ("refused", 1));
        }
    }

    #[test]
    fn every_machine_has_the_cpu_and_the_reference() {
        let all = Backend::available();
        for backend in [Backend::Cpu, Backend::Reference] {
            let found = all.iter().find(|available| available.backend == backend).unwrap();
            let description = found.status.as_ref().unwrap();
            assert!(description.starts_with(&backend.to_string()), "{description}");
        }
        assert!(all.iter().any(|available| matches!(available.backend, Backend::Cuda { .. })));
    }
}
