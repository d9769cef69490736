//! Threads and vector instructions of a detector, and the constructors that choose them.

use crate::bands::Threads;
use crate::simd::Level;

/// The threads of a detector, and its vector instructions.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    pub(crate) threads: Threads,
    pub(crate) level: Level,
}

impl Workers {
    pub(crate) fn new(threads: Threads) -> Self {
        Self { threads, level: Level::best() }
    }

    /// Threads and instructions in words, for instance `cpu: 8 threads, avx512`.
    pub(crate) fn describe(&self) -> String {
        let threads = match self.threads.count() {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        format!("cpu: {threads}, {}", self.level)
    }
}

/// Constructors of a type that a function `on` makes of a configuration and [`Workers`].
macro_rules! constructors {
    ($type:ident, $config:ty) => {
        impl $type {
            /// A detector on rayon's shared pool: as many threads as the machine has, unless the
            /// process has configured the pool.
            #[must_use]
            pub fn new(config: $config) -> Self {
                Self::on(config, $crate::workers::Workers::new($crate::bands::Threads::shared()))
            }

            /// A detector on `threads` threads: the calling one, and others of its own.
            ///
            /// These spin for a tenth of a millisecond after a call, so that a call that follows
            /// soon finds them awake.
            ///
            /// # Errors
            /// [`PoolError`](crate::PoolError) inside [`Error::Backend`](crate::Error::Backend) for
            /// 0 threads, for more than [`MAX_THREADS`](crate::MAX_THREADS), and where they cannot
            /// be started.
            pub fn with_threads(config: $config, threads: usize) -> Result<Self, $crate::Error> {
                Ok(Self::on(config, $crate::workers::Workers::new($crate::bands::Threads::own(threads)?)))
            }

            /// A detector on the caller's pool; the calling thread takes the place of one of its
            /// threads.
            #[must_use]
            pub fn with_pool(config: $config, pool: std::sync::Arc<rayon::ThreadPool>) -> Self {
                Self::on(config, $crate::workers::Workers::new($crate::bands::Threads::of_caller(pool)))
            }

            /// Chooses the vector instructions; the default are the best ones of the processor.
            #[must_use]
            pub fn at_level(mut self, level: $crate::Level) -> Self {
                self.set_level(level);
                self
            }

            pub(crate) fn set_level(&mut self, level: $crate::Level) {
                self.workers.level = level;
            }
        }
    };
}

pub(crate) use constructors;
