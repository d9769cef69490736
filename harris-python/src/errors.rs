//! Errors, and the Python exceptions that they become.

use std::any::Any;

use harris::cpu::PoolError;
use harris::cuda::CudaError;
use harris::{Error, UnknownBackend};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

/// What can go wrong in a call from Python.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library(Error),
    /// An argument whose value is wrong, in words.
    Input(String),
    /// An argument whose type is wrong, in words.
    InputType(String),
    /// A value of a configuration that is wrong, in words.
    Config(String),
    /// Something that this backend cannot do, in words.
    Backend(String),
    /// The object was closed.
    Closed,
    /// A panic in the library, with its message.
    Panic(String),
    /// An exception of Python.
    Python(PyErr),
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<CudaError> for Failure {
    fn from(error: CudaError) -> Self {
        Self::Library(error.into())
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl Failure {
    /// The failure for what a panic carried.
    pub(crate) fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        Self::Panic(text.unwrap_or("a panic without a message").to_owned())
    }

    /// The name of the exception's class in `harris`, and its message.
    fn exception(&self) -> (&'static str, String) {
        match self {
            Self::Library(error) => (class_of(error), error.to_string()),
            Self::Input(text) => ("InputError", text.clone()),
            Self::InputType(text) => ("InputTypeError", text.clone()),
            Self::Config(text) => ("ConfigError", text.clone()),
            Self::Backend(text) => ("BackendError", text.clone()),
            Self::Closed => ("ClosedError", "the object was closed".to_owned()),
            Self::Panic(text) => ("PanicError", format!("a defect of the library harris: {text}")),
            Self::Python(error) => ("Error", error.to_string()),
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        if let Failure::Python(error) = failure {
            return error;
        }
        let (class, message) = failure.exception();
        Python::attach(|py| match classes(py).and_then(|module| module.getattr(class)?.call1((message,))) {
            Ok(exception) => Self::from_value(exception),
            Err(error) => error,
        })
    }
}

/// The Python module that defines the exceptions.
fn classes(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("harris._errors").map(Bound::unbind))?;
    Ok(module.bind(py))
}

/// The name of the exception class for an error of the library.
fn class_of(error: &Error) -> &'static str {
    match error {
        Error::OutOfMemory { .. } => "OutOfMemoryError",
        Error::Backend(cause) => {
            if let Some(error) = cause.downcast_ref::<CudaError>() {
                match error {
                    CudaError::OutOfMemory { .. } => "OutOfMemoryError",
                    CudaError::Layout { .. }
                    | CudaError::OtherDevice { .. }
                    | CudaError::NotDeviceMemory { .. } => "InputError",
                    _ => "BackendError",
                }
            } else if matches!(
                cause.downcast_ref(),
                Some(PoolError::NoThreads | PoolError::TooManyThreads { .. })
            ) || cause.is::<UnknownBackend>()
            {
                "ConfigError"
            } else {
                "BackendError"
            }
        }
        Error::EmptyImage { .. }
        | Error::ImageTooLarge { .. }
        | Error::ImageTooSmall { .. }
        | Error::Channels { .. }
        | Error::PixelFormat { .. }
        | Error::StrideTooShort { .. }
        | Error::SliceTooShort { .. }
        | Error::RowsNotContiguous
        | Error::NonFinite { .. }
        | Error::SampleTooLarge { .. }
        | Error::RangeTooSmall { .. }
        | Error::SampleOutOfRange { .. }
        | Error::MaskSize { .. }
        | Error::MaskFormat
        | Error::KeypointOutside { .. }
        | Error::KeypointScale { .. }
        | Error::DescriptorLength { .. }
        | Error::DescriptorValue { .. }
        | Error::MatchIndex { .. } => "InputError",
        _ => "ConfigError",
    }
}
