//! Row kernels on 16-bit gradients: window sums and responses.
//!
//! A row of sums has an element a pair of columns. In `pair_sums` it is the sum of both columns, in
//! `odd_sums` that of the odd one. That of the even one is their difference.

use std::ops::Range;

use harris_core::Measure;

use crate::peaks::ring::{ResponseRing, WordLayout};
use crate::plan::MAX_PAIRWISE_RADIUS;
use crate::rows::{Row16, SumRow};
use crate::simd::{Simd, SimdKernel, vectors};
use crate::sweep::bound::RejectionBound;
use crate::sweep::measure::{Formula, for_measure};
use crate::sweep::vectors_i16::{add_products, greatest_lesser, scaled, weighted};

/// The change of products from the gradients u, w of the row that leaves a window to those of the
/// row that enters it, x, y.
///
/// x² − u² = dx·sx and x·y − u·w = x·dy + dx·w. `ox` and `oy` are dx and dy in odd columns, zero in
/// even ones.
struct ProductChange<V: Simd> {
    x: V::I16,
    w: V::I16,
    dx: V::I16,
    dy: V::I16,
    sx: V::I16,
    sy: V::I16,
    ox: V::I16,
    oy: V::I16,
}

impl<V: Simd> ProductChange<V> {
    /// The change at the elements from i on of rows of gx and gy.
    #[inline(always)]
    fn new(v: V, enters: [&Row16; 2], leaves: [&Row16; 2], i: usize) -> Self {
        let [x, y] = [v.load_i16(enters[0], i), v.load_i16(enters[1], i)];
        let [u, w] = [v.load_i16(leaves[0], i), v.load_i16(leaves[1], i)];
        let [dx, dy] = [v.sub_i16(x, u), v.sub_i16(y, w)];
        let [sx, sy] = [v.add_i16(x, u), v.add_i16(y, w)];
        Self { x, w, dx, dy, sx, sy, ox: v.odd_lanes(dx), oy: v.odd_lanes(dy) }
    }
}

