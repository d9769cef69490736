//! Keypoints and their descriptors from one upload, waiting for the device once.

use harris_core::features::{DetectAndDescribe, DetectorConfig, FeatureConfig, Features};
use harris_core::{Error, ImageView, Keypoint};
use harris_gpu_kernels::abi::state;
use ndarray::Array2;

use crate::detect_on_device::DetectOnDevice;
use crate::detector::GpuDetector;
use crate::device::{Device, Resident};
use crate::error::GpuError;
use crate::exec::context::Destination;
use crate::exec::recordings::Recordings;
use crate::exec::upload::UploadMode;
use crate::exec::workspace::{Slot, Workspace};
use crate::fast_hessian::search::{self, BlobSearch, Integrated, PendingBlobs};
use crate::fast_hessian::{check, check_resident, lend_for_blobs, upload_for_blobs};
use crate::frame_worker::FrameWorker;
use crate::integral::integrate;
use crate::plan::Shape;
use crate::surf::{self, Describer, KeypointList};

/// Corners or blobs with SURF descriptors, on a GPU.
///
/// ```
/// use harris_core::features::{DetectAndDescribe, FeatureConfig};
/// use harris_core::ImageView;
/// use harris_gpu::GpuFeatures;
/// use harris_gpu_host::HostDevice;
///
/// let samples: Vec<u8> = (0..64 * 64).map(|i| (i * i / 97 % 256) as u8).collect();
/// let mut features = GpuFeatures::new(HostDevice, FeatureConfig::default());
/// let found = features.detect_and_describe(&ImageView::gray(&samples, 64, 64)?)?;
/// assert_eq!(found.descriptors.dim(), (found.keypoints.len(), 64));
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuFeatures<D: Device> {
    detector: AnyDetector<D>,
    describer: Describer,
    pending: Option<Pending<D>>,
    /// Capacity of the last image's list.
    capacity: usize,
}

#[derive(Debug)]
enum AnyDetector<D: Device> {
    /// Corners: the detector has the device and its memory.
    Harris(Box<GpuDetector<D>>),
    /// Blobs.
    FastHessian(Box<BlobDetector<D>>),
}

/// What finds and describes blobs.
#[derive(Debug)]
struct BlobDetector<D: Device> {
    device: D,
    workspace: Workspace<D>,
    search: BlobSearch,
    recordings: Recordings<D, (PendingBlobs<D>, Descriptors<D>)>,
}

/// Descriptors that are fetched, and how many, if they are.
type Descriptors<D> = Option<(<D as Device>::Fetched, usize)>;

/// Where an image comes from.
enum Source<'a, M> {
    /// Samples on the host.
    Host(&'a ImageView<'a>, UploadMode),
    /// An image in the device's memory, and whether its samples stay until the result is there.
    Device(Resident<M>, bool),
}

/// What the device was asked for.
#[derive(Debug)]
struct Pending<D: Device> {
    /// The blobs. Corners are pending in their detector.
    blobs: Option<PendingBlobs<D>>,
    /// The image, for corners.
    image: Integrated,
    descriptors: Descriptors<D>,
    /// Why the image cannot be described, if it cannot.
    fault: Option<Error>,
}

impl<D: Device> GpuFeatures<D> {
    /// Makes it on `device`.
    #[must_use]
    pub fn new(device: D, config: FeatureConfig) -> Self {
        let detector = match config.detector {
            DetectorConfig::Harris(config) => AnyDetector::Harris(Box::new(GpuDetector::new(device, config))),
            DetectorConfig::FastHessian(config) => AnyDetector::FastHessian(Box::new(BlobDetector {
                device,
                workspace: Workspace::new(),
                search: BlobSearch::new(config),
                recordings: Recordings::new(),
            })),
        };
        Self { detector, describer: Describer::new(config.surf), pending: None, capacity: 0 }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        match &self.detector {
            AnyDetector::Harris(detector) => detector.device(),
            AnyDetector::FastHessian(blobs) => &blobs.device,
        }
    }

    fn wait(&mut self) {
        // The failure of what was begun is the one that is returned, if any is.
        let _ = match &mut self.detector {
            AnyDetector::Harris(detector) => detector.device_mut().wait(),
            AnyDetector::FastHessian(blobs) => blobs.device.wait(),
        };
    }

