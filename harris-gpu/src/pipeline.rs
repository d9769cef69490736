//! Several frames in flight at a time.

use std::collections::VecDeque;

use harris_core::{Error, ImageView, Keypoint, memory};

use crate::detector::GpuDetector;
use crate::device::Device;
use crate::exec::upload::UploadMode;

/// Works on several frames at a time, with several detectors on one device or on many. Results come
/// in the order of the frames.
///
/// A value of type `F` goes with each frame, such as the memory of its samples.
///
/// ```
/// use harris_core::{HarrisConfig, ImageView};
/// use harris_gpu::host::HostDevice;
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
pub struct GpuPipeline<D: Device, F> {
    detectors: Vec<Slot<D>>,
    flights: VecDeque<Flight<F>>,
    most: usize,
}

/// A detector and what it works on.
#[derive(Debug)]
struct Slot<D: Device> {
    detector: GpuDetector<D>,
    /// Number of its device.
    device: usize,
    /// Pixels of the images that it works on.
    busy: usize,
}

#[derive(Debug)]
struct Flight<F> {
    frame: F,
    state: State,
}

#[derive(Debug)]
enum State {
    /// A detector works on it.
    Running(usize),
    Done(Result<Vec<Vec<Keypoint>>, Error>),
}

/// A finished frame: the value that came with it, and the keypoints of each of its images.
pub type FinishedFrame<F> = (F, Result<Vec<Vec<Keypoint>>, Error>);

impl<D: Device, F> GpuPipeline<D, F> {
    /// A pipeline over the detectors of each device: as many frames are in flight as there are
    /// detectors.
    ///
    /// # Panics
    /// Where there is no detector.
    #[must_use]
    pub fn new(devices: impl IntoIterator<Item = Vec<GpuDetector<D>>>) -> Self {
        let slots = devices.into_iter().enumerate().flat_map(|(device, detectors)| {
            detectors.into_iter().map(move |detector| Slot { detector, device, busy: 0 })
        });
        let detectors: Vec<_> = slots.collect();
        assert!(!detectors.is_empty(), "a pipeline without detectors");
        Self { most: detectors.len(), detectors, flights: VecDeque::new() }
    }

    /// Starts on a frame: one image, or as many as [`GpuPipeline::batch_len`] allows.
    ///
    /// Where the maximum of frames is in flight, the oldest is finished first, and returned.
    /// Samples that are `borrowed` stay unchanged until the frame is returned. Others are copied
    /// before this returns. A frame that fails is returned in its turn, with its error.
    pub fn push(&mut self, images: &[ImageView<'_>], borrowed: bool, frame: F) -> Option<FinishedFrame<F>> {
        let finished = self.finish_oldest_if_full();
        let state = self.start(images, borrowed);
        self.flights.push_back(Flight { frame, state });
        finished
    }

    /// Starts on a frame whose value `F` owns the image. The image stays as it is until the frame
    /// is returned.
    pub fn push_owned(
        &mut self,
        frame: F,
        image: impl FnOnce(&F) -> ImageView<'_>,
    ) -> Option<FinishedFrame<F>> {
        let finished = self.finish_oldest_if_full();
        let state = self.start(&[image(&frame)], true);
        self.flights.push_back(Flight { frame, state });
        finished
    }

    /// Finishes the oldest frame where the maximum is in flight.
    fn finish_oldest_if_full(&mut self) -> Option<FinishedFrame<F>> {
        if self.flights.len() < self.most { None } else { self.next() }
    }

    /// Starts on images with a free detector of the device that works on the fewest pixels.
    fn start(&mut self, images: &[ImageView<'_>], borrowed: bool) -> State {
        let load = |device: usize| -> usize {
            self.detectors.iter().filter(|slot| slot.device == device).map(|slot| slot.busy).sum()
        };
        let free = (0..self.detectors.len()).filter(|&i| self.detectors[i].busy == 0);
        let i = free.min_by_key(|&i| load(self.detectors[i].device)).expect("fewer frames than detectors");
        // More launches are no loss on an idle device, and the frame is done sooner.
        let is_idle = load(self.detectors[i].device) == 0;
        let mode = match (borrowed, images.len()) {
            (true, 1) if is_idle => UploadMode::Overlapped,
            (true, _) => UploadMode::Borrowed,
            (false, _) => UploadMode::Copied,
        };
        let slot = &mut self.detectors[i];
        match slot.detector.begin_with(images, mode) {
            Ok(()) => {
                slot.busy = images.iter().map(|image| image.width() * image.height()).sum();
                State::Running(i)
            }
            Err(error) => State::Done(Err(error)),
        }
    }

    /// Waits for the oldest frame; `None` where none is in flight.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<FinishedFrame<F>> {
        let Flight { frame, state } = self.flights.pop_front()?;
        let result = match state {
            State::Done(result) => result,
            State::Running(i) => {
                self.detectors[i].busy = 0;
                self.detectors[i].detector.finish()
            }
        };
        Some((frame, result))
    }

    /// The oldest frame, if its work is done already.
    pub fn try_next(&mut self) -> Option<FinishedFrame<F>> {
        match self.flights.front()?.state {
            State::Running(i) if !self.detectors[i].detector.is_done() => None,
            State::Running(_) | State::Done(_) => self.next(),
        }
    }

    /// How many of `images`, from the first on, can be one frame.
    #[must_use]
    pub fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        self.detectors[0].detector.batch_len(images)
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
        for (i, slot) in self.detectors.iter().enumerate() {
            if i == 0 || self.detectors[i - 1].device != slot.device {
                names.push(slot.detector.device().describe());
            }
        }
        names.join(", ")
    }
}

impl<D: Device> GpuPipeline<D, ()> {
    /// The keypoints of each image. Images of one size are worked on together.
    ///
    /// # Errors
    /// The first error, as of [`Detector::detect_batch`](harris_core::Detector::detect_batch).
    /// Frames in flight are finished first.
    pub fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        let mut all = Vec::new();
        memory::reserve_exact(&mut all, images.len())?;
        let mut all = Ok(all);
        let mut add = |finished: Option<FinishedFrame<()>>| {
            if let Some(((), result)) = finished {
                match (&mut all, result) {
                    (Ok(lists), Ok(more)) => lists.extend(more),
                    (Ok(_), Err(error)) => all = Err(error),
                    (Err(_), _) => {}
                }
            }
            all.is_ok()
        };
        let mut later = images;
        while !later.is_empty() {
            let (now, rest) = later.split_at(self.batch_len(later));
            let finished = self.push(now, true, ());
            if !add(finished) {
                break;
            }
            later = rest;
        }
        // Frames are finished even after an error, because their samples are borrowed.
        while self.in_flight() > 0 {
            let finished = self.next();
            add(finished);
        }
        all
    }
}
