//! From samples to corners in one walk.
//!
//! A warp walks down a strip of columns, the same number for each lane, of which those in the middle are its own; the strips of
//! neighbours overlap. With each row come a row of smoothed samples, of gradients, of window sums, of responses, each a
//! little higher up than the one before; what later rows need of them stays in registers. Neighbours along a row come by
//! shuffles.
//!
//! Outside the image the samples are mirrored, and so are all that follow, but for gx beside it and gy above and below:
//! these change their sign, so the walk turns them back.
//!
//! A [`Front`] is the way from samples to responses, that of [`bytes`] by way of [`differences`] and a [`Window`](bytes::Window), that of
//! box gradients by [`Sides`], or takes [`Responses`] from a map; [`Corners`] is that from responses to corners; [`Writer`] writes the
//! responses themselves, and so do [`large`], for box gradients that need more room, and [`gaussians`], for what is weighted as floats,
//! by way of [`smoothings`] and [`gradients`].

mod boxes;
mod bytes;
mod corners;
mod differences;
mod gaussians;
mod gradients;
mod large;
mod responses;
mod running;
mod samples;
mod sides;
mod sliding;
mod smoothings;
mod weighted;
mod wide;
mod write;

use core::array;

use boxes::Boxes;
use bytes::Bytes;
use corners::Corners;
pub(crate) use gaussians::{
    map_binomial_gaussians5, map_binomial_gaussians9, map_central_gaussian5, map_f32_window5,
    map_f32_window9, map_gaussians9, map_rgb_central_gaussian5, map_smoothed_window5, map_smoothed_window9,
    map_u16_window5, map_u16_window9,
};
pub(crate) use large::map_boxes31;
use responses::Responses;
use samples::{Colours, Floats, Words};
use sides::Sides;
use sliding::Sliding;
use weighted::{Binomial, Gaussian, Weighted};
use wide::Wide;
use write::Writer;

use super::geometry::Size;
use super::mask::Mask;
use super::number::Number;
use crate::abi::fused::{self, COLUMNS, ROWS, Strips};
use crate::abi::{measure as measures, state};
use crate::{Simt, Word};

/// Columns that a lane has.
const EACH: usize = fused::EACH as usize;

/// Where no response counts: a corner's exceeds it.
const NEVER: f32 = 0.0;

/// The numbers of a walk.
#[derive(Clone, Copy)]
struct Settings {
    /// Samples from image to image, and from row to row.
    stride: u64,
    pitch: u32,
    size: Size,
    /// The number of strips, and columns from one to the next.
    strips: u32,
    columns: u32,
    /// The rows whose corners are sought.
    first: u32,
    last: u32,
    /// Rows of a strip that one warp walks: of the first so many warps, and of those after them.
    rows: u32,
    whole: u32,
    later: u32,
    scale: f32,
    measure: u32,
    parameter: f32,
    frame: u32,
    /// The radius of a binomial smoothing, and the gradient, of [`crate::abi::gradient`].
    smoothing: u32,
    gradient: u32,
    /// The radii of a box gradient and of a wide window.
    gradient_radius: u32,
    window: u32,
    /// The radius of suppression.
    radius: u32,
    margin: u32,
    /// Of [`crate::abi::plateau`].
    plateau: u32,
    threshold: u32,
    value: f32,
    /// From what a response exceeds to what the trace of its sums reaches at least: a factor of the former, or, for Harris's
    /// measure, of its root.
    reach: f32,
    /// Number of the first piece, pieces of an image, and candidates that one has room for.
    piece: u32,
    pieces: u32,
    room: u32,
    /// A Gaussian window's weights, from its centre on.
    taps: [f32; 4],
}

impl Settings {
    /// Whether responses are written, and no corners sought.
    #[inline(always)]
    fn writes_responses(&self) -> bool {
        self.radius == fused::WRITES_RESPONSES
    }
}

/// Where a lane is.
struct Lane<S: Simt> {
    s: S,
    set: Settings,
    /// Where its image starts.
    start: usize,
    /// Its rows.
    top: i32,
    bottom: i32,
    /// Column of its first sample.
    x: i32,
    /// Columns to the left of the strip's own.
    side: u32,
    /// As [`Strips`] has it.
    mirrors_words: bool,
    /// Rows of the image that have valid responses.
    rows: u32,
    /// Whether a column of the strip lies outside or has no valid response.
    at_edge: bool,
}