/// Adds the products of the row that enters the window to its sums, and subtracts those of the row
/// that leaves it.
pub(crate) struct Slide<'a> {
    /// gx and gy.
    pub(crate) enters: [&'a Row16; 2],
    /// gx and gy.
    pub(crate) leaves: [&'a Row16; 2],
    pub(crate) pair_sums: [&'a mut SumRow; 3],
    pub(crate) odd_sums: [&'a mut SumRow; 3],
    pub(crate) span: Range<usize>,
}

impl SimdKernel for Slide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { enters, leaves, pair_sums: [aa, bb, cc], odd_sums: [ao, bo, co], span } = self;
        for i in vectors(span, 2 * V::LANES) {
            let ProductChange { x, w, dx, dy, sx, sy, ox, oy } = ProductChange::new(v, enters, leaves, i);
            let j = i / 2;
            let sum = v.load_i32(aa, j);
            v.store_i32(aa, j, v.dot_add(sum, dx, sx));
            let sum = v.load_i32(bb, j);
            v.store_i32(bb, j, v.dot_add(v.dot_add(sum, x, dy), dx, w));
            let sum = v.load_i32(cc, j);
            v.store_i32(cc, j, v.dot_add(sum, dy, sy));
            let sum = v.load_i32(ao, j);
            v.store_i32(ao, j, v.dot_add(sum, ox, sx));
            let sum = v.load_i32(bo, j);
            v.store_i32(bo, j, v.dot_add(v.dot_add(sum, x, oy), ox, w));
            let sum = v.load_i32(co, j);
            v.store_i32(co, j, v.dot_add(sum, oy, sy));
        }
    }
}

/// Sums the products of a binomial window down the columns, each row's times its weight.
pub(crate) struct SumDown<'a> {
    /// gx and gy of the rows in the window.
    pub(crate) rows: [[&'a Row16; 2]; MAX_ROWS],
    pub(crate) window_rows: usize,
    /// Whether to add to the sums of other channels.
    pub(crate) adds: bool,
    pub(crate) pair_sums: [&'a mut SumRow; 3],
    pub(crate) odd_sums: [&'a mut SumRow; 3],
    pub(crate) span: Range<usize>,
}

/// The most rows of a binomial window.
pub(crate) const MAX_ROWS: usize = 2 * MAX_PAIRWISE_RADIUS + 1;

impl SimdKernel for SumDown<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.window_rows {
            3 => self.within::<V, 3>(v),
            5 => self.within::<V, 5>(v),
            _ => self.within::<V, MAX_ROWS>(v),
        }
    }
}

impl SumDown<'_> {
    #[inline(always)]
    fn within<V: Simd, const S: usize>(self, v: V) {
        let Self { rows, adds, pair_sums: [aa, bb, cc], odd_sums: [ao, bo, co], span, .. } = self;
        for i in vectors(span, 2 * V::LANES) {
            let j = i / 2;
            let zero = v.splat_i32(0);
            let (mut pair_sums, mut odd_sums) = ([zero; 3], [zero; 3]);
            if adds {
                pair_sums = [v.load_i32(aa, j), v.load_i32(bb, j), v.load_i32(cc, j)];
                odd_sums = [v.load_i32(ao, j), v.load_i32(bo, j), v.load_i32(co, j)];
            }
            for row in 0..S {
                let [x, y] = [v.load_i16(rows[row][0], i), v.load_i16(rows[row][1], i)];
                let weighted = [weighted::<V, S>(v, x, row), weighted::<V, S>(v, y, row)];
                add_products(v, [x, y], weighted, &mut pair_sums, &mut odd_sums);
            }
            v.store_i32(aa, j, pair_sums[0]);
            v.store_i32(bb, j, pair_sums[1]);
            v.store_i32(cc, j, pair_sums[2]);
            v.store_i32(ao, j, odd_sums[0]);
            v.store_i32(bo, j, odd_sums[1]);
            v.store_i32(co, j, odd_sums[2]);
        }
    }
}

/// [`Slide`] for prefix sums across, all from one element on: up to and with each odd column, and
/// each even one.
pub(crate) struct SlidePrefixSums<'a> {
    /// gx and gy, also beyond the edges.
    pub(crate) enters: [&'a Row16; 2],
    pub(crate) leaves: [&'a Row16; 2],
    pub(crate) up_to_odd: [&'a mut SumRow; 3],
    pub(crate) up_to_even: [&'a mut SumRow; 3],
    pub(crate) span: Range<usize>,
}

impl SimdKernel for SlidePrefixSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { enters, leaves, up_to_odd: [ao, bo, co], up_to_even: [ae, be, ce], span } = self;
        let zero = v.splat_i32(0);
        let (mut a, mut b, mut c) = (zero, zero, zero);
        for i in vectors(span, 2 * V::LANES) {
            let ProductChange { x, w, dx, dy, sx, sy, ox, oy } = ProductChange::new(v, enters, leaves, i);
            let [pair, odd] = [v.dot(dx, sx), v.dot(ox, sx)];
            a = add_prefix_sums(v, (ao, ae), i / 2, [pair, odd], a);
            let [pair, odd] = [v.dot_add(v.dot(x, dy), dx, w), v.dot_add(v.dot(x, oy), ox, w)];
            b = add_prefix_sums(v, (bo, be), i / 2, [pair, odd], b);
            let [pair, odd] = [v.dot(dy, sy), v.dot(oy, sy)];
            c = add_prefix_sums(v, (co, ce), i / 2, [pair, odd], c);
        }
    }
}

/// Adds the changes of pairs of columns, and of their odd columns, to the prefix sums from pair j
/// on.
///
/// Returns the prefix sums of the changes; `before` has those up to pair j.
#[inline(always)]
fn add_prefix_sums<V: Simd>(
    v: V,
    (up_to_odd, up_to_even): (&mut SumRow, &mut SumRow),
    j: usize,
    [pair, odd]: [V::I32; 2],
    before: V::I32,
) -> V::I32 {
    let running = v.prefix_sums_i32(before, pair);
    let [odd_sums, even_sums] = [v.load_i32(up_to_odd, j), v.load_i32(up_to_even, j)];
    v.store_i32(up_to_odd, j, v.add_i32(odd_sums, running));
    v.store_i32(up_to_even, j, v.add_i32(even_sums, v.sub_i32(running, odd)));
    running
}

/// Sums over the window across and computes the responses of the columns of `span`, but for those
/// that the bound rejects.
///
/// Binomial windows (`B`) and boxes are compiled each by itself.
pub(crate) struct Respond<'a, const B: bool> {
    pub(crate) measure: Measure,
    pub(crate) threshold: f32,
    /// By which responses are rejected.
    pub(crate) bound: RejectionBound,
    /// Radius of the window.
    pub(crate) radius: usize,
    pub(crate) scale: f32,
    pub(crate) pair_sums: [&'a SumRow; 3],
    pub(crate) odd_sums: [&'a SumRow; 3],
    pub(crate) out: &'a mut ResponseRing,
    pub(crate) slot: usize,
    pub(crate) words: WordLayout,
    pub(crate) span: Range<usize>,
}

impl<const B: bool> SimdKernel for Respond<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.radius {
            1 => self.within::<V, 1>(v),
            2 => self.within::<V, 2>(v),
            3 => self.within::<V, 3>(v),
            _ => self.within::<V, 0>(v),
        }
    }
}

/// `R` is the radius, or 0 for any.
impl<const B: bool> Respond<'_, B> {
    #[inline(always)]
    fn within<V: Simd, const R: usize>(self, v: V) {
        for_measure!(v, self.measure, formula => self.by::<V, _, R>(v, formula));
    }

    #[inline(always)]
    fn by<V: Simd, F: Formula<V>, const R: usize>(self, v: V, formula: F) {
        let Self { radius, pair_sums: [aa, bb, cc], odd_sums: [ao, bo, co], out, slot, words, span, .. } =
            self;
        let (scale, limit) = (v.splat_f32(self.scale), v.splat_f32(self.threshold));
        let bound = v.splat_i32(self.bound.lesser);
        for i in words.covering(&span) {
            let a = sums::<V, R, B>(v, (aa, ao), radius, i / 2);
            let c = sums::<V, R, B>(v, (cc, co), radius, i / 2);
            if v.greater_i32(greatest_lesser(v, a, c), bound) == 0 {
                out.put_none(v, slot, i);
                continue;
            }
            let b = sums::<V, R, B>(v, (bb, bo), radius, i / 2);
            let [a, b, c] = [scaled(v, a, scale), scaled(v, b, scale), scaled(v, c, scale)];
            let even = formula.response(v, a[0], b[0], c[0]);
            let odd = formula.response(v, a[1], b[1], c[1]);
            let [low, high] = v.interleave(even, odd);
            out.put_marked(v, (slot, i), words, [low, high], limit);
        }
    }
}

