//! A device with its primary context and its kernels, shared by all detectors on it.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::ffi::Handle;
use super::fork;
use super::gpu::{self, DeviceInfo};
use super::library::Driver;
use super::module::Kernels;
use crate::CudaError;

/// A GPU in use. Memory, streams and detectors hold it, and with it the primary context.
#[derive(Debug)]
pub(crate) struct Gpu {
    /// `Gpu::drop` unloads them; then the context is released.
    kernels: Kernels,
    context: PrimaryContext,
    info: DeviceInfo,
    multiprocessors: u32,
}

/// The GPUs in use, by number: a context and its kernels are made once.
static IN_USE: Mutex<Option<HashMap<u32, Weak<Gpu>>>> = Mutex::new(None);

impl Gpu {
    /// Device number `ordinal`.
    pub(crate) fn open(ordinal: u32) -> Result<Arc<Self>, CudaError> {
        let (driver, device) = gpu::find(ordinal)?;
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = in_use.get_or_insert_default();
        if let Some(gpu) = in_use.get(&ordinal).and_then(Weak::upgrade) {
            return Ok(gpu);
        }
        let info = gpu::info(driver, device, ordinal)?;
        info.check()?;
        let context = PrimaryContext::retain(driver, device)?;
        let multiprocessors = gpu::multiprocessors(driver, device)?;
        let kernels = Kernels::new(&context.enter()?, info.compute_capability)?;
        let gpu = Arc::new(Self { kernels, context, info, multiprocessors });
        in_use.insert(ordinal, Arc::downgrade(&gpu));
        Ok(gpu)
    }

    /// One that is in use, else the first that can be.
    pub(crate) fn any() -> Result<Arc<Self>, CudaError> {
        let devices = gpu::devices()?;
        let in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let one = in_use.iter().flat_map(HashMap::values).find_map(Weak::upgrade);
        drop(in_use);
        if let Some(gpu) = one {
            return Ok(gpu);
        }
        let usable = devices.iter().find(|info| info.check().is_ok());
        Self::open(usable.map_or(0, |info| info.ordinal))
    }

    /// The driver with this device's context current on the calling thread, until what is returned is dropped:
    /// the driver's functions need it, and detectors may change threads.
    pub(super) fn enter(&self) -> Result<Entered, CudaError> {
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
        if self.context.handle == context { Ok(()) } else { Err(CudaError::OtherContext) }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if let Ok(cuda) = self.enter() {
            self.kernels.unload(&cuda);
        }
    }
}

/// The number of the device whose primary context a pointer's memory is in.
#[cfg(feature = "cust")]
pub(crate) fn device_of_pointer(pointer: super::ffi::Pointer) -> Result<u32, CudaError> {
    use super::ffi::{POINTER_ATTRIBUTE_CONTEXT, POINTER_ATTRIBUTE_DEVICE_ORDINAL};

    let driver = Driver::get()?;
    let (mut context, mut ordinal): (Handle, i32) = (std::ptr::null_mut(), -1);
    let mut attributes = [POINTER_ATTRIBUTE_CONTEXT, POINTER_ATTRIBUTE_DEVICE_ORDINAL];
    let mut values = [std::ptr::from_mut(&mut context).cast(), std::ptr::from_mut(&mut ordinal).cast()];
    // SAFETY: writes a handle and a number, as the attributes ask for. Any address may be asked about.
    unsafe { driver.cuPointerGetAttributes(2, attributes.as_mut_ptr(), values.as_mut_ptr(), pointer) }?;
    let ordinal = u32::try_from(ordinal).map_err(|_| CudaError::OtherContext)?;
    Gpu::open(ordinal)?.check_context(context)?;
    Ok(ordinal)
}

/// The number of the device whose primary context this is.
#[cfg(feature = "cust")]
pub(crate) fn device_of_context(context: Handle) -> Result<u32, CudaError> {
    let driver = Driver::get()?;
    let _callers = CallersContext::keep_with(driver);
    let mut device = 0;
    // SAFETY: the context is alive, as cust's type says; writes one number.
    unsafe {
        driver.cuCtxSetCurrent(context)?;
        driver.cuCtxGetDevice(&mut device)?;
    }
    // Devices are numbered as they are listed.
    let ordinal = device.unsigned_abs();
    Gpu::open(ordinal)?.check_context(context)?;
    Ok(ordinal)
}

/// A device's primary context, retained.
#[derive(Debug)]
struct PrimaryContext {
    driver: &'static Driver,
    device: super::ffi::Device,
    handle: Handle,
}

// SAFETY: the driver's functions on contexts may be called from any thread.
unsafe impl Send for PrimaryContext {}
// SAFETY: as above, also at once.
unsafe impl Sync for PrimaryContext {}

impl PrimaryContext {
    fn retain(driver: &'static Driver, device: super::ffi::Device) -> Result<Self, CudaError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        unsafe { driver.cuDevicePrimaryCtxRetain(&mut handle, device) }?;
        Ok(Self { driver, device, handle })
    }

    fn enter(&self) -> Result<Entered, CudaError> {
        fork::check()?;
        let callers = CallersContext::keep_with(self.driver);
        // SAFETY: the context is retained.
        unsafe { self.driver.cuCtxSetCurrent(self.handle) }?;
        Ok(Entered { driver: self.driver, _callers: callers })
    }
}

impl Drop for PrimaryContext {
    fn drop(&mut self) {
        if fork::check().is_ok() {
            // SAFETY: it was retained once. Where that fails nothing can be done.
            let _ = unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) };
        }
    }
}

/// The driver, with a device's context current on this thread.
#[derive(Debug)]
pub(super) struct Entered {
    driver: &'static Driver,
    _callers: CallersContext,
}

impl Deref for Entered {
    type Target = Driver;

    fn deref(&self) -> &Driver {
        self.driver
    }
}

thread_local! {
    /// Whether this thread is inside the crate, so that its caller's context is kept already.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The context that was current on this thread when the crate was called. It is made current again on drop, by
/// the outermost of those that are alive on the thread.
///
/// Every use of the driver keeps one, so that no call changes its caller's context. Public functions that use
/// the driver many times keep one for all of these.
#[derive(Debug)]
pub(crate) struct CallersContext {
    /// None where one further out restores it.
    restore: Option<(&'static Driver, Handle)>,
}

impl CallersContext {
    /// Keeps the context until what is returned is dropped. Without a driver there is none.
    pub(crate) fn keep() -> Self {
        match Driver::get() {
            Ok(driver) => Self::keep_with(driver),
            Err(_) => Self { restore: None },
        }
    }

    /// Keeps it, where there is a driver that can be used.
    #[cfg(feature = "cust")]
    pub(crate) fn keep_or_fail() -> Result<Self, CudaError> {
        Ok(Self::keep_with(Driver::get()?))
    }

    fn keep_with(driver: &'static Driver) -> Self {
        if INSIDE.get() {
            return Self { restore: None };
        }
        let mut current = std::ptr::null_mut();
        // SAFETY: writes one handle.
        let restore = unsafe { driver.cuCtxGetCurrent(&mut current) }.is_ok();
        INSIDE.set(restore);
        Self { restore: restore.then_some((driver, current)) }
    }
}

impl Drop for CallersContext {
    fn drop(&mut self) {
        if let Some((driver, handle)) = self.restore.take() {
            INSIDE.set(false);
            if fork::check().is_ok() {
                // SAFETY: the context was current a moment ago, so that it is alive; or it is none.
                let _ = unsafe { driver.cuCtxSetCurrent(handle) };
            }
        }
    }
}
