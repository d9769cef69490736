//! Waiting for what comes by another queue.

use crate::Simt;

/// Ends when the first of two words has come to the number that is one more than the second, or a little further: numbers count on, also
/// past the greatest. The second counts how often was waited.
pub(crate) fn arrive<S: Simt>(s: S, words: S::Buffer<u32>) {
    s.admit_next();
    // Who waits for this kernel waits for those before it, too.
    s.await_last();
    let number = s.load(words, 1).wrapping_add(1);
    while (s.load_acquire(words, 0).wrapping_sub(number) as i32) < 0 {}
    s.store(words, 1, number);
}
