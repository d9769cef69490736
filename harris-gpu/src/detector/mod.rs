//! The detector: an image in, keypoints out.

mod resident;
mod work;

use harris_core::pipeline::{range, response};
use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, Subpixel, float_mode, memory};
use harris_gpu_kernels::abi::state;
use ndarray::Array2;

use crate::detect_on_device::DetectOnDevice;
use crate::device::{Depth, Device, Mark};
use crate::error::GpuError;
use crate::exec::capacity::Capacity;
use crate::exec::context::{Context, Destination, Execution, PendingLists};
use crate::exec::recordings::Recordings;
use crate::exec::upload::{self, UploadMode};
use crate::exec::workspace::{Slot, Workspace};
use crate::frame_worker::FrameWorker;
use crate::list::outcome::{self, Outcome};
use crate::plan::{Plan, Shape};
use crate::respond;
use crate::search::sweep;
use crate::search::tiles::{RemainingRows, WorkTiles};
use crate::surf::KeypointList;

/// Corner detector on any [`Device`].
///
/// ```
/// use harris_core::{Detector, HarrisConfig, ImageView};
/// use harris_gpu::GpuDetector;
/// use harris_gpu_host::HostDevice;
///
/// let mut detector = GpuDetector::new(HostDevice, HarrisConfig::default());
/// let samples = [0_u8; 32 * 32];
/// assert_eq!(detector.detect(&ImageView::gray(&samples, 32, 32)?)?, []);
/// # Ok::<(), harris_core::Error>(())
/// ```
#[derive(Debug)]
pub struct GpuDetector<D: Device> {
    device: D,
    config: HarrisConfig,
    workspace: Workspace<D>,
    /// The plan for the last shape.
    plan: Option<(Shape, Plan)>,
    capacity: Option<Capacity>,
    job: Option<Job<D>>,
    recordings: Recordings<D, PendingLists<D>>,
    /// For each image that was begun, its range of samples if it is too small.
    ranges: Vec<Option<f32>>,
    staged: bool,
    /// Whether the last image's responses were computed stage by stage.
    ran_staged: bool,
}

/// Images that the device works on.
#[derive(Debug)]
struct Job<D: Device> {
    shape: Shape,
    plan: Plan,
    /// The tiles of the sweep to corners; `None` where there is no sweep.
    tiles: Option<WorkTiles>,
    /// Where keypoints go.
    destination: Destination,
    lists: PendingLists<D>,
}

/// The most bytes of samples, and of keypoints, of a batch of images that are worked on together.
const MAX_BATCH_BYTES: usize = 4 << 20;

impl<D: Device> GpuDetector<D> {
    /// A detector on `device`.
    #[must_use]
    pub fn new(device: D, config: HarrisConfig) -> Self {
        Self {
            device,
            config,
            workspace: Workspace::new(),
            plan: None,
            capacity: None,
            job: None,
            recordings: Recordings::new(),
            ranges: Vec::new(),
            staged: false,
            ran_staged: false,
        }
    }

    /// Makes the detector run one kernel or a few a stage for all images, for comparisons.
    #[must_use]
    pub fn staged(mut self) -> Self {
        self.staged = true;
        self.plan = None;
        self
    }

