//! Responses by windows of floats that sweeps do not have: behind Gaussian smoothing and Gaussian
//! derivatives, and gradients of three taps before Gaussian windows.

use std::fmt;

use harris_core::pipeline::numerics::{NumberKind, Numerics};
use harris_core::pipeline::taps;
use harris_core::{Border, Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::{Kernel, gaussians};

use super::arguments::from_centre;
use super::shape::Shape;
use crate::device::Depth;

/// Weights from the centre on.
pub(crate) type Taps = [f32; gaussians::MAX_RADIUS as usize + 1];

/// A binomial's weights from the centre on, and the factor of its sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Binomial {
    pub(crate) weights: [f32; 3],
    /// 0 where sums have no factor.
    pub(crate) unit: f32,
}

const BINOMIAL3: Binomial = Binomial { weights: [2.0, 1.0, 0.0], unit: 1.0 / 16.0 };
const BINOMIAL5: Binomial = Binomial { weights: [6.0, 4.0, 1.0], unit: 1.0 / 256.0 };
/// The binomial that leaves samples unchanged.
pub(crate) const IDENTITY: Binomial = Binomial { weights: [1.0, 0.0, 0.0], unit: 1.0 };

/// From samples to gradients, as the kernels compute it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GradientSource {
    /// Weighted sums of 8-bit samples: the weights along an edge and across it, behind a binomial,
    /// if there is one.
    WeightedSums { binomial: Option<Binomial>, along: Taps, across: Taps },
    /// Three taps, [outer, inner] along an edge, of 8-bit samples smoothed by weighted sums.
    SmoothedU8 { smoothing: Taps, taps: [f32; 2] },
    /// Three taps of 16-bit samples, smoothed by weighted sums or a binomial.
    SmoothedU16 { smoothing: Binomial, taps: [f32; 2] },
    /// Three taps of float samples, smoothed by weighted sums or a binomial.
    SmoothedF32 { smoothing: Binomial, taps: [f32; 2] },
    /// Central differences of 8-bit samples.
    Central,
    /// Central differences of 8-bit samples of three channels.
    CentralRgb,
}

/// The greatest radius of windows that a kernel is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum KernelSize {
    /// [`gaussians::MAX_NARROW_RADIUS`].
    Narrow,
    /// [`gaussians::MAX_RADIUS`].
    Wide,
}

/// A kernel for windows of floats: its gradient and its window's weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatWindow {
    pub(crate) source: GradientSource,
    pub(crate) window: Taps,
    pub(crate) size: KernelSize,
}

