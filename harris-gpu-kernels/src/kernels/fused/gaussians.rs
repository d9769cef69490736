//! Responses by Gaussian windows, and boxes of floats, behind gradients that are weighted sums of floats, as Gaussian
//! derivatives are, central differences, or gradients of smoothed samples.
//!
//! Sums of floats depend on the order of their terms, so that what is mirrored is not what is computed of mirrored samples: each stage
//! goes on beyond the edges by its own input, of rows and columns that are there. Of rows those wait in shared memory; columns are within
//! the warp's strip.

use core::array;

use super::EACH;
use super::gradients::{Central, Gradients, Taps, Weighted};
use super::smoothings::{Deep, Plain, Rounded, Smoothing, Weighed};
use crate::Simt;
use crate::abi::fused::{COLUMNS, EACH as LANE};
use crate::abi::{gaussians, state as states};
use crate::kernels::geometry::{Size, inside};
use crate::kernels::response::measure;
use crate::kernels::threshold::Extent;

/// What the lanes have of a row.
pub(super) type Row = [f32; EACH];

/// What each column of a lane sees of a row: that of the lane before, its own, and that of the lane after.
pub(super) type Seen = [f32; 3 * EACH];

/// Where shared memory has a word of each of the strip's columns: that to read in place of it. Then some rows, each with nothing behind it;
/// then rows of products.
const SOURCES: u32 = 0;
const BEYOND: u32 = SOURCES + COLUMNS;
const OF_ROW: u32 = COLUMNS + 2;
const KEPT: u32 = BEYOND + AT_ONCE as u32 * OF_ROW;

/// Rows whose columns outside are looked for at once, at most.
const AT_ONCE: usize = 3;

/// Weights of a sum, from the centre on.
pub(super) type Weights = [f32; gaussians::MOST as usize + 1];

/// The image, as all kernels here take it, and what window sums become.
#[derive(Clone, Copy)]
pub(super) struct Map<S: Simt> {
    image: S::Buffer<u8>,
    to: S::Buffer<f32>,
    pub(super) size: Size,
    pitch: u32,
    /// The rows whose responses are left, and those of a piece.
    first: u32,
    last: u32,
    rows: u32,
    pub(super) border: u32,
    scale: f32,
    kind: u32,
    parameter: f32,
    frame: u32,
}

/// A warp's strip of columns.
pub(super) struct Strip<S: Simt> {
    s: S,
    pub(super) map: Map<S>,
    /// Columns to each side that only lead to others.
    side: u32,
    /// Column of the lane's first pixel.
    x: i32,
    /// Whether some columns lie outside the image.
    at_edge: bool,
}

impl<S: Simt> Strip<S> {
    /// That of this thread, and the rows of its piece.
    #[inline(always)]
    fn new(s: S, map: Map<S>, side: u32) -> (Self, [i32; 2]) {
        let (own, width) = (COLUMNS - 2 * side, map.size.width);
        let strips = width.div_ceil(own).max(1);
        let (strip, part) = (s.block() % strips, s.block() / strips);
        let top = map.first + part * map.rows;
        let rows = [top, map.last.min(top + map.rows)].map(|row| row as i32);
        let left = (strip * own) as i32 - side as i32;
        let x = left + (LANE * s.lane()) as i32;
        let at_edge = left < 0 || left + COLUMNS as i32 > width as i32;
        if at_edge {
            for i in 0..LANE {
                let source = match inside(map.border, x + i as i32, width) {
                    // Those so far outside that no response depends on them are any.
                    Some(column) => (column as i32 - left).clamp(0, COLUMNS as i32 - 1) as u32,
                    None => COLUMNS,
                };
                s.set_shared_word(SOURCES + LANE * s.lane() + i, source);
            }
            if s.lane() < AT_ONCE as u32 {
                s.set_shared_word(BEYOND + OF_ROW * s.lane() + COLUMNS, 0);
            }
        }
        (Self { s, map, side, x, at_edge }, rows)
    }

