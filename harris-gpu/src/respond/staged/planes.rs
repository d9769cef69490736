//! Planes of samples, one a channel: loaded, smoothed, and weighed along an axis.

use harris_core::Error;
use harris_core::pipeline::numerics::NumberKind;
use harris_core::pipeline::taps;
use harris_gpu_kernels::abi::{axis, boxes};

use crate::device::{Device, RowSource, Rows};
use crate::exec::context::Context;
use crate::exec::workspace::{Slot, Workspace};
use crate::launch::{self, thread_per_column};
use crate::plan::arguments::border_of;
use crate::plan::{Load, SmoothingStage, Staged, WeightedSums, WindowStage};

/// Rows of a tile of boxes, at least and at most. Each tile begins with the rows of a whole box.
const MIN_BOX_ROWS: usize = 8;
const MAX_BOX_ROWS: usize = 128;

/// Taps of a Gaussian or a window, at most, with one to spare.
const MAX_TAPS: usize = 128;

/// The stages' memory, and where the planes are in it.
pub(crate) struct Planes<'a, 'b, D: Device> {
    pub(crate) device: &'a mut D,
    pub(crate) workspace: &'a mut Workspace<D>,
    pub(crate) context: &'a Context<'b>,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) channels: usize,
    /// Number of the border rule, as kernels take it.
    pub(crate) border: u32,
    /// The slot that holds the planes, and the one that the next stage fills.
    pub(crate) planes: Slot,
    pub(crate) spare: Slot,
}

impl<'a, 'b, D: Device> Planes<'a, 'b, D> {
    /// Makes room for every stage and the weights of those that have any.
    pub(crate) fn new(
        device: &'a mut D,
        workspace: &'a mut Workspace<D>,
        context: &'a Context<'b>,
        stages: &Staged,
    ) -> Result<Self, Error> {
        let shape = &context.shape;
        let (pixels, channels) = (shape.pixels(), shape.channels as usize);
        for slot in [Slot::Planes, Slot::OtherPlanes, Slot::GradientX, Slot::GradientY] {
            workspace.fit::<i32>(device, slot, pixels * channels)?;
        }
        match stages.window {
            WindowStage::RunningBox { .. } => {}
            WindowStage::Weighted(WeightedSums::I64) => {
                workspace.fit::<i64>(device, Slot::Sums, 3 * pixels)?;
            }
            WindowStage::Weighted(WeightedSums::I32 | WeightedSums::Rounded | WeightedSums::F32)
            | WindowStage::Pairs { .. } => workspace.fit::<i32>(device, Slot::Sums, 3 * pixels)?,
        }
        workspace.fit::<f32>(device, Slot::Response, pixels)?;
        for slot in [Slot::Taps, Slot::OtherTaps] {
            workspace.fit::<f32>(device, slot, MAX_TAPS)?;
        }
        Ok(Self {
            device,
            workspace,
            context,
            width: shape.width,
            height: shape.height,
            channels,
            border: border_of(context.config),
            planes: Slot::Planes,
            spare: Slot::OtherPlanes,
        })
    }

    /// Loads samples into planes.
    pub(crate) fn load(&self, load: Load) -> Result<(), Error> {
        let Self { width, height, .. } = *self;
        let (grid, rows) = self.grid(1);
        let (channels, stride) = (self.channels as u32, self.context.shape.stride as u64);
        macro_rules! load {
            ($kernel:ident $(, $state:expr)?) => {{
                let (image, planes) =
                    (self.workspace.buffer(Slot::Image), self.workspace.buffer(Slot::Planes));
                launch::$kernel(
                    self.device, grid, image, planes, $($state,)? width, height, rows, channels, stride,
                )
            }};
        }
        match load {
            Load::U8 => load!(load_u8),
            Load::U16 => load!(load_u16),
            Load::U8ToF32 => load!(load_u8_as_f32),
            Load::U16ToF32 => load!(load_u16_as_f32),
            Load::F32 => load!(load_f32, self.workspace.buffer(Slot::State)),
        }
    }

    /// Smooths the planes.
    pub(crate) fn smooth(&mut self, stage: SmoothingStage) -> Result<(), Error> {
        let Self { width, height, border, .. } = *self;
        let (grid, rows) = self.grid(self.channels);
        macro_rules! smooth {
            ($kernel:ident $(, $divides:expr)?) => {{
                let (from, to) = (self.workspace.buffer(self.planes), self.workspace.buffer(self.spare));
                launch::$kernel(self.device, grid, from, to, width, height, rows, border $(, $divides)?)?
            }};
        }
        match stage {
            SmoothingStage::None => return Ok(()),
            SmoothingStage::Weighted { size, sigma } => {
                self.upload_taps(Slot::Taps, &taps::gaussian(size, sigma))?;
                self.weigh(self.planes, self.spare, Slot::Taps, axis::Y, size)?;
                return self.weigh(self.spare, self.planes, Slot::Taps, axis::X, size);
            }
            SmoothingStage::Binomial3 { number: NumberKind::Integer, divides } => {
                smooth!(binomial3_i32, divides.into());
            }
            SmoothingStage::Binomial3 { number: NumberKind::Float, divides } => {
                smooth!(binomial3_f32, divides.into());
            }
            SmoothingStage::Binomial5 { number: NumberKind::Integer } => smooth!(binomial5_i32),
            SmoothingStage::Binomial5 { number: NumberKind::Float } => smooth!(binomial5_f32),
        }
        self.swap();
        Ok(())
    }

    /// Makes what a stage filled the planes.
    pub(crate) fn swap(&mut self) {
        std::mem::swap(&mut self.planes, &mut self.spare);
    }

    /// Uploads weights to a slot.
    pub(crate) fn upload_taps(&mut self, slot: Slot, taps: &[f32]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<f32>(slot).memory;
        self.device.upload(memory, Rows::copied(&RowSource::words(taps), 1))
    }

    /// Weighted sums of the planes of floats in a slot along an axis.
    pub(crate) fn weigh(&self, from: Slot, to: Slot, taps: Slot, axis: u32, size: u32) -> Result<(), Error> {
        let (grid, rows) = self.grid(self.channels);
        launch::weighted_f32(
            self.device,
            grid,
            self.workspace.buffer(from),
            self.workspace.buffer(to),
            self.workspace.buffer(taps),
            self.width,
            self.height,
            rows,
            axis,
            size,
            self.border,
        )
    }

    /// The grid of kernels with a thread a column, for so many planes, and the rows of each thread.
    pub(crate) fn grid(&self, planes: usize) -> ([u32; 2], u32) {
        thread_per_column(self.device, (self.width, self.height), planes)
    }

    /// The grid of kernels that sum boxes of integers, and the rows of a tile.
    pub(crate) fn box_grid(&self, planes: usize, size: u32) -> ([u32; 2], u32) {
        let across = self.width.div_ceil(boxes::columns(self.width, size)) as usize;
        let height = self.height as usize;
        // All run at once.
        let blocks = (boxes::BLOCKS * self.device.multiprocessors()) as usize;
        let down = (blocks / (across * planes)).max(1);
        let rows = height.div_ceil(down).clamp(MIN_BOX_ROWS, MAX_BOX_ROWS);
        ([(across * height.div_ceil(rows)) as u32, planes as u32], rows as u32)
    }
}
