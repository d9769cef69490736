//! The rows that a sweep by rows computes next.

use harris_core::HarrisConfig;

/// The next row of each stage.
pub(crate) struct NextRows {
    /// Of samples summed across.
    pub(crate) across: usize,
    pub(crate) smoothed: usize,
    pub(crate) gradient: usize,
}

impl NextRows {
    /// Before row `y` of responses.
    pub(crate) fn new(y: usize, config: &HarrisConfig) -> Self {
        let gradient = y.saturating_sub(config.window().radius());
        let smoothed = gradient.saturating_sub(config.gradient().radius());
        Self { across: smoothed.saturating_sub(config.smoothing().radius()), smoothed, gradient }
    }
}
