//! Runs the blocks and threads of a kernel: each thread is a coroutine.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use harris_gpu_kernels::simt::WARP;

use crate::memory::Argument;
use crate::thread::{Block, Exchange, HostKernel, SharedWord, Thread, Wait};

type Routine = Coroutine<u32, Wait, ()>;

/// A thread that waits for others, and what for; none where it has ended.
type Waiting = Option<(Routine, Wait)>;

thread_local! {
    /// Stacks of launches that have ended, for reuse: allocating them anew took a third of the time
    /// of the kernels' tests.
    static STACKS: Cell<Vec<DefaultStack>> = const { Cell::new(Vec::new()) };
}

/// Runs a kernel on `grid`: columns and rows of blocks.
///
/// # Panics
/// Where the kernel breaks the rules of [`Simt`](harris_gpu_kernels::Simt), or the arguments are not the
/// kernel's.
pub fn launch(kernel: impl HostKernel + 'static, grid: [u32; 2], arguments: Vec<Argument>) {
    let arguments: Rc<[Argument]> = arguments.into();
    let mut stacks = STACKS.take();
    let mut shared = vec![SharedWord::default(); 2 * kernel.cells() as usize];
    let blocks = u64::from(grid[0]) * u64::from(grid[1]);
    // A prime that divides no grid of a test: visits all blocks, far from the order of their
    // numbers.
    let scrambled = |i: u64| (i * 1_000_003 + blocks / 2) % blocks;
    let in_order = blocks.is_multiple_of(1_000_003);
    for i in 0..blocks {
        let i = if in_order { i } else { scrambled(i) };
        let place = [(i % u64::from(grid[0])) as u32, (i / u64::from(grid[0])) as u32];
        shared.fill(SharedWord::default());
        let block = Rc::new(Block {
            kernel: kernel.name(),
            place,
            grid,
            threads: kernel.threads(),
            barriers: Cell::new(0),
            shared: RefCell::new(shared),
        });
        run_block(&block, &arguments, kernel, &mut stacks, i % 2 == 1);
        shared = block.shared.take();
    }
    STACKS.set(stacks);
}

fn run_block(
    block: &Rc<Block>,
    arguments: &Rc<[Argument]>,
    kernel: impl HostKernel + 'static,
    stacks: &mut Vec<DefaultStack>,
    backwards: bool,
) {
    let mut waiting: Vec<Waiting> = Vec::new();
    waiting.resize_with(block.threads as usize, || None);
    for i in 0..block.threads {
        let thread = if backwards { block.threads - 1 - i } else { i };
        let stack = stacks.pop().unwrap_or_else(|| DefaultStack::new(1 << 16).expect("memory for a stack"));
        let (block, arguments) = (Rc::clone(block), Rc::clone(arguments));
        let routine = Coroutine::with_stack(stack, move |yielder: &Yielder<u32, Wait>, _| {
            kernel.run(Thread { block: &block, yielder, thread }, &arguments);
        });
        waiting[thread as usize] = resume(routine, 0, stacks);
    }
    while waiting.iter().any(Option::is_some) {
        let at_barrier = |slot: &Waiting| matches!(slot, Some((_, Wait::Barrier)));
        if waiting.iter().all(at_barrier) {
            block.barriers.set(block.barriers.get() + 1);
            for slot in &mut waiting {
                let (routine, _) = slot.take().expect("it waits at the barrier");
                *slot = resume(routine, 0, stacks);
            }
            continue;
        }
        let mut progressed = false;
        for lanes in waiting.chunks_mut(WARP as usize) {
            let Some(answers) = exchange(lanes) else { continue };
            progressed = true;
            for (slot, answer) in lanes.iter_mut().zip(answers) {
                let (routine, _) = slot.take().expect("it waits in the exchange");
                *slot = resume(routine, answer, stacks);
            }
        }
        if !progressed {
            report_divergence(block, &waiting);
        }
    }
}

/// Panics with the names of two threads that wait for each other forever: of one warp, if there are
/// any.
fn report_divergence(block: &Block, waiting: &[Waiting]) -> ! {
    let states: Vec<_> = waiting.iter().map(|slot| slot.as_ref().map(|(_, wait)| *wait)).collect();
    let pair = |range: std::ops::Range<usize>| {
        let first = range.clone().find(|&i| states[i].is_some())?;
        range.into_iter().find(|&i| !wait_for_same(states[i], states[first])).map(|other| (first, other))
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
    panic!("{kernel}, block {place:?}: thread {first} {}, thread {other} {}", said(first), said(other))
}

/// Whether two threads wait for the same thing.
fn wait_for_same(a: Option<Wait>, b: Option<Wait>) -> bool {
    match (a, b) {
        (Some(Wait::Exchange { kind, .. }), Some(Wait::Exchange { kind: other, .. })) => kind == other,
        (a, b) => a == b,
    }
}

/// Runs a thread until it waits for others; keeps its stack for reuse where it ends.
fn resume(mut routine: Routine, answer: u32, stacks: &mut Vec<DefaultStack>) -> Waiting {
    match routine.resume(answer) {
        CoroutineResult::Yield(wait) => Some((routine, wait)),
        CoroutineResult::Return(()) => {
            stacks.push(routine.into_stack());
            None
        }
    }
}

/// The word that each lane of a warp receives; none unless all lanes are in one exchange.
fn exchange(lanes: &[Waiting]) -> Option<[u32; WARP as usize]> {
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
