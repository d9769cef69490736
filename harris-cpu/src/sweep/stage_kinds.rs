//! What the stages of tiles have in common, of integers and of floats.

use harris_core::Smoothing;

/// Samples of a row that the first stage reads beyond one for each lane: it takes neighbours from memory, not from lanes.
pub(crate) const fn extra_columns(smoothing: Smoothing) -> usize {
    match smoothing {
        Smoothing::None | Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => 2,
        Smoothing::Binomial5 => 4,
    }
}

/// Whether the first stage smooths; else it differentiates.
pub(crate) const fn has_smoothing_stage(smoothing: Smoothing) -> bool {
    match smoothing {
        Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => true,
        Smoothing::None | Smoothing::Gaussian { .. } => false,
    }
}

/// Compiles an expression for each smoothing and gradient, which are constants in it.
///
/// `Binomial3Exact` is for tiles of f32 alone, which ask for it before.
macro_rules! specialize {
    ($smoothing:expr, $gradient:expr, $kinds:ident => $value:expr) => {
        match $smoothing {
            Smoothing::Binomial3 => specialize!(@ Smoothing::Binomial3, $gradient, $kinds => $value),
            Smoothing::Binomial5 => specialize!(@ Smoothing::Binomial5, $gradient, $kinds => $value),
            Smoothing::None | Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => {
                specialize!(@ Smoothing::None, $gradient, $kinds => $value)
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
            // Plans have tiles for none of the last three.
            Gradient::Sobel3 | Gradient::Sobel5 | Gradient::Sobel7 | Gradient::GaussianDerivative { .. } => {
                let $kinds = ($smoothing, Gradient::Sobel3);
                $value
            }
        }
    };
}
pub(crate) use specialize;
