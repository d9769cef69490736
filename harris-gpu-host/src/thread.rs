//! A thread of a kernel that runs on the CPU, and its block.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use corosensei::Yielder;

use harris_gpu_kernels::abi::Kernel;
use harris_gpu_kernels::{KernelArguments, Simt, Word};

use crate::memory::{Argument, Buffer};

/// A kernel that the host can run.
pub trait HostKernel: Copy {
    /// The name of its entry point, for messages.
    fn name(self) -> &'static str;
    /// Threads of a block.
    fn threads(self) -> u32;
    /// Cells, of 64 bits, of a block's shared memory.
    fn cells(self) -> u32;
    /// Runs its body in one thread.
    ///
    /// # Panics
    /// If the arguments are not the kernel's, or the body breaks the rules of [`Simt`].
    fn run<'a>(self, thread: Thread<'a>, arguments: &'a [Argument]);
}

impl HostKernel for Kernel {
    fn name(self) -> &'static str {
        self.name()
    }
    fn threads(self) -> u32 {
        self.threads()
    }
    fn cells(self) -> u32 {
        self.cells()
    }
    fn run<'a>(self, thread: Thread<'a>, arguments: &'a [Argument]) {
        assert_eq!(arguments.len(), self.arguments().len(), "number of arguments of {}", self.name());
        harris_gpu_kernels::run(self, thread, &mut Arguments(arguments.iter()));
    }
}

/// The arguments of a launch that a kernel has not read yet.
struct Arguments<'a>(std::slice::Iter<'a, Argument>);

impl<'a> KernelArguments<Thread<'a>> for Arguments<'a> {
    fn buffer<T: Word>(&mut self) -> Buffer<'a, T> {
        self.0.next().expect("an argument for each parameter").buffer()
    }
    fn word<T: Word>(&mut self) -> T {
        self.0.next().expect("an argument for each parameter").word()
    }
}

/// What a suspended thread waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Wait {
    Barrier,
    Exchange { kind: Exchange, word: u32, parameter: u32 },
}

/// An exchange of words between the lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exchange {
    Down,
    Up,
    Xor,
    From,
    Ballot,
}

/// A word of shared memory, half a cell, with the threads that accessed it.
#[derive(Clone, Copy, Default)]
pub(crate) struct SharedWord {
    word: Option<u32>,
    /// The last write: the number of barriers before it, and the thread.
    written: Option<(u32, u32)>,
    /// The last read: the number of barriers before it, and the thread, or [`SEVERAL_READERS`].
    read: Option<(u32, u32)>,
}

/// Stands for the number of a thread where several have read a word.
const SEVERAL_READERS: u32 = u32::MAX;
/// Stands for the number of a thread that increments: several may increment one word.
const INCREMENTING: u32 = SEVERAL_READERS - 1;

/// What the threads of a block share.
pub(crate) struct Block {
    pub(crate) kernel: &'static str,
    /// Column and row of the block in the grid.
    pub(crate) place: [u32; 2],
    /// Columns and rows of the grid.
    pub(crate) grid: [u32; 2],
    pub(crate) threads: u32,
    /// How many barriers its threads have passed.
    pub(crate) barriers: Cell<u32>,
    pub(crate) shared: RefCell<Vec<SharedWord>>,
}

/// A thread on the host.
#[derive(Clone, Copy)]
pub struct Thread<'a> {
    pub(crate) block: &'a Block,
    pub(crate) yielder: &'a Yielder<u32, Wait>,
    pub(crate) thread: u32,
}