impl<S: Simt> Lane<S> {
    /// That of this thread in its warp's piece, where strips have `side` columns to each side that only lead to others, and are as
    /// [`Strips`] has it.
    #[inline(always)]
    fn new(s: S, set: Settings, side: u32, mirrors_words: bool) -> Self {
        let strips = Strips::told(set.strips, set.columns, side, set.size.width, mirrors_words);
        // No image is empty: but compilers, which cannot know it, else look whether there is anything to divide by.
        let across = strips.number.max(1);
        // Blocks are single warps: what is the same for all lanes then follows from the block's number, and is computed once.
        let (strip, number) = (s.block() % across, s.block() / across);
        // Without a question: its two answers would take registers that there are not.
        let above = |number: u32| {
            set.first + number.min(set.whole) * set.rows + (number.max(set.whole) - set.whole) * set.later
        };
        let (top, bottom) = (above(number), above(number + 1).min(set.last));
        let left = strips.left(strip);
        let (width, frame) = (set.size.width as i32, set.frame as i32);
        Self {
            s,
            set,
            start: s.block_row() as usize * set.stride as usize,
            top: top as i32,
            bottom: bottom as i32,
            x: left + (fused::EACH * s.lane()) as i32,
            side,
            mirrors_words,
            rows: set.size.height.saturating_sub(2 * set.frame),
            at_edge: left < frame || left + COLUMNS as i32 > width - frame,
        }
    }

    /// Whether it finds corners in column `i` of its own, or only helps neighbours to.
    #[inline(always)]
    fn finds(&self, i: usize) -> bool {
        let first = fused::EACH * self.s.lane();
        let mut own = COLUMNS - 2 * self.side;
        // Of all others it is as many, but for those that are outside.
        let width = self.set.size.width;
        if self.mirrors_words && self.at_edge && width % 2 == 1 {
            let strips = Strips::told(self.set.strips, self.set.columns, self.side, width, true);
            own = strips.own(self.x - first as i32);
        }
        (first + i as u32).wrapping_sub(self.side) < own
    }

    /// Whether it finds those of row `y`, or that belongs to another piece.
    #[inline(always)]
    fn finds_in(&self, y: i32) -> bool {
        y >= self.top && y < self.bottom
    }

    /// Beside the image gx has changed its sign, and with it the product of both.
    #[inline(always)]
    fn turn<T: Number>(&self, mut xy: [T; EACH]) -> [T; EACH] {
        if self.at_edge {
            for i in 0..EACH {
                if (self.x + i as i32) as u32 >= self.set.size.width {
                    xy[i] = T::ZERO - xy[i];
                }
            }
        }
        xy
    }
}

/// Where a row of responses is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// So far inside that all rows on which it depends are of the image, and so are those that are asked for meanwhile.
    Inside,
    /// Where responses count.
    Valid,
    /// Where they do not.
    Invalid,
}

impl Place {
    /// Valid or not: that of row `y`.
    #[inline(always)]
    fn of<S: Simt>(lane: &Lane<S>, y: i32) -> Self {
        if ((y - lane.set.frame as i32) as u32) < lane.rows { Self::Valid } else { Self::Invalid }
    }

    #[inline(always)]
    fn is_valid(self) -> bool {
        self != Self::Invalid
    }
}

/// A lane's way from samples to responses.
trait Front<S: Simt> {
    /// Samples as they are in memory.
    type Sample: Word;
    /// Whether [`Front::lead`] takes rows that only lead to the first whose responses count; else the walk computes them all the same.
    const LEADS: bool;
    /// Whether [`ROWS`] rows of responses are computed before any of them is looked at, with no question in between whether they need to be:
    /// what is then to be waited for is waited for at once. Its strips are laid for words to be mirrored.
    const AT_ONCE: bool = false;

    /// Rows from the one whose responses are computed to the one that they need.
    fn reach(set: &Settings) -> i32;

    /// How many times [`ROWS`] rows [`Front::lead`] takes.
    #[inline(always)]
    fn leading(_: &Settings) -> usize {
        0
    }

    /// Columns to each side of the strip that only lead to others, where corners depend on so many.
    #[inline(always)]
    fn side(reach: u32) -> u32 {
        reach
    }

    /// The numbers of the walk, with those that the kernels before have left in the state.
    #[inline(always)]
    fn settle(_: S, _: S::Buffer<u32>, set: Settings) -> Settings {
        set
    }

    /// At the row before `row`, none of whose responses count.
    fn new(lane: &Lane<S>, image: S::Buffer<Self::Sample>, row: i32) -> Self;

    /// Whether it asks for traces, of which rows have responses that count.
    #[inline(always)]
    fn asks_trace(_: &Settings) -> bool {
        true
    }

