//! Memory of a device, and pinned memory of the host that a device copies from and to.

use std::ffi::{c_uint, c_void};
use std::sync::Arc;

use harris_core::Sample;

use super::Gpu;
use super::ffi::{self, Pointer};
use super::library::Failure;
use crate::CudaError;

/// Memory of a device.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    pub(super) pointer: Pointer,
    pub(super) bytes: usize,
    /// Whether it is freed when dropped.
    owned: bool,
    gpu: Arc<Gpu>,
}

impl DeviceMemory {
    pub(crate) fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<Self, CudaError> {
        let cuda = gpu.enter()?;
        let mut pointer = 0;
        // SAFETY: writes one pointer.
        match unsafe { cuda.cuMemAlloc_v2(&mut pointer, bytes) } {
            Ok(()) => Ok(Self { pointer, bytes, owned: true, gpu: Arc::clone(gpu) }),
            Err(Failure { code: ffi::OUT_OF_MEMORY, .. }) => {
                Err(CudaError::OutOfMemory { place: "device", bytes })
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Wraps memory that something else owns and frees. The caller must keep it allocated while the
    /// result is used.
    pub(crate) fn borrowed(gpu: &Arc<Gpu>, pointer: Pointer, bytes: usize) -> Self {
        Self { pointer, bytes, owned: false, gpu: Arc::clone(gpu) }
    }

    /// Returns an alias of this memory, which must be dropped before `self`.
    pub(crate) fn alias(&self) -> Self {
        Self::borrowed(&self.gpu, self.pointer, self.bytes)
    }

    pub(crate) fn pointer(&self) -> Pointer {
        self.pointer
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.owned
            && let Ok(cuda) = self.gpu.enter()
        {
            // SAFETY: the memory was allocated in this context and is freed once; the driver waits
            // for work that uses it. A failure here cannot be handled.
            let _ = unsafe { cuda.cuMemFree_v2(self.pointer) };
        }
    }
}

/// Flags for copies by all devices, and for access by their kernels.
const FOR_ALL: c_uint = ffi::MEMHOSTALLOC_PORTABLE | ffi::MEMHOSTALLOC_DEVICEMAP;

/// Pinned memory of the host, usable by all devices.
#[derive(Debug)]
pub(crate) struct PinnedBuffer {
    start: *mut u8,
    bytes: usize,
    gpu: Arc<Gpu>,
}

// SAFETY: it is owned memory; the driver's functions on it may be called from any thread.
unsafe impl Send for PinnedBuffer {}
// SAFETY: shared references only read the memory.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    pub(crate) fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<Self, CudaError> {
        let cuda = gpu.enter()?;
        let mut start: *mut c_void = std::ptr::null_mut();
        // SAFETY: writes one pointer.
        match unsafe { cuda.cuMemHostAlloc(&mut start, bytes, FOR_ALL) } {
            Err(Failure { code: ffi::OUT_OF_MEMORY, .. }) => {
                Err(CudaError::OutOfMemory { place: "pinned host", bytes })
            }
            Err(failure) => Err(failure.into()),
            Ok(()) => {
                let start = start.cast::<u8>();
                // SAFETY: the memory is new and that long; from here on all of it has been written.
                unsafe { start.write_bytes(0, bytes) };
                Ok(Self { start, bytes, gpu: Arc::clone(gpu) })
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the bytes for writing. Bytes that a copy still reads must not be written: see
    /// [`Stream::upload`](super::Stream::upload).
    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the memory is that long, was written when it was made, and is borrowed as `self`
        // is.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.bytes) }
    }

    /// Returns the address of a range, for copies by the device while other ranges are in use.
    pub(super) fn part(&self, start: usize, bytes: usize) -> *mut c_void {
        assert!(start <= self.bytes && bytes <= self.bytes - start, "a part of the memory");
        self.start.wrapping_add(start).cast()
    }

    /// Returns the bytes. Bytes that a copy still writes must not be read: see
    /// [`Stream::fetch`](super::Stream::fetch).
    pub(crate) fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory is that long, was written when it was made, and is borrowed as `self`
        // is.
        unsafe { std::slice::from_raw_parts(self.start, self.bytes) }
    }

    /// Returns a range as device memory, for kernels to write; pinned memory has one address for
    /// host and devices. The caller must neither read nor free it until they have written it.
    pub(crate) fn alias(&self, start: usize, bytes: usize) -> DeviceMemory {
        DeviceMemory::borrowed(&self.gpu, self.part(start, bytes) as usize as Pointer, bytes)
    }

    /// Returns as many samples as fit.
    pub(crate) fn as_samples<T: Sample>(&self) -> &[T] {
        // SAFETY: the memory is initialised, borrowed as `self` is, and aligned to a page. Samples
        // (the trait is sealed: u8, u16 and f32) are plain numbers, valid for any bits.
        unsafe { std::slice::from_raw_parts(self.start.cast(), self.bytes / size_of::<T>()) }
    }

    /// Returns as many samples as fit, for writing.
    pub(crate) fn as_mut_samples<T: Sample>(&mut self) -> &mut [T] {
        // SAFETY: as in `as_samples`, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.start.cast(), self.bytes / size_of::<T>()) }
    }
}

/// Whether memory is pinned, so that a device can copy directly from it.
pub(crate) fn is_pinned(gpu: &Gpu, bytes: &[u8]) -> bool {
    let Ok(cuda) = gpu.enter() else { return false };
    let pinned = |byte: &u8| {
        let mut kind: c_uint = 0;
        let mut attribute = ffi::POINTER_ATTRIBUTE_MEMORY_TYPE;
        let mut value = std::ptr::from_mut(&mut kind).cast::<c_void>();
        let address = std::ptr::from_ref(byte) as usize as Pointer;
        // SAFETY: writes one number. Any address is allowed; the call fails for ordinary memory.
        let asked = unsafe { cuda.cuPointerGetAttributes(1, &mut attribute, &mut value, address) };
        asked.is_ok() && kind == ffi::MEMORYTYPE_HOST
    };
    bytes.first().is_some_and(pinned) && bytes.last().is_some_and(pinned)
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        if let Ok(cuda) = self.gpu.enter() {
            // SAFETY: the memory was allocated by the driver and is freed once; the driver waits
            // for copies from it. A failure here cannot be handled.
            let _ = unsafe { cuda.cuMemFreeHost(self.start.cast()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::PoisonError;

    use harris_core::{Detector, Error, HarrisConfig, ImageView};

    use super::*;
    use crate::CudaDetector;
    use crate::driver::tests::ALONE;

    fn free(gpu: &Gpu) -> usize {
        let (mut free, mut total) = (0, 0);
        // SAFETY: writes two numbers.
        unsafe { gpu.enter().unwrap().cuMemGetInfo_v2(&mut free, &mut total) }.unwrap();
        free
    }

    #[test]
    fn exhausted_memory_is_an_error_with_the_size_and_can_be_recovered() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(gpu) = crate::driver::tests::gpu() else { return };
        let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
        let samples: Vec<u8> =
            (0..4096 * 4096).map(|i: u32| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        let small = ImageView::gray(&samples, 100, 100).unwrap();
        let large = ImageView::gray(&samples, 4096, 4096).unwrap();
        let expected = detector.detect(&small).unwrap();
        // Use up all but 8 MB, which is less than the large image.
        let mut most = Vec::new();
        let mut piece = free(&gpu);
        while piece >= 1 << 20 {
            match DeviceMemory::new(&gpu, piece) {
                Ok(memory) => most.push(memory),
                Err(CudaError::OutOfMemory { place: "device", bytes }) => {
                    assert_eq!(bytes, piece);
                    piece /= 2;
                }
                Err(error) => panic!("{error}"),
            }
            if free(&gpu) < 8 << 20 {
                break;
            }
        }
        let error = detector.detect(&large).unwrap_err();
        let Error::Backend(cause) = &error else { panic!("{error}") };
        assert!(
            matches!(cause.downcast_ref(), Some(CudaError::OutOfMemory { bytes, .. }) if *bytes >= 4096 * 4096),
            "{error}"
        );
        // The detector still works, and the large image fits once memory is free.
        assert_eq!(detector.detect(&small).unwrap(), expected);
        drop(most);
        assert!(!detector.detect(&large).unwrap().is_empty());
    }

    #[test]
    fn a_thousand_detectors_leave_the_memory_as_it_was() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(gpu) = crate::driver::tests::gpu() else { return };
        let samples: Vec<u8> =
            (0..300 * 200).map(|i: u32| (i.wrapping_mul(0x9E37_79B9) >> 24) as u8).collect();
        let image = ImageView::gray(&samples, 300, 200).unwrap();
        let expected = CudaDetector::new(HarrisConfig::default()).unwrap().detect(&image).unwrap();
        let before = free(&gpu);
        for _ in 0..1000 {
            let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
            assert_eq!(detector.detect(&image).unwrap(), expected);
        }
        // The driver keeps pages for small allocations: less than one detector's memory.
        let after = free(&gpu);
        assert!(before.abs_diff(after) < 4 << 20, "{before} bytes were free before, {after} are after");
        // Each of these also releases the context.
        drop(gpu);
        for _ in 0..20 {
            let mut detector = CudaDetector::new(HarrisConfig::default()).unwrap();
            assert_eq!(detector.detect(&image).unwrap(), expected);
        }
    }
}
