//! Early rejection: lower bounds on the tensor of a pixel whose response exceeds a threshold.
//!
//! A pixel that is no candidate suppresses no other, so its response need not be computed. Backends
//! compare the trace A + C, or the lesser of A and C, with a bound from here, and skip the rest of
//! the response where it is not exceeded.
//!
//! All bounds are safe under rounding: each includes the margin of [`ROUNDING`], and a caller's own
//! few operations fit into it.

use crate::config::Measure;

/// Relative margin of safety for rounding in every bound of this module: 2⁻²⁰.
///
/// With u = 2⁻²⁴, one f32 operation has a relative error of at most u. Rounding enters in two
/// places, and each has a margin of 16·u:
///
/// - **The response** R of an f32 tensor, with t = A + C exact:
///   - Harris: rounding is monotone, so det ≤ A·C·(1 + u). The other term has four roundings. Thus
///     R ≤ t²·(1/4 − k + 1.25·u)·(1 + u), where the factor of t² gains at most 1.5·u.
///   - Shi-Tomasi: R ≤ (t/2)·(1 + 2·u). In R against min(A, C), the mean and the root have errors
///     of
///     1.8·u·t. With t ≤ 6 these and the last rounding, of R ≤ 3, add up to less than 14·u.
///   - Triggs: with the lesser eigenvalue at most t/2 and the greater at least that, R ≤
///     (t/2)·(1 − alpha) and as many roundings as Shi-Tomasi, and three more, all of at most t/2.
///   - Noble: R ≤ 2·A·C/t · (1 + 5·u), which the margin of the caller includes.
/// - **The caller**: from exact sums, or f32 sums taken as they are, to A and C there are two
///   roundings: conversion to f32 and product with the scale. A trace in f32 is a third. A bound
///   computed in f32 as √threshold · factor has four. With Noble's five that is 12·u.
///
/// Terms of second order are far below what is left.
pub const ROUNDING: f64 = margin(8);

/// Relative margin of safety for a window sum by f32 operations: 2⁻¹³.
///
/// The widest window adds up 127 weighted terms down and 127 across: 254 roundings of sums, two of
/// weights. Products, their sum over three channels and taps that do not add up to exactly 1 have
/// fewer than 256 more.
const FLOAT_SUM: f64 = margin(1024);

/// The relative error of so many f32 operations, doubled: n operations have less than 1.01·n·2⁻²⁴.
const fn margin(operations: u32) -> f64 {
    operations as f64 * f32::EPSILON as f64
}

/// Lower bound on the trace A + C for any threshold: a factor of the threshold or of its root.
///
/// For callers that know the threshold late, for instance on another device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TraceFactor {
    /// The trace exceeds this factor times the threshold.
    OfThreshold(f64),
    /// The trace exceeds this factor times the square root of the threshold.
    OfRoot(f64),
}

impl TraceFactor {
    /// The factor, of the threshold or of its root, for a tensor in the units of an image in 0..1.
    #[must_use]
    pub fn factor(self) -> f64 {
        match self {
            Self::OfThreshold(factor) | Self::OfRoot(factor) => factor,
        }
    }

    /// The bound for a threshold of at least 0.
    #[must_use]
    pub fn bound(self, threshold: f64) -> f64 {
        match self {
            Self::OfThreshold(factor) => factor * threshold,
            Self::OfRoot(factor) => factor * threshold.sqrt(),
        }
    }
}

/// The factor from a threshold to the trace that a response above it needs.
///
/// Holds for thresholds from [`min_threshold`] on, and for 0. For all measures the response at a
/// given trace is greatest where the eigenvalues are equal.
#[must_use]
pub fn trace_factor(measure: Measure) -> TraceFactor {
    let safe = 1.0 - ROUNDING;
    match measure {
        // R ≤ A·C − k·t², and A·C ≤ t²/4.
        Measure::Harris { k } => TraceFactor::OfRoot(safe / (0.25 - f64::from(k) + ROUNDING).sqrt()),
        // The lesser eigenvalue is at most t/2. So is Noble's 2·A·C/(t + eps).
        Measure::ShiTomasi | Measure::Noble { .. } => TraceFactor::OfThreshold(2.0 * safe),
        // R ≤ t/2 − alpha·t/2.
        Measure::Triggs { alpha } => {
            TraceFactor::OfThreshold(2.0 * safe / (1.0 - f64::from(alpha) + ROUNDING))
        }
    }
}

