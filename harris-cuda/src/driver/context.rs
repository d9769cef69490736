//! A device with its primary context and its kernels, shared by all detectors on it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cust::context::{Context, ContextHandle};

use super::ffi::{self, Handle};
use super::gpu::{self, DeviceInfo};
use super::module::Kernels;
use crate::CudaError;

/// The least compute capability that the PTX is for.
const NEEDED: (u32, u32) = (7, 5);

/// A GPU in use. Memory, streams and detectors hold it, and with it the primary context.
#[derive(Debug)]
pub(crate) struct Gpu {
    // In this order: kernels are unloaded before the context is released.
    kernels: Kernels,
    context: Context,
    info: DeviceInfo,
    multiprocessors: u32,
}

/// The GPUs in use, by number: a context and its kernels are made once.
static IN_USE: Mutex<Option<HashMap<u32, Weak<Gpu>>>> = Mutex::new(None);

impl Gpu {
    /// Device number `ordinal`.
    pub(crate) fn open(ordinal: u32) -> Result<Arc<Self>, CudaError> {
        let device = gpu::find(ordinal)?;
        let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let in_use = in_use.get_or_insert_default();
        if let Some(gpu) = in_use.get(&ordinal).and_then(Weak::upgrade) {
            return Ok(gpu);
        }
        let info = gpu::info(device, ordinal)?;
        if info.compute_capability < NEEDED {
            return Err(CudaError::DeviceTooOld {
                name: info.name,
                found: info.compute_capability,
                needed: NEEDED,
            });
        }
        let context = gpu::translate("cuDevicePrimaryCtxRetain", Context::new(device))?;
        enter(&context)?;
        let kernels = Kernels::new(info.compute_capability)?;
        let multiprocessors = gpu::multiprocessors(device)?;
        let gpu = Arc::new(Self { kernels, context, info, multiprocessors });
        in_use.insert(ordinal, Arc::downgrade(&gpu));
        Ok(gpu)
    }

    /// Makes the context that of the calling thread: the driver's calls need it, and detectors may change threads.
    pub(super) fn enter(&self) -> Result<(), CudaError> {
        enter(&self.context)
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
}

fn enter(context: &Context) -> Result<(), CudaError> {
    let handle: Handle = context.get_inner().cast();
    // SAFETY: the handle is that of a context which is held.
    ffi::check("cuCtxSetCurrent", unsafe { ffi::cuCtxSetCurrent(handle) })
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // The kernels are about to be unloaded, which needs their context. Where that fails nothing can be done.
        let _ = self.enter();
    }
}
