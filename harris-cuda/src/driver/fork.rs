//! Detects a child process that was forked after CUDA was started. CUDA does not work in such a
//! child, and calls may hang.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::CudaError;

/// Whether CUDA was started, or is being started, in this process or its parent.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether the fork handler is registered.
#[cfg(unix)]
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked after CUDA was started.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Registers a handler that notices forks. Every thread that wants the driver calls this before the
/// driver is loaded. A child made by `clone` instead of `fork` goes unnoticed.
pub(super) fn watch() {
    #[cfg(unix)]
    if !WATCHED.swap(true, Relaxed) {
        extern "C" fn in_child() {
            FORKED.store(STARTED.load(Relaxed), Relaxed);
        }
        // SAFETY: the handler only touches atomics, which is allowed after a fork. Its only error
        // is a lack of memory; forks then go unnoticed.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    STARTED.store(true, Relaxed);
}

/// Notes that CUDA could not be started, so forks do not matter.
pub(super) fn not_started() {
    STARTED.store(false, Relaxed);
}

/// Checks that the driver may be called in this process.
///
/// # Errors
/// [`CudaError::Forked`] in a child that was forked after CUDA was started.
#[inline]
pub(super) fn check() -> Result<(), CudaError> {
    if FORKED.load(Relaxed) { Err(CudaError::Forked) } else { Ok(()) }
}
