//! Pools of threads, and what takes their place in a forked child: a fork copies no thread but the
//! one that calls it, so that work given to a pool of the parent would never be done.

use std::mem;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rayon::ThreadPool;

use crate::error::{MAX_THREADS, PoolError};

/// The number of this process, where processes can fork.
fn this_process() -> u32 {
    if cfg!(unix) { std::process::id() } else { 1 }
}

/// A pool of a detector alone, with one thread less than work on an image, and how many calls it
/// had.
#[derive(Debug)]
pub(crate) struct OwnPool {
    pool: ProcessLocal<ThreadPool>,
    pub(crate) calls: Arc<AtomicUsize>,
}

impl OwnPool {
    /// Starts the threads for work on `threads` threads, at least 2, with the calling one.
    pub(crate) fn start(threads: usize) -> Result<Self, PoolError> {
        if threads > MAX_THREADS {
            return Err(PoolError::TooManyThreads { threads });
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads - 1)
            .thread_name(|i| format!("harris-{i}"))
            .build()
            .map_err(|source| PoolError::Start { threads, source })?;
        Ok(Self { pool: ProcessLocal::new(pool), calls: Arc::default() })
    }

    /// The pool, if its threads are there.
    pub(crate) fn get(&self) -> Option<&ThreadPool> {
        self.pool.get()
    }

    /// How many threads work on an image.
    pub(crate) fn count(&self) -> usize {
        self.pool.value().current_num_threads() + 1
    }
}

/// The caller's pool.
#[derive(Debug)]
pub(crate) struct CallersPool(ProcessLocal<Arc<ThreadPool>>);

impl CallersPool {
    pub(crate) fn new(pool: Arc<ThreadPool>) -> Self {
        Self(ProcessLocal::new(pool))
    }

    /// The pool, if its threads are there.
    pub(crate) fn get(&self) -> Option<&ThreadPool> {
        self.0.get().map(|pool| &**pool)
    }

    /// How many threads work on an image.
    pub(crate) fn count(&self) -> usize {
        self.0.value().current_num_threads()
    }
}

/// Something that threads of one process hold. In a forked child it is not dropped: what these
/// threads had locked stays so.
#[derive(Debug)]
struct ProcessLocal<T> {
    /// Taken when it is dropped.
    value: Option<T>,
    process: u32,
}

impl<T> ProcessLocal<T> {
    fn new(value: T) -> Self {
        Self { value: Some(value), process: this_process() }
    }

    fn value(&self) -> &T {
        self.value.as_ref().expect("taken when it is dropped")
    }

    /// The value, if this is its process.
    fn get(&self) -> Option<&T> {
        (self.process == this_process()).then(|| self.value())
    }
}

impl<T> Drop for ProcessLocal<T> {
    fn drop(&mut self) {
        if self.process != this_process() {
            mem::forget(self.value.take());
        }
    }
}

/// The process whose threads rayon's shared pool has, as far as this crate knows; 0 before it is
/// used.
static SHARED_POOL_PROCESS: AtomicU32 = AtomicU32::new(0);

/// Notes that rayon's shared pool will be used in this process.
pub(crate) fn note_shared() {
    let _ = SHARED_POOL_PROCESS.compare_exchange(0, this_process(), Ordering::Relaxed, Ordering::Relaxed);
}

/// Whether the threads of rayon's shared pool are there.
pub(crate) fn has_shared() -> bool {
    SHARED_POOL_PROCESS.load(Ordering::Relaxed) == this_process()
}

/// The pool that a forked child has in the place of all pools of its parent.
static OF_CHILD: Mutex<Option<Arc<OwnPool>>> = Mutex::new(None);

/// The pool of this forked child for work on `threads` threads; `None` where it cannot be had.
///
/// It is started on the first call, and again where it has fewer threads. It never waits: the lock
/// may have been held by a thread that is not there.
pub(crate) fn of_child(threads: usize) -> Option<Arc<OwnPool>> {
    let mut pool = OF_CHILD.try_lock().ok()?;
    match &*pool {
        Some(pool) if pool.get().is_some() && pool.count() >= threads => Some(Arc::clone(pool)),
        Some(_) | None => {
            let started = Arc::new(OwnPool::start(threads.min(MAX_THREADS)).ok()?);
            *pool = Some(Arc::clone(&started));
            Some(started)
        }
    }
}
