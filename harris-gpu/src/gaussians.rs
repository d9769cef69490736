//! Responses by windows of floats that other walks have not: behind Gaussian smoothing, Gaussian derivatives, and gradients of three taps
//! before Gaussian windows, by kernels of their own.

use std::ops::Range;

use harris_core::pipeline::taps;
use harris_core::{Border, Error, Gradient, HarrisConfig, Smoothing, Window};
use harris_gpu_kernels::abi::{Kernel, gaussians};

use crate::device::{Depth, Device};
use crate::fused::ALIGNMENT;
use crate::launch;
use crate::pieces::rows_at_once;
use crate::room::Shape;
use crate::staged::{border_of, measure_of, weights};
use crate::workspace::{Slot, Workspace};

/// The most rows of a piece.
const MOST_ROWS: usize = 512;

/// Weights from the centre on.
type Weights = [f32; gaussians::MOST as usize + 1];

/// A binomial's weights, and what its sums are multiplied by.
type Binomial = ([f32; 3], f32);

const BINOMIAL3: Binomial = ([2.0, 1.0, 0.0], 1.0 / 16.0);
const BINOMIAL5: Binomial = ([6.0, 4.0, 1.0], 1.0 / 256.0);
/// That which leaves samples as they are.
const UNCHANGED: Binomial = ([1.0, 0.0, 0.0], 1.0);

/// From samples to gradients, as kernels have it.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// The weights of sums along an edge, and across it, of samples smoothed by a binomial, where they are.
    Sums(Option<Binomial>, [Weights; 2]),
    /// Three taps of samples that are smoothed by weighted sums: the weights of these, and along an edge outside and inside.
    TapsOfSmoothed(Weights, [f32; 2]),
    /// The same of 16-bit samples and floats, smoothed by weighted sums or a binomial, whose sums are multiplied by more than 0.
    TapsOfDeep(Depth, Binomial, [f32; 2]),
    Central,
    /// That of three channels.
    CentralOfColours,
}

/// A gradient, a window's weights, and whether both are for kernels of narrow ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaussians {
    of: Of,
    window: Weights,
    is_narrow: bool,
}

impl Gaussians {
    /// Those of images under a configuration, where there is a kernel for it.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let radius = config.window().radius() as u32;
        // Places in a row are counted in bytes.
        let fits = u32::try_from(pitch(shape)).is_ok();
        if !fits || !shape.stride.is_multiple_of(ALIGNMENT) || radius > gaussians::MOST {
            return None;
        }
        let of = Of::new(config, shape)?;
        let are_floats = shape.depth == Depth::F32
            || matches!(config.smoothing(), Smoothing::Gaussian { .. })
            || matches!(config.gradient(), Gradient::GaussianDerivative { .. });
        let is_suited = match config.window() {
            // Sums of integers are exact.
            Window::Box { .. } => are_floats && config.window().is_centred(),
            Window::Binomial { .. } => false,
            Window::Gaussian { .. } => true,
        };
        let of_gradient = match of {
            Of::Sums(..) => config.gradient().radius() as u32,
            Of::TapsOfSmoothed(..) | Of::TapsOfDeep(..) | Of::Central | Of::CentralOfColours => 1,
        };
        let is_narrow = radius.max(of_gradient) <= gaussians::MOST_NARROW;
        let window = from_centre(&weights(config.window()));
        (is_suited && (is_narrow || !of.is_central())).then_some(Self { of, window, is_narrow })
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> Kernel {
        match self.of {
            Of::Sums(..) if self.is_narrow => Kernel::map_binomial_gaussians5,
            Of::Sums(None, _) => Kernel::map_gaussians9,
            Of::Sums(Some(_), _) => Kernel::map_binomial_gaussians9,
            Of::TapsOfSmoothed(..) if self.is_narrow => Kernel::map_smoothed_window5,
            Of::TapsOfSmoothed(..) => Kernel::map_smoothed_window9,
            Of::TapsOfDeep(Depth::U16, ..) if self.is_narrow => Kernel::map_u16_window5,
            Of::TapsOfDeep(Depth::U16, ..) => Kernel::map_u16_window9,
            Of::TapsOfDeep(..) if self.is_narrow => Kernel::map_f32_window5,
            Of::TapsOfDeep(..) => Kernel::map_f32_window9,
            Of::Central => Kernel::map_central_gaussian5,
            Of::CentralOfColours => Kernel::map_rgb_central_gaussian5,
        }
    }

