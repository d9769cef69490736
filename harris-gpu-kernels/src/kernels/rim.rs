//! From samples to corners along the edges of images, under the border rules that no walk knows of: it mirrors samples, and whatever
//! follows, where each stage is to extend its own input.
//!
//! A walk finds the corners farther inside. Blocks are tiles of the rim that is left, and go from one stage to the next in shared memory, each
//! of which has what the next one needs around the tile.

use core::array;

use super::geometry::Size;
use super::gradient::weighted;
use super::lines::binomial;
use super::mask::Mask;
use super::number::{Number, ordered};
use super::response::measure as measure_of;
use super::threshold::floor;
use crate::abi::rim::{SIDE, tiles_across};
use crate::abi::{border, plateau, state};
use crate::simt::WARP;
use crate::{Simt, Word};

// A lane has a column of a tile, and later a row.
const _: () = assert!(SIDE == WARP);

/// Where no response counts: a corner's exceeds it.
const NEVER: f32 = 0.0;

/// The numbers on which stages compute.
trait Arithmetic {
    /// Whether sums are the same in any order.
    const IS_EXACT: bool;
    type Sample: Word;
    /// Of samples and gradients.
    type Value: Number;
    /// Of products, and of their sums down the window.
    type Product: Number;
    /// Of sums over all of it.
    type Sum: Number;

    fn value(sample: Self::Sample) -> Self::Value;
    fn product(a: Self::Value, b: Self::Value) -> Self::Product;
    fn tap(tap: f32) -> Self::Product;
    fn sum(product: Self::Product) -> Self::Sum;
    fn rounded(sum: Self::Sum) -> f32;
}

macro_rules! arithmetics {
    ($($name:ident [$is_exact:literal]: $sample:ident, $value:ident, $product:ident, $sum:ident, $multiplied:expr;)*) => {$(
        struct $name;

        impl Arithmetic for $name {
            const IS_EXACT: bool = $is_exact;
            type Sample = $sample;
            type Value = $value;
            type Product = $product;
            type Sum = $sum;

            #[inline(always)]
            fn value(sample: $sample) -> $value {
                sample.into()
            }
            #[inline(always)]
            fn product(a: $value, b: $value) -> $product {
                ($multiplied)(a, b)
            }
            #[inline(always)]
            fn tap(tap: f32) -> $product {
                tap as $product
            }
            #[inline(always)]
            fn sum(product: $product) -> $sum {
                product.into()
            }
            #[inline(always)]
            fn rounded(sum: $sum) -> f32 {
                sum as f32
            }
        }
    )*};
}

arithmetics! {
    // Sums down fit in 32 bits: those of one channel are at most 16 · 4080², or 31 · 1020², those of three 3 · 3 · 4080².
    Bytes [true]: u8, i32, i32, i64, |a: i32, b: i32| a * b;
    Words [true]: u16, i32, i64, i64, |a: i32, b: i32| i64::from(a) * i64::from(b);
    Floats [false]: f32, f32, f32, f32, |a: f32, b: f32| a * b;
    // Bytes under a window of floats.
    Rounded [false]: u8, i32, f32, f32, |a: i32, b: i32| (a * b) as f32;
}

macro_rules! rims {
    ($($name:ident: $arithmetic:ident, $sample:ident;)*) => {$(
        pub(crate) fn $name<S: Simt>(
            s: S,
            image: S::Buffer<$sample>,
            state: S::Buffer<u32>,
            keys: S::Buffer<u64>,
            counts: S::Buffer<u32>,
            response: S::Buffer<f32>,
            stride: u64,
            width: u32,
            height: u32,
            pitch: u32,
            channels: u32,
            border: u32,
            smoothing: u32,
            gradient: u32,
            window: u32,
            slides: u32,
            radius: u32,
            scale: f32,
            measure: u32,
            parameter: f32,
            margin: u32,
            plateau: u32,
            threshold: u32,
            value: f32,
            piece: u32,
            pieces: u32,
            room: u32,
            mask: S::Buffer<u8>,
            mask_pitch: u32,
            tap0: f32,
            tap1: f32,
            tap2: f32,
            tap3: f32,
        ) {
            let size = Size { width, height };
            let set = Settings { size, channels, border, smoothing, gradient, window, slides: slides != 0, radius, scale, measure, parameter, taps: [tap0, tap1, tap2, tap3] };
            let image = Image { samples: image, start: s.block_row() as usize * stride as usize, pitch };
            let list = List { state, keys, counts, margin, plateau, threshold, value, piece, pieces, room };
            rim::<S, $arithmetic>(s, image, set, response, Mask::new(s, mask, mask_pitch), list);
        }
    )*};
}

