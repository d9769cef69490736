//! The provider over Rust-CUDA's `cuda_std` 0.2.2.
//!
//! It is type-checked on any machine and not yet compiled to PTX: that needs Rust-CUDA's compiler,
//! which has no release that can be installed. `cuda_std` 0.2.2 has indices, barriers and dynamic
//! shared memory. Exchanges between lanes and atomics are inline assembly here. The compiler must
//! not move them into branches, so check the PTX before use.

#![allow(unsafe_code)]
// Without a device there are no instructions, so their operands are unused.
#![cfg_attr(
    not(target_os = "cuda"),
    allow(unused_variables, unused_mut, unused_assignments, unreachable_code)
)]

use cuda_std::{shared, thread};

use super::{Simt, WARP, Word};

/// A thread under Rust-CUDA.
#[derive(Clone, Copy, Debug)]
pub struct RustCuda {
    shared: *mut u64,
}

/// A buffer in the device's memory.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Pointer<T>(pub *mut T);

impl RustCuda {
    /// A thread of a kernel.
    ///
    /// # Safety
    /// The kernel was launched with as much dynamic shared memory as it has cells, and every index
    /// with which its body accesses a buffer lies inside it.
    #[must_use]
    pub unsafe fn new() -> Self {
        Self { shared: shared::dynamic_shared_mem() }
    }
}

/// One instruction of the device; on other targets a panic, because nothing there runs kernels.
macro_rules! instruction {
    ($($text:tt)*) => {
        #[cfg(target_os = "cuda")]
        // SAFETY: a single instruction; memory that it accesses lies inside a buffer, by the
        // contract of `new`.
        unsafe {
            core::arch::asm!($($text)*);
        }
        #[cfg(not(target_os = "cuda"))]
        unreachable!("there is no device here");
    };
}

/// The word that a shuffle returns.
macro_rules! shuffle {
    ($kind:literal, $word:expr, $by:expr, $clamp:expr) => {{
        let mut other: u32 = 0;
        instruction!(
            concat!("shfl.sync.", $kind, ".b32 {}, {}, {}, ", $clamp, ", 0xffffffff;"),
            out(reg32) other, in(reg32) $word, in(reg32) $by
        );
        other
    }};
}

impl Simt for RustCuda {
    type Buffer<T: Word> = Pointer<T>;

    fn thread(self) -> u32 {
        thread::thread_idx_x()
    }
    fn block(self) -> u32 {
        thread::block_idx_x()
    }
    fn block_row(self) -> u32 {
        thread::block_idx_y()
    }
    fn blocks(self) -> u32 {
        thread::grid_dim_x()
    }
    fn threads(self) -> u32 {
        thread::block_dim_x()
    }
    fn barrier(self) {
        thread::sync_threads();
    }

    fn shuffle_down(self, word: u32, delta: u32) -> u32 {
        shuffle!("down", word, delta, "31")
    }
    fn shuffle_up(self, word: u32, delta: u32) -> u32 {
        shuffle!("up", word, delta, "0")
    }
    fn shuffle_xor(self, word: u32, mask: u32) -> u32 {
        shuffle!("bfly", word, mask, "31")
    }
    fn shuffle(self, word: u32, lane: u32) -> u32 {
        shuffle!("idx", word, lane, "31")
    }
    fn ballot(self, vote: bool) -> u32 {
        // `cuda_std` has no ballot: this combines the bits of the warp by shuffles.
        let mut votes = u32::from(vote) << self.lane();
        let mut delta = WARP / 2;
        while delta > 0 {
            votes |= self.shuffle_xor(votes, delta);
            delta /= 2;
        }
        votes
    }

    fn load<T: Word>(self, buffer: Pointer<T>, i: usize) -> T {
        // SAFETY: `i` lies inside the buffer, by the contract of `new`.
        unsafe { buffer.0.add(i).read() }
    }
    fn load_constant<T: Word>(self, buffer: Pointer<T>, i: usize) -> T {
        self.load(buffer, i)
    }
    fn load_relaxed(self, buffer: Pointer<u32>, i: usize) -> u32 {
        // SAFETY: `i` lies inside the buffer, by the contract of `new`.
        unsafe { buffer.0.add(i).read_volatile() }
    }
    fn load_acquire(self, buffer: Pointer<u32>, i: usize) -> u32 {
        let mut word: u32 = 0;
        instruction!("ld.acquire.sys.global.u32 {}, [{}];", out(reg32) word, in(reg64) buffer.0.add(i));
        word
    }
    fn load_four_bytes(self, buffer: Pointer<u8>, i: usize) -> u32 {
        // SAFETY: the four bytes lie inside the buffer's memory and are aligned, by the contract of
        // `load_four_bytes`.
        unsafe { buffer.0.add(i).cast::<u32>().read() }
    }
    fn load_four_words<T: Word>(self, buffer: Pointer<T>, i: usize) -> [T; 4] {
        core::array::from_fn(|n| self.load(buffer, i + n))
    }
    fn store<T: Word>(self, buffer: Pointer<T>, i: usize, word: T) {
        // SAFETY: `i` lies inside the buffer, by the contract of `new`.
        unsafe { buffer.0.add(i).write(word) }
    }
    fn store_four_words(self, buffer: Pointer<f32>, i: usize, words: [f32; 4]) {
        for (n, word) in words.into_iter().enumerate() {
            self.store(buffer, i + n, word);
        }
    }
    fn atomic_add(self, buffer: Pointer<u32>, i: usize, word: u32) -> u32 {
        let mut before: u32 = 0;
        instruction!(
            "atom.global.add.u32 {}, [{}], {};",
            out(reg32) before, in(reg64) buffer.0.add(i), in(reg32) word
        );
        before
    }

    fn atomic_max(self, buffer: Pointer<u32>, i: usize, word: u32) {
        instruction!("red.global.max.u32 [{}], {};", in(reg64) buffer.0.add(i), in(reg32) word);
    }

    fn shared(self, cell: u32) -> u64 {
        // SAFETY: the cell is one of the block's, by the contract of `new`.
        unsafe { self.shared.add(cell as usize).read_volatile() }
    }
    fn set_shared(self, cell: u32, word: u64) {
        // SAFETY: the cell is one of the block's, by the contract of `new`.
        unsafe { self.shared.add(cell as usize).write_volatile(word) }
    }

    fn shared_word(self, word: u32) -> u32 {
        // SAFETY: the word is half of one of the block's cells, by the contract of `new`.
        unsafe { self.shared.cast::<u32>().add(word as usize).read_volatile() }
    }
    fn set_shared_word(self, word: u32, value: u32) {
        // SAFETY: the word is half of one of the block's cells, by the contract of `new`.
        unsafe { self.shared.cast::<u32>().add(word as usize).write_volatile(value) }
    }
    fn increment_shared_word(self, word: u32) {
        instruction!("red.add.u32 [{}], 1;", in(reg64) self.shared.cast::<u32>().wrapping_add(word as usize));
    }

    fn permute(self, low: u32, high: u32, selector: u32) -> u32 {
        let bytes = u64::from(high) << 32 | u64::from(low);
        let byte = |i: u32| (bytes >> (8 * (selector >> (4 * i) & 7)) & 0xFF) as u32;
        byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24
    }
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        cuda_std::GpuFloat::mul_add(a, b, c)
    }
    fn sqrt(self, value: f32) -> f32 {
        cuda_std::GpuFloat::sqrt(value)
    }
    fn sqrt_in_range(self, value: f32) -> f32 {
        self.sqrt(value)
    }
}
