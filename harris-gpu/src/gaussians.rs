//! Responses by Gaussian windows that other walks have not, behind Gaussian derivatives and gradients of three taps, by kernels of their own.

use harris_core::pipeline::taps;
use harris_core::{Error, Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::gaussians;

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
enum Of {
    /// The weights of its sums along an edge, and across it.
    Sums([Weights; 2]),
    Central,
}

/// The gradient, and the window's weights, of images under a configuration; none where no kernel is for such.
fn choice(shape: &Shape, config: &HarrisConfig) -> Option<(Of, Weights)> {
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
    let is_central = config.gradient() == Gradient::Central && matches!(shape.channels, 1 | 3);
    if is_central && fits(size, gaussians::MOST_OF_CENTRAL) {
        return Some((Of::Central, window));
    }
    let of_three = |along: [f32; 3]| [from_centre(&along), from_centre(&[-1.0, 0.0, 1.0])];
    let gradient = match config.gradient() {
        Gradient::GaussianDerivative { size, sigma } if fits(size, gaussians::MOST) => {
            [from_centre(&taps::gaussian(size, sigma)), from_centre(&taps::gaussian_derivative(size, sigma))]
        }
        // Integers, likewise.
        Gradient::Sobel3 => of_three([1.0, 2.0, 1.0]),
        Gradient::Scharr3 => of_three([3.0, 10.0, 3.0]),
        Gradient::Central => of_three([0.0, 1.0, 0.0]),
        _ => return None,
    };
    let is_suited = shape.channels == 1 && fits(size, gaussians::MOST);
    is_suited.then_some((Of::Sums(gradient), window))
}

/// Half of a line of taps; behind it nothing, which changes no sum.
fn from_centre(taps: &[f32]) -> Weights {
    let half = &taps[taps.len() / 2..];
    std::array::from_fn(|i| half.get(i).copied().unwrap_or(0.0))
}

/// Fills the slot `Response` from the slot `Image`, where there is a kernel for it; tells whether there is.
pub(crate) fn respond<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    shape: &Shape,
) -> Result<bool, Error> {
    let Some((of, window)) = choice(shape, config) else { return Ok(false) };
    workspace.fit::<f32>(device, Slot::Response, shape.pixels())?;
    let (own, held) = match of {
        Of::Sums(_) => (gaussians::own(gaussians::MOST, gaussians::MOST), gaussians::BLOCKS),
        Of::Central => {
            let is_gray = shape.channels == 1;
            let held = if is_gray { gaussians::BLOCKS_OF_CENTRAL } else { gaussians::BLOCKS_OF_COLOURS };
            (gaussians::own(1, gaussians::MOST_OF_CENTRAL), held)
        }
    };
    let (strips, height) = (shape.width.div_ceil(own) as usize, shape.height as usize);
    let rows = rows_at_once(height, strips, held * device.multiprocessors(), MOST_ROWS);
    let (measure, parameter) = measure_of(config);
    macro_rules! respond {
        ($kernel:ident $(, $weight:expr)*) => {
            launch::$kernel(
                device,
                [(strips * height.div_ceil(rows)) as u32, 1],
                workspace.buffer(Slot::Image),
                workspace.buffer(Slot::Response),
                shape.width,
                shape.height,
                shape.stride as u32,
                rows as u32,
                border_of(config),
                config.tensor_scale(shape.depth.full_scale()),
                measure,
                parameter,
                config.invalid_frame() as u32,
                $($weight),*
            )?
        };
    }
    let [w0, w1, w2, w3, w4] = window;
    match of {
        Of::Sums([[a0, a1, a2, a3, a4], [_, d1, d2, d3, d4]]) => {
            respond!(map_gaussians9, a0, a1, a2, a3, a4, d1, d2, d3, d4, w0, w1, w2, w3, w4);
        }
        Of::Central if shape.channels == 1 => respond!(map_central_gaussian5, w0, w1, w2),
        Of::Central => respond!(map_rgb_central_gaussian5, w0, w1, w2),
    }
    Ok(true)
}
