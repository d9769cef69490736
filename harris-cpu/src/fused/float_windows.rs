//! The windows of a tile of floats: from gradients to responses, where there may be one above the threshold; as [`super::windows`].
//!
//! Sums of integer gradients are 64-bit floats, exact below 2⁵³, and run on down box windows. All others are taken anew for each row, in the
//! order of the contract.

use harris_core::Measure;

use super::float_stages::{LANES, Two, both, later};
use super::float_tiles::{Block, Pair, load};
use super::floats::{bound, response};
use super::responses::{self, Responses};
use super::scratch::Aligned;
use super::tiles::MOST_TILED;
use super::weighted::{Held, Line, Weights, binomial, line_sum};
use crate::simd::{Simd, Work};

/// The windows of a tile and a block of rows.
pub(super) struct Windows<'a> {
    pub(super) measure: Measure,
    pub(super) scale: f32,
    pub(super) threshold: f32,
    /// Responses that do not exceed this need not be computed.
    pub(super) quiet: f32,
    pub(super) weights: Weights<&'a [f32]>,
    /// Whether sums are exact.
    pub(super) exact: bool,
    /// Of each channel; and the first row of the first row's window.
    pub(super) gradients: &'a [Block],
    pub(super) first: usize,
    /// The rows of responses in whose windows something is heard, as bits.
    pub(super) heard: u64,
    pub(super) responses: &'a mut Responses,
    /// The place of the first row of responses.
    pub(super) slot: usize,
    /// The tile's number, and its first element in a row of responses.
    pub(super) word: (usize, usize),
    /// Its columns.
    pub(super) columns: usize,
}

/// The kernels for windows of size `S`, each compiled by itself.
struct Exact<'a, const S: usize, const B: bool>(Windows<'a>);
struct Rounded<'a, const S: usize>(Windows<'a>);

impl<const S: usize, const B: bool> Work for Exact<'_, S, B> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> u64 {
        self.0.by(v, &mut ExactSums::<V, S, B>([[v.splat_f64(0.0); 4]; 3]))
    }
}

impl<const S: usize> Work for Rounded<'_, S> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> u64 {
        match self.0.weights {
            Weights::Box => self.by(v, Weights::Box),
            Weights::Binomial => self.by(v, Weights::Binomial),
            Weights::Taps(taps) => self.by(v, Weights::Taps(Held::new(v, taps))),
        }
    }
}

impl<const S: usize> Rounded<'_, S> {
    #[inline(always)]
    fn by<V: Simd>(self, v: V, weights: Weights<Held<V>>) -> u64 {
        let products = [[Aligned([0.0; LANES]); 3]; RING];
        self.0.by(v, &mut RoundedSums::<V, S> { weights, products, sums: [[v.splat_f32(0.0); 2]; 3] })
    }
}

impl Windows<'_> {
    /// Puts and marks the responses of rows that are not quiet; returns which, as bits.
    #[inline(always)]
    pub(super) fn respond<V: Simd>(self, v: V, radius: usize) -> u64 {
        let is_box = matches!(self.weights, Weights::Box);
        match (self.exact, radius) {
            (false, 1) => v.enter(Rounded::<3>(self)),
            (false, 2) => v.enter(Rounded::<5>(self)),
            (false, _) => v.enter(Rounded::<7>(self)),
            (true, 1) if is_box => v.enter(Exact::<3, false>(self)),
            (true, 2) if is_box => v.enter(Exact::<5, false>(self)),
            (true, _) if is_box => v.enter(Exact::<7, false>(self)),
            (true, 1) => v.enter(Exact::<3, true>(self)),
            (true, 2) => v.enter(Exact::<5, true>(self)),
            (true, _) => v.enter(Exact::<7, true>(self)),
        }
    }

    #[inline(always)]
    fn by<V: Simd, S: Sums<V>>(self, v: V, sums: &mut S) -> u64 {
        let Windows { gradients, first, mut heard, responses, slot, .. } = self;
        let respond = Respond {
            measure: self.measure,
            scale: v.splat_f32(self.scale),
            limit: v.splat_f32(self.threshold),
            quiet: v.splat_f32(self.quiet),
            valid: u32::MAX >> (32 - self.columns),
            word: self.word,
        };
        let mut computed = 0;
        // Rows that are heard mostly follow each other.
        while heard != 0 {
            let start = heard.trailing_zeros() as usize;
            let end = start + (heard >> start).trailing_ones() as usize;
            heard &= !0 << end;
            sums.take(v, gradients, first + start, false);
            let mut next = respond.ask(v, sums);
            for row in start..end {
                // The question about a row is put while the one before it is responded to, as by the other tiles.
                let asked = next;
                if row + 1 < end {
                    sums.take(v, gradients, first + row + 1, true);
                    next = respond.ask(v, sums);
                }
                if asked.is_loud {
                    respond.put(v, sums, asked, responses, (slot + row) % responses::RING);
                    computed |= 1 << row;
                }
            }
        }
        computed
    }
}

