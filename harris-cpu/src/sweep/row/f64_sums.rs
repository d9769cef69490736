//! Row kernels on 64-bit floats: sums of the products of integer gradients, exact below 2⁵³.

use std::ops::Range;

use super::f32_kernels::{ResponseOutput, Sums};
use crate::plan::MAX_PAIRWISE_RADIUS;
use crate::rows::{F64Row, FloatRow, FloatRows};
use crate::simd::{Simd, SimdKernel, vectors};
use crate::sweep::gate::ActiveBlocks;
use crate::sweep::lines::{Weights, binomial};

/// Adds up the window's exact sums down the columns.
pub(crate) struct F64SumDown<'a> {
    pub(crate) weights: Weights<&'a [f32]>,
    /// Rings of gx and gy, `stride` rows from one channel's ring to the next.
    pub(crate) gradients: &'a [FloatRows; 2],
    pub(crate) channels: usize,
    pub(crate) stride: usize,
    /// The window's rows in a ring.
    pub(crate) slots: &'a [usize],
    pub(crate) sums: [&'a mut F64Row; 3],
    /// The elements that are needed.
    pub(crate) needed: ActiveBlocks,
}

impl SimdKernel for F64SumDown<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { weights, gradients: [gx, gy], channels, stride, slots, sums: [of_a, of_b, of_c], needed } =
            self;
        let radius = slots.len() / 2;
        for i in needed.runs().flat_map(|run| vectors(run, V::LANES / 2)) {
            let [mut a, mut b, mut c] = [v.splat_f64(0.0); 3];
            for channel in 0..channels {
                for (place, &slot) in slots.iter().enumerate() {
                    let weight = v.splat_f64(f64_weight(weights, radius, place.abs_diff(radius)));
                    let row = channel * stride + slot;
                    let [x, y] = [v.load_widened(gx.row(row), i), v.load_widened(gy.row(row), i)];
                    let [wx, wy] = [v.mul_f64(weight, x), v.mul_f64(weight, y)];
                    a = v.add_product(a, wx, x);
                    b = v.add_product(b, wx, y);
                    c = v.add_product(c, wy, y);
                }
            }
            v.store_f64(of_a, i, a);
            v.store_f64(of_b, i, b);
            v.store_f64(of_c, i, c);
        }
    }
}

/// Adds the products of the row that enters a box window to its exact sums, and subtracts those of
/// the row that leaves it.
pub(crate) struct F64Slide<'a> {
    /// gx and gy.
    pub(crate) enters: [&'a FloatRow; 2],
    pub(crate) leaves: [&'a FloatRow; 2],
    pub(crate) sums: [&'a mut F64Row; 3],
    /// The elements that are needed.
    pub(crate) needed: ActiveBlocks,
}

impl SimdKernel for F64Slide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { enters: [ex, ey], leaves: [lx, ly], sums: [a, b, c], needed } = self;
        for run in needed.runs() {
            for i in vectors(run, V::LANES / 2) {
                let [x, y] = [v.load_widened(ex, i), v.load_widened(ey, i)];
                let [u, w] = [v.load_widened(lx, i), v.load_widened(ly, i)];
                slide(v, a, i, [x, x], [u, u]);
                slide(v, b, i, [x, y], [u, w]);
                slide(v, c, i, [y, y], [w, w]);
            }
        }
    }
}

#[inline(always)]
fn slide<V: Simd>(v: V, sums: &mut F64Row, i: usize, enters: [V::F64; 2], leaves: [V::F64; 2]) {
    let sum = v.add_product(v.load_f64(sums, i), enters[0], enters[1]);
    v.store_f64(sums, i, v.sub_product(sum, leaves[0], leaves[1]));
}

/// Prefix sums across of three exact rows.
pub(crate) struct F64PrefixSums<'a> {
    pub(crate) rows: [&'a F64Row; 3],
    pub(crate) running: [&'a mut F64Row; 3],
    pub(crate) span: Range<usize>,
}

impl SimdKernel for F64PrefixSums<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        let Self { rows, running: [a, b, c], span } = self;
        let mut carries = [v.splat_f64(0.0); 3];
        for i in vectors(span, V::LANES / 2) {
            carries[0] = prefix_sums(v, rows[0], a, i, carries[0]);
            carries[1] = prefix_sums(v, rows[1], b, i, carries[1]);
            carries[2] = prefix_sums(v, rows[2], c, i, carries[2]);
        }
    }
}

#[inline(always)]
fn prefix_sums<V: Simd>(v: V, row: &F64Row, out: &mut F64Row, i: usize, carry: V::F64) -> V::F64 {
    let running = v.add_f64(carry, v.prefix_sums_f64(v.load_f64(row, i)));
    v.store_f64(out, i, running);
    v.last_f64(running)
}

