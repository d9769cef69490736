//! Functions of the driver that are called directly, with plain numbers for results.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::CudaError;

pub(super) type Handle = *mut c_void;
pub(super) type Pointer = u64;

pub(super) const OUT_OF_MEMORY: u32 = 2;
pub(super) const NO_DEVICE: u32 = 100;
pub(super) const UNSUPPORTED_PTX_VERSION: u32 = 222;
pub(super) const NOT_READY: u32 = 600;
pub(super) const STREAM_NON_BLOCKING: c_uint = 1;
pub(super) const STREAM_CAPTURE_MODE_RELAXED: c_uint = 2;
pub(super) const EVENT_RECORD_EXTERNAL: c_uint = 1;
pub(super) const EVENT_DISABLE_TIMING: c_uint = 2;
pub(super) const MEMHOSTALLOC_PORTABLE: c_uint = 1;
pub(super) const MEMHOSTALLOC_DEVICEMAP: c_uint = 2;
pub(super) const POINTER_ATTRIBUTE_MEMORY_TYPE: c_uint = 2;
pub(super) const MEMORYTYPE_HOST: c_uint = 1;
pub(super) const MEMORYTYPE_DEVICE: c_uint = 2;
pub(super) const JIT_ERROR_LOG_BUFFER: c_uint = 5;
pub(super) const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;

/// A copy of rows, CUDA_MEMCPY2D.
#[repr(C)]
pub(super) struct Copy2d {
    pub(super) from_x_bytes: usize,
    pub(super) from_y: usize,
    pub(super) from_type: c_uint,
    pub(super) from_host: *const c_void,
    pub(super) from_device: Pointer,
    pub(super) from_array: Handle,
    pub(super) from_pitch: usize,
    pub(super) to_x_bytes: usize,
    pub(super) to_y: usize,
    pub(super) to_type: c_uint,
    pub(super) to_host: *mut c_void,
    pub(super) to_device: Pointer,
    pub(super) to_array: Handle,
    pub(super) to_pitch: usize,
    pub(super) width_bytes: usize,
    pub(super) height: usize,
}

/// How a kernel is launched, CUlaunchConfig.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub(super) grid: [c_uint; 3],
    pub(super) block: [c_uint; 3],
    pub(super) shared_bytes: c_uint,
    pub(super) stream: Handle,
    pub(super) attributes: *const LaunchAttribute,
    pub(super) attribute_count: c_uint,
}

/// One of its attributes, CUlaunchAttribute, whose value is a number.
#[repr(C, align(8))]
pub(super) struct LaunchAttribute {
    name: c_uint,
    reserved: c_uint,
    value: c_uint,
    rest: [u32; 15],
}

impl LaunchAttribute {
    /// The kernel may be started before the one ahead of it in its stream has ended, once that allows it.
    pub(super) const EARLY: Self = Self { name: 6, reserved: 0, value: 1, rest: [0; 15] };
}

/// cuLaunchKernelEx.
pub(super) type LaunchEx =
    unsafe extern "C" fn(*const LaunchConfig, Handle, *mut *mut c_void, *mut *mut c_void) -> u32;

/// cuLaunchKernelEx, which drivers have from CUDA 11.8 on.
pub(super) fn launch_ex() -> Option<LaunchEx> {
    // SAFETY: null, or a function of that type.
    unsafe { std::mem::transmute::<*mut c_void, Option<LaunchEx>>(newer(c"cuLaunchKernelEx")) }
}

/// cuStreamWriteValue32.
pub(super) type WriteValue = unsafe extern "C" fn(Handle, Pointer, u32, c_uint) -> u32;

/// cuStreamWriteValue32, which such drivers have, too.
pub(super) fn write_value() -> Option<WriteValue> {
    // SAFETY: null, or a function of that type.
    unsafe { std::mem::transmute::<*mut c_void, Option<WriteValue>>(newer(c"cuStreamWriteValue32")) }
}

/// A function as CUDA 11.8 has it; null where the driver is older. It lives as long as the process.
fn newer(name: &CStr) -> *mut c_void {
    let mut function = std::ptr::null_mut();
    // SAFETY: the name ends with a zero; writes one pointer.
    let code = unsafe { cuGetProcAddress(name.as_ptr(), &mut function, 11080, 0) };
    if code == 0 { function } else { std::ptr::null_mut() }
}