    /// Learns what the trace of the sums around a corner reaches at least.
    fn listen(&mut self, least: f32);

    /// Goes down the leading rows, of which the first is `row`.
    fn lead(&mut self, lane: &Lane<S>, row: i32);

    /// Goes down more rows, from `row` on, which a wide window is filled with: returns the row after them.
    #[inline(always)]
    fn fill(&mut self, _: &Lane<S>, row: i32) -> i32 {
        row
    }

    /// Before [`ROWS`] steps: takes what they need of the rows that were asked for.
    fn take(&mut self, lane: &Lane<S>);

    /// After the first of the steps, from `row` on, in a place: asks for rows for the next ones.
    fn ask(&mut self, lane: &Lane<S>, row: i32, place: Place);

    /// One row down, to `row`, which is number `i` after the last taking: whether any of the responses [`Front::reach`] rows higher up counts,
    /// and these. None does where the place is not valid, or no trace is great enough.
    fn step(&mut self, lane: &Lane<S>, row: i32, i: usize, place: Place) -> (bool, [f32; EACH]);

    /// Where bytes of its columns are in a row of them: as [`columns`] has it.
    #[inline(always)]
    fn columns(&self, lane: &Lane<S>) -> (u32, u32) {
        columns(lane.x, lane.set.size.width)
    }

    /// Whether all samples so far are numbers that images may have.
    #[inline(always)]
    fn is_valid(&self) -> bool {
        true
    }
}

macro_rules! entries {
    ($($name:ident [$blocks:literal, $of_responses:literal, $cells:literal] $word:ident: $samples:ident, $weights:ident, $window:literal, $most:literal;)*) => {$(
        #[inline(always)]
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<sample!($samples)>,
            state: S::Buffer<u32>,
            keys: S::Buffer<u64>,
            counts: S::Buffer<u32>,
            response: S::Buffer<f32>,
            stride: u64,
            width: u32,
            height: u32,
            pitch: u32,
            strips: u32,
            columns: u32,
            first: u32,
            last: u32,
            rows: u32,
            whole: u32,
            later: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            frame: u32,
            smoothing: u32,
            gradient: u32,
            gradient_radius: u32,
            window: u32,
            radius: u32,
            margin: u32,
            plateau: u32,
            threshold: u32,
            value: f32,
            reach: f32,
            piece: u32,
            pieces: u32,
            room: u32,
            tables: u32,
            counters: u32,
            extent: u32,
            mask: S::Buffer<u8>,
            mask_pitch: u32,
            tap0: f32,
            tap1: f32,
            tap2: f32,
            tap3: f32,
        ) {
            let size = Size { width, height };
            let taps = [tap0, tap1, tap2, tap3];
            let set = Settings { stride, pitch, size, strips, columns, first, last, rows, whole, later, scale, measure, parameter, frame, smoothing, gradient, gradient_radius, window, radius, margin, plateau, threshold, value, reach, piece, pieces, room, taps };
            let mask = Mask::new(s, mask, mask_pitch);
            walk::<S, front!($samples, $weights, $window), $most>(s, image, mask, state, keys, counts, (response, extent == 1), set, (tables, counters));
        }
    )*};
}

macro_rules! front {
    (BoxGradients, Wide, $most:literal) => {
        Sides<S>
    };
    (Bytes, Box, $window:literal) => {
        Bytes<S, <Narrow<$window> as Suited>::Window>
    };
    (Bytes, Binomial, $window:literal) => {
        Bytes<S, Weighted<Binomial, $window>>
    };
    (Bytes, Gaussian, $window:literal) => {
        Bytes<S, Weighted<Gaussian, $window>>
    };
    (Bytes, Wide, $window:literal) => {
        Bytes<S, Wide<$window>>
    };
    (Responses, Box, $window:literal) => {
        Responses<S>
    };
    ($samples:ident, Box, $window:literal) => {
        $samples<S, $window>
    };
}

/// A box window of 8-bit samples, by its radius.
struct Narrow<const WINDOW: usize>;

/// How the sums of a window are made with fewest instructions and registers.
trait Suited {
    type Window;
}

impl Suited for Narrow<1> {
    type Window = Boxes;
}

impl Suited for Narrow<2> {
    type Window = Sliding<2>;
}

impl Suited for Narrow<3> {
    type Window = Sliding<3>;
}

macro_rules! sample {
    (Bytes) => {
        u8
    };
    (Words) => {
        u16
    };
    (Floats) => {
        f32
    };
    (Colours) => {
        u8
    };
    (BoxGradients) => {
        u8
    };
    (Responses) => {
        f32
    };
}