impl FloatWindow {
    /// The window of floats of images under a configuration, if there is a kernel for it.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let radius = config.window().radius() as u32;
        // Kernels count places in a row in bytes.
        let fits = u32::try_from(shape.pitch()).is_ok();
        if !fits || !shape.is_aligned() || radius > gaussians::MAX_RADIUS {
            return None;
        }
        let source = GradientSource::of(shape, config)?;
        let numerics = Numerics::of(config, shape.depth.sample_type(), shape.channels as usize);
        let has_window = match config.window() {
            // Sums of integers are exact.
            Window::Box { .. } => numerics.gradient == NumberKind::Float && config.window().is_centred(),
            Window::Binomial { .. } => false,
            Window::Gaussian { .. } => true,
        };
        let gradient_radius = match source {
            GradientSource::WeightedSums { .. } => config.gradient().radius() as u32,
            GradientSource::SmoothedU8 { .. }
            | GradientSource::SmoothedU16 { .. }
            | GradientSource::SmoothedF32 { .. }
            | GradientSource::Central
            | GradientSource::CentralRgb => 1,
        };
        let is_narrow = radius.max(gradient_radius) <= gaussians::MAX_NARROW_RADIUS;
        let size = if is_narrow { KernelSize::Narrow } else { KernelSize::Wide };
        let window = from_centre(&taps::window(config.window()));
        (has_window && (is_narrow || !source.is_central())).then_some(Self { source, window, size })
    }

    /// The kernel.
    #[must_use]
    pub fn kernel(&self) -> Kernel {
        match (self.source, self.size) {
            (GradientSource::WeightedSums { .. }, KernelSize::Narrow) => Kernel::map_binomial_gaussians5,
            (GradientSource::WeightedSums { binomial: None, .. }, KernelSize::Wide) => Kernel::map_gaussians9,
            (GradientSource::WeightedSums { binomial: Some(_), .. }, KernelSize::Wide) => {
                Kernel::map_binomial_gaussians9
            }
            (GradientSource::SmoothedU8 { .. }, KernelSize::Narrow) => Kernel::map_smoothed_window5,
            (GradientSource::SmoothedU8 { .. }, KernelSize::Wide) => Kernel::map_smoothed_window9,
            (GradientSource::SmoothedU16 { .. }, KernelSize::Narrow) => Kernel::map_u16_window5,
            (GradientSource::SmoothedU16 { .. }, KernelSize::Wide) => Kernel::map_u16_window9,
            (GradientSource::SmoothedF32 { .. }, KernelSize::Narrow) => Kernel::map_f32_window5,
            (GradientSource::SmoothedF32 { .. }, KernelSize::Wide) => Kernel::map_f32_window9,
            // There are no kernels for wide windows behind central differences.
            (GradientSource::Central, KernelSize::Narrow | KernelSize::Wide) => Kernel::map_central_gaussian5,
            (GradientSource::CentralRgb, KernelSize::Narrow | KernelSize::Wide) => {
                Kernel::map_rgb_central_gaussian5
            }
        }
    }

    /// The greatest radii that the kernel is for: of gradients with the smoothing before them, and
    /// of windows.
    pub(crate) fn radii(&self) -> [u32; 2] {
        let most = match self.size {
            KernelSize::Narrow => gaussians::MAX_NARROW_RADIUS,
            KernelSize::Wide => gaussians::MAX_RADIUS,
        };
        let gradient = match (self.source, self.size) {
            (GradientSource::WeightedSums { binomial: None, .. }, KernelSize::Wide) => most,
            (GradientSource::WeightedSums { .. }, KernelSize::Narrow | KernelSize::Wide) => {
                gaussians::MAX_BINOMIAL_RADIUS + most
            }
            (GradientSource::SmoothedU8 { .. }, _) => gaussians::MAX_RADIUS + 1,
            (GradientSource::SmoothedU16 { .. } | GradientSource::SmoothedF32 { .. }, _) => {
                gaussians::MAX_BINOMIAL_RADIUS + 1
            }
            (GradientSource::Central | GradientSource::CentralRgb, _) => 1,
        };
        [gradient, most]
    }

    /// Rows from a response to the farthest sample that the kernel reads for it.
    pub(crate) fn support_radius(&self) -> usize {
        self.radii().iter().sum::<u32>() as usize
    }

    /// Whether the kernel takes about as long as the upload of the image.
    pub(crate) fn is_slow(&self) -> bool {
        !self.source.is_central()
    }
}

