//! From responses, or from the candidates of a fused walk, to the list of corners.

use harris_core::config::FORSTNER_RADII;
use harris_core::{Error, HarrisConfig, ImageView, Keypoint, Order, Plateau, Subpixel, Threshold};
use harris_gpu_kernels::abi::{Kernel, bins, order, plateau, refine, state, threshold};
use harris_gpu_kernels::simt;

use crate::device::{Buffer, Depth, Device, Lines, Mark, Rows};
use crate::launch::{self, grid};
use crate::lists::{Lists, Sorting};
use crate::room::{Room, Shape};
use crate::staged::runs;
use crate::workspace::{Slot, Workspace};

const WARP: usize = simt::WARP as usize;

/// Bytes of a keypoint as kernels write it, and of an image's state.
const KEYPOINT: usize = size_of::<[f32; 4]>();
const STATE: usize = size_of::<[u32; state::WORDS]>();

/// Words to which blocks add what they have counted of Rosin's bins: the fewer bins, the more copies of them, as what is added in one place
/// is added one after the other.
const COUNTED_AT_ONCE: u32 = 1024;

/// Keys that a bin has room for.
const KEYS_OF_BIN: usize = bins::ROOM as usize;

/// The most keys that all bins together have room for: 128 MiB of memory. Stacks of very many small images are sorted by counting.
const MOST_BINNED: usize = 16 << 20;

/// A threshold as kernels take it that look at candidates: one by a histogram is in the state.
pub(crate) fn threshold_of(config: &HarrisConfig) -> (u32, f64) {
    simple_threshold(config).unwrap_or((threshold::KNOWN, 0.0))
}

/// A threshold that needs no histogram, as kernels take it.
pub(crate) fn simple_threshold(config: &HarrisConfig) -> Option<(u32, f64)> {
    match config.threshold() {
        Threshold::Absolute(value) => Some((threshold::ABSOLUTE, value.into())),
        Threshold::None => Some((threshold::ABSOLUTE, 0.0)),
        Threshold::Relative(quality) => Some((threshold::RELATIVE, quality)),
        Threshold::Rosin { .. } => None,
    }
}

/// The threshold as kernels take it that only need a bound: its factor is the greatest float that is not more than it, so
/// that its product with a response, rounded, is not more than the threshold either.
pub(crate) fn bound_of(config: &HarrisConfig) -> (u32, f32) {
    let (kind, value) = threshold_of(config);
    let nearest = value as f32;
    (kind, if f64::from(nearest) > value { nearest.next_down() } else { nearest })
}

/// The plateau rule as kernels take it.
pub(crate) fn plateau_of(config: &HarrisConfig) -> u32 {
    match config.plateau() {
        Plateau::First => plateau::FIRST,
        Plateau::All => plateau::ALL,
    }
}

/// The most corners along a line of so many pixels, where a walk suppresses within a radius: they are farther apart than
/// that, unless all of a plateau stay.
pub(crate) fn most_in_line(len: usize, config: &HarrisConfig, radius: usize) -> usize {
    match config.plateau() {
        Plateau::First => len.div_ceil(radius.min(len) + 1),
        Plateau::All => len,
    }
}

/// The most keypoints that an image is expected to have where kernels write them to the host's memory: more are quicker copied, and do not
/// hold up what comes to the device. And the most that there is room for in that memory, for all that an image could have.
const MOST_RETURNED: usize = 1 << 15;
const MOST_ROOM: usize = 1 << 20;

/// Warps for each multiprocessor that place corners between pixels.
const REFINED_AT_ONCE: u32 = 32;
const _: () = assert!(refine::MOST_RADIUS == *FORSTNER_RADII.end());

/// Shares of a list for each multiprocessor, and how many corners one has at least: each of its block's warps has one at a time.
const SHARES: usize = 64;
const LEAST_SHARE: usize = 8;

/// What was asked for and is on its way.
#[derive(Debug)]
pub(crate) struct Fetched<D: Device> {
    states: D::Fetched,
    /// Of each image as many as there is room for, or of a single one the first so many; none where that is too early, or where they
    /// stay on the device.
    keypoints: Option<(D::Fetched, usize)>,
}

impl<D: Device> Clone for Fetched<D> {
    fn clone(&self) -> Self {
        Self { states: self.states.clone(), keypoints: self.keypoints.clone() }
    }
}

