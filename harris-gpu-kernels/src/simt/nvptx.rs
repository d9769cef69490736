//! The provider that is compiled to PTX.
//!
//! Exchanges are LLVM intrinsics, because LLVM knows that these are convergent. It does not know
//! this of inline assembly, so assembly is used only for memory and arithmetic instructions.

#![allow(unsafe_code)]

use core::arch::asm;
use core::arch::nvptx::{
    _block_dim_x, _block_idx_x, _block_idx_y, _block_idx_z, _grid_dim_x, _syncthreads, _thread_idx_x,
};

use super::{Simt, WARP, Word};

/// A thread on a device.
#[derive(Clone, Copy)]
pub(crate) struct Nvptx {
    /// Address of the block's shared memory in the shared window, in bytes.
    shared: u32,
}

/// A buffer in the device's memory.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Pointer<T>(pub(crate) *mut T);

unsafe extern "C" {
    #[link_name = "llvm.nvvm.shfl.sync.down.i32"]
    fn shfl_down(mask: u32, word: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.up.i32"]
    fn shfl_up(mask: u32, word: u32, delta: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.bfly.i32"]
    fn shfl_xor(mask: u32, word: u32, lane_mask: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.shfl.sync.idx.i32"]
    fn shfl_idx(mask: u32, word: u32, lane: u32, clamp: u32) -> u32;
    #[link_name = "llvm.nvvm.bar.warp.sync"]
    fn bar_warp(mask: u32);
    #[link_name = "llvm.nvvm.vote.ballot.sync"]
    fn vote_ballot(mask: u32, vote: bool) -> u32;
    #[link_name = "llvm.nvvm.vote.any.sync"]
    fn vote_any(mask: u32, vote: bool) -> bool;
    #[link_name = "llvm.nvvm.prmt"]
    fn prmt(low: u32, high: u32, selector: u32) -> u32;
    #[link_name = "llvm.nvvm.sqrt.rn.f"]
    fn sqrt_rn(value: f32) -> f32;
}

/// All lanes of a warp, as a mask.
const ALL_LANES: u32 = u32::MAX;

/// 2⁻¹⁰⁰: the least positive argument of [`Simt::sqrt_in_range`].
const LEAST_IN_RANGE: f32 = f32::from_bits(0x0D80_0000);

impl Nvptx {
    /// A thread of a kernel without shared memory.
    ///
    /// # Safety
    /// Every index with which the kernel's body accesses a buffer lies inside it.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self { shared: 0 }
    }

    /// A thread of a kernel whose blocks share `CELLS` cells of memory.
    ///
    /// Call this once, at the start of an entry point: each call that is compiled reserves memory
    /// of its own.
    ///
    /// # Safety
    /// Every index with which the kernel's body accesses a buffer lies inside it, and every cell is
    /// less than `CELLS`.
    #[inline(always)]
    pub(crate) unsafe fn with_shared_memory<const CELLS: u32>() -> Self {
        let shared;
        // SAFETY: declares shared memory and takes its address; accesses no memory.
        unsafe {
            asm!(
                "{{ .shared .align 16 .b64 cells[{n}]; mov.u32 {p}, cells; }}",
                n = const CELLS,
                p = out(reg32) shared,
                options(nomem, nostack, preserves_flags),
            );
        }
        Self { shared }
    }
}

/// Four words of 32 bits of a buffer, loaded by the instruction `$load`.
macro_rules! four_words {
    ($load:literal, $buffer:ident, $i:ident) => {{
        const { assert!(T::BYTES == 4) };
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: the four words lie inside the buffer by the contract of `Nvptx::new`. They are
        // aligned by the contract of `load_four_words`.
        unsafe {
            asm!(concat!($load, ".v4.u32 {{{}, {}, {}, {}}}, [{}];"), out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d,
                in(reg64) $buffer.0.add($i), options(pure, readonly, nostack, preserves_flags));
        }
        [a, b, c, d].map(|word| T::from_bits(u64::from(word)))
    }};
}

impl Simt for Nvptx {
    type Buffer<T: Word> = Pointer<T>;

    #[inline(always)]
    fn thread(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _thread_idx_x() as u32 }
    }

    #[inline(always)]
    fn block(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _block_idx_x() as u32 }
    }

    #[inline(always)]
    fn block_row(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _block_idx_y() as u32 }
    }

    #[inline(always)]
    fn blocks(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _grid_dim_x() as u32 }
    }

    #[inline(always)]
    fn threads(self) -> u32 {
        // SAFETY: reads a special register.
        unsafe { _block_dim_x() as u32 }
    }

    #[inline(always)]
    fn barrier(self) {
        // SAFETY: all threads of the block reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { _syncthreads() }
    }

    #[inline(always)]
    fn warp_barrier(self) {
        // SAFETY: all lanes of the warp reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { bar_warp(ALL_LANES) }
    }

    #[inline(always)]
    fn shuffle_down(self, word: u32, delta: u32) -> u32 {
        // SAFETY: all lanes of the warp reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { shfl_down(ALL_LANES, word, delta, WARP - 1) }
    }

    #[inline(always)]
    fn shuffle_up(self, word: u32, delta: u32) -> u32 {
        // SAFETY: all lanes of the warp reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { shfl_up(ALL_LANES, word, delta, 0) }
    }

    #[inline(always)]
    fn add_lane_below(self, word: u32, delta: u32) -> u32 {
        let (mut sum, below) = (word, self.shuffle_up(word, delta));
        // A predicated addition. From a condition and an addition the compiler makes two additions,
        // or a selection and one. SAFETY: arithmetic only; accesses no memory.
        unsafe {
            asm!("{{ .reg .pred has; setp.ge.u32 has, {lane}, {delta}; @has add.u32 {sum}, {sum}, {below}; }}",
                lane = in(reg32) self.lane(), delta = in(reg32) delta, sum = inout(reg32) sum, below = in(reg32) below,
                options(pure, nomem, nostack, preserves_flags));
        }
        sum
    }

    #[inline(always)]
    fn shuffle_xor(self, word: u32, mask: u32) -> u32 {
        // SAFETY: all lanes of the warp reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { shfl_xor(ALL_LANES, word, mask, WARP - 1) }
    }

    #[inline(always)]
    fn shuffle(self, word: u32, lane: u32) -> u32 {
        // SAFETY: all lanes of the warp reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { shfl_idx(ALL_LANES, word, lane, WARP - 1) }
    }

    #[inline(always)]
    fn ballot(self, vote: bool) -> u32 {
        // SAFETY: all lanes of the warp reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { vote_ballot(ALL_LANES, vote) }
    }

    #[inline(always)]
    fn any(self, vote: bool) -> bool {
        // SAFETY: all lanes of the warp reach this: `Simt` requires it of kernels, and the host
        // provider checks it.
        unsafe { vote_any(ALL_LANES, vote) }
    }

    // GPUs before compute capability 9.0 lack these two instructions, so they are comments in the
    // PTX. The loader uncomments them for GPUs that have them.

    #[inline(always)]
    fn allow_next_kernel(self) {
        // SAFETY: accesses no memory.
        unsafe {
            asm!("// from sm_90 on: griddepcontrol.launch_dependents;", options(nostack, preserves_flags))
        }
    }

    #[inline(always)]
    fn wait_for_previous_kernels(self) {
        // SAFETY: accesses no memory. The compiler assumes that it does, and keeps later accesses
        // after it.
        unsafe { asm!("// from sm_90 on: griddepcontrol.wait;", options(nostack, preserves_flags)) }
    }

    #[inline(always)]
    fn load<T: Word>(self, buffer: Pointer<T>, i: usize) -> T {
        // SAFETY: `i` lies inside the buffer, by the contract of `Nvptx::new`.
        unsafe { buffer.0.add(i).read() }
    }

    #[inline(always)]
    fn load_constant<T: Word>(self, buffer: Pointer<T>, i: usize) -> T {
        // SAFETY: `i` lies inside the buffer, by the contract of `Nvptx::new`, and no thread writes
        // there.
        unsafe {
            let address = buffer.0.add(i);
            match T::BYTES {
                1 => {
                    let word: u16;
                    asm!("ld.global.nc.u8 {}, [{}];", out(reg16) word, in(reg64) address,
                        options(pure, readonly, nostack, preserves_flags));
                    T::from_bits(u64::from(word))
                }
                2 => {
                    let word: u16;
                    asm!("ld.global.nc.u16 {}, [{}];", out(reg16) word, in(reg64) address,
                        options(pure, readonly, nostack, preserves_flags));
                    T::from_bits(u64::from(word))
                }
                4 => {
                    let word: u32;
                    asm!("ld.global.nc.u32 {}, [{}];", out(reg32) word, in(reg64) address,
                        options(pure, readonly, nostack, preserves_flags));
                    T::from_bits(u64::from(word))
                }
                8 => {
                    let word: u64;
                    asm!("ld.global.nc.u64 {}, [{}];", out(reg64) word, in(reg64) address,
                        options(pure, readonly, nostack, preserves_flags));
                    T::from_bits(word)
                }
                _ => unreachable!("words have 1, 2, 4 or 8 bytes"),
            }
        }
    }

    #[inline(always)]
    fn load_relaxed(self, buffer: Pointer<u32>, i: usize) -> u32 {
        let word;
        // SAFETY: `i` lies inside the buffer, by the contract of `Nvptx::new`.
        unsafe {
            asm!("ld.relaxed.gpu.global.u32 {}, [{}];", out(reg32) word, in(reg64) buffer.0.add(i),
                options(nostack, preserves_flags));
        }
        word
    }

    #[inline(always)]
    fn load_acquire(self, buffer: Pointer<u32>, i: usize) -> u32 {
        let word;
        // SAFETY: `i` lies inside the buffer, by the contract of `Nvptx::new`.
        unsafe {
            asm!("ld.acquire.sys.global.u32 {}, [{}];", out(reg32) word, in(reg64) buffer.0.add(i),
                options(nostack, preserves_flags));
        }
        word
    }

    #[inline(always)]
    fn load_four_bytes(self, buffer: Pointer<u8>, i: usize) -> u32 {
        let word;
        // SAFETY: the four bytes lie inside the buffer's memory and are aligned, by the contract of
        // `load_four_bytes`.
        unsafe {
            asm!("ld.global.nc.u32 {}, [{}];", out(reg32) word, in(reg64) buffer.0.add(i),
                options(pure, readonly, nostack, preserves_flags));
        }
        word
    }

    #[inline(always)]
    fn load_four_words<T: Word>(self, buffer: Pointer<T>, i: usize) -> [T; 4] {
        four_words!("ld.global.nc", buffer, i)
    }

    #[inline(always)]
    fn load_four_words_streaming<T: Word>(self, buffer: Pointer<T>, i: usize) -> [T; 4] {
        four_words!("ld.global.cs.nc", buffer, i)
    }

    #[inline(always)]
    fn store<T: Word>(self, buffer: Pointer<T>, i: usize, word: T) {
        // SAFETY: `i` lies inside the buffer, by the contract of `Nvptx::new`.
        unsafe { buffer.0.add(i).write(word) }
    }

    #[inline(always)]
    fn store_four_words(self, buffer: Pointer<f32>, i: usize, [a, b, c, d]: [f32; 4]) {
        // SAFETY: the four words lie inside the buffer by the contract of `Nvptx::new`. They are
        // aligned by the contract of `store_four_words`.
        unsafe {
            asm!("st.global.v4.f32 [{}], {{{}, {}, {}, {}}};", in(reg64) buffer.0.add(i), in(reg32) a, in(reg32) b,
                in(reg32) c, in(reg32) d, options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    fn atomic_add(self, buffer: Pointer<u32>, i: usize, word: u32) -> u32 {
        let before;
        // SAFETY: `i` lies inside the buffer, by the contract of `Nvptx::new`.
        unsafe {
            asm!("atom.global.add.u32 {}, [{}], {};", out(reg32) before, in(reg64) buffer.0.add(i), in(reg32) word,
                options(nostack, preserves_flags));
        }
        before
    }

    #[inline(always)]
    fn atomic_max(self, buffer: Pointer<u32>, i: usize, word: u32) {
        // SAFETY: `i` lies inside the buffer, by the contract of `Nvptx::new`.
        unsafe {
            asm!("red.global.max.u32 [{}], {};", in(reg64) buffer.0.add(i), in(reg32) word,
                options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    fn shared(self, cell: u32) -> u64 {
        let word;
        // SAFETY: the cell is one of the block's, by the contract of `Nvptx::with_shared_memory`.
        unsafe {
            asm!("ld.shared.u64 {}, [{}];", out(reg64) word, in(reg32) self.shared + 8 * cell,
                options(nostack, preserves_flags));
        }
        word
    }

    #[inline(always)]
    fn set_shared(self, cell: u32, word: u64) {
        // SAFETY: the cell is one of the block's, by the contract of `Nvptx::with_shared_memory`.
        unsafe {
            asm!("st.shared.u64 [{}], {};", in(reg32) self.shared + 8 * cell, in(reg64) word,
                options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    fn shared_word(self, word: u32) -> u32 {
        let value;
        // SAFETY: the word is half of one of the block's cells, by the contract of
        // `Nvptx::with_shared_memory`.
        unsafe {
            asm!("ld.shared.u32 {}, [{}];", out(reg32) value, in(reg32) self.shared + 4 * word,
                options(nostack, preserves_flags));
        }
        value
    }

    #[inline(always)]
    fn set_shared_word(self, word: u32, value: u32) {
        // SAFETY: the word is half of one of the block's cells, by the contract of
        // `Nvptx::with_shared_memory`.
        unsafe {
            asm!("st.shared.u32 [{}], {};", in(reg32) self.shared + 4 * word, in(reg32) value,
                options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    fn increment_shared_word(self, word: u32) {
        // SAFETY: the word is half of one of the block's cells, by the contract of
        // `Nvptx::with_shared_memory`.
        unsafe {
            asm!("red.shared.add.u32 [{}], 1;", in(reg32) self.shared + 4 * word, options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    fn dot(self, sum: i32, bytes: u32, weights: [i8; 4]) -> i32 {
        // SAFETY: reads a register.
        let zero = unsafe { _block_idx_z() } as u32;
        // No grid has a third dimension, so `zero` is 0, but `ptxas` cannot know that. It would
        // load constant weights into a uniform register anew before each use.
        let weights = u32::from_le_bytes(weights.map(|weight| weight as u8)) ^ zero;
        let all;
        // SAFETY: arithmetic only; accesses no memory.
        unsafe {
            asm!("dp4a.u32.s32 {}, {}, {}, {};", out(reg32) all, in(reg32) bytes, in(reg32) weights, in(reg32) sum,
                options(pure, nomem, nostack, preserves_flags));
        }
        all
    }

    #[inline(always)]
    fn permute(self, low: u32, high: u32, selector: u32) -> u32 {
        // SAFETY: arithmetic only; accesses no memory.
        unsafe { prmt(low, high, selector) }
    }

    #[inline(always)]
    fn add3(self, a: i32, b: i32, c: i32) -> i32 {
        let sum;
        // SAFETY: arithmetic only; accesses no memory.
        unsafe {
            asm!("{{ .reg .b32 two; add.s32 two, {a}, {b}; add.s32 {sum}, two, {c}; }}", sum = out(reg32) sum,
                a = in(reg32) a, b = in(reg32) b, c = in(reg32) c, options(pure, nomem, nostack, preserves_flags));
        }
        sum
    }

    #[inline(always)]
    fn mul_wide(self, a: u32, b: u32) -> u64 {
        let product;
        // SAFETY: arithmetic only; accesses no memory.
        unsafe {
            asm!("mul.wide.u32 {}, {}, {};", out(reg64) product, in(reg32) a, in(reg32) b, options(pure, nomem, nostack, preserves_flags));
        }
        product
    }

    #[inline(always)]
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        let sum;
        // The comment marks the instruction for the lint of the PTX as intended.
        // SAFETY: arithmetic only; accesses no memory.
        unsafe {
            asm!("fma.rn.f32 {}, {}, {}, {}; // exact but for one rounding", out(reg32) sum, in(reg32) a, in(reg32) b, in(reg32) c,
                options(pure, nomem, nostack, preserves_flags));
        }
        sum
    }

    #[inline(always)]
    fn sqrt(self, value: f32) -> f32 {
        // SAFETY: arithmetic only; accesses no memory.
        unsafe { sqrt_rn(value) }
    }

    #[inline(always)]
    fn sqrt_in_range(self, value: f32) -> f32 {
        let inverse: f32;
        // SAFETY: arithmetic only; accesses no memory.
        unsafe {
            asm!("rsqrt.approx.ftz.f32 {}, {}; // where a root starts that is rounded once", out(reg32) inverse, in(reg32) value.max(LEAST_IN_RANGE),
                options(pure, nomem, nostack, preserves_flags));
        }
        // As ptxas compiles a square root of such numbers: an estimate, then one Newton step. The
        // root of 0 is 0.
        let root = value * inverse;
        self.fma(self.fma(-root, root, value), 0.5 * inverse, root)
    }
}
