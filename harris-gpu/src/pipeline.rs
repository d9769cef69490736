//! Several frames in flight at a time.

use std::collections::VecDeque;

use harris_core::{Error, ImageView, memory};

use crate::exec::upload::UploadMode;
use crate::frame_worker::FrameWorker;

/// Works on several frames at a time, with several workers on one device or on many.
///
/// Results come in the order of the frames.
///
/// A value of type `F` goes with each frame, such as the memory of its samples.
///
/// ```
/// use harris_core::{HarrisConfig, ImageView};
/// use harris_gpu_host::HostDevice;
/// use harris_gpu::{GpuDetector, GpuPipeline};
///
/// let detector = |_| GpuDetector::new(HostDevice, HarrisConfig::default());
/// let mut pipeline = GpuPipeline::new([(0..2).map(detector).collect()]);
/// let samples = [0_u8; 32 * 32];
/// let image = ImageView::gray(&samples, 32, 32)?;
/// for number in 0..5 {
///     // When two are in flight, the older one is finished.
///     if let Some((earlier, keypoints)) = pipeline.push(&[image], false, number) {
///         assert_eq!((earlier, keypoints?), (number - 2, vec![vec![]]));
///     }
/// }
/// assert_eq!(pipeline.in_flight(), 2);
/// while let Some((_, keypoints)) = pipeline.next() {
///     keypoints?;
/// }
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuPipeline<W: FrameWorker, F> {
    /// Dropped before the frames, whose memory the device may still read until then.
    workers: Vec<Worker<W>>,
    flights: VecDeque<Flight<F, W::Output>>,
    most: usize,
}

/// A worker and what it works on.
#[derive(Debug)]
struct Worker<W> {
    worker: W,
    /// Number of its device.
    device: usize,
    /// Pixels of the images that it works on.
    busy: usize,
}

#[derive(Debug)]
struct Flight<F, O> {
    frame: F,
    state: State<O>,
}

#[derive(Debug)]
enum State<O> {
    /// A worker works on it.
    Running(usize),
    Done(Result<Vec<O>, Error>),
}

/// A finished frame: the value that came with it, and the result for each of its images.
pub type FinishedFrame<F, O> = (F, Result<Vec<O>, Error>);

impl<W: FrameWorker, F> GpuPipeline<W, F> {
    /// A pipeline over the workers of each device: as many frames are in flight as there are
    /// workers.
    ///
    /// # Panics
    /// Where there is no worker.
    #[must_use]
    pub fn new(devices: impl IntoIterator<Item = Vec<W>>) -> Self {
        let workers = devices.into_iter().enumerate().flat_map(|(device, workers)| {
            workers.into_iter().map(move |worker| Worker { worker, device, busy: 0 })
        });
        let workers: Vec<_> = workers.collect();
        assert!(!workers.is_empty(), "a pipeline without workers");
        Self { most: workers.len(), workers, flights: VecDeque::new() }
    }