/// The least positive threshold for which bounds hold: below it numbers may be subnormal, with
/// errors that are not relative.
///
/// In images of 8-bit samples no product is subnormal, and bounds hold for all thresholds from 0
/// on.
#[must_use]
pub fn min_threshold(measure: Measure) -> f64 {
    match measure {
        // An underflow adds at most 2⁻¹⁴⁸ to the response.
        Measure::Harris { .. } => f64::from(1e-30_f32),
        // An underflow under the root adds at most 2⁻⁷⁴ to the response, and only where t/2 is not
        // the bound.
        Measure::ShiTomasi | Measure::Triggs { .. } => f64::from(1e-30_f32),
        // A·C is not 0, so t ≥ 2⁻⁷⁴. An underflow of A·C adds at most 2⁻¹⁵⁰·2/t ≤ 2⁻⁷⁵ to the
        // response.
        Measure::Noble { .. } => 1.0 / (1_u64 << 50) as f64,
    }
}

/// Lower bound on the trace A + C of any pixel whose response exceeds `threshold`.
///
/// The trace is in the units of an image in 0..1 and exceeds the bound. It is −1, which tells
/// nothing, for thresholds below 0 or NaN, and 0 for those below [`min_threshold`].
///
/// ```
/// use harris_core::{Measure, pipeline::bound::trace_bound};
///
/// // The lesser of two eigenvalues is at most half their sum.
/// let bound = trace_bound(Measure::ShiTomasi, 0.25);
/// assert!(bound < 0.5 && bound > 0.499_999);
/// assert_eq!(trace_bound(Measure::ShiTomasi, -1.0), -1.0);
/// ```
#[must_use]
pub fn trace_bound(measure: Measure, threshold: f64) -> f64 {
    if threshold >= min_threshold(measure) {
        trace_factor(measure).bound(threshold)
    } else if threshold >= 0.0 {
        0.0
    } else {
        -1.0
    }
}

/// Lower bound on min(A, C) of any pixel whose response exceeds `threshold`, in images of integers.
///
/// In the units of an image in 0..1, where A + C is at most 6. The lesser of A and C exceeds the
/// bound. A bound below 0 tells nothing.
///
/// ```
/// use harris_core::{Measure, pipeline::bound::min_ac_bound};
///
/// // The lesser eigenvalue is at most the lesser of A and C.
/// let bound = min_ac_bound(Measure::ShiTomasi, 0.25);
/// assert!(bound < 0.25 && bound > 0.249_99);
/// ```
#[must_use]
pub fn min_ac_bound(measure: Measure, threshold: f64) -> f64 {
    if threshold.is_nan() || threshold < 0.0 {
        return -1.0;
    }
    // With m the lesser of A and C, and M the greater one.
    let bound = match measure {
        Measure::Harris { k } => {
            let k = f64::from(k);
            // m·M − k·(m + M)² is greatest for m + M = m/2k, where it is m²·(1 − 4·k)/4k.
            (threshold * 4.0 * k / (1.0 - 4.0 * k + 4.0 * ROUNDING)).sqrt()
        }
        // The lesser eigenvalue is at most m. Its root may be rounded by a part of M.
        Measure::ShiTomasi => threshold - ROUNDING,
        // R ≤ 2·m·M/(m + M).
        Measure::Noble { .. } => threshold / 2.0,
        // The greater eigenvalue is no less than the lesser, which is at most m: R ≤ m − alpha·m. Both
        // terms have roundings of a part of M.
        Measure::Triggs { alpha } => (threshold - 3.0 * ROUNDING) / (1.0 - f64::from(alpha)),
    };
    bound * (1.0 - ROUNDING)
}