/// The window's sums around the even and around the odd columns of the pairs from j on.
#[inline(always)]
fn sums<V: Simd, const R: usize, const B: bool>(
    v: V,
    (pair_sums, odd_sums): (&SumRow, &SumRow),
    r: usize,
    j: usize,
) -> [V::I32; 2] {
    if B {
        binomial_across::<V, R>(v, (pair_sums, odd_sums), j)
    } else {
        across::<V, R>(v, (pair_sums, odd_sums), r, j)
    }
}

/// Sums over a binomial window of radius `R`.
#[inline(always)]
fn binomial_across<V: Simd, const R: usize>(
    v: V,
    (pair_sums, odd_sums): (&SumRow, &SumRow),
    j: usize,
) -> [V::I32; 2] {
    // The odd and the even columns of the pairs from j on.
    let odd = |j: usize| v.load_i32(odd_sums, j);
    let even = |j: usize| v.sub_i32(v.load_i32(pair_sums, j), v.load_i32(odd_sums, j));
    let add = |a: V::I32, b: V::I32| v.add_i32(a, b);
    let twice = |a: V::I32| v.add_i32(a, a);
    let (before, here, behind) = ([even(j - 1), odd(j - 1)], [even(j), odd(j)], [even(j + 1), odd(j + 1)]);
    // The sums of both neighbours of either column, and of the columns two away.
    let near = [add(before[1], here[1]), add(here[0], behind[0])];
    let far = [add(before[0], behind[0]), add(before[1], behind[1])];
    let mut sums = [here[0]; 2];
    for i in 0..2 {
        sums[i] = match R {
            1 => add(near[i], twice(here[i])),
            // far + 4 · near + 6 · centre
            2 => add(far[i], twice(add(twice(add(near[i], here[i])), here[i]))),
            _ => {
                let farthest = if i == 0 { add(odd(j - 2), behind[1]) } else { add(before[0], even(j + 2)) };
                // farthest + 6 · far + 15 · near + 20 · centre = farthest − near + 2 · (3 · far + 8
                // · near + 10 · centre)
                let four = twice(twice(add(near[i], here[i])));
                let inner = add(add(far[i], twice(far[i])), add(twice(four), twice(here[i])));
                add(v.sub_i32(farthest, near[i]), twice(inner))
            }
        };
    }
    sums
}