    /// Starts on a frame: one image, or as many as [`GpuPipeline::batch_len`] allows.
    ///
    /// Where the maximum of frames is in flight, the oldest is finished first, and returned.
    /// Samples that are `borrowed` stay unchanged until the frame is returned. Others are copied
    /// before this returns. A frame that fails is returned in its turn, with its error.
    pub fn push(
        &mut self,
        images: &[ImageView<'_>],
        borrowed: bool,
        frame: F,
    ) -> Option<FinishedFrame<F, W::Output>> {
        let finished = self.finish_oldest_if_full();
        let state = self.start(images, borrowed);
        self.flights.push_back(Flight { frame, state });
        finished
    }

    /// Starts on a frame whose value `F` owns the image.
    ///
    /// The image stays as it is until the frame is returned.
    pub fn push_owned(
        &mut self,
        frame: F,
        image: impl FnOnce(&F) -> ImageView<'_>,
    ) -> Option<FinishedFrame<F, W::Output>> {
        let finished = self.finish_oldest_if_full();
        let state = self.start(&[image(&frame)], true);
        self.flights.push_back(Flight { frame, state });
        finished
    }

    /// Finishes the oldest frame where the maximum is in flight.
    fn finish_oldest_if_full(&mut self) -> Option<FinishedFrame<F, W::Output>> {
        if self.flights.len() < self.most { None } else { self.next() }
    }

    /// Starts on images with a free worker of the device that works on the fewest pixels.
    fn start(&mut self, images: &[ImageView<'_>], borrowed: bool) -> State<W::Output> {
        let load = |device: usize| -> usize {
            self.workers.iter().filter(|slot| slot.device == device).map(|slot| slot.busy).sum()
        };
        let free = (0..self.workers.len()).filter(|&i| self.workers[i].busy == 0);
        let i = free.min_by_key(|&i| load(self.workers[i].device)).expect("fewer frames than workers");
        // More launches are no loss on an idle device, and the frame is done sooner.
        let is_idle = load(self.workers[i].device) == 0;
        let mode = match (borrowed, images.len()) {
            (true, 1) if is_idle => UploadMode::Overlapped,
            (true, _) => UploadMode::Borrowed,
            (false, _) => UploadMode::Copied,
        };
        let slot = &mut self.workers[i];
        match slot.worker.begin(images, mode) {
            Ok(()) => {
                slot.busy = images.iter().map(|image| image.width() * image.height()).sum();
                State::Running(i)
            }
            Err(error) => State::Done(Err(error)),
        }
    }

    /// Waits for the oldest frame; `None` where none is in flight.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<FinishedFrame<F, W::Output>> {
        let Flight { frame, state } = self.flights.pop_front()?;
        let result = match state {
            State::Done(result) => result,
            State::Running(i) => {
                self.workers[i].busy = 0;
                self.workers[i].worker.finish()
            }
        };
        Some((frame, result))
    }

    /// The oldest frame, if its work is done already.
    pub fn try_next(&mut self) -> Option<FinishedFrame<F, W::Output>> {
        match self.flights.front()?.state {
            State::Running(i) if !self.workers[i].worker.is_done() => None,
            State::Running(_) | State::Done(_) => self.next(),
        }
    }

    /// How many of `images`, from the first on, can be one frame.
    #[must_use]
    pub fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        self.workers[0].worker.batch_len(images)
    }

    /// How many frames are in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.flights.len()
    }

    /// Maximum number of frames in flight.
    #[must_use]
    pub fn max_in_flight(&self) -> usize {
        self.most
    }

    /// The devices' names, each once.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut names = Vec::new();
        for (i, slot) in self.workers.iter().enumerate() {
            if i == 0 || self.workers[i - 1].device != slot.device {
                names.push(slot.worker.describe_device());
            }
        }
        names.join(", ")
    }
}

impl<W: FrameWorker> GpuPipeline<W, ()> {
    /// The result for each image. Small images of one size may be worked on together.
    ///
    /// # Errors
    /// The first error, as of [`Detector::detect_batch`](harris_core::Detector::detect_batch).
    /// Frames in flight are finished first.
    pub fn run_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<W::Output>, Error> {
        let mut all = Vec::new();
        memory::reserve_exact(&mut all, images.len())?;
        let mut all = Ok(all);
        let mut add = |finished: Option<FinishedFrame<(), W::Output>>| {
            if let Some(((), result)) = finished {
                match (&mut all, result) {
                    (Ok(lists), Ok(more)) => lists.extend(more),
                    (Ok(_), Err(error)) => all = Err(error),
                    (Err(_), _) => {}
                }
            }
            all.is_ok()
        };
        let frames = BorrowedFrames(self);
        let mut later = images;
        while !later.is_empty() {
            let (now, rest) = later.split_at(frames.0.batch_len(later));
            let finished = frames.0.push(now, true, ());
            if !add(finished) {
                break;
            }
            later = rest;
        }
        while frames.0.in_flight() > 0 {
            let finished = frames.0.next();
            add(finished);
        }
        drop(frames);
        all
    }
}

/// A pipeline with frames whose samples are borrowed. They are finished even after a panic.
struct BorrowedFrames<'a, W: FrameWorker>(&'a mut GpuPipeline<W, ()>);

impl<W: FrameWorker> Drop for BorrowedFrames<'_, W> {
    fn drop(&mut self) {
        while self.0.next().is_some() {}
    }
}
