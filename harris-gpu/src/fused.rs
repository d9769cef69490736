//! From samples to the list of corners in one walk.

use std::ops::Range;

use harris_core::{
    Error, Gradient, HarrisConfig, ImageView, MAX_SAMPLE, Measure, Smoothing, Subpixel, Threshold, Window,
};
use harris_gpu_kernels::abi::{Kernel, fused, gradient, plateau, threshold};
use harris_gpu_kernels::simt;

use crate::corners::{Fetched, Search, bound_of, most_in_line, plateau_of, simple_threshold, threshold_of};
use crate::device::{Buffer, Depth, Device, Lines, Mark, Rows};
use crate::launch;
use crate::maps::Map;
use crate::pieces::{LEAST_ROWS, Lengths, Walk};
use crate::recordings::{Key, Recordings};
use crate::rim::Rim;
use crate::room::Shape;
use crate::staged::{gradient_of, measure_of, weights};
use crate::workspace::{Slot, Workspace};

const WARP: usize = simt::WARP as usize;

/// The walk over images under a configuration, or among their responses where another leaves these, where there is one.
pub(crate) fn walk(shape: &Shape, config: &HarrisConfig) -> Option<Walk> {
    let walk = walk_on_samples(shape, config).or_else(|| walk_in_map(shape, config))?;
    if needs_map(config, walk) {
        Map::of(shape, config)?;
    }
    Some(walk)
}

/// That which computes the responses that it compares.
fn walk_on_samples(shape: &Shape, config: &HarrisConfig) -> Option<Walk> {
    simple_threshold(config)?;
    let Front { samples, gradient, window } = Front::new(shape, config)?;
    let of = |radius: usize| {
        let kernel = Kernel::fused(samples, window, u32::try_from(radius).ok()?)?;
        suited(shape, Walk { radius, ..Walk::new(kernel, gradient, config) })
    };
    let radius = config.suppression_radius();
    // What others are as near is seen by a walk in a map.
    let is_far = radius > fused::MOST_RADIUS_IN_MAP;
    of(radius).or_else(|| if is_far { of(fused::MOST_RADIUS) } else { None })
}

/// The walk that leaves responses, where there is one.
pub(crate) fn walk_of_map(shape: &Shape, config: &HarrisConfig) -> Option<Walk> {
    let Front { samples, gradient, window } = Front::new(shape, config)?;
    let kernel = Kernel::fused(samples, window, fused::WRITES_RESPONSES)?;
    suited(shape, Walk::new(kernel, gradient, config))
}

/// The walk that seeks corners among responses, where there is one.
pub(crate) fn walk_in_map(shape: &Shape, config: &HarrisConfig) -> Option<Walk> {
    let [before, behind] = config.invalid_frame();
    if before != behind {
        return None;
    }
    let radius = config.suppression_radius().min(fused::MOST_RADIUS_IN_MAP);
    let window = (fused::Weights::Box, 0);
    let kernel = Kernel::fused(fused::Samples::Responses, window, radius as u32)?;
    let gradient = gradient::SOBEL;
    suited(shape, Walk { kernel, smoothing: 0, gradient, gradient_radius: 0, window: 0, radius, in_map: true })
}

impl Walk {
    /// One over images that seeks no corners.
    fn new(kernel: Kernel, gradient: u32, config: &HarrisConfig) -> Self {
        let [smoothing, gradient_radius, window] =
            [config.smoothing().radius(), config.gradient().radius(), config.window().radius()]
                .map(|radius| radius as u32);
        Self { kernel, smoothing, gradient, gradient_radius, window, radius: 0, in_map: false }
    }
}

/// The walk where one reflection at each edge is enough.
fn suited(shape: &Shape, walk: Walk) -> Option<Walk> {
    let side = shape.width.min(shape.height) as usize;
    (side >= 2 * most_reach(walk)).then_some(walk)
}

/// Columns and rows from a corner to the farthest sample that a walk, or any of fixed taps that has no wide window, needs for it.
fn most_reach(walk: Walk) -> usize {
    walk.reach().max(fused::MOST_REACH as usize)
}

/// Whether responses are what a walk looks at, or are looked at again when it has found corners, or farther around than it sees.
pub(crate) fn needs_map(config: &HarrisConfig, walk: Walk) -> bool {
    walk.in_map || config.subpixel() == Subpixel::Quadratic || config.suppression_radius() > walk.radius
}

