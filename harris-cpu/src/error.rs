//! Failures of the thread pool.

use harris_core::Error;

/// The most threads that a detector may have of its own.
pub const MAX_THREADS: usize = 1024;

/// Why a detector could not have its threads; comes inside [`Error::Backend`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// A detector of no threads was asked for.
    #[error("a detector needs at least one thread")]
    NoThreads,
    /// More than [`MAX_THREADS`] threads were asked for.
    #[error("a detector can have at most {most} threads, not {threads}", most = MAX_THREADS)]
    TooManyThreads {
        /// How many were asked for.
        threads: usize,
    },
    /// The threads could not be started.
    #[error("{threads} threads could not be started: {source}")]
    Start {
        /// How many were asked for.
        threads: usize,
        /// What the system said.
        source: rayon::ThreadPoolBuildError,
    },
}

impl From<PoolError> for Error {
    fn from(error: PoolError) -> Self {
        Error::Backend(Box::new(error))
    }
}