    /// Rows with what the columns outside stand for.
    #[inline(always)]
    pub(super) fn beyond<const ROWS: usize>(&self, rows: [Row; ROWS]) -> [Row; ROWS] {
        if !self.at_edge {
            return rows;
        }
        const { assert!(ROWS <= AT_ONCE, "there is room for them") };
        let (s, first) = (self.s, LANE * self.s.lane());
        let sources: [u32; EACH] = array::from_fn(|i| s.shared_word(SOURCES + first + i as u32));
        let place = |row: usize| BEYOND + OF_ROW * row as u32;
        // Not before all have read the last ones.
        s.barrier_of_warp();
        for row in 0..ROWS {
            for i in 0..EACH {
                s.set_shared_word(place(row) + first + i as u32, rows[row][i].to_bits());
            }
        }
        s.barrier_of_warp();
        array::from_fn(|row| sources.map(|source| f32::from_bits(s.shared_word(place(row) + source))))
    }

    /// What each column sees of a row up to so many columns away.
    #[inline(always)]
    pub(super) fn seen<const RADIUS: usize>(&self, own: Row) -> Seen {
        let exchanged = |number: f32, shuffle: fn(S, u32, u32) -> u32| {
            f32::from_bits(shuffle(self.s, number.to_bits(), 1))
        };
        array::from_fn(|i| match i / EACH {
            0 if i + RADIUS >= EACH => exchanged(own[i], S::shuffle_up),
            1 => own[i - EACH],
            2 if i < 2 * EACH + RADIUS => exchanged(own[i - 2 * EACH], S::shuffle_down),
            _ => 0.0,
        })
    }

    /// Sums across, of each column and its neighbours up to so many columns away.
    #[inline(always)]
    pub(super) fn across<const RADIUS: usize>(&self, own: Row, sum: impl Fn(Seen, usize) -> f32) -> Row {
        let seen = self.seen::<RADIUS>(own);
        array::from_fn(|i| sum(seen, EACH + i))
    }

    /// Leaves the responses of a row.
    #[inline(always)]
    fn store(&self, y: u32, mut values: Row, extent: &mut Option<Extent>) {
        let (Size { width, height }, frame) = (self.map.size, self.map.frame);
        // All of its columns or none: they, and those that only lead to others, are multiples of as many.
        let is_own = (LANE * self.s.lane()).wrapping_sub(self.side) < COLUMNS - 2 * self.side;
        if !is_own || self.x as u32 >= width {
            return;
        }
        let column = |i: usize| self.x as u32 + i as u32;
        let is_valid = y.wrapping_sub(frame) < height.saturating_sub(2 * frame);
        for i in 0..EACH {
            let is_beside = self.at_edge && (column(i) < frame || column(i) >= width.max(frame) - frame);
            if !is_valid || is_beside {
                values[i] = 0.0;
            } else if let Some(extent) = extent {
                extent.widen(values[i]);
            }
        }
        let first = self.map.size.number(column(0), y) as usize;
        if width.is_multiple_of(LANE) {
            self.s.store_four(self.map.to, first, values);
        } else {
            for i in 0..EACH {
                if column(i) < width {
                    self.s.store(self.map.to, first + i, values[i]);
                }
            }
        }
    }
}

/// The samples of a lane's pixels, row after row: as many words as a pixel has bytes.
struct Samples<S: Simt, const WORDS: usize> {
    s: S,
    map: Map<S>,
    /// Where the words are in a row.
    places: [u32; WORDS],
    /// The row that is to be asked for next, and the words of the one before it.
    next: i32,
    ahead: [u32; WORDS],
}

