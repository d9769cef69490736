//! Which GPUs there are.

use cust::device::{Device, DeviceAttribute};
use cust::error::CudaError as CustError;

use super::ffi;
use crate::CudaError;

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Its number, from 0, as [`CudaDetector::on_device`](crate::CudaDetector::on_device) takes it.
    pub ordinal: u32,
    /// Its name, as in `NVIDIA H200`.
    pub name: String,
    /// Its memory in bytes.
    pub memory: usize,
    /// Its compute capability, major and minor.
    pub compute_capability: (u32, u32),
}

/// The CUDA GPUs of this machine.
///
/// # Errors
/// [`CudaError::NoDevice`] where there is none, [`CudaError::NoDriver`] where the driver cannot be used.
pub fn devices() -> Result<Vec<DeviceInfo>, CudaError> {
    (0..count()?).map(|ordinal| info(find(ordinal)?, ordinal)).collect()
}

/// Whether there is a GPU that a [`CudaDetector`](crate::CudaDetector) can be made on, as far as can be told without
/// trying: a driver that starts, and a device.
#[must_use]
pub fn is_available() -> bool {
    count().is_ok_and(|count| count > 0)
}

fn count() -> Result<u32, CudaError> {
    // SAFETY: starts the driver, any number of times.
    match unsafe { ffi::cuInit(0) } {
        0 => {}
        ffi::NO_DEVICE => return Err(CudaError::NoDevice),
        code => return Err(CudaError::NoDriver { code, name: ffi::name(code) }),
    }
    match translate("cuDeviceGetCount", Device::num_devices())? {
        0 => Err(CudaError::NoDevice),
        count => Ok(count),
    }
}

/// A device by its number.
pub(super) fn find(ordinal: u32) -> Result<Device, CudaError> {
    let count = count()?;
    if ordinal >= count {
        return Err(CudaError::NoSuchDevice { ordinal, count });
    }
    translate("cuDeviceGet", Device::get_device(ordinal))
}

fn attribute(device: Device, attribute: DeviceAttribute) -> Result<u32, CudaError> {
    translate("cuDeviceGetAttribute", device.get_attribute(attribute)).map(i32::unsigned_abs)
}

pub(super) fn multiprocessors(device: Device) -> Result<u32, CudaError> {
    attribute(device, DeviceAttribute::MultiprocessorCount)
}

pub(super) fn info(device: Device, ordinal: u32) -> Result<DeviceInfo, CudaError> {
    Ok(DeviceInfo {
        ordinal,
        name: translate("cuDeviceGetName", device.name())?,
        memory: translate("cuDeviceTotalMem", device.total_memory())?,
        compute_capability: (
            attribute(device, DeviceAttribute::ComputeCapabilityMajor)?,
            attribute(device, DeviceAttribute::ComputeCapabilityMinor)?,
        ),
    })
}

/// cust's results as ours.
pub(super) fn translate<T>(call: &'static str, result: Result<T, CustError>) -> Result<T, CudaError> {
    result.map_err(|error| match error {
        CustError::NoDevice => CudaError::NoDevice,
        error => CudaError::Driver { call, code: error as u32, name: ffi::name(error as u32) },
    })
}
