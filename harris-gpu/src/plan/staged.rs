//! Responses stage by stage, one kernel or a few a stage: every configuration.

use std::fmt;

use harris_core::pipeline::numerics::{NumberKind, Numerics, SumType};
use harris_core::{Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::Kernel;

use super::arguments::gradient_of;
use super::shape::Shape;
use crate::device::Depth;

/// The kernels of each stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Staged {
    /// From samples to planes, one a channel.
    pub load: Load,
    /// From planes to smoothed planes.
    pub smoothing: SmoothingStage,
    /// From planes to gx and gy.
    pub gradient: GradientStage,
    /// From gx and gy to window sums and responses.
    pub window: WindowStage,
}

/// From samples to planes of 32-bit integers or floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// 8-bit samples to integers.
    U8,
    /// 16-bit samples to integers.
    U16,
    /// 8-bit samples to floats.
    U8ToF32,
    /// 16-bit samples to floats.
    U16ToF32,
    /// Floats, each of which is checked.
    F32,
}

/// How planes are smoothed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SmoothingStage {
    /// Not at all.
    None,
    /// By \[1 2 1\] each way; `divides` unless sums stay exact.
    Binomial3 {
        /// Type of the planes.
        number: NumberKind,
        /// Whether sums are divided by 16.
        divides: bool,
    },
    /// By \[1 4 6 4 1\] each way.
    Binomial5 {
        /// Type of the planes.
        number: NumberKind,
    },
    /// By weighted sums of floats.
    Weighted {
        /// Taps.
        size: u32,
        /// Standard deviation in pixels.
        sigma: f64,
    },
}

/// How gradients are computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GradientStage {
    /// Three fixed taps.
    FixedTaps {
        /// Type of planes and gradients.
        number: NumberKind,
        /// Number of the gradient, as kernels take it.
        gradient: u32,
    },
    /// Sobel's of five or seven taps.
    Sobel {
        /// Type of planes and gradients.
        number: NumberKind,
        /// Taps.
        size: u32,
    },
    /// Differences of boxes of integers.
    BoxI32 {
        /// Aperture in pixels.
        size: u32,
    },
    /// Differences of boxes of floats, in four passes.
    BoxF32 {
        /// Aperture in pixels.
        size: u32,
    },
    /// Weighted sums of floats, in four passes.
    Weighted {
        /// Whether planes are integers that become floats first.
        converts: bool,
        /// Taps.
        size: u32,
        /// Standard deviation in pixels.
        sigma: f64,
    },
}

/// How gradients become window sums, and these responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowStage {
    /// Running sums of a centred box of integers, which become responses in the same kernel.
    RunningBox {
        /// Aperture in pixels.
        size: u32,
        /// Whether sums take 64 bits.
        is_i64: bool,
    },
    /// Binomial sums of floats, whose terms are added in pairs.
    Pairs {
        /// Aperture in pixels.
        size: u32,
    },
    /// Weighted sums down the window, then across it.
    Weighted(WeightedSums),
}

/// The types of products and sums of [`WindowStage::Weighted`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeightedSums {
    /// Integers of 32 bits.
    I32,
    /// Integers of 64 bits.
    I64,
    /// Products of integers, each rounded to a float.
    Rounded,
    /// Floats.
    F32,
}