impl<S: Simt, const WORDS: usize> Samples<S, WORDS> {
    /// Those of a strip from row `next` on.
    #[inline(always)]
    fn new(strip: &Strip<S>, next: i32) -> Self {
        let (s, map, width) = (strip.s, strip.map, strip.map.size.width);
        // Columns outside are any until it is asked what they stand for.
        let first = (strip.x.clamp(0, width as i32 - 1) as u32 & !3) * WORDS as u32;
        let last = (WORDS as u32 * width - 1) & !3;
        let places = array::from_fn(|word| (first + 4 * word as u32).min(last));
        let mut samples = Self { s, map, places, next, ahead: [0; WORDS] };
        samples.ask();
        samples
    }

    /// Asks for the next row's words; zeros are samples, too.
    #[inline(always)]
    fn ask(&mut self) {
        let words = match inside(self.map.border, self.next, self.map.size.height) {
            Some(y) => {
                let start = self.s.product(y, self.map.pitch) as usize;
                self.places.map(|place| self.s.load_four(self.map.image, start + place as usize))
            }
            None => [0; WORDS],
        };
        self.ahead = words;
        self.next += 1;
    }

    /// Takes the words of the next row.
    #[inline(always)]
    fn take(&mut self) -> [u32; WORDS] {
        let words = self.ahead;
        // Only now, so that the words come to where the last ones were: assemblers else move them there, and wait for them to do so.
        self.ask();
        words
    }
}

/// The weighted sum of what is up to so far from place `i`, from the left on.
#[inline(always)]
pub(super) fn even<const RADIUS: usize>(weights: &Weights, row: Seen, i: usize) -> f32 {
    let mut sum = weights[RADIUS] * row[i - RADIUS];
    for at in 1..=2 * RADIUS {
        sum += weights[at.abs_diff(RADIUS)] * row[i + at - RADIUS];
    }
    sum
}

/// The same where weights before the centre are the negative ones of those behind it, and its own is 0.
#[inline(always)]
pub(super) fn odd<const RADIUS: usize>(weights: &Weights, row: Seen, i: usize) -> f32 {
    let mut sum = -weights[RADIUS] * row[i - RADIUS];
    for at in 1..=2 * RADIUS {
        let weighted = weights[at.abs_diff(RADIUS)] * row[i + at - RADIUS];
        sum = if at < RADIUS {
            sum - weighted
        } else if at > RADIUS {
            sum + weighted
        } else {
            sum
        };
    }
    sum
}

/// Sums down as far as rows have come, of as many windows as end with the next rows, twice the radius: the next one first.
#[derive(Clone, Copy)]
pub(super) struct Open<const RADIUS: usize, const COUNT: usize>(pub(super) [Row; COUNT]);

impl<const RADIUS: usize, const COUNT: usize> Open<RADIUS, COUNT> {
    pub(super) const NONE: Self = Self([[0.0; EACH]; COUNT]);

    /// Adds a row: begins a sum by `first`, and goes on with others by `add`, which is told how far below their centre it is. Returns the sum
    /// that ends with it.
    #[inline(always)]
    fn end(&mut self, first: impl Fn(usize) -> f32, add: impl Fn(f32, i32, usize) -> f32) -> Row {
        const { assert!(COUNT == 2 * RADIUS && RADIUS >= 1 && RADIUS <= EACH, "neighbours see all") };
        let plus = |sums: Row, below: i32| -> Row { array::from_fn(|i| add(sums[i], below, i)) };
        let ended = plus(self.0[0], RADIUS as i32);
        for window in 1..COUNT {
            self.0[window - 1] = plus(self.0[window], RADIUS as i32 - window as i32);
        }
        self.0[COUNT - 1] = array::from_fn(first);
        ended
    }

    /// The same by weights as [`even`] has them.
    #[inline(always)]
    pub(super) fn end_even(&mut self, weights: &Weights, row: Row) -> Row {
        self.end(
            |i| weights[RADIUS] * row[i],
            |sum, below, i| sum + weights[below.unsigned_abs() as usize] * row[i],
        )
    }

    /// The same as [`odd`] has them.
    #[inline(always)]
    pub(super) fn end_odd(&mut self, weights: &Weights, row: Row) -> Row {
        self.end(
            |i| -weights[RADIUS] * row[i],
            |sum, below, i| match below {
                0 => sum,
                1.. => sum + weights[below as usize] * row[i],
                _ => sum - weights[below.unsigned_abs() as usize] * row[i],
            },
        )
    }
}

