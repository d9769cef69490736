//! From 8-bit samples to 16-bit gradients in registers: columns as wide as a vector, row after row.
//!
//! Lane i is column i. The first stage loads its right neighbours from memory; stages that shift
//! lanes to reach them lose lanes at the end. A stage works on the output that the one before it
//! gave in the last iteration: so the processor has several chains of operations at a time. It
//! looks ahead by two or three iterations at most, so long chains are cut.
//!
//! The stages of floats ([`super::f32_stages`]) are written by themselves: two vectors a row need
//! all registers in another order, and their operations keep the order of docs/arithmetic.md.

use std::mem;

use super::arithmetic::Pair;
use super::border::TileBorder;
use crate::rows::Aligned;
use crate::simd::Simd;
use crate::sweep::stage_kinds::{StageSmoothing, ThreeTaps};
use crate::sweep::vectors_i16::weigh;

/// Vectors that the stages carry to the next iteration.
const CARRIED: usize = 12;
/// The one of them that is the last smoothed row.
const SMOOTHED: usize = 5;

/// Carried vectors in memory, of 32 lanes.
pub(crate) type Carry = [Aligned<i16, 32>; CARRIED];

/// The carry above the first row.
pub(crate) const ZERO_CARRY: Carry = [Aligned([0; 32]); CARRIED];

/// Iterations between a row of samples that completes a row of gradients and the one that gives it.
pub(crate) const fn latency<V: Simd>(smoothing: StageSmoothing) -> usize {
    if !smoothing.smooths() {
        1
    } else if is_cut::<V>() {
        3
    } else {
        2
    }
}

/// Whether the smoothing stage is cut in halves: where there are registers for one more row.
const fn is_cut<V: Simd>() -> bool {
    V::LANES >= 16
}

/// Fills the last smoothed row beyond the image.
pub(crate) fn extend(border: &TileBorder, carry: &mut Carry) {
    border.extend_smoothed(&mut carry[SMOOTHED].0);
}

/// What the stages carry from the rows above, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Stages<V: Simd> {
    /// The last row, smoothed across.
    across: V::I16,
    /// Partial sums of the smoothing.
    partial: [V::I16; 4],
    smoothed: V::I16,
    /// Differences and weighted sums across of the smoothed row before.
    slopes: [V::I16; 2],
    /// Partial sums of gx, or rows of differences.
    differences: [V::I16; 2],
    /// The last two rows of weighted sums, for gy.
    sums: [V::I16; 2],
}

impl<V: Simd> Stages<V> {
    #[inline(always)]
    pub(crate) fn new(v: V) -> Self {
        let zero = v.splat_i16(0);
        Self {
            across: zero,
            partial: [zero; 4],
            smoothed: zero,
            slopes: [zero; 2],
            differences: [zero; 2],
            sums: [zero; 2],
        }
    }

    #[inline(always)]
    pub(crate) fn load(&mut self, v: V, carry: &Carry) {
        for (vector, carry) in self.vectors().into_iter().zip(carry) {
            *vector = v.load_i16(&carry.0, 0);
        }
    }

    #[inline(always)]
    pub(crate) fn store(&mut self, v: V, carry: &mut Carry) {
        for (vector, carry) in self.vectors().into_iter().zip(carry) {
            v.store_i16(&mut carry.0, 0, *vector);
        }
    }

    #[inline(always)]
    fn vectors(&mut self) -> [&mut V::I16; CARRIED] {
        let Self { across, partial, smoothed, slopes, differences, sums } = self;
        let ([p, q, r, s], [t, u], [d, e], [a, b]) = (partial, slopes, differences, sums);
        [across, p, q, r, s, smoothed, t, u, d, e, a, b]
    }

    /// Takes a row of samples, as many as there are lanes and
    /// [`extra_columns`](StageSmoothing::extra_columns) more, and gives a row of gx and gy: the one
    /// that was completed [`latency`] iterations before.
    #[inline(always)]
    pub(crate) fn push_row(
        &mut self,
        v: V,
        (smoothing, gradient): (StageSmoothing, ThreeTaps),
        samples: &[u8],
    ) -> [V::I16; 2] {
        if !smoothing.smooths() {
            return self.differentiate(v, gradient, Neighbours::load(v, samples));
        }
        let gradients = self.differentiate(v, gradient, Neighbours::of(v, self.smoothed));
        self.smooth(v, smoothing, across(v, smoothing, samples));
        gradients
    }

    #[inline(always)]
    fn smooth(&mut self, v: V, smoothing: StageSmoothing, across: V::I16) {
        let Self { across: before, partial, smoothed, .. } = self;
        let across = if is_cut::<V>() { mem::replace(before, across) } else { across };
        let half = add_row_above(v, add_row_above(v, across, &mut partial[0]), &mut partial[1]);
        *smoothed = if !smoothing.has_five_taps() {
            v.rounded_sixteenth(half)
        } else {
            let down = add_row_above(v, add_row_above(v, half, &mut partial[2]), &mut partial[3]);
            // Up to 256 · 255 + 128: all 16 bits, unsigned.
            v.shift_right_8(v.add_i16(down, v.splat_i16(128)))
        };
    }

