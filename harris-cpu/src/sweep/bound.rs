//! Early rejection of 8-bit images: integer bounds on the window sums of a response above the
//! threshold.

use harris_core::Measure;
use harris_core::pipeline::bound::{min_ac_bound, trace_bound};

/// Bounds on the sums A and C of gx² and gy² over a window with a response above the threshold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RejectionBound {
    /// A + C, before it is scaled, is at least this.
    pub(crate) trace: u32,
    /// The lesser of A and C, before they are scaled, exceeds this.
    pub(crate) lesser: i32,
}

impl RejectionBound {
    /// Rejects no window.
    pub(crate) const NONE: Self = Self { trace: 0, lesser: -1 };

    pub(crate) fn new(measure: Measure, scale: f32, threshold: f32) -> Self {
        let (scale, threshold) = (f64::from(scale), f64::from(threshold));
        let [trace, lesser] = [trace_bound(measure, threshold), min_ac_bound(measure, threshold)]
            .map(|bound| (bound / scale).floor());
        // An integer that exceeds a bound is at least the next integer.
        Self { trace: (trace + 1.0) as u32, lesser: lesser as i32 }
    }
}

#[cfg(test)]
mod tests {
    use harris_core::pipeline::response::measure;

    use super::*;

    /// No bound rejects a tensor at thresholds just below its response.
    #[test]
    fn no_response_above_the_threshold_is_rejected() {
        const MEASURES: [Measure; 8] = [
            Measure::Harris { k: 0.04 },
            Measure::Harris { k: 0.0 },
            Measure::Harris { k: 0.15 },
            Measure::Harris { k: 0.249_999_9 },
            Measure::ShiTomasi,
            Measure::Noble { eps: 1e-9 },
            Measure::Triggs { alpha: 0.0 },
            Measure::Triggs { alpha: 0.05 },
        ];
        // Of Sobel's gradient and a box of 3, the greatest sum is 9 · 1020²; with a scale of that,
        // and of more for colours.
        const MAX_WINDOW_SUM: f64 = 9.0 * 1020.0 * 1020.0;
        let mut positive = [0; MEASURES.len()];
        for (measure_of, positive) in MEASURES.into_iter().zip(&mut positive) {
            for scale in
                [(1.0 / MAX_WINDOW_SUM) as f32, (3.0 / MAX_WINDOW_SUM) as f32, (0.37 / MAX_WINDOW_SUM) as f32]
            {
                for i in 0_u32..60_000 {
                    // Numbers of all sizes, and ratios near those that are worst for a bound.
                    let noise =
                        |n: u32| f64::from((i * 8 + n).wrapping_mul(2_654_435_769) >> 8) / f64::from(1 << 24);
                    let a = (MAX_WINDOW_SUM.powf(noise(0))).round();
                    let ratio = match i % 4 {
                        0 => 1.0,
                        1 => 11.5,
                        2 => 1.0 + noise(1),
                        _ => MAX_WINDOW_SUM.powf(noise(1)),
                    };
                    let c = (a * ratio).round().min(MAX_WINDOW_SUM);
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

    /// A threshold of a hundredth of the greatest response gives bounds that reject weak texture
    /// and straight edges.
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