/// Goes down a piece: leaves the responses of the window by these weights; tells the state of their extent, where it is asked for, and of samples
/// that images may not have.
#[inline(always)]
fn respond<
    S: Simt,
    M: Smoothing<S, WORDS, CHANNELS>,
    G: Gradients<S, CHANNELS>,
    const WORDS: usize,
    const CHANNELS: usize,
    const WINDOW: usize,
    const COUNT: usize,
>(
    (strip, [top, bottom]): (Strip<S>, [i32; 2]),
    (mut smoothing, mut gradients): (M, G),
    weights: Weights,
    (state, tells_extent): (S::Buffer<u32>, bool),
) {
    let mut extent = if tells_extent { Some(Extent::NONE) } else { None };
    let (s, map, window) = (strip.s, strip.map, WINDOW as i32);
    let height = map.size.height;
    // The last row whose gradients are known: those of rows above the image are others' that are within a window's reach of its edge.
    let mut newest = (top - window).max(0) - 1;
    let reach = M::RADIUS + G::RADIUS;
    let mut samples = Samples::<S, WORDS>::new(&strip, newest + 1 - reach);
    for _ in 0..2 * reach {
        let words = samples.take();
        let rows = smoothing.take(&strip, words);
        gradients.lead(&strip, rows);
    }
    let mut open = [Open::<WINDOW, COUNT>::NONE; 3];
    let mut row = top - window;
    while row < bottom + window {
        let source = inside(map.border, row, height).map_or(-1, |row| row as i32);
        let mut products = [[0.0; EACH]; 3];
        if newest < source {
            newest += 1;
            let words = samples.take();
            let rows = smoothing.take(&strip, words);
            let gradients = gradients.end(&strip, rows, newest);
            for channel in 0..CHANNELS {
                let [gx, gy] = gradients[channel];
                for i in 0..EACH {
                    let of_channel = [gx[i] * gx[i], gx[i] * gy[i], gy[i] * gy[i]];
                    for kind in 0..3 {
                        let sum = &mut products[kind][i];
                        *sum = if channel == 0 { of_channel[kind] } else { *sum + of_channel[kind] };
                    }
                }
            }
            // Those that stand for rows outside, now or later.
            if newest <= window || newest + window + 1 >= height as i32 {
                keep::<S, WINDOW>(s, newest, products);
            }
            if newest < source {
                continue;
            }
        } else if source >= 0 {
            products = kept::<S, WINDOW>(s, source);
        }
        let mut sums = products;
        for kind in 0..3 {
            sums[kind] = open[kind].end_even(&weights, products[kind]);
        }
        let y = row - window;
        if y >= top {
            let [a, b, c] = strip.beyond(sums).map(|sums| {
                let sums = strip.across::<WINDOW>(sums, |row, i| even::<WINDOW>(&weights, row, i));
                sums.map(|sum| sum * map.scale)
            });
            let values: Row = array::from_fn(|i| {
                measure(|square| s.sqrt(square), map.kind, map.parameter, a[i], b[i], c[i])
            });
            strip.store(y as u32, values, &mut extent);
        }
        row += 1;
    }
    if let Some(extent) = extent {
        extent.tell(s, state);
    }
    if !smoothing.are_valid() {
        s.atomic_max(state, states::INVALID, 1);
    }
}

/// Where a row's products wait: as many rows as there are to one side of the window's centre, and it.
#[inline(always)]
fn place(s: impl Simt, window: usize, row: i32, kind: usize) -> u32 {
    let slot = 3 * (row as u32 % (window as u32 + 1)) + kind as u32;
    KEPT + COLUMNS * slot + LANE * s.lane()
}