/// Lower bound on the greatest gx² + gy² in the window of any pixel whose response exceeds
/// `threshold`.
///
/// In the units of the gradients before `scale`, which is
/// [`tensor_scale`](crate::HarrisConfig::tensor_scale). `weights` is the sum of the window's
/// weights times the number of channels. Squares and window sums may be f32 numbers, rounded in any
/// order.
///
/// Some pixel and channel of the window exceeds the bound. It is −1, which tells nothing, where
/// numbers may be subnormal: below [`min_threshold`].
#[must_use]
pub fn squared_gradient_bound(measure: Measure, scale: f32, threshold: f32, weights: f64) -> f32 {
    let threshold = f64::from(threshold);
    if threshold >= min_threshold(measure) {
        (trace_bound(measure, threshold) / (f64::from(scale) * weights) * (1.0 - FLOAT_SUM)) as f32
    } else {
        -1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MeasureKind;
    use crate::pipeline::response::measure;

    /// All measures with their usual parameters and with those at both ends, and Harris at its
    /// limit.
    fn measures() -> impl Iterator<Item = Measure> {
        let ends = |kind: MeasureKind| kind.parameters().map_or([0.0; 2], |range| [range.start, range.end]);
        let extreme = move |kind: MeasureKind| ends(kind).map(|parameter| kind.with_parameter(parameter));
        let usual = MeasureKind::ALL.into_iter().map(MeasureKind::usual);
        let limit = [Measure::Harris { k: 0.249_999_9 }];
        usual.chain(MeasureKind::ALL.into_iter().flat_map(extreme)).chain(limit)
    }

    /// The greatest sum of Sobel's gradient and a box window of 3: 9 · 1020².
    const GREATEST: f64 = 9.0 * 1020.0 * 1020.0;

    /// Calls `check` with exact sums a, b, c, a scale and the positive response of the scaled
    /// tensor.
    fn for_each_response(of: Measure, mut check: impl FnMut([f64; 3], f32, f32)) {
        let mut positive = 0;
        // The scale of gray images, and others as for colours or wider windows.
        for scale in [1.0, 3.0, 0.37].map(|factor| (factor / GREATEST) as f32) {
            for i in 0_u32..60_000 {
                // Numbers of all sizes, and ratios near the worst ones for a bound.
                let noise =
                    |n: u32| f64::from((i * 8 + n).wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24);
                let a = GREATEST.powf(noise(0)).round();
                let ratio = match i % 4 {
                    0 => 1.0,
                    1 => 11.5,
                    2 => 1.0 + noise(1),
                    _ => GREATEST.powf(noise(1)),
                };
                let c = (a * ratio).round().min(GREATEST);
                let b = if i % 3 == 0 {
                    0.0
                } else {
                    ((a * c).sqrt() * (2.0 * noise(2) - 1.0) * noise(3)).round()
                };
                let [fa, fb, fc] = [a, b, c].map(|sum| sum as f32 * scale);
                let response = measure(of, fa, fb, fc);
                if response > 0.0 {
                    positive += 1;
                    check([a, b, c], scale, response);
                }
            }
        }
        assert!(positive > 1000, "{of}: {positive} positive responses");
    }

    #[test]
    fn every_tensor_with_a_response_above_the_threshold_exceeds_the_bounds() {
        for of in measures() {
            for_each_response(of, |[a, b, c], scale, response| {
                for threshold in [0.0, response * 0.5, response.next_down()] {
                    let [trace, lesser] = [trace_bound, min_ac_bound]
                        .map(|bound| bound(of, threshold.into()) / f64::from(scale));
                    let case = || format!("{of}: {a}, {b}, {c} at {scale}: {response} > {threshold}");
                    assert!(a + c > trace, "{}: trace {trace}", case());
                    assert!(a.min(c) > lesser, "{}: lesser {lesser}", case());
                }
            });
        }
    }

    /// As a GPU has it: a factor in f32, and a threshold in f32 that the host does not know.
    #[test]
    fn the_trace_factor_in_f32_arithmetic_is_still_a_bound() {
        for of in measures() {
            for_each_response(of, |[a, b, c], scale, response| {
                let threshold = response.next_down();
                let factor = trace_factor(of);
                let scaled = (factor.factor() / f64::from(scale)) as f32;
                let bound = match factor {
                    TraceFactor::OfThreshold(_) => threshold * scaled,
                    TraceFactor::OfRoot(_) => threshold.sqrt() * scaled,
                };
                let trace = a as f32 + c as f32;
                assert!(trace >= bound, "{of}: {a}, {b}, {c} at {scale}: {response}: {trace} < {bound}");
            });
        }
    }

    #[test]
    fn bounds_are_tight_for_equal_eigenvalues_and_at_the_worst_ratio() {
        for kind in MeasureKind::ALL {
            let of = kind.with_parameter(kind.parameters().map_or(0.0, |range| range.start));
            for_each_response(of, |[a, b, c], scale, response| {
                if a == c && b == 0.0 && a > 1e3 {
                    let trace = trace_bound(of, response.into()) / f64::from(scale);
                    assert!((a + c) < trace * 1.0001, "{of}: {a} at {scale}: {trace}");
                }
            });
        }
        // Harris is greatest for C of 11.5 · A where k is 0.04.
        let response = measure(Measure::Harris { k: 0.04 }, 0.01, 0.0, 0.115);
        let lesser = min_ac_bound(Measure::Harris { k: 0.04 }, response.into());
        assert!((0.01 - 1e-6..0.01).contains(&lesser), "{lesser}");
    }

    #[test]
    fn the_gradient_bound_lies_where_a_uniform_window_reaches_the_threshold() {
        for of in [Measure::Harris { k: 0.04 }, Measure::Harris { k: 0.2 }, Measure::ShiTomasi] {
            for (scale, weights) in [(1.0_f32, 9.0), (2.3e-11, 961.0), (0.1, 1.0), (7e-10, 4096.0)] {
                for threshold in [1e-29_f32, 3e-9, 1e-4, 0.7] {
                    let bound = squared_gradient_bound(of, scale, threshold, weights);
                    let response = |square: f64| {
                        let sum = (square * weights / 2.0) as f32 * scale;
                        measure(of, sum, 0.0, sum)
                    };
                    let case = format!("{of}, {scale}, {weights}, {threshold}");
                    assert!(response(bound.into()) <= threshold, "{case}");
                    assert!(response(f64::from(bound) * 1.001) > threshold, "{case}");
                }
            }
        }
    }

    #[test]
    fn thresholds_without_meaning_reject_nothing() {
        for of in measures() {
            for threshold in [-0.5, f32::NAN] {
                assert!(trace_bound(of, threshold.into()) < 0.0);
                assert!(min_ac_bound(of, threshold.into()) < 0.0);
            }
            for threshold in [0.0, 1e-31, -0.5, f32::NAN] {
                assert!(squared_gradient_bound(of, 1.0, threshold, 9.0) < 0.0);
            }
        }
    }

    /// Where A·C is subnormal, Noble's quotient may exceed what the trace allows by half.
    #[test]
    fn below_the_least_threshold_no_trace_is_rejected() {
        let of = Measure::Noble { eps: 1e-38 };
        // A·C is 0.6 · 2⁻¹⁴⁹ and becomes 2⁻¹⁴⁹.
        let sum = (0.6_f64.sqrt() * 2.0_f64.powf(-74.5)) as f32;
        let response = measure(of, sum, 0.0, sum);
        assert!(f64::from(response) > 1.5 * f64::from(sum), "{response} of {sum}");
        let threshold = f64::from(response.next_down());
        assert!(trace_factor(of).bound(threshold) > 2.0 * f64::from(sum));
        assert!(threshold < min_threshold(of) && trace_bound(of, threshold) == 0.0);
    }

    #[test]
    fn weak_texture_and_straight_edges_are_rejected() {
        let scale = 1.0 / GREATEST;
        for of in MeasureKind::ALL.map(MeasureKind::usual) {
            let sum = (1e6 * scale) as f32;
            let threshold = 0.01 * f64::from(measure(of, sum, 0.0, sum));
            assert!(trace_bound(of, threshold) > 2000.0 * scale, "{of}");
            assert!(min_ac_bound(of, threshold) > 4000.0 * scale, "{of}");
        }
    }
}