impl Thread<'_> {
    /// A word of shared memory that `writer`, this thread or [`INCREMENTING`], is about to write.
    ///
    /// It is a misuse if another thread has accessed the word since the last barrier.
    fn shared_word_to_write(self, words: &mut [SharedWord], word: u32, writer: u32) -> &mut SharedWord {
        let (epoch, cell, cells) = (self.block.barriers.get(), word / 2, words.len() / 2);
        let Some(state) = words.get_mut(word as usize) else {
            self.misuse(&format!("writes shared cell {cell} of {cells}"));
        };
        for (at, other) in [state.written, state.read].into_iter().flatten() {
            if at == epoch && other != self.thread && other != writer {
                self.misuse(&format!(
                    "writes shared cell {cell}, which another touched, with no barrier between"
                ));
            }
        }
        state.written = Some((epoch, writer));
        state
    }

    fn misuse(self, what: &str) -> ! {
        panic!("{}, block {:?}, thread {}: {what}", self.block.kernel, self.block.place, self.thread)
    }

    fn exchange(self, kind: Exchange, word: u32, parameter: u32) -> u32 {
        self.yielder.suspend(Wait::Exchange { kind, word, parameter })
    }

    fn atomic(self, buffer: Buffer<'_, u32>, i: usize) -> &AtomicU32 {
        // An atomic operation reads the word, so it must have been written before.
        if let Err(misuse) = buffer.memory.read(4 * i, 4) {
            self.misuse(&misuse);
        }
        buffer.memory.word(i).unwrap_or_else(|misuse| self.misuse(&misuse))
    }
}

impl<'a> Simt for Thread<'a> {
    type Buffer<T: Word> = Buffer<'a, T>;

    fn thread(self) -> u32 {
        self.thread
    }
    fn block(self) -> u32 {
        self.block.place[0]
    }
    fn block_row(self) -> u32 {
        self.block.place[1]
    }
    fn blocks(self) -> u32 {
        self.block.grid[0]
    }
    fn threads(self) -> u32 {
        self.block.threads
    }

    fn barrier(self) {
        self.yielder.suspend(Wait::Barrier);
    }
    fn shuffle_down(self, word: u32, delta: u32) -> u32 {
        self.exchange(Exchange::Down, word, delta)
    }
    fn shuffle_up(self, word: u32, delta: u32) -> u32 {
        self.exchange(Exchange::Up, word, delta)
    }
    fn shuffle_xor(self, word: u32, mask: u32) -> u32 {
        self.exchange(Exchange::Xor, word, mask)
    }
    fn shuffle(self, word: u32, lane: u32) -> u32 {
        self.exchange(Exchange::From, word, lane)
    }
    fn ballot(self, vote: bool) -> u32 {
        self.exchange(Exchange::Ballot, vote.into(), 0)
    }

    fn load<T: Word>(self, buffer: Buffer<'a, T>, i: usize) -> T {
        match buffer.memory.read(T::BYTES * i, T::BYTES) {
            Ok(bits) => T::from_bits(bits),
            Err(misuse) => self.misuse(&misuse),
        }
    }
    fn load_constant<T: Word>(self, buffer: Buffer<'a, T>, i: usize) -> T {
        self.load(buffer, i)
    }
    fn load_speculative(self, buffer: Buffer<'a, u64>, i: usize) -> u64 {
        match buffer.memory.speculative(i) {
            Ok(word) => word,
            Err(misuse) => self.misuse(&misuse),
        }
    }
    fn load_relaxed(self, buffer: Buffer<'a, u32>, i: usize) -> u32 {
        self.load(buffer, i)
    }
    fn load_acquire(self, buffer: Buffer<'a, u32>, i: usize) -> u32 {
        self.load(buffer, i)
    }
    fn load_four_bytes(self, buffer: Buffer<'a, u8>, i: usize) -> u32 {
        if !i.is_multiple_of(4) {
            self.misuse(&format!("reads four bytes at {i}"));
        }
        // Bytes after the last row need not be written, but the memory must have them.
        match buffer.memory.four_bytes(i) {
            Ok(bytes) => bytes,
            Err(misuse) => self.misuse(&misuse),
        }
    }
    fn load_four_words<T: Word>(self, buffer: Buffer<'a, T>, i: usize) -> [T; 4] {
        if !i.is_multiple_of(4) {
            self.misuse(&format!("reads four words at {i}"));
        }
        std::array::from_fn(|n| self.load(buffer, i + n))
    }
    fn store<T: Word>(self, buffer: Buffer<'a, T>, i: usize, word: T) {
        if T::BYTES < 4 {
            for n in 0..T::BYTES {
                let byte = (word.into_bits() >> (8 * n)) as u8;
                if let Err(misuse) = buffer.memory.write_byte(i * T::BYTES + n, byte) {
                    self.misuse(&misuse);
                }
            }
            return;
        }
        for half in 0..T::BYTES / 4 {
            match buffer.memory.word(i * (T::BYTES / 4) + half) {
                Ok(place) => place.store((word.into_bits() >> (32 * half)) as u32, Relaxed),
                Err(misuse) => self.misuse(&misuse),
            }
        }
    }
    fn store_four_words(self, buffer: Buffer<'a, f32>, i: usize, words: [f32; 4]) {
        if !i.is_multiple_of(4) {
            self.misuse(&format!("writes four words at {i}"));
        }
        for (n, word) in words.into_iter().enumerate() {
            self.store(buffer, i + n, word);
        }
    }
    fn atomic_add(self, buffer: Buffer<'a, u32>, i: usize, word: u32) -> u32 {
        self.atomic(buffer, i).fetch_add(word, Relaxed)
    }