#[inline(always)]
fn keep<S: Simt, const WINDOW: usize>(s: S, row: i32, products: [Row; 3]) {
    for kind in 0..3 {
        let place = place(s, WINDOW, row, kind);
        for i in 0..EACH {
            s.set_shared_word(place + i as u32, products[kind][i].to_bits());
        }
    }
}

#[inline(always)]
fn kept<S: Simt, const WINDOW: usize>(s: S, row: i32) -> [Row; 3] {
    array::from_fn(|kind| {
        let place = place(s, WINDOW, row, kind);
        array::from_fn(|i| f32::from_bits(s.shared_word(place + i as u32)))
    })
}

macro_rules! maps {
    ($($name:ident: [$words:literal, $channels:literal], $window:literal, [$($weight:ident),*], ($($argument:ident),*), $radius:expr, $smoothing:expr, $gradients:expr;)*) => {$(
        /// Leaves the responses of rows from the first to the one before the last in a map, row after row without gaps, 0 where they are not valid.
        #[inline(always)]
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<u8>,
            state: S::Buffer<u32>,
            to: S::Buffer<f32>,
            width: u32,
            height: u32,
            pitch: u32,
            first: u32,
            last: u32,
            rows: u32,
            border: u32,
            scale: f32,
            kind: u32,
            parameter: f32,
            frame: u32,
            extent: u32,
            $($argument: f32,)*
            $($weight: f32,)*
        ) {
            let size = Size { width, height };
            let map = Map { image, to, size, pitch, first, last, rows, border, scale, kind, parameter, frame };
            let mut weights = [0.0; gaussians::MOST as usize + 1];
            for (i, weight) in [$($weight),*].into_iter().enumerate() {
                weights[i] = weight;
            }
            let piece = Strip::new(s, map, gaussians::side($radius, $window));
            let stages = ($smoothing, $gradients);
            respond::<S, _, _, $words, $channels, $window, { 2 * $window }>(piece, stages, weights, (state, extent == 1));
        }
    )*};
}

maps! {
    map_gaussians9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (along0, along1, along2, along3, along4, across1, across2, across3, across4), 4,
        Plain,
        Weighted::<4, 8>::new([along0, along1, along2, along3, along4], [0.0, across1, across2, across3, across4]);
    map_binomial_gaussians9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, along0, along1, along2, along3, along4, across1, across2, across3, across4), 6,
        Rounded::new([smoothing0, smoothing1, smoothing2], unit),
        Weighted::<4, 8>::new([along0, along1, along2, along3, along4], [0.0, across1, across2, across3, across4]);
    map_binomial_gaussians5: [1, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, along0, along1, along2, across1, across2), 4,
        Rounded::new([smoothing0, smoothing1, smoothing2], unit),
        Weighted::<2, 4>::new([along0, along1, along2, 0.0, 0.0], [0.0, across1, across2, 0.0, 0.0]);
    map_smoothed_window5: [1, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, smoothing3, smoothing4, outside, inside), 5,
        Weighed::<4, 8>::new([smoothing0, smoothing1, smoothing2, smoothing3, smoothing4]),
        Taps::new(outside, inside);
    map_smoothed_window9: [1, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, smoothing3, smoothing4, outside, inside), 5,
        Weighed::<4, 8>::new([smoothing0, smoothing1, smoothing2, smoothing3, smoothing4]),
        Taps::new(outside, inside);
    map_central_gaussian5: [1, 1], 2, [window0, window1, window2], (), 1, Plain, Central::NONE;
    map_rgb_central_gaussian5: [3, 3], 2, [window0, window1, window2], (), 1, Plain, Central::NONE;
    map_u16_window5: [2, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
    map_u16_window9: [2, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
    map_f32_window5: [4, 1], 2, [window0, window1, window2],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
    map_f32_window9: [4, 1], 4, [window0, window1, window2, window3, window4],
        (smoothing0, smoothing1, smoothing2, unit, outside, inside), 3,
        Deep::new([smoothing0, smoothing1, smoothing2], unit), Taps::new(outside, inside);
}
