//! Which kernels run for a configuration: the only place that decides.
//!
//! A [`Plan`] is a plain value. The other modules match on it.

pub(crate) mod arguments;
mod border_band;
pub mod coverage;
mod float_window;
mod large_boxes;
mod shape;
mod staged;
mod sweep;

use std::fmt;

use harris_core::{HarrisConfig, Subpixel};
use harris_gpu_kernels::abi::Kernel;

pub use border_band::BorderBand;
pub use float_window::FloatWindow;
pub(crate) use float_window::{Binomial, GradientSource, IDENTITY, KernelSize};
pub use large_boxes::LargeBoxes;
pub use shape::Shape;
pub(crate) use shape::mask_pitch;
pub use staged::{GradientStage, Load, SmoothingStage, Staged, WeightedSums, WindowStage};
pub use sweep::Sweep;

/// Which kernels run for images of one shape under one configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// How the response map is computed, where there is one.
    pub responses: Responses,
    /// How corners are found.
    pub search: Search,
}

/// Ways from samples to the response map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Responses {
    /// A sweep in one pass, and a border band beside it, if the border rule needs one.
    Strips {
        /// The sweep.
        sweep: Sweep,
        /// The border band.
        border_band: Option<BorderBand>,
    },
    /// The kernel for box gradients and windows that sweeps do not have.
    LargeBoxes(LargeBoxes),
    /// A kernel for windows of floats that sweeps do not have.
    FloatWindow(FloatWindow),
    /// One kernel or a few a stage.
    Staged(Staged),
}

/// Ways to corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Search {
    /// A sweep from samples to corners in one pass, and a border band beside it, if the border rule
    /// needs one.
    FusedSweep {
        /// The sweep.
        sweep: Sweep,
        /// The border band.
        border_band: Option<BorderBand>,
        /// Whether the response map is computed as well: for suppression within a greater radius,
        /// or refinement.
        reads_map: bool,
    },
    /// A sweep over the response map.
    MapSweep(Sweep),
    /// Suppression with one thread a column of the response map.
    ThreadPerColumn,
}

impl Plan {
    /// The plan for images of a shape under a configuration.
    #[must_use]
    pub fn of(shape: &Shape, config: &HarrisConfig) -> Self {
        let one_pass = Responses::in_one_pass(shape, config);
        let responses = one_pass.unwrap_or_else(|| Responses::Staged(Staged::of(shape, config)));
        let search = match Sweep::to_corners(shape, config) {
            Some(sweep) if !reads_map(config, sweep) => {
                let border_band = BorderBand::of(shape, config, sweep.suppression);
                Search::FusedSweep { sweep, border_band, reads_map: false }
            }
            // A staged response map is searched by itself.
            Some(sweep) if one_pass.is_some() => {
                let border_band = BorderBand::of(shape, config, sweep.suppression);
                Search::FusedSweep { sweep, border_band, reads_map: true }
            }
            Some(_) | None => {
                Sweep::over_responses(shape, config).map_or(Search::ThreadPerColumn, Search::MapSweep)
            }
        };
        Self { responses, search }
    }

    /// The plan with one kernel a stage, for comparisons.
    #[must_use]
    pub fn staged(shape: &Shape, config: &HarrisConfig) -> Self {
        Self { responses: Responses::Staged(Staged::of(shape, config)), search: Search::ThreadPerColumn }
    }

    /// Whether detection computes the response map.
    #[must_use]
    pub fn computes_map(&self) -> bool {
        match self.search {
            Search::FusedSweep { reads_map, .. } => reads_map,
            Search::MapSweep(_) | Search::ThreadPerColumn => true,
        }
    }

    /// Whether detection computes the response map stage by stage.
    #[must_use]
    pub fn detects_by_stages(&self) -> bool {
        self.computes_map() && self.responses.is_staged()
    }

    /// Whether work on the first rows of an image can begin before the last rows have arrived:
    /// nothing is computed stage by stage.
    pub(crate) fn can_overlap(&self) -> bool {
        match self.search {
            Search::FusedSweep { .. } => true,
            Search::MapSweep(_) => !self.responses.is_staged(),
            Search::ThreadPerColumn => false,
        }
    }

    /// The way to the response map that detection takes; `None` where it needs no map.
    pub(crate) fn map(&self) -> Option<&Responses> {
        self.computes_map().then_some(&self.responses)
    }

    /// What runs, without the names of kernels.
    #[must_use]
    pub fn outline(&self) -> String {
        let responses = self.responses.outline();
        match self.search {
            Search::FusedSweep { reads_map: false, .. } => "fused sweep".to_owned(),
            Search::FusedSweep { reads_map: true, .. } => format!("{responses}, fused sweep"),
            Search::MapSweep(_) => format!("{responses}, map sweep"),
            Search::ThreadPerColumn => format!("{responses}, thread per column"),
        }
    }
}

