//! Row kernels on gradients: window sums and response.
//!
//! A sum row has an element for each pair of columns: `pairs` the sum of both columns, `odds` that of the odd one.
//! The even one is their difference.

use std::ops::Range;

use harris_core::Measure;

use super::quiet::Quiet;
use super::responses::{Responses, Words};
use super::samples::vectors;
use super::scratch::{Row16, SumRow};
use crate::simd::{Simd, Work};

/// The greatest window radius that is summed across pair by pair; wider ones take differences of running sums.
pub(super) const NARROW: usize = 3;

/// Of the gradients x, y of a row that enters a window and u, w of the one that leaves it, what their products change by: x² − u² is
/// dx·sx, x·y − u·w is x·dy + dx·w. `ox` and `oy` are dx and dy in odd columns, zero in even ones.
struct Change<V: Simd> {
    x: V::I16,
    w: V::I16,
    dx: V::I16,
    dy: V::I16,
    sx: V::I16,
    sy: V::I16,
    ox: V::I16,
    oy: V::I16,
}

impl<V: Simd> Change<V> {
    /// Of the elements from i on of rows of gx and gy.
    #[inline(always)]
    fn new(v: V, enters: [&Row16; 2], leaves: [&Row16; 2], i: usize) -> Self {
        let [x, y] = [v.load_i16(enters[0], i), v.load_i16(enters[1], i)];
        let [u, w] = [v.load_i16(leaves[0], i), v.load_i16(leaves[1], i)];
        let [dx, dy] = [v.sub_i16(x, u), v.sub_i16(y, w)];
        let [sx, sy] = [v.add_i16(x, u), v.add_i16(y, w)];
        Self { x, w, dx, dy, sx, sy, ox: v.odd_lanes(dx), oy: v.odd_lanes(dy) }
    }
}

