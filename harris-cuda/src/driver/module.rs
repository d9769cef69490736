//! The kernels, compiled for a device.

use std::ffi::{CString, c_void};
use std::sync::{Mutex, OnceLock, PoisonError};

use harris_gpu_kernels::abi::{Kernel, chained};

use super::ffi::{self, Handle};
use crate::CudaError;

/// The kernels of a context. Each is compiled when it is first asked for: all of them together take seconds, and an application
/// needs but a few.
#[derive(Debug)]
pub(super) struct Kernels {
    /// By the kernel's place in [`Kernel::ALL`].
    modules: Vec<OnceLock<Module>>,
    /// Held by whoever compiles.
    compiling: Mutex<()>,
    /// The device's.
    capability: (u32, u32),
    /// What launches a kernel that may start early, where the device has such, and whether that can be recorded.
    launch_early: Option<ffi::LaunchEx>,
    records_early: bool,
}

impl Kernels {
    /// Those of the current context's device, of which one is compiled to see whether its driver can.
    pub(super) fn new(capability: (u32, u32)) -> Result<Self, CudaError> {
        let modules = Kernel::ALL.iter().map(|_| OnceLock::new()).collect();
        let launch_early = if capability >= chained::LEAST { ffi::launch_ex() } else { None };
        let records_early = ffi::driver_version()? >= RECORDS_EARLY;
        let kernels = Self { modules, compiling: Mutex::new(()), capability, launch_early, records_early };
        kernels.function(SMALL)?;
        Ok(kernels)
    }

    /// What launches a kernel before those ahead of it have ended, or records that it is to be.
    pub(super) fn launch_early(&self, kernel: Kernel, recording: bool) -> Option<ffi::LaunchEx> {
        self.launch_early.filter(|_| kernel.awaits_last() && (!recording || self.records_early))
    }

    /// Whether the device can start kernels before those ahead of them have ended.
    pub(super) fn starts_early(&self) -> bool {
        self.launch_early.is_some()
    }

    /// What is launched. Its context is the current one.
    pub(super) fn function(&self, kernel: Kernel) -> Result<Handle, CudaError> {
        let place = &self.modules[kernel as usize];
        if let Some(module) = place.get() {
            return Ok(module.function);
        }
        let _alone = self.compiling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = place.get() {
            return Ok(module.function);
        }
        let module = Module::load(crate::device::PTX, kernel, self.capability)?;
        Ok(place.get_or_init(|| module).function)
    }
}

/// The first drivers that can record kernels which start early.
const RECORDS_EARLY: (u32, u32) = (12, 3);

/// A kernel that is compiled in no time.
const SMALL: Kernel = Kernel::threshold;

/// A kernel of a context.
#[derive(Debug)]
struct Module {
    handle: Handle,
    function: Handle,
}

// SAFETY: the driver's functions on modules and functions may be called from any thread.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

impl Module {
    /// Compiles a kernel of PTX for the current context's device.
    fn load(ptx: &str, kernel: Kernel, capability: (u32, u32)) -> Result<Self, CudaError> {
        let text = single(ptx, kernel.name());
        let text = if capability >= chained::LEAST { chained::ptx(&text) } else { text };
        let image = CString::new(text).expect("PTX has no zero bytes");
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
        let mut module = Self { handle, function: std::ptr::null_mut() };
        let name = CString::new(kernel.name()).expect("a name has no zero bytes");
        // SAFETY: the module is loaded, the name ends with a zero.
        let code = unsafe { ffi::cuModuleGetFunction(&mut module.function, handle, name.as_ptr()) };
        ffi::check("cuModuleGetFunction", code)?;
        Ok(module)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the module is loaded and nothing holds its function any more.
        unsafe { ffi::cuModuleUnload(self.handle) };
    }
}

/// PTX with that entry point alone: what comes before all of them, and its own part.
fn single<'a>(ptx: &'a str, name: &str) -> String {
    const ENTRY: &str = "\n.visible .entry ";
    let head = ptx.find(ENTRY).unwrap_or(ptx.len());
    let own: &'a str = (ptx[head..].split_inclusive("\n}\n"))
        .find(|part| {
            let named = part.split_once(ENTRY).and_then(|(_, rest)| rest.strip_prefix(name));
            named.is_some_and(|rest| rest.starts_with('('))
        })
        .unwrap_or_default();
    [&ptx[..head], own].concat()
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
    fn every_kernel_stands_alone() {
        for kernel in Kernel::ALL {
            let ptx = single(crate::device::PTX, kernel.name());
            assert_eq!(ptx.matches(".entry").count(), 1, "{kernel:?}");
            assert!(ptx.contains(&format!(".entry {}(", kernel.name())) && ptx.ends_with("\n}\n"), "{ptx}");
            assert_eq!(version(&ptx), (7, 8));
        }
        assert_eq!(single(crate::device::PTX, "none").matches(".entry").count(), 0);
    }

    /// Before they touch memory.
    #[test]
    fn kernels_wait_that_are_launched_as_such() {
        for kernel in Kernel::ALL {
            let chain = chained::ptx(&single(crate::device::PTX, kernel.name()));
            assert_eq!(chain.matches("\n.target sm_90\n").count(), 1, "{kernel:?}");
            assert_eq!(
                chain.matches("\n\tgriddepcontrol.wait;").count(),
                usize::from(kernel.awaits_last()),
                "{kernel:?}"
            );
            let before = chain.split_once("griddepcontrol.wait").map_or("", |(before, _)| before);
            let accesses = |access: &str| before.contains(&format!("\t{access}.global"));
            assert!(!["ld", "ld.relaxed.gpu", "st", "atom", "red"].into_iter().any(accesses), "{kernel:?}");
        }
    }

    #[test]
    fn ptx_that_is_too_new_or_broken_is_an_error() {
        let _alone = crate::driver::tests::ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(gpu) = crate::driver::Gpu::open(0) else {
            println!("no GPU: not tried");
            return;
        };
        gpu.enter().unwrap();
        let newer = crate::device::PTX.replace(".version 7.8", ".version 9.9");
        match Module::load(&newer, SMALL, gpu.info().compute_capability).unwrap_err() {
            CudaError::DriverTooOld { driver, ptx } => {
                assert!(driver >= (11, 8), "{driver:?}");
                assert_eq!(ptx, (9, 9));
            }
            error => panic!("{error}"),
        }
        let broken = crate::device::PTX.replace("ret;", "return;");
        let error = Module::load(&broken, SMALL, gpu.info().compute_capability).unwrap_err();
        assert!(matches!(&error, CudaError::Kernels { log } if log.len() > 30), "{error}");
        // And the context is none the worse for it.
        Module::load(crate::device::PTX, SMALL, gpu.info().compute_capability).unwrap();
    }
}
