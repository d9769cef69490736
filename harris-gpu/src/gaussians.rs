//! Responses by Gaussian windows that other walks have not, behind Gaussian derivatives and gradients of three taps, by kernels of their own.

use std::ops::Range;

use harris_core::pipeline::taps;
use harris_core::{Error, Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::{Kernel, gaussians};

use crate::device::{Depth, Device};
use crate::fused::ALIGNMENT;
use crate::launch;
use crate::pieces::rows_at_once;
use crate::room::Shape;
use crate::staged::{border_of, measure_of};
use crate::workspace::{Slot, Workspace};

/// The most rows of a piece.
const MOST_ROWS: usize = 512;

/// Weights from the centre on.
type Weights = [f32; gaussians::MOST as usize + 1];

/// The gradient that a kernel is for.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// The weights of its sums along an edge, and across it.
    Sums([Weights; 2]),
    Central,
    /// That of three channels.
    CentralOfColours,
}

/// A gradient, and a window's weights.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaussians {
    of: Of,
    window: Weights,
}

impl Gaussians {
    /// Those of images under a configuration, where there is a kernel for it.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let Window::Gaussian { size, sigma } = config.window() else { return None };
        if shape.depth != Depth::U8
            || config.smoothing() != Smoothing::None
            || !shape.stride.is_multiple_of(ALIGNMENT)
        {
            return None;
        }
        let window = from_centre(&taps::gaussian(size, sigma));
        let fits = |size: u32, radius: u32| size <= 2 * radius + 1;
        // Products are integers that floats have, those of three channels together, too.
        if config.gradient() == Gradient::Central && fits(size, gaussians::MOST_OF_CENTRAL) {
            match shape.channels {
                1 => return Some(Self { of: Of::Central, window }),
                3 => return Some(Self { of: Of::CentralOfColours, window }),
                _ => {}
            }
        }
        let of_three = |along: [f32; 3]| [from_centre(&along), from_centre(&[-1.0, 0.0, 1.0])];
        let gradient = match config.gradient() {
            Gradient::GaussianDerivative { size, sigma } if fits(size, gaussians::MOST) => [
                from_centre(&taps::gaussian(size, sigma)),
                from_centre(&taps::gaussian_derivative(size, sigma)),
            ],
            // Integers, likewise.
            Gradient::Sobel3 => of_three([1.0, 2.0, 1.0]),
            Gradient::Scharr3 => of_three([3.0, 10.0, 3.0]),
            Gradient::Central => of_three([0.0, 1.0, 0.0]),
            _ => return None,
        };
        let is_suited = shape.channels == 1 && fits(size, gaussians::MOST);
        is_suited.then_some(Self { of: Of::Sums(gradient), window })
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> Kernel {
        match self.of {
            Of::Sums(_) => Kernel::map_gaussians9,
            Of::Central => Kernel::map_central_gaussian5,
            Of::CentralOfColours => Kernel::map_rgb_central_gaussian5,
        }
    }

    /// Whether it takes about as long as the image's way to the device.
    pub(crate) fn takes_long(&self) -> bool {
        matches!(self.of, Of::Sums(_))
    }

    /// Leaves the responses of some rows in the slot `Response`, from the slot `Image`.
    pub(crate) fn leave<D: Device>(
        &self,
        device: &D,
        workspace: &Workspace<D>,
        config: &HarrisConfig,
        shape: &Shape,
        rows: Range<usize>,
        tells_extent: bool,
    ) -> Result<(), Error> {
        let own = match self.of {
            Of::Sums(_) => gaussians::own(gaussians::MOST, gaussians::MOST),
            Of::Central | Of::CentralOfColours => gaussians::own(1, gaussians::MOST_OF_CENTRAL),
        };
        let strips = shape.width.div_ceil(own) as usize;
        let held = self.kernel().blocks_held().expect("a kernel that a multiprocessor is to hold some of");
        let of_piece = rows_at_once(rows.len(), strips, held * device.multiprocessors(), MOST_ROWS);
        let (measure, parameter) = measure_of(config);
        macro_rules! leave {
            ($kernel:ident $(, $weight:expr)*) => {
                launch::$kernel(
                    device,
                    [(strips * rows.len().div_ceil(of_piece)) as u32, 1],
                    workspace.buffer(Slot::Image),
                    workspace.buffer(Slot::State),
                    workspace.buffer(Slot::Response),
                    shape.width,
                    shape.height,
                    shape.stride as u32,
                    rows.start as u32,
                    rows.end as u32,
                    of_piece as u32,
                    border_of(config),
                    config.tensor_scale(shape.depth.full_scale()),
                    measure,
                    parameter,
                    config.invalid_frame() as u32,
                    tells_extent.into(),
                    $($weight),*
                )
            };
        }
        let [w0, w1, w2, w3, w4] = self.window;
        match self.of {
            Of::Sums([[a0, a1, a2, a3, a4], [_, d1, d2, d3, d4]]) => {
                leave!(map_gaussians9, a0, a1, a2, a3, a4, d1, d2, d3, d4, w0, w1, w2, w3, w4)
            }
            Of::Central => leave!(map_central_gaussian5, w0, w1, w2),
            Of::CentralOfColours => leave!(map_rgb_central_gaussian5, w0, w1, w2),
        }
    }
}

/// Half of a line of taps; behind it nothing, which changes no sum.
fn from_centre(taps: &[f32]) -> Weights {
    let half = &taps[taps.len() / 2..];
    std::array::from_fn(|i| half.get(i).copied().unwrap_or(0.0))
}
