//! The provider that runs kernels on the CPU, for tests.
//!
//! A thread is a coroutine; a block's threads run in turn on the calling thread, each until it waits for others.
//! Blocks run one after another, and neither blocks nor threads in the order of their numbers, so that a kernel
//! whose result depends on an order shows it. Misuse is a panic that names kernel, block and thread.

mod memory;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::string::ToString;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::vec::Vec;
use std::{format, vec};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

pub use memory::{Argument, Buffer, Memory};
pub(crate) use memory::{buffer, number};

use super::{Simt, WARP, Word};
use crate::abi::Kernel;

/// What a waiting thread wants.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wait {
    Barrier,
    Exchange { kind: Exchange, word: u32, parameter: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Exchange {
    Down,
    Up,
    Xor,
    From,
    Ballot,
}

/// A word of shared memory, half a cell, and who touched it since the last barrier.
#[derive(Clone, Copy, Default)]
struct SharedWord {
    word: Option<u32>,
    written: Option<(u32, u32)>,
    read: Option<(u32, u32)>,
}

const MANY: u32 = u32::MAX;
/// Threads that count, each of which may add to what another has written.
const COUNTING: u32 = MANY - 1;

/// What the threads of a block have in common.
struct Block {
    kernel: Kernel,
    place: [u32; 2],
    grid: [u32; 2],
    threads: u32,
    barriers: Cell<u32>,
    shared: RefCell<Vec<SharedWord>>,
}

/// A thread on the host.
#[derive(Clone, Copy)]
pub struct Thread<'a> {
    block: &'a Block,
    yielder: &'a Yielder<u32, Wait>,
    thread: u32,
}