impl Staged {
    /// The stages of images under a configuration.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig) -> Self {
        let numerics = Numerics::of(config, shape.depth.sample_type(), shape.channels as usize);
        let smoothing = SmoothingStage::of(config, numerics.smoothed);
        // Planes of integers that become floats before any sum are loaded as floats.
        let loads_floats = match (smoothing, numerics.gradient) {
            (SmoothingStage::Weighted { .. }, _) => true,
            (SmoothingStage::None, NumberKind::Float) => true,
            (SmoothingStage::None, NumberKind::Integer)
            | (SmoothingStage::Binomial3 { .. } | SmoothingStage::Binomial5 { .. }, _) => false,
        };
        let load = match (shape.depth, loads_floats) {
            (Depth::U8, false) => Load::U8,
            (Depth::U16, false) => Load::U16,
            (Depth::U8, true) => Load::U8ToF32,
            (Depth::U16, true) => Load::U16ToF32,
            (Depth::F32, _) => Load::F32,
        };
        let planes = if loads_floats { NumberKind::Float } else { numerics.smoothed };
        Self {
            load,
            smoothing,
            gradient: GradientStage::of(config, planes),
            window: WindowStage::of(config, &numerics),
        }
    }

    /// The kernels in the order of their first launch.
    #[must_use]
    pub fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = vec![match self.load {
            Load::U8 => Kernel::load_u8,
            Load::U16 => Kernel::load_u16,
            Load::U8ToF32 => Kernel::load_u8_as_f32,
            Load::U16ToF32 => Kernel::load_u16_as_f32,
            Load::F32 => Kernel::load_f32,
        }];
        let of = |number: NumberKind, integer: Kernel, float: Kernel| match number {
            NumberKind::Integer => integer,
            NumberKind::Float => float,
        };
        kernels.extend(match self.smoothing {
            SmoothingStage::None => None,
            SmoothingStage::Binomial3 { number, .. } => {
                Some(of(number, Kernel::binomial3_i32, Kernel::binomial3_f32))
            }
            SmoothingStage::Binomial5 { number } => {
                Some(of(number, Kernel::binomial5_i32, Kernel::binomial5_f32))
            }
            SmoothingStage::Weighted { .. } => Some(Kernel::weighted_f32),
        });
        match self.gradient {
            GradientStage::FixedTaps { number, .. } => {
                kernels.push(of(number, Kernel::gradient_i32, Kernel::gradient_f32));
            }
            GradientStage::Sobel { number, .. } => {
                kernels.push(of(number, Kernel::sobel_i32, Kernel::sobel_f32));
            }
            GradientStage::BoxI32 { .. } => kernels.push(Kernel::box_gradient),
            GradientStage::BoxF32 { .. } => kernels.push(Kernel::box_f32),
            GradientStage::Weighted { converts, .. } => {
                kernels.extend(converts.then_some(Kernel::integers_to_f32));
                kernels.push(Kernel::weighted_f32);
            }
        }
        match self.window {
            WindowStage::RunningBox { is_i64, .. } => {
                kernels.push(if is_i64 { Kernel::box_response_i64 } else { Kernel::box_response_i32 });
            }
            WindowStage::Pairs { .. } => {
                kernels.extend([Kernel::gradient_products_f32, Kernel::binomial_f32, Kernel::response_f32]);
            }
            WindowStage::Weighted(sums) => kernels.extend(match sums {
                WeightedSums::I32 => [Kernel::window_columns_i32, Kernel::window_rows_response_i32],
                WeightedSums::I64 => [Kernel::window_columns_i64, Kernel::window_rows_response_i64],
                WeightedSums::Rounded => [Kernel::window_columns_rounded, Kernel::window_rows_response_f32],
                WeightedSums::F32 => [Kernel::window_columns_f32, Kernel::window_rows_response_f32],
            }),
        }
        kernels
    }
}

impl SmoothingStage {
    fn of(config: &HarrisConfig, number: NumberKind) -> Self {
        match config.smoothing() {
            Smoothing::None => Self::None,
            Smoothing::Binomial3 => Self::Binomial3 { number, divides: true },
            Smoothing::Binomial3Exact => Self::Binomial3 { number, divides: false },
            Smoothing::Binomial5 => Self::Binomial5 { number },
            Smoothing::Gaussian { size, sigma } => Self::Weighted { size, sigma },
        }
    }
}

impl GradientStage {
    /// The gradient of planes of a type.
    fn of(config: &HarrisConfig, number: NumberKind) -> Self {
        match config.gradient() {
            choice @ (Gradient::Sobel3 | Gradient::Scharr3 | Gradient::Central) => {
                Self::FixedTaps { number, gradient: gradient_of(choice).expect("a gradient of fixed taps") }
            }
            choice @ (Gradient::Sobel5 | Gradient::Sobel7) => {
                Self::Sobel { number, size: 2 * choice.radius() as u32 + 1 }
            }
            Gradient::Box { size } => match number {
                NumberKind::Integer => Self::BoxI32 { size },
                NumberKind::Float => Self::BoxF32 { size },
            },
            Gradient::GaussianDerivative { size, sigma } => {
                Self::Weighted { converts: number == NumberKind::Integer, size, sigma }
            }
        }
    }
}

impl WindowStage {
    fn of(config: &HarrisConfig, numerics: &Numerics) -> Self {
        let is_centred = config.window().is_centred();
        match (config.window(), numerics.gradient, numerics.sums) {
            (Window::Binomial { size }, NumberKind::Float, _) => Self::Pairs { size },
            // Boxes of even sizes are weighted sums, with weights of 1.
            (Window::Box { size }, _, SumType::I32) if is_centred => Self::RunningBox { size, is_i64: false },
            (Window::Box { size }, _, SumType::I64) if is_centred => Self::RunningBox { size, is_i64: true },
            (_, _, SumType::I32) => Self::Weighted(WeightedSums::I32),
            (_, _, SumType::I64) => Self::Weighted(WeightedSums::I64),
            (_, NumberKind::Integer, SumType::F32) => Self::Weighted(WeightedSums::Rounded),
            (_, NumberKind::Float, SumType::F32) => Self::Weighted(WeightedSums::F32),
        }
    }
}

impl fmt::Display for Staged {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.kernels().into_iter().map(Kernel::name).collect();
        formatter.write_str(&names.join(", "))
    }
}