/// What has come of work on images.
pub(crate) enum Outcome {
    /// How many keypoints each image has in the slot `Keypoints`.
    Found(Vec<usize>),
    /// Lists did not fit, and are to be made again, with the room that is now known.
    ListAgain,
    /// What was foretold did not hold, and the image is to be looked at again.
    WalkAgain,
}

/// What is to be far enough apart.
#[derive(Clone, Copy)]
enum Apart {
    /// Pixels, whose squared distances are integers.
    Pixels { squared: u64 },
    /// Places in the slot `Keypoints` to which pixels were moved within a radius, of the first so many corners.
    Places { distance: f64, radius: u32, limit: u32 },
}

/// What is done with images once they are on the device.
pub(crate) struct Search<'a, D: Device> {
    pub(crate) device: &'a mut D,
    pub(crate) workspace: &'a mut Workspace<D>,
    pub(crate) config: &'a HarrisConfig,
    pub(crate) room: &'a mut Room,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) images: usize,
    /// Widths of the frame that is not valid, before and behind: the same but for windows that have no centre.
    pub(crate) frame: [u32; 2],
    /// Samples from row to row of the slot `Image`.
    pub(crate) stride: u64,
    pub(crate) shape: Shape,
}

impl<'a, D: Device> Search<'a, D> {
    pub(crate) fn new(
        device: &'a mut D,
        workspace: &'a mut Workspace<D>,
        config: &'a HarrisConfig,
        room: &'a mut Room,
        shape: Shape,
    ) -> Self {
        Self {
            width: shape.width,
            height: shape.height,
            images: shape.images,
            frame: config.invalid_frame().map(|width| width as u32),
            stride: shape.stride as u64,
            shape,
            room,
            device,
            workspace,
            config,
        }
    }

    pub(crate) fn pixels(&self) -> usize {
        self.shape.pixels()
    }

    /// The margin as kernels take it.
    pub(crate) fn margin(&self) -> u32 {
        self.config.margin().min(self.pixels()) as u32
    }

    /// The number of bins by which candidates of a fused walk become sorted lists.
    pub(crate) fn bins(&self) -> Option<usize> {
        let bins = self.room.bins();
        (bins * KEYS_OF_BIN * self.images <= MOST_BINNED).then_some(bins)
    }

    /// Whether lists are done when they are sorted once.
    fn is_sorted_once(&self) -> bool {
        let is_whole = self.config.order() == Order::Response || self.config.max_corners().is_none();
        is_whole && !self.takes_out()
    }

    /// Where the words that count bins begin in the slot `State`, behind the states.
    fn tables(&self) -> usize {
        state::WORDS * self.images
    }

    /// Words from where they begin that count an image's bins: none where it has none.
    fn counters(&self) -> u32 {
        self.bins().map_or(0, |bins| bins::counters(bins as u32))
    }

    /// What walks set to zero of the slot `State`: from where on, and how many words of each image.
    pub(crate) fn tables_and_counters(&self) -> (u32, u32) {
        (self.tables() as u32, self.counters())
    }

