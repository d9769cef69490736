//! Whether this process is a child that was forked after CUDA was started. CUDA does not work in such a
//! child, and calls may hang.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::CudaError;

/// Whether CUDA was started, or is being started, in this process or in its parent.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether the handler is there.
#[cfg(unix)]
static WATCHED: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked after that.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Notices forks from here on. Called before the driver is loaded, by every thread that wants it first. A child that was made
/// by `clone` itself, and not by `fork`, goes unnoticed.
pub(super) fn watch() {
    #[cfg(unix)]
    if !WATCHED.swap(true, Relaxed) {
        extern "C" fn in_child() {
            FORKED.store(STARTED.load(Relaxed), Relaxed);
        }
        // SAFETY: the handler only touches atomics, which any signal or fork allows. Where there is no memory for
        // it (its only error) a fork goes unnoticed.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    STARTED.store(true, Relaxed);
}

/// CUDA could not be started: forks do not matter.
pub(super) fn not_started() {
    STARTED.store(false, Relaxed);
}

/// # Errors
/// [`CudaError::Forked`] in a child.
#[inline]
pub(super) fn check() -> Result<(), CudaError> {
    if FORKED.load(Relaxed) { Err(CudaError::Forked) } else { Ok(()) }
}
