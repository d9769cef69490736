//! Early rejection: what the tensor of a response above the threshold has at least.
//!
//! Most pixels have no response above the threshold, and what is no candidate suppresses none, so their responses need
//! not be computed. The bounds hold for responses as they are computed, with all roundings: sums A and C of gx² and gy²
//! are integers, or floats from 0 to 3 once they are scaled.

use harris_core::Measure;

/// Bounds on the sums of a window with a response above the threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RejectionBound {
    /// A + C, before it is scaled, is at least this.
    pub(crate) trace: u32,
    /// The lesser of A and C, before they are scaled, exceeds this.
    pub(crate) lesser: i32,
}

/// More than all roundings add to a response, as a part of it: each adds less than 2⁻²³ of what is rounded.
const ROUNDING: f64 = 1.0 / (1 << 20) as f64;

/// More than all roundings add to a weighted sum of floats: the widest windows weigh and add 127 terms down, and as many
/// across.
const SUM_ROUNDING: f64 = 1.0 / (1 << 13) as f64;

/// The least threshold of which a bound on gradients follows.
const LEAST_THRESHOLD: f32 = 1e-30;

/// The least trace, scaled, of a response above the threshold.
fn least_trace(measure: Measure, threshold: f64) -> f64 {
    match measure {
        // R is at most A·C − k·(A + C)², and A·C at most (A + C)² / 4.
        Measure::Harris { k } => (threshold / (0.25 - f64::from(k) + ROUNDING)).sqrt(),
        // The lesser eigenvalue is at most the mean of A and C; Noble's 2·A·C / (A + C), too.
        Measure::ShiTomasi | Measure::Noble { .. } => 2.0 * threshold,
    }
}

impl RejectionBound {
    /// Rejects no window.
    pub(crate) const NONE: Self = Self { trace: 0, lesser: -1 };

    /// A value that gx² + gy² exceeds in some pixel of each window with a response above the threshold.
    ///
    /// `weights` is the sum of the window's weights. Squares and sums may be rounded floats. The result is negative where no
    /// bound is known.
    pub(crate) fn least_gradient(measure: Measure, scale: f32, threshold: f32, weights: f64) -> f32 {
        // Floats this small are rounded to fewer bits than others.
        if threshold < LEAST_THRESHOLD {
            return -1.0;
        }
        (least_trace(measure, threshold.into()) / (f64::from(scale) * weights) * (1.0 - SUM_ROUNDING)) as f32
    }

    /// The least A + C, scaled, of a response above the threshold; not a number for thresholds below 0.
    pub(crate) fn least_trace(measure: Measure, threshold: f32) -> f32 {
        least_trace(measure, threshold.into()) as f32
    }

    /// Bounds for 8-bit images, whose sums are integers.
    pub(crate) fn new(measure: Measure, scale: f32, threshold: f32) -> Self {
        let threshold = f64::from(threshold);
        // With m the lesser of A and C, and M the greater one.
        let lesser = match measure {
            Measure::Harris { k } => {
                let k = f64::from(k);
                // m·M − k·(m + M)² is greatest for m + M = m / 2k: there it is m²·(1 − 4k) / 4k.
                (threshold * 4.0 * k / (1.0 - 4.0 * k + 4.0 * ROUNDING)).sqrt()
            }
            // The lesser eigenvalue is at most m; its root may round down by a part of M.
            Measure::ShiTomasi => threshold - ROUNDING,
            // R is at most 2·m·M / (m + M).
            Measure::Noble { .. } => threshold / 2.0,
        };
        let trace = least_trace(measure, threshold);
        let sure = 1.0 - ROUNDING;
        let unscaled = sure / f64::from(scale);
        Self {
            trace: ((trace * unscaled) as u32).saturating_add(1),
            lesser: (lesser * unscaled).floor() as i32,
        }
    }
}

#[cfg(test)]
mod tests {
    use harris_core::pipeline::response::measure;

    use super::*;

