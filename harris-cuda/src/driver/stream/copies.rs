//! Copies to the device and back.

use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

use harris_gpu::Rows;

use super::base::{PARTS, Stream};
use crate::CudaError;
use crate::driver::ffi::{self, Handle};
use crate::driver::library::Failure;
use crate::driver::{DeviceMemory, PinnedBuffer};

/// The stream that a copy to the device is queued on.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Queue {
    /// The stream of all other work.
    Work,
    /// The copy stream, whose copies overlap other work.
    Copies,
}

impl Stream {
    fn queue(&self, queue: Queue) -> Handle {
        match queue {
            Queue::Work => self.handle,
            Queue::Copies => {
                self.has_pending_copies.store(true, Relaxed);
                self.copies.handle
            }
        }
    }

    /// Copies pinned memory to byte `offset` of `to`. `pieces` are adjacent slices of one
    /// [`PinnedBuffer`].
    ///
    /// The memory must not be written or freed before the next [`Stream::wait`]. Several threads
    /// may call this at once.
    pub(crate) fn upload(
        &self,
        queue: Queue,
        to: &DeviceMemory,
        offset: usize,
        pieces: &[&[u8]],
    ) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        let is_next = |pair: &[&[u8]]| pair[0].as_ptr_range().end == pair[1].as_ptr();
        assert!(pieces.windows(2).all(is_next), "adjacent pieces");
        let bytes = pieces.iter().map(|piece| piece.len()).sum();
        assert!(offset <= to.bytes && bytes <= to.bytes - offset, "a copy into memory");
        let Some(from) = pieces.first() else { return Ok(()) };
        // SAFETY: both ranges are inside their memories. The source does not change until the copy
        // is done, by the contract of this function (all callers are in this crate).
        let copied = unsafe {
            cuda.cuMemcpyHtoDAsync_v2(
                to.pointer + offset as u64,
                from.as_ptr().cast(),
                bytes,
                self.queue(queue),
            )
        };
        Ok(copied?)
    }

    /// Copies rows of one image in pinned memory, `stride` bytes apart. They must not change before
    /// the next [`Stream::wait`].
    pub(crate) fn upload_rows(
        &self,
        queue: Queue,
        to: &DeviceMemory,
        rows: &Rows<'_>,
        stride: usize,
    ) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        let &Rows { pitch, offset, .. } = rows;
        let (first, count) = (rows.row(0), rows.count());
        let width = first.len();
        assert!(
            rows.images.len() == 1 && rows.images[0].stride() == Some(stride),
            "rows of one image with this stride"
        );
        assert!(width <= pitch && (width <= stride || count == 1), "rows that do not overlap");
        let reached = rows.row(count - 1).as_ptr() as usize - first.as_ptr() as usize;
        assert_eq!(reached, (count - 1) * stride, "evenly spaced rows");
        let last = offset + (count - 1) * pitch;
        assert!(last <= to.bytes && width <= to.bytes - last, "a copy into memory");
        let copy = ffi::Copy2d {
            from_x_bytes: 0,
            from_y: 0,
            from_type: ffi::MEMORYTYPE_HOST,
            from_host: first.as_ptr().cast(),
            from_device: 0,
            from_array: std::ptr::null_mut(),
            from_pitch: stride,
            to_x_bytes: 0,
            to_y: 0,
            to_type: ffi::MEMORYTYPE_DEVICE,
            to_host: std::ptr::null_mut(),
            to_device: to.pointer + offset as u64,
            to_array: std::ptr::null_mut(),
            to_pitch: pitch,
            width_bytes: width,
            height: count,
        };
        let stream = self.queue(queue);
        let copied = if stride == pitch && width == pitch {
            // SAFETY: the rows are adjacent, as those of an image of that stride are, and fit into
            // the device's memory. They do not change until the copy is done, by the contract of
            // this function.
            unsafe { cuda.cuMemcpyHtoDAsync_v2(copy.to_device, copy.from_host, width * count, stream) }
        } else {
            // SAFETY: the rows are evenly spaced, as asserted, and fit into the device's memory.
            // They do not change until the copy is done, by the contract of this function.
            unsafe { cuda.cuMemcpy2DAsync_v2(&copy, stream) }
        };
        Ok(copied?)
    }

    /// Copies the start of `from` to byte `at` of `to`, after all earlier work. The data may be
    /// read after the next [`Stream::wait`]. Until then the caller must not free the buffer.
    pub(crate) fn fetch(
        &self,
        from: &DeviceMemory,
        to: &PinnedBuffer,
        at: usize,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        assert!(bytes <= from.bytes, "a copy out of memory");
        let target = to.part(at, bytes);
        // SAFETY: both ranges are inside their memories. The buffer is neither read nor freed until
        // the copy is done, by the contract of this function.
        Ok(unsafe { cuda.cuMemcpyDtoHAsync_v2(target, from.pointer, bytes, self.handle) }?)
    }

    /// Copies a part of `from`, from byte `start` on, to pinned memory, after all earlier work. At
    /// most [`PARTS`] parts, numbered from 0 on, may be on their way at once.
    ///
    /// The destination may be read or written again when [`Stream::has_arrived`] returns true. The
    /// caller must not free it before the next [`Stream::wait`].
    pub(crate) fn fetch_part(
        &self,
        number: usize,
        from: &DeviceMemory,
        start: usize,
        to: &mut [u8],
    ) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        assert!(start <= from.bytes && to.len() <= from.bytes - start, "a copy out of memory");
        let target: *mut c_void = to.as_mut_ptr().cast();
        // SAFETY: both ranges are inside their memories. The destination is not accessed until the
        // copy is done, by the contract of this function.
        unsafe { cuda.cuMemcpyDtoHAsync_v2(target, from.pointer + start as u64, to.len(), self.handle) }?;
        // SAFETY: stream and event are alive and of one context.
        Ok(unsafe { cuda.cuEventRecord(self.part_events[number % PARTS], self.handle) }?)
    }

    /// Whether a part that [`Stream::fetch_part`] requested has arrived. No later part may use the
    /// same slot.
    pub(crate) fn has_arrived(&self, number: usize) -> Result<bool, CudaError> {
        let cuda = self.gpu.enter()?;
        // SAFETY: the event is alive.
        match unsafe { cuda.cuEventQuery(self.part_events[number % PARTS]) } {
            Ok(()) => Ok(true),
            Err(Failure { code: ffi::NOT_READY, .. }) => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Copies the start of `from` to `to`, after all earlier work, and waits for it.
    pub(crate) fn download(&self, from: &DeviceMemory, to: &mut [u8]) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        assert!(to.len() <= from.bytes, "a copy out of memory");
        let target: *mut c_void = to.as_mut_ptr().cast();
        // SAFETY: the range is inside the memory; `to` is borrowed until the copy is done.
        let copied = unsafe { cuda.cuMemcpyDtoHAsync_v2(target, from.pointer, to.len(), self.handle) };
        self.wait().and(copied.map_err(CudaError::from))
    }
}
