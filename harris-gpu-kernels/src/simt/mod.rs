//! The operations of a GPU thread that kernels use, as a trait.

#[cfg(target_arch = "nvptx64")]
pub(crate) mod nvptx;
#[cfg(feature = "rust-cuda")]
pub mod rust_cuda;

/// Lanes of a warp.
pub const WARP: u32 = 32;

mod sealed {
    pub trait Sealed {}
}

/// A number that buffers hold.
pub trait Word: sealed::Sealed + Copy + 'static {
    /// Size in bytes.
    const BYTES: usize;
    /// The number with these bits in the low end.
    fn from_bits(bits: u64) -> Self;
    /// The number's bits in the low end.
    fn into_bits(self) -> u64;
}

macro_rules! words {
    ($($word:ident: $from:expr, $into:expr;)*) => {$(
        impl sealed::Sealed for $word {}
        impl Word for $word {
            const BYTES: usize = size_of::<$word>();
            fn from_bits(bits: u64) -> Self {
                ($from)(bits)
            }
            fn into_bits(self) -> u64 {
                ($into)(self)
            }
        }
    )*};
}

words! {
    u8: |bits| bits as u8, u64::from;
    u16: |bits| bits as u16, u64::from;
    u32: |bits| bits as u32, u64::from;
    i32: |bits| bits as i32, |word: i32| u64::from(word as u32);
    f32: |bits| f32::from_bits(bits as u32), |word: f32| u64::from(word.to_bits());
    f64: f64::from_bits, f64::to_bits;
    u64: |bits| bits, |word| word;
    i64: |bits| bits as i64, |word: i64| word as u64;
}

/// A thread of a GPU: its indices, exchanges within the warp, and memory.
///
/// Blocks are one-dimensional. All threads of a block must reach each barrier. All lanes of a warp
/// must reach each exchange (shuffle or ballot). A kernel that breaks this rule has undefined
/// results on a device, and panics on the host.
pub trait Simt: Copy {
    /// A buffer of words in the device's memory.
    type Buffer<T: Word>: Copy;

    /// Index of this thread in its block.
    fn thread(self) -> u32;
    /// Column of this block in the grid.
    fn block(self) -> u32;
    /// Row of this block in the grid.
    fn block_row(self) -> u32;
    /// Number of block columns in the grid.
    fn blocks(self) -> u32;
    /// Number of threads in a block.
    fn threads(self) -> u32;

    /// Index of this thread in its warp.
    #[inline(always)]
    fn lane(self) -> u32 {
        self.thread() % WARP
    }
    /// Index of this thread's warp in its block.
    #[inline(always)]
    fn warp(self) -> u32 {
        self.thread() / WARP
    }
    /// Index of this thread in its row of the grid.
    #[inline(always)]
    fn index(self) -> u32 {
        self.block() * self.threads() + self.thread()
    }
    /// Number of threads in a row of the grid.
    #[inline(always)]
    fn stride(self) -> u32 {
        self.blocks() * self.threads()
    }

    /// Waits for all threads of the block. Their writes before the barrier are visible after it.
    fn barrier(self);
    /// Waits for all lanes of the warp; for kernels whose blocks are single warps.
    #[inline(always)]
    fn warp_barrier(self) {
        self.barrier();
    }
    /// The word of the lane whose index is greater by `delta`; this lane's word if there is no such
    /// lane.
    fn shuffle_down(self, word: u32, delta: u32) -> u32;
    /// The word of the lane whose index is less by `delta`; this lane's word if there is no such
    /// lane.
    fn shuffle_up(self, word: u32, delta: u32) -> u32;
    /// The word plus the word of the lane whose index is less by `delta`; only the word if there is
    /// no such lane.
    #[inline(always)]
    fn add_lane_below(self, word: u32, delta: u32) -> u32 {
        let below = self.shuffle_up(word, delta);
        if self.lane() < delta { word } else { word.wrapping_add(below) }
    }
    /// The word of the lane whose index differs in the bits of `mask`.
    fn shuffle_xor(self, word: u32, mask: u32) -> u32;
    /// The word of lane `lane`.
    fn shuffle(self, word: u32, lane: u32) -> u32;
    /// A word whose bit i is set if `vote` holds in lane i.
    fn ballot(self, vote: bool) -> u32;
    /// Whether `vote` holds in any lane of the warp.
    #[inline(always)]
    fn any(self, vote: bool) -> bool {
        self.ballot(vote) != 0
    }

    /// Lets the next kernel start early: `griddepcontrol.launch_dependents`.
    ///
    /// The next kernel may start when all blocks of this one have called this, or have ended. This
    /// takes effect only if the next kernel calls [`Simt::wait_for_previous_kernels`].
    #[inline(always)]
    fn allow_next_kernel(self) {}
    /// Waits until all kernels before this one have ended: `griddepcontrol.wait`.
    ///
    /// All threads of a kernel that may start early call this before they read results of earlier
    /// kernels.
    #[inline(always)]
    fn wait_for_previous_kernels(self) {}

