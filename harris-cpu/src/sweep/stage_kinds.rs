//! The smoothings and gradients that kernels are compiled for.

use harris_core::{Gradient, Smoothing};

/// Smoothings without weights of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StageSmoothing {
    None,
    Binomial3,
    Binomial3Exact,
    Binomial5,
}

impl StageSmoothing {
    /// The smoothing of a configuration; none where it is a Gaussian.
    pub(crate) const fn of(smoothing: Smoothing) -> Option<Self> {
        match smoothing {
            Smoothing::None => Some(Self::None),
            Smoothing::Binomial3 => Some(Self::Binomial3),
            Smoothing::Binomial3Exact => Some(Self::Binomial3Exact),
            Smoothing::Binomial5 => Some(Self::Binomial5),
            Smoothing::Gaussian { .. } => None,
        }
    }

    /// Samples of a row that the first stage of tiles reads beyond one for each lane: it takes
    /// neighbours from memory, not from lanes.
    pub(crate) const fn extra_columns(self) -> usize {
        match self {
            Self::None | Self::Binomial3 | Self::Binomial3Exact => 2,
            Self::Binomial5 => 4,
        }
    }

    /// Whether the first stage of tiles smooths; else it differentiates.
    pub(crate) const fn smooths(self) -> bool {
        match self {
            Self::Binomial3 | Self::Binomial3Exact | Self::Binomial5 => true,
            Self::None => false,
        }
    }

    /// Whether it has five taps, not three.
    pub(crate) const fn has_five_taps(self) -> bool {
        match self {
            Self::Binomial5 => true,
            Self::None | Self::Binomial3 | Self::Binomial3Exact => false,
        }
    }

    /// Whether sums stay as they are, not divided by the sum of the weights.
    pub(crate) const fn keeps_sums(self) -> bool {
        match self {
            Self::Binomial3Exact => true,
            Self::None | Self::Binomial3 | Self::Binomial5 => false,
        }
    }
}

/// Gradients of three taps across and three down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreeTaps {
    Sobel,
    Scharr,
    Central,
    Box,
}

impl ThreeTaps {
    /// The gradient of a configuration; none where it has other taps.
    pub(crate) const fn of(gradient: Gradient) -> Option<Self> {
        match gradient {
            Gradient::Sobel3 => Some(Self::Sobel),
            Gradient::Scharr3 => Some(Self::Scharr),
            Gradient::Central => Some(Self::Central),
            Gradient::Box { size: 3 } => Some(Self::Box),
            Gradient::Box { .. }
            | Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::GaussianDerivative { .. } => None,
        }
    }
}

/// Compiles an expression for each smoothing and gradient of tiles of i16, which are constants in
/// it.
///
/// `Binomial3Exact` is for tiles of f32 alone, which ask for it before.
macro_rules! specialize {
    ($smoothing:expr, $gradient:expr, $kinds:ident => $value:expr) => {
        match $smoothing {
            StageSmoothing::Binomial3 => specialize!(@ StageSmoothing::Binomial3, $gradient, $kinds => $value),
            StageSmoothing::Binomial5 => specialize!(@ StageSmoothing::Binomial5, $gradient, $kinds => $value),
            StageSmoothing::None | StageSmoothing::Binomial3Exact => {
                specialize!(@ StageSmoothing::None, $gradient, $kinds => $value)
            }
        }
    };
    (@ $smoothing:expr, $gradient:expr, $kinds:ident => $value:expr) => {
        $crate::sweep::stage_kinds::specialize_taps!($gradient, taps => {
            let $kinds = ($smoothing, taps);
            $value
        })
    };
}
pub(crate) use specialize;

/// Compiles an expression for each gradient of three taps, which is a constant in it.
macro_rules! specialize_taps {
    ($gradient:expr, $taps:ident => $value:expr) => {
        match $gradient {
            ThreeTaps::Sobel => {
                let $taps = ThreeTaps::Sobel;
                $value
            }
            ThreeTaps::Scharr => {
                let $taps = ThreeTaps::Scharr;
                $value
            }
            ThreeTaps::Central => {
                let $taps = ThreeTaps::Central;
                $value
            }
            ThreeTaps::Box => {
                let $taps = ThreeTaps::Box;
                $value
            }
        }
    };
}
pub(crate) use specialize_taps;
