//! From responses, or from the candidates of a fused walk, to the list of corners.

use harris_core::{Error, HarrisConfig, ImageView, Keypoint, Order, Samples, Subpixel, Threshold};
use harris_gpu_kernels::abi::{Kernel, order, state, threshold};

use crate::device::{Device, Mark};
use crate::launch::{self, grid};
use crate::upload;
use crate::workspace::{Slot, Workspace};

/// Blocks that reduce an image: enough to fill any GPU.
const REDUCING_BLOCKS: usize = 1024;

/// A threshold that needs no histogram, as kernels take it.
pub(crate) fn simple_threshold(config: &HarrisConfig) -> Option<(u32, f32)> {
    match config.threshold() {
        Threshold::Absolute(value) => Some((threshold::ABSOLUTE, value)),
        Threshold::None => Some((threshold::ABSOLUTE, 0.0)),
        Threshold::Relative(quality) => Some((threshold::RELATIVE, quality)),
        Threshold::Rosin { .. } => None,
    }
}

/// Rounds of decisions before the host looks whether any are left.
const ROUNDS: usize = 4;

/// The corners of the responses in the slot `Response`.
pub(crate) fn find<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    image: &ImageView<'_>,
) -> Result<Vec<Keypoint>, Error> {
    let mut search = Search::new(device, workspace, config, image);
    search.prepare(image)?;
    search.threshold()?;
    let found = search.candidates()?;
    search.device.mark(Mark::Searched)?;
    search.list(Slot::Keys, Slot::OtherKeys, found)
}

/// Sorts `count` keys and returns where they are, and the other slot.
pub(crate) fn sort<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    keys: Slot,
    other: Slot,
    count: usize,
) -> Result<(Slot, Slot), Error> {
    let (mut keys, mut other) = (keys, other);
    let chunks = count.div_ceil(order::CHUNK as usize) as u32;
    launch::sort_chunks(device, [chunks, 1], workspace.buffer(keys), count as u32)?;
    let mut run = order::CHUNK as usize;
    while run < count {
        let (from, to) = (workspace.buffer(keys), workspace.buffer(other));
        launch::merge(device, grid(Kernel::merge, count, 1), from, to, count as u32, run as u32)?;
        std::mem::swap(&mut keys, &mut other);
        run *= order::WAYS as usize;
    }
    Ok((keys, other))
}

/// What is done with an image once it is on the device.
pub(crate) struct Search<'a, D: Device> {
    pub(crate) device: &'a mut D,
    pub(crate) workspace: &'a mut Workspace<D>,
    pub(crate) config: &'a HarrisConfig,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) frame: u32,
    /// Samples from row to row of the slot `Image`.
    pub(crate) stride: u64,
    image: ImageView<'a>,
    masked: u32,
}

impl<'a, D: Device> Search<'a, D> {
    pub(crate) fn new(
        device: &'a mut D,
        workspace: &'a mut Workspace<D>,
        config: &'a HarrisConfig,
        image: &ImageView<'a>,
    ) -> Self {
        Self {
            width: image.width() as u32,
            height: image.height() as u32,
            frame: config.invalid_frame() as u32,
            stride: (image.width() * image.channels()) as u64,
            image: *image,
            masked: u32::from(image.mask().is_some()),
            device,
            workspace,
            config,
        }
    }

