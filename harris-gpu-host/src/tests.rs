//! Each rule of [`Simt`] has a kernel that breaks it.

use harris_gpu_kernels::Simt;

use crate::{Argument, HostKernel, Memory, Thread, launch};

/// The body of a kernel, called once for each thread.
type Body = for<'a> fn(Thread<'a>, &'a [Argument]);

/// A body in blocks of 256 threads and 1024 cells.
#[derive(Clone, Copy)]
struct TestKernel(Body);

impl HostKernel for TestKernel {
    fn name(self) -> &'static str {
        "test_kernel"
    }
    fn threads(self) -> u32 {
        256
    }
    fn cells(self) -> u32 {
        1024
    }
    fn run<'a>(self, thread: Thread<'a>, arguments: &'a [Argument]) {
        (self.0)(thread, arguments);
    }
}

fn run(grid: [u32; 2], arguments: Vec<Argument>, body: Body) {
    launch(TestKernel(body), grid, arguments);
}

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

/// The message of the panic that a body causes.
fn misuse(body: Body) -> String {
    let arguments = vec![Argument::Memory(memory(&[7; 600])), Argument::Memory(Memory::new(2400))];
    let run = std::panic::AssertUnwindSafe(|| run([3, 2], arguments, body));
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
    for part in parts.iter().chain(&["test_kernel", "block", "thread"]) {
        assert!(message.contains(part), "`{part}` is not in `{message}`");
    }
}

#[test]
fn threads_exchange_through_shared_memory_and_barriers() {
    let out = Memory::new(4 * 512);
    run([2, 1], vec![Argument::Memory(out.clone())], |s, arguments| {
        let to = arguments[0].buffer::<u32>();
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
fn lanes_exchange_words_as_on_a_device() {
    let out = Memory::new(4 * 5 * 256);
    run([1, 1], vec![Argument::Memory(out.clone())], |s, arguments| {
        let to = arguments[0].buffer::<u32>();
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
fn threads_increment_a_word_together() {
    let out = Memory::new(4);
    run([1, 1], vec![Argument::Memory(out.clone())], |s, arguments| {
        if s.thread() == 0 {
            s.set_shared_word(7, 5);
        }
        s.barrier();
        s.increment_shared_word(7);
        s.barrier();
        if s.thread() == 3 {
            s.store(arguments[0].buffer::<u32>(), 0, s.shared_word(7));
        }
    });
    assert_eq!(words(&out), [5 + 256]);
    assert_caught(
        |s, _| {
            s.set_shared_word(s.thread(), 0);
            s.barrier();
            s.increment_shared_word(7);
            s.shared_word(7);
        },
        &["reads shared cell 3", "no barrier between"],
    );
    assert_caught(
        |s, _| {
            s.set_shared_word(s.thread(), 0);
            s.barrier();
            s.increment_shared_word(7);
            s.set_shared_word(s.thread(), 0);
        },
        &["writes shared cell 3", "no barrier between"],
    );
    assert_caught(|s, _| s.increment_shared_word(9), &["counts in shared cell 4, which nothing wrote"]);
}

#[test]
fn a_barrier_or_exchange_that_a_thread_skips_is_caught() {
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
fn accesses_beyond_the_end_or_of_unwritten_words_are_caught() {
    assert_caught(
        |s, a| drop(s.load(a[0].buffer::<u32>(), 600).to_string()),
        &["reads byte 2400 to 2404 of 2400"],
    );
    assert_caught(|s, a| s.store(a[0].buffer::<u64>(), 300, 1), &["accesses word 600 of 600"]);
    assert_caught(
        |s, a| drop(s.load(a[1].buffer::<u16>(), 5).to_string()),
        &["reads byte 10, which nothing wrote"],
    );
    assert_caught(|s, a| drop(s.atomic_add(a[1].buffer(), 0, 1).to_string()), &["which nothing wrote"]);
    assert_caught(|s, _| s.set_shared(1024, 0), &["writes shared cell 1024 of 1024"]);
    assert_caught(|s, _| drop(s.shared(3).to_string()), &["which nothing wrote"]);
    assert_caught(|s, a| drop(s.load_four_bytes(a[0].buffer(), 2).to_string()), &["reads four bytes at 2"]);
}
