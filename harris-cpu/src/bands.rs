//! Bands of rows and the threads that work on them.

use std::ops::Range;
use std::sync::Arc;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::PoolError;

/// Rows a band has at least: below, handing it to another thread costs more than it saves.
const LEAST_ROWS: usize = 16;

/// Where the bands of an image are worked on.
#[derive(Clone, Debug)]
pub(crate) enum Threads {
    /// The calling thread alone.
    Caller,
    /// The pool that rayon shares among all its users in the process.
    Shared,
    /// A pool of one's own, or the user's.
    Pool(Arc<ThreadPool>),
}

impl Threads {
    /// `threads` threads for this detector alone.
    pub(crate) fn own(threads: usize) -> Result<Self, PoolError> {
        match threads {
            0 => Err(PoolError::NoThreads),
            1 => Ok(Self::Caller),
            _ => {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .thread_name(|i| format!("harris-{i}"))
                    .build()
                    .map_err(|source| PoolError::Start { threads, source })?;
                Ok(Self::Pool(Arc::new(pool)))
            }
        }
    }

    /// How many threads there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Caller => 1,
            Self::Shared => rayon::current_num_threads(),
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Cuts `rows` rows into at most as many bands as there are threads, of nearly equal height.
    pub(crate) fn bands(&self, rows: usize) -> Vec<Range<usize>> {
        let bands = rows.div_ceil(LEAST_ROWS).clamp(1, self.count());
        (0..bands).map(|i| rows * i / bands..rows * (i + 1) / bands).collect()
    }

    /// Calls `work` once an item, on all threads, and returns the results in the items' order.
    pub(crate) fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
        if items.len() == 1 {
            return items.into_iter().map(work).collect();
        }
        match self {
            Self::Caller => items.into_iter().map(work).collect(),
            Self::Shared => items.into_par_iter().map(work).collect(),
            Self::Pool(pool) => pool.install(|| items.into_par_iter().map(work).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_every_row_once_and_are_not_too_thin() {
        for threads in 1..5 {
            let threads = Threads::own(threads).unwrap();
            for rows in 1..200 {
                let bands = threads.bands(rows);
                assert_eq!(bands.first().unwrap().start, 0);
                assert_eq!(bands.last().unwrap().end, rows);
                assert!(bands.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(bands.len() <= threads.count() && bands.iter().all(|band| !band.is_empty()));
                assert!(bands.len() == 1 || bands.iter().all(|band| band.len() >= LEAST_ROWS / 2));
            }
        }
    }
}
