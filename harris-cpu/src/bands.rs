//! Bands of rows, and the threads that work on them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use harris_core::{Error, float_mode, memory};
use rayon::{Scope, ThreadPool, Yield};

use crate::PoolError;
use crate::pools::{self, CallersPool, OwnPool};

/// The least number of rows of a band: below, handing it to another thread costs more than it
/// saves.
const MIN_ROWS: usize = 16;
/// The least number of pixels of a band, where a pixel takes about a nanosecond.
const MIN_PIXELS: usize = 1 << 15;
/// Pixels of a band above which each thread gets several bands, up to [`MAX_BANDS_PER_THREAD`]:
/// some threads finish sooner than others.
const MANY_PIXELS: usize = 1 << 21;
const MAX_BANDS_PER_THREAD: usize = 4;

/// Where the bands of an image are worked on. The calling thread takes part, so that it need not
/// wait for another one to wake up.
#[derive(Clone, Debug)]
pub(crate) enum Threads {
    /// The calling thread alone.
    Caller,
    /// The pool that rayon shares among all its users in the process.
    Shared,
    /// The user's pool.
    Pool(Arc<CallersPool>),
    /// A pool of the detector alone, with one thread less than work on an image.
    Own(Arc<OwnPool>),
}

/// For how long threads spin for one another. A sleeping thread starts some 30 µs late, and waking
/// it costs another one 10 µs.
const SPIN_TIME: Duration = Duration::from_micros(100);

impl Threads {
    /// Threads of this detector alone.
    pub(crate) fn own(threads: usize) -> Result<Self, PoolError> {
        match threads {
            0 => Err(PoolError::NoThreads),
            1 => Ok(Self::Caller),
            _ => Ok(Self::Own(Arc::new(OwnPool::start(threads)?))),
        }
    }

    /// The pool that rayon shares.
    pub(crate) fn shared() -> Self {
        pools::note_shared();
        Self::Shared
    }

    /// The caller's pool.
    pub(crate) fn of_caller(pool: Arc<ThreadPool>) -> Self {
        Self::Pool(Arc::new(CallersPool::new(pool)))
    }

    /// The number of threads.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Caller => 1,
            Self::Shared => rayon::current_num_threads(),
            Self::Pool(pool) => pool.count(),
            Self::Own(own) => own.count(),
        }
    }

    /// Cuts `rows` rows into at most as many bands as there are threads, of nearly equal height.
    pub(crate) fn bands(&self, rows: usize) -> Bands {
        Bands { rows, count: rows.div_ceil(MIN_ROWS).clamp(1, self.count()) }
    }

    /// Cuts an image into bands for fast work: a small image is one band, a large one has more
    /// bands than there are threads.
    pub(crate) fn large_bands(&self, rows: usize, width: usize) -> Bands {
        let count = self.count();
        let least = MIN_ROWS.max(MIN_PIXELS.div_ceil(width));
        let each =
            if count == 1 { 1 } else { (rows * width / MANY_PIXELS / count).clamp(1, MAX_BANDS_PER_THREAD) };
        Bands { rows, count: rows.div_ceil(least).clamp(1, count * each) }
    }

    /// Calls `work` with each of `items`, one a thread; the calling thread takes the first.
    ///
    /// In a forked child the threads of the parent's pools are not there: a new pool takes their
    /// place, or the calling thread does all the work.
    fn for_each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        let Some((own, others)) = items.split_first_mut() else { return };
        let work = |item: &mut T| float_mode::standard(|| work(item));
        if others.is_empty() {
            return work(own);
        }
        let left = AtomicUsize::new(others.len());
        let theirs = |item: &mut T| {
            work(item);
            left.fetch_sub(1, Ordering::Relaxed);
        };
        let ours = || {
            work(own);
            spin_while(|| left.load(Ordering::Relaxed) > 0);
        };
        match self {
            Self::Shared if pools::has_shared() => {
                return rayon::in_place_scope(|scope| hand_out(scope, others, &theirs, ours));
            }
            Self::Pool(pool) => {
                if let Some(pool) = pool.get() {
                    return pool.in_place_scope(|scope| hand_out(scope, others, &theirs, ours));
                }
            }
            Self::Own(own) => {
                if let Some(pool) = own.get() {
                    return hand_out_spinning((pool, &own.calls), others, &theirs, ours);
                }
            }
            Self::Shared | Self::Caller => {}
        }
        let child = match self {
            Self::Caller => None,
            Self::Shared | Self::Pool(_) | Self::Own(_) => pools::of_child(self.count()),
        };
        match child.as_ref().and_then(|own| Some((own.get()?, &own.calls))) {
            Some(pool) => hand_out_spinning(pool, others, &theirs, ours),
            None => {
                work(own);
                others.iter_mut().for_each(work);
            }
        }
    }

    /// Calls `work` once for each item, on as many threads as there are `workers`. A thread has one
    /// worker for itself, and takes the next item when it has finished one.
    pub(crate) fn share<I: Send, T: Send>(
        &self,
        items: impl Iterator<Item = I> + Send,
        workers: &mut [T],
        work: impl Fn(I, &mut T) + Sync,
    ) {
        let queue = Mutex::new(items);
        self.for_each(workers, |worker| {
            loop {
                // It is locked while an item is taken, which does not panic.
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(item) = next else { return };
                work(item, worker);
            }
        });
    }

    /// Calls `work` once for each item, on all threads, and returns the results in the items'
    /// order.
    pub(crate) fn map<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T) -> R + Sync,
    ) -> Result<Vec<R>, Error> {
        let mut workers = vec![(); items.len().min(self.count())];
        let mut results: Vec<Option<R>> = memory::collect(items.iter().map(|_| None))?;
        let pairs = items.into_iter().zip(&mut results);
        self.share(pairs, &mut workers, |(item, result), ()| *result = Some(work(item)));
        memory::collect(results.into_iter().flatten())
    }
}

