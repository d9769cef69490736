//! Types and constants of CUDA's driver API, from `cuda.h`.

use std::ffi::{c_uint, c_void};

pub(super) type Handle = *mut c_void;
pub(super) type Pointer = u64;
/// CUdevice: a device's number.
pub(super) type Device = i32;

pub(super) const OUT_OF_MEMORY: u32 = 2;
pub(super) const NO_DEVICE: u32 = 100;
pub(super) const NOT_FOUND: u32 = 500;
pub(super) const NOT_READY: u32 = 600;
pub(super) const DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: u32 = 16;
pub(super) const DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: u32 = 75;
pub(super) const DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: u32 = 76;
pub(super) const STREAM_NON_BLOCKING: c_uint = 1;
pub(super) const STREAM_CAPTURE_MODE_RELAXED: c_uint = 2;
pub(super) const EVENT_RECORD_EXTERNAL: c_uint = 1;
pub(super) const EVENT_DISABLE_TIMING: c_uint = 2;
pub(super) const MEMHOSTALLOC_PORTABLE: c_uint = 1;
pub(super) const MEMHOSTALLOC_DEVICEMAP: c_uint = 2;
#[cfg(feature = "cust")]
pub(super) const POINTER_ATTRIBUTE_CONTEXT: c_uint = 1;
pub(super) const POINTER_ATTRIBUTE_DEVICE_ORDINAL: c_uint = 9;
pub(super) const POINTER_ATTRIBUTE_MEMORY_TYPE: c_uint = 2;
pub(super) const MEMORYTYPE_HOST: c_uint = 1;
pub(super) const MEMORYTYPE_DEVICE: c_uint = 2;
pub(super) const JIT_ERROR_LOG_BUFFER: c_uint = 5;
pub(super) const JIT_ERROR_LOG_BUFFER_SIZE_BYTES: c_uint = 6;

/// CUDA_MEMCPY2D: a copy of rows.
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

/// CUlaunchConfig: how a kernel is launched.
#[repr(C)]
pub(super) struct LaunchConfig {
    pub(super) grid: [c_uint; 3],
    pub(super) block: [c_uint; 3],
    pub(super) shared_bytes: c_uint,
    pub(super) stream: Handle,
    pub(super) attributes: *const LaunchAttribute,
    pub(super) attribute_count: c_uint,
}

/// CUlaunchAttribute: an attribute of a launch, whose value is a number.
#[repr(C, align(8))]
pub(super) struct LaunchAttribute {
    name: c_uint,
    reserved: c_uint,
    value: c_uint,
    rest: [u32; 15],
}

impl LaunchAttribute {
    /// Programmatic stream serialization: the kernel may start before its predecessor in the stream
    /// has ended, once the predecessor allows that.
    pub(super) const EARLY: Self = Self { name: 6, reserved: 0, value: 1, rest: [0; 15] };
}