/// What a walk from samples to responses is told by, as [`Kernel::fused`] has it.
struct Front {
    samples: fused::Samples,
    gradient: u32,
    window: (fused::Weights, usize),
}

impl Front {
    /// That of images under a configuration; none where no walk is for such samples.
    fn new(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        if !shape.stride.is_multiple_of(ALIGNMENT) {
            return None;
        }
        match config.smoothing() {
            Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial5 => {}
            // By stages.
            Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => return None,
        }
        if !config.window().is_centred() {
            return None;
        }
        let radius = config.window().radius();
        let gradient = match config.gradient() {
            // No rim knows of it.
            Gradient::Box { .. } if Rim::new(config, 0).is_some() => return None,
            // Kernels for these know of no other.
            Gradient::Box { .. } => gradient::SOBEL,
            other => gradient_of(other)?,
        };
        let is_box = matches!(config.gradient(), Gradient::Box { .. });
        let window = match config.window() {
            Window::Box { .. } if is_box => {
                if radius.max(config.gradient().radius()) > fused::MOST_OF_BOXES {
                    return None;
                }
                (fused::Weights::Wide, fused::MOST_OF_BOXES)
            }
            Window::Box { .. } if radius <= fused::MOST_NARROW => (fused::Weights::Box, radius),
            Window::Box { .. } => {
                (fused::Weights::Wide, fused::WIDE.into_iter().find(|&most| radius <= most)?)
            }
            Window::Binomial { .. } => (fused::Weights::Binomial, radius),
            Window::Gaussian { .. } => (fused::Weights::Gaussian, radius),
        };
        let samples = match (shape.depth, shape.channels) {
            (Depth::U8, 1) if is_box && config.smoothing() == Smoothing::None => fused::Samples::BoxGradients,
            _ if is_box || !sums_fit(shape, config) => return None,
            (Depth::U8, 1) => fused::Samples::Bytes,
            (Depth::U8, 3) => fused::Samples::Colours,
            (Depth::U16, 1) => fused::Samples::Words,
            (Depth::F32, 1) => fused::Samples::Floats,
            _ => return None,
        };
        Some(Self { samples, gradient, window })
    }
}

/// Whether the fused kernels' numbers hold the window sums of such images.
fn sums_fit(shape: &Shape, config: &HarrisConfig) -> bool {
    if shape.depth != Depth::U8 {
        return true;
    }
    let sum = config.greatest_sum(shape.channels as usize, shape.depth.full_scale());
    let fits = |most: f64| sum.is_some_and(|sum| sum <= most);
    match config.window() {
        // Traces are sums of two, and have a sign but in colours.
        Window::Box { .. } if shape.channels == 1 => fits(f64::from(i32::MAX / 2)),
        Window::Box { .. } => fits(f64::from(i32::MAX)),
        // Sums of squares have no sign: docs/arithmetic.md tells why all fit.
        Window::Binomial { size: 7 } => matches!(config.gradient(), Gradient::Sobel3 | Gradient::Central),
        Window::Binomial { .. } => fits(f64::from(i32::MAX)),
        // Products are exact as floats.
        Window::Gaussian { .. } => true,
    }
}

/// Leaves the responses of some rows in the slot `Response`, as [`Map::leave`] does.
pub(crate) fn leave<D: Device>(
    device: &D,
    workspace: &Workspace<D>,
    config: &HarrisConfig,
    shape: &Shape,
    walk: Walk,
    (rows, tells_extent): (Range<usize>, bool),
) -> Result<(), Error> {
    let strips = walk.strips(shape.width);
    let lengths = Lengths::new(walk, rows.len(), strips, true, device.multiprocessors() as usize);
    let (measure, parameter) = measure_of(config);
    let rim = Rim::new(config, 0);
    let frame = rim.map_or(config.invalid_frame()[0] as u32, Rim::frame);
    let response = workspace.buffer::<u8>(Slot::Response).memory;
    launch::fused(
        device,
        walk.kernel,
        [(strips * lengths.pieces(rows.len())) as u32, 1],
        workspace.buffer::<u8>(Slot::Image).memory,
        workspace.buffer(Slot::State),
        // It finds no corners.
        Buffer::new(response),
        Buffer::new(response),
        Buffer::new(response),
        (0, shape.width, shape.height, shape.stride as u32),
        walk.strips_and_columns(shape.width),
        (rows.start as u32, rows.end as u32),
        (lengths.first as u32, lengths.number as u32, lengths.later as u32),
        (config.tensor_scale(shape.depth.full_scale()), measure, parameter),
        frame,
        walk.stages(),
        (0, plateau::FIRST),
        (threshold::ABSOLUTE, 0.0, 0.0),
        (0, 0, 0),
        (0, 0, tells_extent.into()),
        (Buffer::new(response), 0),
        taps_of(config.window()),
    )?;
    match rim {
        Some(rim) if rows.end == shape.height as usize => rim.go(device, workspace, config, shape, None),
        _ => Ok(()),
    }
}

