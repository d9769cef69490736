//! Memory of the host device, and buffers as kernels access them.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};

use harris_gpu_kernels::Word;

/// Memory of the host device: words of 32 bits, and for each byte whether it was ever written.
#[derive(Clone, Debug)]
pub struct Memory {
    words: Arc<[(AtomicU32, AtomicU8)]>,
    bytes: usize,
}

impl Memory {
    /// Allocates `bytes` bytes, none of them written yet.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let words = (0..bytes.div_ceil(4)).map(|_| (AtomicU32::new(0xDEAD_BEEF), AtomicU8::new(0)));
        Self { words: words.collect(), bytes }
    }

    /// Its size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// An address that identifies this memory.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.words.as_ptr() as usize as u64
    }

    /// Writes a byte.
    ///
    /// # Panics
    /// If `i` is beyond the end.
    pub fn set_byte(&self, i: usize, byte: u8) {
        assert!(i < self.bytes, "byte {i} of {}", self.bytes);
        let (word, written) = &self.words[i / 4];
        let shift = 8 * (i % 4);
        word.store(word.load(Relaxed) & !(0xFF << shift) | u32::from(byte) << shift, Relaxed);
        written.fetch_or(1 << (i % 4), Relaxed);
    }

    /// Reads a byte.
    ///
    /// # Panics
    /// If `i` is beyond the end, or the byte was never written.
    #[must_use]
    pub fn byte(&self, i: usize) -> u8 {
        self.read(i, 1).unwrap_or_else(|misuse| panic!("{misuse}")) as u8
    }

    /// Reads a byte; none if it was never written.
    ///
    /// # Panics
    /// If `i` is beyond the end.
    #[must_use]
    pub fn written(&self, i: usize) -> Option<u8> {
        assert!(i < self.bytes, "reads byte {i} of {}", self.bytes);
        self.read(i, 1).ok().map(|byte| byte as u8)
    }

    /// The `bytes` bytes from byte `at` on, the first in the low end.
    pub(crate) fn read(&self, at: usize, bytes: usize) -> Result<u64, String> {
        if at + bytes > self.bytes {
            return Err(format!("reads byte {at} to {} of {}", at + bytes, self.bytes));
        }
        let mut bits = 0;
        if at.is_multiple_of(4) && bytes.is_multiple_of(4) {
            for i in (0..bytes / 4).rev() {
                let (word, written) = &self.words[at / 4 + i];
                if written.load(Relaxed) != 0xF {
                    return Err(format!("reads byte {}, which nothing wrote", at + 4 * i));
                }
                bits = bits << 32 | u64::from(word.load(Relaxed));
            }
            return Ok(bits);
        }
        for i in at..at + bytes {
            let (word, written) = &self.words[i / 4];
            if written.load(Relaxed) >> (i % 4) & 1 == 0 {
                return Err(format!("reads byte {i}, which nothing wrote"));
            }
            bits |= u64::from(word.load(Relaxed) >> (8 * (i % 4)) & 0xFF) << (8 * (i - at));
        }
        Ok(bits)
    }

    /// Four bytes from byte `i`, a multiple of 4, on. Bytes that were never written have any value.
    pub(crate) fn four_bytes(&self, i: usize) -> Result<u32, String> {
        match self.words.get(i / 4) {
            Some((word, _)) => Ok(word.load(Relaxed)),
            None => Err(format!("reads byte {i} of {}", self.bytes)),
        }
    }

    /// Word `i` of 64 bits; if it was never written, the key of a corner with response 1, which a
    /// kernel must not use.
    pub(crate) fn speculative(&self, i: usize) -> Result<u64, String> {
        if 8 * (i + 1) > self.bytes {
            return Err(format!("reads word {i} of {}", self.bytes / 8));
        }
        Ok(self.read(8 * i, 8).unwrap_or(u64::from(!1.0_f32.to_bits()) << 32))
    }

    /// Writes a byte atomically: other threads may write its neighbours.
    pub(crate) fn write_byte(&self, at: usize, byte: u8) -> Result<(), String> {
        if at >= self.bytes {
            return Err(format!("writes byte {at} of {}", self.bytes));
        }
        let ((word, written), shift) = (&self.words[at / 4], 8 * (at % 4));
        word.fetch_and(!(0xFF << shift), Relaxed);
        word.fetch_or(u32::from(byte) << shift, Relaxed);
        written.fetch_or(1 << (at % 4), Relaxed);
        Ok(())
    }

    /// Word `i` of 32 bits, to be written.
    pub(crate) fn word(&self, i: usize) -> Result<&AtomicU32, String> {
        match self.words.get(i) {
            Some((word, written)) if 4 * i + 4 <= self.bytes => {
                written.store(0xF, Relaxed);
                Ok(word)
            }
            _ => Err(format!("accesses word {i} of {}", self.bytes / 4)),
        }
    }
}

/// A kernel's argument.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A buffer: all of a memory.
    Memory(Memory),
    /// A number, as its bits in the low end.
    Word(u64),
}

/// A buffer of words, as a kernel accesses it.
#[derive(Clone, Copy)]
pub struct Buffer<'a, T> {
    pub(crate) memory: &'a Memory,
    word: PhantomData<T>,
}

impl Argument {
    /// The buffer that this argument is.
    ///
    /// # Panics
    /// If it is a number.
    #[must_use]
    pub fn buffer<T: Word>(&self) -> Buffer<'_, T> {
        match self {
            Argument::Memory(memory) => Buffer { memory, word: PhantomData },
            Argument::Word(_) => panic!("a number for a buffer"),
        }
    }

    /// The number that this argument is.
    ///
    /// # Panics
    /// If it is a buffer.
    #[must_use]
    pub fn word<T: Word>(&self) -> T {
        match self {
            Argument::Word(bits) => T::from_bits(*bits),
            Argument::Memory(_) => panic!("a buffer for a number"),
        }
    }
}
