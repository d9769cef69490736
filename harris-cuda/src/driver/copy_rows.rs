//! Copies inside a device's memory, and the device that an address belongs to.

use std::ffi::c_uint;

use super::ffi::{self, Copy2d, Handle, Pointer};
use super::library::Driver;
use super::{DeviceMemory, Gpu};
use crate::CudaError;

/// Copies `count` rows of `width` bytes from `from`, `from_pitch` bytes apart, to the start of `to`,
/// `to_pitch` bytes apart. The copy comes after all work that is on `stream` so far. Returns when it
/// is complete.
///
/// The caller must promise that the rows are memory of this device, and that the stream is alive.
pub(crate) fn copy_rows(
    gpu: &Gpu,
    (from, from_pitch): (Pointer, usize),
    (to, to_pitch): (&DeviceMemory, usize),
    (width, count): (usize, usize),
    stream: Handle,
) -> Result<(), CudaError> {
    let cuda = gpu.enter()?;
    assert!(width > 0 && count > 0 && width <= to_pitch, "rows that do not overlap");
    assert!((count - 1) * to_pitch + width <= to.bytes, "a copy into memory");
    let copy = Copy2d {
        from_x_bytes: 0,
        from_y: 0,
        from_type: ffi::MEMORYTYPE_DEVICE,
        from_host: std::ptr::null(),
        from_device: from,
        from_array: std::ptr::null_mut(),
        // One row needs no pitch, so any pitch is valid.
        from_pitch: if count == 1 { width } else { from_pitch },
        to_x_bytes: 0,
        to_y: 0,
        to_type: ffi::MEMORYTYPE_DEVICE,
        to_host: std::ptr::null_mut(),
        to_device: to.pointer,
        to_array: std::ptr::null_mut(),
        to_pitch,
        width_bytes: width,
        height: count,
    };
    // SAFETY: the target is inside its memory, as asserted. The source is memory of this device, and
    // the stream is alive, by the contract of this function.
    unsafe {
        cuda.cuMemcpy2DAsync_v2(&copy, stream)?;
        cuda.cuStreamSynchronize(stream)?;
    }
    Ok(())
}

/// Returns the number of the device that an address belongs to; `None` where it is in no device's
/// memory.
pub(crate) fn device_of_address(pointer: Pointer) -> Result<Option<u32>, CudaError> {
    let driver = Driver::get()?;
    let (mut kind, mut ordinal): (c_uint, i32) = (0, -1);
    let mut attributes = [ffi::POINTER_ATTRIBUTE_MEMORY_TYPE, ffi::POINTER_ATTRIBUTE_DEVICE_ORDINAL];
    let mut values = [std::ptr::from_mut(&mut kind).cast(), std::ptr::from_mut(&mut ordinal).cast()];
    // SAFETY: writes two numbers, as the attributes demand. Any address is allowed.
    unsafe { driver.cuPointerGetAttributes(2, attributes.as_mut_ptr(), values.as_mut_ptr(), pointer) }?;
    Ok(u32::try_from(ordinal).ok().filter(|_| kind == ffi::MEMORYTYPE_DEVICE))
}
