//! What can be wrong with the driver, the device or its memory.

use harris_core::Error;

/// Why the GPU cannot be used; comes inside [`Error::Backend`].
///
/// ```no_run
/// use harris_cuda::{CudaDetector, CudaError, Error, HarrisConfig};
///
/// match CudaDetector::new(HarrisConfig::default()) {
///     Err(Error::Backend(error)) => match error.downcast_ref::<CudaError>() {
///         Some(CudaError::NoDevice) => println!("no GPU here"),
///         _ => println!("{error}"),
///     },
///     _ => println!("ready"),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// There is no driver: its library (`libcuda.so.1`, `nvcuda.dll` on Windows) cannot be loaded.
    #[error("there is no CUDA driver: {reason}")]
    NoDriver {
        /// What the system's loader said.
        reason: String,
    },
    /// The driver's library lacks a function that this crate needs: it is another library of that name, or of a
    /// driver that is much too old.
    #[error(
        "the CUDA driver's library has no function {function}; it is damaged, too old, or another library"
    )]
    DriverIncomplete {
        /// The function's name.
        function: &'static str,
    },
    /// The driver does not start: its library does not match the module in the operating system's kernel, or access is not permitted.
    #[error("the CUDA driver does not start: {name} ({code})")]
    DriverFailed {
        /// The driver's number for what went wrong.
        code: u32,
        /// The driver's name for it.
        name: String,
    },
    /// There is a driver, but no GPU that it may use.
    #[error("there is no CUDA GPU on this machine, or none that this process may use")]
    NoDevice,
    /// A list of devices that names none.
    #[error("no CUDA device is named")]
    NoDeviceNamed,
    /// This process was forked after its parent had started CUDA, which does not work in such a child. Start CUDA
    /// only in the children, or start them as new programs (in Python: the start method `spawn`).
    ///
    /// Objects of this crate can be dropped in the child, and samples of pinned images must not be touched there.
    #[error(
        "CUDA was started before this process was forked, and cannot be used here; start workers as new processes"
    )]
    Forked,
    /// There are fewer GPUs.
    #[error("there is no CUDA device {ordinal}: this machine has {count}, numbered from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: u32,
        /// How many there are.
        count: u32,
    },
    /// The driver is too old for this crate's PTX.
    #[error(
        "the driver is of CUDA {}.{}, where {}.{} is needed; update it",
        driver.0, driver.1, needed.0, needed.1
    )]
    DriverTooOld {
        /// The CUDA version of the driver, major and minor.
        driver: (u32, u32),
        /// The first CUDA version whose drivers will do.
        needed: (u32, u32),
    },
    /// The GPU is older than this crate's PTX.
    #[error("{name} has compute capability {}.{}, where {}.{} is needed", found.0, found.1, needed.0, needed.1)]
    DeviceTooOld {
        /// The device's name.
        name: String,
        /// Its compute capability, major and minor.
        found: (u32, u32),
        /// The least that is needed.
        needed: (u32, u32),
    },
    /// The driver refused the PTX.
    #[error("the driver cannot compile the kernels: {log}")]
    Kernels {
        /// What it said.
        log: String,
    },
    /// An image in a device's memory cannot lie so.
    #[error(
        "no image of {width} x {height} pixels and {channels} channels, 1 or 3, at {pointer:#x} with rows {pitch} bytes apart, both \
         multiples of 4"
    )]
    Layout {
        /// Where it was said to be.
        pointer: u64,
        /// The bytes from row to row.
        pitch: usize,
        /// Its width in pixels.
        width: usize,
        /// Its height in pixels.
        height: usize,
        /// Its channels.
        channels: usize,
    },
    /// An image is in another device's memory.
    #[error("the image is in the memory of CUDA device {image}, the detector is on device {detector}")]
    OtherDevice {
        /// The number of the image's device.
        image: u32,
        /// The number of the detector's.
        detector: u32,
    },
    /// A buffer ends before the image that is said to lie in it.
    #[error("the buffer is too short: {bytes} bytes, where the image needs {needed}")]
    BufferTooShort {
        /// Bytes of the buffer.
        bytes: usize,
        /// Bytes from the first of the image to its last, up to a multiple of 4.
        needed: usize,
    },
    /// Memory or a context is not of the device's primary context, the one that this crate shares with others.
    #[error("it belongs to another context than the device's primary one")]
    OtherContext,
    /// The device or the host has not that much memory left.
    #[error("out of {place} memory: {bytes} bytes were asked for")]
    OutOfMemory {
        /// `device` or `pinned host`.
        place: &'static str,
        /// How much was asked for.
        bytes: usize,
    },
    /// There are no times, because none were taken.
    #[error("the device's time is not taken unless that is asked for before")]
    NotTimed,
    /// Anything else that the driver reports.
    #[error("{call} failed: {name} ({code})")]
    Driver {
        /// The driver's function.
        call: &'static str,
        /// The driver's number for what went wrong.
        code: u32,
        /// The driver's name for it.
        name: String,
    },
}

impl From<CudaError> for Error {
    fn from(error: CudaError) -> Self {
        Error::Backend(Box::new(error))
    }
}