/// Adds the products of the row that enters the window to its sums, and takes off those of the row that leaves it.
pub(super) struct Slide<'a> {
    /// gx and gy.
    pub(super) enters: [&'a Row16; 2],
    /// gx and gy.
    pub(super) leaves: [&'a Row16; 2],
    pub(super) pairs: [&'a mut SumRow; 3],
    pub(super) odds: [&'a mut SumRow; 3],
    pub(super) span: Range<usize>,
}

impl Work for Slide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { enters, leaves, pairs: [aa, bb, cc], odds: [ao, bo, co], span } = self;
        for i in vectors(span, 2 * V::LANES) {
            let Change { x, w, dx, dy, sx, sy, ox, oy } = Change::new(v, enters, leaves, i);
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

/// The window's sums of products down the columns, each row's times its weight: those of binomial windows, anew for each row.
pub(super) struct SumDown<'a> {
    /// gx and gy of the rows in the window, of which there are so many.
    pub(super) rows: [[&'a Row16; 2]; MOST_ROWS],
    pub(super) number: usize,
    /// Whether to add to what stands in the sums.
    pub(super) adds: bool,
    pub(super) pairs: [&'a mut SumRow; 3],
    pub(super) odds: [&'a mut SumRow; 3],
    pub(super) span: Range<usize>,
}

/// Rows of a binomial window at most.
pub(super) const MOST_ROWS: usize = 2 * NARROW + 1;

impl Work for SumDown<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match self.number {
            3 => self.within::<V, 3>(v),
            5 => self.within::<V, 5>(v),
            _ => self.within::<V, MOST_ROWS>(v),
        }
    }
}

impl SumDown<'_> {
    #[inline(always)]
    fn within<V: Simd, const S: usize>(self, v: V) {
        let Self { rows, adds, pairs: [aa, bb, cc], odds: [ao, bo, co], span, .. } = self;
        for i in vectors(span, 2 * V::LANES) {
            let j = i / 2;
            let zero = v.splat_i32(0);
            let (mut pairs, mut odds) = ([zero; 3], [zero; 3]);
            if adds {
                pairs = [v.load_i32(aa, j), v.load_i32(bb, j), v.load_i32(cc, j)];
                odds = [v.load_i32(ao, j), v.load_i32(bo, j), v.load_i32(co, j)];
            }
            for row in 0..S {
                let [x, y] = [v.load_i16(rows[row][0], i), v.load_i16(rows[row][1], i)];
                let weighted = [weighted::<V, S>(v, x, row), weighted::<V, S>(v, y, row)];
                add_products(v, [x, y], weighted, &mut pairs, &mut odds);
            }
            v.store_i32(aa, j, pairs[0]);
            v.store_i32(bb, j, pairs[1]);
            v.store_i32(cc, j, pairs[2]);
            v.store_i32(ao, j, odds[0]);
            v.store_i32(bo, j, odds[1]);
            v.store_i32(co, j, odds[2]);
        }
    }
}

/// Adds the products of gradients and these times a weight to sums of pairs and of odd columns.
#[inline(always)]
pub(super) fn add_products<V: Simd>(
    v: V,
    [x, y]: [V::I16; 2],
    [wx, wy]: [V::I16; 2],
    pairs: &mut [V::I32; 3],
    odds: &mut [V::I32; 3],
) {
    let [ox, oy] = [v.odd_lanes(wx), v.odd_lanes(wy)];
    pairs[0] = v.dot_add(pairs[0], x, wx);
    pairs[1] = v.dot_add(pairs[1], y, wx);
    pairs[2] = v.dot_add(pairs[2], y, wy);
    odds[0] = v.dot_add(odds[0], x, ox);
    odds[1] = v.dot_add(odds[1], y, ox);
    odds[2] = v.dot_add(odds[2], y, oy);
}

/// A gradient times the weight of a row of a binomial window of S rows. It fits in 16 bits where 32 hold the window's sums: the
/// gradient times the weights of all rows is then below 2¹⁵·⁵, and no row has more than half of these.
#[inline(always)]
pub(super) fn weighted<V: Simd, const S: usize>(v: V, gradient: V::I16, row: usize) -> V::I16 {
    let weights: [i16; MOST_ROWS] = match S {
        3 => [1, 2, 1, 0, 0, 0, 0],
        5 => [1, 4, 6, 4, 1, 0, 0],
        _ => [1, 6, 15, 20, 15, 6, 1],
    };
    match weights[row] {
        1 => gradient,
        2 => v.add_i16(gradient, gradient),
        weight => v.mul_i16(gradient, v.splat_i16(weight)),
    }
}

/// The same for running sums across: up to and with each odd column, and each even one, of all that began with the same element.
pub(super) struct SlideOn<'a> {
    /// gx and gy, those beyond the edges, too.
    pub(super) enters: [&'a Row16; 2],
    pub(super) leaves: [&'a Row16; 2],
    pub(super) odds: [&'a mut SumRow; 3],
    pub(super) evens: [&'a mut SumRow; 3],
    pub(super) span: Range<usize>,
}

impl Work for SlideOn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { enters, leaves, odds: [ao, bo, co], evens: [ae, be, ce], span } = self;
        let zero = v.splat_i32(0);
        let (mut a, mut b, mut c) = (zero, zero, zero);
        for i in vectors(span, 2 * V::LANES) {
            let Change { x, w, dx, dy, sx, sy, ox, oy } = Change::new(v, enters, leaves, i);
            let [pairs, odd] = [v.dot(dx, sx), v.dot(ox, sx)];
            a = run_on(v, (ao, ae), i / 2, [pairs, odd], a);
            let [pairs, odd] = [v.dot_add(v.dot(x, dy), dx, w), v.dot_add(v.dot(x, oy), ox, w)];
            b = run_on(v, (bo, be), i / 2, [pairs, odd], b);
            let [pairs, odd] = [v.dot(dy, sy), v.dot(oy, sy)];
            c = run_on(v, (co, ce), i / 2, [pairs, odd], c);
        }
    }
}

/// Adds what pairs of columns change, and the odd columns of these, to the running sums from pair j on; gives the changes up to each
/// pair, of which `before` has the last one before.
#[inline(always)]
fn run_on<V: Simd>(
    v: V,
    (odds, evens): (&mut SumRow, &mut SumRow),
    j: usize,
    [pairs, odd]: [V::I32; 2],
    before: V::I32,
) -> V::I32 {
    let running = v.run_on_i32(before, pairs);
    let [up_to_odd, up_to_even] = [v.load_i32(odds, j), v.load_i32(evens, j)];
    v.store_i32(odds, j, v.add_i32(up_to_odd, running));
    v.store_i32(evens, j, v.add_i32(up_to_even, v.sub_i32(running, odd)));
    running
}

/// Sums over the window across, converts, and computes the responses of the columns of `span`; those that cannot exceed
/// the threshold become less than any. `B` tells binomial windows from boxes: each is compiled by itself.
pub(super) struct Respond<'a, const B: bool> {
    pub(super) measure: Measure,
    pub(super) threshold: f32,
    /// Which responses need not be computed.
    pub(super) quiet: Quiet,
    /// Radius of the window.
    pub(super) radius: usize,
    pub(super) scale: f32,
    pub(super) pairs: [&'a SumRow; 3],
    pub(super) odds: [&'a SumRow; 3],
    pub(super) out: &'a mut Responses,
    pub(super) slot: usize,
    pub(super) words: Words,
    pub(super) span: Range<usize>,
}

impl<const B: bool> Work for Respond<'_, B> {
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
        match self.measure {
            Measure::Harris { k } => self.by::<V, _, R>(v, Harris { k: v.splat_f32(k) }),
            Measure::ShiTomasi => self.by::<V, _, R>(v, ShiTomasi { half: v.splat_f32(0.5) }),
            Measure::Noble { eps } => {
                self.by::<V, _, R>(v, Noble { two: v.splat_f32(2.0), eps: v.splat_f32(eps) });
            }
        }
    }

    #[inline(always)]
    fn by<V: Simd, F: Formula<V>, const R: usize>(self, v: V, formula: F) {
        let Self { radius, pairs: [aa, bb, cc], odds: [ao, bo, co], out, slot, words, span, .. } = self;
        let (scale, limit) = (v.splat_f32(self.scale), v.splat_f32(self.threshold));
        let quiet = v.splat_i32(self.quiet.lesser);
        for i in words.covering(&span) {
            let a = sums::<V, R, B>(v, (aa, ao), radius, i / 2);
            let c = sums::<V, R, B>(v, (cc, co), radius, i / 2);
            if v.greater_i32(greatest_lesser(v, a, c), quiet) == 0 {
                out.leave(v, slot, i);
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

/// The greater of two columns' lesser of A and C.
#[inline(always)]
pub(super) fn greatest_lesser<V: Simd>(v: V, a: [V::I32; 2], c: [V::I32; 2]) -> V::I32 {
    v.max_i32(v.min_i32(a[0], c[0]), v.min_i32(a[1], c[1]))
}

/// The window's sums as floats, scaled.
#[inline(always)]
pub(super) fn scaled<V: Simd>(v: V, sums: [V::I32; 2], scale: V::F32) -> [V::F32; 2] {
    [v.mul(v.to_f32(sums[0]), scale), v.mul(v.to_f32(sums[1]), scale)]
}

/// A measure of the tensor [a b; b c], one operation each in the order of the contract.
pub(super) trait Formula<V: Simd> {
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32;
}

pub(super) struct Harris<V: Simd> {
    pub(super) k: V::F32,
}

impl<V: Simd> Formula<V> for Harris<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let trace = v.add(a, c);
        let det = v.sub(v.mul(a, c), v.mul(b, b));
        v.sub(det, v.mul(v.mul(self.k, trace), trace))
    }
}

pub(super) struct ShiTomasi<V: Simd> {
    pub(super) half: V::F32,
}

impl<V: Simd> Formula<V> for ShiTomasi<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let mean = v.mul(v.add(a, c), self.half);
        let d = v.mul(v.sub(a, c), self.half);
        v.sub(mean, v.sqrt(v.add(v.mul(d, d), v.mul(b, b))))
    }
}

pub(super) struct Noble<V: Simd> {
    pub(super) two: V::F32,
    pub(super) eps: V::F32,
}

impl<V: Simd> Formula<V> for Noble<V> {
    #[inline(always)]
    fn response(&self, v: V, a: V::F32, b: V::F32, c: V::F32) -> V::F32 {
        let trace = v.add(a, c);
        let det = v.sub(v.mul(a, c), v.mul(b, b));
        v.div(v.mul(self.two, det), v.add(trace, self.eps))
    }
}

/// The window's sums about the even and about the odd columns of the pairs from j on.
#[inline(always)]
fn sums<V: Simd, const R: usize, const B: bool>(
    v: V,
    (pairs, odds): (&SumRow, &SumRow),
    r: usize,
    j: usize,
) -> [V::I32; 2] {
    if B { binomial_across::<V, R>(v, (pairs, odds), j) } else { across::<V, R>(v, (pairs, odds), r, j) }
}

/// Those of a binomial window of radius `R`.
#[inline(always)]
fn binomial_across<V: Simd, const R: usize>(
    v: V,
    (pairs, odds): (&SumRow, &SumRow),
    j: usize,
) -> [V::I32; 2] {
    // The odd and the even columns of the pairs from j on, of those before and behind.
    let odd = |j: usize| v.load_i32(odds, j);
    let even = |j: usize| v.sub_i32(v.load_i32(pairs, j), v.load_i32(odds, j));
    let add = |a: V::I32, b: V::I32| v.add_i32(a, b);
    let twice = |a: V::I32| v.add_i32(a, a);
    let (before, here, behind) = ([even(j - 1), odd(j - 1)], [even(j), odd(j)], [even(j + 1), odd(j + 1)]);
    // The neighbours of either column, and those two away.
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
                // farthest + 6 · far + 15 · near + 20 · centre = farthest − near + 2 · (3 · far + 8 · near + 10 · centre)
                let four = twice(twice(add(near[i], here[i])));
                let inner = add(add(far[i], twice(far[i])), add(twice(four), twice(here[i])));
                add(v.sub_i32(farthest, near[i]), twice(inner))
            }
        };
    }
    sums
}

/// The sums over 2·r + 1 columns about the even and about the odd columns of the pairs from j on. `R` is r, or 0
/// for any: then `pairs` are running sums up to odd columns, `odds` those up to even ones, and windows their differences; they may wrap.
#[inline(always)]
fn across<V: Simd, const R: usize>(
    v: V,
    (pairs, odds): (&SumRow, &SumRow),
    r: usize,
    j: usize,
) -> [V::I32; 2] {
    match R {
        1 => {
            let centre = v.load_i32(pairs, j);
            let next = v.sub_i32(v.load_i32(pairs, j + 1), v.load_i32(odds, j + 1));
            [v.add_i32(centre, v.load_i32(odds, j - 1)), v.add_i32(centre, next)]
        }
        2 => {
            let [centre, after] = [v.load_i32(pairs, j), v.load_i32(pairs, j + 1)];
            let next = v.sub_i32(after, v.load_i32(odds, j + 1));
            let before = v.add_i32(v.load_i32(pairs, j - 1), centre);
            [v.add_i32(before, next), v.add_i32(v.add_i32(v.load_i32(odds, j - 1), centre), after)]
        }
        3 => {
            let [before, centre, after] =
                [v.load_i32(pairs, j - 1), v.load_i32(pairs, j), v.load_i32(pairs, j + 1)];
            let three = v.add_i32(v.add_i32(before, centre), after);
            let next = v.sub_i32(v.load_i32(pairs, j + 2), v.load_i32(odds, j + 2));
            [v.add_i32(three, v.load_i32(odds, j - 2)), v.add_i32(three, next)]
        }
        _ => {
            let m = r / 2;
            let (up_to_odd, up_to_even) = (pairs, odds);
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
