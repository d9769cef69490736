//! What cannot be a corner, told from less than a response.
//!
//! Most of an image has no response above the threshold, and there only that matters: what is no candidate suppresses none.
//! Bounds hold for responses as they are computed, rounding and all: that of 8-bit images, whose sums A and C of gx² and gy²
//! are integers, and 0 to 3 when they are scaled.

use harris_core::Measure;

/// What a window with a response above the threshold has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quiet {
    /// A + C, before it is scaled, is at least this.
    pub(super) trace: u32,
    /// The lesser of A and C, likewise, is more than this.
    pub(super) lesser: i32,
}

/// More than roundings add to a response, as a part of it: each adds less than 2^-23 of what is rounded.
const ROUNDED: f64 = 1.0 / (1 << 20) as f64;

/// The same of sums of floats by weights: the widest windows weigh and add 127 terms down, and as many across.
const SUMMED: f64 = 1.0 / (1 << 13) as f64;

/// The least threshold that silence is told from.
const LEAST_HEARD: f32 = 1e-30;

/// What the trace of a window with a response above the threshold is at least, scaled.
fn trace_of(measure: Measure, threshold: f64) -> f64 {
    match measure {
        // R is at most A·C − k·(A + C)², and A·C at most (A + C)² / 4.
        Measure::Harris { k } => (threshold / (0.25 - f64::from(k) + ROUNDED)).sqrt(),
        // The lesser eigenvalue is at most the mean of A and C; Noble's 2·A·C / (A + C), too.
        Measure::ShiTomasi | Measure::Noble { .. } => 2.0 * threshold,
    }
}

impl Quiet {
    /// That of no window at all.
    pub(super) const NONE: Self = Self { trace: 0, lesser: -1 };

    /// Some pixel of a window with a response above the threshold, whose weights add up to `weights`, has a gx² + gy² above this. Squares and
    /// sums may be floats that are rounded.
    pub(super) fn limit(measure: Measure, scale: f32, threshold: f32, weights: f64) -> f32 {
        // Where numbers become so small that they are rounded to less than floats usually are, all are heard.
        if threshold < LEAST_HEARD {
            return -1.0;
        }
        (trace_of(measure, threshold.into()) / (f64::from(scale) * weights) * (1.0 - SUMMED)) as f32
    }

    /// The A + C that a threshold asks for, scaled: the greater, the more of an image is quiet; of thresholds below 0 no number.
    pub(super) fn contrast(measure: Measure, threshold: f32) -> f32 {
        trace_of(measure, threshold.into()) as f32
    }

    pub(super) fn new(measure: Measure, scale: f32, threshold: f32) -> Self {
        let threshold = f64::from(threshold);
        // With m the lesser of A and C, and M the greater one.
        let lesser = match measure {
            Measure::Harris { k } => {
                let k = f64::from(k);
                // m·M − k·(m + M)² is greatest for m + M = m / 2k: there it is m²·(1 − 4k) / 4k.
                (threshold * 4.0 * k / (1.0 - 4.0 * k + 4.0 * ROUNDED)).sqrt()
            }
            // The lesser eigenvalue is at most m; its root may round down by a part of M.
            Measure::ShiTomasi => threshold - ROUNDED,
            // R is at most 2·m·M / (m + M).
            Measure::Noble { .. } => threshold / 2.0,
        };
        let trace = trace_of(measure, threshold);
        let sure = 1.0 - ROUNDED;
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

    /// Every tensor with a response above a threshold is heard, at thresholds just below the response.
    #[test]
    fn no_response_above_the_threshold_is_quiet() {
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
                        let quiet = Quiet::new(measure_of, scale, threshold);
                        let case = format!(
                            "{measure_of:?}, {a}, {b}, {c} at {scale}: {response} > {threshold}: {quiet:?}"
                        );
                        assert!((a + c) as u64 >= quiet.trace.into(), "{case}");
                        assert!(a.min(c) > quiet.lesser.into(), "{case}");
                    }
                }
            }
        }
        assert!(positive.iter().all(|&number| number > 1000), "{positive:?}");
    }

    /// Where gx² + gy² is the same all over a window with equal eigenvalues, a response follows from it: at the limit it is quiet, a little
    /// above it is not.
    #[test]
    fn the_limit_is_where_responses_reach_the_threshold() {
        for of in [Measure::Harris { k: 0.04 }, Measure::Harris { k: 0.2 }, Measure::ShiTomasi] {
            for (scale, weights) in [(1.0_f32, 9.0), (2.3e-11, 961.0), (0.1, 1.0), (7e-10, 4096.0)] {
                for threshold in [1e-29_f32, 3e-9, 1e-4, 0.7] {
                    let limit = Quiet::limit(of, scale, threshold, weights);
                    let response = |square: f64| {
                        let sum = (square * weights / 2.0) as f32 * scale;
                        measure(of, sum, 0.0, sum)
                    };
                    assert!(response(limit.into()) <= threshold, "{of:?}, {scale}, {weights}, {threshold}");
                    assert!(
                        response(f64::from(limit) * 1.001) > threshold,
                        "{of:?}, {scale}, {weights}, {threshold}"
                    );
                }
            }
            // And all are heard where numbers may be rounded to less than they usually are.
            assert!(Quiet::limit(of, 1.0, 0.0, 9.0) < 0.0 && Quiet::limit(of, 1.0, 1e-31, 9.0) < 0.0);
            assert!(Quiet::limit(of, 1.0, -0.5, 9.0) < 0.0);
        }
    }

    /// What bounds are for: with a hundredth of the greatest response as the threshold, little texture is quiet.
    #[test]
    fn weak_texture_and_straight_edges_are_quiet() {
        let scale = (1.0 / (9.0 * 1020.0 * 1020.0)) as f32;
        for of in [Measure::Harris { k: 0.04 }, Measure::ShiTomasi, Measure::Noble { eps: 1e-9 }] {
            let threshold = 0.01 * measure(of, 1e6 * scale, 0.0, 1e6 * scale);
            let quiet = Quiet::new(of, scale, threshold);
            assert!(quiet.trace > 2000, "{of:?}: {quiet:?}");
            assert!(quiet.lesser > 4000, "{of:?}: {quiet:?}");
        }
    }
}