    /// The greatest radii that it is for: of gradients with what smooths before them, and of windows.
    fn radii(&self) -> [u32; 2] {
        let most = if self.is_narrow { gaussians::MOST_NARROW } else { gaussians::MOST };
        let gradient = match self.of {
            Of::Sums(None, _) if !self.is_narrow => most,
            Of::Sums(..) => gaussians::MOST_OF_BINOMIAL + most,
            Of::TapsOfSmoothed(..) => gaussians::MOST + 1,
            Of::TapsOfDeep(..) => gaussians::MOST_OF_BINOMIAL + 1,
            Of::Central | Of::CentralOfColours => 1,
        };
        [gradient, most]
    }

    /// Rows from a response to the last one that it looks at.
    pub(crate) fn reach(&self) -> usize {
        self.radii().iter().sum::<u32>() as usize
    }

    /// Whether it takes about as long as the image's way to the device.
    pub(crate) fn takes_long(&self) -> bool {
        !self.of.is_central()
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
        let [gradient, window] = self.radii();
        let strips = shape.width.div_ceil(gaussians::own(gradient, window)) as usize;
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
                    pitch(shape) as u32,
                    rows.start as u32,
                    rows.end as u32,
                    of_piece as u32,
                    border_of(config),
                    config.tensor_scale(shape.depth.full_scale()),
                    measure,
                    parameter,
                    config.invalid_frame()[0] as u32,
                    tells_extent.into(),
                    $($weight),*
                )
            };
        }
        let [w0, w1, w2, w3, w4] = self.window;
        match self.of {
            Of::Sums(binomial, [[a0, a1, a2, a3, a4], [_, d1, d2, d3, d4]]) => {
                match (binomial, self.is_narrow) {
                    (binomial, true) => {
                        let ([s0, s1, s2], unit) = binomial.unwrap_or(UNCHANGED);
                        leave!(map_binomial_gaussians5, s0, s1, s2, unit, a0, a1, a2, d1, d2, w0, w1, w2)
                    }
                    (None, false) => {
                        leave!(map_gaussians9, a0, a1, a2, a3, a4, d1, d2, d3, d4, w0, w1, w2, w3, w4)
                    }
                    (Some(([s0, s1, s2], unit)), false) => leave!(
                        map_binomial_gaussians9,
                        s0,
                        s1,
                        s2,
                        unit,
                        a0,
                        a1,
                        a2,
                        a3,
                        a4,
                        d1,
                        d2,
                        d3,
                        d4,
                        w0,
                        w1,
                        w2,
                        w3,
                        w4
                    ),
                }
            }
            Of::TapsOfSmoothed([s0, s1, s2, s3, s4], [outside, inside]) => match self.is_narrow {
                true => leave!(map_smoothed_window5, s0, s1, s2, s3, s4, outside, inside, w0, w1, w2),
                false => {
                    leave!(map_smoothed_window9, s0, s1, s2, s3, s4, outside, inside, w0, w1, w2, w3, w4)
                }
            },
            Of::TapsOfDeep(depth, ([s0, s1, s2], unit), [outside, inside]) => match (depth, self.is_narrow) {
                (Depth::U16, true) => leave!(map_u16_window5, s0, s1, s2, unit, outside, inside, w0, w1, w2),
                (Depth::U16, false) => {
                    leave!(map_u16_window9, s0, s1, s2, unit, outside, inside, w0, w1, w2, w3, w4)
                }
                (_, true) => leave!(map_f32_window5, s0, s1, s2, unit, outside, inside, w0, w1, w2),
                (_, false) => leave!(map_f32_window9, s0, s1, s2, unit, outside, inside, w0, w1, w2, w3, w4),
            },
            Of::Central => leave!(map_central_gaussian5, w0, w1, w2),
            Of::CentralOfColours => leave!(map_rgb_central_gaussian5, w0, w1, w2),
        }
    }
}

