//! The GPUs of this machine.

use std::ffi::{CStr, c_char};

use super::ffi::{self, Device};
use super::library::Driver;
use crate::{CudaError, ptx};

/// A GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The device's number, from 0, as [`CudaDetector::on_device`](crate::CudaDetector::on_device)
    /// takes it.
    pub ordinal: u32,
    /// The device's name, for example `NVIDIA H200`.
    pub name: String,
    /// The size of the device's memory in bytes.
    pub memory: usize,
    /// The compute capability, major and minor.
    pub compute_capability: (u32, u32),
}

impl DeviceInfo {
    /// Checks that this crate's kernels run on the device.
    ///
    /// # Errors
    /// [`CudaError::DeviceTooOld`].
    pub fn check(&self) -> Result<(), CudaError> {
        let (found, needed) = (self.compute_capability, ptx::NEEDS_CAPABILITY);
        if found >= needed {
            Ok(())
        } else {
            Err(CudaError::DeviceTooOld { name: self.name.clone(), found, needed })
        }
    }
}

/// Lists the CUDA GPUs of this machine, at least one.
///
/// The first call loads the driver's library and starts it. The outcome of that attempt does not
/// change while the program runs.
///
/// # Errors
/// - [`CudaError::NoDriver`] if the driver's library is missing or cannot be loaded.
/// - [`CudaError::DriverIncomplete`] if the library lacks a function that this crate needs.
/// - [`CudaError::DriverFailed`] if the driver does not start.
/// - [`CudaError::DriverTooOld`] if the driver is for a CUDA version before 11.8.
/// - [`CudaError::NoDevice`] if the driver knows no GPU.
/// - [`CudaError::Forked`] in a child that was forked after CUDA was started.
pub fn devices() -> Result<Vec<DeviceInfo>, CudaError> {
    let (driver, count) = count()?;
    (0..count).map(|ordinal| info(driver, handle(driver, ordinal)?, ordinal)).collect()
}

/// Whether there is a driver that starts and a GPU.
///
/// Only making a [`CudaDetector`](crate::CudaDetector) shows whether the GPU can be used.
#[must_use]
pub fn is_available() -> bool {
    count().is_ok()
}

/// Counts the devices, at least one.
fn count() -> Result<(&'static Driver, u32), CudaError> {
    let driver = Driver::get()?;
    let mut count = 0;
    // SAFETY: writes one number.
    unsafe { driver.cuDeviceGetCount(&mut count) }?;
    match u32::try_from(count) {
        Ok(count) if count > 0 => Ok((driver, count)),
        _ => Err(CudaError::NoDevice),
    }
}

fn handle(driver: &Driver, ordinal: u32) -> Result<Device, CudaError> {
    let mut device = 0;
    // SAFETY: writes one number.
    unsafe { driver.cuDeviceGet(&mut device, ordinal.cast_signed()) }?;
    Ok(device)
}

/// Finds a device by its number.
pub(super) fn find(ordinal: u32) -> Result<(&'static Driver, Device), CudaError> {
    let (driver, count) = count()?;
    if ordinal >= count {
        return Err(CudaError::NoSuchDevice { ordinal, count });
    }
    Ok((driver, handle(driver, ordinal)?))
}

fn attribute(driver: &Driver, device: Device, attribute: u32) -> Result<u32, CudaError> {
    let mut value = 0;
    // SAFETY: writes one number.
    unsafe { driver.cuDeviceGetAttribute(&mut value, attribute, device) }?;
    Ok(value.unsigned_abs())
}

pub(super) fn multiprocessors(driver: &Driver, device: Device) -> Result<u32, CudaError> {
    attribute(driver, device, ffi::DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
}

pub(super) fn info(driver: &Driver, device: Device, ordinal: u32) -> Result<DeviceInfo, CudaError> {
    let mut name = [0 as c_char; 256];
    let mut memory = 0;
    // SAFETY: writes at most as many characters as the array has, and ends them with a zero.
    unsafe { driver.cuDeviceGetName(name.as_mut_ptr(), name.len() as i32, device) }?;
    // SAFETY: the array ends with a zero, or the driver wrote one before.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    // SAFETY: writes one number.
    unsafe { driver.cuDeviceTotalMem_v2(&mut memory, device) }?;
    Ok(DeviceInfo {
        ordinal,
        name,
        memory,
        compute_capability: (
            attribute(driver, device, ffi::DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(driver, device, ffi::DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
    })
}
