//! The Fast-Hessian detector: an image in, blobs out.

pub(crate) mod search;
mod tables;

use harris_core::fast_hessian::{FastHessianConfig, Layer, Pyramid};
use harris_core::integral::levels;
use harris_core::{Detector, Error, ImageView, Keypoint, memory};
use harris_gpu_kernels::abi::state;
use ndarray::Array2;

use self::search::{BlobSearch, Integrated, PendingBlobs};
use crate::detect_on_device::DetectOnDevice;
use crate::device::{Device, Mark, Resident};
use crate::error::GpuError;
use crate::exec::context::Destination;
use crate::exec::recordings::Recordings;
use crate::exec::upload::{self, UploadMode};
use crate::exec::workspace::{Slot, Workspace};
use crate::frame_worker::FrameWorker;
use crate::integral::upload_and_integrate;
use crate::plan::Shape;

/// SURF's Fast-Hessian detector on any [`Device`].
///
/// ```
/// use harris_core::fast_hessian::FastHessianConfig;
/// use harris_core::{Detector, ImageView};
/// use harris_gpu::GpuFastHessian;
/// use harris_gpu_host::HostDevice;
///
/// let mut detector = GpuFastHessian::new(HostDevice, FastHessianConfig::default());
/// let samples = [0_u8; 40 * 40];
/// assert_eq!(detector.detect(&ImageView::gray(&samples, 40, 40)?)?, []);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuFastHessian<D: Device> {
    device: D,
    workspace: Workspace<D>,
    search: BlobSearch,
    pending: Option<PendingBlobs<D>>,
    recordings: Recordings<D, PendingBlobs<D>>,
    /// Capacity of the last image's list.
    capacity: usize,
}

impl<D: Device> GpuFastHessian<D> {
    /// A detector on `device`.
    #[must_use]
    pub fn new(device: D, config: FastHessianConfig) -> Self {
        Self {
            device,
            workspace: Workspace::new(),
            search: BlobSearch::new(config),
            pending: None,
            recordings: Recordings::new(),
            capacity: 0,
        }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Asks for the blobs of the image on the device.
    fn enqueue(&mut self, shape: Shape, destination: Destination) -> Result<PendingBlobs<D>, Error> {
        let Self { device, workspace, search, recordings, .. } = self;
        let key = search.key(device, workspace, &shape, destination, [0; 2]);
        recordings.run(&mut (device, workspace), key, |(device, workspace)| {
            search.enqueue(*device, workspace, shape, destination)
        })
    }

    /// Keeps what was asked for. After a failure the device may still read samples, so it is waited
    /// for.
    fn set_pending(&mut self, asked: Result<PendingBlobs<D>, Error>) -> Result<(), Error> {
        match asked {
            Ok(pending) => {
                (self.capacity, self.pending) = (pending.capacity, Some(pending));
                Ok(())
            }
            Err(error) => {
                let _ = self.device.wait();
                self.workspace.return_lent();
                Err(error)
            }
        }
    }

    /// Waits for what was begun, and takes the result, knowing how many keypoints are wanted.
    fn complete<T>(
        &mut self,
        take: impl FnOnce(&mut Self, &PendingBlobs<D>, usize) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut pending = self.pending.take().expect("begun before");
        let Self { device, workspace, search, .. } = self;
        let completed = search.complete(device, workspace, &mut pending, |_, _, _| Ok(()));
        self.capacity = pending.capacity;
        let taken = completed.and_then(|count| take(self, &pending, count));
        if taken.is_err() {
            let _ = self.device.wait();
        }
        self.workspace.return_lent();
        taken
    }

    /// Waits for what was begun, and drops it. Nothing reads its samples any more.
    fn abandon_pending(&mut self) {
        if self.pending.take().is_some() {
            // Nobody asks any more whether it failed.
            let _ = self.device.wait();
            self.workspace.return_lent();
        }
    }
}

/// Uploads an image with its mask, and what the search needs for its size.
pub(crate) fn upload_for_blobs<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    search: &mut BlobSearch,
    image: &ImageView<'_>,
    borrowed: bool,
) -> Result<Shape, Error> {
    let pyramid = Pyramid::new(search.config(), image.width(), image.height());
    search.set_tables(device, workspace, &pyramid, levels(image))?;
    upload::mask(device, workspace, image, borrowed)?;
    let shape = Shape::new(image, 1);
    upload::samples(device, workspace, image, &shape, borrowed)?;
    Ok(shape)
}

/// Lends an image in the device's memory, with its mask, and uploads what the search needs for its
/// size.
///
/// The memory is a caller's until [`Workspace::return_lent`], after a failure, too.
pub(crate) fn lend_for_blobs<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    search: &mut BlobSearch,
    image: Resident<D::Memory>,
) -> Result<Shape, Error> {
    let pyramid = Pyramid::new(search.config(), image.width, image.height);
    search.set_tables(device, workspace, &pyramid, image.depth.levels())?;
    let shape = workspace.lend_image(image);
    device.mark(Mark::Uploaded)?;
    Ok(shape)
}

