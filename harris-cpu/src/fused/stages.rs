//! From samples to gradients in registers: columns as wide as a vector, row after row.
//!
//! Lane i is column i. The first stage loads what it needs of neighbours on the right; those that move lanes to reach them lose some at the
//! end. A stage works on what the one before it left
//! in the last turn: so the processor has several chains of operations to work on at a time. It looks ahead by no more than two or three turns, so
//! the longer a chain, the longer a turn: hence they are cut in halves.

use std::mem;

use harris_core::{Gradient, Smoothing};

use super::by_tiles::Edges;
use super::samples::weigh;
use super::scratch::Aligned;
use crate::simd::Simd;

/// Vectors that the stages keep.
const KEPT: usize = 12;
/// Which of them is the last smoothed row.
const SMOOTHED: usize = 5;

/// What is kept of vectors of 32 lanes.
pub(super) type Kept = [Aligned<i16, 32>; KEPT];

/// That of nothing.
pub(super) const NONE: Kept = [Aligned([0; 32]); KEPT];

/// Turns between a row of samples that completes a row of gradients and that row.
pub(super) const fn delay<V: Simd>(smoothing: Smoothing) -> usize {
    if !smooths(smoothing) {
        1
    } else if is_cut::<V>() {
        3
    } else {
        2
    }
}

/// Whether the stage that smooths is cut in halves: where there are registers for one more row.
const fn is_cut<V: Simd>() -> bool {
    V::LANES >= 16
}

/// Samples of a row that stages read beyond one for each lane: the first of them takes neighbours from memory, not from other lanes.
pub(super) const fn beyond(smoothing: Smoothing) -> usize {
    match smoothing {
        Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => 2,
        Smoothing::Binomial5 => 4,
    }
}

/// Whether there is a first stage that smooths, not one that differentiates.
pub(super) const fn smooths(smoothing: Smoothing) -> bool {
    matches!(smoothing, Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5)
}

/// An expression of a smoothing and a gradient as constants, so that the compiler knows them. What is not rounded is for tiles of floats
/// alone, which ask for it before.
macro_rules! known {
    ($smoothing:expr, $gradient:expr, $kinds:ident => $value:expr) => {
        match $smoothing {
            Smoothing::Binomial3 => known!(@ Smoothing::Binomial3, $gradient, $kinds => $value),
            Smoothing::Binomial5 => known!(@ Smoothing::Binomial5, $gradient, $kinds => $value),
            Smoothing::None | Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => {
                known!(@ Smoothing::None, $gradient, $kinds => $value)
            }
        }
    };
    (@ $smoothing:expr, $gradient:expr, $kinds:ident => $value:expr) => {
        match $gradient {
            Gradient::Scharr3 => {
                let $kinds = ($smoothing, Gradient::Scharr3);
                $value
            }
            Gradient::Central => {
                let $kinds = ($smoothing, Gradient::Central);
                $value
            }
            Gradient::Box { .. } => {
                let $kinds = ($smoothing, Gradient::Box { size: 3 });
                $value
            }
            Gradient::Sobel3 | Gradient::Sobel5 | Gradient::Sobel7 | Gradient::GaussianDerivative { .. } => {
                let $kinds = ($smoothing, Gradient::Sobel3);
                $value
            }
        }
    };
}
pub(super) use known;

/// Puts what stands for the last smoothed row beyond the image.
pub(super) fn extend(edges: &Edges, kept: &mut Kept) {
    edges.extend_smoothed(&mut kept[SMOOTHED].0);
}

/// What the stages keep of the rows above.
#[derive(Clone, Copy)]
pub(super) struct Stages<V: Simd> {
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
    pub(super) fn new(v: V) -> Self {
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
    pub(super) fn load(&mut self, v: V, kept: &Kept) {
        for (vector, kept) in self.vectors().into_iter().zip(kept) {
            *vector = v.load_i16(&kept.0, 0);
        }
    }

    #[inline(always)]
    pub(super) fn store(&mut self, v: V, kept: &mut Kept) {
        for (vector, kept) in self.vectors().into_iter().zip(kept) {
            v.store_i16(&mut kept.0, 0, *vector);
        }
    }

    #[inline(always)]
    fn vectors(&mut self) -> [&mut V::I16; KEPT] {
        let Self { across, partial, smoothed, slopes, differences, sums } = self;
        let ([p, q, r, s], [t, u], [d, e], [a, b]) = (partial, slopes, differences, sums);
        [across, p, q, r, s, smoothed, t, u, d, e, a, b]
    }

    /// Takes a row of samples, as many as there are lanes and [`beyond`] more, and gives gx and gy of the row that is [`delay`] turns above
    /// the one that it completes.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        v: V,
        (smoothing, gradient): (Smoothing, Gradient),
        samples: &[u8],
    ) -> [V::I16; 2] {
        if !smooths(smoothing) {
            return self.differentiate(v, gradient, Neighbours::load(v, samples));
        }
        let gradients = self.differentiate(v, gradient, Neighbours::of(v, self.smoothed));
        self.smooth(v, smoothing, across(v, smoothing, samples));
        gradients
    }