/// Gives `items` to the threads of a pool of a detector alone, which then wait for its next call,
/// and runs the calling thread's part, `ours`.
fn hand_out_spinning<T: Send>(
    (pool, calls): (&ThreadPool, &Arc<AtomicUsize>),
    items: &mut [T],
    theirs: &(impl Fn(&mut T) + Sync),
    ours: impl FnOnce(),
) {
    let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
    let theirs = |item: &mut T| {
        theirs(item);
        let calls = Arc::clone(calls);
        rayon::spawn(move || spin_while(|| calls.load(Ordering::Relaxed) == call));
    };
    pool.in_place_scope(|scope| hand_out(scope, items, &theirs, ours));
}

/// Gives `items` to the threads of a scope, and runs the calling thread's part, `ours`.
fn hand_out<'a, T: Send>(
    scope: &Scope<'a>,
    items: &'a mut [T],
    theirs: &'a (impl Fn(&mut T) + Sync),
    ours: impl FnOnce(),
) {
    for item in items {
        scope.spawn(|_| theirs(item));
    }
    ours();
}

/// Spins while `is_waiting` holds, for at most [`SPIN_TIME`]; a thread of a pool executes other
/// tasks meanwhile.
fn spin_while(is_waiting: impl Fn() -> bool) {
    let begun = Instant::now();
    while is_waiting() && begun.elapsed() < SPIN_TIME {
        if rayon::yield_now() != Some(Yield::Executed) {
            thread::yield_now();
        }
    }
}

/// Rows cut into bands of nearly equal height.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bands {
    rows: usize,
    count: usize,
}

impl Bands {
    pub(crate) fn len(self) -> usize {
        self.count
    }

    /// The rows of band i.
    pub(crate) fn get(self, i: usize) -> Range<usize> {
        self.rows * i / self.count..self.rows * (i + 1) / self.count
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Range<usize>> + Send {
        (0..self.count).map(move |i| self.get(i))
    }

    /// The bands, each with its rows of a plane whose rows have `width` elements.
    pub(crate) fn with_rows<T: Send>(
        self,
        plane: &mut [T],
        width: usize,
    ) -> impl Iterator<Item = (Range<usize>, &mut [T])> + Send {
        let mut rest = plane;
        self.iter()
            .map(move |band| (band.clone(), rest.split_off_mut(..band.len() * width).expect("a row a row")))
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
                assert!(bands.len() == 1 || bands.iter().all(|band| band.len() >= MIN_ROWS / 2));
            }
        }
    }

    #[test]
    fn every_band_is_worked_on_once_and_results_come_in_order() {
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap());
        let own = |threads| Threads::own(threads).unwrap();
        for threads in [own(1), own(2), own(4), Threads::shared(), Threads::of_caller(pool)] {
            let bands = Bands { rows: 100, count: 7 };
            let mut shares = vec![Vec::new(); threads.count()];
            threads.share(bands.iter(), &mut shares, |band, share| share.push(band));
            let mut worked_on = shares.concat();
            worked_on.sort_by_key(|band| band.start);
            assert_eq!(worked_on, bands.iter().collect::<Vec<_>>());
            threads.share(bands.iter(), &mut [(); 0], |_, ()| unreachable!("there is no one to work"));
            assert_eq!(
                threads.map((0..50).collect(), |i| 2 * i).unwrap(),
                (0..50).map(|i| 2 * i).collect::<Vec<_>>()
            );
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
        // Bands of wide images have enough rows, too.
        assert_eq!(threads.large_bands(20, 1 << 20).len(), 2);
        assert_eq!(threads.large_bands(4096, 4096).len(), 8);
        assert_eq!(threads.large_bands(2160, 3840).len(), 4);
        assert_eq!(threads.large_bands(1 << 14, 1 << 14).len(), 16);
        assert_eq!(Threads::Caller.large_bands(1 << 14, 1 << 14).len(), 1);
    }
}
