//! An execution: the images on the device, their context, and the resources that work on them.

use harris_core::HarrisConfig;

use super::capacity::Capacity;
use super::workspace::Workspace;
use crate::device::{Buffer, Device};
use crate::plan::{Plan, Shape};

/// What stays as it is during an execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    pub(crate) config: &'a HarrisConfig,
    pub(crate) plan: Plan,
    pub(crate) shape: Shape,
}

impl Context<'_> {
    /// Factor from window sums to the tensor in the units of an image in 0..1.
    pub(crate) fn scale(&self) -> f32 {
        self.config.tensor_scale(self.shape.depth.full_scale())
    }

    /// Widths of the frame of invalid pixels, before and behind. They differ for windows without a
    /// centre.
    pub(crate) fn frame(&self) -> [u32; 2] {
        self.config.invalid_frame().map(|width| width as u32)
    }

    /// The margin as kernels take it.
    pub(crate) fn margin(&self) -> u32 {
        self.config.margin().min(self.shape.pixels()) as u32
    }

    /// The radius of suppression as kernels take it.
    pub(crate) fn suppression_radius(&self) -> u32 {
        self.config.suppression_radius().min(self.shape.pixels()) as u32
    }
}

/// An execution: its context, and the device, the memory and the capacity that it works with.
pub(crate) struct Execution<'a, D: Device> {
    pub(crate) device: &'a mut D,
    pub(crate) workspace: &'a mut Workspace<D>,
    pub(crate) capacity: &'a mut Capacity,
    pub(crate) context: Context<'a>,
}

impl<D: Device> Execution<'_, D> {
    /// Number of images.
    pub(crate) fn images(&self) -> usize {
        self.context.shape.images
    }

    /// The mask and the bytes from row to row, as kernels take them.
    pub(crate) fn mask(&self) -> (Buffer<'_, D::Memory, u8>, u32) {
        self.workspace.mask(self.context.shape.mask_pitch)
    }

    /// The number of buckets that candidates of a sweep are sorted by; `None` where they are
    /// merged.
    pub(crate) fn buckets(&self) -> Option<usize> {
        self.capacity.buckets_of(self.images())
    }
}

/// Where keypoints are to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    /// In the host's memory.
    Host,
    /// In the device's memory.
    Device,
    /// In the device's memory, for work that follows, and in the host's.
    Both,
}

impl Destination {
    /// Whether keypoints go to the host.
    pub(crate) fn includes_host(self) -> bool {
        match self {
            Self::Host | Self::Both => true,
            Self::Device => false,
        }
    }
}

/// Lists that the device is asked for, and that may still be on their way.
#[derive(Debug)]
pub(crate) struct PendingLists<D: Device> {
    pub(crate) states: D::Fetched,
    /// Keypoints, and how many of each image. `None` where their number must be known first, or
    /// where they stay on the device.
    pub(crate) keypoints: Option<(D::Fetched, usize)>,
}

impl<D: Device> Clone for PendingLists<D> {
    fn clone(&self) -> Self {
        Self { states: self.states.clone(), keypoints: self.keypoints.clone() }
    }
}