    fn atomic_max(self, buffer: Buffer<'a, u32>, i: usize, word: u32) {
        self.atomic(buffer, i).fetch_max(word, Relaxed);
    }

    fn shared(self, cell: u32) -> u64 {
        let [low, high] = [2 * cell, 2 * cell + 1].map(|word| u64::from(self.shared_word(word)));
        high << 32 | low
    }
    fn set_shared(self, cell: u32, word: u64) {
        self.set_shared_word(2 * cell, word as u32);
        self.set_shared_word(2 * cell + 1, (word >> 32) as u32);
    }
    fn shared_word(self, word: u32) -> u32 {
        let epoch = self.block.barriers.get();
        let cell = word / 2;
        let mut words = self.block.shared.borrow_mut();
        let Some(state) = words.get_mut(word as usize) else {
            self.misuse(&format!("reads shared cell {cell} of {}", words.len() / 2));
        };
        if let Some((at, writer)) = state.written
            && at == epoch
            && writer != self.thread
        {
            self.misuse(&format!(
                "reads shared cell {cell}, which thread {writer} wrote, with no barrier between"
            ));
        }
        state.read = match state.read {
            Some((at, reader)) if at == epoch && reader != self.thread => Some((epoch, SEVERAL_READERS)),
            _ => Some((epoch, self.thread)),
        };
        match state.word {
            Some(word) => word,
            None => self.misuse(&format!("reads shared cell {cell}, which nothing wrote")),
        }
    }
    fn set_shared_word(self, word: u32, value: u32) {
        let mut words = self.block.shared.borrow_mut();
        self.shared_word_to_write(&mut words, word, self.thread).word = Some(value);
    }
    fn increment_shared_word(self, word: u32) {
        let mut words = self.block.shared.borrow_mut();
        let state = self.shared_word_to_write(&mut words, word, INCREMENTING);
        let Some(count) = state.word else {
            self.misuse(&format!("counts in shared cell {}, which nothing wrote", word / 2));
        };
        state.word = Some(count + 1);
    }

    fn permute(self, low: u32, high: u32, selector: u32) -> u32 {
        let bytes = u64::from(high) << 32 | u64::from(low);
        let byte = |i: u32| (bytes >> (8 * (selector >> (4 * i) & 7)) & 0xFF) as u32;
        (0..4).map(|i| byte(i) << (8 * i)).sum()
    }
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    fn sqrt(self, value: f32) -> f32 {
        value.sqrt()
    }
    fn sqrt_in_range(self, value: f32) -> f32 {
        let normal = 2.0_f32.powi(-100)..=2.0_f32.powi(100);
        assert!(value == 0.0 || normal.contains(&value), "{value} is neither 0 nor in 2^-100..=2^100");
        value.sqrt()
    }
}
