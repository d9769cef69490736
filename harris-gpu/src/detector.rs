//! The detector: an image in, keypoints out.

use harris_core::pipeline::response;
use harris_core::{Detector, Error, HarrisConfig, ImageView, Keypoint, Subpixel};
use harris_gpu_kernels::abi::state;
use ndarray::Array2;

use crate::corners::{Fetched, Outcome, Search};
use crate::device::{Argument, Depth, Device, Mark, Resident};
use crate::error::GpuError;
use crate::fused::Pieces;
use crate::keypoint_mask::MaskSample;
use crate::maps::Map;
use crate::pieces::Walk;
use crate::recordings::Recordings;
use crate::room::{Room, Shape};
use crate::workspace::{Slot, Workspace};
use crate::{fused, launch, staged, upload};

/// Harris on a GPU.
///
/// ```
/// use harris_core::{Detector, HarrisConfig, ImageView};
/// use harris_gpu::GpuDetector;
/// use harris_gpu::host::HostDevice;
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
    room: Option<Room>,
    job: Option<Job<D>>,
    /// Of work on images of the fused kernels.
    recordings: Recordings<D>,
    staged: bool,
    /// Whether the last image's corners were found stage by stage.
    in_stages: bool,
}

/// Images that the device works on.
#[derive(Debug)]
struct Job<D: Device> {
    shape: Shape,
    /// The pieces in which they were walked on, where they were.
    walk: Option<Pieces>,
    /// Whether each stage has a kernel of its own.
    in_stages: bool,
    /// Whether keypoints are fetched.
    wanted: bool,
    fetched: Fetched<D>,
}

/// How samples are brought to the device.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Pace {
    /// By a copy of them.
    Copied,
    /// Straight from where they are, if it can.
    Lasting,
    /// The same, of a single image, so that work on the first rows begins before the last have come, and on these at once.
    Hurried,
}

/// The most bytes of samples, and of keypoints, that a stack of images has.
const MOST_STACKED: usize = 4 << 20;

impl<D: Device> GpuDetector<D> {
    /// A detector on `device`.
    #[must_use]
    pub fn new(device: D, config: HarrisConfig) -> Self {
        Self {
            device,
            config,
            workspace: Workspace::new(),
            room: None,
            job: None,
            recordings: Recordings::new(),
            staged: false,
            in_stages: false,
        }
    }

    /// The same detector with one kernel a stage also where there is a fused one, for comparing them.
    #[must_use]
    pub fn staged(mut self) -> Self {
        self.staged = true;
        self
    }

    /// Whether it has one kernel a stage for all images.
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

    /// Whether the corners of the last image were found by one kernel a stage, so that the device passed the marks of all stages.
    #[must_use]
    pub fn in_stages(&self) -> bool {
        self.in_stages
    }

