//! Streams of frames: several in flight on each device.

use std::fmt::Debug;

use harris_core::fast_hessian::FastHessianConfig;
use harris_core::features::{FeatureConfig, Features};
use harris_core::{Error, HarrisConfig, ImageView, Keypoint, Sample};
use harris_gpu::{
    FinishedFrame, FrameWorker, GpuDetector, GpuFastHessian, GpuFeatures, GpuMatchedFeatures, GpuPipeline,
    MatchedFeatureConfig, MatchedFeatures,
};

use self::task::{TaskDevice, Worker};
use crate::device::CudaDevice;
use crate::driver::{ContextGuard, CopyStream, Gpu, devices};
use crate::{CudaError, PinnedImage};

/// The default number of frames in flight on each GPU. While the first is listed, others are
/// searched and copied.
pub(crate) const DEFAULT_IN_FLIGHT: usize = 6;

/// The most frames in flight on each GPU.
///
/// Each has memory of its own, of some images and lists.
pub const MAX_IN_FLIGHT: usize = 256;

/// A configuration that says what a [`CudaPipeline`] does with each frame.
///
/// Only this crate implements it.
///
/// | configuration | result for a frame |
/// | --- | --- |
/// | [`HarrisConfig`] | corners, as [`Keypoint`]s |
/// | [`FastHessianConfig`] | blobs, as [`Keypoint`]s |
/// | [`FeatureConfig`] | keypoints and their descriptors, as [`Features`] |
/// | [`MatchedFeatureConfig`] | features and their matches, as [`MatchedFeatures`] |
pub trait FrameTask: task::Task<Result = Self::Output> {
    /// The result for a frame.
    type Output: Debug;
}

impl FrameTask for HarrisConfig {
    type Output = Vec<Keypoint>;
}

impl FrameTask for FastHessianConfig {
    type Output = Vec<Keypoint>;
}

impl FrameTask for FeatureConfig {
    type Output = Features;
}

impl FrameTask for MatchedFeatureConfig {
    type Output = MatchedFeatures;
}

/// How a configuration's work is done: not for other crates.
pub(crate) mod task {
    use super::*;

    /// Works on one frame at a time.
    pub(crate) type Worker<O> = Box<dyn FrameWorker<Output = O> + Send>;

    /// A device for a worker.
    #[derive(Debug)]
    pub struct TaskDevice(pub(crate) CudaDevice);

    pub trait Task {
        type Result: Debug;

        /// Whether a frame's result depends on the frame before, so that one device works on all.
        fn is_sequential(&self) -> bool {
            false
        }

        /// Makes a worker for each of some queues of one device.
        fn workers(&self, devices: Vec<TaskDevice>) -> Vec<Worker<Self::Result>>;
    }

    /// Boxes a worker for each of some queues.
    fn each<W: FrameWorker + Send + 'static>(
        devices: Vec<TaskDevice>,
        worker: impl Fn(CudaDevice) -> W,
    ) -> Vec<Worker<W::Output>> {
        devices.into_iter().map(|device| Box::new(worker(device.0)) as _).collect()
    }

    impl Task for HarrisConfig {
        type Result = Vec<Keypoint>;

        fn workers(&self, devices: Vec<TaskDevice>) -> Vec<Worker<Self::Result>> {
            each(devices, |device| GpuDetector::new(device, self.clone()))
        }
    }

    impl Task for FastHessianConfig {
        type Result = Vec<Keypoint>;

        fn workers(&self, devices: Vec<TaskDevice>) -> Vec<Worker<Self::Result>> {
            each(devices, |device| GpuFastHessian::new(device, self.clone()))
        }
    }

    impl Task for FeatureConfig {
        type Result = Features;

        fn workers(&self, devices: Vec<TaskDevice>) -> Vec<Worker<Self::Result>> {
            each(devices, |device| GpuFeatures::new(device, self.clone()))
        }
    }

    impl Task for MatchedFeatureConfig {
        type Result = MatchedFeatures;

        fn is_sequential(&self) -> bool {
            Self::is_sequential(self)
        }

        fn workers(&self, devices: Vec<TaskDevice>) -> Vec<Worker<Self::Result>> {
            let devices = devices.into_iter().map(|device| device.0).collect();
            GpuMatchedFeatures::workers(devices, self)
                .into_iter()
                .map(|worker| Box::new(worker) as _)
                .collect()
        }
    }
}

