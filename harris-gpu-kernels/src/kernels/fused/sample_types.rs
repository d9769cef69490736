//! Types of samples, with the types that they are computed in, and column sums of products.

use core::array;

use super::lane::LANE_COLUMNS;
use crate::Word;
use crate::abi::fused::MAX_SAMPLE;
use crate::kernels::number::Number;
use crate::kernels::thread_per_column::push;

/// Type of a sample, with the types that it is computed in.
pub(super) trait Sample: Word {
    type Number: Number;
    /// Type of a sum of products.
    type Sum: Number;
    /// How column sums are kept.
    type ColumnSums: ColumnSums<Self>;
    /// Form of the trace bound that is quick to compare.
    type Bound: Copy;

    fn to_number(self) -> Self::Number;
    /// Whether images may have the sample.
    #[inline(always)]
    fn is_valid(self) -> bool {
        true
    }
    fn product(a: Self::Number, b: Self::Number) -> Self::Sum;
    fn float(sum: Self::Sum) -> f32;
    fn bound(trace_bound: f32) -> Self::Bound;
    /// Whether any trace may reach the bound. It may be true without need, but is never false where
    /// a trace reaches the bound.
    fn any_trace_reaches(
        bound: Self::Bound,
        xx: [Self::Sum; LANE_COLUMNS],
        yy: [Self::Sum; LANE_COLUMNS],
    ) -> bool;
}

impl Sample for u8 {
    type Number = i32;
    // Callers use these kernels only where sums fit. Sobel's gradients are at most 4 times a
    // sample, so 49 products of 3 channels make 147 · 1020² < 2³¹.
    type Sum = i32;
    type ColumnSums = RecomputedSums<u8>;
    type Bound = u32;

    #[inline(always)]
    fn to_number(self) -> i32 {
        self.into()
    }
    #[inline(always)]
    fn product(a: i32, b: i32) -> i32 {
        a * b
    }
    #[inline(always)]
    fn float(sum: i32) -> f32 {
        sum as f32
    }
    #[inline(always)]
    fn bound(trace_bound: f32) -> u32 {
        trace_bound as u32
    }
    #[inline(always)]
    fn any_trace_reaches(bound: u32, xx: [i32; LANE_COLUMNS], yy: [i32; LANE_COLUMNS]) -> bool {
        let traces: [u32; LANE_COLUMNS] = array::from_fn(|i| xx[i].wrapping_add(yy[i]) as u32);
        traces[0].max(traces[1]).max(traces[2].max(traces[3])) >= bound
    }
}

impl Sample for u16 {
    type Number = i32;
    type Sum = i64;
    type ColumnSums = SumsByWindow<u16>;
    // Rounding 64-bit sums is faster than adding and comparing them.
    type Bound = f32;

    #[inline(always)]
    fn to_number(self) -> i32 {
        self.into()
    }
    #[inline(always)]
    fn product(a: i32, b: i32) -> i64 {
        i64::from(a) * i64::from(b)
    }
    #[inline(always)]
    fn float(sum: i64) -> f32 {
        sum as f32
    }
    #[inline(always)]
    fn bound(trace_bound: f32) -> f32 {
        trace_bound
    }
    #[inline(always)]
    fn any_trace_reaches(bound: f32, xx: [i64; LANE_COLUMNS], yy: [i64; LANE_COLUMNS]) -> bool {
        <f32 as Sample>::any_trace_reaches(bound, xx.map(Self::float), yy.map(Self::float))
    }
}

impl Sample for f32 {
    type Number = f32;
    type Sum = f32;
    type ColumnSums = RecomputedSums<f32>;
    type Bound = f32;

    #[inline(always)]
    fn to_number(self) -> f32 {
        self
    }
    #[inline(always)]
    fn is_valid(self) -> bool {
        self.abs() <= MAX_SAMPLE
    }
    #[inline(always)]
    fn product(a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn float(sum: f32) -> f32 {
        sum
    }
    #[inline(always)]
    fn bound(trace_bound: f32) -> f32 {
        trace_bound
    }
    #[inline(always)]
    fn any_trace_reaches(bound: f32, xx: [f32; LANE_COLUMNS], yy: [f32; LANE_COLUMNS]) -> bool {
        let traces: [f32; LANE_COLUMNS] = array::from_fn(|i| xx[i] + yy[i]);
        traces[0].max(traces[1]).max(traces[2].max(traces[3])) >= bound
    }
}

/// gx and gy of a lane's columns.
pub(super) type Gradients<T> = [[<T as Sample>::Number; LANE_COLUMNS]; 2];

/// Sums of gx², gx·gy and gy² of a lane's columns.
pub(super) type Sums<T> = [[<T as Sample>::Sum; LANE_COLUMNS]; 3];

/// Column sums of the products over windows.
pub(super) trait ColumnSums<T: Sample> {
    const NONE: Self;