/// A window's weights as walks and rims take them, from its centre on: the last are those of all that are farther out, too.
pub(crate) fn taps_of(window: Window) -> [f32; 4] {
    if let Window::Box { .. } = window {
        return [1.0; 4];
    }
    let weights = weights(window);
    let from_centre = &weights[weights.len() / 2..];
    std::array::from_fn(|i| from_centre.get(i).copied().unwrap_or(0.0))
}

/// Rows of images on the device are so many samples apart, or a multiple of it.
pub(crate) const ALIGNMENT: usize = 4;

// What the kernels take for no sample is what images may not have.
const _: () = assert!(fused::MOST_SAMPLE == MAX_SAMPLE);

/// The pieces of an image, each of which a warp walks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces {
    walk: Walk,
    /// What leaves responses before, where they are needed.
    map: Option<Map>,
    /// Rows of the last part of the image that is sent on its own, and how many times as many each part has as the one after it; whether the
    /// last is waited for.
    part: (usize, usize),
    hurried: bool,
    /// Whether what follows needs the whole map, and what leaves it tells the extent of it, too.
    waits: bool,
    tells_extent: bool,
    /// Images, strips of all of them, and the device's multiprocessors, by which rows become [`Lengths`].
    images: usize,
    strips: usize,
    multiprocessors: usize,
    /// How many there are: those that are walked, and the tiles of the rim, which come after them.
    count: usize,
    rim: Option<Rim>,
    foretells: bool,
    /// Candidates that each has room for.
    room: usize,
}

/// A part of an image as it comes: the row where it ends, and those before which all have responses, and are walked, when it is there.
struct Part {
    end: usize,
    mapped: usize,
    walked: usize,
}

/// What is left to do of images: those rows of which responses are needed, and those that are to be walked, all from one on; the number of
/// the first piece of these, and whether the states are clear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    mapped: usize,
    walked: usize,
    piece: usize,
    is_clear: bool,
}

impl Pieces {
    /// For stacks of images, or a single image that is worked on while it comes, `hurried`. Whether an image `stays` until its list is known
    /// to be complete, so that it can be walked on again.
    pub(crate) fn new<D: Device>(search: &Search<'_, D>, walk: Walk, hurried: bool, stays: bool) -> Self {
        let (height, strips) = (search.height as usize, walk.strips(search.width));
        let map = Map::of(&search.shape, search.config).filter(|_| needs_map(search.config, walk));
        let is_by_histogram = matches!(search.config.threshold(), Threshold::Rosin { .. });
        let has_rim = map.is_some_and(|map| map.has_rim(search.config));
        let multiprocessors = search.device.multiprocessors() as usize;
        let images = search.images;
        let mut pieces = Self {
            walk,
            map,
            part: if hurried { last_part(search, map.as_ref()) } else { (height, GROWTH) },
            hurried,
            waits: walk.in_map && (is_by_histogram || has_rim),
            // Those along a rim, and those that a mask excludes, are not seen by it.
            tells_extent: is_by_histogram
                && map.is_some_and(|map| map.knows_extent())
                && !has_rim
                && search.shape.mask_pitch == 0,
            images,
            strips: strips * images,
            multiprocessors,
            count: 0,
            // Images of a stack need not be alike, and all would be walked on again.
            foretells: stays && images == 1 && threshold_of(search.config).0 == threshold::RELATIVE,
            rim: if walk.in_map { None } else { Rim::new(search.config, walk.radius) },
            room: 0,
        };
        let most = |len: usize| most_in_line(len, search.config, walk.radius);
        let mut walked = 0;
        for part in pieces.parts(height) {
            let rows = part.walked - walked;
            let lengths = pieces.lengths(rows);
            pieces.count += strips * lengths.pieces(rows);
            pieces.room =
                pieces.room.max(most(walk.layout(search.width).columns as usize) * most(lengths.first));
            walked = part.walked;
        }
        if let Some(rim) = pieces.rim {
            pieces.count += rim.tiles((search.width, search.height));
            pieces.room = pieces.room.max(rim.room(search.config));
        }
        pieces
    }