/// Detection in a stream of frames, with several frames in flight on one GPU or on several.
///
/// Results come in the order of the frames.
///
/// The configuration says what is done with each frame: [`FrameTask`].
///
/// Sizes may differ from frame to frame. The number of frames in flight is bounded: once it is
/// reached, a new frame waits for the oldest and returns its result. A frame that fails returns its
/// error in its place, and the stream goes on.
///
/// ```no_run
/// use harris_cuda::{CudaPipeline, HarrisConfig, PinnedImage};
///
/// # fn decode(into: &mut [u8]) -> bool { false }
/// let mut pipeline = CudaPipeline::<u8>::new(HarrisConfig::default())?;
/// let mut spare = Vec::new();
/// loop {
///     let mut frame = match spare.pop() {
///         Some(frame) => frame,
///         None => PinnedImage::gray(1920, 1080)?,
///     };
///     if !decode(frame.samples_mut()) {
///         break;
///     }
///     if let Some(earlier) = pipeline.push_pinned(frame) {
///         spare.extend(earlier.image);
///         match earlier.result {
///             Ok(corners) => println!("{} corners", corners.len()),
///             Err(error) => eprintln!("a bad frame: {error}"),
///         }
///     }
/// }
/// while let Some(last) = pipeline.next() {
///     println!("{} corners", last.result?.len());
/// }
/// # Ok::<(), harris_cuda::Error>(())
/// ```
///
/// Another configuration makes another pipeline, here of features that are matched from frame to
/// frame:
///
/// ```no_run
/// use harris_cuda::harris_core::features::FeatureConfig;
/// use harris_cuda::harris_core::matching::MatchConfig;
/// use harris_cuda::{CudaPipeline, ImageView, MatchedFeatureConfig, TrainSet};
///
/// # let frames: Vec<Vec<u8>> = Vec::new();
/// let config = MatchedFeatureConfig::new(
///     FeatureConfig::default(),
///     MatchConfig::default(),
///     TrainSet::PreviousFrame,
/// )?;
/// let mut pipeline = CudaPipeline::<u8, _>::new(config)?;
/// for samples in frames {
///     if let Some(earlier) = pipeline.push(&ImageView::gray(&samples, 1920, 1080)?) {
///         let found = earlier.result?;
///         for pair in &found.matches {
///             let now = found.features.keypoints[pair.query];
///             let before = found.previous.as_ref().map(|keypoints| keypoints[pair.train]);
///             println!("{now:?} was {before:?}");
///         }
///     }
/// }
/// # Ok::<(), harris_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct CudaPipeline<T: Sample = u8, C: FrameTask = HarrisConfig> {
    inner: GpuPipeline<Worker<C::Output>, Option<PinnedImage<T>>>,
}

/// The result for one frame.
#[derive(Debug)]
#[non_exhaustive]
pub struct Frame<T: Sample = u8, O = Vec<Keypoint>> {
    /// What was found in the frame, or why it failed.
    pub result: Result<O, Error>,
    /// The image, if it came in pinned memory, to be used again.
    pub image: Option<PinnedImage<T>>,
}

/// Makes a pipeline over some devices. A function makes a worker for each queue of a device.
pub(crate) fn open<W: FrameWorker, F>(
    make_workers: impl Fn(Vec<CudaDevice>) -> Vec<W>,
    ordinals: &[u32],
    in_flight: usize,
) -> Result<GpuPipeline<W, F>, Error> {
    if ordinals.is_empty() {
        return Err(CudaError::EmptyDeviceList.into());
    }
    if in_flight > MAX_IN_FLIGHT {
        return Err(CudaError::TooManyInFlight { frames: in_flight }.into());
    }
    let workers = |ordinal: &u32| {
        let copies = CopyStream::new(&Gpu::open(*ordinal)?)?;
        let queue = |_| {
            let mut device = CudaDevice::with_copy_stream(&copies)?;
            device.set_timed(false);
            Ok(device)
        };
        let queues = (0..in_flight.max(1)).map(queue).collect::<Result<Vec<_>, CudaError>>()?;
        Ok(make_workers(queues))
    };
    Ok(GpuPipeline::new(ordinals.iter().map(workers).collect::<Result<Vec<_>, CudaError>>()?))
}