    /// Adds a row of each channel's gradients. Returns the sums over the window that ends with it.
    fn push_row<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T>;
}

#[inline(always)]
fn products<T: Sample>([gx, gy]: Gradients<T>) -> Sums<T> {
    [
        array::from_fn(|i| T::product(gx[i], gx[i])),
        array::from_fn(|i| T::product(gx[i], gy[i])),
        array::from_fn(|i| T::product(gy[i], gy[i])),
    ]
}

#[inline(always)]
fn plus<T: Sample>(a: Sums<T>, b: Sums<T>) -> Sums<T> {
    array::from_fn(|product| array::from_fn(|i| a[product][i] + b[product][i]))
}

/// Sums added up anew for each window, from its highest row on. The ring holds products, the latest
/// first.
pub(super) struct RecomputedSums<T: Sample>([Sums<T>; 6]);

impl<T: Sample> ColumnSums<T> for RecomputedSums<T> {
    const NONE: Self = Self([[[T::Sum::ZERO; LANE_COLUMNS]; 3]; 6]);

    #[inline(always)]
    fn push_row<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T> {
        const { assert!(WINDOW >= 1 && WINDOW <= 3, "the ring fits these windows") };
        let mut own = products::<T>(gradients[0]);
        for channel in 1..CHANNELS {
            own = plus::<T>(own, products::<T>(gradients[channel]));
        }
        let Self(rows) = self;
        let mut sums = rows[2 * WINDOW - 1];
        for row in (0..2 * WINDOW - 1).rev() {
            sums = plus::<T>(sums, rows[row]);
        }
        push(rows, own);
        plus::<T>(sums, own)
    }
}

/// Exact running sums: one row is added and one subtracted. The ring holds gradients, the latest
/// first, which need fewer registers than products.
pub(super) struct RunningSums<T: Sample> {
    sums: Sums<T>,
    rows: [Gradients<T>; 7],
}

impl<T: Sample> ColumnSums<T> for RunningSums<T> {
    const NONE: Self =
        Self { sums: [[T::Sum::ZERO; LANE_COLUMNS]; 3], rows: [[[T::Number::ZERO; LANE_COLUMNS]; 2]; 7] };

    #[inline(always)]
    fn push_row<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T> {
        const { assert!(CHANNELS == 1 && WINDOW >= 1 && WINDOW <= 3, "the ring fits these windows") };
        let own = gradients[0];
        let [gx, gy] = self.rows[2 * WINDOW];
        let minus = |number: T::Number| T::Number::ZERO - number;
        let off: Sums<T> = [
            array::from_fn(|i| T::product(minus(gx[i]), gx[i])),
            array::from_fn(|i| T::product(minus(gx[i]), gy[i])),
            array::from_fn(|i| T::product(minus(gy[i]), gy[i])),
        ];
        self.sums = plus::<T>(plus::<T>(self.sums, off), products::<T>(own));
        push(&mut self.rows, own);
        self.sums
    }
}

/// Recomputed sums for windows of radius 1, as 64-bit products are slow, and running sums for
/// larger ones, as products need many registers.
pub(super) struct SumsByWindow<T: Sample>(RecomputedSums<T>, RunningSums<T>);

impl<T: Sample> ColumnSums<T> for SumsByWindow<T> {
    const NONE: Self = Self(RecomputedSums::NONE, RunningSums::NONE);

    #[inline(always)]
    fn push_row<const CHANNELS: usize, const WINDOW: usize>(
        &mut self,
        gradients: [Gradients<T>; CHANNELS],
    ) -> Sums<T> {
        if WINDOW == 1 {
            self.0.push_row::<CHANNELS, WINDOW>(gradients)
        } else {
            self.1.push_row::<CHANNELS, WINDOW>(gradients)
        }
    }
}