    /// Whether an image foretells the greatest response of the next one.
    pub(crate) fn foretells(&self) -> bool {
        self.foretells
    }

    /// All rows.
    pub(crate) fn all(&self) -> Left {
        Left { mapped: 0, walked: 0, piece: 0, is_clear: false }
    }

    /// The parts of an image of so many rows.
    fn parts(&self, height: usize) -> impl Iterator<Item = Part> + use<> {
        let Self { walk, map, waits, .. } = *self;
        ends(height, self.part).into_iter().map(move |end| {
            if end == height {
                return Part { end, mapped: height, walked: height };
            }
            let before = |map: Map| end.saturating_sub(map.ahead());
            let mapped = map.map_or(end, before);
            let there = if walk.in_map { mapped } else { end };
            let walked = if waits { 0 } else { there.saturating_sub(ahead(walk)) };
            Part { end, mapped, walked }
        })
    }

    /// What [`find`] depends on, but for a detector's configuration.
    fn key<D: Device>(&self, search: &Search<'_, D>, wanted: bool) -> Key {
        let address = |slot| search.device.address(search.workspace.buffer::<u8>(slot).memory);
        let mask = if search.shape.mask_pitch > 0 { address(Slot::Mask) } else { 0 };
        let [kept, usual] = search.room.key(search.images);
        let size = u64::from(search.width) << 32 | u64::from(search.height);
        let map = self.map.map_or(0, |map| map.kernel() as u64 + 1);
        let kernels = map << 32 | self.walk.kernel as u64;
        let kind = u64::from(self.foretells) << 2 | u64::from(wanted) << 1 | u64::from(self.hurried);
        let kind = kernels << 3 | kind;
        [
            size,
            self.images as u64,
            kind,
            address(Slot::Image),
            search.stride,
            mask,
            search.shape.mask_pitch as u64,
            kept,
            usual,
        ]
    }

    /// Rows of the pieces of so many that are walked on at once.
    fn lengths(&self, rows: usize) -> Lengths {
        Lengths::new(self.walk, rows, self.strips, self.images == 1, self.multiprocessors)
    }
}

/// How much longer each part is than the one after it, where they are not all alike: few enough parts, and the walk over one is done before
/// the next has come.
const GROWTH: usize = 3;

/// Rows of an image that are best sent last, on their own, all where it is not worth while to begin before these have come; and how many
/// times as many each part has as the one after it.
fn last_part<D: Device>(search: &Search<'_, D>, map: Option<&Map>) -> (usize, usize) {
    let (portion, height) = (search.device.portion(), search.height as usize);
    let bytes = pitch(search) * height;
    let (rows, growth) = match map.and_then(Map::portions) {
        Some(portions) => (height / (bytes / (portions * portion)).max(1), 1),
        None if bytes < 2 * portion => (height, GROWTH),
        None => (portion / pitch(search), GROWTH),
    };
    (rows.max(LEAST_ROWS).min(height), growth)
}

/// Rows below the last one whose corners are sought, or whose responses are left, that a walk looks at.
pub(crate) fn ahead(walk: Walk) -> usize {
    most_reach(walk) + 8
}

/// The rows where parts of an image end as they come, of which the last has `part` rows, and each so many times as many as the one after it.
fn ends(height: usize, (part, growth): (usize, usize)) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut end, mut rows) = (height, part);
    while end > 0 {
        ends.push(end);
        // What is left and less than the last goes with the next.
        end = if end < rows + part { 0 } else { end - rows };
        rows *= growth;
    }
    ends.reverse();
    ends
}

