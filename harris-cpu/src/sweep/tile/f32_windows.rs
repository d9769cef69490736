//! The windows of a tile of f32: from gradients to responses, where one may exceed the threshold.
//!
//! Sums of integer gradients are 64-bit floats, exact below 2⁵³, and slide down box windows. All
//! others are taken anew for each row, in the order of docs/arithmetic.md.

use harris_core::Measure;

use super::arithmetic::{Block, Pair, Windows};
use super::f32_stages::{TwoVectors, both, load, shifted};
use crate::peaks::ring::{self, ResponseRing};
use crate::plan::{MAX_TILE_RADIUS, TILE_LANES};
use crate::rows::Aligned;
use crate::simd::{Simd, SimdKernel};
use crate::sweep::lines::{HeldTaps, Line, Weights, binomial, line_sum};
use crate::sweep::measure::{response, upper_bound};

/// The bounds of tiles of f32, and the window's weights.
#[derive(Clone, Copy)]
pub(crate) struct Bounds<'a> {
    /// A bound that gx² + gy² of a channel exceeds in some pixel of each window with a response
    /// above the threshold.
    pub(crate) gradient: f32,
    /// Responses at most this are rejected.
    pub(crate) reject_below: f32,
    pub(crate) weights: Weights<&'a [f32]>,
    /// Whether sums are exact.
    pub(crate) is_exact: bool,
}

type F32Windows<'a> = Windows<'a, f32, Bounds<'a>>;

/// The kernel for exact sums of windows of size `S`, binomial where `B`.
struct Exact<'a, const S: usize, const B: bool>(F32Windows<'a>);
/// The kernel for rounded sums of windows of size `S`.
struct Rounded<'a, const S: usize>(F32Windows<'a>);

impl<const S: usize, const B: bool> SimdKernel for Exact<'_, S, B> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> u64 {
        self.0.by(v, &mut ExactSums::<V, S, B>([[v.splat_f64(0.0); 4]; 3]))
    }
}

impl<const S: usize> SimdKernel for Rounded<'_, S> {
    type Output = u64;

    #[inline(always)]
    fn run<V: Simd>(self, v: V) -> u64 {
        match self.0.bounds.weights {
            Weights::Box => self.by(v, Weights::Box),
            Weights::Binomial => self.by(v, Weights::Binomial),
            Weights::Taps(taps) => self.by(v, Weights::Taps(HeldTaps::new(v, taps))),
        }
    }
}

impl<const S: usize> Rounded<'_, S> {
    #[inline(always)]
    fn by<V: Simd>(self, v: V, weights: Weights<HeldTaps<V>>) -> u64 {
        let products = [[Aligned([0.0; TILE_LANES]); 3]; RING];
        self.0.by(v, &mut RoundedSums::<V, S> { weights, products, sums: [[v.splat_f32(0.0); 2]; 3] })
    }
}

/// Puts the responses of rows that are not rejected, and marks candidates. Returns these rows, as
/// bits.
#[inline(always)]
pub(crate) fn respond<V: Simd>(v: V, windows: F32Windows<'_>) -> u64 {
    const { assert!(MAX_TILE_RADIUS == 3, "a kernel for each radius") };
    let is_box = match windows.bounds.weights {
        Weights::Box => true,
        Weights::Binomial | Weights::Taps(_) => false,
    };
    match (windows.bounds.is_exact, is_box, windows.radius) {
        (false, _, 1) => v.enter(Rounded::<3>(windows)),
        (false, _, 2) => v.enter(Rounded::<5>(windows)),
        (false, _, _) => v.enter(Rounded::<7>(windows)),
        (true, true, 1) => v.enter(Exact::<3, false>(windows)),
        (true, true, 2) => v.enter(Exact::<5, false>(windows)),
        (true, true, _) => v.enter(Exact::<7, false>(windows)),
        (true, false, 1) => v.enter(Exact::<3, true>(windows)),
        (true, false, 2) => v.enter(Exact::<5, true>(windows)),
        (true, false, _) => v.enter(Exact::<7, true>(windows)),
    }
}

impl F32Windows<'_> {
    #[inline(always)]
    fn by<V: Simd, S: Sums<V>>(self, v: V, sums: &mut S) -> u64 {
        let Windows { gradients, first, mut active, responses, slot, channels, .. } = self;
        let gradients = &gradients[..channels];
        let respond = Respond {
            measure: self.measure,
            scale: v.splat_f32(self.scale),
            limit: v.splat_f32(self.threshold),
            reject_below: v.splat_f32(self.bounds.reject_below),
            valid: u32::MAX >> (32 - self.columns),
            word: self.word,
        };
        let mut computed = 0;
        // Most active rows follow one another.
        while active != 0 {
            let start = active.trailing_zeros() as usize;
            let end = start + (active >> start).trailing_ones() as usize;
            active &= !0 << end;
            sums.take(v, gradients, first + start, false);
            let mut next = respond.test(v, sums);
            for row in start..end {
                // A row is tested before the responses of the one above, as in tiles of i16.
                let tested = next;
                if row + 1 < end {
                    sums.take(v, gradients, first + row + 1, true);
                    next = respond.test(v, sums);
                }
                if tested.passes {
                    respond.put(v, sums, tested, responses, (slot + row) % ring::RING);
                    computed |= 1 << row;
                }
            }
        }
        computed
    }
}

