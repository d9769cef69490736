//! The kernel that waits for copies on another stream.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use harris_gpu_host::{Argument, Memory, launch};
use harris_gpu_kernels::abi::Kernel;

fn counters(arrived: u32, awaited: u32) -> Memory {
    let memory = Memory::new(8);
    for (i, byte) in arrived.to_le_bytes().into_iter().chain(awaited.to_le_bytes()).enumerate() {
        memory.set_byte(i, byte);
    }
    memory
}

/// Runs the kernel, and returns how often it has run.
fn wait(memory: &Memory) -> u32 {
    launch(Kernel::wait_for_copy, [1, 1], vec![Argument::Memory(memory.clone())]);
    u32::from_le_bytes([4, 5, 6, 7].map(|i| memory.byte(i)))
}

#[test]
fn kernel_ends_when_the_copy_has_arrived() {
    for (arrived, number) in [(0, 0), (5, 5), (6, 5), (u32::MAX, u32::MAX), (0, u32::MAX), (3, u32::MAX - 2)]
    {
        assert_eq!(wait(&counters(arrived, number.wrapping_sub(1))), number);
    }
    let memory = counters(3, 0);
    assert_eq!([(); 3].map(|()| wait(&memory)), [1, 2, 3]);
}

#[test]
fn kernel_waits_until_the_copy_arrives() {
    for (arrived, number, byte) in [(4, 5, 5), (u32::MAX - 255, u32::MAX - 250, 5)] {
        let (memory, is_written) = (counters(arrived, number - 1), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(30));
                is_written.store(true, SeqCst);
                memory.set_byte(0, byte);
            });
            assert_eq!(wait(&memory), number);
            assert!(is_written.load(SeqCst), "{number} after {arrived}");
        });
    }
}