rims! {
    rim_u8: Bytes, u8;
    rim_u16: Words, u16;
    rim_f32: Floats, f32;
    rim_rounded_u8: Rounded, u8;
}

/// What comes before responses, and makes them.
#[derive(Clone, Copy)]
struct Settings {
    size: Size,
    channels: u32,
    border: u32,
    smoothing: u32,
    gradient: u32,
    window: u32,
    /// Whether its weights are all alike.
    slides: bool,
    /// Of suppression.
    radius: u32,
    scale: f32,
    measure: u32,
    parameter: f32,
    /// The window's weights from its centre on; the last are those of all that are farther out, too.
    taps: [f32; 4],
}

impl Settings {
    #[inline(always)]
    fn tap(self, distance: u32) -> f32 {
        let [centre, first, second, others] = self.taps;
        match distance {
            0 => centre,
            1 => first,
            2 => second,
            _ => others,
        }
    }
}

/// Interleaved samples.
#[derive(Clone, Copy)]
struct Image<S: Simt, T: Word> {
    samples: S::Buffer<T>,
    start: usize,
    pitch: u32,
}

/// Where corners go; where pieces have no room for any, responses are left.
#[derive(Clone, Copy)]
struct List<S: Simt> {
    state: S::Buffer<u32>,
    keys: S::Buffer<u64>,
    counts: S::Buffer<u32>,
    margin: u32,
    /// Of [`plateau`].
    plateau: u32,
    threshold: u32,
    value: f32,
    piece: u32,
    pieces: u32,
    room: u32,
}

/// Pixels of an image.
#[derive(Clone, Copy)]
struct Area {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

impl Area {
    /// The tile of this block: those above come first, then those below, to the left and to the right.
    #[inline(always)]
    fn tile(block: u32, size: Size, depth: u32) -> Self {
        let Size { width, height } = size;
        let across = tiles_across(width);
        if block < 2 * across {
            let left = block % across * SIDE;
            let top = if block < across { 0 } else { height - depth };
            return Self { left, top, right: (left + SIDE).min(width), bottom: top + depth };
        }
        let down = tiles_across(height - 2 * depth);
        let block = block - 2 * across;
        let left = if block < down { 0 } else { width - depth };
        let top = depth + block % down * SIDE;
        Self { left, top, right: left + depth, bottom: (top + SIDE).min(height - depth) }
    }

    /// With what lies so far around, as far as that is inside.
    #[inline(always)]
    fn grown(self, across: u32, down: u32, size: Size) -> Self {
        Self {
            left: self.left.saturating_sub(across),
            top: self.top.saturating_sub(down),
            right: (self.right + across).min(size.width),
            bottom: (self.bottom + down).min(size.height),
        }
    }

    #[inline(always)]
    fn columns(self) -> u32 {
        self.right - self.left
    }

    #[inline(always)]
    fn pixels(self) -> u32 {
        self.columns() * (self.bottom - self.top)
    }

    #[inline(always)]
    fn contains(self, x: u32, y: u32) -> bool {
        x >= self.left && x < self.right && y >= self.top && y < self.bottom
    }

    /// Its pixels, shared out to the threads of the block, a few of each at once: all are fetched before any is stored.
    #[inline(always)]
    fn each<S: Simt, T: Copy, const AT_ONCE: usize>(
        self,
        s: S,
        fetch: impl Fn(u32, u32) -> T,
        mut store: impl FnMut(u32, u32, T),
    ) {
        let columns = self.columns();
        let (mut x, mut y) = (s.thread() % columns, s.thread() / columns);
        // So far it is from one of a thread's to the next.
        let (across, down) = (s.threads() % columns, s.threads() / columns);
        let rows = self.bottom - self.top;
        while y < rows {
            let places: [_; AT_ONCE] = array::from_fn(|_| {
                let place = (self.left + x, self.top + y.min(rows - 1), y < rows);
                (x, y) = (x + across, y + down);
                if x >= columns {
                    (x, y) = (x - columns, y + 1);
                }
                place
            });
            let fetched = places.map(|(x, y, _)| fetch(x, y));
            for i in 0..AT_ONCE {
                let (x, y, is_inside) = places[i];
                if is_inside {
                    store(x, y, fetched[i]);
                }
            }
        }
    }
}

/// Numbers of an area's pixels in shared memory, which go on beyond the image's edges.
#[derive(Clone, Copy)]
struct Field<S: Simt> {
    s: S,
    area: Area,
    /// The first of its words; an even one, where numbers take two each.
    first: u32,
    size: Size,
    rule: u32,
}

impl<S: Simt> Field<S> {
    /// Words that numbers of an area take.
    #[inline(always)]
    fn words<T: Word>(area: Area) -> u32 {
        area.pixels() * const { T::BYTES.div_ceil(4) as u32 }
    }

