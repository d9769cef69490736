//! Bands of rows and the threads that work on them.

use std::ops::Range;
use std::sync::Arc;

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::PoolError;

/// Rows a band has at least: below, handing it to another thread costs more than it saves.
const LEAST_ROWS: usize = 16;
/// Pixels of a band at least where a pixel takes about a nanosecond.
const LEAST_PIXELS: usize = 1 << 15;
/// There, each thread gets several bands of at least this many pixels, up to [`SHARE`]: some are done sooner than others.
const MANY_PIXELS: usize = 1 << 21;
const SHARE: usize = 4;

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
    pub(crate) fn bands(&self, rows: usize) -> Bands {
        Bands { rows, number: rows.div_ceil(LEAST_ROWS).clamp(1, self.count()) }
    }

    /// Cuts an image into bands for work that is quick: a small one is one band, a large one more bands than there are threads.
    pub(crate) fn large_bands(&self, rows: usize, width: usize) -> Bands {
        let count = self.count();
        let least = LEAST_ROWS.max(LEAST_PIXELS.div_ceil(width));
        let each = if count == 1 { 1 } else { (rows * width / MANY_PIXELS / count).clamp(1, SHARE) };
        Bands { rows, number: rows.div_ceil(least).clamp(1, count * each) }
    }

    /// Calls `work` with each item and its number, on all threads.
    pub(crate) fn each<T: Send>(&self, items: &mut [T], work: impl Fn(usize, &mut T) + Send + Sync) {
        if items.len() == 1 {
            return work(0, &mut items[0]);
        }
        match self {
            Self::Caller => items.iter_mut().enumerate().for_each(|(i, item)| work(i, item)),
            Self::Shared => items.par_iter_mut().enumerate().for_each(|(i, item)| work(i, item)),
            Self::Pool(pool) => {
                pool.install(|| items.par_iter_mut().enumerate().for_each(|(i, item)| work(i, item)));
            }
        }
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

/// Rows cut into bands of nearly equal height.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bands {
    rows: usize,
    number: usize,
}

impl Bands {
    pub(crate) fn len(self) -> usize {
        self.number
    }

    /// The rows of band i.
    pub(crate) fn get(self, i: usize) -> Range<usize> {
        self.rows * i / self.number..self.rows * (i + 1) / self.number
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.number).map(move |i| self.get(i))
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
                let bands: Vec<_> = threads.bands(rows).iter().collect();
                assert_eq!(bands.first().unwrap().start, 0);
                assert_eq!(bands.last().unwrap().end, rows);
                assert!(bands.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert!(bands.len() <= threads.count() && bands.iter().all(|band| !band.is_empty()));
                assert!(bands.len() == 1 || bands.iter().all(|band| band.len() >= LEAST_ROWS / 2));
            }
        }
    }
    #[test]
    fn quick_work_on_small_images_stays_on_one_thread() {
        let threads = Threads::own(4).unwrap();
        for (width, height, number) in
            [(32, 32, 1), (180, 180, 1), (256, 256, 2), (512, 512, 4), (1, 1 << 17, 4)]
        {
            assert_eq!(threads.large_bands(height, width).len(), number, "{width} x {height}");
        }
        // Wide bands are not too thin either.
        assert_eq!(threads.large_bands(20, 1 << 20).len(), 2);
        assert_eq!(threads.large_bands(4096, 4096).len(), 8);
        assert_eq!(threads.large_bands(2160, 3840).len(), 4);
        assert_eq!(threads.large_bands(1 << 14, 1 << 14).len(), 16);
        assert_eq!(Threads::Caller.large_bands(1 << 14, 1 << 14).len(), 1);
    }
}