/// Sums over 2·r + 1 columns around the even and around the odd columns of the pairs from j on.
///
/// `R` is r, or 0 for any. Then `pair_sums` are prefix sums up to odd columns and `odd_sums` up to
/// even ones, which may wrap, and windows are differences of these.
#[inline(always)]
fn across<V: Simd, const R: usize>(
    v: V,
    (pair_sums, odd_sums): (&SumRow, &SumRow),
    r: usize,
    j: usize,
) -> [V::I32; 2] {
    match R {
        1 => {
            let centre = v.load_i32(pair_sums, j);
            let next = v.sub_i32(v.load_i32(pair_sums, j + 1), v.load_i32(odd_sums, j + 1));
            [v.add_i32(centre, v.load_i32(odd_sums, j - 1)), v.add_i32(centre, next)]
        }
        2 => {
            let [centre, after] = [v.load_i32(pair_sums, j), v.load_i32(pair_sums, j + 1)];
            let next = v.sub_i32(after, v.load_i32(odd_sums, j + 1));
            let before = v.add_i32(v.load_i32(pair_sums, j - 1), centre);
            [v.add_i32(before, next), v.add_i32(v.add_i32(v.load_i32(odd_sums, j - 1), centre), after)]
        }
        3 => {
            let [before, centre, after] =
                [v.load_i32(pair_sums, j - 1), v.load_i32(pair_sums, j), v.load_i32(pair_sums, j + 1)];
            let three = v.add_i32(v.add_i32(before, centre), after);
            let next = v.sub_i32(v.load_i32(pair_sums, j + 2), v.load_i32(odd_sums, j + 2));
            [v.add_i32(three, v.load_i32(odd_sums, j - 2)), v.add_i32(three, next)]
        }
        _ => {
            let m = r / 2;
            let (up_to_odd, up_to_even) = (pair_sums, odd_sums);
            if r % 2 == 1 {
                [
                    v.sub_i32(v.load_i32(up_to_odd, j + m), v.load_i32(up_to_even, j - m - 1)),
                    v.sub_i32(v.load_i32(up_to_even, j + m + 1), v.load_i32(up_to_odd, j - m - 1)),
                ]
            } else {
                [
                    v.sub_i32(v.load_i32(up_to_even, j + m), v.load_i32(up_to_odd, j - m - 1)),
                    v.sub_i32(v.load_i32(up_to_odd, j + m), v.load_i32(up_to_even, j - m)),
                ]
            }
        }
    }
}