    /// How many of `images`, from the first on, can be begun at once.
    #[must_use]
    pub fn stack(&self, images: &[ImageView<'_>]) -> usize {
        let Some(first) = images.first() else { return 0 };
        let shape = Shape::new(first, 1);
        let plain = self.config.min_distance() <= 1.0 && self.config.subpixel() == Subpixel::None;
        let walk = self.walk(&shape).filter(|&walk| plain && !fused::needs_map(&self.config, walk));
        if walk.is_none() {
            return 1;
        }
        let keypoints = size_of::<[f32; 4]>() * Room::new(&self.config, &shape).kept;
        let most = (MOST_STACKED / shape.bytes().max(keypoints)).max(1);
        let alike = |image: &&ImageView<'_>| Shape::new(image, 1) == shape;
        images.iter().take(most).take_while(alike).count()
    }

    /// The walk over images, where there is one.
    fn walk(&self, shape: &Shape) -> Option<Walk> {
        if self.staged { None } else { fused::walk(shape, &self.config) }
    }

    /// What leaves their responses in one walk, where there is such.
    fn map(&self, shape: &Shape) -> Option<Map> {
        if self.staged { None } else { Map::of(shape, &self.config) }
    }

    /// Begins work on images that [`GpuDetector::stack`] tells can be, without waiting for the device. Where they are `lasting`, they
    /// stay as they are until [`GpuDetector::finish`], so that the device may copy straight from them. What was begun before and
    /// not finished is lost.
    ///
    /// # Errors
    /// As [`Detector::detect`].
    ///
    /// # Panics
    /// Where there are none, or others.
    pub fn begin(&mut self, images: &[ImageView<'_>], lasting: bool) -> Result<(), Error> {
        self.begin_with(images, if lasting { Pace::Lasting } else { Pace::Copied })
    }

    pub(crate) fn begin_with(&mut self, images: &[ImageView<'_>], pace: Pace) -> Result<(), Error> {
        self.in_stages = false;
        self.settle();
        // Kernels look at samples themselves.
        for image in images {
            self.check_size(image.width(), image.height())?;
        }
        assert!(!images.is_empty() && images.len() <= self.stack(images), "images that are no stack");
        let begun = self.enqueue(images, pace);
        if begun.is_err() {
            // What is under way still reads samples. Its own failure is that of what failed.
            let _ = self.device.wait();
        }
        begun
    }

    fn enqueue(&mut self, images: &[ImageView<'_>], pace: Pace) -> Result<(), Error> {
        let image = &images[0];
        let shape = Shape::new(image, images.len());
        let walk = self.walk(&shape);
        self.make_room(&shape);
        let Self { device, config, workspace, room, recordings, .. } = self;
        let room = room.as_mut().expect("made above");
        let lasting = pace != Pace::Copied;
        let Some(walk) = walk else {
            // The samples last: behind them the device's time begins.
            upload::mask(device, workspace, image, lasting)?;
            upload::samples(device, workspace, image, &shape, lasting)?;
            return self.enqueue_stages(shape, true, true);
        };
        let hurried = pace == Pace::Hurried;
        let mut search = Search::new(device, workspace, config, room, shape);
        let pieces = Pieces::new(&search, walk, hurried, true);
        let left = if hurried {
            fused::hurry(&mut search, image, &pieces)?
        } else {
            // Of less the copy is over before another could be asked for.
            let is_long = shape.bytes() * images.len() >= search.device.portion() / 2;
            fused::bring(&mut search, images, lasting, is_long)?;
            pieces.all()
        };
        let fetched = fused::find(&mut search, recordings, &pieces, left, true)?;
        self.job = Some(Job { shape, walk: Some(pieces), in_stages: false, wanted: true, fetched });
        Ok(())
    }

    /// Work by way of a map of responses on the image and the mask that are on the device.
    fn enqueue_stages(&mut self, shape: Shape, stays: bool, wanted: bool) -> Result<(), Error> {
        let walk = if self.staged { None } else { fused::walk_in_map(&shape, &self.config) };
        let map = self.map(&shape);
        let Self { device, config, workspace, room, .. } = self;
        let room = room.as_mut().expect("made for the image");
        let mut search = Search::new(device, workspace, config, room, shape);
        let walk = walk.map(|walk| Pieces::new(&search, walk, false, stays));
        match &walk {
            Some(pieces) => search.clear_for_walk(pieces.foretells())?,
            None => search.clear()?,
        }
        respond(search.device, search.workspace, config, &shape, map)?;
        let in_stages = map.is_none();
        let fetched = match &walk {
            Some(pieces) => fused::find_in_map(&mut search, pieces, wanted)?,
            None => {
                search.start()?;
                search.list(wanted)?
            }
        };
        self.job = Some(Job { shape, walk, in_stages, wanted, fetched });
        Ok(())
    }

    /// Fills the slot `Response` from the image on the device, where nothing else uses the state.
    fn respond(&mut self, shape: &Shape) -> Result<(), Error> {
        let map = self.map(shape);
        let Self { device, config, workspace, .. } = self;
        workspace.clean_states = 0;
        workspace.fit::<u32>(device, Slot::State, state::WORDS)?;
        if shape.depth == Depth::F32 {
            device.clear(workspace.buffer::<u32>(Slot::State).memory, state::WORDS)?;
        }
        respond(device, workspace, config, shape, map)
    }

    /// Brings an image to the device, and leaves its responses in the slot `Response`.
    fn respond_to(&mut self, image: &ImageView<'_>) -> Result<(), Error> {
        let shape = Shape::new(image, 1);
        self.check_size(image.width(), image.height())?;
        self.in_stages = false;
        upload::samples(&mut self.device, &mut self.workspace, image, &shape, true)?;
        self.respond(&shape)?;
        self.device.mark(Mark::Listed)?;
        if shape.depth == Depth::F32 { self.check_state(image) } else { Ok(()) }
    }

    /// Looks for the sample of the image that a kernel has found, if it has, to be no number for one.
    fn check_state(&mut self, image: &ImageView<'_>) -> Result<(), Error> {
        let words = self.workspace.buffer::<u32>(Slot::State).memory;
        let mut state = [0_u32; state::WORDS];
        self.device.download(words, bytemuck::cast_slice_mut(&mut state))?;
        if state[state::INVALID] == 0 { Ok(()) } else { image.check_samples() }
    }

    fn make_room(&mut self, shape: &Shape) {
        if !self.room.as_ref().is_some_and(|room| room.suits(shape)) {
            self.room = Some(Room::new(&self.config, shape));
        }
    }

    /// Finds the corners of an image that is in the device's memory, and leaves them there: see
    /// [`GpuDetector::on_device`]. Returns how many they are.
    ///
    /// # Errors
    /// As [`Detector::detect`], but that samples are not looked at.
    pub fn detect_on_device(&mut self, image: Resident<D::Memory>) -> Result<usize, Error> {
        self.begin_resident(image, true)?;
        self.finish_on_device()
    }

    /// Begins the same without waiting for the device. The image's memory stays there until [`GpuDetector::finish_on_device`], or whatever
    /// is begun next.
    ///
    /// # Errors
    /// As [`GpuDetector::detect_on_device`].
    pub fn begin_on_device(&mut self, image: Resident<D::Memory>) -> Result<(), Error> {
        self.begin_resident(image, false)
    }

    /// The same. Whether the image `stays` as it is until then.
    fn begin_resident(&mut self, image: Resident<D::Memory>, stays: bool) -> Result<(), Error> {
        self.in_stages = false;
        self.settle();
        self.check_size(image.width, image.height)?;
        let shape = Shape::resident(&image);
        self.workspace.put(Slot::Image, image.memory, image.pitch * image.height);
        if let Some((mask, pitch)) = image.mask {
            self.workspace.put(Slot::Mask, mask, pitch * image.height);
        }
        let begun = self.device.mark(Mark::Uploaded).and_then(|()| self.enqueue_resident(shape, stays));
        if begun.is_err() {
            let _ = self.device.wait();
            self.let_go(&shape, false);
        }
        begun
    }

    fn enqueue_resident(&mut self, shape: Shape, stays: bool) -> Result<(), Error> {
        self.make_room(&shape);
        let Some(walk) = self.walk(&shape) else {
            return self.enqueue_stages(shape, stays, false);
        };
        let Self { device, config, workspace, room, recordings, .. } = self;
        let mut search = Search::new(device, workspace, config, room.as_mut().expect("made above"), shape);
        let pieces = Pieces::new(&search, walk, false, stays);
        let fetched = fused::find(&mut search, recordings, &pieces, pieces.all(), false)?;
        self.job = Some(Job { shape, walk: Some(pieces), in_stages: false, wanted: false, fetched });
        Ok(())
    }

    /// How many corners the image has that was begun with [`GpuDetector::begin_on_device`], when all of them are in the device's memory.
    ///
    /// # Errors
    /// As [`Detector::detect`].
    ///
    /// # Panics
    /// Where none was begun.
    pub fn finish_on_device(&mut self) -> Result<usize, Error> {
        self.complete(|_, _, counts| Ok(counts[0]))
    }

    /// The memory that has the keypoints of the image last begun with [`GpuDetector::begin_on_device`], x, y, scale and response of each
    /// as 32-bit floats, one after the other, until the next image is begun. It is written when the queue comes to it.
    ///
    /// # Panics
    /// Where there was none.
    #[must_use]
    pub fn on_device(&self) -> &D::Memory {
        self.workspace.buffer::<f32>(Slot::Keypoints).memory
    }

    /// Leaves a mask of the first `count` of those keypoints, of an image of this size, in memory of the device: 1 at the pixel of each, else
    /// 0, row after row. It returns when that is complete.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where there are fewer keypoints.
    pub fn keypoint_mask_on_device<T: MaskSample>(
        &mut self,
        count: usize,
        width: usize,
        height: usize,
    ) -> Result<&D::Memory, Error> {
        let Self { device, workspace, .. } = self;
        let words = (width * height * size_of::<T>()).div_ceil(size_of::<u32>());
        workspace.fit::<u32>(device, Slot::KeypointMask, words)?;
        device.clear(workspace.buffer::<u32>(Slot::KeypointMask).memory, words)?;
        if count > 0 {
            assert!(count <= self.room.as_ref().map_or(0, |room| room.kept), "keypoints that are there");
            let grid = launch::grid(T::KERNEL, count, 1);
            let [keypoints, mask] = [Slot::Keypoints, Slot::KeypointMask]
                .map(|slot| Argument::Memory(workspace.buffer::<u32>(slot).memory));
            let [count, width, height] =
                [count, width, height].map(|number| Argument::Word((number as u32).into()));
            device.launch(T::KERNEL, grid, &[keypoints, mask, count, width, height])?;
        }
        device.wait()?;
        Ok(workspace.buffer::<T>(Slot::KeypointMask).memory)
    }

    /// Reads a mask from there: as many pixels as `mask` has, from the first on.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where there is none.
    pub fn read_keypoint_mask<T: MaskSample>(&mut self, mask: &mut [T]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<u32>(Slot::KeypointMask).memory;
        self.device.download(memory, bytemuck::cast_slice_mut(mask))
    }

    /// Where in memory of the device the number of that image's corners is, a 32-bit word so many bytes behind its start. It is
    /// greater than [`GpuDetector::room_on_device`] where the list is not complete before [`GpuDetector::finish_on_device`].
    ///
    /// # Panics
    /// Where there was none.
    #[must_use]
    pub fn count_on_device(&self) -> (&D::Memory, usize) {
        (self.workspace.buffer::<u32>(Slot::State).memory, size_of::<u32>() * state::KEPT)
    }

    /// How many keypoints the memory has room for that has those of that image; 0 where there was none.
    #[must_use]
    pub fn room_on_device(&self) -> usize {
        self.room.as_ref().map_or(0, |room| room.kept)
    }

    /// Whether an image begun with [`GpuDetector::begin_on_device`] is looked at again by [`GpuDetector::finish_on_device`] where its list
    /// had no room, or its mask is.
    #[must_use]
    pub fn may_look_again(&self) -> bool {
        let masked_stages = |job: &Job<D>| job.walk.is_none() && job.shape.mask_pitch > 0;
        self.config.subpixel() != Subpixel::None || self.job.as_ref().is_some_and(masked_stages)
    }

    /// Leaves the responses of an image that is in the device's memory in another there, row after row without gaps, as 32-bit floats: see
    /// [`GpuDetector::responses_on_device`]. A mask has no part in it.
    ///
    /// # Errors
    /// As [`Detector::response`], but that samples are not looked at.
    pub fn respond_on_device(&mut self, image: Resident<D::Memory>) -> Result<(), Error> {
        self.in_stages = false;
        self.settle();
        self.check_size(image.width, image.height)?;
        let shape = Shape { mask_pitch: 0, ..Shape::resident(&image) };
        self.workspace.put(Slot::Image, image.memory, image.pitch * image.height);
        let responded = (self.device.mark(Mark::Uploaded))
            .and_then(|()| self.respond(&shape))
            .and_then(|()| self.device.mark(Mark::Listed));
        let waited = self.device.wait();
        self.workspace.take(Slot::Image);
        responded.and(waited)
    }

    /// The memory that has the responses of the image that [`GpuDetector::respond_on_device`] was last given, until the next image.
    ///
    /// # Panics
    /// Where there was none.
    #[must_use]
    pub fn responses_on_device(&self) -> &D::Memory {
        self.workspace.buffer::<f32>(Slot::Response).memory
    }

    /// Reads responses from there: as many as `map` has, from the first on.
    ///
    /// # Errors
    /// Where the device fails.
    ///
    /// # Panics
    /// Where there are none.
    pub fn read_responses(&mut self, map: &mut [f32]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<f32>(Slot::Response).memory;
        self.device.download(memory, bytemuck::cast_slice_mut(map))
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
        #[allow(clippy::redundant_closure_for_method_calls, reason = "the method is of one lifetime")]
        self.complete(|search, fetched, counts| search.read(fetched, counts))
    }

    /// Waits for what was begun, does again what had no room, and takes what is wanted of it.
    fn complete<T>(
        &mut self,
        take: impl FnOnce(&mut Search<'_, D>, &Fetched<D>, &[usize]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Job { shape, mut walk, in_stages, wanted, mut fetched } = self.job.take().expect("begun before");
        let finish = || {
            let Self { device, config, workspace, room, .. } = self;
            let room = room.as_mut().expect("made when it was begun");
            let mut search = Search::new(device, workspace, config, room, shape);
            loop {
                match (search.finish(&fetched)?, &mut walk) {
                    (Outcome::Found(counts), _) => return take(&mut search, &fetched, &counts),
                    (Outcome::WalkAgain, Some(pieces)) => {
                        (*pieces, fetched) = fused::find_again(&mut search, pieces, wanted)?;
                    }
                    (Outcome::ListAgain, Some(pieces)) => {
                        fetched = fused::list_by_merging(&mut search, pieces, wanted)?;
                    }
                    (_, None) => {
                        search.candidates()?;
                        fetched = search.list(wanted)?;
                    }
                }
            }
        };
        let finished = finish();
        self.in_stages = finished.is_ok() && in_stages;
        if finished.is_err() {
            let _ = self.device.wait();
        }
        self.let_go(&shape, wanted);
        finished
    }

    /// Forgets what was begun, when nothing reads its samples any more.
    fn settle(&mut self) {
        if let Some(job) = self.job.take() {
            // Whether it failed is not asked for any more.
            let _ = self.device.wait();
            self.let_go(&job.shape, job.wanted);
        }
    }

    /// Lets go of the image's memory, and of its mask's, where it is another's: nothing is brought there. It is where keypoints are not
    /// wanted here.
    fn let_go(&mut self, shape: &Shape, wanted: bool) {
        if !wanted {
            self.workspace.take(Slot::Image);
            if shape.mask_pitch > 0 {
                self.workspace.take(Slot::Mask);
            }
        }
    }

    fn check_size(&self, width: usize, height: usize) -> Result<(), Error> {
        self.config.check_size(width, height)?;
        Ok(GpuError::check_size(width, height)?)
    }
}

/// Fills the slot `Response` from the slot `Image`: in one walk, where there is a map that does, else stage by stage.
fn respond<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    shape: &Shape,
    map: Option<Map>,
) -> Result<(), Error> {
    match map {
        Some(map) => map.leave(device, workspace, config, shape, 0..shape.height as usize, false),
        None => staged::respond(device, workspace, config, shape),
    }
}

/// Waits for what was begun: it may read samples that are only lent.
impl<D: Device> Drop for GpuDetector<D> {
    fn drop(&mut self) {
        self.settle();
    }
}

impl<D: Device> Detector for GpuDetector<D> {
    fn detect(&mut self, image: &ImageView<'_>) -> Result<Vec<Keypoint>, Error> {
        self.begin_with(std::slice::from_ref(image), Pace::Hurried)?;
        let mut lists = self.finish()?;
        Ok(lists.pop().expect("a list for each image"))
    }

    fn detect_batch(&mut self, images: &[ImageView<'_>]) -> Result<Vec<Vec<Keypoint>>, Error> {
        let (mut images, mut lists) = (images, Vec::with_capacity(images.len()));
        while !images.is_empty() {
            let (now, later) = images.split_at(self.stack(images));
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
        self.settle();
        let responded = self.respond_to(image);
        if responded.is_err() {
            // What is under way still reads samples.
            let _ = self.device.wait();
        }
        responded?;
        self.read_responses(response::room(map, image))
    }

    fn describe(&self) -> String {
        self.device.describe()
    }
}
