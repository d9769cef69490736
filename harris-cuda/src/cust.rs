//! Conversions between this crate's types and those of cust, the host side of Rust-CUDA: images,
//! keypoints, responses, streams and contexts.
//!
//! Both crates use a device's primary context, so memory and streams of one are valid in the other.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;

use cust::context::{Context, ContextHandle};
use cust::device::Device;
use cust::memory::{DeviceBuffer, DevicePointer, DeviceSlice};
use cust::stream::Stream;
use harris_core::{Error, HarrisConfig, Keypoint};

use crate::driver::{ContextGuard, device_of_context, device_of_pointer};
use crate::{AsCudaStream, CudaDetector, CudaError, CudaImage, CudaKeypoints, CudaPending, CudaResponses};

impl AsCudaStream for &Stream {
    fn as_cuda_stream(&self) -> *mut c_void {
        self.as_inner().cast()
    }
}

/// A [`CudaImage`] whose samples are in a borrowed buffer of cust.
#[derive(Debug)]
pub struct CudaImageRef<'a> {
    image: CudaImage,
    buffer: PhantomData<&'a DeviceBuffer<u8>>,
}

impl Deref for CudaImageRef<'_> {
    type Target = CudaImage;

    fn deref(&self) -> &CudaImage {
        &self.image
    }
}

impl CudaImage {
    /// Makes an 8-bit image from a buffer of cust, without a copy.
    ///
    /// Row `y` starts at byte `y * pitch`, where `pitch` is a multiple of 4. The last row is
    /// complete up to the next multiple of 4 bytes. The channels, one or three, are interleaved.
    ///
    /// Work that writes the buffer must have ended. It may still run if it is on the stream that is
    /// given to [`CudaDetector::detect_on_stream`].
    ///
    /// # Errors
    /// - [`CudaError::Layout`] if pointer, pitch, size and channels do not fit each other.
    /// - [`CudaError::BufferTooShort`] if the buffer ends before the image does.
    /// - [`CudaError::OtherContext`] if the buffer is not in its device's primary context.
    pub fn from_device_buffer(
        buffer: &DeviceBuffer<u8>,
        pitch: usize,
        width: usize,
        height: usize,
        channels: usize,
    ) -> Result<CudaImageRef<'_>, Error> {
        let slice: &DeviceSlice<u8> = buffer;
        // SAFETY: the image borrows the buffer, so the memory outlives it.
        #[allow(unsafe_code, reason = "the borrow is the promise that is asked for")]
        let image = unsafe { Self::from_device_slice(slice, pitch, width, height, channels) }?;
        Ok(CudaImageRef { image, buffer: PhantomData })
    }

    /// Makes an 8-bit image from a slice of cust, which does not borrow its memory.
    ///
    /// The layout is that of [`CudaImage::from_device_buffer`].
    ///
    /// # Errors
    /// See [`CudaImage::from_device_buffer`].
    ///
    /// # Safety
    /// The slice's memory stays allocated until the image is dropped.
    #[allow(unsafe_code, reason = "the caller must promise that the slice's memory stays")]
    pub unsafe fn from_device_slice(
        slice: &DeviceSlice<u8>,
        pitch: usize,
        width: usize,
        height: usize,
        channels: usize,
    ) -> Result<Self, Error> {
        let pointer = slice.as_device_ptr().as_raw();
        Self::check_layout(pointer, pitch, (width, height, channels), (1, 4))?;
        // The check of the layout has shown that this does not overflow.
        let needed = pitch * (height - 1) + (width * channels).next_multiple_of(4);
        if slice.len() < needed {
            return Err(CudaError::BufferTooShort { bytes: slice.len(), needed }.into());
        }
        let ordinal = device_of_pointer(pointer)?;
        // SAFETY: the rows are in the slice, whose memory stays by the contract of this function.
        // It was just found to be in the primary context.
        unsafe { Self::from_raw::<u8>(ordinal, pointer, pitch, width, height, channels) }
    }
}

/// Makes a slice of cust over memory of a detector.
fn slice<T: cust::memory::DeviceCopy>(pointer: u64, len: usize) -> DeviceSlice<T> {
    // SAFETY: the memory holds `len` elements. Those who receive the slice promise not to use it
    // after the owner is gone.
    #[allow(unsafe_code, reason = "callers pass the promise on")]
    unsafe {
        DeviceSlice::from_raw_parts(DevicePointer::from_raw(pointer), len)
    }
}

impl CudaKeypoints<'_> {
    /// Returns the keypoints as a slice of cust.
    ///
    /// # Safety
    /// The slice does not borrow its memory, and must not be used once `self` is dropped.
    #[must_use]
    #[allow(unsafe_code, reason = "the slice does not borrow its memory")]
    pub unsafe fn as_device_slice(&self) -> DeviceSlice<Keypoint> {
        slice(self.pointer(), self.len())
    }
}

impl CudaPending<'_> {
    /// Returns all [`CudaPending::capacity`] keypoints that may be written, as a slice of cust.
    ///
    /// # Safety
    /// The slice does not borrow its memory, and must not be used once `self` is finished or
    /// dropped.
    #[must_use]
    #[allow(unsafe_code, reason = "the slice does not borrow its memory")]
    pub unsafe fn as_device_slice(&self) -> DeviceSlice<Keypoint> {
        slice(self.pointer(), self.capacity())
    }

    /// Returns the number of corners at [`CudaPending::count_pointer`], as a slice of cust with one
    /// element.
    ///
    /// # Safety
    /// The slice does not borrow its memory, and must not be used once `self` is finished or
    /// dropped.
    #[must_use]
    #[allow(unsafe_code, reason = "the slice does not borrow its memory")]
    pub unsafe fn count_as_device_slice(&self) -> DeviceSlice<u32> {
        slice(self.count_pointer(), 1)
    }
}

impl CudaResponses<'_> {
    /// Returns the responses as a slice of cust, row after row.
    ///
    /// # Safety
    /// The slice does not borrow its memory, and must not be used once `self` is dropped.
    #[must_use]
    #[allow(unsafe_code, reason = "the slice does not borrow its memory")]
    pub unsafe fn as_device_slice(&self) -> DeviceSlice<f32> {
        slice(self.pointer(), self.width() * self.height())
    }
}

impl CudaDetector {
    /// Makes a detector on the device of a context of cust, and shares that context.
    ///
    /// # Errors
    /// - [`CudaError::OtherContext`] if the context is not its device's primary one.
    ///   `cust::context::Context` is; the contexts of `cust::context::legacy` are not.
    /// - The errors of [`CudaDetector::on_device`].
    pub fn in_context(context: &Context, config: HarrisConfig) -> Result<Self, Error> {
        Self::on_device(device_of_context(context.get_inner().cast())?, config)
    }

    /// Returns the context of the detector's first device, for other work with cust on the same
    /// memory.
    ///
    /// The context is not made current; `cust::context::CurrentContext::set_current` does that.
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the driver fails, [`CudaError::Forked`] in a forked child.
    pub fn context(&self) -> Result<Context, Error> {
        // cust makes a new context current; the guard restores the caller's.
        let _context = ContextGuard::try_save()?;
        let failed = |call: &'static str| {
            move |error: cust::error::CudaError| CudaError::Driver {
                call,
                code: error as u32,
                name: format!("{error:?}"),
            }
        };
        let device = Device::get_device(self.ordinal()).map_err(failed("cuDeviceGet"))?;
        Ok(Context::new(device).map_err(failed("cuDevicePrimaryCtxRetain"))?)
    }
}