    /// Asks for the features of an image. Descriptors are fetched where they go `to_host`.
    fn enqueue(&mut self, source: Source<'_, D::Memory>, to_host: bool) -> Result<Pending<D>, Error> {
        let Self { detector, describer, .. } = self;
        match detector {
            AnyDetector::Harris(detector) => {
                let (shape, on_host) = match source {
                    Source::Host(image, mode) => {
                        detector.begin_with(std::slice::from_ref(image), mode, Destination::Both)?;
                        (Shape::new(image, 1), Some(image))
                    }
                    Source::Device(image, is_repeatable) => {
                        let shape = Shape::resident(&image);
                        detector.begin_resident(image, is_repeatable, Destination::Both)?;
                        (shape, None)
                    }
                };
                let list = detector.keypoint_list();
                let expected = detector.expected_keypoints();
                let (device, workspace) = detector.device_and_workspace();
                describer.set_tables(device, workspace)?;
                let pitch = integrate(device, workspace, &shape)?;
                let image_on_device = Integrated { shape, pitch };
                describer.enqueue(device, workspace, image_on_device, list)?;
                let descriptors = fetch(device, workspace, expected.min(list.most), to_host)?;
                self.capacity = list.capacity;
                let fault = on_host.and_then(|image| image.check_levels().err());
                Ok(Pending { blobs: None, image: image_on_device, descriptors, fault })
            }
            AnyDetector::FastHessian(blobs) => {
                let BlobDetector { device, workspace, search, recordings } = &mut **blobs;
                describer.set_tables(device, workspace)?;
                let shape = match source {
                    Source::Host(image, mode) => {
                        upload_for_blobs(device, workspace, search, image, mode.is_borrowed())?
                    }
                    Source::Device(image, _) => lend_for_blobs(device, workspace, search, image)?,
                };
                // A pipeline that matches frames changes the memory of descriptors, so its place and
                // its size count. Places are multiples of 2.
                let place = workspace.address(device, Slot::Descriptors) | u64::from(to_host);
                let size = workspace.capacity::<f32>(Slot::Descriptors) as u64;
                let key = search.key(device, workspace, &shape, Destination::Both, [place, size]);
                let work = |(device, workspace): &mut (&mut D, &mut Workspace<D>)| {
                    let (device, workspace) = (&mut **device, &mut **workspace);
                    let blobs = search.enqueue(device, workspace, shape, Destination::Both)?;
                    let wanted = search.config().max_keypoints();
                    describer.enqueue(device, workspace, blobs.image, blob_list(&blobs, wanted))?;
                    let descriptors = fetch(device, workspace, search.expected(blobs.capacity), to_host)?;
                    Ok((blobs, descriptors))
                };
                let (blobs, descriptors) = recordings.run(&mut (device, workspace), key, work)?;
                self.capacity = blobs.capacity;
                Ok(Pending { image: blobs.image, blobs: Some(blobs), descriptors, fault: None })
            }
        }
    }

    /// Waits for what was begun. Returns the keypoints, and the descriptors that were fetched, if
    /// they are all.
    fn complete(&mut self) -> Result<(Vec<Keypoint>, Option<D::Fetched>), Error> {
        let completed = self.complete_lent();
        self.device_and_workspace().1.return_lent();
        completed
    }

    fn complete_lent(&mut self) -> Result<(Vec<Keypoint>, Option<D::Fetched>), Error> {
        let Pending { blobs, image, descriptors, fault } = self.pending.take().expect("begun before");
        let Self { detector, describer, .. } = self;
        // Describes again where the list that was described was not complete.
        let mut described_again = false;
        let keypoints = match detector {
            AnyDetector::Harris(detector) => {
                let (mut lists, was_repeated) = detector.finish_lists()?;
                let keypoints = lists.pop().expect("a list for each image");
                let list = detector.keypoint_list();
                self.capacity = list.capacity;
                if was_repeated && fault.is_none() {
                    let (device, workspace) = detector.device_and_workspace();
                    describer.enqueue(device, workspace, image, list)?;
                    described_again = true;
                }
                keypoints
            }
            AnyDetector::FastHessian(detector) => {
                let BlobDetector { device, workspace, search, .. } = &mut **detector;
                let mut blobs = blobs.expect("begun with the descriptors");
                let wanted = search.config().max_keypoints();
                let count = search.complete(device, workspace, &mut blobs, |device, workspace, blobs| {
                    described_again = true;
                    describer.enqueue(device, workspace, blobs.image, blob_list(blobs, wanted))
                })?;
                self.capacity = blobs.capacity;
                search.read(device, workspace, &blobs, count)?
            }
        };
        if let Some(fault) = fault {
            return Err(fault);
        }
        describer.config.check_keypoints(
            &keypoints,
            image.shape.width as usize,
            image.shape.height as usize,
        )?;
        let descriptors = descriptors.filter(|(_, fetched)| !described_again && keypoints.len() <= *fetched);
        Ok((keypoints, descriptors.map(|(descriptors, _)| descriptors)))
    }