impl GradientSource {
    /// The source of images under a configuration, if there is a kernel for it.
    fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let fixed_taps = match config.gradient() {
            Gradient::Sobel3 => Some([1.0, 2.0]),
            Gradient::Scharr3 => Some([3.0, 10.0]),
            Gradient::Central => Some([0.0, 1.0]),
            Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Box { .. }
            | Gradient::GaussianDerivative { .. } => None,
        };
        let is_central = config.smoothing() == Smoothing::None && config.gradient() == Gradient::Central;
        match (shape.depth, shape.channels) {
            // Products are integers that f32 holds exactly, and so are sums over three channels.
            (Depth::U8, 3) if is_central => Some(Self::CentralRgb),
            (Depth::U8, 1)
                if is_central && config.window().radius() as u32 <= gaussians::MAX_NARROW_RADIUS =>
            {
                Some(Self::Central)
            }
            (Depth::U8, 1) => Self::of_u8(config, fixed_taps),
            (Depth::U16, 1) => {
                Some(Self::SmoothedU16 { smoothing: short_smoothing(config)?, taps: fixed_taps? })
            }
            (Depth::F32, 1) => {
                Some(Self::SmoothedF32 { smoothing: short_smoothing(config)?, taps: fixed_taps? })
            }
            (Depth::U8 | Depth::U16 | Depth::F32, _) => None,
        }
    }

    /// The source of 8-bit samples of one channel.
    fn of_u8(config: &HarrisConfig, fixed_taps: Option<[f32; 2]>) -> Option<Self> {
        let fits = |size: u32| size <= 2 * gaussians::MAX_RADIUS + 1;
        if let Smoothing::Gaussian { size, sigma } = config.smoothing() {
            let smoothing = fits(size).then(|| from_centre(&taps::gaussian(size, sigma)))?;
            return fixed_taps.map(|taps| Self::SmoothedU8 { smoothing, taps });
        }
        let (along, across) = match config.gradient() {
            Gradient::GaussianDerivative { size, sigma } if fits(size) => (
                from_centre(&taps::gaussian(size, sigma)),
                from_centre(&taps::gaussian_derivative(size, sigma)),
            ),
            // Integers that f32 holds exactly.
            Gradient::Sobel3 | Gradient::Scharr3 | Gradient::Central => {
                let [outer, inner] = fixed_taps?;
                (from_centre(&[outer, inner, outer]), from_centre(&[-1.0, 0.0, 1.0]))
            }
            Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Box { .. }
            | Gradient::GaussianDerivative { .. } => return None,
        };
        let binomial = match config.smoothing() {
            Smoothing::Binomial3 => BINOMIAL3,
            Smoothing::Binomial5 => BINOMIAL5,
            Smoothing::Binomial3Exact => return None,
            Smoothing::None | Smoothing::Gaussian { .. } => {
                return Some(Self::WeightedSums { binomial: None, along, across });
            }
        };
        match config.border() {
            Border::Reflect101 | Border::Skip => {
                Some(Self::WeightedSums { binomial: Some(binomial), along, across })
            }
            // Smoothed samples beyond the edges are not the extension of smoothed samples.
            Border::Replicate | Border::Zero => None,
        }
    }

    /// Whether gradients are central differences, whose kernels are for narrow windows alone.
    fn is_central(&self) -> bool {
        match self {
            Self::Central | Self::CentralRgb => true,
            Self::WeightedSums { .. }
            | Self::SmoothedU8 { .. }
            | Self::SmoothedU16 { .. }
            | Self::SmoothedF32 { .. } => false,
        }
    }
}

/// Smoothing of 16-bit and float samples, if its radius is small enough.
fn short_smoothing(config: &HarrisConfig) -> Option<Binomial> {
    match config.smoothing() {
        Smoothing::None => Some(Binomial { weights: [1.0, 0.0, 0.0], unit: 0.0 }),
        Smoothing::Binomial3 => Some(BINOMIAL3),
        Smoothing::Binomial5 => Some(BINOMIAL5),
        Smoothing::Gaussian { size, sigma } if size <= 2 * gaussians::MAX_BINOMIAL_RADIUS + 1 => {
            Some(Binomial { weights: from_centre(&taps::gaussian(size, sigma)), unit: 0.0 })
        }
        Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => None,
    }
}

impl fmt::Display for FloatWindow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kernel().name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_whose_rows_exceed_4_gib_are_computed_stage_by_stage() {
        let window = Window::Gaussian { size: 5, sigma: 1.0 };
        let config = HarrisConfig::builder().window(window).build().expect("a valid choice");
        let of = |depth: Depth, width: u32| {
            let stride = width as usize;
            let shape = Shape { width, height: 1, channels: 1, depth, stride, mask_pitch: 0, images: 1 };
            FloatWindow::of(&shape, &config).is_some()
        };
        assert!(of(Depth::F32, (1 << 30) - 4) && of(Depth::U16, 1 << 30));
        assert!(!of(Depth::F32, 1 << 30));
    }
}