/// The sums of a row of windows, and whether any of them may have a response above the threshold.
#[derive(Clone, Copy)]
struct RowTest<V: Simd, D> {
    passes: bool,
    /// The sums of gx² and of gy², scaled.
    a: TwoVectors<V::F32>,
    c: TwoVectors<V::F32>,
    /// The sums of gx·gy down the columns.
    b: D,
}

/// Computes the responses of rows of a tile.
struct Respond<V: Simd> {
    measure: Measure,
    scale: V::F32,
    limit: V::F32,
    reject_below: V::F32,
    /// The tile's columns as bits.
    valid: u32,
    word: (usize, usize),
}

impl<V: Simd> Respond<V> {
    #[inline(always)]
    fn test<S: Sums<V>>(&self, v: V, sums: &S) -> RowTest<V, S::Down> {
        let [a, b, c] = sums.down();
        let [a, c] = [sums.across(v, a), sums.across(v, c)];
        let [a, c] = [both!(h => v.mul(a[h], self.scale)), both!(h => v.mul(c[h], self.scale))];
        let above = both!(h => v.greater(upper_bound(v, self.measure, a[h], c[h]), self.reject_below));
        RowTest { passes: (above[0] | above[1] << V::LANES) & self.valid != 0, a, c, b }
    }

    /// Puts the responses of a row.
    #[inline(always)]
    fn put<S: Sums<V>>(
        &self,
        v: V,
        sums: &S,
        tested: RowTest<V, S::Down>,
        responses: &mut ResponseRing,
        slot: usize,
    ) {
        let RowTest { a, b, c, .. } = tested;
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
    /// The sums of one product down the columns.
    type Down: Copy;

    /// Takes the sums down the columns, from row `window` on; where it `advances`, from the sums of
    /// the row above.
    fn take(&mut self, v: V, gradients: &[Block<f32>], window: usize, advances: bool);
    fn down(&self) -> [Self::Down; 3];
    /// The sums over the window's columns.
    fn across(&self, v: V, down: Self::Down) -> TwoVectors<V::F32>;
}

/// Exact sums of boxes, or of binomial windows where `B`.
struct ExactSums<V: Simd, const S: usize, const B: bool>([[V::F64; 4]; 3]);

/// A quarter of gx and gy of a row.
#[inline(always)]
fn widened<V: Simd>(v: V, row: &Pair<f32>, quarter: usize) -> [V::F64; 2] {
    both!(of => v.load_widened(&row.0[of], quarter * V::LANES / 2))
}

impl<V: Simd, const S: usize, const B: bool> Sums<V> for ExactSums<V, S, B> {
    type Down = [V::F64; 4];

    #[inline(always)]
    fn take(&mut self, v: V, gradients: &[Block<f32>], window: usize, advances: bool) {
        if advances && !B {
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
    fn across(&self, v: V, mut sums: [V::F64; 4]) -> TwoVectors<V::F32> {
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

/// Rows of products in memory: at least those of a window, and a power of two.
const RING: usize = 8;
const _: () = assert!(RING > 2 * MAX_TILE_RADIUS);

/// gx², gx·gy and gy² of a row.
type Products = [Aligned<f32, TILE_LANES>; 3];

/// Rounded sums.
struct RoundedSums<V: Simd, const S: usize> {
    weights: Weights<HeldTaps<V>>,
    products: [Products; RING],
    sums: [TwoVectors<V::F32>; 3],
}

/// One half of the vectors of a product, down the window's rows.
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

/// One half of the vectors of a window's places, in registers.
struct Places<'a, V: Simd, const S: usize> {
    places: &'a [TwoVectors<V::F32>; S],
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
fn products<V: Simd>(v: V, gradients: &[Block<f32>], row: usize) -> [TwoVectors<V::F32>; 3] {
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
    /// Computes all products of a window of 3 anew: registers hold them, and that is faster than
    /// memory.
    #[inline(always)]
    fn take_three(&mut self, v: V, gradients: &[Block<f32>], window: usize) {
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
    type Down = TwoVectors<V::F32>;

    #[inline(always)]
    fn take(&mut self, v: V, gradients: &[Block<f32>], window: usize, advances: bool) {
        if S == 3 {
            return self.take_three(v, gradients, window);
        }
        let new = if advances { S - 1 } else { 0 };
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
    fn down(&self) -> [TwoVectors<V::F32>; 3] {
        self.sums
    }

    #[inline(always)]
    fn across(&self, v: V, sums: TwoVectors<V::F32>) -> TwoVectors<V::F32> {
        let mut places = [sums; S];
        (places[1], places[2]) = (shifted::<1, V>(v, sums), shifted::<2, V>(v, sums));
        if S > 3 {
            (places[3], places[4]) = (shifted::<3, V>(v, sums), shifted::<4, V>(v, sums));
        }
        if S > 5 {
            (places[5], places[6]) = (shifted::<5, V>(v, sums), shifted::<6, V>(v, sums));
        }
        both!(half => line_sum(v, &Places::<V, S> { places: &places, half }, S / 2, &self.weights, 0))
    }
}