    #[inline(always)]
    fn number(self, x: u32, y: u32) -> u32 {
        (y - self.area.top) * self.area.columns() + (x - self.area.left)
    }

    #[inline(always)]
    fn get<T: Word>(self, x: u32, y: u32) -> T {
        let i = self.number(x, y);
        T::from_bits(match T::BYTES {
            8 => self.s.shared(self.first / 2 + i),
            _ => self.s.shared_word(self.first + i).into(),
        })
    }

    #[inline(always)]
    fn set<T: Word>(self, x: u32, y: u32, value: T) {
        let i = self.number(x, y);
        match T::BYTES {
            8 => self.s.set_shared(self.first / 2 + i, value.into_bits()),
            _ => self.s.set_shared_word(self.first + i, value.into_bits() as u32),
        }
    }

    /// What stands for the pixel at x, y, which may lie outside: without a branch, as most of a tile lies inside.
    #[inline(always)]
    fn at<T: Number>(self, x: i32, y: i32) -> T {
        let nearest = |i: i32, len: u32| i.max(0).min(len as i32 - 1);
        let (column, row) = (nearest(x, self.size.width), nearest(y, self.size.height));
        let number = self.get(column as u32, row as u32);
        if self.rule == border::ZERO && (column != x || row != y) { T::ZERO } else { number }
    }
}

#[inline(always)]
fn rim<S: Simt, A: Arithmetic>(
    s: S,
    image: Image<S, A::Sample>,
    set: Settings,
    map: S::Buffer<f32>,
    mask: Mask<S>,
    list: List<S>,
) {
    let Settings { size, border: rule, smoothing, window, radius, .. } = set;
    let depth = smoothing + 1 + window + radius;
    let tile = Area::tile(s.block(), size, depth);
    // From the tile back to the samples: what each stage is to have.
    let responses = tile.grown(radius, radius, size);
    let sums = responses.grown(window, 0, size);
    let gradients = sums.grown(0, window, size);
    let smoothed = gradients.grown(1, 1, size);
    let samples = smoothed.grown(smoothing, smoothing, size);
    // Samples are smoothed from the second part of the memory to the first, and differentiated back; sums have a third. What rows have of
    // corners comes where smoothed samples were.
    let field = |area: Area, first: u32| Field { s, area, first, size, rule };
    let second = Field::<S>::words::<A::Value>(smoothed).max(SIDE).next_multiple_of(2);
    let [of_gradient, of_sum] =
        [Field::<S>::words::<A::Value>(gradients), Field::<S>::words::<A::Product>(sums)];
    let third = second + (2 * of_gradient).max(Field::<S>::words::<A::Value>(samples)).next_multiple_of(2);
    let before = field(samples, if smoothing == 0 { 0 } else { second });
    let smoothed = field(smoothed, 0);
    let gradients = [field(gradients, second), field(gradients, second + of_gradient)];
    let sums: [_; 3] = array::from_fn(|i| field(sums, third + i as u32 * of_sum));
    let responses = field(responses, second);

    s.admit_next();
    s.await_last();
    for channel in 0..set.channels {
        s.barrier();
        let fetch = |x: u32, y: u32| {
            let row = image.start + s.product(y, image.pitch) as usize;
            A::value(s.load_constant(image.samples, row + (x * set.channels + channel) as usize))
        };
        before.area.each::<S, _, 4>(s, fetch, |x, y, value| before.set(x, y, value));
        s.barrier();
        match smoothing {
            0 => {}
            1 => smooth::<S, A, 1>(s, before, smoothed),
            _ => smooth::<S, A, 2>(s, before, smoothed),
        }
        s.barrier();
        differentiate::<S, A>(s, set, smoothed, gradients);
        s.barrier();
        sum_down::<S, A>(s, set, gradients, sums, channel > 0);
    }
    s.barrier();
    sum_across::<S, A>(set, sums, responses.area, |x, y, [a, b, c]| {
        let value = measure_of(|square| s.sqrt(square), set.measure, set.parameter, a, b, c);
        if list.room == 0 {
            s.store(map, size.number(x, y) as usize, value);
        } else {
            responses.set(x, y, value);
        }
    });
    if list.room > 0 {
        s.barrier();
        find(s, tile, responses, mask, radius, list);
    }
}

/// Across, then down.
#[inline(always)]
fn smooth<S: Simt, A: Arithmetic, const RADIUS: usize>(s: S, from: Field<S>, to: Field<S>) {
    let smoothed = |x: u32, y: u32| {
        let sum: A::Value = binomial(RADIUS, |j| binomial(RADIUS, |i| from.at(x as i32 + i, y as i32 + j)));
        sum.mean(RADIUS)
    };
    to.area.each::<S, _, 1>(s, smoothed, |x, y, value| to.set(x, y, value));
}

#[inline(always)]
fn differentiate<S: Simt, A: Arithmetic>(s: S, set: Settings, from: Field<S>, [gx, gy]: [Field<S>; 2]) {
    let gradient = |x: u32, y: u32| {
        // Of the rows above, at and below: right minus left, and the weighted sum across.
        let rows: [[A::Value; 2]; 3] = array::from_fn(|j| {
            let [left, own, right]: [A::Value; 3] =
                array::from_fn(|i| from.at(x as i32 + i as i32 - 1, y as i32 + j as i32 - 1));
            [right - left, weighted(set.gradient, left + right, own)]
        });
        [weighted(set.gradient, rows[0][0] + rows[2][0], rows[1][0]), rows[2][1] - rows[0][1]]
    };
    gx.area.each::<S, _, 1>(s, gradient, |x, y, gradient| {
        gx.set(x, y, gradient[0]);
        gy.set(x, y, gradient[1]);
    });
}

/// Sums of windows that follow each other on a line, from place `first` up to `last`: `at` tells what they add up at a place.
#[inline(always)]
fn add_up<T: Number>(
    set: Settings,
    tap: impl Fn(f32) -> T,
    slides: bool,
    (first, last): (u32, u32),
    at: impl Fn(i32) -> [T; 3],
    mut store: impl FnMut(u32, [T; 3]),
) {
    let window = set.window as i32;
    let mut sums = [T::NOTHING; 3];
    for place in first..last {
        let centre = place as i32;
        if slides && place > first {
            let (enters, leaves) = (at(centre + window), at(centre - window - 1));
            sums = array::from_fn(|kind| sums[kind] + enters[kind] - leaves[kind]);
        } else {
            sums = [T::NOTHING; 3];
            for i in -window..=window {
                let terms = at(centre + i);
                let weighed = |term| if slides { term } else { tap(set.tap(i.unsigned_abs())) * term };
                sums = array::from_fn(|kind| sums[kind] + weighed(terms[kind]));
            }
        }
        store(place, sums);
    }
}

/// The thread's part of so many lines of so many places, of which there is one at most: the number of its line, and the first and the last
/// of its places.
#[inline(always)]
fn part<S: Simt>(s: S, lines: u32, places: u32) -> Option<(u32, u32, u32)> {
    let length = places.div_ceil(s.threads() / lines);
    let (line, first) = (s.thread() % lines, s.thread() / lines * length);
    (first < places).then(|| (line, first, (first + length).min(places)))
}

/// Products of gradients, summed down the window; added to those of other channels where there are `more`, which are exact then.
#[inline(always)]
fn sum_down<S: Simt, A: Arithmetic>(
    s: S,
    set: Settings,
    [gx, gy]: [Field<S>; 2],
    to: [Field<S>; 3],
    more: bool,
) {
    let area = to[0].area;
    let Some((column, first, last)) = part(s, area.columns(), area.bottom - area.top) else { return };
    let x = area.left + column;
    let products = |y: i32| {
        let (gx, gy): (A::Value, A::Value) = (gx.at(x as i32, y), gy.at(x as i32, y));
        [A::product(gx, gx), A::product(gx, gy), A::product(gy, gy)]
    };
    add_up(
        set,
        A::tap,
        set.slides && A::IS_EXACT,
        (area.top + first, area.top + last),
        products,
        |y, sums| {
            for kind in 0..3 {
                let others = if more { to[kind].get(x, y) } else { A::Product::NOTHING };
                to[kind].set(x, y, sums[kind] + others);
            }
        },
    );
}

/// The window's sums at the pixels of an area, of those down it, scaled.
#[inline(always)]
fn sum_across<S: Simt, A: Arithmetic>(
    set: Settings,
    sums: [Field<S>; 3],
    area: Area,
    mut store: impl FnMut(u32, u32, [f32; 3]),
) {
    let Some((row, first, last)) = part(sums[0].s, area.bottom - area.top, area.columns()) else { return };
    let y = area.top + row;
    let tap = |tap| A::sum(A::tap(tap));
    let column = |x: i32| sums.map(|sums| A::sum(sums.at(x, y as i32)));
    add_up(set, tap, set.slides && A::IS_EXACT, (area.left + first, area.left + last), column, |x, sums| {
        store(x, y, sums.map(|sum| A::rounded(sum) * set.scale));
    });
}

/// Lists the tile's corners, and tells of its greatest response.
#[inline(always)]
fn find<S: Simt>(s: S, tile: Area, responses: Field<S>, mask: Mask<S>, radius: u32, list: List<S>) {
    let size = responses.size;
    let greatest_of_all = s.block_row() as usize * state::WORDS + state::GREATEST;
    let known = s.load_shared_by_all(list.state, greatest_of_all);
    let bound = floor(list.threshold, list.value, known);
    let mut greatest = NEVER;
    let mut row = s.warp();
    while row < SIDE {
        let (x, y) = (tile.left + s.lane(), tile.top + row);
        let is_sought = tile.contains(x, y) && mask.allows_in_stack(size.height, x, y);
        let own = if is_sought { responses.get(x, y) } else { NEVER };
        greatest = if own > greatest { own } else { greatest };
        let is_corner = own > bound
            && size.within(list.margin, x, y)
            && is_strongest(responses, x, y, radius, list.plateau);
        let corners = s.ballot(is_corner);
        if s.lane() == 0 {
            s.set_shared_word(row, corners);
        }
        row += s.threads() / WARP;
    }
    let mut greatest = ordered(greatest);
    if s.any(greatest > known.max(ordered(NEVER))) {
        let mut delta = WARP / 2;
        while delta > 0 {
            greatest = greatest.max(s.shuffle_xor(greatest, delta));
            delta /= 2;
        }
        if s.lane() == 0 {
            s.atomic_max(list.state, greatest_of_all, greatest);
        }
    }
    s.barrier();
    if s.warp() == 0 {
        emit(s, tile, responses, list);
    }
}

/// Lists the corners that rows have, a lane those of one.
#[inline(always)]
fn emit<S: Simt>(s: S, tile: Area, responses: Field<S>, list: List<S>) {
    let mut corners = s.shared_word(s.lane());
    let mut up_to = corners.count_ones();
    let mut delta = 1;
    while delta < WARP {
        up_to = s.plus_below(up_to, delta);
        delta *= 2;
    }
    let piece = (s.block_row() * list.pieces + list.piece + s.block()) as usize;
    let mut place = up_to - corners.count_ones();
    let y = tile.top + s.lane();
    while corners != 0 && place < list.room {
        let x = tile.left + 31 - (corners & corners.wrapping_neg()).leading_zeros();
        let response = responses.get::<u32>(x, y);
        let key = u64::from(!response) << 32 | u64::from(responses.size.number(x, y));
        s.store(list.keys, piece * list.room as usize + place as usize, key);
        corners &= corners - 1;
        place += 1;
    }
    if s.lane() == WARP - 1 {
        s.store(list.counts, piece, up_to);
    }
}

/// Whether no response around exceeds that at x, y, and, where one pixel of a plateau stays, none before it is equal.
#[inline(always)]
fn is_strongest<S: Simt>(responses: Field<S>, x: u32, y: u32, radius: u32, plateau: u32) -> bool {
    let own: f32 = responses.get(x, y);
    let Size { width, height } = responses.size;
    let mut v = y.saturating_sub(radius);
    while v <= (y + radius).min(height - 1) {
        let mut u = x.saturating_sub(radius);
        while u <= (x + radius).min(width - 1) {
            let other: f32 = responses.get(u, v);
            let is_before = v < y || v == y && u < x;
            if other > own || plateau == plateau::FIRST && other == own && is_before {
                return false;
            }
            u += 1;
        }
        v += 1;
    }
    true
}