// cust links the driver's library.
unsafe extern "C" {
    pub(super) fn cuInit(flags: c_uint) -> u32;
    pub(super) fn cuDriverGetVersion(version: *mut c_int) -> u32;
    pub(super) fn cuGetErrorName(code: u32, name: *mut *const c_char) -> u32;
    pub(super) fn cuCtxSetCurrent(context: Handle) -> u32;
    pub(super) fn cuMemAlloc_v2(pointer: *mut Pointer, bytes: usize) -> u32;
    pub(super) fn cuMemFree_v2(pointer: Pointer) -> u32;
    pub(super) fn cuMemHostAlloc(memory: *mut *mut c_void, bytes: usize, flags: c_uint) -> u32;
    pub(super) fn cuMemFreeHost(memory: *mut c_void) -> u32;
    pub(super) fn cuMemcpyHtoDAsync_v2(to: Pointer, from: *const c_void, bytes: usize, stream: Handle)
    -> u32;
    pub(super) fn cuMemcpy2DAsync_v2(copy: *const Copy2d, stream: Handle) -> u32;
    pub(super) fn cuPointerGetAttributes(
        count: c_uint,
        attributes: *mut c_uint,
        values: *mut *mut c_void,
        pointer: Pointer,
    ) -> u32;
    pub(super) fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: Pointer, bytes: usize, stream: Handle) -> u32;
    pub(super) fn cuMemsetD32Async(to: Pointer, word: c_uint, words: usize, stream: Handle) -> u32;
    pub(super) fn cuStreamCreate(stream: *mut Handle, flags: c_uint) -> u32;
    pub(super) fn cuStreamDestroy_v2(stream: Handle) -> u32;
    pub(super) fn cuStreamSynchronize(stream: Handle) -> u32;
    pub(super) fn cuStreamQuery(stream: Handle) -> u32;
    pub(super) fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: c_uint) -> u32;
    pub(super) fn cuEventCreate(event: *mut Handle, flags: c_uint) -> u32;
    pub(super) fn cuEventDestroy_v2(event: Handle) -> u32;
    pub(super) fn cuEventQuery(event: Handle) -> u32;
    pub(super) fn cuEventRecord(event: Handle, stream: Handle) -> u32;
    pub(super) fn cuEventRecordWithFlags(event: Handle, stream: Handle, flags: c_uint) -> u32;
    pub(super) fn cuStreamBeginCapture_v2(stream: Handle, mode: c_uint) -> u32;
    pub(super) fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> u32;
    pub(super) fn cuGraphInstantiateWithFlags(instance: *mut Handle, graph: Handle, flags: u64) -> u32;
    pub(super) fn cuGraphLaunch(instance: Handle, stream: Handle) -> u32;
    pub(super) fn cuGraphExecDestroy(instance: Handle) -> u32;
    pub(super) fn cuGraphDestroy(graph: Handle) -> u32;
    pub(super) fn cuEventSynchronize(event: Handle) -> u32;
    pub(super) fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) -> u32;
    pub(super) fn cuModuleLoadDataEx(
        module: *mut Handle,
        image: *const c_void,
        options: c_uint,
        names: *mut c_uint,
        values: *mut *mut c_void,
    ) -> u32;
    pub(super) fn cuModuleUnload(module: Handle) -> u32;
    pub(super) fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> u32;
    fn cuGetProcAddress(name: *const c_char, function: *mut *mut c_void, version: c_int, flags: u64) -> u32;
    pub(super) fn cuLaunchKernel(
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
    ) -> u32;
}

/// The result of a call.
pub(super) fn check(call: &'static str, code: u32) -> Result<(), CudaError> {
    match code {
        0 => Ok(()),
        NO_DEVICE => Err(CudaError::NoDevice),
        code => Err(CudaError::Driver { call, code, name: name(code) }),
    }
}

/// The driver's name for a result.
pub(super) fn name(code: u32) -> String {
    let mut text = std::ptr::null();
    // SAFETY: writes a pointer to a string that lives as long as the process, or fails.
    unsafe {
        if cuGetErrorName(code, &mut text) == 0 && !text.is_null() {
            return CStr::from_ptr(text).to_string_lossy().into_owned();
        }
    }
    "an error without a name".to_owned()
}

/// The driver's CUDA version, major and minor.
pub(super) fn driver_version() -> Result<(u32, u32), CudaError> {
    let mut version = 0;
    // SAFETY: writes one number.
    check("cuDriverGetVersion", unsafe { cuDriverGetVersion(&mut version) })?;
    let version = version.unsigned_abs();
    Ok((version / 1000, version % 1000 / 10))
}