impl<T: Sample, C: FrameTask> CudaPipeline<T, C> {
    /// Makes a pipeline over all usable GPUs of the machine; over the first of them if frames are
    /// matched with the frame before.
    ///
    /// # Errors
    /// See [`CudaDetector::new`](crate::CudaDetector::new).
    pub fn new(config: C) -> Result<Self, Error> {
        let devices = devices()?;
        let usable = devices.iter().filter(|info| info.check().is_ok());
        let most = if config.is_sequential() { 1 } else { usize::MAX };
        let ordinals: Vec<u32> = usable.map(|info| info.ordinal).take(most).collect();
        if let (true, Some(info)) = (ordinals.is_empty(), devices.first()) {
            info.check()?;
        }
        Self::on_devices(&ordinals, DEFAULT_IN_FLIGHT, config)
    }

    /// Makes a pipeline over the GPUs with the given numbers.
    ///
    /// `in_flight` is the number of frames in flight on each: at least 1, at most
    /// [`MAX_IN_FLIGHT`], by default 6. More frames hide longer waits, and need more memory.
    ///
    /// # Errors
    /// The errors of [`CudaDetector::on_device`](crate::CudaDetector::on_device), and
    /// [`CudaError::EmptyDeviceList`] if the list is empty, [`CudaError::TooManyInFlight`],
    /// [`CudaError::OneDeviceOnly`] if frames are matched with the frame before.
    pub fn on_devices(ordinals: &[u32], in_flight: usize, config: C) -> Result<Self, Error> {
        if ordinals.len() > 1 && config.is_sequential() {
            return Err(CudaError::OneDeviceOnly { devices: ordinals.len() }.into());
        }
        let _context = ContextGuard::save();
        let workers =
            |devices: Vec<CudaDevice>| config.workers(devices.into_iter().map(TaskDevice).collect());
        Ok(Self { inner: open(workers, ordinals, in_flight)? })
    }

    /// Starts on a copy of a frame.
    ///
    /// If the maximum number of frames is in flight, waits for the oldest and returns it.
    pub fn push(&mut self, image: &ImageView<'_>) -> Option<Frame<T, C::Output>> {
        let _context = ContextGuard::save();
        self.inner.push(&[*image], false, None).map(to_frame)
    }

    /// Starts on a frame in pinned memory, which comes back with its result.
    ///
    /// If the maximum number of frames is in flight, waits for the oldest and returns it.
    pub fn push_pinned(&mut self, image: PinnedImage<T>) -> Option<Frame<T, C::Output>> {
        let _context = ContextGuard::save();
        let finished =
            self.inner.push_owned(Some(image), |image| image.as_ref().expect("it is there").view());
        finished.map(to_frame)
    }

    /// Waits for the oldest frame in flight and returns it; `None` if there is none.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Frame<T, C::Output>> {
        let _context = ContextGuard::save();
        self.inner.next().map(to_frame)
    }

    /// Returns the oldest frame in flight if it is done, without waiting for it.
    ///
    /// Only the matches of a [`MatchedFeatureConfig`] are waited for: they are sought when the
    /// features are done.
    pub fn try_next(&mut self) -> Option<Frame<T, C::Output>> {
        let _context = ContextGuard::save();
        self.inner.try_next().map(to_frame)
    }

    /// Returns the number of frames in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }

    /// Returns the maximum number of frames in flight.
    #[must_use]
    pub fn max_in_flight(&self) -> usize {
        self.inner.max_in_flight()
    }

    /// Returns the names of the GPUs, as in `cuda: NVIDIA H200, cuda: NVIDIA H200`.
    #[must_use]
    pub fn describe(&self) -> String {
        self.inner.describe()
    }
}

fn to_frame<T: Sample, O>((image, result): FinishedFrame<Option<PinnedImage<T>>, O>) -> Frame<T, O> {
    Frame { result: result.map(|mut results| results.pop().expect("one image a frame")), image }
}
