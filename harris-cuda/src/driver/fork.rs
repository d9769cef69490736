//! Whether this process is a child that was forked after CUDA was started. CUDA does not work in such a
//! child, and calls may hang.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::CudaError;

/// Whether CUDA was started, or is being started, in this process or in its parent.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether this process was forked after that.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Notices forks from here on. Called once, before the driver is loaded.
pub(super) fn watch() {
    #[cfg(unix)]
    {
        extern "C" fn in_child() {
            FORKED.store(STARTED.load(Relaxed), Relaxed);
        }
        // SAFETY: the handler only touches atomics, which any signal or fork allows. Where there is no memory for
        // it (its only error) a fork goes unnoticed.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    STARTED.store(true, Relaxed);
}

/// Forks do not matter: CUDA could not be started.
pub(super) fn stop_watching() {
    STARTED.store(false, Relaxed);
}

/// # Errors
/// [`CudaError::Forked`] in a child.
#[inline]
pub(super) fn check() -> Result<(), CudaError> {
    if FORKED.load(Relaxed) { Err(CudaError::Forked) } else { Ok(()) }
}