crate::for_each_fused!([entries]);

/// Zeros for what counts the image's bins once the walk is done.
#[inline(always)]
fn clear<S: Simt>(s: S, state: S::Buffer<u32>, tables: u32, counters: u32) {
    let start = (tables + s.block_row() * counters) as usize;
    let mut i = s.index();
    while i < counters {
        s.store(state, start + i as usize, 0);
        i += s.stride();
    }
}

/// Collects corners that exceed the threshold as far as it is known, and the greatest response. The radius of suppression
/// is 1 to `MOST`.
#[inline(always)]
fn walk<S: Simt, F: Front<S>, const MOST: usize>(
    s: S,
    image: S::Buffer<F::Sample>,
    mask: Mask<S>,
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    (response, tells_extent): (S::Buffer<f32>, bool),
    set: Settings,
    (tables, counters): (u32, u32),
) {
    s.admit_next();
    // The row of the corners is `reach` rows higher than the one that is loaded, and so many columns lead to the first.
    let reach = F::reach(&set) + set.radius as i32;
    let writes = set.writes_responses();
    let side = if writes { fused::side_of_map(reach as u32) } else { F::side(reach as u32) };
    let mut lane = Lane::new(s, set, side, F::AT_ONCE);
    let piece = s.block_row() as usize * set.pieces as usize + (set.piece + s.block()) as usize;
    s.await_last();
    lane.set = F::settle(s, state, set);
    // First or last, as registers allow: those walks that have no loop for leading rows have none to spare at the end.
    if !F::LEADS && !writes {
        clear(s, state, tables, counters);
    }
    let mut row = lane.top - reach;
    let mut corners = Corners::<S>::new(&lane, state, keys, piece * set.room as usize);
    let mut writer = Writer::<S>::new(response, tells_extent);
    let mut front = F::new(&lane, image, row);
    if writes {
        // All traces are great enough.
        front.listen(0.0);
    } else {
        let least = corners.learn(&lane);
        listen(&lane, &mut front, least);
    }
    front.lead(&lane, row);
    row = front.fill(&lane, row + (ROWS * F::leading(&set)) as i32);
    let inside = lane.rows.saturating_sub(F::reach(&set) as u32 + 2 * ROWS as u32);
    while row - reach < lane.bottom {
        if !writes && let Some(least) = corners.talk(&lane) {
            listen(&lane, &mut front, least);
        }
        front.take(&lane);
        let highest = row - F::reach(&lane.set);
        if F::AT_ONCE {
            // Twice, as nearly all are inside, where there is less to do.
            let responses = if ((highest - lane.set.frame as i32) as u32) < inside {
                respond_at_once(&lane, mask, &mut front, &mut corners, row, |_| Place::Inside)
            } else {
                let place = |i| Place::of(&lane, highest + i);
                respond_at_once(&lane, mask, &mut front, &mut corners, row, place)
            };
            if writes {
                writer.write(&lane, responses[0], highest);
                writer.write(&lane, responses[1], highest + 1);
                writer.write(&lane, responses[2], highest + 2);
            } else {
                let centre = highest - lane.set.radius as i32;
                corners.suppress::<MOST>(&lane, mask, true, responses[0], centre);
                corners.suppress::<MOST>(&lane, mask, true, responses[1], centre + 1);
                corners.suppress::<MOST>(&lane, mask, true, responses[2], centre + 2);
            }
        } else {
            // As many as most rings are long and one more: so many turns bring rows back to the registers they had.
            step::<S, F, MOST>(&lane, mask, &mut front, (&mut corners, &mut writer), row, 0);
            ask(&lane, &mut front, &mut corners, row, Place::Valid);
            step::<S, F, MOST>(&lane, mask, &mut front, (&mut corners, &mut writer), row + 1, 1);
            step::<S, F, MOST>(&lane, mask, &mut front, (&mut corners, &mut writer), row + 2, 2);
        }
        row += ROWS as i32;
    }
    if writes {
        writer.tell_extent(s, state);
    } else {
        corners.tell(&lane);
        if F::LEADS {
            clear(s, state, tables, counters);
        }
        if s.lane() == 0 {
            s.store(counts, piece, corners.found);
        }
    }
    if !front.is_valid() {
        s.atomic_max(state, s.block_row() as usize * state::WORDS + state::INVALID, 1);
    }
}

