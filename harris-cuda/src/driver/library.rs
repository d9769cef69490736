//! CUDA's driver library, loaded when it is first needed.
//!
//! `libcuda.so.1` (`nvcuda.dll` on Windows) comes with NVIDIA's driver. A program that uses this
//! crate starts without it; calls then return [`CudaError::NoDriver`].

#![allow(non_snake_case, reason = "functions have the names that the library exports")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::Library;

use super::ffi::{self, Copy2d, Device, Handle, LaunchConfig, Pointer};
use super::fork;
use crate::{CudaError, ptx};

/// The library's file name, which the system's loader searches for.
const NAME: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// A call of the driver that did not succeed, and the code it returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    pub(super) call: &'static str,
    pub(super) code: u32,
}

impl From<Failure> for CudaError {
    fn from(Failure { call, code }: Failure) -> Self {
        match code {
            ffi::NO_DEVICE => Self::NoDevice,
            code => {
                let driver = DRIVER.get().and_then(|driver| driver.as_ref().ok());
                let name = driver.map_or_else(String::new, |driver| driver.error_name(code));
                Self::Driver { call, code, name }
            }
        }
    }
}

/// Makes the table of functions. Each becomes a method of [`Driver`] that returns a [`Failure`] for
/// every result but success. A library without one of the `needed` functions is refused. `has`
/// tells which of the `optional` ones exist.
macro_rules! driver {
    (
        needed { $($(#[$attribute:meta])* fn $needed:ident($($arg:ident: $type:ty),* $(,)?);)* }
        optional { $(fn $optional:ident($($option_arg:ident: $option_type:ty),* $(,)?);)* }
    ) => {
        /// The driver's functions, by their exported names.
        pub(super) struct Driver {
            $($(#[$attribute])* $needed: unsafe extern "system" fn($($type),*) -> u32,)*
            $($optional: Option<unsafe extern "system" fn($($option_type),*) -> u32>,)*
            /// Tells which of the optional functions exist.
            pub(super) has: Has,
        }

        pub(super) struct Has {
            $(pub(super) $optional: bool,)*
        }

        impl Driver {
            fn from_library(library: &'static Library) -> Result<Self, CudaError> {
                // SAFETY: the types are those of `cuda.h` for these names, and the library stays
                // loaded.
                unsafe {
                    $(let $optional = library.get(stringify!($optional)).ok().map(|symbol| *symbol);)*
                    Ok(Self {
                        $($(#[$attribute])* $needed: *library
                            .get(stringify!($needed))
                            .map_err(|_| CudaError::DriverIncomplete { function: stringify!($needed) })?,)*
                        has: Has { $($optional: $optional.is_some(),)* },
                        $($optional,)*
                    })
                }
            }

            $(driver!(@method $(#[$attribute])* $needed, ($($arg: $type),*), |function| function);)*
            $(driver!(@method $optional, ($($option_arg: $option_type),*), |function| {
                // Callers check `has` first.
                function.ok_or(Failure { call: stringify!($optional), code: ffi::NOT_FOUND })?
            });)*
        }
    };
    (@method $(#[$attribute:meta])* $name:ident, ($($arg:ident: $type:ty),*), |$function:ident| $found:expr) => {
        /// Calls the driver's function of this name.
        ///
        /// # Safety
        /// The conditions of `cuda.h` hold: pointers are valid for what the function reads and
        /// writes, and handles are alive.
        $(#[$attribute])*
        #[inline]
        pub(super) unsafe fn $name(&self, $($arg: $type),*) -> Result<(), Failure> {
            let $function = self.$name;
            // SAFETY: the caller keeps the function's conditions, by the contract of this method.
            match unsafe { ($found)($($arg),*) } {
                0 => Ok(()),
                code => Err(Failure { call: stringify!($name), code }),
            }
        }
    };
}

driver! {
    needed {
        fn cuInit(flags: c_uint);
        fn cuDriverGetVersion(version: *mut c_int);
        fn cuGetErrorName(code: u32, name: *mut *const c_char);
        fn cuDeviceGetCount(count: *mut c_int);
        fn cuDeviceGet(device: *mut Device, ordinal: c_int);
        fn cuDeviceGetName(name: *mut c_char, length: c_int, device: Device);
        fn cuDeviceTotalMem_v2(bytes: *mut usize, device: Device);
        fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: Device);
        fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: Device);
        fn cuDevicePrimaryCtxRelease_v2(device: Device);
        fn cuCtxGetCurrent(context: *mut Handle);
        fn cuCtxSetCurrent(context: Handle);
        #[cfg(feature = "cust")]
        fn cuCtxGetDevice(device: *mut Device);
        fn cuMemAlloc_v2(pointer: *mut Pointer, bytes: usize);
        fn cuMemFree_v2(pointer: Pointer);
        #[cfg(test)]
        fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
        fn cuMemHostAlloc(memory: *mut *mut c_void, bytes: usize, flags: c_uint);
        fn cuMemFreeHost(memory: *mut c_void);
        fn cuMemcpyHtoDAsync_v2(to: Pointer, from: *const c_void, bytes: usize, stream: Handle);
        fn cuMemcpy2DAsync_v2(copy: *const Copy2d, stream: Handle);
        fn cuPointerGetAttributes(
            count: c_uint,
            attributes: *mut c_uint,
            values: *mut *mut c_void,
            pointer: Pointer,
        );
        fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Pointer, bytes: usize, stream: Handle);
        fn cuMemsetD32Async(to: Pointer, word: c_uint, words: usize, stream: Handle);
        fn cuStreamCreate(stream: *mut Handle, flags: c_uint);
        fn cuStreamDestroy_v2(stream: Handle);
        fn cuStreamSynchronize(stream: Handle);
        fn cuStreamQuery(stream: Handle);
        fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint);
        fn cuEventCreate(event: *mut Handle, flags: c_uint);
        fn cuEventDestroy_v2(event: Handle);
        fn cuEventQuery(event: Handle);
        fn cuEventRecord(event: Handle, stream: Handle);
        fn cuEventSynchronize(event: Handle);
        fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle);
        fn cuModuleLoadDataEx(
            module: *mut Handle,
            image: *const c_void,
            options: c_uint,
            names: *mut c_uint,
            values: *mut *mut c_void,
        );
        fn cuModuleUnload(module: Handle);
        fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char);
        fn cuLaunchKernel(
            function: Handle,
            grid_x: c_uint,
            grid_y: c_uint,
            grid_z: c_uint,
            block_x: c_uint,
            block_y: c_uint,
            block_z: c_uint,
            shared_bytes: c_uint,
            stream: Handle,
            parameters: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
    }
    optional {
        // Launch attributes, from CUDA 11.8 on.
        fn cuLaunchKernelEx(
            config: *const LaunchConfig,
            function: Handle,
            parameters: *mut *mut c_void,
            extra: *mut *mut c_void,
        );
        // Words written in stream order, in this form from CUDA 11.7 on.
        fn cuStreamWriteValue32_v2(stream: Handle, address: Pointer, value: u32, flags: c_uint);
        // Graphs, in this form from CUDA 11.4 on.
        fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint);
        fn cuStreamBeginCapture_v2(stream: Handle, mode: c_uint);
        fn cuStreamEndCapture(stream: Handle, graph: *mut Handle);
        fn cuGraphInstantiateWithFlags(instance: *mut Handle, graph: Handle, flags: u64);
        fn cuGraphLaunch(instance: Handle, stream: Handle);
        fn cuGraphExecDestroy(instance: Handle);
        fn cuGraphDestroy(graph: Handle);
    }
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver").finish_non_exhaustive()
    }
}

/// The driver, or why it cannot be used, after the first call. Neither changes while a program
/// runs.
static DRIVER: OnceLock<Result<Driver, CudaError>> = OnceLock::new();

impl Driver {
    /// Returns the driver. The first call loads and starts it, and checks that it is new enough for
    /// this crate's kernels.
    pub(super) fn get() -> Result<&'static Self, CudaError> {
        fork::check()?;
        if let Some(driver) = DRIVER.get() {
            return driver.as_ref().map_err(Clone::clone);
        }
        fork::watch();
        let driver = DRIVER.get_or_init(|| Self::load().and_then(Self::start));
        if driver.is_err() {
            // A forked child may try again without harm.
            fork::not_started();
        }
        driver.as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Self, CudaError> {
        match open() {
            Ok(library) => {
                // The library stays loaded even if it is refused: it may have started threads.
                let library = Box::leak(Box::new(library));
                check_version(library)?;
                Self::from_library(library)
            }
            Err(error) => {
                // The loader's message names the file and the fault.
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                let reason = cause.unwrap_or_else(|| format!("{NAME}: {error}"));
                Err(CudaError::NoDriver { reason })
            }
        }
    }

    fn start(self) -> Result<Self, CudaError> {
        // SAFETY: takes no pointers.
        match unsafe { self.cuInit(0) } {
            Ok(()) => {}
            Err(Failure { code: ffi::NO_DEVICE, .. }) => return Err(CudaError::NoDevice),
            Err(Failure { code, .. }) => {
                return Err(CudaError::DriverFailed { code, name: self.error_name(code) });
            }
        }
        Ok(self)
    }

    /// Returns the CUDA version of the driver, major and minor.
    pub(super) fn version(&self) -> Result<(u32, u32), CudaError> {
        let mut version = 0;
        // SAFETY: writes one number.
        unsafe { self.cuDriverGetVersion(&mut version) }?;
        Ok(major_minor(version))
    }

    /// Returns the driver's name for a result.
    pub(super) fn error_name(&self, code: u32) -> String {
        let mut text = std::ptr::null();
        // SAFETY: writes a pointer to a string that lives as long as the process, or fails.
        unsafe {
            if self.cuGetErrorName(code, &mut text).is_ok() && !text.is_null() {
                return CStr::from_ptr(text).to_string_lossy().into_owned();
            }
        }
        "unnamed error".to_owned()
    }
}

/// Loads the library.
fn open() -> Result<Library, libloading::Error> {
    // Only from the system's folder, and not from beside the program.
    #[cfg(windows)]
    // SAFETY: the driver's library has no conditions on being loaded.
    let library = unsafe {
        use libloading::os::windows::{LOAD_LIBRARY_SEARCH_SYSTEM32, Library};

        Library::load_with_flags(NAME, LOAD_LIBRARY_SEARCH_SYSTEM32).map(Into::into)
    };
    #[cfg(not(windows))]
    // SAFETY: the driver's library has no conditions on being loaded.
    let library = unsafe { Library::new(NAME) };
    library
}

/// Refuses a driver that is too old, before looking up functions that it cannot have. A driver that
/// does not tell its version is refused later.
fn check_version(library: &'static Library) -> Result<(), CudaError> {
    type GetVersion = unsafe extern "system" fn(*mut c_int) -> u32;
    let mut version = 0;
    // SAFETY: the function has this type in every version, and writes one number. It may be called
    // before cuInit.
    let code = unsafe { library.get::<GetVersion>("cuDriverGetVersion").map(|get| get(&mut version)) };
    let driver = major_minor(version);
    if matches!(code, Ok(0)) && driver < ptx::NEEDS_CUDA {
        return Err(CudaError::DriverTooOld { driver, needed: ptx::NEEDS_CUDA });
    }
    Ok(())
}

/// Converts CUDA's number for a version to major and minor.
fn major_minor(version: c_int) -> (u32, u32) {
    let version = version.unsigned_abs();
    (version / 1000, version % 1000 / 10)
}