impl Of {
    /// That of images under a configuration, where there is a kernel for it.
    fn new(config: &HarrisConfig, shape: &Shape) -> Option<Self> {
        let fits = |size: u32, radius: u32| size <= 2 * radius + 1;
        let taps = match config.gradient() {
            Gradient::Sobel3 => Some([1.0, 2.0]),
            Gradient::Scharr3 => Some([3.0, 10.0]),
            Gradient::Central => Some([0.0, 1.0]),
            Gradient::Sobel5
            | Gradient::Sobel7
            | Gradient::Box { .. }
            | Gradient::GaussianDerivative { .. } => None,
        };
        let of_taps_alone = config.smoothing() == Smoothing::None && config.gradient() == Gradient::Central;
        match (shape.depth, shape.channels) {
            // Products are integers that floats have, those of three channels together, too.
            (Depth::U8, 3) if of_taps_alone => return Some(Self::CentralOfColours),
            (Depth::U8, 1) if of_taps_alone && config.window().radius() as u32 <= gaussians::MOST_NARROW => {
                return Some(Self::Central);
            }
            (Depth::U8, 1) => {}
            (_, 1) => {
                let smoothing = match config.smoothing() {
                    Smoothing::None => ([1.0, 0.0, 0.0], 0.0),
                    Smoothing::Binomial3 => BINOMIAL3,
                    Smoothing::Binomial5 => BINOMIAL5,
                    Smoothing::Gaussian { size, sigma } if fits(size, gaussians::MOST_OF_BINOMIAL) => {
                        let [centre, near, far, ..] = from_centre(&taps::gaussian(size, sigma));
                        ([centre, near, far], 0.0)
                    }
                    Smoothing::Binomial3Exact | Smoothing::Gaussian { .. } => return None,
                };
                return taps.map(|taps| Self::TapsOfDeep(shape.depth, smoothing, taps));
            }
            _ => return None,
        }
        if let Smoothing::Gaussian { size, sigma } = config.smoothing() {
            let weights = fits(size, gaussians::MOST).then(|| from_centre(&taps::gaussian(size, sigma)))?;
            return taps.map(|taps| Self::TapsOfSmoothed(weights, taps));
        }
        let sums = match (config.gradient(), taps) {
            (Gradient::GaussianDerivative { size, sigma }, _) if fits(size, gaussians::MOST) => [
                from_centre(&taps::gaussian(size, sigma)),
                from_centre(&taps::gaussian_derivative(size, sigma)),
            ],
            // Integers, likewise.
            (_, Some([outside, inside])) => {
                [from_centre(&[outside, inside, outside]), from_centre(&[-1.0, 0.0, 1.0])]
            }
            _ => return None,
        };
        let binomial = match config.smoothing() {
            Smoothing::Binomial3 => BINOMIAL3,
            Smoothing::Binomial5 => BINOMIAL5,
            Smoothing::Binomial3Exact => return None,
            Smoothing::None | Smoothing::Gaussian { .. } => return Some(Self::Sums(None, sums)),
        };
        // Smoothed samples are mirrored as samples are, but do not go on beyond the edges as these do.
        let is_mirrored = matches!(config.border(), Border::Reflect101 | Border::Skip);
        is_mirrored.then_some(Self::Sums(Some(binomial), sums))
    }

    /// Whether it is central differences, whose kernels are for narrow windows alone.
    fn is_central(&self) -> bool {
        matches!(self, Self::Central | Self::CentralOfColours)
    }
}

/// Bytes from row to row.
fn pitch(shape: &Shape) -> usize {
    shape.stride * shape.depth.bytes()
}

/// Half of a line of taps; behind it nothing, which changes no sum.
fn from_centre(taps: &[f32]) -> Weights {
    let half = &taps[taps.len() / 2..];
    std::array::from_fn(|i| half.get(i).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_whose_bytes_have_no_number_go_by_stages() {
        let window = Window::Gaussian { size: 5, sigma: 1.0 };
        let config = HarrisConfig::builder().window(window).build().expect("a valid choice");
        let of = |depth: Depth, width: u32| {
            let stride = width as usize;
            let shape = Shape { width, height: 1, channels: 1, depth, stride, mask_pitch: 0, images: 1 };
            Gaussians::of(&shape, &config).is_some()
        };
        assert!(of(Depth::F32, (1 << 30) - 4) && of(Depth::U16, 1 << 30));
        assert!(!of(Depth::F32, 1 << 30));
    }
}