    /// Whether the detector runs one kernel or a few a stage for all images.
    #[must_use]
    pub fn is_staged(&self) -> bool {
        self.staged
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    /// The device, to change how it works.
    pub fn device_mut(&mut self) -> &mut D {
        &mut self.device
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &HarrisConfig {
        &self.config
    }

    /// Whether the last image's responses were computed stage by stage.
    ///
    /// Then the marks of all stages were set.
    #[must_use]
    pub fn ran_staged(&self) -> bool {
        self.ran_staged
    }

    /// What runs for images of a shape.
    #[doc(hidden)]
    #[must_use]
    pub fn plan_of(&self, shape: &Shape) -> Plan {
        match self.plan {
            Some((known, plan)) if known == (Shape { images: 1, ..*shape }) => plan,
            Some(_) | None if self.staged => Plan::staged(shape, &self.config),
            Some(_) | None => Plan::of(shape, &self.config),
        }
    }

    /// Number of images, from the first on, that one batch can have: see [`GpuDetector::begin`].
    #[must_use]
    pub fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        let Some(first) = images.first() else { return 0 };
        let shape = Shape::new(first, 1);
        let is_plain = self.config.min_distance() <= 1.0
            && match self.config.subpixel() {
                Subpixel::None => true,
                Subpixel::Quadratic | Subpixel::Forstner { .. } => false,
            };
        if !is_plain || self.plan_of(&shape).computes_map() {
            return 1;
        }
        let keypoints = size_of::<[f32; 4]>() * Capacity::new(&self.config, &shape).corners;
        let most = (MAX_BATCH_BYTES / shape.bytes().max(keypoints)).max(1);
        let is_alike = |image: &&ImageView<'_>| Shape::new(image, 1) == shape;
        images.iter().take(most).take_while(is_alike).count()
    }

    /// Begins work on a batch of images, without waiting for the device.
    ///
    /// Samples that are `borrowed` stay unchanged until [`GpuDetector::finish`]. The device may
    /// then copy straight from them. Earlier work that was not finished is dropped.
    ///
    /// # Errors
    /// As [`Detector::detect`].
    ///
    /// # Panics
    /// Where there are none, or more than [`GpuDetector::batch_len`] allows.
    pub fn begin(&mut self, images: &[ImageView<'_>], borrowed: bool) -> Result<(), Error> {
        let mode = if borrowed { UploadMode::Borrowed } else { UploadMode::Copied };
        self.begin_with(images, mode, Destination::Host)
    }

    pub(crate) fn begin_with(
        &mut self,
        images: &[ImageView<'_>],
        mode: UploadMode,
        destination: Destination,
    ) -> Result<(), Error> {
        self.ran_staged = false;
        self.abandon_pending();
        // Samples are checked by kernels.
        for image in images {
            self.check_size(image.width(), image.height())?;
        }
        assert!(!images.is_empty() && images.len() <= self.batch_len(images), "more images than a batch has");
        let begun = float_mode::standard(|| self.enqueue(images, mode, destination));
        if begun.is_err() {
            // The device may still read samples. Its own failure is the one that is returned.
            let _ = self.device.wait();
        }
        // Meanwhile the device works.
        self.ranges.clear();
        let range = |image| float_mode::standard(|| range::small_range(image, &self.config));
        self.ranges.extend(images.iter().map(range));
        begun
    }

    /// Uploads images and asks for their lists.
    fn enqueue(
        &mut self,
        images: &[ImageView<'_>],
        mode: UploadMode,
        destination: Destination,
    ) -> Result<(), Error> {
        let image = &images[0];
        let shape = Shape::new(image, images.len());
        let plan = self.set_plan(&shape);
        let borrowed = mode.is_borrowed();
        if !plan.can_overlap() {
            // Samples last: behind them the device's time begins.
            upload::mask(&mut self.device, &mut self.workspace, image, borrowed)?;
            upload::samples(&mut self.device, &mut self.workspace, image, &shape, borrowed)?;
            return self.enqueue_uploaded(shape, plan, true, destination);
        }
        let (mut execution, recordings) = self.execution(shape, plan);
        let overlapped = mode == UploadMode::Overlapped;
        let tiles = WorkTiles::new(&execution, overlapped, true).expect("a plan with a sweep");
        let remaining = if overlapped {
            sweep::upload_overlapped(&mut execution, image, &tiles)?
        } else {
            // The copy of less is over before another could be asked for.
            let is_long = shape.bytes() * images.len() >= execution.device.last_block_bytes() / 2;
            upload::images(&mut execution, images, borrowed, is_long)?;
            RemainingRows::ALL
        };
        let lists = work::find(&mut execution, recordings, &tiles, remaining, destination)?;
        self.job = Some(Job { shape, plan, tiles: Some(tiles), destination, lists });
        Ok(())
    }

    /// Asks for the lists of an image that is on the device with its mask, where the map is
    /// computed first.
    ///
    /// The image is `is_repeatable` where it stays until its lists are known to be complete.
    fn enqueue_uploaded(
        &mut self,
        shape: Shape,
        plan: Plan,
        is_repeatable: bool,
        destination: Destination,
    ) -> Result<(), Error> {
        let (mut execution, _) = self.execution(shape, plan);
        let tiles = WorkTiles::new(&execution, false, is_repeatable);
        let lists = match &tiles {
            Some(tiles) => work::find_after_stages(&mut execution, tiles, destination)?,
            None => work::find_without_sweep(&mut execution, destination)?,
        };
        self.job = Some(Job { shape, plan, tiles, destination, lists });
        Ok(())
    }

    /// The execution on images, and the recordings beside it. [`GpuDetector::set_plan`] was called
    /// for the shape.
    fn execution(
        &mut self,
        shape: Shape,
        plan: Plan,
    ) -> (Execution<'_, D>, &mut Recordings<D, PendingLists<D>>) {
        let Self { device, config, workspace, capacity, recordings, .. } = self;
        let capacity = capacity.as_mut().expect("set with the plan");
        (Execution { device, workspace, capacity, context: Context { config, plan, shape } }, recordings)
    }

    /// Makes the plan, and the capacity of lists, for images of a shape, unless those of the last
    /// image are for it.
    fn set_plan(&mut self, shape: &Shape) -> Plan {
        let plan = self.plan_of(shape);
        self.plan = Some((Shape { images: 1, ..*shape }, plan));
        if !self.capacity.as_ref().is_some_and(|capacity| capacity.is_for_size_of(shape)) {
            self.capacity = Some(Capacity::new(&self.config, shape));
        }
        plan
    }

    /// Fills [`Slot::Response`] from the image on the device.
    fn respond(&mut self, shape: &Shape) -> Result<(), Error> {
        let plan = self.plan_of(shape);
        self.plan = Some((Shape { images: 1, ..*shape }, plan));
        let Self { device, config, workspace, .. } = self;
        workspace.ready.images = 0;
        workspace.fit::<u32>(device, Slot::State, state::WORDS)?;
        if shape.depth == Depth::F32 {
            device.clear(workspace.buffer::<u32>(Slot::State).memory, state::WORDS)?;
        }
        respond::write_all(device, workspace, &Context { config, plan, shape: *shape })
    }

    /// Uploads an image and fills [`Slot::Response`].
    fn respond_to(&mut self, image: &ImageView<'_>) -> Result<(), Error> {
        let shape = Shape::new(image, 1);
        self.check_size(image.width(), image.height())?;
        self.ran_staged = false;
        upload::samples(&mut self.device, &mut self.workspace, image, &shape, true)?;
        self.respond(&shape)?;
        self.device.mark(Mark::Done)?;
        if shape.depth == Depth::F32 { self.check_samples(image) } else { Ok(()) }
    }

    /// Finds the invalid sample of the image, if a kernel noted one; returns the error.
    fn check_samples(&mut self, image: &ImageView<'_>) -> Result<(), Error> {
        let words = self.workspace.buffer::<u32>(Slot::State).memory;
        let mut state = [0_u32; state::WORDS];
        self.device.download(words, bytemuck::cast_slice_mut(&mut state))?;
        if state[state::INVALID] == 0 { Ok(()) } else { image.check_samples() }
    }

    /// Whether what was begun is done, so that [`GpuDetector::finish`] hardly waits.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.device.is_idle()
    }

    /// The keypoints of each image that was begun.
    ///
    /// # Errors
    /// As [`Detector::detect`].
    ///
    /// # Panics
    /// Where nothing was begun.
    pub fn finish(&mut self) -> Result<Vec<Vec<Keypoint>>, Error> {
        Ok(self.finish_lists()?.0)
    }

    /// The keypoints of each image that was begun, and whether their lists were made again.
    pub(crate) fn finish_lists(&mut self) -> Result<(Vec<Vec<Keypoint>>, bool), Error> {
        let (lists, repeated) = self.complete(|execution, lists, counts, repeated| {
            Ok((outcome::read(execution, lists, counts)?, repeated))
        })?;
        for (list, range) in lists.iter().zip(&self.ranges) {
            range::check_corners(*range, list)?;
        }
        Ok((lists, repeated))
    }

    /// The list on the device of the single image that was begun with [`Destination::Both`].
    pub(crate) fn keypoint_list(&self) -> KeypointList {
        let capacity = self.keypoint_capacity();
        let most = self.config.max_corners().unwrap_or(capacity).min(capacity);
        KeypointList { slot: Slot::Keypoints, capacity, most }
    }

    /// How many keypoints the image that was begun is expected to have.
    pub(crate) fn expected_keypoints(&self) -> usize {
        self.capacity.as_ref().map_or(0, Capacity::expected_corners)
    }

    pub(crate) fn workspace(&self) -> &Workspace<D> {
        &self.workspace
    }

    /// The device and its memory, for work on the image of this shape that was begun.
    pub(crate) fn device_and_workspace(&mut self) -> (&mut D, &mut Workspace<D>) {
        (&mut self.device, &mut self.workspace)
    }

    /// Waits for what was begun, repeats what overflowed or was predicted wrongly, and takes the
    /// result, knowing whether lists were made again.
    fn complete<T>(
        &mut self,
        take: impl FnOnce(&mut Execution<'_, D>, &PendingLists<D>, &[usize], bool) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Job { shape, plan, mut tiles, destination, mut lists } = self.job.take().expect("begun before");
        let finish = || {
            let (mut execution, _) = self.execution(shape, plan);
            let mut repeated = false;
            loop {
                match (outcome::wait(&mut execution, &lists)?, &mut tiles) {
                    (Outcome::Found(counts), _) => return take(&mut execution, &lists, &counts, repeated),
                    (Outcome::SearchAgain, Some(tiles)) => {
                        (*tiles, lists) = work::search_again(&mut execution, tiles, destination)?;
                    }
                    (Outcome::RebuildLists, Some(tiles)) => {
                        lists = work::rebuild_lists(&mut execution, tiles, destination)?;
                    }
                    (Outcome::SearchAgain | Outcome::RebuildLists, None) => {
                        lists = work::search_again_without_sweep(&mut execution, destination)?;
                    }
                }
                repeated = true;
            }
        };
        let finished = float_mode::standard(finish);
        self.ran_staged = finished.is_ok() && plan.detects_by_stages();
        if finished.is_err() {
            let _ = self.device.wait();
        }
        self.workspace.return_lent();
        finished
    }

    /// Waits for what was begun, and drops it. Nothing reads its samples any more.
    fn abandon_pending(&mut self) {
        if self.job.take().is_some() {
            // Nobody asks any more whether it failed.
            let _ = self.device.wait();
            self.workspace.return_lent();
        }
    }

    fn check_size(&self, width: usize, height: usize) -> Result<(), Error> {
        self.config.check_size(width, height)?;
        Ok(GpuError::check_size(width, height)?)
    }
}

impl<D: Device> FrameWorker for GpuDetector<D> {
    type Output = Vec<Keypoint>;

    fn batch_len(&self, images: &[ImageView<'_>]) -> usize {
        Self::batch_len(self, images)
    }

    fn begin(&mut self, images: &[ImageView<'_>], mode: UploadMode) -> Result<(), Error> {
        self.begin_with(images, mode, Destination::Host)
    }

    fn is_done(&self) -> bool {
        Self::is_done(self)
    }

    fn finish(&mut self) -> Result<Vec<Vec<Keypoint>>, Error> {
        Self::finish(self)
    }

    fn describe_device(&self) -> String {
        self.device.describe()
    }
}

/// Waits for what was begun: the device may read borrowed samples.
impl<D: Device> Drop for GpuDetector<D> {
    fn drop(&mut self) {
        self.abandon_pending();
    }
}

impl<D: Device> Detector for GpuDetector<D> {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.begin_with(std::slice::from_ref(image), UploadMode::Overlapped, Destination::Host)?;
        let mut lists = self.finish()?;
        Ok(lists.pop().expect("a list for each image"))
    }

    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        let (mut images, mut lists) = (images, Vec::new());
        memory::reserve_exact(&mut lists, images.len())?;
        while !images.is_empty() {
            let (now, later) = images.split_at(self.batch_len(images));
            self.begin(now, true)?;
            lists.extend(self.finish()?);
            images = later;
        }
        Ok(lists)
    }

    fn response(&mut self, image: &ImageView<'_>) -> Result<Array2<f32>, Error> {
        let mut map = Array2::default((0, 0));
        self.response_into(image, &mut map)?;
        Ok(map)
    }

    fn response_into(&mut self, image: &ImageView<'_>, map: &mut Array2<f32>) -> Result<(), Error> {
        self.abandon_pending();
        let responded = float_mode::standard(|| self.respond_to(image));
        if responded.is_err() {
            // The device may still read samples.
            let _ = self.device.wait();
        }
        responded?;
        self.read_responses(response::reuse_map(map, image)?)
    }

    /// Frees the device's memory, and drops what was begun and not finished.
    fn shrink_to_fit(&mut self) {
        self.abandon_pending();
        (self.recordings, self.workspace) = (Recordings::new(), Workspace::new());
        (self.plan, self.capacity, self.ranges) = (None, None, Vec::new());
    }

    /// The device, and what ran for the last image.
    fn describe(&self) -> String {
        match &self.plan {
            Some((_, plan)) => format!("{}: {plan}", self.device.describe()),
            None => self.device.describe(),
        }
    }
}
