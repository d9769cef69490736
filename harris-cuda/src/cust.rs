//! cust's own types where images, keypoints, responses, streams and contexts cross the border. cust is the host side
//! of Rust-CUDA.
//!
//! Both crates use a device's primary context, so that memory and streams of the one are good in the other.

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

/// A [`CudaImage`] in a buffer of cust's, which it borrows.
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
    /// The 8-bit image in a buffer of cust's, without a copy. Row `y` starts at byte `y * pitch`; `pitch` is a multiple
    /// of 4, and the last row is complete up to the next multiple of 4 bytes. Channels, one or three, are interleaved.
    ///
    /// Work on a stream that still writes the buffer must be waited for, or be on the stream that
    /// [`CudaDetector::detect_on_stream`] follows.
    ///
    /// # Errors
    /// - [`CudaError::Layout`] where the numbers do not fit each other.
    /// - [`CudaError::BufferTooShort`] where the buffer ends before the image does.
    /// - [`CudaError::OtherContext`] where the buffer is not in its device's primary context.
    pub fn from_device_buffer(
        buffer: &DeviceBuffer<u8>,
        pitch: usize,
        width: usize,
        height: usize,
        channels: usize,
    ) -> Result<CudaImageRef<'_>, Error> {
        let slice: &DeviceSlice<u8> = buffer;
        // SAFETY: the buffer is borrowed as long as the image is there.
        #[allow(unsafe_code, reason = "the borrow is the promise that is asked for")]
        let image = unsafe { Self::from_device_slice(slice, pitch, width, height, channels) }?;
        Ok(CudaImageRef { image, buffer: PhantomData })
    }

    /// The 8-bit image in a slice of cust's, which does not borrow its memory. Otherwise as
    /// [`CudaImage::from_device_buffer`].
    ///
    /// # Errors
    /// As [`CudaImage::from_device_buffer`].
    ///
    /// # Safety
    /// The slice's memory stays until the image is dropped.
    #[allow(unsafe_code, reason = "whoever has the slice must promise that its memory stays")]
    pub unsafe fn from_device_slice(
        slice: &DeviceSlice<u8>,
        pitch: usize,
        width: usize,
        height: usize,
        channels: usize,
    ) -> Result<Self, Error> {
        let pointer = slice.as_device_ptr().as_raw();
        Self::check_layout(pointer, pitch, (width, height, channels))?;
        // The layout's check has shown that this is a number.
        let needed = pitch * (height - 1) + (width * channels).next_multiple_of(4);
        if slice.len() < needed {
            return Err(CudaError::BufferTooShort { bytes: slice.len(), needed }.into());
        }
        let ordinal = device_of_pointer(pointer)?;
        // SAFETY: the rows lie in the slice, whose memory stays, by the contract of this function; it was just found
        // to be in the primary context.
        unsafe { Self::from_raw(ordinal, pointer, pitch, width, height, channels) }
    }
}

/// A slice of cust's over memory of a detector.
fn slice<T: cust::memory::DeviceCopy>(pointer: u64, len: usize) -> DeviceSlice<T> {
    // SAFETY: there are as many elements at the pointer, and those who are given the slice promise to use it no
    // longer than they are.
    #[allow(unsafe_code, reason = "callers pass the promise on")]
    unsafe {
        DeviceSlice::from_raw_parts(DevicePointer::from_raw(pointer), len)
    }
}

impl CudaKeypoints<'_> {
    /// The keypoints as a slice of cust's.
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
    /// All [`CudaPending::room`] keypoints that may be written, as a slice of cust's.
    ///
    /// # Safety
    /// The slice does not borrow its memory, and must not be used once `self` is finished or dropped.
    #[must_use]
    #[allow(unsafe_code, reason = "the slice does not borrow its memory")]
    pub unsafe fn as_device_slice(&self) -> DeviceSlice<Keypoint> {
        slice(self.pointer(), self.room())
    }

    /// The number of corners at [`CudaPending::count_pointer`], as a slice of cust's with one element.
    ///
    /// # Safety
    /// As that of [`CudaPending::as_device_slice`].
    #[must_use]
    #[allow(unsafe_code, reason = "the slice does not borrow its memory")]
    pub unsafe fn count_as_device_slice(&self) -> DeviceSlice<u32> {
        slice(self.count_pointer(), 1)
    }
}

impl CudaResponses<'_> {
    /// The responses as a slice of cust's, row after row.
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
    /// A detector on the device of a context of cust's, which it shares.
    ///
    /// # Errors
    /// [`CudaError::OtherContext`] where the context is not its device's primary one (`cust::context::Context` is,
    /// those of `cust::context::legacy` are not); else as [`CudaDetector::on_device`].
    pub fn in_context(context: &Context, config: HarrisConfig) -> Result<Self, Error> {
        Self::on_device(device_of_context(context.get_inner().cast())?, config)
    }

    /// The context of the detector's device (the first of several), for other work with cust on the same memory. It is
    /// not made current; `cust::context::CurrentContext::set_current` does that.
    ///
    /// # Errors
    /// [`CudaError::Driver`] where the driver fails, [`CudaError::Forked`].
    pub fn context(&self) -> Result<Context, Error> {
        // cust makes a new context current.
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
