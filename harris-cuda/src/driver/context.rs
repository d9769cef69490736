//! A device's primary context, current while the crate uses it, and the caller's own context.

use std::cell::Cell;
use std::ops::Deref;

use super::ffi::{self, Handle};
use super::fork;
use super::library::Driver;
use crate::CudaError;

/// A device's primary context, retained until it is dropped.
#[derive(Debug)]
pub(super) struct PrimaryContext {
    driver: &'static Driver,
    device: ffi::Device,
    handle: Handle,
}

// SAFETY: the driver's functions on contexts may be called from any thread.
unsafe impl Send for PrimaryContext {}
// SAFETY: the driver's functions on contexts may be called by several threads at once.
unsafe impl Sync for PrimaryContext {}

impl PrimaryContext {
    pub(super) fn retain(driver: &'static Driver, device: ffi::Device) -> Result<Self, CudaError> {
        let mut handle = std::ptr::null_mut();
        // SAFETY: writes one handle.
        unsafe { driver.cuDevicePrimaryCtxRetain(&mut handle, device) }?;
        Ok(Self { driver, device, handle })
    }

    pub(super) fn enter(&self) -> Result<ActiveContext, CudaError> {
        fork::check()?;
        let guard = ContextGuard::save_with(self.driver);
        // SAFETY: the context is retained.
        unsafe { self.driver.cuCtxSetCurrent(self.handle) }?;
        Ok(ActiveContext { driver: self.driver, _guard: guard })
    }
}

impl PrimaryContext {
    /// The driver's handle of the context.
    #[cfg(feature = "cust")]
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }
}

impl Drop for PrimaryContext {
    fn drop(&mut self) {
        if fork::check().is_ok() {
            // SAFETY: it was retained once. A failure here cannot be handled.
            let _ = unsafe { self.driver.cuDevicePrimaryCtxRelease_v2(self.device) };
        }
    }
}

/// The driver, with a device's context current on this thread while this value is alive.
#[derive(Debug)]
pub(super) struct ActiveContext {
    driver: &'static Driver,
    _guard: ContextGuard,
}

impl Deref for ActiveContext {
    type Target = Driver;

    fn deref(&self) -> &Driver {
        self.driver
    }
}

thread_local! {
    /// Whether this thread is inside a call of the crate, so that the caller's context is saved
    /// already.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Restores the context that was current on this thread when the crate was called. If several
/// guards are alive on a thread, the outermost restores it.
///
/// Every use of the driver has a guard, so no call changes its caller's context. Public functions
/// that use the driver many times hold one for all of these uses.
#[derive(Debug)]
pub(crate) struct ContextGuard {
    /// None if an outer guard restores it.
    restore: Option<(&'static Driver, Handle)>,
}

impl ContextGuard {
    /// Saves the context until the guard is dropped. Without a driver there is none to save.
    pub(crate) fn save() -> Self {
        match Driver::get() {
            Ok(driver) => Self::save_with(driver),
            Err(_) => Self { restore: None },
        }
    }

    /// Saves the context; fails if the driver cannot be used.
    #[cfg(feature = "cust")]
    pub(crate) fn try_save() -> Result<Self, CudaError> {
        Ok(Self::save_with(Driver::get()?))
    }

    pub(super) fn save_with(driver: &'static Driver) -> Self {
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

impl Drop for ContextGuard {
    fn drop(&mut self) {
        if let Some((driver, handle)) = self.restore.take() {
            INSIDE.set(false);
            if fork::check().is_ok() {
                // SAFETY: the context was current when the guard was made, so it is alive; or it is
                // null.
                let _ = unsafe { driver.cuCtxSetCurrent(handle) };
            }
        }
    }
}
