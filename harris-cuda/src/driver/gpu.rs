//! A GPU in use: its primary context and its kernels, shared by all detectors on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

#[cfg(feature = "cust")]
use super::context::ContextGuard;
use super::context::{ActiveContext, PrimaryContext};
use super::devices::{self, DeviceInfo};
#[cfg(feature = "cust")]
use super::ffi::{Handle, Pointer};
#[cfg(feature = "cust")]
use super::library::Driver;
use super::module::Kernels;
use crate::CudaError;

/// A GPU in use. Memory, streams and detectors hold it, so its primary context stays alive.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// `Gpu::drop` unloads them, before the context is released.
    kernels: Kernels,
    context: PrimaryContext,
    info: DeviceInfo,
    multiprocessors: u32,
}

/// The GPUs in use, by number, so that context and kernels are made once.
static OPEN_GPUS: Mutex<Option<HashMap<u32, Weak<Gpu>>>> = Mutex::new(None);

impl Gpu {
    /// Opens device number `ordinal`.
    pub(crate) fn open(ordinal: u32) -> Result<Arc<Self>, CudaError> {
        let (driver, device) = devices::find(ordinal)?;
        let mut open_gpus = OPEN_GPUS.lock().unwrap_or_else(PoisonError::into_inner);
        let open_gpus = open_gpus.get_or_insert_default();
        if let Some(gpu) = open_gpus.get(&ordinal).and_then(Weak::upgrade) {
            return Ok(gpu);
        }
        let info = devices::info(driver, device, ordinal)?;
        info.check()?;
        let context = PrimaryContext::retain(driver, device)?;
        let multiprocessors = devices::multiprocessors(driver, device)?;
        let kernels = Kernels::new(&context.enter()?, info.compute_capability)?;
        let gpu = Arc::new(Self { kernels, context, info, multiprocessors });
        open_gpus.insert(ordinal, Arc::downgrade(&gpu));
        Ok(gpu)
    }

    /// Returns a GPU that is in use, or else opens the first usable one.
    pub(crate) fn any() -> Result<Arc<Self>, CudaError> {
        let devices = devices::devices()?;
        let open_gpus = OPEN_GPUS.lock().unwrap_or_else(PoisonError::into_inner);
        let one = open_gpus.iter().flat_map(HashMap::values).find_map(Weak::upgrade);
        drop(open_gpus);
        if let Some(gpu) = one {
            return Ok(gpu);
        }
        let usable = devices.iter().find(|info| info.check().is_ok());
        Self::open(usable.map_or(0, |info| info.ordinal))
    }

    /// Makes this device's context current on the calling thread until the result is dropped. The
    /// driver's functions need that, and detectors may move between threads.
    pub(super) fn enter(&self) -> Result<ActiveContext, CudaError> {
        self.context.enter()
    }

    pub(crate) fn info(&self) -> &DeviceInfo {
        &self.info
    }

    pub(crate) fn multiprocessors(&self) -> u32 {
        self.multiprocessors
    }

    pub(super) fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    #[cfg(feature = "cust")]
    fn check_context(&self, context: Handle) -> Result<(), CudaError> {
        if self.context.handle() == context { Ok(()) } else { Err(CudaError::OtherContext) }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if let Ok(cuda) = self.enter() {
            self.kernels.unload(&cuda);
        }
    }
}

/// Returns the number of the device whose primary context a pointer's memory is in.
#[cfg(feature = "cust")]
pub(crate) fn device_of_pointer(pointer: Pointer) -> Result<u32, CudaError> {
    use super::ffi::{POINTER_ATTRIBUTE_CONTEXT, POINTER_ATTRIBUTE_DEVICE_ORDINAL};

    let driver = Driver::get()?;
    let (mut context, mut ordinal): (Handle, i32) = (std::ptr::null_mut(), -1);
    let mut attributes = [POINTER_ATTRIBUTE_CONTEXT, POINTER_ATTRIBUTE_DEVICE_ORDINAL];
    let mut values = [std::ptr::from_mut(&mut context).cast(), std::ptr::from_mut(&mut ordinal).cast()];
    // SAFETY: writes a handle and a number, as the attributes demand. Any address is allowed.
    unsafe { driver.cuPointerGetAttributes(2, attributes.as_mut_ptr(), values.as_mut_ptr(), pointer) }?;
    let ordinal = u32::try_from(ordinal).map_err(|_| CudaError::OtherContext)?;
    Gpu::open(ordinal)?.check_context(context)?;
    Ok(ordinal)
}

/// Returns the number of the device whose primary context this is.
#[cfg(feature = "cust")]
pub(crate) fn device_of_context(context: Handle) -> Result<u32, CudaError> {
    let driver = Driver::get()?;
    let _context = ContextGuard::save_with(driver);
    let mut device = 0;
    // SAFETY: the context is alive, as cust's type guarantees; writes one number.
    unsafe {
        driver.cuCtxSetCurrent(context)?;
        driver.cuCtxGetDevice(&mut device)?;
    }
    // A device's handle is its number in the list.
    let ordinal = device.unsigned_abs();
    Gpu::open(ordinal)?.check_context(context)?;
    Ok(ordinal)
}