/// Whether a fused sweep needs the response map: to suppress farther around than it does itself, or
/// for refinement.
fn reads_map(config: &HarrisConfig, sweep: Sweep) -> bool {
    config.suppression_radius() > sweep.suppression
        || match config.subpixel() {
            Subpixel::Quadratic => true,
            Subpixel::None | Subpixel::Forstner { .. } => false,
        }
}

impl Responses {
    /// The way with one pass over the image, if there is one.
    fn in_one_pass(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        let strips = |sweep| Self::Strips { sweep, border_band: BorderBand::of(shape, config, 0) };
        (Sweep::to_responses(shape, config).map(strips))
            .or_else(|| LargeBoxes::of(shape, config).map(Self::LargeBoxes))
            .or_else(|| FloatWindow::of(shape, config).map(Self::FloatWindow))
    }

    /// Whether there is one kernel or a few a stage.
    #[must_use]
    pub fn is_staged(&self) -> bool {
        match self {
            Self::Staged(_) => true,
            Self::Strips { .. } | Self::LargeBoxes(_) | Self::FloatWindow(_) => false,
        }
    }

    /// The kernel of a way with one pass.
    #[must_use]
    pub fn kernel(&self) -> Option<Kernel> {
        match self {
            Self::Strips { sweep, .. } => Some(sweep.kernel),
            Self::LargeBoxes(_) => Some(LargeBoxes::KERNEL),
            Self::FloatWindow(window) => Some(window.kernel()),
            Self::Staged(_) => None,
        }
    }

    /// Rows below the last one whose responses are written that the kernel may look at.
    ///
    /// Only ways with one pass write some rows before others have arrived.
    pub(crate) fn lookahead(&self) -> usize {
        match self {
            Self::Strips { sweep, .. } => sweep.lookahead(),
            Self::LargeBoxes(boxes) => boxes.support_radius() as usize,
            Self::FloatWindow(window) => window.support_radius(),
            Self::Staged(_) => 0,
        }
    }

    /// Size of the blocks of an overlapped upload, where equal blocks are best.
    ///
    /// The unit is [`Device::last_block_bytes`](crate::Device::last_block_bytes). Equal blocks are
    /// best for slow kernels with many warm-up rows: even a short last block takes them long.
    pub(crate) fn equal_block_factor(&self) -> Option<usize> {
        match self {
            Self::LargeBoxes(_) => Some(6),
            Self::FloatWindow(window) if window.is_slow() => Some(3),
            Self::FloatWindow(_) | Self::Strips { .. } | Self::Staged(_) => None,
        }
    }

    /// Whether responses near the edges are written last, all at once, by a border band.
    pub(crate) fn has_border_band(&self) -> bool {
        match self {
            Self::Strips { border_band, .. } => border_band.is_some(),
            Self::LargeBoxes(_) | Self::FloatWindow(_) | Self::Staged(_) => false,
        }
    }

    /// Whether the kernel can find the range of the responses that it writes.
    pub(crate) fn finds_range(&self) -> bool {
        match self {
            Self::Strips { .. } | Self::FloatWindow(_) => true,
            // The kernel for large boxes has no registers left for it.
            Self::LargeBoxes(_) | Self::Staged(_) => false,
        }
    }

    fn outline(&self) -> &'static str {
        match self {
            Self::Strips { .. } => "strips",
            Self::LargeBoxes(_) => "large boxes",
            Self::FloatWindow(_) => "float window",
            Self::Staged(_) => "staged",
        }
    }
}

/// Shows ways and kernels, as in
/// `strips (u8_box3), map sweep (responses)`.
impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.computes_map() {
            write!(formatter, "{}, ", self.responses)?;
        }
        match self.search {
            Search::FusedSweep { sweep, border_band, .. } => {
                write!(formatter, "fused sweep ({sweep}")?;
                write_border_band(formatter, border_band)
            }
            Search::MapSweep(sweep) => write!(formatter, "map sweep ({sweep})"),
            Search::ThreadPerColumn => {
                write!(formatter, "thread per column ({})", Kernel::suppress.name())
            }
        }
    }
}

impl fmt::Display for Responses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} (", self.outline())?;
        match self {
            Self::Strips { sweep, border_band } => {
                write!(formatter, "{sweep}")?;
                write_border_band(formatter, *border_band)
            }
            Self::LargeBoxes(boxes) => write!(formatter, "{boxes})"),
            Self::FloatWindow(window) => write!(formatter, "{window})"),
            Self::Staged(staged) => write!(formatter, "{staged})"),
        }
    }
}

/// Closes a parenthesis, with a border band in it, if there is one.
fn write_border_band(formatter: &mut fmt::Formatter<'_>, band: Option<BorderBand>) -> fmt::Result {
    match band {
        Some(band) => write!(formatter, ", {band})"),
        None => formatter.write_str(")"),
    }
}