    #[inline(always)]
    fn smooth(&mut self, v: V, smoothing: Smoothing, across: V::I16) {
        let Self { across: before, partial, smoothed, .. } = self;
        let across = if is_cut::<V>() { mem::replace(before, across) } else { across };
        let half = pass(v, pass(v, across, &mut partial[0]), &mut partial[1]);
        *smoothed = if matches!(smoothing, Smoothing::Binomial3) {
            v.sixteenth(half)
        } else {
            let down = pass(v, pass(v, half, &mut partial[2]), &mut partial[3]);
            // Up to 256 · 255 + 128: all 16 bits, unsigned.
            v.shift_right_8(v.add_i16(down, v.splat_i16(128)))
        };
    }

    #[inline(always)]
    fn differentiate(
        &mut self,
        v: V,
        gradient: Gradient,
        Neighbours { pair, next_pair, next }: Neighbours<V>,
    ) -> [V::I16; 2] {
        // (p₁ + p₂) − (p₀ + p₁)
        let difference = mem::replace(&mut self.slopes[0], v.sub_i16(next_pair, pair));
        let x = self.down_x(v, gradient, difference);
        let sum = if matches!(gradient, Gradient::Scharr3) {
            // 3·(p₀ + 2·p₁ + p₂) + 4·p₁
            let sobel = v.add_i16(pair, next_pair);
            let [twice, twice_next] = [v.add_i16(sobel, sobel), v.add_i16(next, next)];
            v.add_i16(v.add_i16(sobel, twice), v.add_i16(twice_next, twice_next))
        } else if matches!(gradient, Gradient::Central) {
            next
        } else if matches!(gradient, Gradient::Box { .. }) {
            // (p₀ + p₁) + (p₁ + p₂) − p₁
            v.sub_i16(v.add_i16(pair, next_pair), next)
        } else {
            v.add_i16(pair, next_pair)
        };
        let sum = mem::replace(&mut self.slopes[1], sum);
        [x, self.down_y(v, sum)]
    }

    /// gx of the row above that of these differences across.
    #[inline(always)]
    fn down_x(&mut self, v: V, gradient: Gradient, difference: V::I16) -> V::I16 {
        let Self { differences, .. } = self;
        if matches!(gradient, Gradient::Scharr3 | Gradient::Box { .. }) {
            let x = weigh(v, gradient, differences[1], differences[0], difference);
            *differences = [difference, differences[0]];
            x
        } else if matches!(gradient, Gradient::Central) {
            mem::replace(&mut differences[0], difference)
        } else {
            let [first, second] = differences;
            pass(v, pass(v, difference, first), second)
        }
    }

    /// gy of the row above that of these sums across.
    #[inline(always)]
    fn down_y(&mut self, v: V, sum: V::I16) -> V::I16 {
        let y = v.sub_i16(sum, self.sums[1]);
        self.sums = [sum, self.sums[0]];
        y
    }

    #[inline(always)]
    fn down(&mut self, v: V, gradient: Gradient, [difference, sum]: [V::I16; 2]) -> [V::I16; 2] {
        [self.down_x(v, gradient, difference), self.down_y(v, sum)]
    }

    /// Makes the last row whose slopes came down the image's first: what stands before it is itself, or nothing.
    #[inline(always)]
    pub(super) fn begin(&mut self, v: V, gradient: Gradient, edges: &Edges) {
        let first = [self.differences[0], self.sums[0]];
        if !edges.repeats() {
            self.down(v, gradient, [v.splat_i16(0); 2]);
        }
        self.down(v, gradient, first);
    }

    /// gx and gy of the last row whose slopes came down, as the image's last: what stands behind it is itself, or nothing.
    #[inline(always)]
    pub(super) fn end(&mut self, v: V, gradient: Gradient, edges: &Edges) -> [V::I16; 2] {
        let last = if edges.repeats() { [self.differences[0], self.sums[0]] } else { [v.splat_i16(0); 2] };
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

    /// From the lanes of one vector, of which the last two have no neighbours.
    #[inline(always)]
    fn of(v: V, row: V::I16) -> Self {
        let next = v.next_i16(row);
        let pair = v.add_i16(row, next);
        Self { pair, next_pair: v.next_i16(pair), next }
    }
}

/// Samples, weighted across by a smoothing.
#[inline(always)]
fn across<V: Simd>(v: V, smoothing: Smoothing, row: &[u8]) -> V::I16 {
    if matches!(smoothing, Smoothing::Binomial3) {
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

/// [1 1] down.
#[inline(always)]
fn pass<V: Simd>(v: V, row: V::I16, above: &mut V::I16) -> V::I16 {
    let sum = v.add_i16(*above, row);
    *above = row;
    sum
}