    fn workspace(&self) -> &Workspace<D> {
        match &self.detector {
            AnyDetector::Harris(detector) => detector.workspace(),
            AnyDetector::FastHessian(blobs) => &blobs.workspace,
        }
    }

    pub(crate) fn device_and_workspace(&mut self) -> (&mut D, &mut Workspace<D>) {
        match &mut self.detector {
            AnyDetector::Harris(detector) => detector.device_and_workspace(),
            AnyDetector::FastHessian(blobs) => (&mut blobs.device, &mut blobs.workspace),
        }
    }

    fn begin_with(&mut self, source: Source<'_, D::Memory>, to_host: bool) -> Result<(), Error> {
        self.abandon_pending();
        match (&self.detector, &source) {
            (AnyDetector::Harris(_), Source::Host(image, _)) => GpuError::check_image(image)?,
            (AnyDetector::FastHessian(blobs), Source::Host(image, _)) => {
                check(blobs.search.config(), image)?;
            }
            // The detector checks it.
            (AnyDetector::Harris(_), Source::Device(..)) => {}
            (AnyDetector::FastHessian(blobs), Source::Device(image, _)) => {
                check_resident(blobs.search.config(), image)?;
            }
        }
        match self.enqueue(source, to_host) {
            Ok(pending) => self.pending = Some(pending),
            Err(error) => {
                // The device may still read samples.
                self.wait();
                self.device_and_workspace().1.return_lent();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Detects the keypoints of an image on the host and describes them.
    ///
    /// The descriptors stay on the device, row after row: see
    /// [`GpuFeatures::descriptors_on_device`].
    ///
    /// # Errors
    /// As [`DetectAndDescribe::detect_and_describe`].
    pub fn describe_on_device(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.begin_with(Source::Host(image, UploadMode::Overlapped), false)?;
        self.finish_on_device()
    }

    /// Begins work on an image in the device's memory without waiting for the device.
    ///
    /// Earlier work that was not finished is dropped.
    ///
    /// The image's memory stays there until [`GpuFeatures::finish_on_device`], or whatever is begun
    /// next. Where the image `is_repeatable`, its samples stay as they are until then.
    ///
    /// # Errors
    /// As [`DetectAndDescribe::detect_and_describe`], but that samples are not checked.
    pub fn begin_on_device(&mut self, image: Resident<D::Memory>, is_repeatable: bool) -> Result<(), Error> {
        self.begin_with(Source::Device(image, is_repeatable), false)
    }

    /// The keypoints of the image that was begun, when its descriptors are complete on the device.
    ///
    /// # Errors
    /// As [`DetectAndDescribe::detect_and_describe`].
    ///
    /// # Panics
    /// Where none was begun.
    pub fn finish_on_device(&mut self) -> Result<Vec<Keypoint>, Error> {
        let completed = self.complete().map(|(keypoints, _)| keypoints);
        // Descriptions that were repeated may still run.
        let waited = self.device_and_workspace().0.wait();
        waited.and(completed)
    }

    /// The keypoints of the image last begun, in the device's memory: see
    /// [`DetectOnDevice::keypoints_on_device`].
    ///
    /// # Panics
    /// Where there was no image.
    #[must_use]
    pub fn keypoints_on_device(&self) -> &D::Memory {
        match &self.detector {
            AnyDetector::Harris(detector) => detector.keypoints_on_device(),
            AnyDetector::FastHessian(blobs) => blobs.workspace.buffer::<f32>(search::KEYPOINTS).memory,
        }
    }

    /// The number of keypoints of the image last begun: see [`DetectOnDevice::count_on_device`].
    ///
    /// # Panics
    /// Where there was no image.
    #[must_use]
    pub fn count_on_device(&self) -> (&D::Memory, usize) {
        (self.workspace().buffer::<u32>(Slot::State).memory, size_of::<u32>() * state::LENGTH)
    }

    /// Capacity of [`GpuFeatures::keypoints_on_device`], in keypoints; 0 before the first image.
    #[must_use]
    pub fn keypoint_capacity(&self) -> usize {
        self.capacity
    }

    /// Whether [`GpuFeatures::finish_on_device`] may read the image that was begun again, or its
    /// mask: see [`DetectOnDevice::may_read_again`].
    #[must_use]
    pub fn may_read_again(&self) -> bool {
        let is_masked = |pending: &Pending<D>| pending.image.shape.is_masked();
        match &self.detector {
            AnyDetector::Harris(detector) => detector.may_read_again(),
            AnyDetector::FastHessian(_) => self.pending.as_ref().is_some_and(is_masked),
        }
    }

    /// The descriptors of the last image, 64 floats each, in the order of the keypoints, until the
    /// next image.
    ///
    /// # Panics
    /// Where there was no image.
    #[must_use]
    pub fn descriptors_on_device(&self) -> &D::Memory {
        self.workspace().buffer::<f32>(Slot::Descriptors).memory
    }

    /// Takes the memory of [`GpuFeatures::descriptors_on_device`].
    ///
    /// The next image gets other memory.
    ///
    /// # Panics
    /// Where there was no image.
    #[must_use]
    pub fn take_descriptors(&mut self) -> D::Memory {
        let (memory, _) =
            self.device_and_workspace().1.take(Slot::Descriptors).expect("an image was described before");
        memory
    }

    /// Reads the first `count` of the descriptors on the device.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where there was no image.
    pub fn read_descriptors(&mut self, count: usize) -> Result<Array2<f32>, Error> {
        let (device, workspace) = self.device_and_workspace();
        surf::download(device, workspace, count)
    }

    /// Waits for what was begun, and drops it. Nothing reads its samples any more.
    fn abandon_pending(&mut self) {
        if self.pending.take().is_some() {
            self.wait();
            self.device_and_workspace().1.return_lent();
        }
    }
}

/// Fetches the first `count` descriptors, if they go `to_host`.
fn fetch<D: Device>(
    device: &mut D,
    workspace: &Workspace<D>,
    count: usize,
    to_host: bool,
) -> Result<Descriptors<D>, Error> {
    to_host.then(|| Ok((surf::fetch(device, workspace, count)?, count))).transpose()
}

/// The list of blobs, of which so many are `wanted`, as the descriptor takes it.
fn blob_list<D: Device>(blobs: &PendingBlobs<D>, wanted: Option<usize>) -> KeypointList {
    let capacity = blobs.capacity;
    KeypointList { slot: search::KEYPOINTS, capacity, most: wanted.map_or(capacity, |n| n.min(capacity)) }
}

impl<D: Device> FrameWorker for GpuFeatures<D> {
    type Output = Features;

    fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        images.len().min(1)
    }

    fn begin(&mut self, images: &[ImageView<'_>], mode: UploadMode) -> Result<(), Error> {
        let [image] = images else { panic!("a batch of one image") };
        self.begin_with(Source::Host(image, mode), true)
    }

    fn is_done(&self) -> bool {
        self.device().is_idle()
    }

    fn finish(&mut self) -> Result<Vec<Features>, Error> {
        let completed = self.complete().and_then(|(keypoints, descriptors)| {
            let (device, workspace) = self.device_and_workspace();
            let descriptors = match descriptors {
                Some(descriptors) => surf::of_bytes(&device.fetched(&descriptors), keypoints.len())?,
                None => surf::download(device, workspace, keypoints.len())?,
            };
            Ok(Features::new(keypoints, descriptors))
        });
        if completed.is_err() {
            self.wait();
        }
        Ok(vec![completed?])
    }

    fn describe_device(&self) -> String {
        self.device().describe()
    }
}

/// Waits for what was begun: the device may read borrowed samples.
impl<D: Device> Drop for GpuFeatures<D> {
    fn drop(&mut self) {
        self.abandon_pending();
    }
}

impl<D: Device> DetectAndDescribe for GpuFeatures<D> {
    fn detect_and_describe(&mut self, image: &ImageView<'_>) -> Result<Features, Error> {
        self.begin(std::slice::from_ref(image), UploadMode::Overlapped)?;
        let mut found = self.finish()?;
        Ok(found.pop().expect("one for each image"))
    }

    /// Frees the device's memory.
    fn shrink_to_fit(&mut self) {
        self.abandon_pending();
        match &mut self.detector {
            AnyDetector::Harris(detector) => harris_core::Detector::shrink_to_fit(&mut **detector),
            AnyDetector::FastHessian(blobs) => {
                let BlobDetector { workspace, search, recordings, .. } = &mut **blobs;
                (*recordings, *workspace) = (Recordings::new(), Workspace::new());
                search.clear();
            }
        }
        self.describer.clear();
        self.capacity = 0;
    }

    fn describe(&self) -> String {
        self.device().describe()
    }
}
