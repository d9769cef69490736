//! Copies to the device and back.

use std::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

use harris_gpu::Rows;

use super::base::{PARTS, Stream};
use crate::CudaError;
use crate::driver::ffi::{self, Handle};
use crate::driver::library::Failure;
use crate::driver::{DeviceMemory, PinnedBuffer};

/// Where a copy to the device is queued.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Queue {
    /// With all other work.
    Work,
    /// Ahead of it.
    Copies,
}

impl Stream {
    fn queue(&self, queue: Queue) -> Handle {
        match queue {
            Queue::Work => self.handle,
            Queue::Copies => {
                self.awaited.store(true, Relaxed);
                self.copies.handle
            }
        }
    }

    /// Copies what is staged to byte `offset` of `to`: `from` is a part of a [`PinnedBuffer`]. It may be written again, and the
    /// staging dropped, after the next [`Stream::wait`]. Several threads may do so at once.
    pub(crate) fn upload(
        &self,
        queue: Queue,
        to: &DeviceMemory,
        offset: usize,
        pieces: &[&[u8]],
    ) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        let is_next = |pair: &[&[u8]]| pair[0].as_ptr_range().end == pair[1].as_ptr();
        assert!(pieces.windows(2).all(is_next), "pieces that lie one behind the other");
        let bytes = pieces.iter().map(|piece| piece.len()).sum();
        assert!(offset <= to.bytes && bytes <= to.bytes - offset, "a copy into memory");
        let Some(from) = pieces.first() else { return Ok(()) };
        // SAFETY: both ranges lie inside their memories; the source stays as it is until the copy is done, which is the
        // caller's to keep (all of them are in this crate).
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

    /// The same for rows of a single image in pinned memory, `stride` bytes apart; they must stay as they are until the next
    /// [`Stream::wait`].
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
            "rows of an image that lie so far apart"
        );
        assert!(width <= pitch && (width <= stride || count == 1), "rows that do not overlap");
        let reached = rows.row(count - 1).as_ptr() as usize - first.as_ptr() as usize;
        assert_eq!(reached, (count - 1) * stride, "rows that lie so far apart");
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
            // SAFETY: the rows follow each other without gaps, as an image's of that stride do, inside the memory on the device; they
            // stay as they are until the copy is done, which is the caller's to keep, as in `upload`.
            unsafe { cuda.cuMemcpyHtoDAsync_v2(copy.to_device, copy.from_host, width * count, stream) }
        } else {
            // SAFETY: as above, but that the rows lie evenly apart.
            unsafe { cuda.cuMemcpy2DAsync_v2(&copy, stream) }
        };
        Ok(copied?)
    }

    /// Copies the start of `from`, after all work before, to what is staged from `at` on. It may be read after the next
    /// [`Stream::wait`], and until then the staging must not be dropped, which is the caller's to keep.
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
        // SAFETY: both ranges lie inside their memories; the staging is neither read nor dropped until the copy is done, by the
        // contract of this function.
        Ok(unsafe { cuda.cuMemcpyDtoHAsync_v2(target, from.pointer, bytes, self.handle) }?)
    }

    /// Copies `from`, from byte `start` on, after all work before, to a part of a [`PinnedBuffer`]. It may be read, or written again, when
    /// [`Stream::has_come`] tells so, and the staging must not be dropped until the next [`Stream::wait`], which is the caller's to keep.
    /// At most [`PARTS`] parts, that are numbered from 0 on, may be on their way at once.
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
        // SAFETY: both ranges lie inside their memories; what is staged is not looked at until the copy is done, by the contract of this
        // function.
        unsafe { cuda.cuMemcpyDtoHAsync_v2(target, from.pointer + start as u64, to.len(), self.handle) }?;
        // SAFETY: stream and event are alive and of one context.
        Ok(unsafe { cuda.cuEventRecord(self.parts[number % PARTS], self.handle) }?)
    }

    /// Whether a part that was asked for with [`Stream::fetch_part`], and none later in its place, has come.
    pub(crate) fn has_come(&self, number: usize) -> Result<bool, CudaError> {
        let cuda = self.gpu.enter()?;
        // SAFETY: the event is alive.
        match unsafe { cuda.cuEventQuery(self.parts[number % PARTS]) } {
            Ok(()) => Ok(true),
            Err(Failure { code: ffi::NOT_READY, .. }) => Ok(false),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Copies the start of `from`, after all work before.
    pub(crate) fn download(&self, from: &DeviceMemory, to: &mut [u8]) -> Result<(), CudaError> {
        let cuda = self.gpu.enter()?;
        assert!(to.len() <= from.bytes, "a copy out of memory");
        let target: *mut c_void = to.as_mut_ptr().cast();
        // SAFETY: the range lies inside the memory; `to` is borrowed until the copy is done.
        let copied = unsafe { cuda.cuMemcpyDtoHAsync_v2(target, from.pointer, to.len(), self.handle) };
        self.wait().and(copied.map_err(CudaError::from))
    }
}
