//! Buffers of rows that are used again and again.

use harris_core::{Error, memory};

/// Unused buffers of rows, by element type.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    i32: Vec<Vec<i32>>,
    i64: Vec<Vec<i64>>,
    f32: Vec<Vec<f32>>,
    /// Why the work that used them failed, if it did.
    pub(crate) failure: Option<Error>,
}

/// An element of buffers.
pub(crate) trait Pooled: Copy + Default + 'static {
    fn unused_buffers(buffers: &mut Buffers) -> &mut Vec<Vec<Self>>;
}

impl Pooled for i32 {
    fn unused_buffers(buffers: &mut Buffers) -> &mut Vec<Vec<Self>> {
        &mut buffers.i32
    }
}

impl Pooled for i64 {
    fn unused_buffers(buffers: &mut Buffers) -> &mut Vec<Vec<Self>> {
        &mut buffers.i64
    }
}

impl Pooled for f32 {
    fn unused_buffers(buffers: &mut Buffers) -> &mut Vec<Vec<Self>> {
        &mut buffers.f32
    }
}

impl Buffers {
    /// Takes a buffer of `len` elements, whose values mean nothing.
    pub(crate) fn take<T: Pooled>(&mut self, len: usize) -> Result<Vec<T>, Error> {
        let mut buffer = T::unused_buffers(self).pop().unwrap_or_default();
        memory::resize(&mut buffer, len, T::default())?;
        Ok(buffer)
    }

    /// Puts a buffer back.
    pub(crate) fn put<T: Pooled>(&mut self, buffer: Vec<T>) {
        T::unused_buffers(self).push(buffer);
    }
}

/// Elements from one row of `len` 32-bit numbers to the next: an odd number of cache lines, so that
/// no two of 64 rows fall into the same places of the first cache.
pub(crate) fn spread_pitch(len: usize) -> usize {
    const CACHE_LINE: usize = 16;
    len.div_ceil(CACHE_LINE) / 2 * 2 * CACHE_LINE + CACHE_LINE
}