    /// The states as they are to start with, and room for what counts bins. The walk sets these to zero: to clear so few words before it
    /// takes the device less time.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        self.workspace.clean_states = 0;
        let words = self.tables() + self.counters() as usize * self.images;
        self.workspace.fit::<u32>(self.device, Slot::State, words)?;
        self.device.clear(self.workspace.buffer::<u32>(Slot::State).memory, self.tables())
    }

    /// The same for a walk, where the last one did not leave them so; what it may have foretold is as good where this one `foretells`, too:
    /// then the image stays.
    pub(crate) fn clear_for_walk(&mut self, foretells: bool) -> Result<(), Error> {
        let words = self.tables() + self.counters() as usize * self.images;
        let fits = self.workspace.room::<u32>(Slot::State) >= words;
        let clean = std::mem::take(&mut self.workspace.clean_states);
        let suits = foretells || !self.workspace.foretold;
        // What bins leave has the length of their list, which they only write.
        if fits && suits && clean >= self.images && self.bins().is_some() { Ok(()) } else { self.clear() }
    }

    /// To be called when lists were asked for that leave the states as walks need them.
    pub(crate) fn leave_states(&mut self, foretells: bool) {
        if self.bins().is_some() {
            (self.workspace.clean_states, self.workspace.foretold) = (self.images, foretells);
        }
    }

    /// Searches the responses in the slot `Response`, where the slot `Mask` says. The states are clear.
    pub(crate) fn start(&mut self) -> Result<(), Error> {
        self.threshold()?;
        self.candidates()?;
        self.device.mark(Mark::Searched)
    }

    fn set_states(&mut self, states: &[[u32; state::WORDS]]) -> Result<(), Error> {
        self.workspace.clean_states = 0;
        let memory = self.workspace.buffer::<u32>(Slot::State).memory;
        self.device.upload(memory, Rows::copied(&Lines::words(states), 1))
    }

    /// Leaves the threshold in the state.
    fn threshold(&mut self) -> Result<(), Error> {
        match self.config.threshold() {
            Threshold::Absolute(_) | Threshold::None => {}
            Threshold::Relative(_) => self.extent()?,
            Threshold::Rosin { bins } => return self.rosin(bins, false),
        }
        let (kind, value) = simple_threshold(self.config).expect("Rosin's is handled above");
        launch::threshold(self.device, [1, 1], self.workspace.buffer(Slot::State), kind, value)
    }

    fn extent(&self) -> Result<(), Error> {
        let (response, (mask, mask_pitch)) = (self.workspace.buffer(Slot::Response), self.mask());
        let state = self.workspace.buffer(Slot::State);
        let (grid, rows) = self.runs();
        launch::extent(
            self.device,
            grid,
            response,
            mask,
            state,
            self.width,
            self.height,
            rows,
            self.frame[0],
            self.frame[1],
            mask_pitch,
        )
    }

    /// The same by a histogram, of responses whose extent may be in the state already.
    pub(crate) fn rosin(&mut self, bins: u32, has_extent: bool) -> Result<(), Error> {
        if !has_extent {
            self.extent()?;
        }
        let copies = (COUNTED_AT_ONCE / bins).max(1);
        let words = (copies * bins) as usize;
        self.workspace.fit::<u32>(self.device, Slot::Counts, words)?;
        let counts = self.workspace.buffer(Slot::Counts);
        self.device.clear(counts.memory, words)?;
        let (response, (mask, mask_pitch)) = (self.workspace.buffer(Slot::Response), self.mask());
        let state = self.workspace.buffer(Slot::State);
        let (grid, rows) = self.runs();
        launch::histogram(
            self.device,
            grid,
            response,
            mask,
            state,
            counts,
            bins,
            copies,
            self.width,
            self.height,
            rows,
            self.frame[0],
            self.frame[1],
            mask_pitch,
        )?;
        launch::rosin(self.device, [1, 1], state, counts, bins, copies)
    }

    /// The mask as kernels take it.
    fn mask(&self) -> (Buffer<'_, D::Memory, u8>, u32) {
        self.workspace.mask(self.shape.mask_pitch)
    }

    fn runs(&self) -> ([u32; 2], u32) {
        runs(self.device, (self.width, self.height), 1)
    }

    /// Fills the slot `Keys` with all corners, in no order.
    pub(crate) fn candidates(&mut self) -> Result<(), Error> {
        self.workspace.fit::<u64>(self.device, Slot::Keys, self.room.kept)?;
        let (grid, rows) = self.runs();
        let (mask, mask_pitch) = self.mask();
        launch::suppress(
            self.device,
            grid,
            self.workspace.buffer(Slot::Response),
            mask,
            self.workspace.buffer(Slot::State),
            self.workspace.buffer(Slot::Keys),
            self.room.kept as u32,
            self.width,
            self.height,
            rows,
            self.frame[0],
            self.frame[1],
            self.margin(),
            self.config.suppression_radius().min(self.pixels()) as u32,
            plateau_of(self.config),
            mask_pitch,
        )
    }

    /// Whether corners that are too near to others are taken out of lists.
    fn takes_out(&self) -> bool {
        self.squared_distance().is_some() || self.config.merges_places()
    }

    /// The square of the least distance in integers, where there is one: distances between pixels are squares of integers
    /// (docs/arithmetic.md, order and selection).
    fn squared_distance(&self) -> Option<u64> {
        let distance = self.config.min_distance();
        let squared = (distance * distance).ceil();
        (squared > 1.0).then_some(squared as u64)
    }

    /// All keys of the lists, or the first `most`.
    fn lists(&self, most: Option<usize>) -> Lists {
        Lists { count: self.images, pitch: self.room.kept, most: most.unwrap_or(self.room.kept) }
    }

    fn sort(&mut self, keys: (Slot, Slot), lists: Lists, sorting: Sorting) -> Result<(Slot, Slot), Error> {
        let keys = lists.sort(self.device, self.workspace, keys, sorting)?;
        if self.room.is_crowded() && sorting == self.first_sorting() {
            self.divide(keys.0, sorting)?;
        }
        Ok(keys)
    }

    /// What lists are sorted by at first.
    fn first_sorting(&self) -> Sorting {
        let by_rows = self.is_sorted_once() && self.config.order() == Order::Raster;
        if by_rows { Sorting::ByRows } else { Sorting::ByResponse(self.config.ties()) }
    }

    /// Leaves keys that divide the bins of images like these evenly.
    fn divide(&mut self, keys: Slot, sorting: Sorting) -> Result<(), Error> {
        let most = bins::MOST as usize;
        self.room.divided = 0;
        self.workspace.fit::<u64>(self.device, Slot::Dividers, most * self.images)?;
        launch::divide(
            self.device,
            grid(Kernel::divide, most, self.images),
            self.workspace.buffer(keys),
            self.workspace.buffer(Slot::Dividers),
            self.workspace.buffer(Slot::State),
            self.room.kept as u32,
            sorting.as_number(),
        )?;
        self.room.divided = self.images;
        Ok(())
    }

    /// Sorts and selects what is in the slot `Keys`, and fetches the lists' lengths and, where `wanted`, the lists.
    pub(crate) fn list(&mut self, wanted: bool) -> Result<Fetched<D>, Error> {
        self.fit_keys()?;
        let sorting = self.first_sorting();
        let keys = self.sort((Slot::Keys, Slot::OtherKeys), self.lists(None), sorting)?;
        self.select(keys, sorting, None)?;
        let keypoints = if wanted { Some(self.fetch()?) } else { None };
        Ok(Fetched { states: self.fetch_states()?, keypoints })
    }

    /// The same from the candidates of `pieces` pieces of each image, which have `room` for so many, by way of bins.
    /// Where this `foretells` the greatest response of the next one, the image is there until it is known whether that holds.
    pub(crate) fn list_by_bins(
        &mut self,
        bins: usize,
        (pieces, room): (usize, usize),
        foretells: bool,
        wanted: bool,
    ) -> Result<Fetched<D>, Error> {
        let images = self.images;
        self.workspace.fit::<u64>(self.device, Slot::Bins, bins * KEYS_OF_BIN * images)?;
        // What places corners by the responses around them takes keys, too.
        let once = self.is_sorted_once() && self.config.subpixel() != Subpixel::Quadratic;
        let first = self.lists(if once { self.config.max_corners() } else { None });
        let few = (images > 1 || self.room.usual() <= MOST_RETURNED) && first.pitch * images <= MOST_ROOM;
        // Straight to the host, unless they are to be read again.
        let returned = if wanted && few && once && self.config.subpixel() == Subpixel::None {
            let (memory, fetched) = self.device.returned(KEYPOINT * first.pitch * images)?;
            Some((memory, (fetched, first.pitch)))
        } else {
            self.fit_keypoints()?;
            None
        };
        if once {
            // Not written then, but an argument all the same.
            self.workspace.fit::<u64>(self.device, Slot::Keys, 1)?;
        } else {
            self.fit_keys()?;
        }
        let (report, states) = self.device.returned(STATE * images)?;
        let (keys, state) = (self.workspace.buffer(Slot::Bins), self.workspace.buffer(Slot::State));
        let (threshold, value) = threshold_of(self.config);
        let sorting = self.first_sorting();
        let tables = self.tables() as u32;
        let is_divided = self.room.is_divided(images);
        let every = if is_divided { bins::MOST / bins as u32 } else { 0 };
        // Not read else, but an argument all the same.
        let dividers = self.workspace.buffer(if is_divided { Slot::Dividers } else { Slot::Bins });
        launch::scatter(
            self.device,
            grid(Kernel::scatter, pieces * bins::SHARE as usize * WARP, images),
            self.workspace.buffer(Slot::Candidates),
            self.workspace.buffer(Slot::Counts),
            keys,
            state,
            dividers,
            pieces as u32,
            room as u32,
            tables,
            bins as u32,
            every,
            threshold,
            value,
            sorting.as_number(),
            self.pixels() as u32,
        )?;
        let most = first.most.min(first.pitch) as u32;
        let keypoints = match &returned {
            Some((memory, _)) => Buffer::new(memory),
            None => self.workspace.buffer(Slot::Keypoints),
        };
        launch::gather(
            self.device,
            grid(Kernel::gather, bins / bins::EACH as usize * WARP, images),
            keys,
            self.workspace.buffer(Slot::Keys),
            keypoints,
            state,
            Buffer::new(&report),
            tables,
            bins as u32,
            sorting.as_number(),
            first.pitch as u32,
            most,
            self.width,
            u32::from(!once),
            u32::from(foretells),
        )?;
        if once {
            self.refine_all(most)?;
        } else {
            self.select((Slot::Keys, Slot::OtherKeys), sorting, Some(&report))?;
        }
        let keypoints = match returned {
            Some((_, fetched)) => Some(fetched),
            None if wanted => Some(self.fetch()?),
            None => None,
        };
        Ok(Fetched { states, keypoints })
    }

    fn fit_keys(&mut self) -> Result<(), Error> {
        for slot in [Slot::Keys, Slot::OtherKeys] {
            self.workspace.fit::<u64>(self.device, slot, self.room.kept * self.images)?;
        }
        Ok(())
    }

    fn fetch_states(&mut self) -> Result<D::Fetched, Error> {
        let states = self.workspace.buffer::<u32>(Slot::State).memory;
        self.device.fetch(states, STATE * self.images)
    }

    fn fit_keypoints(&mut self) -> Result<(), Error> {
        // More of them are fetched than there are.
        let words = 4 * self.room.kept * self.images;
        self.workspace.fit_cleared::<f32>(self.device, Slot::Keypoints, words).map(drop)
    }

    /// Waits for the lists.
    pub(crate) fn finish(&mut self, fetched: &Fetched<D>) -> Result<Outcome, Error> {
        self.device.wait()?;
        let mut states: Vec<[u32; state::WORDS]> = words(&self.device.fetched(&fetched.states));
        if let Some(image) = states.iter().position(|state| state[state::INVALID] != 0) {
            self.check_samples(image)?;
        }
        let holds = |state: &[u32; state::WORDS]| {
            state[state::FORETOLD] == 0 || state[state::GREATEST] > state[state::FORETOLD]
        };
        if !states.iter().all(holds) {
            return Ok(Outcome::WalkAgain);
        }
        if self.room.grow(&states) {
            for state in &mut states {
                (state[state::KEPT], state[state::CROWDED]) = (0, 0);
            }
            self.set_states(&states)?;
            return Ok(Outcome::ListAgain);
        }
        let most = self.config.max_corners().unwrap_or(usize::MAX);
        let counts: Vec<_> = states.iter().map(|state| (state[state::KEPT] as usize).min(most)).collect();
        self.room.last = counts.iter().copied().max().unwrap_or(0);
        let word = if self.takes_out() { state::ALL } else { state::KEPT };
        self.room.sorted = states.iter().map(|state| state[word] as usize).max().unwrap_or(0);
        Ok(Outcome::Found(counts))
    }

    /// Looks for the sample that a kernel found in an image of floats and that is no number for it.
    fn check_samples(&mut self, image: usize) -> Result<(), Error> {
        let Shape { width, height, channels, stride, .. } = self.shape;
        let bytes = self.shape.bytes();
        let memory = self.workspace.buffer::<u8>(Slot::Image).memory;
        let fetched = self.device.fetch(memory, bytes * (image + 1))?;
        self.device.wait()?;
        let samples: Vec<f32> = words(&self.device.fetched(&fetched)[bytes * image..]);
        let (width, height, channels) = (width as usize, height as usize, channels as usize);
        ImageView::strided(&samples, width, height, channels, stride)?.check_samples()
    }

    /// The keypoints of each image, when it is known how many there are.
    pub(crate) fn read(
        &mut self,
        fetched: &Fetched<D>,
        counts: &[usize],
    ) -> Result<Vec<Vec<Keypoint>>, Error> {
        match &fetched.keypoints {
            Some((keypoints, each)) if counts.len() > 1 || counts[0] <= *each => {
                let lists = self.device.fetched(keypoints);
                let read = |(list, count): (&[u8], &usize)| read(&list[..KEYPOINT * count]);
                Ok(lists.chunks(KEYPOINT * each).zip(counts).map(read).collect())
            }
            _ => {
                let mut bytes = vec![0; KEYPOINT * counts[0]];
                self.device.download(self.workspace.buffer::<f32>(Slot::Keypoints).memory, &mut bytes)?;
                Ok(vec![read(&bytes)])
            }
        }
    }

    /// Puts those of the corners, sorted by response, that are far enough from all that are kept before into the other slot, in their
    /// order; tells how many they are, also in a report.
    fn spread(
        &mut self,
        (keys, to): (Slot, Slot),
        apart: Apart,
        report: Option<&D::Memory>,
    ) -> Result<(), Error> {
        // Cells as long as pixels that are too near may be apart: they lie in the cells around. One cell where that is longer than the
        // image.
        let longest = self.width.max(self.height);
        let distance = match apart {
            Apart::Pixels { squared } => (squared as f64).sqrt(),
            Apart::Places { distance, radius, .. } => distance + 2.0 * f64::from(radius),
        };
        let side = distance.ceil().clamp(1.0, longest.into()) as u32;
        let (columns, rows) = (self.width.div_ceil(side), self.height.div_ceil(side));
        let most = self.room.kept;
        let in_line = most_in_line(side as usize, self.config, self.config.suppression_radius());
        let room = (in_line * in_line).min(most);
        let cells = columns as usize * rows as usize;
        let most_shares = SHARES * self.device.multiprocessors() as usize;
        let parts = most.div_ceil(LEAST_SHARE).min(most_shares).next_multiple_of(order::COUNTED as usize);
        self.workspace.fit::<u64>(self.device, Slot::Cells, cells * room)?;
        self.workspace.fit::<u32>(self.device, Slot::Filed, cells)?;
        self.workspace.fit::<u32>(self.device, Slot::Decisions, most)?;
        self.workspace.fit::<u32>(self.device, Slot::Shares, 1 + parts / order::COUNTED as usize)?;
        let (device, workspace) = (&*self.device, &*self.workspace);
        let (state, decisions) = (workspace.buffer(Slot::State), workspace.buffer(Slot::Decisions));
        let (filed, shares) = (workspace.buffer(Slot::Filed), workspace.buffer(Slot::Shares));
        let (width, most, parts, room) = (self.width, most as u32, parts as u32, room as u32);
        let (limit, is_first) = match apart {
            Apart::Pixels { .. } => (u32::MAX, true),
            Apart::Places { limit, .. } => (limit, self.squared_distance().is_none()),
        };
        device.clear(filed.memory, cells)?;
        launch::file(
            device,
            grid(Kernel::file, most as usize, 1),
            workspace.buffer(keys),
            workspace.buffer(Slot::Cells),
            filed,
            decisions,
            shares,
            state,
            most,
            parts,
            width,
            side,
            columns,
            room,
            limit,
            is_first.into(),
        )?;
        let (listed, cells) = (workspace.buffer(keys), workspace.buffer(Slot::Cells));
        match apart {
            Apart::Pixels { squared } => launch::spread(
                device,
                [parts, 1],
                listed,
                cells,
                filed,
                decisions,
                shares,
                state,
                most,
                parts,
                width,
                side,
                columns,
                rows,
                room,
                squared,
            )?,
            Apart::Places { distance, .. } => launch::spread_places(
                device,
                [parts, 1],
                listed,
                workspace.buffer(Slot::Keypoints),
                cells,
                filed,
                decisions,
                shares,
                state,
                most,
                parts,
                width,
                side,
                columns,
                rows,
                room,
                distance * distance,
            )?,
        }
        launch::keep(
            device,
            grid(Kernel::keep, (parts / order::COUNTED) as usize * WARP, 1),
            workspace.buffer(keys),
            workspace.buffer(to),
            decisions,
            shares,
            state,
            report.map_or(state, Buffer::new),
            most,
            parts,
        )
    }

    /// Fills the slot `Keypoints` from keys as they are first sorted.
    fn select(
        &mut self,
        mut keys: (Slot, Slot),
        sorting: Sorting,
        report: Option<&D::Memory>,
    ) -> Result<(), Error> {
        let first = self.lists(self.config.max_corners());
        if let Some(squared) = self.squared_distance() {
            self.spread(keys, Apart::Pixels { squared }, report)?;
            keys = (keys.1, keys.0);
        }
        let most = first.most.min(first.pitch) as u32;
        match self.config.subpixel() {
            Subpixel::Forstner { radius } if self.config.merges_places() => {
                // Places are made to be compared, and again of those that stay, in the order of the list.
                self.emit(keys.0, first)?;
                self.refine(most, radius)?;
                let apart = Apart::Places { distance: self.config.min_distance(), radius, limit: most };
                self.spread(keys, apart, report)?;
                keys = (keys.1, keys.0);
            }
            Subpixel::None | Subpixel::Quadratic | Subpixel::Forstner { .. } => {}
        }
        if self.config.order() == Order::Raster && sorting != Sorting::ByRows {
            keys = self.sort(keys, first, Sorting::ByRows)?;
        }
        self.emit(keys.0, first)?;
        self.refine_all(most)
    }

    /// Fills the slot `Keypoints` from sorted keys.
    fn emit(&mut self, keys: Slot, first: Lists) -> Result<(), Error> {
        self.fit_keypoints()?;
        // Not read where corners stay at pixel centres, but an argument all the same.
        self.workspace.fit::<f32>(self.device, Slot::Response, 1)?;
        let most = first.most.min(first.pitch) as u32;
        launch::emit(
            self.device,
            first.grid(Kernel::emit, 1),
            self.workspace.buffer(keys),
            self.workspace.buffer(Slot::Response),
            self.workspace.buffer(Slot::Keypoints),
            self.workspace.buffer(Slot::State),
            self.room.kept as u32,
            most,
            self.width,
            self.height,
            self.frame[0],
            self.frame[1],
            u32::from(self.config.subpixel() == Subpixel::Quadratic),
        )
    }

    /// Refines the keypoints where that is asked for: they are then what is returned.
    fn refine_all(&mut self, most: u32) -> Result<(), Error> {
        if let Subpixel::Forstner { radius } = self.config.subpixel() {
            self.refine(most, radius)?;
        }
        self.device.mark(Mark::Listed)
    }

    /// Fetches as many keypoints as are expected of each image.
    fn fetch(&mut self) -> Result<(D::Fetched, usize), Error> {
        let each = if self.images == 1 { self.room.usual().min(self.room.kept) } else { self.room.kept };
        let bytes = KEYPOINT * each * self.images;
        let keypoints = self.workspace.buffer::<f32>(Slot::Keypoints).memory;
        Ok((self.device.fetch(keypoints, bytes)?, each))
    }

    fn refine(&self, most: u32, radius: u32) -> Result<(), Error> {
        let keypoints = self.workspace.buffer(Slot::Keypoints);
        let (width, height, channels) = (self.width, self.height, self.shape.channels);
        let grid = [most.clamp(1, REFINED_AT_ONCE * self.device.multiprocessors()), 1];
        macro_rules! refine {
            ($kernel:ident) => {{
                let image = self.workspace.buffer(Slot::Image);
                let stride = self.stride;
                launch::$kernel(
                    self.device,
                    grid,
                    image,
                    keypoints,
                    self.workspace.buffer(Slot::State),
                    most,
                    width,
                    height,
                    channels,
                    stride,
                    radius,
                )
            }};
        }
        match self.shape.depth {
            Depth::U8 => refine!(refine_u8),
            Depth::U16 => refine!(refine_u16),
            Depth::F32 => refine!(refine_f32),
        }
    }
}

/// Keypoints as kernels write them.
fn read(bytes: &[u8]) -> Vec<Keypoint> {
    let keypoint = |bytes: &[u8]| {
        let [x, y, scale, response]: [f32; 4] = bytemuck::pod_read_unaligned(bytes);
        Keypoint { x, y, scale, response }
    };
    bytes.chunks_exact(KEYPOINT).map(keypoint).collect()
}

/// Bytes, wherever they start, as words.
fn words<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    let mut words = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    bytemuck::cast_slice_mut(&mut words).copy_from_slice(bytes);
    words
}
