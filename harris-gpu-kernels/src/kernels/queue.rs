//! Waiting for what comes by another queue.

use crate::Simt;

/// Ends when the word has come to `number`, or a little further: numbers count on, also past the greatest.
pub(crate) fn arrive<S: Simt>(s: S, word: S::Buffer<u32>, number: u32) {
    s.admit_next();
    // Who waits for this kernel waits for those before it, too.
    s.await_last();
    while (s.load_acquire(word, 0).wrapping_sub(number) as i32) < 0 {}
}

#[cfg(all(test, feature = "host"))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;
    use std::vec;

    use crate::abi::Kernel;
    use crate::simt::host::{Argument, Memory, launch};

    fn word(value: u32) -> Memory {
        let memory = Memory::new(4);
        for (i, byte) in value.to_le_bytes().into_iter().enumerate() {
            memory.set_byte(i, byte);
        }
        memory
    }

    fn wait(memory: &Memory, number: u32) {
        launch(Kernel::arrive, [1, 1], vec![Argument::Memory(memory.clone()), Argument::Word(number.into())]);
    }

    #[test]
    fn what_has_come_is_not_waited_for() {
        for (came, number) in [(0, 0), (5, 5), (6, 5), (u32::MAX, u32::MAX), (0, u32::MAX), (3, u32::MAX - 2)]
        {
            wait(&word(came), number);
        }
    }

    #[test]
    fn what_has_not_come_is_waited_for() {
        for (came, number, byte) in [(4, 5, 5), (u32::MAX - 255, u32::MAX - 250, 5)] {
            let (memory, is_there) = (word(came), AtomicBool::new(false));
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(30));
                    is_there.store(true, SeqCst);
                    memory.set_byte(0, byte);
                });
                wait(&memory, number);
                assert!(is_there.load(SeqCst), "{number} after {came}");
            });
        }
    }
}
