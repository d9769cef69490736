//! The Fast-Hessian detector: an image in, blobs out.

pub(crate) mod search;
mod tables;

use harris_core::fast_hessian::{FastHessianConfig, Layer, Pyramid};
use harris_core::integral::levels;
use harris_core::{Detector, Error, ImageView, Keypoint, memory};
use ndarray::Array2;

use self::search::{BlobSearch, Integrated, PendingBlobs};
use crate::device::Device;
use crate::error::GpuError;
use crate::exec::upload::{self, UploadMode};
use crate::exec::workspace::{Slot, Workspace};
use crate::frame_worker::FrameWorker;
use crate::integral::upload_and_integrate;
use crate::plan::Shape;

/// SURF's Fast-Hessian detector on a GPU.
///
/// ```
/// use harris_core::fast_hessian::FastHessianConfig;
/// use harris_core::{Detector, ImageView};
/// use harris_gpu::GpuFastHessian;
/// use harris_gpu::host::HostDevice;
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
}

impl<D: Device> GpuFastHessian<D> {
    /// A detector on `device`.
    #[must_use]
    pub fn new(device: D, config: FastHessianConfig) -> Self {
        Self { device, workspace: Workspace::new(), search: BlobSearch::new(config), pending: None }
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// Uploads an image and asks for its blobs.
    fn enqueue(&mut self, image: &ImageView<'_>, borrowed: bool) -> Result<PendingBlobs<D>, Error> {
        let Self { device, workspace, search, .. } = self;
        let image = upload_for_blobs(device, workspace, search, image, borrowed)?;
        search.enqueue(device, workspace, image)
    }

    fn complete(&mut self) -> Result<Vec<Keypoint>, Error> {
        let mut pending = self.pending.take().expect("begun before");
        let Self { device, workspace, search, .. } = self;
        let count = search.complete(device, workspace, &mut pending, |_, _, _| Ok(()))?;
        search.read(device, workspace, &pending, count)
    }

    /// Waits for what was begun, and drops it. Nothing reads its samples any more.
    fn abandon_pending(&mut self) {
        if self.pending.take().is_some() {
            // Nobody asks any more whether it failed.
            let _ = self.device.wait();
        }
    }
}

/// Checks an image, uploads it with its mask, and asks for its integral image.
pub(crate) fn upload_for_blobs<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    search: &mut BlobSearch,
    image: &ImageView<'_>,
    borrowed: bool,
) -> Result<Integrated, Error> {
    let pyramid = Pyramid::new(search.config(), image.width(), image.height());
    search.set_tables(device, workspace, &pyramid, levels(image))?;
    upload::mask(device, workspace, image, borrowed)?;
    let pitch = upload_and_integrate(device, workspace, image, borrowed)?;
    Ok(Integrated { shape: Shape::new(image, 1), pitch })
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
        match self.enqueue(image, mode.is_borrowed()) {
            Ok(pending) => self.pending = Some(pending),
            Err(error) => {
                // The device may still read samples.
                let _ = self.device.wait();
                return Err(error);
            }
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        self.device.is_idle()
    }

    fn finish(&mut self) -> Result<Vec<Vec<Keypoint>>, Error> {
        let completed = self.complete();
        if completed.is_err() {
            let _ = self.device.wait();
        }
        Ok(vec![completed?])
    }

    fn describe_device(&self) -> String {
        self.device.describe()
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
        self.workspace = Workspace::new();
        self.search.clear();
    }

    fn rejected_peaks(&self) -> Option<usize> {
        Some(self.search.rejected)
    }

    fn describe(&self) -> String {
        self.device.describe()
    }
}
