//! Maps of responses, left in one walk over an image.

use std::ops::Range;

use harris_core::{Error, HarrisConfig};
use harris_gpu_kernels::abi::Kernel;

use crate::device::Device;
use crate::fused;
use crate::gaussians::Gaussians;
use crate::large::Boxes;
use crate::pieces::Walk;
use crate::rim::Rim;
use crate::room::Shape;
use crate::workspace::{Slot, Workspace};

/// What leaves responses in the slot `Response`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Map {
    /// One from samples to responses as walks that seek corners have it.
    Walk(Walk),
    /// One for boxes that are too large for these.
    Boxes(Boxes),
    /// One for windows of floats that they have not.
    Gaussians(Gaussians),
}

impl Map {
    /// That of images under a configuration, where there is one.
    pub(crate) fn of(shape: &Shape, config: &HarrisConfig) -> Option<Self> {
        (fused::walk_of_map(shape, config).map(Self::Walk))
            .or_else(|| Boxes::of(shape, config).map(Self::Boxes))
            .or_else(|| Gaussians::of(shape, config).map(Self::Gaussians))
    }

    /// Its kernel.
    pub(crate) fn kernel(&self) -> Kernel {
        match self {
            Self::Walk(walk) => walk.kernel,
            Self::Boxes(_) => Kernel::map_boxes31,
            Self::Gaussians(gaussians) => gaussians.kernel(),
        }
    }

    /// Rows below the last one whose responses are left that it looks at.
    pub(crate) fn ahead(&self) -> usize {
        match self {
            Self::Walk(walk) => fused::ahead(*walk),
            Self::Boxes(boxes) => boxes.reach() as usize,
            Self::Gaussians(gaussians) => gaussians.reach(),
        }
    }

    /// The size of parts of an image, as a multiple of [`Device::portion`], where these are best all alike: much of what is walked in one only
    /// leads to others, and so the last takes long, however short it is.
    pub(crate) fn portions(&self) -> Option<usize> {
        match self {
            Self::Boxes(_) => Some(6),
            Self::Gaussians(gaussians) if gaussians.takes_long() => Some(3),
            Self::Gaussians(_) | Self::Walk(_) => None,
        }
    }

    /// Whether responses along the edges come last, and all at once.
    pub(crate) fn has_rim(&self, config: &HarrisConfig) -> bool {
        matches!(self, Self::Walk(_)) && Rim::new(config, 0).is_some()
    }

    /// Whether it can tell the extent of the responses that it leaves.
    pub(crate) fn knows_extent(&self) -> bool {
        // There are no registers left for it.
        !matches!(self, Self::Boxes(_))
    }

    /// Leaves the responses of some rows from the slot `Image`, of a single image, and in the state whether it has a sample that images may
    /// not have, and where it `tells_extent` the extent of those that are valid, but for a rim's.
    pub(crate) fn leave<D: Device>(
        &self,
        device: &D,
        workspace: &mut Workspace<D>,
        config: &HarrisConfig,
        shape: &Shape,
        rows: Range<usize>,
        tells_extent: bool,
    ) -> Result<(), Error> {
        workspace.fit::<f32>(device, Slot::Response, shape.pixels())?;
        match self {
            Self::Walk(walk) => fused::leave(device, workspace, config, shape, *walk, (rows, tells_extent)),
            Self::Boxes(boxes) => boxes.leave(device, workspace, config, shape, rows),
            Self::Gaussians(gaussians) => {
                gaussians.leave(device, workspace, config, shape, rows, tells_extent)
            }
        }
    }
}