impl Thread<'_> {
    /// A word of shared memory that is to be written by this thread, or by those that count.
    fn writes(self, words: &mut [SharedWord], word: u32, writer: u32) -> &mut SharedWord {
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
        panic!("{:?}, block {:?}, thread {}: {what}", self.block.kernel, self.block.place, self.thread)
    }

    fn exchange(self, kind: Exchange, word: u32, parameter: u32) -> u32 {
        self.yielder.suspend(Wait::Exchange { kind, word, parameter })
    }

    fn atomic(self, buffer: Buffer<'_, u32>, i: usize) -> &AtomicU32 {
        // What is counted or compared with must have been written before.
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
    fn load_early(self, buffer: Buffer<'a, u64>, i: usize) -> u64 {
        match buffer.memory.early(i) {
            Ok(word) => word,
            Err(misuse) => self.misuse(&misuse),
        }
    }
    fn load_shared_by_all(self, buffer: Buffer<'a, u32>, i: usize) -> u32 {
        self.load(buffer, i)
    }
    fn load_acquire(self, buffer: Buffer<'a, u32>, i: usize) -> u32 {
        self.load(buffer, i)
    }
    fn load_four(self, buffer: Buffer<'a, u8>, i: usize) -> u32 {
        if !i.is_multiple_of(4) {
            self.misuse(&format!("reads four bytes at {i}"));
        }
        // Bytes beyond the image may be anything, but the memory must have them.
        match buffer.memory.four(i) {
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
    fn store_four(self, buffer: Buffer<'a, f32>, i: usize, words: [f32; 4]) {
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
            Some((at, reader)) if at == epoch && reader != self.thread => Some((epoch, MANY)),
            _ => Some((epoch, self.thread)),
        };
        match state.word {
            Some(word) => word,
            None => self.misuse(&format!("reads shared cell {cell}, which nothing wrote")),
        }
    }
    fn set_shared_word(self, word: u32, value: u32) {
        let mut words = self.block.shared.borrow_mut();
        self.writes(&mut words, word, self.thread).word = Some(value);
    }
    fn count_in_shared(self, word: u32) {
        let mut words = self.block.shared.borrow_mut();
        let state = self.writes(&mut words, word, COUNTING);
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
    fn exact_fma(self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    fn sqrt(self, value: f32) -> f32 {
        value.sqrt()
    }
    fn sqrt_of_normal(self, value: f32) -> f32 {
        let usual = 2.0_f32.powi(-100)..=2.0_f32.powi(100);
        assert!(value == 0.0 || usual.contains(&value), "{value} is no number for it");
        value.sqrt()
    }
}

type Routine = Coroutine<u32, Wait, ()>;

std::thread_local! {
    /// Stacks that launches have left: to ask the system for them each time took a third of what tests of kernels took.
    static STACKS: Cell<Vec<DefaultStack>> = const { Cell::new(Vec::new()) };
}

/// Runs a kernel on `grid` blocks.
///
/// # Panics
/// Where the kernel breaks the rules of [`Simt`], or the arguments are not the kernel's.
pub fn launch(kernel: Kernel, grid: [u32; 2], arguments: Vec<Argument>) {
    run(kernel, grid, arguments, kernel.on_host());
}

/// Runs a body as if it were the kernel's.
pub(crate) fn run(
    kernel: Kernel,
    grid: [u32; 2],
    arguments: Vec<Argument>,
    body: for<'a> fn(Thread<'a>, &'a [Argument]),
) {
    let arguments: Rc<[Argument]> = arguments.into();
    let mut stacks = STACKS.take();
    let mut shared = vec![SharedWord::default(); 2 * kernel.cells() as usize];
    let blocks = u64::from(grid[0]) * u64::from(grid[1]);
    // A prime that divides no grid of a test: all blocks, far from their order.
    let scrambled = |i: u64| (i * 1_000_003 + blocks / 2) % blocks;
    let in_order = blocks.is_multiple_of(1_000_003);
    for i in 0..blocks {
        let i = if in_order { i } else { scrambled(i) };
        let place = [(i % u64::from(grid[0])) as u32, (i / u64::from(grid[0])) as u32];
        shared.fill(SharedWord::default());
        let block = Rc::new(Block {
            kernel,
            place,
            grid,
            threads: kernel.threads(),
            barriers: Cell::new(0),
            shared: RefCell::new(shared),
        });
        run_block(&block, &arguments, body, &mut stacks, i % 2 == 1);
        shared = block.shared.take();
    }
    STACKS.set(stacks);
}

fn run_block(
    block: &Rc<Block>,
    arguments: &Rc<[Argument]>,
    body: for<'a> fn(Thread<'a>, &'a [Argument]),
    stacks: &mut Vec<DefaultStack>,
    backwards: bool,
) {
    let mut waiting: Vec<Option<(Routine, Wait)>> = Vec::new();
    waiting.resize_with(block.threads as usize, || None);
    for i in 0..block.threads {
        let thread = if backwards { block.threads - 1 - i } else { i };
        let stack = stacks.pop().unwrap_or_else(|| DefaultStack::new(1 << 16).expect("memory for a stack"));
        let (block, arguments) = (Rc::clone(block), Rc::clone(arguments));
        let routine = Coroutine::with_stack(stack, move |yielder: &Yielder<u32, Wait>, _| {
            body(Thread { block: &block, yielder, thread }, &arguments);
        });
        waiting[thread as usize] = resume(routine, 0, stacks);
    }
    while waiting.iter().any(Option::is_some) {
        let at_barrier = |slot: &Option<(Routine, Wait)>| matches!(slot, Some((_, Wait::Barrier)));
        if waiting.iter().all(at_barrier) {
            block.barriers.set(block.barriers.get() + 1);
            for slot in &mut waiting {
                let (routine, _) = slot.take().expect("it waits at the barrier");
                *slot = resume(routine, 0, stacks);
            }
            continue;
        }
        let mut moved = false;
        for lanes in waiting.chunks_mut(WARP as usize) {
            let Some(answers) = exchange(lanes) else { continue };
            moved = true;
            for (slot, answer) in lanes.iter_mut().zip(answers) {
                let (routine, _) = slot.take().expect("it waits in the exchange");
                *slot = resume(routine, answer, stacks);
            }
        }
        if !moved {
            divergent(block, &waiting);
        }
    }
}

/// Two threads that wait for each other in vain, of one warp where there are such.
fn divergent(block: &Block, waiting: &[Option<(Routine, Wait)>]) -> ! {
    let states: Vec<_> = waiting.iter().map(|slot| slot.as_ref().map(|(_, wait)| *wait)).collect();
    let pair = |range: std::ops::Range<usize>| {
        let first = range.clone().find(|&i| states[i].is_some())?;
        range.into_iter().find(|&i| !same(states[i], states[first])).map(|other| (first, other))
    };
    let warps = (0..states.len()).step_by(WARP as usize).map(|first| first..first + WARP as usize);
    let all = std::iter::once(0..states.len());
    let (first, other) = warps.chain(all).find_map(pair).expect("some wait for others");
    let said = |i: usize| match states[i] {
        Some(Wait::Barrier) => "waits at a barrier".to_string(),
        Some(Wait::Exchange { kind, .. }) => format!("waits in an exchange ({kind:?})"),
        None => "has ended".to_string(),
    };
    let (kernel, place) = (block.kernel, block.place);
    panic!("{kernel:?}, block {place:?}: thread {first} {}, thread {other} {}", said(first), said(other))
}

fn same(a: Option<Wait>, b: Option<Wait>) -> bool {
    match (a, b) {
        (Some(Wait::Exchange { kind, .. }), Some(Wait::Exchange { kind: other, .. })) => kind == other,
        (a, b) => a == b,
    }
}

fn resume(mut routine: Routine, answer: u32, stacks: &mut Vec<DefaultStack>) -> Option<(Routine, Wait)> {
    match routine.resume(answer) {
        CoroutineResult::Yield(wait) => Some((routine, wait)),
        CoroutineResult::Return(()) => {
            stacks.push(routine.into_stack());
            None
        }
    }
}

/// What each lane of a warp gets where all of them are in one exchange.
fn exchange(lanes: &[Option<(Routine, Wait)>]) -> Option<[u32; WARP as usize]> {
    let mut words = [0; WARP as usize];
    let mut parameters = [0; WARP as usize];
    let mut kinds = None;
    for (lane, slot) in lanes.iter().enumerate() {
        let Some((_, Wait::Exchange { kind, word, parameter })) = slot else { return None };
        if *kinds.get_or_insert(*kind) != *kind {
            return None;
        }
        (words[lane], parameters[lane]) = (*word, *parameter);
    }
    let kind = kinds?;
    let mut answers = words;
    for lane in 0..lanes.len() {
        let parameter = parameters[lane] as usize;
        let from = match kind {
            Exchange::Down => lane + parameter,
            Exchange::Up => lane.wrapping_sub(parameter),
            Exchange::Xor => lane ^ parameter,
            Exchange::From => parameter % WARP as usize,
            Exchange::Ballot => {
                answers[lane] = (0..lanes.len()).map(|i| words[i] << i).sum();
                continue;
            }
        };
        answers[lane] = words.get(from).copied().unwrap_or(words[lane]);
    }
    Some(answers)
}

#[cfg(test)]
mod tests {
    use std::string::String;

    use super::*;

    /// 256 threads and 1024 cells.
    const KERNEL: Kernel = Kernel::rank;

    fn memory(words: &[u32]) -> Memory {
        let memory = Memory::new(4 * words.len());
        for (i, word) in words.iter().enumerate() {
            for (byte, value) in word.to_le_bytes().into_iter().enumerate() {
                memory.set_byte(4 * i + byte, value);
            }
        }
        memory
    }

    fn words(memory: &Memory) -> Vec<u32> {
        let byte = |i| u32::from(memory.byte(i));
        (0..memory.bytes() / 4).map(|i| (0..4).map(|j| byte(4 * i + j) << (8 * j)).sum()).collect()
    }

    type Body = for<'a> fn(Thread<'a>, &'a [Argument]);

    /// What the panic of a body says.
    fn misuse(body: Body) -> String {
        let arguments = vec![Argument::Memory(memory(&[7; 600])), Argument::Memory(Memory::new(2400))];
        let run = std::panic::AssertUnwindSafe(|| run(KERNEL, [3, 2], arguments, body));
        let panic = std::panic::catch_unwind(run).expect_err("a misuse is caught");
        match panic.downcast::<String>() {
            Ok(message) => *message,
            Err(panic) => {
                panic.downcast::<&str>().map_or_else(|_| "?".to_string(), |message| message.to_string())
            }
        }
    }

    fn assert_caught(body: Body, parts: &[&str]) {
        let message = misuse(body);
        for part in parts.iter().chain(&["rank", "block", "thread"]) {
            assert!(message.contains(part), "`{part}` is not in `{message}`");
        }
    }

    #[test]
    fn threads_exchange_through_shared_memory_and_barriers() {
        let out = Memory::new(4 * 512);
        run(KERNEL, [2, 1], vec![Argument::Memory(out.clone())], |s, arguments| {
            let to = buffer::<u32>(&arguments[0]);
            s.set_shared(s.thread(), u64::from(10 * s.index()));
            s.barrier();
            let other = s.shared(s.threads() - 1 - s.thread());
            s.store(to, s.index() as usize, other as u32);
        });
        let expected: Vec<_> =
            (0..2).flat_map(|block| (0..256).map(move |i| 10 * (256 * block + 255 - i))).collect();
        assert_eq!(words(&out), expected);
    }

    #[test]
    fn lanes_exchange_as_on_a_device() {
        let out = Memory::new(4 * 5 * 256);
        run(KERNEL, [1, 1], vec![Argument::Memory(out.clone())], |s, arguments| {
            let to = buffer::<u32>(&arguments[0]);
            let own = 100 + s.thread();
            let answers = [
                s.shuffle_down(own, 3),
                s.shuffle_up(own, 1),
                s.shuffle_xor(own, 16),
                s.shuffle(own, 5),
                s.ballot(s.lane() % 2 == 1),
            ];
            for (i, answer) in answers.into_iter().enumerate() {
                s.store(to, 5 * s.thread() as usize + i, answer);
            }
        });
        let words = words(&out);
        let of = |thread: usize| &words[5 * thread..][..5];
        // The first, a middle and the last lane of the second warp.
        assert_eq!(of(32), [135, 132, 148, 137, 0xAAAA_AAAA]);
        assert_eq!(of(40), [143, 139, 156, 137, 0xAAAA_AAAA]);
        assert_eq!(of(63), [163, 162, 147, 137, 0xAAAA_AAAA]);
    }

    #[test]
    fn a_missing_barrier_is_caught() {
        assert_caught(
            |s, _| {
                s.set_shared(s.thread(), 1);
                s.barrier();
                s.set_shared(s.thread(), 2);
                s.shared((s.thread() + 1) % 256);
            },
            &["shared cell", "no barrier between"],
        );
        assert_caught(
            |s, _| {
                s.set_shared(s.thread(), 1);
                s.barrier();
                s.shared(255 - s.thread());
                s.set_shared(s.thread(), 2);
            },
            &["shared cell", "no barrier between"],
        );
    }

    #[test]
    fn threads_count_together() {
        let out = Memory::new(4);
        run(KERNEL, [1, 1], vec![Argument::Memory(out.clone())], |s, arguments| {
            if s.thread() == 0 {
                s.set_shared_word(7, 5);
            }
            s.barrier();
            s.count_in_shared(7);
            s.barrier();
            if s.thread() == 3 {
                s.store(buffer::<u32>(&arguments[0]), 0, s.shared_word(7));
            }
        });
        assert_eq!(words(&out), [5 + 256]);
        assert_caught(
            |s, _| {
                s.set_shared_word(s.thread(), 0);
                s.barrier();
                s.count_in_shared(7);
                s.shared_word(7);
            },
            &["reads shared cell 3", "no barrier between"],
        );
        assert_caught(
            |s, _| {
                s.set_shared_word(s.thread(), 0);
                s.barrier();
                s.count_in_shared(7);
                s.set_shared_word(s.thread(), 0);
            },
            &["writes shared cell 3", "no barrier between"],
        );
        assert_caught(|s, _| s.count_in_shared(9), &["counts in shared cell 4, which nothing wrote"]);
    }

    #[test]
    fn a_barrier_or_exchange_that_some_leave_out_is_caught() {
        assert_caught(
            |s, _| {
                if s.thread() != 77 {
                    s.barrier();
                }
            },
            &["waits at a barrier", "thread 77 has ended"],
        );
        assert_caught(
            |s, _| {
                if s.thread() == 40 {
                    s.ballot(true);
                } else {
                    s.shuffle(1, 0);
                }
            },
            &["thread 40 waits in an exchange (Ballot)", "(From)"],
        );
    }

    #[test]
    fn accesses_beyond_the_end_and_of_nothing_are_caught() {
        assert_caught(
            |s, a| drop(s.load(buffer::<u32>(&a[0]), 600).to_string()),
            &["reads byte 2400 to 2404 of 2400"],
        );
        assert_caught(|s, a| s.store(buffer::<u64>(&a[0]), 300, 1), &["accesses word 600 of 600"]);
        assert_caught(
            |s, a| drop(s.load(buffer::<u16>(&a[1]), 5).to_string()),
            &["reads byte 10, which nothing wrote"],
        );
        assert_caught(|s, a| drop(s.atomic_add(buffer(&a[1]), 0, 1).to_string()), &["which nothing wrote"]);
        assert_caught(|s, _| s.set_shared(1024, 0), &["writes shared cell 1024 of 1024"]);
        assert_caught(|s, _| drop(s.shared(3).to_string()), &["which nothing wrote"]);
        assert_caught(|s, a| drop(s.load_four(buffer(&a[0]), 2).to_string()), &["reads four bytes at 2"]);
    }
}