/// Checks that a GPU can find blobs in an image that is in its memory.
pub(crate) fn check_resident<M>(config: &FastHessianConfig, image: &Resident<M>) -> Result<(), Error> {
    config.check_size(image.width, image.height, image.depth.levels())?;
    Ok(GpuError::check_size(image.width, image.height)?)
}

/// Checks that a GPU can find blobs in an image.
pub(crate) fn check(config: &FastHessianConfig, image: &ImageView<'_>) -> Result<(), Error> {
    config.check_image(image)?;
    Ok(GpuError::check_image(image)?)
}

impl<D: Device> FrameWorker for GpuFastHessian<D> {
    type Output = Vec<Keypoint>;

    fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        images.len().min(1)
    }

    fn begin(&mut self, images: &[ImageView<'_>], mode: UploadMode) -> Result<(), Error> {
        self.abandon_pending();
        let [image] = images else { panic!("a batch of one image") };
        check(self.search.config(), image)?;
        let Self { device, workspace, search, .. } = self;
        let uploaded = upload_for_blobs(device, workspace, search, image, mode.is_borrowed());
        let asked = uploaded.and_then(|shape| self.enqueue(shape, Destination::Host));
        self.set_pending(asked)
    }

    fn is_done(&self) -> bool {
        self.device.is_idle()
    }

    fn finish(&mut self) -> Result<Vec<Vec<Keypoint>>, Error> {
        self.complete(|Self { device, workspace, search, .. }, pending, count| {
            Ok(vec![search.read(device, workspace, pending, count)?])
        })
    }

    fn describe_device(&self) -> String {
        self.device.describe()
    }
}

impl<D: Device> DetectOnDevice for GpuFastHessian<D> {
    type Device = D;

    fn begin_on_device(&mut self, image: Resident<D::Memory>, _is_repeatable: bool) -> Result<(), Error> {
        self.abandon_pending();
        check_resident(self.search.config(), &image)?;
        let Self { device, workspace, search, .. } = self;
        let lent = lend_for_blobs(device, workspace, search, image);
        let asked = lent.and_then(|shape| self.enqueue(shape, Destination::Device));
        self.set_pending(asked)
    }

    fn finish_on_device(&mut self) -> Result<usize, Error> {
        self.complete(|_, _, count| Ok(count))
    }

    fn device(&self) -> &D {
        Self::device(self)
    }

    fn keypoints_on_device(&self) -> &D::Memory {
        self.workspace.buffer::<f32>(search::KEYPOINTS).memory
    }

    fn count_on_device(&self) -> (&D::Memory, usize) {
        (self.workspace.buffer::<u32>(Slot::State).memory, size_of::<u32>() * state::LENGTH)
    }

    fn keypoint_capacity(&self) -> usize {
        self.capacity
    }

    /// Samples are read once, for the integral image.
    fn may_read_again(&self) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.image.shape.is_masked())
    }
}

/// Waits for what was begun: the device may read borrowed samples.
impl<D: Device> Drop for GpuFastHessian<D> {
    fn drop(&mut self) {
        self.abandon_pending();
    }
}

impl<D: Device> Detector for GpuFastHessian<D> {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.begin(std::slice::from_ref(image), UploadMode::Borrowed)?;
        let mut lists = self.finish()?;
        Ok(lists.pop().expect("a list for each image"))
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        self.abandon_pending();
        check(self.search.config(), image)?;
        let (width, height, filter) = (image.width(), image.height(), Pyramid::FIRST_FILTER);
        let layer = Layer { filter, step: 1, origin: 0, width, height };
        let pyramid = Pyramid { layers: vec![layer], triples: Vec::new() };
        let Self { device, workspace, search, .. } = self;
        search.set_tables(device, workspace, &pyramid, levels(image))?;
        let pitch = upload_and_integrate(device, workspace, image, true)?;
        search.respond(device, workspace, Integrated { shape: Shape::new(image, 1), pitch })?;
        let mut response = memory::zeros::<f32>((height, width))?;
        let bytes = bytemuck::cast_slice_mut(response.as_slice_mut().expect("a new array is contiguous"));
        device.download(workspace.buffer::<f32>(Slot::Response).memory, bytes)?;
        let inside = |i: usize, len: usize| i >= filter / 2 && i + filter / 2 < len;
        for ((y, x), value) in response.indexed_iter_mut() {
            if !(inside(x, width) && inside(y, height)) {
                *value = 0.0;
            }
        }
        Ok(response)
    }

    /// Frees the device's memory.
    fn shrink_to_fit(&mut self) {
        self.abandon_pending();
        (self.recordings, self.workspace, self.capacity) = (Recordings::new(), Workspace::new(), 0);
        self.search.clear();
    }

    fn rejected_peaks(&self) -> Option<usize> {
        Some(self.search.rejected)
    }

    fn describe(&self) -> String {
        self.device.describe()
    }
}