    /// No bound rejects a tensor at thresholds just below its response.
    #[test]
    fn no_response_above_the_threshold_is_rejected() {
        const MEASURES: [Measure; 6] = [
            Measure::Harris { k: 0.04 },
            Measure::Harris { k: 0.0 },
            Measure::Harris { k: 0.15 },
            Measure::Harris { k: 0.249_999_9 },
            Measure::ShiTomasi,
            Measure::Noble { eps: 1e-9 },
        ];
        // Of Sobel's gradient and a box of 3, the greatest sum is 9 · 1020²; with a scale of that, and of more for colours.
        const MOST: f64 = 9.0 * 1020.0 * 1020.0;
        let mut positive = [0; MEASURES.len()];
        for (measure_of, positive) in MEASURES.into_iter().zip(&mut positive) {
            for scale in [(1.0 / MOST) as f32, (3.0 / MOST) as f32, (0.37 / MOST) as f32] {
                for i in 0_u32..60_000 {
                    // Numbers of all sizes, and ratios near those that are worst for a bound.
                    let noise =
                        |n: u32| f64::from((i * 8 + n).wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24);
                    let a = (MOST.powf(noise(0))).round();
                    let ratio = match i % 4 {
                        0 => 1.0,
                        1 => 11.5,
                        2 => 1.0 + noise(1),
                        _ => MOST.powf(noise(1)),
                    };
                    let c = (a * ratio).round().min(MOST);
                    let b = if i % 3 == 0 {
                        0.0
                    } else {
                        ((a * c).sqrt() * (2.0 * noise(2) - 1.0) * noise(3)).round()
                    };
                    let [fa, fb, fc] = [a, b, c].map(|sum| sum as f32 * scale);
                    let response = measure(measure_of, fa, fb, fc);
                    if response <= 0.0 {
                        continue;
                    }
                    *positive += 1;
                    for threshold in [0.0, response * 0.5, response.next_down()] {
                        let bound = RejectionBound::new(measure_of, scale, threshold);
                        let case = format!(
                            "{measure_of:?}, {a}, {b}, {c} at {scale}: {response} > {threshold}: {bound:?}"
                        );
                        assert!((a + c) as u64 >= bound.trace.into(), "{case}");
                        assert!(a.min(c) > bound.lesser.into(), "{case}");
                    }
                }
            }
        }
        assert!(positive.iter().all(|&number| number > 1000), "{positive:?}");
    }

    /// Windows whose pixels have one gx² + gy², with equal eigenvalues: at the bound the response is at most the threshold, a
    /// little above it exceeds it.
    #[test]
    fn the_gradient_bound_is_where_responses_reach_the_threshold() {
        for of in [Measure::Harris { k: 0.04 }, Measure::Harris { k: 0.2 }, Measure::ShiTomasi] {
            for (scale, weights) in [(1.0_f32, 9.0), (2.3e-11, 961.0), (0.1, 1.0), (7e-10, 4096.0)] {
                for threshold in [1e-29_f32, 3e-9, 1e-4, 0.7] {
                    let least = RejectionBound::least_gradient(of, scale, threshold, weights);
                    let response = |square: f64| {
                        let sum = (square * weights / 2.0) as f32 * scale;
                        measure(of, sum, 0.0, sum)
                    };
                    assert!(response(least.into()) <= threshold, "{of:?}, {scale}, {weights}, {threshold}");
                    assert!(
                        response(f64::from(least) * 1.001) > threshold,
                        "{of:?}, {scale}, {weights}, {threshold}"
                    );
                }
            }
            // None where floats may be rounded to fewer bits than others.
            assert!(RejectionBound::least_gradient(of, 1.0, 0.0, 9.0) < 0.0 && RejectionBound::least_gradient(of, 1.0, 1e-31, 9.0) < 0.0);
            assert!(RejectionBound::least_gradient(of, 1.0, -0.5, 9.0) < 0.0);
        }
    }

    /// A threshold of a hundredth of the greatest response gives bounds that reject weak texture and straight edges.
    #[test]
    fn weak_texture_and_straight_edges_are_rejected() {
        let scale = (1.0 / (9.0 * 1020.0 * 1020.0)) as f32;
        for of in [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-9 }] {
            let threshold = 0.01 * measure(of, 1e6 * scale, 0.0, 1e6 * scale);
            let bound = RejectionBound::new(of, scale, threshold);
            assert!(bound.trace > 2000, "{of:?}: {bound:?}");
            assert!(bound.lesser > 4000, "{of:?}: {bound:?}");
        }
    }
}