/// What is known of a row of windows before it is responded to.
#[derive(Clone, Copy)]
struct Asked<V: Simd, D> {
    is_loud: bool,
    /// The sums of gx² and of gy², scaled.
    a: Two<V::F32>,
    c: Two<V::F32>,
    /// Of gx·gy, down the columns.
    b: D,
}

/// Computes the responses of rows of a tile.
struct Respond<V: Simd> {
    measure: Measure,
    scale: V::F32,
    limit: V::F32,
    quiet: V::F32,
    /// The tile's columns, as bits.
    valid: u32,
    word: (usize, usize),
}

impl<V: Simd> Respond<V> {
    #[inline(always)]
    fn ask<S: Sums<V>>(&self, v: V, sums: &S) -> Asked<V, S::Down> {
        let [a, b, c] = sums.down();
        let [a, c] = [sums.across(v, a), sums.across(v, c)];
        let [a, c] = [both!(h => v.mul(a[h], self.scale)), both!(h => v.mul(c[h], self.scale))];
        let loud = both!(h => v.greater(bound(v, self.measure, a[h], c[h]), self.quiet));
        Asked { is_loud: (loud[0] | loud[1] << V::LANES) & self.valid != 0, a, c, b }
    }

    /// Puts the responses of a row.
    #[inline(always)]
    fn put<S: Sums<V>>(
        &self,
        v: V,
        sums: &S,
        asked: Asked<V, S::Down>,
        responses: &mut Responses,
        slot: usize,
    ) {
        let Asked { a, b, c, .. } = asked;
        let b = sums.across(v, b);
        let b = both!(h => v.mul(b[h], self.scale));
        let found = both!(h => response(v, self.measure, a[h], b[h], c[h]));
        responses.put(v, slot, self.word.1, found);
        let above = both!(h => v.greater(found[h], self.limit));
        responses.mark(slot, self.word.0, (above[0] | above[1] << V::LANES) & self.valid);
    }
}

/// The sums of gx², gx·gy and gy² over windows.
trait Sums<V: Simd> {
    /// Those of one of them down the columns.
    type Down: Copy;

    /// Takes the sums down the columns, from row `window` on; or goes on to them from the row above.
    fn take(&mut self, v: V, gradients: &[Block], window: usize, goes_on: bool);
    fn down(&self) -> [Self::Down; 3];
    /// The sums over the window's columns.
    fn across(&self, v: V, down: Self::Down) -> Two<V::F32>;
}

/// Exact sums, of boxes, or of binomial windows where `B`.
struct ExactSums<V: Simd, const S: usize, const B: bool>([[V::F64; 4]; 3]);

/// A quarter of gx and gy of a row.
#[inline(always)]
fn widened<V: Simd>(v: V, row: &Pair, quarter: usize) -> [V::F64; 2] {
    both!(of => v.load_widened(&row.0[of], quarter * V::LANES / 2))
}

impl<V: Simd, const S: usize, const B: bool> Sums<V> for ExactSums<V, S, B> {
    type Down = [V::F64; 4];

    #[inline(always)]
    fn take(&mut self, v: V, gradients: &[Block], window: usize, goes_on: bool) {
        if goes_on && !B {
            for block in gradients {
                let (leaves, enters) = (&block[window - 1], &block[window + S - 1]);
                for quarter in 0..4 {
                    let ([x, y], [u, w]) = (widened(v, enters, quarter), widened(v, leaves, quarter));
                    for (sums, [[x, y], [u, w]]) in
                        self.0.iter_mut().zip([[[x, x], [u, u]], [[x, y], [u, w]], [[y, y], [w, w]]])
                    {
                        sums[quarter] = v.sub_product(v.add_product(sums[quarter], x, y), u, w);
                    }
                }
            }
            return;
        }
        for quarter in 0..4 {
            let mut sums = [v.splat_f64(0.0); 3];
            for block in gradients {
                for (place, row) in block[window..window + S].iter().enumerate() {
                    let [x, y] = widened(v, row, quarter);
                    let [mut wx, mut wy] = [x, y];
                    let distance = place.abs_diff(S / 2);
                    if B && distance < S / 2 {
                        let weight = v.splat_f64(binomial(S / 2)[distance].into());
                        [wx, wy] = [v.mul_f64(weight, x), v.mul_f64(weight, y)];
                    }
                    sums[0] = v.add_product(sums[0], wx, x);
                    sums[1] = v.add_product(sums[1], wx, y);
                    sums[2] = v.add_product(sums[2], wy, y);
                }
            }
            for (all, sum) in self.0.iter_mut().zip(sums) {
                all[quarter] = sum;
            }
        }
    }

    #[inline(always)]
    fn down(&self) -> [[V::F64; 4]; 3] {
        self.0
    }