/// Sums exact sums over the window across, converts, and computes the responses of the columns of
/// `span`.
pub(crate) struct F64Respond<'a> {
    pub(crate) weights: Weights<&'a [f32]>,
    pub(crate) radius: usize,
    /// Sums down the columns, and for boxes wider than [`MAX_PAIRWISE_RADIUS`] their prefix sums.
    pub(crate) columns: [&'a F64Row; 3],
    pub(crate) running: [&'a F64Row; 3],
    pub(crate) out: ResponseOutput<'a>,
}

impl SimdKernel for F64Respond<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Simd>(self, v: V) {
        match (self.weights, self.radius) {
            (Weights::Box, 1) => self.within::<V, 1, true>(v),
            (Weights::Box, 2) => self.within::<V, 2, true>(v),
            (Weights::Box, MAX_PAIRWISE_RADIUS) => self.within::<V, MAX_PAIRWISE_RADIUS, true>(v),
            (Weights::Box, _) => self.within::<V, 0, true>(v),
            (_, 1) => self.within::<V, 1, false>(v),
            (_, 2) => self.within::<V, 2, false>(v),
            (_, _) => self.within::<V, 3, false>(v),
        }
    }
}

impl F64Respond<'_> {
    #[inline(always)]
    fn within<V: Simd, const R: usize, const BOX: bool>(self, v: V) {
        let Self { radius, columns, running, out, .. } = self;
        out.respond(v, &F64Sums::<R, BOX> { radius, columns, running });
    }
}

/// `R` is the radius, or 0 for boxes wider than [`MAX_PAIRWISE_RADIUS`].
struct F64Sums<'a, const R: usize, const BOX: bool> {
    radius: usize,
    columns: [&'a F64Row; 3],
    running: [&'a F64Row; 3],
}

impl<V: Simd, const R: usize, const BOX: bool> Sums<V> for F64Sums<'_, R, BOX> {
    #[inline(always)]
    fn sum(&self, v: V, of: usize, i: usize) -> V::F32 {
        f64_sum::<V, R, BOX>(v, self.columns[of], self.running[of], self.radius, i)
    }
}

/// Sums across around the elements from i on, as 32-bit floats.
#[inline(always)]
fn f64_sum<V: Simd, const R: usize, const BOX: bool>(
    v: V,
    row: &F64Row,
    running: &F64Row,
    radius: usize,
    i: usize,
) -> V::F32 {
    let next = i + V::LANES / 2;
    if R == 0 {
        let [end, next_end] = [v.load_f64(running, i + radius), v.load_f64(running, next + radius)];
        let before = [v.load_f64(running, i - radius - 1), v.load_f64(running, next - radius - 1)];
        return v.narrow([v.sub_f64(end, before[0]), v.sub_f64(next_end, before[1])]);
    }
    let mut sums = [v.load_f64(row, i), v.load_f64(row, next)];
    if !BOX {
        let weight = v.splat_f64(f64::from(binomial(R)[0]));
        sums = [v.mul_f64(weight, sums[0]), v.mul_f64(weight, sums[1])];
    }
    sums = add_beside::<V, R, BOX>(v, sums, 1, v.neighbors_f64::<1>(row, i));
    if R > 1 {
        sums = add_beside::<V, R, BOX>(v, sums, 2, v.neighbors_f64::<2>(row, i));
    }
    if R > 2 {
        sums = add_beside::<V, R, BOX>(v, sums, 3, v.neighbors_f64::<3>(row, i));
    }
    v.narrow(sums)
}

/// Adds the elements at a distance before and behind, times their weight.
#[inline(always)]
fn add_beside<V: Simd, const R: usize, const BOX: bool>(
    v: V,
    sums: [V::F64; 2],
    distance: usize,
    [before, behind]: [[V::F64; 2]; 2],
) -> [V::F64; 2] {
    let pairs = [v.add_f64(before[0], behind[0]), v.add_f64(before[1], behind[1])];
    if BOX || distance == R {
        return [v.add_f64(sums[0], pairs[0]), v.add_f64(sums[1], pairs[1])];
    }
    let weight = v.splat_f64(f64::from(binomial(R)[distance]));
    [v.add_product(sums[0], weight, pairs[0]), v.add_product(sums[1], weight, pairs[1])]
}

/// The exact weight of the row at `distance` of the centre of a window of integers.
fn f64_weight(weights: Weights<&[f32]>, radius: usize, distance: usize) -> f64 {
    match weights {
        Weights::Binomial if distance < radius => binomial(radius)[distance].into(),
        Weights::Box | Weights::Binomial | Weights::Taps(_) => 1.0,
    }
}
