//! Failures of the driver, of the device and of its memory.

use harris_core::Error;

/// A failure of the driver, of a device or of its memory.
///
/// It comes inside [`Error::Backend`]. What a caller can do:
///
/// | variants | remedy |
/// | --- | --- |
/// | [`NoDriver`], [`DriverIncomplete`], [`DriverFailed`], [`NoDevice`], [`DriverTooOld`], [`DeviceTooOld`], [`Kernels`] | use the CPU, as `Backend::Auto` of the crate harris does |
/// | [`Forked`] | start workers as new programs, or fork before CUDA is used |
/// | [`EmptyDeviceList`], [`NoSuchDevice`], [`OneDeviceOnly`], [`TooManyInFlight`] | ask for devices and frames that [`devices`](crate::devices) and [`MAX_IN_FLIGHT`](crate::MAX_IN_FLIGHT) allow |
/// | [`Layout`], [`NotDeviceMemory`], [`BufferTooShort`], [`OtherContext`] | check pointer, pitch and size of the image in the device's memory |
/// | [`OtherDevice`], [`DescriptorsOnOtherDevice`] | make detector, matcher and data on one device |
/// | [`OutOfMemory`] | fewer frames in flight, smaller images, or [`shrink_to_fit`](harris_core::Detector::shrink_to_fit) |
/// | [`NotTimed`] | call `set_timed(true)` before the image |
/// | [`Driver`] | report it: the device failed, or other code of the process broke its context |
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
///
/// [`NoDriver`]: CudaError::NoDriver
/// [`DriverIncomplete`]: CudaError::DriverIncomplete
/// [`DriverFailed`]: CudaError::DriverFailed
/// [`NoDevice`]: CudaError::NoDevice
/// [`DriverTooOld`]: CudaError::DriverTooOld
/// [`DeviceTooOld`]: CudaError::DeviceTooOld
/// [`Kernels`]: CudaError::Kernels
/// [`Forked`]: CudaError::Forked
/// [`EmptyDeviceList`]: CudaError::EmptyDeviceList
/// [`NoSuchDevice`]: CudaError::NoSuchDevice
/// [`OneDeviceOnly`]: CudaError::OneDeviceOnly
/// [`TooManyInFlight`]: CudaError::TooManyInFlight
/// [`Layout`]: CudaError::Layout
/// [`NotDeviceMemory`]: CudaError::NotDeviceMemory
/// [`BufferTooShort`]: CudaError::BufferTooShort
/// [`OtherContext`]: CudaError::OtherContext
/// [`OtherDevice`]: CudaError::OtherDevice
/// [`DescriptorsOnOtherDevice`]: CudaError::DescriptorsOnOtherDevice
/// [`OutOfMemory`]: CudaError::OutOfMemory
/// [`NotTimed`]: CudaError::NotTimed
/// [`Driver`]: CudaError::Driver
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// The driver's library (`libcuda.so.1`, `nvcuda.dll` on Windows) cannot be loaded.
    #[error("there is no CUDA driver: {reason}")]
    NoDriver {
        /// The message of the system's loader.
        reason: String,
    },
    /// The driver's library lacks a function that this crate needs. It is another library of that
    /// name, or belongs to a much older driver.
    #[error(
        "the CUDA driver's library has no function {function}; it is damaged, too old, or another library"
    )]
    DriverIncomplete {
        /// The function's name.
        function: &'static str,
    },
    /// The driver does not start. Its library does not match the module in the operating system's
    /// kernel, or access is not permitted.
    #[error("the CUDA driver does not start: {name} ({code})")]
    DriverFailed {
        /// The driver's number for what went wrong.
        code: u32,
        /// The driver's name for it.
        name: String,
    },
    /// The driver knows no GPU that this process may use.
    #[error("there is no CUDA GPU on this machine, or none that this process may use")]
    NoDevice,
    /// An empty list of devices was given.
    #[error("the list of CUDA devices is empty")]
    EmptyDeviceList,
    /// This process was forked after its parent had started CUDA, which does not work in such a
    /// child.
    ///
    /// Start CUDA only in the children, or start them as new programs (in Python: the start method
    /// `spawn`).
    ///
    /// Objects of this crate can be dropped in the child, and samples of pinned images must not be
    /// touched there.
    #[error(
        "CUDA was started before this process was forked, and cannot be used here; start workers as new processes"
    )]
    Forked,
    /// A device number is too large for this machine.
    #[error("there is no CUDA device {ordinal}: this machine has {count}, numbered from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: u32,
        /// The number of devices.
        count: u32,
    },
    /// The driver is too old for this crate's PTX.
    #[error(
        "the driver supports CUDA {}.{}, but {}.{} is needed; update the driver",
        driver.0, driver.1, needed.0, needed.1
    )]
    DriverTooOld {
        /// The CUDA version of the driver, major and minor.
        driver: (u32, u32),
        /// The first CUDA version whose drivers will do.
        needed: (u32, u32),
    },
    /// The GPU is older than this crate's PTX.
    #[error("{name} has compute capability {}.{}, but {}.{} is needed", found.0, found.1, needed.0, needed.1)]
    DeviceTooOld {
        /// The device's name.
        name: String,
        /// The device's compute capability, major and minor.
        found: (u32, u32),
        /// The first compute capability that is supported.
        needed: (u32, u32),
    },
    /// The driver cannot compile the PTX.
    #[error("the driver cannot compile the kernels: {log}")]
    Kernels {
        /// The driver's messages.
        log: String,
    },
    /// Pointer, pitch, size and channels of an image in a device's memory do not fit each other.
    #[error(
        "an image of {width} x {height} pixels with {channels} channels cannot be at {pointer:#x} with a pitch of \
         {pitch} bytes: channels are 1 or 3, the address a multiple of 4, the pitch of a sample's bytes or, of a mask, of 4"
    )]
    Layout {
        /// The device address that was given.
        pointer: u64,
        /// The bytes from row to row.
        pitch: usize,
        /// The width in pixels.
        width: usize,
        /// The height in pixels.
        height: usize,
        /// The number of channels.
        channels: usize,
    },
    /// An address is in no device's memory.
    #[error("there is no memory of a CUDA device at {pointer:#x}")]
    NotDeviceMemory {
        /// The address that was given.
        pointer: u64,
    },
    /// An image is in another device's memory.
    #[error("the image is in the memory of CUDA device {image}, the detector is on device {detector}")]
    OtherDevice {
        /// The number of the image's device.
        image: u32,
        /// The number of the detector's device.
        detector: u32,
    },
    /// Descriptors are in another device's memory.
    #[error(
        "the descriptors are in the memory of CUDA device {descriptors}, the matcher is on device {matcher}"
    )]
    DescriptorsOnOtherDevice {
        /// The number of the descriptors' device.
        descriptors: u32,
        /// The number of the matcher's device.
        matcher: u32,
    },
    /// Frames that are matched with the frame before need one device, and more were given.
    #[error("frames that are matched with the frame before need one CUDA device, not {devices}")]
    OneDeviceOnly {
        /// The number of devices that were given.
        devices: usize,
    },
    /// A buffer ends before the image in it does.
    #[error("the buffer is too short: it has {bytes} bytes, but the image needs {needed}")]
    BufferTooShort {
        /// Bytes of the buffer.
        bytes: usize,
        /// Bytes from the image's first to its last, rounded up to a multiple of 4.
        needed: usize,
    },
    /// Memory or a context belongs to another context than the device's primary one, which this
    /// crate uses.
    #[error("the memory or context does not belong to the device's primary context")]
    OtherContext,
    /// The device has too little free memory, or the driver too little memory of the host.
    ///
    /// Other memory of the host that cannot be had is [`Error::OutOfMemory`].
    #[error("out of {place} memory: {bytes} bytes were requested")]
    OutOfMemory {
        /// `device` or `pinned host`.
        place: &'static str,
        /// The number of bytes requested.
        bytes: usize,
    },
    /// Too many frames in flight were asked for.
    #[error("at most {most} frames can be in flight on a GPU, not {frames}", most = crate::MAX_IN_FLIGHT)]
    TooManyInFlight {
        /// How many were asked for.
        frames: usize,
    },
    /// The device's time was not measured.
    #[error("the device's time was not measured; call set_timed(true) first")]
    NotTimed,
    /// Any other failure that the driver reports.
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
