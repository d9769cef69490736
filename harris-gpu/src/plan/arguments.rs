//! Choices of a configuration as the numbers that kernels take.

use harris_core::config::MeasureKind;
use harris_core::pipeline::{bound, taps};
use harris_core::{Border, Gradient, HarrisConfig, Plateau, Threshold, Window};
use harris_gpu_kernels::abi::{border, gradient, measure, plateau, threshold};

/// Number of the response measure, and its parameter.
pub(crate) fn measure_of(config: &HarrisConfig) -> (u32, f32) {
    let number = match config.measure().kind() {
        MeasureKind::Harris => measure::HARRIS,
        MeasureKind::ShiTomasi => measure::SHI_TOMASI,
        MeasureKind::Noble => measure::NOBLE,
        MeasureKind::Triggs => measure::TRIGGS,
    };
    (number, config.measure().parameter())
}

/// The factor from a threshold, or from its square root, to the least trace of the window sums, in
/// their own unit, that a response above the threshold needs: see
/// [`trace_factor`](bound::trace_factor).
pub(crate) fn trace_factor(config: &HarrisConfig, scale: f32) -> f32 {
    (bound::trace_factor(config.measure()).factor() / f64::from(scale)) as f32
}

/// Number of the border rule of the staged kernels.
pub(crate) fn border_of(config: &HarrisConfig) -> u32 {
    match config.border() {
        Border::Reflect101 => border::REFLECT,
        Border::Replicate => border::REPLICATE,
        // Valid pixels do not depend on what lies outside.
        Border::Zero | Border::Skip => border::ZERO,
    }
}

/// Number of a gradient of three fixed taps; `None` for other gradients.
pub(crate) fn gradient_of(choice: Gradient) -> Option<u32> {
    match choice {
        Gradient::Sobel3 => Some(gradient::SOBEL),
        Gradient::Scharr3 => Some(gradient::SCHARR),
        Gradient::Central => Some(gradient::CENTRAL),
        Gradient::Sobel5 | Gradient::Sobel7 | Gradient::Box { .. } | Gradient::GaussianDerivative { .. } => {
            None
        }
    }
}

/// Number of the plateau rule.
pub(crate) fn plateau_of(config: &HarrisConfig) -> u32 {
    match config.plateau() {
        Plateau::First => plateau::FIRST,
        Plateau::All => plateau::ALL,
    }
}

/// Kind and value of a threshold that needs no histogram; `None` for Rosin's.
pub(crate) fn simple_threshold(config: &HarrisConfig) -> Option<(u32, f64)> {
    match config.threshold() {
        Threshold::Absolute(value) => Some((threshold::ABSOLUTE, value.into())),
        Threshold::None => Some((threshold::ABSOLUTE, 0.0)),
        Threshold::Relative(quality) => Some((threshold::RELATIVE, quality)),
        Threshold::Rosin { .. } => None,
    }
}

/// Kind and value of the threshold for kernels that look at candidates: Rosin's is in the state by
/// then.
pub(crate) fn threshold_of(config: &HarrisConfig) -> (u32, f64) {
    simple_threshold(config).unwrap_or((threshold::FROM_STATE, 0.0))
}

/// Kind and value of a lower bound of the threshold.
///
/// The value is the greatest f32 that is not above the threshold's. So its product with a response,
/// rounded, is not above the threshold either.
pub(crate) fn threshold_bound(config: &HarrisConfig) -> (u32, f32) {
    let (kind, value) = threshold_of(config);
    let nearest = value as f32;
    (kind, if f64::from(nearest) > value { nearest.next_down() } else { nearest })
}

/// A window's weights from the centre on, as sweeps and border bands take them. All weights of a
/// box are 1, however many.
pub(crate) fn window_taps(window: Window) -> [f32; 4] {
    match window {
        Window::Box { .. } => [1.0; 4],
        Window::Binomial { .. } | Window::Gaussian { .. } => from_centre(&taps::window(window)),
    }
}

/// The second half of symmetric taps, from the centre on, followed by zeros, which change no sum.
pub(crate) fn from_centre<const N: usize>(taps: &[f32]) -> [f32; N] {
    let half = &taps[taps.len() / 2..];
    std::array::from_fn(|i| half.get(i).copied().unwrap_or(0.0))
}
