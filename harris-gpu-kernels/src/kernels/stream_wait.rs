//! Waits for copies on another stream.

use crate::Simt;

/// Waits until word 0 has reached word 1 plus 1, then adds 1 to word 1.
///
/// Another stream increases word 0, and may be ahead. Both words count on modulo 2³², so they are
/// compared by the sign of their difference.
pub(crate) fn wait_for_copy<S: Simt>(s: S, words: S::Buffer<u32>) {
    s.allow_next_kernel();
    // A kernel that waits for this one relies on the kernels before it having ended, too.
    s.wait_for_previous_kernels();
    let number = s.load(words, 1).wrapping_add(1);
    while (s.load_acquire(words, 0).wrapping_sub(number) as i32) < 0 {}
    s.store(words, 1, number);
}
