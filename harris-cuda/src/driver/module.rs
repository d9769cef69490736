//! The kernels, compiled for a device.

use std::ffi::{CString, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use harris_gpu_kernels::abi::{Kernel, early_start, specialise};

use super::context::ActiveContext;
use super::ffi::{self, Handle};
use super::library::Failure;
use crate::{CudaError, ptx};

/// The kernels of a context. Each variant is unpacked and compiled when it is first launched: all
/// of them together take seconds, and an application needs only a few.
#[derive(Debug)]
pub(super) struct Kernels {
    /// Indexed by the kernel's position in [`Kernel::ALL`], and by variant.
    modules: Vec<Vec<OnceLock<Module>>>,
    /// Held during a compilation.
    compiling: Mutex<()>,
    /// The device's compute capability.
    capability: (u32, u32),
    /// Whether kernels can start before their predecessors have ended (CUDA's programmatic
    /// dependent launch).
    launches_early: bool,
    /// Whether recordings can contain such launches.
    records_early: bool,
}

impl Kernels {
    /// Makes the kernels of a device. One is compiled at once, to show that the driver can compile
    /// them.
    pub(super) fn new(cuda: &ActiveContext, capability: (u32, u32)) -> Result<Self, CudaError> {
        let modules = (Kernel::ALL.iter())
            .map(|&kernel| (0..specialise::variants(kernel)).map(|_| OnceLock::new()).collect());
        let modules = modules.collect();
        let launches_early = capability >= early_start::LEAST && cuda.has.cuLaunchKernelEx;
        let records_early = cuda.version()? >= MIN_VERSION_TO_RECORD_EARLY;
        let kernels = Self { modules, compiling: Mutex::new(()), capability, launches_early, records_early };
        kernels.function(cuda, PROBE, 0)?;
        Ok(kernels)
    }

    /// Whether a kernel is launched so that it may start before its predecessor ends. `recording`
    /// tells whether the launch is recorded.
    pub(super) fn launches_early(&self, kernel: Kernel, recording: bool) -> bool {
        self.launches_early && kernel.waits_for_previous_kernels() && (!recording || self.records_early)
    }

    /// Whether the device can start kernels before their predecessors have ended.
    pub(super) fn starts_early(&self) -> bool {
        self.launches_early
    }

    /// Returns the function of a kernel's variant, compiled if it is new.
    pub(super) fn function(
        &self,
        cuda: &ActiveContext,
        kernel: Kernel,
        variant: usize,
    ) -> Result<Handle, CudaError> {
        let place = &self.modules[kernel as usize][variant];
        if let Some(module) = place.get() {
            return Ok(module.function);
        }
        let _alone = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = place.get() {
            return Ok(module.function);
        }
        let text = ptx::kernel(ptx::ARCHIVE, kernel.name()).expect("the archive has every kernel");
        let text = specialise::ptx(&text, kernel, variant).expect("a test sets every constant");
        let module = Module::load(cuda, &text, kernel, self.capability)?;
        Ok(place.get_or_init(|| module).function)
    }

    /// Unloads all kernels. Nothing may launch them afterwards.
    pub(super) fn unload(&mut self, cuda: &ActiveContext) {
        for module in self.modules.iter_mut().flatten().filter_map(OnceLock::take) {
            // SAFETY: the module is loaded, and nothing holds its function. A failure here cannot
            // be handled.
            let _ = unsafe { cuda.cuModuleUnload(module.handle) };
        }
    }
}

/// The first CUDA version whose drivers can record launches that start early.
const MIN_VERSION_TO_RECORD_EARLY: (u32, u32) = (12, 3);

/// A small kernel, which compiles quickly.
const PROBE: Kernel = Kernel::set_threshold;

/// A compiled kernel of a context.
#[derive(Debug)]
struct Module {
    handle: Handle,
    function: Handle,
}

// SAFETY: the driver's functions on modules and functions may be called from any thread.
unsafe impl Send for Module {}
// SAFETY: the driver's functions on modules may be called by several threads at once.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles the PTX of a kernel.
    fn load(
        cuda: &ActiveContext,
        text: &str,
        kernel: Kernel,
        capability: (u32, u32),
    ) -> Result<Self, CudaError> {
        let text = if capability >= early_start::LEAST { early_start::ptx(text) } else { text.to_owned() };
        let image = CString::new(text).expect("PTX has no zero bytes");
        let mut log = vec![0_u8; 16 << 10];
        let mut names = [ffi::JIT_ERROR_LOG_BUFFER, ffi::JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        let mut handle = std::ptr::null_mut();
        // SAFETY: the image ends with a zero; the options are a buffer and its size, as their names
        // demand.
        let loaded = unsafe {
            cuda.cuModuleLoadDataEx(
                &mut handle,
                image.as_ptr().cast(),
                names.len() as u32,
                names.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match loaded {
            Ok(()) => {}
            // These codes mean a fault in the code itself.
            Err(Failure { code: code @ 200..300, .. }) => {
                let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
                let message = String::from_utf8_lossy(&log[..end]).trim().to_owned();
                return Err(CudaError::Kernels {
                    log: format!("{} ({code}) {message}", cuda.error_name(code)),
                });
            }
            Err(failure) => return Err(failure.into()),
        }
        let mut module = Self { handle, function: std::ptr::null_mut() };
        let name = CString::new(kernel.name()).expect("a name has no zero bytes");
        // SAFETY: the module is loaded, the name ends with a zero.
        let found = unsafe { cuda.cuModuleGetFunction(&mut module.function, handle, name.as_ptr()) };
        if let Err(failure) = found {
            // SAFETY: the module is loaded.
            let _ = unsafe { cuda.cuModuleUnload(handle) };
            return Err(failure.into());
        }
        Ok(module)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ptx_that_is_too_new_or_broken_is_an_error() {
        let _alone = crate::driver::tests::ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(gpu) = crate::driver::tests::gpu() else { return };
        let cuda = gpu.enter().unwrap();
        let load = |text: &str| Module::load(&cuda, text, PROBE, gpu.info().compute_capability);
        let good = ptx::kernel(ptx::ARCHIVE, PROBE.name()).unwrap();
        for text in [good.replace(".version 7.8", ".version 9.9"), good.replace("ret;", "return;")] {
            let error = load(&text).unwrap_err();
            assert!(matches!(&error, CudaError::Kernels { log } if log.len() > 30), "{error}");
        }
        // The context still works.
        let module = load(&good).unwrap();
        // SAFETY: the module is loaded.
        unsafe { cuda.cuModuleUnload(module.handle) }.unwrap();
    }
}
