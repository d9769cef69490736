//! What a thread of a GPU can do.

#[cfg(feature = "host")]
pub mod host;
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
    /// Its size in bytes.
    const BYTES: usize;
    /// From its bits, in the low end.
    fn from_bits(bits: u64) -> Self;
    /// Its bits, in the low end.
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

/// A thread of a GPU: where it is, its lane mates, its memory.
///
/// Blocks are one-dimensional. Barriers must be reached by all threads of a block, exchanges (shuffles, ballots) by
/// all lanes of a warp; a kernel that breaks this is undefined on a device, and a panic on the host.
pub trait Simt: Copy {
    /// Memory of the device, seen as words.
    type Buffer<T: Word>: Copy;

    /// This thread's place in its block.
    fn thread(self) -> u32;
    /// This block's column in the grid.
    fn block(self) -> u32;
    /// This block's row in the grid.
    fn block_row(self) -> u32;
    /// Columns of blocks in the grid.
    fn blocks(self) -> u32;
    /// Threads of a block.
    fn threads(self) -> u32;

    /// This thread's place in its warp.
    #[inline(always)]
    fn lane(self) -> u32 {
        self.thread() % WARP
    }
    /// This thread's warp in its block.
    #[inline(always)]
    fn warp(self) -> u32 {
        self.thread() / WARP
    }
    /// This thread's place in its row of the grid.
    #[inline(always)]
    fn index(self) -> u32 {
        self.block() * self.threads() + self.thread()
    }
    /// Threads in a row of the grid.
    #[inline(always)]
    fn stride(self) -> u32 {
        self.blocks() * self.threads()
    }

    /// Waits for all threads of the block; what they wrote before is seen after.
    fn barrier(self);
    /// The same where a block is a single warp.
    #[inline(always)]
    fn barrier_of_warp(self) {
        self.barrier();
    }
    /// The word of the lane `delta` above; one's own where there is none.
    fn shuffle_down(self, word: u32, delta: u32) -> u32;
    /// The word of the lane `delta` below; one's own where there is none.
    fn shuffle_up(self, word: u32, delta: u32) -> u32;
    /// The word plus that of the lane `delta` below; the word alone where there is none.
    #[inline(always)]
    fn plus_below(self, word: u32, delta: u32) -> u32 {
        let below = self.shuffle_up(word, delta);
        if self.lane() < delta { word } else { word.wrapping_add(below) }
    }
    /// The word of the lane whose number differs in the bits of `mask`.
    fn shuffle_xor(self, word: u32, mask: u32) -> u32;
    /// The word of lane `lane`.
    fn shuffle(self, word: u32, lane: u32) -> u32;
    /// Bit i tells whether `vote` holds in lane i.
    fn ballot(self, vote: bool) -> u32;
    /// Whether `vote` holds in any lane.
    #[inline(always)]
    fn any(self, vote: bool) -> bool {
        self.ballot(vote) != 0
    }

    /// Lets the next kernel start once all blocks of this one have come here, or ended, if it is one that [`Simt::await_last`] waits in.
    #[inline(always)]
    fn admit_next(self) {}
    /// Waits until the kernels before have ended: to be called before their results are read, by all threads of a kernel that may be
    /// started earlier.
    #[inline(always)]
    fn await_last(self) {}

    /// A word of a buffer.
    fn load<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> T;
    /// A word of a buffer that nothing writes while the kernel runs.
    fn load_constant<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> T;
    /// A word that it is too early to know whether anything wrote: if not, it may be anything. Nothing writes it while the kernel runs.
    #[inline(always)]
    fn load_early(self, buffer: Self::Buffer<u64>, i: usize) -> u64 {
        self.load_constant(buffer, i)
    }
    /// A word that other threads may be writing, as it was before or after.
    fn load_shared_by_all(self, buffer: Self::Buffer<u32>, i: usize) -> u32;
    /// A word that copies and other kernels may be writing: what they wrote before it is there for what is read after.
    fn load_acquire(self, buffer: Self::Buffer<u32>, i: usize) -> u32;
    /// Four bytes of a buffer that nothing writes, the first in the low end; `i` is a multiple of 4, and so is the
    /// number of bytes that the buffer's memory has.
    fn load_four(self, buffer: Self::Buffer<u8>, i: usize) -> u32;
    /// Four words of 32 bits of a buffer that nothing writes; `i` is a multiple of 4, and the buffer begins at a multiple of 16 bytes.
    fn load_four_words<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> [T; 4];
    /// The same of words that are read about once, which are not kept in place of others that are still to be read.
    #[inline(always)]
    fn load_four_words_once<T: Word>(self, buffer: Self::Buffer<T>, i: usize) -> [T; 4] {
        self.load_four_words(buffer, i)
    }
    /// Writes a word of a buffer.
    fn store<T: Word>(self, buffer: Self::Buffer<T>, i: usize, word: T);
    /// Writes four words of a buffer at once; `i` is a multiple of 4, and the buffer begins at a multiple of 16 bytes.
    fn store_four(self, buffer: Self::Buffer<f32>, i: usize, words: [f32; 4]);
    /// Adds to a word of a buffer, and returns what it was.
    fn atomic_add(self, buffer: Self::Buffer<u32>, i: usize, word: u32) -> u32;
    /// Raises a word of a buffer to `word` where it is less.
    fn atomic_max(self, buffer: Self::Buffer<u32>, i: usize, word: u32);

    /// A cell of the block's shared memory.
    fn shared(self, cell: u32) -> u64;
    /// Writes a cell of the block's shared memory.
    fn set_shared(self, cell: u32, word: u64);
    /// A word of the block's shared memory, of which each cell has two, the one in the low end first.
    fn shared_word(self, word: u32) -> u32;
    /// Writes a word of the block's shared memory.
    fn set_shared_word(self, word: u32, value: u32);
    /// Adds 1 to a word of the block's shared memory, as other threads may at the same time.
    fn count_in_shared(self, word: u32);

    /// Four of the eight bytes of `low` and `high`, the first of `low` being number 0: digit i of `selector`, in base 16, is
    /// the number of byte i.
    fn permute(self, low: u32, high: u32, selector: u32) -> u32;
    /// A sum plus the products of four bytes without sign, the first in the low end, and as many with one.
    #[inline(always)]
    fn dot(self, sum: i32, bytes: u32, weights: [i8; 4]) -> i32 {
        let bytes = bytes.to_le_bytes();
        let product = |i: usize| i32::from(bytes[i]) * i32::from(weights[i]);
        sum.wrapping_add(product(0) + product(1) + product(2) + product(3))
    }
    /// `a + b + c`, added at once: compilers, that count two additions, else keep the sums of two for later.
    fn add(self, a: i32, b: i32, c: i32) -> i32 {
        a.wrapping_add(b).wrapping_add(c)
    }
    /// All of `a * b`: compilers that know more of a factor than that it has no sign would multiply 64 bits by 64.
    fn product(self, a: u32, b: u32) -> u64 {
        u64::from(a) * u64::from(b)
    }
    /// `a * b + c`, rounded once: for terms whose sum is that of exact numbers, as elsewhere every operation is rounded.
    fn exact_fma(self, a: f32, b: f32, c: f32) -> f32;
    /// The square root, rounded to nearest even.
    fn sqrt(self, value: f32) -> f32;
    /// The same of 0, or of a number from 2⁻¹⁰⁰ to 2¹⁰⁰, without a look at any other.
    fn sqrt_of_normal(self, value: f32) -> f32;
}
