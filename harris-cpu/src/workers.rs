//! Threads and instructions of what works on the CPU, and the constructors that choose them.

use crate::bands::Threads;
use crate::simd::Level;

/// Where work is done, and with which instructions.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    pub(crate) threads: Threads,
    pub(crate) level: Level,
}

impl Workers {
    pub(crate) fn new(threads: Threads) -> Self {
        Self { threads, level: Level::best() }
    }

    /// As in `cpu: 8 threads, avx512`.
    pub(crate) fn describe(&self) -> String {
        let threads = match self.threads.count() {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        };
        format!("cpu: {threads}, {}", self.level)
    }
}

/// The constructors of a type that is made of a configuration and [`Workers`] by a function `on`.
macro_rules! constructors {
    ($type:ident, $config:ty) => {
        impl $type {
            /// On rayon's shared pool: as many threads as the machine runs at once, unless the process has configured it
            /// otherwise.
            #[must_use]
            pub fn new(config: $config) -> Self {
                Self::on(config, $crate::workers::Workers::new($crate::bands::Threads::Shared))
            }

            /// On `threads` threads: the calling one, and others of its own, which stay awake for a tenth of a millisecond after
            /// a call: the next one finds them at once if it comes soon.
            ///
            /// # Errors
            /// [`PoolError`](crate::PoolError) inside [`Error::Backend`](crate::Error::Backend) where there are none or
            /// they cannot be started.
            pub fn with_threads(config: $config, threads: usize) -> Result<Self, $crate::Error> {
                Ok(Self::on(config, $crate::workers::Workers::new($crate::bands::Threads::own(threads)?)))
            }

            /// On the caller's pool, of whose threads the calling one takes the place of one.
            #[must_use]
            pub fn with_pool(config: $config, pool: std::sync::Arc<rayon::ThreadPool>) -> Self {
                Self::on(config, $crate::workers::Workers::new($crate::bands::Threads::Pool(pool)))
            }

            /// The same with the instructions of `level`, for comparing them; the best are the default.
            #[must_use]
            pub fn at_level(mut self, level: $crate::Level) -> Self {
                self.workers.level = level;
                self
            }
        }
    };
}

pub(crate) use constructors;