/// Brings images to the device that there is a kernel for, for [`find`], by the queue for copies where these are `ahead` of the work.
/// Whether samples are `lasting`: see [`Rows`].
pub(crate) fn bring<D: Device>(
    search: &mut Search<'_, D>,
    images: &[ImageView<'_>],
    lasting: bool,
    ahead: bool,
) -> Result<(), Error> {
    let planes = prepare(search, images)?;
    for (slot, images, pitch) in &planes {
        let memory = search.workspace.buffer::<u8>(*slot).memory;
        let rows = Rows { images, rows: 0..search.height as usize, pitch: *pitch, offset: 0, lasting };
        if ahead {
            search.device.send(memory, rows)?;
        } else {
            search.device.upload(memory, rows)?;
        }
    }
    if ahead {
        search.device.arrive()?;
    }
    search.device.mark(Mark::Uploaded)
}

/// Brings a single image to the device whose samples are lasting, and works on its first rows while others are on their way. Returns what is
/// left for [`find`]; it waits for the last of them.
pub(crate) fn hurry<D: Device>(
    search: &mut Search<'_, D>,
    image: &ImageView<'_>,
    pieces: &Pieces,
) -> Result<Left, Error> {
    let planes = prepare(search, std::slice::from_ref(image))?;
    let height = image.height();
    let (mut sent, mut left) = (0, pieces.all());
    for Part { end, mapped, walked } in pieces.parts(height) {
        for (slot, images, pitch) in &planes {
            let memory = search.workspace.buffer::<u8>(*slot).memory;
            let now = Rows { images, rows: sent..end, pitch: *pitch, offset: sent * pitch, lasting: true };
            search.device.send(memory, now)?;
        }
        if end == height {
            search.device.announce(Mark::Uploaded)?;
            break;
        }
        if sent == 0 {
            search.clear_for_walk(pieces.foretells)?;
            left.is_clear = true;
        }
        sent = end;
        search.device.arrive()?;
        leave_on(search, pieces, left.mapped..mapped)?;
        left.piece += walk_on(search, pieces, left.piece, left.walked..walked)?;
        (left.mapped, left.walked) = (mapped, walked);
    }
    Ok(left)
}

/// What is brought of images: their samples, and their masks where they have some; where to, and how many bytes rows are apart there.
type Planes<'a> = Vec<(Slot, Vec<Lines<'a>>, usize)>;

