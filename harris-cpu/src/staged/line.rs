//! Arithmetic on rows, element by element, in the order of docs/arithmetic.md.

use harris_core::Border;
use harris_core::pipeline::border;
use harris_core::pipeline::plane::Number;

use crate::buffers::Pooled;

/// An element of a row.
pub(crate) trait Element: Number + Pooled + Send + Sync {
    /// Whether sums are exact, so that they may be taken in any order.
    const EXACT: bool;

    /// Ends a binomial smoothing: (sum + half) >> shift of an integer, sum / 2^shift of a float.
    fn normalised(sum: Self, shift: u32) -> Self;

    /// A float weight times the element; only float rows meet float weights.
    fn weighted(self, weight: f32) -> Self;
}

macro_rules! integer_element {
    ($($type:ty)*) => {
        $(impl Element for $type {
            const EXACT: bool = true;

            fn normalised(sum: Self, shift: u32) -> Self {
                (sum + (1 << (shift - 1))) >> shift
            }

            fn weighted(self, _: f32) -> Self {
                unreachable!("integer rows become float before they meet float weights")
            }
        })*
    };
}

integer_element!(i32 i64);

impl Element for f32 {
    const EXACT: bool = false;

    fn normalised(sum: Self, shift: u32) -> Self {
        sum * (1.0 / (1_u32 << shift) as f32)
    }

    fn weighted(self, weight: f32) -> Self {
        weight * self
    }
}

/// A conversion that is exact or, from integers to f32, rounds to nearest even.
pub(crate) trait Convert<T>: Sized {
    fn convert(value: T) -> Self;
}

macro_rules! convert {
    ($($from:ty => $to:ty,)*) => {
        $(impl Convert<$from> for $to {
            fn convert(value: $from) -> $to {
                #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
                { value as $to }
            }
        })*
    };
}

convert! {
    u8 => i32, u8 => f32, u16 => i32, u16 => f32,
    i32 => i32, i32 => i64, i32 => f32, i64 => i64, i64 => f32, f32 => f32,
}

/// out = a
pub(crate) fn set<T: Copy>(out: &mut [T], a: &[T]) {
    out.copy_from_slice(&a[..out.len()]);
}

/// out = f(out, a)
pub(crate) fn update<T: Copy, U: Copy>(out: &mut [U], a: &[T], f: impl Fn(U, T) -> U) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(*out, a);
    }
}

/// out = f(a, b)
pub(crate) fn combine<T: Copy, U>(out: &mut [U], a: &[T], b: &[T], f: impl Fn(T, T) -> U) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// out = f(a, b, c)
pub(crate) fn combine3<T: Copy, U>(out: &mut [U], a: &[T], b: &[T], c: &[T], f: impl Fn(T, T, T) -> U) {
    for (((out, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = f(a, b, c);
    }
}

/// out = line(first) + line(first + step) + ..., `terms` of them, from the first on.
pub(crate) fn sum<'a, T: Number + 'a>(out: &mut [T], lines: impl Iterator<Item = &'a [T]>) {
    for (i, line) in lines.enumerate() {
        if i == 0 {
            set(out, line);
        } else {
            update(out, line, |acc, v| acc + v);
        }
    }
}

/// Sums of the `terms` elements of `row` from each place on, into `out`. Exact sums slide, so that
/// their cost does not grow with the terms; others are added from the first term on.
pub(crate) fn sum_across<T: Element>(out: &mut [T], row: &[T], terms: usize) {
    let width = out.len();
    if !T::EXACT {
        return sum(out, (0..terms).map(|i| &row[i..][..width]));
    }
    let mut sum = row[1..terms].iter().fold(row[0], |acc, &v| acc + v);
    out[0] = sum;
    for ((out, &enters), &leaves) in out[1..].iter_mut().zip(&row[terms..]).zip(row) {
        sum = sum + enters - leaves;
        *out = sum;
    }
}

/// sums += enters − leaves
pub(crate) fn slide<T: Number>(sums: &mut [T], enters: &[T], leaves: &[T]) {
    for ((sum, &enters), &leaves) in sums.iter_mut().zip(enters).zip(leaves) {
        *sum = *sum + enters - leaves;
    }
}

/// out = w₀·line₀ + w₁·line₁ + ..., from the first term on.
pub(crate) fn weighted_sum<'a, T: Element>(
    out: &mut [T],
    taps: &[f32],
    lines: impl Iterator<Item = &'a [T]>,
) {
    for (i, (&tap, line)) in taps.iter().zip(lines).enumerate() {
        if i == 0 {
            update(out, line, |_, v| v.weighted(tap));
        } else {
            update(out, line, |acc, v| acc + v.weighted(tap));
        }
    }
}

/// Fills the padding of a row, `pad` elements to each side of the `width` in its middle, by the
/// border rule.
pub(crate) fn extend<T: Number>(row: &mut [T], pad: usize, border: Border) {
    let width = row.len() - 2 * pad;
    for i in 0..pad {
        let value = |row: &[T], x: isize| border::inside(border, x, width).map_or(T::ZERO, |x| row[pad + x]);
        row[i] = value(row, i as isize - pad as isize);
        row[pad + width + i] = value(row, (width + i) as isize);
    }
}