    /// Reads a word of a buffer.
    fn load<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> T;
    /// Reads a word of a buffer that no thread writes while the kernel runs.
    fn load_constant<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> T;
    /// Reads a word that was perhaps never written, and then has any value. No thread writes it
    /// while the kernel runs.
    #[inline(always)]
    fn load_speculative(self, buffer: Self::Buffer<u64>, i: usize) -> u64 {
        self.load_constant(buffer, i)
    }
    /// Reads a word that other threads may write at the same time (relaxed order).
    fn load_relaxed(self, buffer: Self::Buffer<u32>, i: usize) -> u32;
    /// Reads a word that copies and other kernels may write at the same time (acquire order).
    ///
    /// What they wrote before the word is visible to the reads that follow.
    fn load_acquire(self, buffer: Self::Buffer<u32>, i: usize) -> u32;
    /// Reads four bytes of a buffer that no thread writes, the first in the low end.
    ///
    /// `i` and the size of the buffer's memory in bytes are multiples of 4.
    fn load_four_bytes(self, buffer: Self::Buffer<u8>, i: usize) -> u32;
    /// Reads four words of 32 bits of a buffer that no thread writes.
    ///
    /// `i` is a multiple of 4, and the buffer begins at a multiple of 16 bytes.
    fn load_four_words<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> [T; 4];
    /// Reads four words that are used about once: the cache evicts them first (`ld.cs`).
    ///
    /// `i` and the buffer are aligned as for [`Simt::load_four_words`].
    #[inline(always)]
    fn load_four_words_streaming<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> [T; 4] {
        self.load_four_words(buffer, i)
    }
    /// Writes a word of a buffer.
    fn store<T: Word>(self, buffer: Self::Buffer<T>, i: usize, word: T);
    /// Writes four words of a buffer at once.
    ///
    /// `i` is a multiple of 4, and the buffer begins at a multiple of 16 bytes.
    fn store_four_words(self, buffer: Self::Buffer<f32>, i: usize, words: [f32; 4]);
    /// Adds to a word of a buffer atomically, and returns its value before.
    fn atomic_add(self, buffer: Self::Buffer<u32>, i: usize, word: u32) -> u32;
    /// Sets a word of a buffer atomically to the greater of itself and `word`.
    fn atomic_max(self, buffer: Self::Buffer<u32>, i: usize, word: u32);

    /// Reads a cell, 64 bits, of the block's shared memory.
    fn shared(self, cell: u32) -> u64;
    /// Writes a cell, 64 bits, of the block's shared memory.
    fn set_shared(self, cell: u32, word: u64);
    /// Reads a word, 32 bits, of the block's shared memory: each cell has two, the low half first.
    fn shared_word(self, word: u32) -> u32;
    /// Writes a word, 32 bits, of the block's shared memory.
    fn set_shared_word(self, word: u32, value: u32);
    /// Adds 1 atomically to a word, 32 bits, of the block's shared memory.
    fn increment_shared_word(self, word: u32);

    /// Selects four of the eight bytes of `low` (bytes 0 to 3) and `high` (bytes 4 to 7).
    ///
    /// Hexadecimal digit i of `selector` is the index of byte i of the result.
    fn permute(self, low: u32, high: u32, selector: u32) -> u32;
    /// `sum` plus the dot product of four unsigned bytes, the first in the low end, and four signed
    /// weights.
    #[inline(always)]
    fn dot(self, sum: i32, bytes: u32, weights: [i8; 4]) -> i32 {
        let bytes = bytes.to_le_bytes();
        let product = |i: usize| i32::from(bytes[i]) * i32::from(weights[i]);
        sum.wrapping_add(product(0) + product(1) + product(2) + product(3))
    }
    /// `a + b + c` in one instruction of three terms.
    ///
    /// With two separate additions the compiler keeps partial sums for later, which needs more
    /// registers.
    fn add3(self, a: i32, b: i32, c: i32) -> i32 {
        a.wrapping_add(b).wrapping_add(c)
    }
    /// The full 64-bit product `a * b` in one instruction: `mul.wide.u32`.
    ///
    /// A compiler that knows the range of a factor would widen it first and multiply 64 by 64 bits.
    fn mul_wide(self, a: u32, b: u32) -> u64 {
        u64::from(a) * u64::from(b)
    }
    /// `a * b + c`, rounded once.
    ///
    /// Use it only where docs/arithmetic.md asks for one rounding. Elsewhere each operation is
    /// rounded.
    fn fma(self, a: f32, b: f32, c: f32) -> f32;
    /// The square root, rounded to nearest, ties to even.
    fn sqrt(self, value: f32) -> f32;
    /// The square root, rounded to nearest, of 0 or of a number from 2⁻¹⁰⁰ to 2¹⁰⁰.
    ///
    /// Other values give wrong results. It is faster than [`Simt::sqrt`].
    fn sqrt_in_range(self, value: f32) -> f32;
}