/// Makes room for images.
fn prepare<'a, D: Device>(search: &mut Search<'_, D>, images: &[ImageView<'a>]) -> Result<Planes<'a>, Error> {
    let (pitch, mask_pitch) = (pitch(search), search.shape.mask_pitch);
    // Words are read across rows' ends, and rows ahead of those that are walked.
    let rows = search.height as usize * search.images;
    let image_is_new = search.workspace.fit_cleared::<u8>(search.device, Slot::Image, pitch * rows)?;
    let mask_is_new =
        mask_pitch > 0 && search.workspace.fit_cleared::<u8>(search.device, Slot::Mask, mask_pitch * rows)?;
    if image_is_new || mask_is_new {
        // Rows may be sent ahead of the queue.
        search.device.wait()?;
    }
    // Masks first: what the device waits for at last are samples.
    let masks: Vec<_> = images.iter().filter_map(|image| image.mask().map(Lines::U8)).collect();
    let mut planes = vec![(Slot::Image, images.iter().map(Lines::of).collect(), pitch)];
    if !masks.is_empty() {
        planes.insert(0, (Slot::Mask, masks, mask_pitch));
    }
    Ok(planes)
}

/// Walks on images that are there, or on what is left of one, and lists the corners, which are fetched where they are `wanted`.
pub(crate) fn find<D: Device>(
    search: &mut Search<'_, D>,
    recordings: &mut Recordings<D>,
    pieces: &Pieces,
    left: Left,
    wanted: bool,
) -> Result<Fetched<D>, Error> {
    if !left.is_clear {
        search.clear_for_walk(pieces.foretells)?;
    }
    let key = pieces.key(search, wanted);
    let fetched = recordings.run(search, key, |search| {
        if pieces.hurried {
            search.device.await_announced()?;
        }
        leave_on(search, pieces, left.mapped..search.height as usize)?;
        seek(search, pieces, left)?;
        list(search, pieces, wanted)
    })?;
    search.leave_states(pieces.foretells);
    Ok(fetched)
}

/// The same among the responses in the slot `Response`, where stages left them, and the slot `Mask` says. The states are as walks need them.
pub(crate) fn find_in_map<D: Device>(
    search: &mut Search<'_, D>,
    pieces: &Pieces,
    wanted: bool,
) -> Result<Fetched<D>, Error> {
    seek(search, pieces, pieces.all())?;
    search.device.mark(Mark::Searched)?;
    let fetched = list(search, pieces, wanted)?;
    search.leave_states(pieces.foretells);
    Ok(fetched)
}

/// Walks again on an image that is still there, as are its responses where these are looked at. Returns its pieces, too.
pub(crate) fn find_again<D: Device>(
    search: &mut Search<'_, D>,
    pieces: &Pieces,
    wanted: bool,
) -> Result<(Pieces, Fetched<D>), Error> {
    let pieces = Pieces::new(search, pieces.walk, false, pieces.foretells);
    search.clear_for_walk(pieces.foretells)?;
    seek(search, &pieces, pieces.all())?;
    let fetched = list(search, &pieces, wanted)?;
    search.leave_states(pieces.foretells);
    Ok((pieces, fetched))
}

/// Walks on what is left, and along the rim, and takes what is not the strongest as far around as is asked for from the candidates.
fn seek<D: Device>(search: &mut Search<'_, D>, pieces: &Pieces, left: Left) -> Result<(), Error> {
    if let Threshold::Rosin { bins } = search.config.threshold() {
        search.rosin(bins, pieces.tells_extent)?;
    }
    let walked = walk_on(search, pieces, left.piece, left.walked..search.height as usize)?;
    if let Some(rim) = pieces.rim {
        let lists = (left.piece + walked, pieces.count, pieces.room);
        rim.go(search.device, search.workspace, search.config, &search.shape, Some(lists))?;
    }
    if search.config.suppression_radius() > pieces.walk.radius {
        thin(search, pieces)?;
    }
    Ok(())
}

/// Bytes from row to row.
fn pitch<D: Device>(search: &Search<'_, D>) -> usize {
    search.stride as usize * search.shape.depth.bytes()
}

/// Leaves the responses of some rows in the slot `Response`, where they are needed.
fn leave_on<D: Device>(search: &mut Search<'_, D>, pieces: &Pieces, rows: Range<usize>) -> Result<(), Error> {
    match pieces.map {
        Some(map) if !rows.is_empty() => map.leave(
            search.device,
            search.workspace,
            search.config,
            &search.shape,
            rows,
            pieces.tells_extent,
        ),
        _ => Ok(()),
    }
}

/// Fills the slots `Candidates` and `Counts` from number `piece` on for some rows; returns how many pieces these have.
fn walk_on<D: Device>(
    search: &mut Search<'_, D>,
    pieces: &Pieces,
    piece: usize,
    rows: Range<usize>,
) -> Result<usize, Error> {
    if rows.is_empty() {
        return Ok(0);
    }
    let all = pieces.count * search.images;
    let scale = search.config.tensor_scale(search.shape.depth.full_scale());
    search.workspace.fit::<u64>(search.device, Slot::Candidates, pieces.room * all)?;
    search.workspace.fit::<u32>(search.device, Slot::Counts, all)?;
    let (workspace, config) = (&*search.workspace, search.config);
    let (measure, parameter) = measure_of(config);
    let (threshold, value) = bound_of(config);
    let (tables, counters) = search.tables_and_counters();
    let (slot, pitch) = match pieces.walk.in_map {
        true => (Slot::Response, u64::from(search.width)),
        false => (Slot::Image, search.stride),
    };
    let (frame, margin) = match pieces.rim {
        Some(rim) => (rim.frame(), search.margin().max(rim.depth())),
        None => (search.frame[0], search.margin()),
    };
    let lengths = pieces.lengths(rows.len());
    let now = pieces.walk.strips(search.width) * lengths.pieces(rows.len());
    launch::fused(
        search.device,
        pieces.walk.kernel,
        [now as u32, search.images as u32],
        workspace.buffer::<u8>(slot).memory,
        workspace.buffer(Slot::State),
        workspace.buffer(Slot::Candidates),
        workspace.buffer(Slot::Counts),
        // It writes no responses.
        Buffer::new(workspace.buffer::<u64>(Slot::Candidates).memory),
        (pitch * u64::from(search.height), search.width, search.height, pitch as u32),
        pieces.walk.strips_and_columns(search.width),
        (rows.start as u32, rows.end as u32),
        (lengths.first as u32, lengths.number as u32, lengths.later as u32),
        (scale, measure, parameter),
        frame,
        pieces.walk.stages(),
        (margin, plateau_of(config)),
        (threshold, value, reach(config, scale)),
        (piece as u32, pieces.count as u32, pieces.room as u32),
        (tables, if piece == 0 { counters } else { 0 }, 0),
        workspace.mask(search.shape.mask_pitch),
        taps_of(config.window()),
    )?;
    Ok(now)
}

/// Takes those from the slot `Candidates` that are not the strongest as far around as is asked for.
fn thin<D: Device>(search: &mut Search<'_, D>, pieces: &Pieces) -> Result<(), Error> {
    let (threshold, value) = threshold_of(search.config);
    let (mask, mask_pitch) = search.workspace.mask(search.shape.mask_pitch);
    launch::thin(
        search.device,
        launch::grid(Kernel::thin, pieces.count * fused::THINNING as usize * WARP, 1),
        search.workspace.buffer(Slot::Response),
        mask,
        search.workspace.buffer(Slot::State),
        search.workspace.buffer(Slot::Candidates),
        search.workspace.buffer(Slot::Counts),
        pieces.count as u32,
        pieces.room as u32,
        search.width,
        search.height,
        search.frame[0],
        search.config.suppression_radius().min(search.pixels()) as u32,
        plateau_of(search.config),
        threshold,
        value,
        mask_pitch,
    )
}

/// From what a response exceeds to what the trace of its sums reaches at least, with room for all roundings: neither measure is
/// greater than for equal eigenvalues.
fn reach(config: &HarrisConfig, scale: f32) -> f32 {
    let scale = f64::from(scale);
    let reach = match config.measure() {
        // R = λ₁λ₂ − k t² ≤ (1/4 − k) t².
        Measure::Harris { k } => 1.0 / (0.25 - f64::from(k) + 1e-5).sqrt(),
        // R = min(λ₁, λ₂) ≤ t / 2; Noble's 2 λ₁λ₂ / (t + ε) as well.
        Measure::ShiTomasi | Measure::Noble { .. } => 2.0,
    };
    (reach / scale * (1.0 - 1e-4)) as f32
}

/// The lists of what a walk found, as [`Search::list`] makes them.
fn list<D: Device>(search: &mut Search<'_, D>, pieces: &Pieces, wanted: bool) -> Result<Fetched<D>, Error> {
    match search.bins() {
        Some(bins) => search.list_by_bins(bins, (pieces.count, pieces.room), pieces.foretells, wanted),
        None => list_by_merging(search, pieces, wanted),
    }
}

/// The same, whatever the bins are like.
pub(crate) fn list_by_merging<D: Device>(
    search: &mut Search<'_, D>,
    pieces: &Pieces,
    wanted: bool,
) -> Result<Fetched<D>, Error> {
    exceed(search, pieces)?;
    search.list(wanted)
}

/// Fills the slot `Keys` with those candidates that exceed the threshold, now that it is known.
fn exceed<D: Device>(search: &mut Search<'_, D>, pieces: &Pieces) -> Result<(), Error> {
    let (images, kept) = (search.images, search.room.kept);
    search.workspace.fit::<u64>(search.device, Slot::Keys, kept * images)?;
    let (threshold, value) = threshold_of(search.config);
    launch::exceed(
        search.device,
        launch::grid(Kernel::exceed, pieces.count * WARP, images),
        search.workspace.buffer(Slot::Candidates),
        search.workspace.buffer(Slot::Counts),
        search.workspace.buffer(Slot::Keys),
        search.workspace.buffer(Slot::State),
        pieces.count as u32,
        pieces.room as u32,
        kept as u32,
        threshold,
        value,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_shrink_and_cover_the_image() {
        assert_eq!(ends(4096, (256, 3)), [768, 3072, 3840, 4096]);
        assert_eq!(ends(1080, (546, 3)), [1080]);
        assert_eq!(ends(1080, (540, 3)), [540, 1080]);
        assert_eq!(ends(100, (100, 3)), [100]);
        assert_eq!(ends(100, (33, 1)), [34, 67, 100]);
        for (height, part, growth) in [(1, 1, 3), (17, 2, 1), (300, 7, 3), (4096, 100, 1), (5, 8, 3)] {
            let ends = ends(height, (part, growth));
            assert!(ends.is_sorted_by(|earlier, later| earlier < later) && ends[0] > 0);
            assert_eq!(ends.last(), Some(&height));
        }
    }
}
