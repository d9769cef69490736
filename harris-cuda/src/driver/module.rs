//! The kernels, compiled for a device.

use std::ffi::{CString, c_void};

use harris_gpu_kernels::abi::Kernel;

use super::ffi::{self, Handle};
use crate::CudaError;

/// Kernels of a context.
#[derive(Debug)]
pub(super) struct Module {
    handle: Handle,
    /// By the kernel's place in [`Kernel::ALL`].
    functions: Vec<Handle>,
}

// SAFETY: the driver's functions on modules and functions may be called from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles PTX for the current context's device.
    pub(super) fn load(ptx: &str) -> Result<Self, CudaError> {
        let image = CString::new(ptx).expect("PTX has no zero bytes");
        let mut log = vec![0_u8; 16 << 10];
        let mut names = [ffi::JIT_ERROR_LOG_BUFFER, ffi::JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), std::ptr::without_provenance_mut(log.len())];
        let mut handle = std::ptr::null_mut();
        // SAFETY: the image ends with a zero; the options are a buffer and its size, as their names ask for.
        let code = unsafe {
            ffi::cuModuleLoadDataEx(
                &mut handle,
                image.as_ptr().cast(),
                names.len() as u32,
                names.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match code {
            0 => {}
            ffi::UNSUPPORTED_PTX_VERSION => {
                return Err(CudaError::DriverTooOld { driver: ffi::driver_version()?, ptx: version(ptx) });
            }
            // Anything that is wrong with the code itself.
            200..300 => {
                let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
                let said = String::from_utf8_lossy(&log[..end]).trim().to_owned();
                return Err(CudaError::Kernels { log: format!("{} ({code}) {said}", ffi::name(code)) });
            }
            code => ffi::check("cuModuleLoadDataEx", code)?,
        }
        let mut module = Self { handle, functions: Vec::new() };
        for kernel in Kernel::ALL {
            let name = CString::new(kernel.name()).expect("a name has no zero bytes");
            let mut function = std::ptr::null_mut();
            // SAFETY: the module is loaded, the name ends with a zero.
            let code = unsafe { ffi::cuModuleGetFunction(&mut function, module.handle, name.as_ptr()) };
            ffi::check("cuModuleGetFunction", code)?;
            module.functions.push(function);
        }
        Ok(module)
    }

    pub(super) fn function(&self, kernel: Kernel) -> Handle {
        self.functions[kernel as usize]
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is loaded and nothing holds its functions any more.
        unsafe { ffi::cuModuleUnload(self.handle) };
    }
}

/// The version that PTX says it has.
fn version(ptx: &str) -> (u32, u32) {
    let text = ptx.lines().find_map(|line| line.trim().strip_prefix(".version ")).unwrap_or_default();
    let (major, minor) = text.trim().split_once('.').unwrap_or_default();
    (major.parse().unwrap_or_default(), minor.parse().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_ptx_is_read() {
        assert_eq!(version("// Generated\n\n.version 7.8\n.target sm_75\n"), (7, 8));
        assert_eq!(version(crate::device::PTX), (7, 8));
        assert_eq!(version(""), (0, 0));
    }

    #[test]
    fn ptx_that_is_too_new_or_broken_is_an_error() {
        let _alone = crate::driver::tests::ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let Ok(gpu) = crate::driver::Gpu::open(0) else {
            println!("no GPU: not tried");
            return;
        };
        gpu.enter().unwrap();
        let newer = crate::device::PTX.replace(".version 7.8", ".version 9.9");
        match Module::load(&newer).unwrap_err() {
            CudaError::DriverTooOld { driver, ptx } => {
                assert!(driver >= (11, 8), "{driver:?}");
                assert_eq!(ptx, (9, 9));
            }
            error => panic!("{error}"),
        }
        let broken = crate::device::PTX.replace("ret;", "return;");
        let error = Module::load(&broken).unwrap_err();
        assert!(matches!(&error, CudaError::Kernels { log } if log.len() > 30), "{error}");
        // And the context is none the worse for it.
        Module::load(crate::device::PTX).unwrap();
    }
}
