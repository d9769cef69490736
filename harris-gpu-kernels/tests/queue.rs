//! Waiting for what comes by another queue.
#![cfg(feature = "host")]

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use harris_gpu_kernels::abi::Kernel;
use harris_gpu_kernels::simt::host::{Argument, Memory, launch};

fn words(came: u32, waited: u32) -> Memory {
    let memory = Memory::new(8);
    for (i, byte) in came.to_le_bytes().into_iter().chain(waited.to_le_bytes()).enumerate() {
        memory.set_byte(i, byte);
    }
    memory
}

/// Waits, and tells how often that was done.
fn wait(memory: &Memory) -> u32 {
    launch(Kernel::arrive, [1, 1], vec![Argument::Memory(memory.clone())]);
    u32::from_le_bytes([4, 5, 6, 7].map(|i| memory.byte(i)))
}

#[test]
fn what_has_come_is_not_waited_for() {
    for (came, number) in [(0, 0), (5, 5), (6, 5), (u32::MAX, u32::MAX), (0, u32::MAX), (3, u32::MAX - 2)] {
        assert_eq!(wait(&words(came, number.wrapping_sub(1))), number);
    }
    let memory = words(3, 0);
    assert_eq!([(); 3].map(|()| wait(&memory)), [1, 2, 3]);
}

#[test]
fn what_has_not_come_is_waited_for() {
    for (came, number, byte) in [(4, 5, 5), (u32::MAX - 255, u32::MAX - 250, 5)] {
        let (memory, is_there) = (words(came, number - 1), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(30));
                is_there.store(true, SeqCst);
                memory.set_byte(0, byte);
            });
            assert_eq!(wait(&memory), number);
            assert!(is_there.load(SeqCst), "{number} after {came}");
        });
    }
}