/// Tells what the trace of the sums around a corner reaches at least, whose response exceeds a number.
#[inline(always)]
fn listen<S: Simt, F: Front<S>>(lane: &Lane<S>, front: &mut F, exceeded: f32) {
    let set = &lane.set;
    // A root that is not asked for would be drawn all the same: compilers do not remove it.
    if F::asks_trace(set) {
        let root = if set.measure == measures::HARRIS { lane.s.sqrt(exceeded) } else { exceeded };
        front.listen(root * set.reach);
    }
}

/// One row down.
#[inline(always)]
fn step<S: Simt, F: Front<S>, const MOST: usize>(
    lane: &Lane<S>,
    mask: Mask<S>,
    front: &mut F,
    (corners, writer): (&mut Corners<S>, &mut Writer<S>),
    row: i32,
    i: usize,
) {
    let of_response = row - F::reach(&lane.set);
    let (strong, responses) = respond(lane, mask, (front, corners), row, i, Place::of(lane, of_response));
    if lane.set.writes_responses() {
        writer.write(lane, responses, of_response);
        return;
    }
    corners.suppress::<MOST>(lane, mask, strong, responses, of_response - lane.set.radius as i32);
}

/// [`ROWS`] rows down, from `row` on: the responses, by the places of the first, the second and the third row of them.
#[inline(always)]
fn respond_at_once<S: Simt, F: Front<S>>(
    lane: &Lane<S>,
    mask: Mask<S>,
    front: &mut F,
    corners: &mut Corners<S>,
    row: i32,
    place: impl Fn(i32) -> Place,
) -> [[f32; EACH]; ROWS] {
    let (_, first) = respond(lane, mask, (front, corners), row, 0, place(0));
    ask(lane, front, corners, row, place(0));
    let (_, second) = respond(lane, mask, (front, corners), row + 1, 1, place(1));
    let (_, third) = respond(lane, mask, (front, corners), row + 2, 2, place(2));
    [first, second, third]
}

/// Asks for what the next turn needs, after the first row of this one, so that no one waits for these words who waits for those that were
/// asked for before.
#[inline(always)]
fn ask<S: Simt, F: Front<S>>(
    lane: &Lane<S>,
    front: &mut F,
    corners: &mut Corners<S>,
    row: i32,
    place: Place,
) {
    front.ask(lane, row, place);
    if lane.set.writes_responses() {
        return;
    }
    // Always in its first rows, when there is most to learn, then in about a quarter of the turns: a word that all ask for all the time
    // takes longer to come. Walks without leading rows have no register to tell by.
    if !F::LEADS || row < lane.top + 9 || row & 12 == 0 {
        corners.ask(lane);
    }
}

/// One row down: [`Front::step`]. The greatest response inside a mask need not be a corner's: a greater one beyond it may
/// suppress it. So it is looked for here.
#[inline(always)]
fn respond<S: Simt, F: Front<S>>(
    lane: &Lane<S>,
    mask: Mask<S>,
    (front, corners): (&mut F, &mut Corners<S>),
    row: i32,
    i: usize,
    place: Place,
) -> (bool, [f32; EACH]) {
    let (strong, responses) = front.step(lane, row, i, place);
    if strong && place.is_valid() && mask.exists() {
        let y = row - F::reach(&lane.set);
        if lane.finds_in(y) {
            corners.see_inside(lane, mask, front.columns(lane), y as u32, responses);
        }
    }
    (strong, responses)
}

/// Where a lane whose first column is `x` finds its four bytes in a row: in the two words from a byte on, picked by a selector.
/// Outside the image they are mirrored; so far outside that no corner depends on them they are any.
#[inline(always)]
fn columns(x: i32, width: u32) -> (u32, u32) {
    let columns: [u32; EACH] = array::from_fn(|i| mirrored(x + i as i32, width));
    let least = columns[0].min(columns[1]).min(columns[2]).min(columns[3]);
    // The row is at least two words long; behind the last one there may be nothing.
    let start = least.min(width - 5) & !3;
    let digit = |i: usize| (columns[i] - start).min(7) << (4 * i);
    (start, digit(0) | digit(1) | digit(2) | digit(3))
}

/// Where row or column `i` of a mirrored line is read; somewhere inside where it is too far away to matter.
#[inline(always)]
fn mirrored(i: i32, len: u32) -> u32 {
    let last = len as i32 - 1;
    beyond(i.abs(), last)
}

/// The same of one that is not before the first, by the number of the last.
#[inline(always)]
fn beyond(i: i32, last: i32) -> u32 {
    i.min(2 * last - i).max(0) as u32
}