    #[inline(always)]
    fn across(&self, v: V, mut sums: [V::F64; 4]) -> Two<V::F32> {
        let mut moved = sums;
        for _ in 1..S {
            if B {
                // [1 1] across, once for each column after the first.
                moved = sums;
            }
            let [p, q, r, s] = moved;
            moved = [v.next_f64(p, q), v.next_f64(q, r), v.next_f64(r, s), v.next_f64(s, s)];
            for (sum, moved) in sums.iter_mut().zip(moved) {
                *sum = v.add_f64(*sum, moved);
            }
        }
        let [p, q, r, s] = sums;
        [v.narrow([p, q]), v.narrow([r, s])]
    }
}

/// Rows of products that are kept: those of a window, and a power of two.
const RING: usize = 8;
const _: () = assert!(RING > 2 * MOST_TILED);

/// gx², gx·gy and gy² of a row.
type Products = [Aligned<f32, LANES>; 3];

/// Sums of floats.
struct RoundedSums<V: Simd, const S: usize> {
    weights: Weights<Held<V>>,
    products: [Products; RING],
    sums: [Two<V::F32>; 3],
}

/// Half of a row, down the window's rows.
struct Rows<'a> {
    products: &'a [Products; RING],
    of: usize,
    window: usize,
    half: usize,
}

impl<V: Simd> Line<V> for Rows<'_> {
    #[inline(always)]
    fn at(&self, v: V, place: usize, _: usize) -> V::F32 {
        v.load_f32(&self.products[(self.window + place) % RING][self.of].0, self.half * V::LANES)
    }
}

/// Half of a window's places that are in registers.
struct Places<'a, V: Simd, const S: usize> {
    places: &'a [Two<V::F32>; S],
    half: usize,
}

impl<V: Simd, const S: usize> Line<V> for Places<'_, V, S> {
    #[inline(always)]
    fn at(&self, _: V, place: usize, _: usize) -> V::F32 {
        self.places[place][self.half]
    }
}

/// gx², gx·gy and gy² of a row, summed over the channels.
#[inline(always)]
fn products<V: Simd>(v: V, gradients: &[Block], row: usize) -> [Two<V::F32>; 3] {
    let mut sums = [[v.splat_f32(0.0); 2]; 3];
    for (channel, block) in gradients.iter().enumerate() {
        let [x, y] = load(v, &block[row]);
        for (sum, [x, y]) in sums.iter_mut().zip([[x, x], [x, y], [y, y]]) {
            let products = both!(h => v.mul(x[h], y[h]));
            *sum = if channel == 0 { products } else { both!(h => v.add(sum[h], products[h])) };
        }
    }
    sums
}

impl<V: Simd, const S: usize> RoundedSums<V, S> {
    /// Of a window of 3 all products fit in registers, and to compute them anew takes less time than to keep them.
    #[inline(always)]
    fn take_three(&mut self, v: V, gradients: &[Block], window: usize) {
        let mut places = [[[v.splat_f32(0.0); 2]; S]; 3];
        for place in 0..S {
            let products = products(v, gradients, window + place);
            for of in 0..3 {
                places[of][place] = products[of];
            }
        }
        for of in 0..3 {
            let places = &places[of];
            self.sums[of] =
                both!(half => line_sum(v, &Places::<V, S> { places, half }, S / 2, &self.weights, 0));
        }
    }
}

impl<V: Simd, const S: usize> Sums<V> for RoundedSums<V, S> {
    type Down = Two<V::F32>;

    #[inline(always)]
    fn take(&mut self, v: V, gradients: &[Block], window: usize, goes_on: bool) {
        if S == 3 {
            return self.take_three(v, gradients, window);
        }
        let new = if goes_on { S - 1 } else { 0 };
        for row in window + new..window + S {
            let products = products(v, gradients, row);
            for (out, [low, high]) in self.products[row % RING].iter_mut().zip(products) {
                v.store_f32(&mut out.0, 0, low);
                v.store_f32(&mut out.0, V::LANES, high);
            }
        }
        let products = &self.products;
        for of in 0..3 {
            self.sums[of] = both!(half => {
                let rows = Rows { products, of, window, half };
                line_sum(v, &rows, S / 2, &self.weights, 0)
            });
        }
    }

    #[inline(always)]
    fn down(&self) -> [Two<V::F32>; 3] {
        self.sums
    }

    #[inline(always)]
    fn across(&self, v: V, sums: Two<V::F32>) -> Two<V::F32> {
        let mut places = [sums; S];
        (places[1], places[2]) = (later::<1, V>(v, sums), later::<2, V>(v, sums));
        if S > 3 {
            (places[3], places[4]) = (later::<3, V>(v, sums), later::<4, V>(v, sums));
        }
        if S > 5 {
            (places[5], places[6]) = (later::<5, V>(v, sums), later::<6, V>(v, sums));
        }
        both!(half => line_sum(v, &Places::<V, S> { places: &places, half }, S / 2, &self.weights, 0))
    }
}