    pub(crate) fn pixels(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// As many corners as there are at most, or in most images: more are counted, and the work is done again.
    pub(crate) fn usual_corners(&self) -> usize {
        // They are more than the radius apart along a row or a column.
        let radius = self.config.suppression_radius();
        let most = |len: u32| (len as usize).div_ceil(radius.min(len as usize) + 1);
        (most(self.width) * most(self.height)).min(self.pixels() / 32 + 1024)
    }

    /// The margin as kernels take it.
    pub(crate) fn margin(&self) -> u32 {
        self.config.margin().min(self.pixels()) as u32
    }

    /// The mask and the state as they are to start with.
    fn prepare(&mut self, image: &ImageView<'_>) -> Result<(), Error> {
        upload::mask(self.device, self.workspace, image)?;
        self.workspace.fit::<u32>(self.device, Slot::State, state::WORDS)?;
        self.set_state(state::START)
    }

    pub(crate) fn set_state(&mut self, words: [u32; state::WORDS]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<u32>(Slot::State).memory;
        self.device.upload(memory, size_of_val(&words), [bytemuck::bytes_of(&words)].into_iter())
    }

    pub(crate) fn state(&mut self) -> Result<[u32; state::WORDS], Error> {
        let mut words = [0; state::WORDS];
        let memory = self.workspace.buffer::<u32>(Slot::State).memory;
        self.device.download(memory, bytemuck::bytes_of_mut(&mut words))?;
        Ok(words)
    }

    /// Leaves the threshold in the state.
    fn threshold(&mut self) -> Result<(), Error> {
        match self.config.threshold() {
            Threshold::Absolute(_) | Threshold::None => {}
            Threshold::Relative(_) => self.extent()?,
            Threshold::Rosin { bins } => {
                self.extent()?;
                return self.rosin(bins);
            }
        }
        let (kind, value) = simple_threshold(self.config).expect("Rosin's is handled above");
        launch::threshold(self.device, [1, 1], self.workspace.buffer(Slot::State), kind, value)
    }

    fn extent(&self) -> Result<(), Error> {
        let (response, mask) = (self.workspace.buffer(Slot::Response), self.workspace.buffer(Slot::Mask));
        let state = self.workspace.buffer(Slot::State);
        let grid = self.reducing_grid(Kernel::extent);
        launch::extent(
            self.device,
            grid,
            response,
            mask,
            state,
            self.width,
            self.height,
            self.frame,
            self.masked,
        )
    }

    fn rosin(&mut self, bins: u32) -> Result<(), Error> {
        self.workspace.fit::<u32>(self.device, Slot::Counts, bins as usize)?;
        let counts = self.workspace.buffer(Slot::Counts);
        self.device.clear(counts.memory, bins as usize)?;
        let (response, mask) = (self.workspace.buffer(Slot::Response), self.workspace.buffer(Slot::Mask));
        let state = self.workspace.buffer(Slot::State);
        launch::histogram(
            self.device,
            self.reducing_grid(Kernel::histogram),
            response,
            mask,
            state,
            counts,
            bins,
            self.width,
            self.height,
            self.frame,
            self.masked,
        )?;
        launch::rosin(self.device, [1, 1], state, counts, bins)
    }

    fn reducing_grid(&self, kernel: Kernel) -> [u32; 2] {
        let [blocks, rows] = grid(kernel, self.pixels(), 1);
        [blocks.min(REDUCING_BLOCKS as u32), rows]
    }

    /// Fills the slot `Keys` with all corners, in no order, and returns how many there are.
    fn candidates(&mut self) -> Result<usize, Error> {
        self.workspace.fit::<u64>(self.device, Slot::Keys, self.usual_corners())?;
        loop {
            let room = self.workspace.room::<u64>(Slot::Keys);
            launch::suppress(
                self.device,
                grid(Kernel::suppress, self.pixels(), 1),
                self.workspace.buffer(Slot::Response),
                self.workspace.buffer(Slot::Mask),
                self.workspace.buffer(Slot::State),
                self.workspace.buffer(Slot::Keys),
                room.min(u32::MAX as usize) as u32,
                self.width,
                self.height,
                self.frame,
                self.margin(),
                self.config.suppression_radius().min(self.pixels()) as u32,
                self.masked,
            )?;
            let mut words = self.state()?;
            let found = words[state::FOUND] as usize;
            if found <= room {
                return Ok(found);
            }
            // Now that they are counted they fit.
            words[state::FOUND] = 0;
            self.set_state(words)?;
            self.workspace.fit::<u64>(self.device, Slot::Keys, found)?;
        }
    }

    /// Sorts, selects and brings back the `found` corners in the slot `keys`; `other` may be written.
    pub(crate) fn list(&mut self, keys: Slot, other: Slot, found: usize) -> Result<Vec<Keypoint>, Error> {
        if found == 0 {
            self.device.mark(Mark::Listed)?;
            return Ok(Vec::new());
        }
        self.workspace.fit::<u64>(self.device, other, found)?;
        let (mut keys, mut other) = self.sort(keys, other, found)?;
        let mut count = found;
        // In integers: distances between pixels are squares of integers (docs/arithmetic.md, order and selection).
        let distance = f64::from(self.config.min_distance());
        let squared = (distance * distance).ceil();
        if squared > 1.0 {
            count = self.spread(keys, other, count, squared as u64)?;
            std::mem::swap(&mut keys, &mut other);
            (keys, other) = self.sort(keys, other, count)?;
        }
        count = count.min(self.config.max_corners().unwrap_or(usize::MAX));
        if self.config.order() == Order::Raster {
            self.turn(keys, other, count)?;
            (keys, other) = self.sort(other, keys, count)?;
            self.turn(keys, other, count)?;
            keys = other;
        }
        self.emit(keys, count)
    }

    fn sort(&self, keys: Slot, other: Slot, count: usize) -> Result<(Slot, Slot), Error> {
        sort(self.device, self.workspace, keys, other, count)
    }

    fn turn(&self, from: Slot, to: Slot, count: usize) -> Result<(), Error> {
        let (from, to) = (self.workspace.buffer(from), self.workspace.buffer(to));
        launch::turn(self.device, grid(Kernel::turn, count, 1), from, to, count as u32)
    }

    /// Puts those of `count` sorted corners that are far enough from all that are kept before into `to`, in no order.
    fn spread(&mut self, keys: Slot, to: Slot, count: usize, squared: u64) -> Result<usize, Error> {
        for slot in [Slot::Cells, Slot::OtherCells] {
            self.workspace.fit::<u64>(self.device, slot, count)?;
        }
        self.workspace.fit::<u32>(self.device, Slot::Decisions, count)?;
        // Cells as long as the distance: what is nearer lies in the cells around. One cell where it is longer than the image.
        let longest = f64::from(self.width.max(self.height));
        let side = (squared as f64).sqrt().ceil().clamp(1.0, longest) as u32;
        let (columns, rows) = (self.width.div_ceil(side), self.height.div_ceil(side));
        let (width, n) = (self.width, count as u32);
        launch::file(
            self.device,
            grid(Kernel::file, count, 1),
            self.workspace.buffer(keys),
            self.workspace.buffer(Slot::Cells),
            n,
            width,
            side,
            columns,
        )?;
        let (cells, _) = self.sort(Slot::Cells, Slot::OtherCells, count)?;
        self.device.clear(self.workspace.buffer::<u32>(Slot::Decisions).memory, count)?;
        let mut words = self.state()?;
        loop {
            // The last round alone tells whether any are left: each of the others counts from where it found the count.
            for _ in 0..ROUNDS {
                words[state::OPEN] = 0;
                self.set_state(words)?;
                launch::spread(
                    self.device,
                    grid(Kernel::spread, count, 1),
                    self.workspace.buffer(keys),
                    self.workspace.buffer(cells),
                    self.workspace.buffer(Slot::Decisions),
                    self.workspace.buffer(Slot::State),
                    n,
                    width,
                    side,
                    columns,
                    rows,
                    squared,
                )?;
            }
            words = self.state()?;
            if words[state::OPEN] == 0 {
                break;
            }
        }
        words[state::KEPT] = 0;
        self.set_state(words)?;
        launch::keep(
            self.device,
            grid(Kernel::keep, count, 1),
            self.workspace.buffer(keys),
            self.workspace.buffer(to),
            self.workspace.buffer(Slot::Decisions),
            self.workspace.buffer(Slot::State),
            n,
        )?;
        Ok(self.state()?[state::KEPT] as usize)
    }

    fn emit(&mut self, keys: Slot, count: usize) -> Result<Vec<Keypoint>, Error> {
        self.workspace.fit::<f32>(self.device, Slot::Keypoints, 4 * count)?;
        // Not read where corners stay at pixel centres, but an argument all the same.
        self.workspace.fit::<f32>(self.device, Slot::Response, 1)?;
        let keypoints = self.workspace.buffer(Slot::Keypoints);
        launch::emit(
            self.device,
            grid(Kernel::emit, count, 1),
            self.workspace.buffer(keys),
            self.workspace.buffer(Slot::Response),
            keypoints,
            count as u32,
            self.width,
            self.height,
            self.frame,
            u32::from(self.config.subpixel() == Subpixel::Quadratic),
        )?;
        if let Subpixel::Forstner { radius } = self.config.subpixel() {
            self.refine(count as u32, radius)?;
        }
        self.device.mark(Mark::Listed)?;
        let mut words = vec![[0_f32; 4]; count];
        self.device.download(keypoints.memory, bytemuck::cast_slice_mut(&mut words))?;
        Ok(words.into_iter().map(|[x, y, scale, response]| Keypoint { x, y, scale, response }).collect())
    }
    fn refine(&self, count: u32, radius: u32) -> Result<(), Error> {
        let keypoints = self.workspace.buffer(Slot::Keypoints);
        let (width, height, channels) = (self.width, self.height, self.image.channels() as u32);
        macro_rules! refine {
            ($kernel:ident) => {{
                let (grid, image) =
                    (grid(Kernel::$kernel, count as usize, 1), self.workspace.buffer(Slot::Image));
                let stride = self.stride;
                launch::$kernel(
                    self.device,
                    grid,
                    image,
                    keypoints,
                    count,
                    width,
                    height,
                    channels,
                    stride,
                    radius,
                )
            }};
        }
        match self.image.samples() {
            Samples::U8(_) => refine!(refine_u8),
            Samples::U16(_) => refine!(refine_u16),
            Samples::F32(_) => refine!(refine_f32),
        }
    }
}
