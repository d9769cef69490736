//! The rim of images, in which border rules have a part that no walk knows of.

use harris_core::{Border, Error, HarrisConfig, Window};
use harris_gpu_kernels::abi::{border, rim};

use crate::corners::{bound_of, most_in_line, plateau_of};
use crate::device::{Depth, Device};
use crate::fused::taps_of;
use crate::launch;
use crate::room::Shape;
use crate::staged::{gradient_of, measure_of};
use crate::workspace::{Slot, Workspace};

/// The rim of images whose inside a walk looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rim {
    rule: u32,
    /// Pixels whose responses the rule has a part in, from an edge on, and the radius of suppression, 0 where no corners are sought.
    support: usize,
    radius: usize,
}

/// Where a rim's corners go: the number of the first tile's piece, how many an image has, and candidates that each has room for.
pub(crate) type Lists = (usize, usize, usize);

impl Rim {
    /// That of images under a configuration; none where walks look at all of them.
    pub(crate) fn new(config: &HarrisConfig, radius: usize) -> Option<Self> {
        let rule = match config.border() {
            Border::Replicate => border::REPLICATE,
            Border::Zero => border::ZERO,
            Border::Reflect101 | Border::Skip => return None,
        };
        Some(Self { rule, support: config.support_radius(), radius })
    }

    /// Pixels near an edge whose responses a walk has no part in.
    pub(crate) fn frame(self) -> u32 {
        self.support as u32
    }

    /// Pixels near an edge whose corners it has no part in.
    pub(crate) fn depth(self) -> u32 {
        (self.support + self.radius) as u32
    }

    /// Tiles of an image.
    pub(crate) fn tiles(self, (width, height): (u32, u32)) -> usize {
        rim::tiles(width, height, self.depth()) as usize
    }

    /// The most candidates of a tile.
    pub(crate) fn room(self, config: &HarrisConfig) -> usize {
        let most = |len: usize| most_in_line(len, config, self.radius);
        most(rim::SIDE as usize) * most(self.depth() as usize)
    }

    /// Fills the slots `Candidates` and `Counts` from the slot `Image` where there are lists, and the slot `Response` where not.
    pub(crate) fn go<D: Device>(
        self,
        device: &D,
        workspace: &Workspace<D>,
        config: &HarrisConfig,
        shape: &Shape,
        lists: Option<Lists>,
    ) -> Result<(), Error> {
        let (width, height) = (shape.width, shape.height);
        let tiles = self.tiles((width, height)) as u32;
        let (measure, parameter) = measure_of(config);
        let (threshold, value) = bound_of(config);
        let (piece, pieces, room) = lists.unwrap_or((0, tiles as usize, 0));
        let [tap0, tap1, tap2, tap3] = taps_of(config.window());
        // What is not written is an argument all the same.
        let (response, keys, counts) = (
            if room > 0 { Slot::State } else { Slot::Response },
            if room > 0 { Slot::Candidates } else { Slot::State },
            if room > 0 { Slot::Counts } else { Slot::State },
        );
        let (mask, mask_pitch) = workspace.mask(if room > 0 { shape.mask_pitch } else { 0 });
        macro_rules! launch {
            ($kernel:ident) => {
                launch::$kernel(
                    device,
                    [tiles, shape.images as u32],
                    workspace.buffer(Slot::Image),
                    workspace.buffer(Slot::State),
                    workspace.buffer(keys),
                    workspace.buffer(counts),
                    workspace.buffer(response),
                    shape.stride as u64 * u64::from(height),
                    width,
                    height,
                    shape.stride as u32,
                    shape.channels,
                    self.rule,
                    config.smoothing().radius() as u32,
                    gradient_of(config.gradient()).expect("walks are for these"),
                    config.window().radius() as u32,
                    matches!(config.window(), Window::Box { .. }).into(),
                    self.radius as u32,
                    config.tensor_scale(shape.depth.full_scale()),
                    measure,
                    parameter,
                    config.margin().min(shape.pixels()) as u32,
                    plateau_of(config),
                    threshold,
                    value,
                    piece as u32,
                    pieces as u32,
                    room as u32,
                    mask,
                    mask_pitch,
                    tap0,
                    tap1,
                    tap2,
                    tap3,
                )
            };
        }
        match (shape.depth, config.window()) {
            (Depth::U8, Window::Gaussian { .. }) => launch!(rim_rounded_u8),
            (Depth::U8, _) => launch!(rim_u8),
            (Depth::U16, _) => launch!(rim_u16),
            (Depth::F32, _) => launch!(rim_f32),
        }
    }
}