    #[inline(always)]
    fn differentiate(
        &mut self,
        v: V,
        gradient: ThreeTaps,
        Neighbours { pair, next_pair, next }: Neighbours<V>,
    ) -> [V::I16; 2] {
        // (p₁ + p₂) − (p₀ + p₁)
        let difference = mem::replace(&mut self.slopes[0], v.sub_i16(next_pair, pair));
        let x = self.down_x(v, gradient, difference);
        let sum = match gradient {
            ThreeTaps::Sobel => v.add_i16(pair, next_pair),
            ThreeTaps::Scharr => {
                // 3·(p₀ + 2·p₁ + p₂) + 4·p₁
                let sobel = v.add_i16(pair, next_pair);
                let [twice, twice_next] = [v.add_i16(sobel, sobel), v.add_i16(next, next)];
                v.add_i16(v.add_i16(sobel, twice), v.add_i16(twice_next, twice_next))
            }
            // (p₀ + p₁) + (p₁ + p₂) − p₁
            ThreeTaps::Box => v.sub_i16(v.add_i16(pair, next_pair), next),
            ThreeTaps::Central => next,
        };
        let sum = mem::replace(&mut self.slopes[1], sum);
        [x, self.down_y(v, sum)]
    }

    /// gx of the row above the one of these differences across.
    #[inline(always)]
    fn down_x(&mut self, v: V, gradient: ThreeTaps, difference: V::I16) -> V::I16 {
        let Self { differences, .. } = self;
        match gradient {
            ThreeTaps::Scharr | ThreeTaps::Box => {
                let x = weigh(v, gradient, differences[1], differences[0], difference);
                *differences = [difference, differences[0]];
                x
            }
            ThreeTaps::Central => mem::replace(&mut differences[0], difference),
            ThreeTaps::Sobel => {
                let [first, second] = differences;
                add_row_above(v, add_row_above(v, difference, first), second)
            }
        }
    }

    /// gy of the row above the one of these sums across.
    #[inline(always)]
    fn down_y(&mut self, v: V, sum: V::I16) -> V::I16 {
        let y = v.sub_i16(sum, self.sums[1]);
        self.sums = [sum, self.sums[0]];
        y
    }

    #[inline(always)]
    fn down(&mut self, v: V, gradient: ThreeTaps, [difference, sum]: [V::I16; 2]) -> [V::I16; 2] {
        [self.down_x(v, gradient, difference), self.down_y(v, sum)]
    }

    /// Makes the last row whose slopes arrived the image's first: the row before it is equal, or 0.
    #[inline(always)]
    pub(crate) fn start_image(&mut self, v: V, gradient: ThreeTaps, border: &TileBorder) {
        let first = [self.differences[0], self.sums[0]];
        if !border.replicates() {
            self.down(v, gradient, [v.splat_i16(0); 2]);
        }
        self.down(v, gradient, first);
    }

    /// gx and gy of the last row whose slopes arrived, as the image's last: the row behind it is
    /// equal, or 0.
    #[inline(always)]
    pub(crate) fn finish_image(&mut self, v: V, gradient: ThreeTaps, border: &TileBorder) -> [V::I16; 2] {
        let last =
            if border.replicates() { [self.differences[0], self.sums[0]] } else { [v.splat_i16(0); 2] };
        self.down(v, gradient, last)
    }
}

/// p₀ + p₁, p₁ + p₂ and p₁ of a row.
struct Neighbours<V: Simd> {
    pair: V::I16,
    next_pair: V::I16,
    next: V::I16,
}

impl<V: Simd> Neighbours<V> {
    #[inline(always)]
    fn load(v: V, row: &[u8]) -> Self {
        let next = v.load_u8(row, 1);
        Self { pair: v.add_i16(v.load_u8(row, 0), next), next_pair: v.add_i16(next, v.load_u8(row, 2)), next }
    }

    /// From the lanes of one vector; the last two have no neighbours.
    #[inline(always)]
    fn of(v: V, row: V::I16) -> Self {
        let next = v.next_i16(row);
        let pair = v.add_i16(row, next);
        Self { pair, next_pair: v.next_i16(pair), next }
    }
}

/// Weighted sums of samples across, by a smoothing.
#[inline(always)]
fn across<V: Simd>(v: V, smoothing: StageSmoothing, row: &[u8]) -> V::I16 {
    if !smoothing.has_five_taps() {
        let centre = v.load_u8(row, 1);
        return v.add_i16(v.add_i16(v.load_u8(row, 0), v.load_u8(row, 2)), v.add_i16(centre, centre));
    }
    // 1 4 6 4 1 = 1 0 2 0 1 + 4 · (0 1 1 1 0)
    let centre = v.load_u8(row, 2);
    let outer = v.add_i16(v.add_i16(v.load_u8(row, 0), v.load_u8(row, 4)), v.add_i16(centre, centre));
    let inner = v.add_i16(v.add_i16(v.load_u8(row, 1), v.load_u8(row, 3)), centre);
    let twice = v.add_i16(inner, inner);
    v.add_i16(outer, v.add_i16(twice, twice))
}

/// The sum of a row and the one above it, which it replaces.
#[inline(always)]
fn add_row_above<V: Simd>(v: V, row: V::I16, above: &mut V::I16) -> V::I16 {
    let sum = v.add_i16(*above, row);
    *above = row;
    sum
}

/// gx and gy of a row of a tile.
#[inline(always)]
pub(crate) fn load<V: Simd>(v: V, pair: &Pair<i16>) -> [V::I16; 2] {
    [v.load_i16(&pair.0[0], 0), v.load_i16(&pair.0[1], 0)]
}

/// Stores gx and gy of a row of a tile.
#[inline(always)]
pub(crate) fn put<V: Simd>(v: V, [x, y]: [V::I16; 2], pair: &mut Pair<i16>) {
    v.store_i16(&mut pair.0[0], 0, x);
    v.store_i16(&mut pair.0[1], 0, y);
}
