//! Streams of frames.

use harris_core::{Error, HarrisConfig, ImageView, Keypoint, Sample};
use harris_gpu::{GpuDetector, GpuPipeline, Landed};

use crate::device::CudaDevice;
use crate::driver::{ContextGuard, CopyStream, Gpu, devices};
use crate::{CudaError, PinnedImage};

/// Frames that are in flight at once on each GPU: while the first is being listed, others are worked on and copied.
pub(crate) const DEFAULT_IN_FLIGHT: usize = 6;

/// Corners of a stream of frames, several of which are in flight at once, on one GPU or on several; results come in the order of
/// the frames.
///
/// Sizes may differ from frame to frame. Nothing grows without bounds: where as many frames are in flight as can be, the next one
/// waits for the oldest, whose result it hands over. A frame that fails yields its error in its place, and the stream goes on.
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

/// What became of a frame.
#[derive(Debug)]
pub struct Detection<T: Sample = u8> {
    /// Its corners.
    pub keypoints: Result<Vec<Keypoint>, Error>,
    /// The image itself where it came in pinned memory, to be used again.
    pub image: Option<PinnedImage<T>>,
}

/// A pipeline over some devices.
pub(crate) fn open<F>(
    config: &HarrisConfig,
    ordinals: &[u32],
    in_flight: usize,
    staged: bool,
) -> Result<GpuPipeline<CudaDevice, F>, Error> {
    if ordinals.is_empty() {
        return Err(CudaError::NoDeviceNamed.into());
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
    /// A pipeline over all GPUs of the machine that can be used.
    ///
    /// # Errors
    /// As [`CudaDetector::new`](crate::CudaDetector::new).
    pub fn new(config: HarrisConfig) -> Result<Self, Error> {
        let devices = devices()?;
        let usable = devices.iter().filter(|info| info.check().is_ok());
        let ordinals: Vec<u32> = usable.map(|info| info.ordinal).collect();
        if let (true, Some(info)) = (ordinals.is_empty(), devices.first()) {
            info.check()?;
        }
        Self::on_devices(&ordinals, DEFAULT_IN_FLIGHT, config)
    }

    /// A pipeline over some GPUs, by their numbers, with so many frames in flight on each (1 at least; 6 by default). More hide
    /// longer waits, and need more memory.
    ///
    /// # Errors
    /// As [`CudaDetector::on_device`](crate::CudaDetector::on_device); [`CudaError::NoDeviceNamed`] where none is named.
    pub fn on_devices(ordinals: &[u32], in_flight: usize, config: HarrisConfig) -> Result<Self, Error> {
        let _context = ContextGuard::save();
        Ok(Self { inner: open(&config, ordinals, in_flight, false)? })
    }

    /// Starts on a frame, of which it takes a copy. Where as many frames are in flight as can be, waits for the oldest and returns
    /// it.
    pub fn push(&mut self, image: &ImageView<'_>) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        self.inner.push(&[*image], false, None).map(detection)
    }

    /// Starts on a frame in pinned memory, which comes back with its corners. Where as many frames are in flight as can be, waits for
    /// the oldest and returns it.
    pub fn push_pinned(&mut self, image: PinnedImage<T>) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        let landed = self.inner.push_own(Some(image), |image| image.as_ref().expect("it is there").view());
        landed.map(detection)
    }

    /// The oldest frame in flight, for which it waits; `None` where there is none.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        self.inner.next().map(detection)
    }

    /// The oldest frame in flight where it is done already.
    pub fn next_done(&mut self) -> Option<Detection<T>> {
        let _context = ContextGuard::save();
        self.inner.next_done().map(detection)
    }

    /// How many frames are in flight.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.inner.in_flight()
    }

    /// How many can be.
    #[must_use]
    pub fn most_in_flight(&self) -> usize {
        self.inner.most_in_flight()
    }

    /// The GPUs, as in `cuda: NVIDIA H200, cuda: NVIDIA H200`.
    #[must_use]
    pub fn describe(&self) -> String {
        self.inner.describe()
    }
}

fn detection<T: Sample>((image, result): Landed<Option<PinnedImage<T>>>) -> Detection<T> {
    let keypoints = result.map(|mut lists| lists.pop().expect("one image a frame"));
    Detection { keypoints, image }
}
