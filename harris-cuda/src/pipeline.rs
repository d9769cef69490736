//! Detection in streams of frames.

use harris_core::{Error, HarrisConfig, ImageView, Keypoint, Sample};
use harris_gpu::{FinishedFrame, GpuDetector, GpuPipeline};

use crate::device::CudaDevice;
use crate::driver::{ContextGuard, CopyStream, Gpu, devices};
use crate::{CudaError, PinnedImage};

/// The default number of frames in flight on each GPU. While the first is listed, others are
/// searched and copied.
pub(crate) const DEFAULT_IN_FLIGHT: usize = 6;

/// The most frames in flight on each GPU. Each has memory of its own, of some images and lists.
pub const MAX_IN_FLIGHT: usize = 256;

/// A detector for a stream of frames, with several frames in flight on one GPU or on several.
/// Results come in the order of the frames.
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
///         println!("{} corners", earlier.keypoints?.len());
///         spare.extend(earlier.image);
///     }
/// }
/// while let Some(last) = pipeline.next() {
///     println!("{} corners", last.keypoints?.len());
/// }
/// # Ok::<(), harris_cuda::Error>(())
/// ```
#[derive(Debug)]
pub struct CudaPipeline<T: Sample = u8> {
    inner: GpuPipeline<CudaDevice, Option<PinnedImage<T>>>,
}

/// The result for one frame.
#[derive(Debug)]
pub struct Detection<T: Sample = u8> {
    /// The corners of the frame, or why it failed.
    pub keypoints: Result<Vec<Keypoint>, Error>,
    /// The image, if it came in pinned memory, to be used again.
    pub image: Option<PinnedImage<T>>,
}

/// Makes a pipeline over some devices.
pub(crate) fn open<F>(
    config: &HarrisConfig,
    ordinals: &[u32],
    in_flight: usize,
    staged: bool,
) -> Result<GpuPipeline<CudaDevice, F>, Error> {
    if ordinals.is_empty() {
        return Err(CudaError::EmptyDeviceList.into());
    }
    if in_flight > MAX_IN_FLIGHT {
        return Err(CudaError::TooManyInFlight { frames: in_flight }.into());
    }
    let detectors = |ordinal: &u32| {
        let copies = CopyStream::new(&Gpu::open(*ordinal)?)?;
        let detector = |_| {
            let mut device = CudaDevice::with_copy_stream(&copies)?;
            device.set_timed(false);
            let detector = GpuDetector::new(device, config.clone());
            Ok(if staged { detector.staged() } else { detector })
        };
        (0..in_flight.max(1)).map(detector).collect::<Result<Vec<_>, CudaError>>()
    };
    Ok(GpuPipeline::new(ordinals.iter().map(detectors).collect::<Result<Vec<_>, CudaError>>()?))
}

impl<T: Sample> CudaPipeline<T> {
    /// Makes a pipeline over all usable GPUs of the machine.
    ///
    /// # Errors
    /// See [`CudaDetector::new`](crate::CudaDetector::new).
    pub fn new(config: HarrisConfig) -> Result<Self, Error> {
        let devices = devices()?;
        let usable = devices.iter().filter(|info| info.check().is_ok());
        let ordinals: Vec<u32> = usable.map(|info| info.ordinal).collect();
        if let (true, Some(info)) = (ordinals.is_empty(), devices.first()) {
            info.check()?;
        }
        Self::on_devices(&ordinals, DEFAULT_IN_FLIGHT, config)
    }

    /// Makes a pipeline over the GPUs with the given numbers. `in_flight` is the number of frames
    /// in flight on each: at least 1, at most [`MAX_IN_FLIGHT`], by default 6. More frames hide longer waits, and need more
    /// memory.
    ///
    /// # Errors
    /// The errors of [`CudaDetector::on_device`](crate::CudaDetector::on_device), and
    /// [`CudaError::EmptyDeviceList`] if the list is empty, [`CudaError::TooManyInFlight`].
    pub fn on_devices(ordinals: &[u32], in_flight: usize, config: HarrisConfig) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        Ok(Self { inner: open(&config, ordinals, in_flight, false)? })
    }

    /// Starts on a copy of a frame. If the maximum number of frames is in flight, waits for the
    /// oldest and returns it.
    pub fn push(&mut self, image: &ImageView<'_>) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        self.inner.push(&[*image], false, None).map(detection)
    }

    /// Starts on a frame in pinned memory, which comes back with its corners. If the maximum number
    /// of frames is in flight, waits for the oldest and returns it.
    pub fn push_pinned(&mut self, image: PinnedImage<T>) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        let finished =
            self.inner.push_owned(Some(image), |image| image.as_ref().expect("it is there").view());
        finished.map(detection)
    }

    /// Waits for the oldest frame in flight and returns it; `None` if there is none.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        self.inner.next().map(detection)
    }

    /// Returns the oldest frame in flight if it is done, without waiting.
    pub fn try_next(&mut self) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        self.inner.try_next().map(detection)
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

fn detection<T: Sample>((image, result): FinishedFrame<Option<PinnedImage<T>>>) -> Detection<T> {
    let keypoints = result.map(|mut lists| lists.pop().expect("one image a frame"));
    Detection { keypoints, image }
}
