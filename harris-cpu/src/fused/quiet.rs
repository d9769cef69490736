//! What cannot be a corner, told from less than a response.
//!
//! Most of an image has no response above the threshold, and there only that matters: what is no candidate suppresses none.
//! Bounds hold for responses as they are computed, rounding and all.

use harris_core::Measure;

/// Of a tensor's a + c before it is scaled: with at most this, the response does not exceed `threshold`.
pub(super) fn quiet_trace(measure: Measure, scale: f32, threshold: f32) -> u32 {
    // More than roundings add: each adds less than 2^-23 of what is rounded.
    const ROUNDED: f64 = 1.0 / (1 << 20) as f64;
    let threshold = f64::from(threshold);
    let trace = match measure {
        // a·c is at most (a + c)² / 4.
        Measure::Harris { k } => (threshold / (0.25 - f64::from(k) + ROUNDED)).sqrt(),
        // The lesser eigenvalue is at most the mean of both; Noble's measure, too, as a·c / (a + c) is at most (a + c) / 4.
        Measure::ShiTomasi | Measure::Noble { .. } => 2.0 * threshold,
    };
    (trace / f64::from(scale) * (1.0 - ROUNDED)) as u32
}
