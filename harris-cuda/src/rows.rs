//! Copies of rows in a device's memory.

use harris_core::Error;

use crate::driver::{ContextGuard, DeviceMemory, Gpu, copy_rows, device_of_address};
use crate::{AsCudaStream, CudaError};

/// Alignment of the copies' rows, in bytes.
const ALIGNMENT: usize = 4;

/// A copy of rows of bytes in a GPU's memory.
///
/// [`CudaImage::from_raw`](crate::CudaImage::from_raw) takes images whose address and pitch are
/// multiples of 4. A copy makes such an image of any other. It also keeps keypoints for longer than
/// [`CudaKeypoints`](crate::CudaKeypoints) does.
#[derive(Debug)]
pub struct CudaRows {
    memory: DeviceMemory,
    pitch: usize,
}

impl CudaRows {
    /// Copies `count` rows of `width` bytes in the memory of device number `ordinal`, which start
    /// at `pointer`, `pitch` bytes apart.
    ///
    /// The copy comes after all work that is on `stream` so far. Returns when it is complete.
    ///
    /// # Errors
    /// [`CudaError::Layout`] for rows that are empty or overlap, [`CudaError::OutOfMemory`],
    /// [`CudaError::Driver`], and the errors of
    /// [`CudaDetector::on_device`](crate::CudaDetector::on_device).
    ///
    /// # Safety
    /// The rows are memory of that device until the call returns, and `stream` is alive. Only work
    /// on `stream` writes the rows.
    #[allow(unsafe_code, reason = "the caller must promise that the pointer is valid")]
    pub unsafe fn copy(
        ordinal: u32,
        pointer: u64,
        pitch: usize,
        width: usize,
        count: usize,
        stream: impl AsCudaStream,
    ) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        let own_pitch = width.checked_next_multiple_of(ALIGNMENT).unwrap_or(0);
        let bytes = own_pitch.checked_mul(count).filter(|bytes| isize::try_from(*bytes).is_ok());
        let Some(bytes) = bytes.filter(|bytes| *bytes > 0 && (width <= pitch || count == 1)) else {
            return Err(CudaError::Layout { pointer, pitch, width, height: count, channels: 1 }.into());
        };
        let gpu = Gpu::open(ordinal)?;
        let memory = DeviceMemory::new(&gpu, bytes)?;
        copy_rows(&gpu, (pointer, pitch), (&memory, own_pitch), (width, count), stream.as_cuda_stream())?;
        Ok(Self { memory, pitch: own_pitch })
    }

    /// Returns the copy's address in the device's memory, and its pitch in bytes, a multiple of 4.
    #[must_use]
    pub fn pointer(&self) -> (u64, usize) {
        (self.memory.pointer(), self.pitch)
    }
}

/// Returns the number of the device whose memory has an address.
///
/// # Errors
/// [`CudaError::NotDeviceMemory`] for any other address, and the errors of
/// [`devices`](crate::devices).
pub fn device_of_pointer(pointer: u64) -> Result<u32, Error> {
    Ok(device_of_address(pointer)?.ok_or(CudaError::NotDeviceMemory { pointer })?)
}
