//! From image to responses, one kernel a stage: every configuration.

use harris_core::pipeline::taps;
use harris_core::{Border, Error, Gradient, HarrisConfig, Measure, Smoothing, Window};
use harris_gpu_kernels::abi::{Kernel, axis, border, boxes, gradient, measure};

use crate::device::{Depth, Device, Lines, Mark, Rows};
use crate::launch;
use crate::room::Shape;
use crate::workspace::{Slot, Workspace};

/// Rows of a run: as many as leave so many blocks to a multiprocessor, within these bounds.
const LEAST_ROWS: usize = 4;
const MOST_ROWS: usize = 32;
const BLOCKS: usize = 8;

/// Rows of a piece of boxes, likewise: each begins with those of a whole box.
const LEAST_ROWS_OF_BOXES: usize = 8;
const MOST_ROWS_OF_BOXES: usize = 128;

/// A measure and its parameter, as kernels take them.
pub(crate) fn measure_of(config: &HarrisConfig) -> (u32, f32) {
    match config.measure() {
        Measure::Harris { k } => (measure::HARRIS, k),
        Measure::ShiTomasi => (measure::SHI_TOMASI, 0.0),
        Measure::Noble { eps } => (measure::NOBLE, eps),
    }
}

/// A border, as kernels of stages take it.
pub(crate) fn border_of(config: &HarrisConfig) -> u32 {
    match config.border() {
        Border::Reflect101 => border::REFLECT,
        Border::Replicate => border::REPLICATE,
        // What lies outside has no part in what is valid.
        Border::Zero | Border::Skip => border::ZERO,
    }
}

/// A gradient of fixed taps, as kernels take it.
pub(crate) fn gradient_of(choice: Gradient) -> Option<u32> {
    match choice {
        Gradient::Sobel3 => Some(gradient::SOBEL),
        Gradient::Scharr3 => Some(gradient::SCHARR),
        Gradient::Central => Some(gradient::CENTRAL),
        Gradient::Sobel5 | Gradient::Sobel7 | Gradient::Box { .. } | Gradient::GaussianDerivative { .. } => {
            None
        }
    }
}

/// A window's weights across, or down.
pub(crate) fn weights(window: Window) -> Vec<f32> {
    match window {
        // To weigh by 1 changes no bit.
        Window::Box { size } => vec![1.0; size as usize],
        Window::Binomial { size } => binomial(size),
        Window::Gaussian { size, sigma } => taps::gaussian(size, sigma),
    }
}

/// What planes of samples and gradients hold.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Integer,
    Float,
}

/// What holds the window sums.
#[derive(Clone, Copy)]
enum Sum {
    I32,
    I64,
    F32,
}

impl Sum {
    fn is_exact(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }
}

/// From samples on, or from the smoothed ones, stages compute on floats.
fn is_float_from_the_start(config: &HarrisConfig) -> bool {
    match config.smoothing() {
        Smoothing::Gaussian { .. } => true,
        Smoothing::None => matches!(config.gradient(), Gradient::GaussianDerivative { .. }),
        Smoothing::Binomial3 | Smoothing::Binomial3Exact | Smoothing::Binomial5 => false,
    }
}

/// What holds the window sums of images.
fn sum_of(config: &HarrisConfig, shape: &Shape) -> Sum {
    let is_float = shape.depth == Depth::F32
        || matches!(config.smoothing(), Smoothing::Gaussian { .. })
        || matches!(config.window(), Window::Gaussian { .. });
    if is_float {
        return Sum::F32;
    }
    match config.greatest_sum(shape.channels as usize, shape.depth.full_scale()) {
        Some(sum) if sum <= f64::from(i32::MAX) => Sum::I32,
        Some(_) => Sum::I64,
        None => Sum::F32,
    }
}

/// Fills the slot `Response` from the slot `Image`, and tells in the state whether that has a float that images may not have.
pub(crate) fn respond<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    shape: &Shape,
) -> Result<(), Error> {
    let (width, height, channels) = (shape.width, shape.height, shape.channels as usize);
    let sum = sum_of(config, shape);
    fit(device, workspace, config, sum, shape)?;
    let mut pass = Pass {
        device,
        workspace,
        width,
        height,
        channels,
        border: border_of(config),
        number: Number::Integer,
        sum,
        planes: Slot::Planes,
        spare: Slot::OtherPlanes,
    };
    pass.load(shape, is_float_from_the_start(config))?;
    pass.smooth(config.smoothing())?;
    pass.device.mark(Mark::Smoothed)?;
    pass.differentiate(config.gradient())?;
    pass.device.mark(Mark::Differentiated)?;
    let response = Response {
        scale: config.tensor_scale(shape.depth.full_scale()),
        measure: measure_of(config),
        frame: config.invalid_frame().map(|width| width as u32),
    };
    pass.respond(config.window(), response)?;
    pass.device.mark(Mark::Responded)
}

/// Makes room for every stage and the weights of those that have any.
fn fit<D: Device>(
    device: &D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    sum: Sum,
    shape: &Shape,
) -> Result<(), Error> {
    let pixels = shape.pixels();
    for slot in [Slot::Planes, Slot::OtherPlanes, Slot::GradientX, Slot::GradientY] {
        workspace.fit::<i32>(device, slot, pixels * shape.channels as usize)?;
    }
    match sum {
        // Boxes of exact numbers leave none.
        _ if sum.is_exact() && sums_run_on(config.window()) => {}
        Sum::I64 => workspace.fit::<i64>(device, Slot::Sums, 3 * pixels)?,
        Sum::I32 | Sum::F32 => workspace.fit::<i32>(device, Slot::Sums, 3 * pixels)?,
    }
    workspace.fit::<f32>(device, Slot::Response, pixels)?;
    for slot in [Slot::Taps, Slot::OtherTaps] {
        workspace.fit::<f32>(device, slot, 128)?;
    }
    Ok(())
}

/// Whether exact sums run on from row to row: those of boxes that have a centre. Others are weighed, by 1.
fn sums_run_on(window: Window) -> bool {
    matches!(window, Window::Box { .. }) && window.is_centred()
}

/// What window sums become.
#[derive(Clone, Copy)]
struct Response {
    scale: f32,
    measure: (u32, f32),
    frame: [u32; 2],
}

/// The stages' buffers and what they hold.
struct Pass<'a, D: Device> {
    device: &'a mut D,
    workspace: &'a mut Workspace<D>,
    width: u32,
    height: u32,
    channels: usize,
    border: u32,
    number: Number,
    sum: Sum,
    planes: Slot,
    spare: Slot,
}

impl<D: Device> Pass<'_, D> {
    /// Brings the samples to planes.
    fn load(&mut self, shape: &Shape, as_floats: bool) -> Result<(), Error> {
        let Self { width, height, .. } = *self;
        let (grid, rows) = self.runs(1);
        let (channels, stride) = (shape.channels, shape.stride as u64);
        macro_rules! load {
            ($kernel:ident $(, $state:expr)?) => {{
                let (image, planes) =
                    (self.workspace.buffer(Slot::Image), self.workspace.buffer(Slot::Planes));
                launch::$kernel(
                    self.device, grid, image, planes, $($state,)? width, height, rows, channels, stride,
                )?
            }};
        }
        match (shape.depth, as_floats) {
            (Depth::U8, false) => load!(load_u8),
            (Depth::U16, false) => load!(load_u16),
            (Depth::U8, true) => load!(load_u8_as_f32),
            (Depth::U16, true) => load!(load_u16_as_f32),
            (Depth::F32, _) => load!(load_f32, self.workspace.buffer(Slot::State)),
        }
        if as_floats || shape.depth == Depth::F32 {
            self.number = Number::Float;
        }
        Ok(())
    }

    fn smooth(&mut self, smoothing: Smoothing) -> Result<(), Error> {
        let size = match smoothing {
            Smoothing::None => return Ok(()),
            Smoothing::Binomial3 | Smoothing::Binomial3Exact => 3,
            Smoothing::Binomial5 => 5,
            Smoothing::Gaussian { size, sigma } => {
                self.taps(Slot::Taps, &taps::gaussian(size, sigma))?;
                self.weigh(self.planes, self.spare, Slot::Taps, axis::DOWN, size)?;
                return self.weigh(self.spare, self.planes, Slot::Taps, axis::ACROSS, size);
            }
        };
        let (width, height, border) = (self.width, self.height, self.border);
        let (grid, rows) = self.runs(self.channels);
        let divides = u32::from(smoothing != Smoothing::Binomial3Exact);
        macro_rules! smooth {
            ($kernel:ident $(, $divides:ident)?) => {{
                let (from, to) = (self.workspace.buffer(self.planes), self.workspace.buffer(self.spare));
                launch::$kernel(self.device, grid, from, to, width, height, rows, border $(, $divides)?)?
            }};
        }
        match (self.number, size) {
            (Number::Integer, 3) => smooth!(binomial3_i32, divides),
            (Number::Integer, _) => smooth!(binomial5_i32),
            (Number::Float, 3) => smooth!(binomial3_f32, divides),
            (Number::Float, _) => smooth!(binomial5_f32),
        }
        std::mem::swap(&mut self.planes, &mut self.spare);
        Ok(())
    }

    fn differentiate(&mut self, choice: Gradient) -> Result<(), Error> {
        let kind = match choice {
            Gradient::Sobel3 | Gradient::Scharr3 | Gradient::Central => {
                gradient_of(choice).expect("one of fixed taps")
            }
            Gradient::Sobel5 | Gradient::Sobel7 => return self.sobel(2 * choice.radius() as u32 + 1),
            Gradient::Box { size } if self.number == Number::Integer => {
                let (grid, rows) = self.pieces(self.channels, size);
                let Self { device, workspace, width, height, border, .. } = self;
                let from = workspace.buffer(self.planes);
                let (gx, gy) = (workspace.buffer(Slot::GradientX), workspace.buffer(Slot::GradientY));
                return launch::box_gradient(
                    &**device, grid, from, gx, gy, *width, *height, rows, size, *border,
                );
            }
            Gradient::Box { size } => {
                self.boxes(self.planes, self.spare, axis::DOWN, size, boxes::SUM)?;
                self.boxes(self.spare, Slot::GradientX, axis::ACROSS, size, boxes::SIDES)?;
                self.boxes(self.planes, self.spare, axis::ACROSS, size, boxes::SUM)?;
                return self.boxes(self.spare, Slot::GradientY, axis::DOWN, size, boxes::SIDES);
            }
            Gradient::GaussianDerivative { size, sigma } => {
                self.floats()?;
                self.taps(Slot::Taps, &taps::gaussian(size, sigma))?;
                self.taps(Slot::OtherTaps, &taps::gaussian_derivative(size, sigma))?;
                self.weigh(self.planes, self.spare, Slot::Taps, axis::DOWN, size)?;
                self.weigh(self.spare, Slot::GradientX, Slot::OtherTaps, axis::ACROSS, size)?;
                self.weigh(self.planes, self.spare, Slot::OtherTaps, axis::DOWN, size)?;
                return self.weigh(self.spare, Slot::GradientY, Slot::Taps, axis::ACROSS, size);
            }
        };
        let (width, height, border) = (self.width, self.height, self.border);
        let (grid, rows) = self.runs(self.channels);
        macro_rules! differentiate {
            ($kernel:ident) => {{
                let from = self.workspace.buffer(self.planes);
                let (gx, gy) =
                    (self.workspace.buffer(Slot::GradientX), self.workspace.buffer(Slot::GradientY));
                launch::$kernel(self.device, grid, from, gx, gy, width, height, rows, kind, border)
            }};
        }
        match self.number {
            Number::Integer => differentiate!(gradient_i32),
            Number::Float => differentiate!(gradient_f32),
        }
    }

    /// Sobel's gradients of so many taps.
    fn sobel(&self, taps: u32) -> Result<(), Error> {
        let Self { width, height, border, .. } = *self;
        let (grid, rows) = self.runs(self.channels);
        macro_rules! sobel {
            ($kernel:ident) => {{
                let from = self.workspace.buffer(self.planes);
                let (gx, gy) =
                    (self.workspace.buffer(Slot::GradientX), self.workspace.buffer(Slot::GradientY));
                launch::$kernel(self.device, grid, from, gx, gy, width, height, rows, taps, border)
            }};
        }
        match self.number {
            Number::Integer => sobel!(sobel_i32),
            Number::Float => sobel!(sobel_f32),
        }
    }

    /// Sums down the window, and then across it, where they become responses at once.
    fn respond(&mut self, window: Window, response: Response) -> Result<(), Error> {
        match (window, self.number, self.sum) {
            (Window::Binomial { size }, Number::Float, _) => return self.respond_by_pairs(size, response),
            (Window::Box { size }, _, sum) if sum.is_exact() && sums_run_on(window) => {
                return self.respond_box(size, response);
            }
            _ => {}
        }
        let taps = weights(window);
        let size = taps.len() as u32;
        self.taps(Slot::Taps, &taps)?;
        let Self { width, height, border, .. } = *self;
        let channels = self.channels as u32;
        let (grid, rows) = self.runs(1);
        let Response { scale, measure: (measure, parameter), frame } = response;
        let (device, buffers) = (&mut *self.device, &*self.workspace);
        macro_rules! down {
            ($kernel:ident) => {{
                let (gx, gy) = (buffers.buffer(Slot::GradientX), buffers.buffer(Slot::GradientY));
                let (sums, taps) = (buffers.buffer(Slot::Sums), buffers.buffer(Slot::Taps));
                launch::$kernel(
                    device, grid, gx, gy, sums, taps, width, height, rows, channels, size, border,
                )?
            }};
        }
        match (self.number, self.sum) {
            (_, Sum::I32) => down!(weigh_i32),
            (_, Sum::I64) => down!(weigh_i64),
            (Number::Integer, Sum::F32) => down!(weigh_rounded),
            (Number::Float, Sum::F32) => down!(weigh_f32),
        }
        device.mark(Mark::Summed)?;
        let to = buffers.buffer(Slot::Response);
        macro_rules! across {
            ($kernel:ident) => {{
                let (sums, taps) = (buffers.buffer(Slot::Sums), buffers.buffer(Slot::Taps));
                launch::$kernel(
                    device, grid, sums, to, taps, width, height, rows, size, border, scale, measure,
                    parameter, frame[0], frame[1],
                )
            }};
        }
        match self.sum {
            Sum::I32 => across!(respond_weighted_i32),
            Sum::I64 => across!(respond_weighted_i64),
            Sum::F32 => across!(respond_weighted_f32),
        }
    }

    /// Exact sums of boxes, which become responses at once.
    fn respond_box(&mut self, size: u32, response: Response) -> Result<(), Error> {
        let Self { width, height, border, .. } = *self;
        let (grid, rows) = self.pieces(1, size);
        let Response { scale, measure: (measure, parameter), frame } = response;
        let (device, buffers, channels) = (&*self.device, &*self.workspace, self.channels as u32);
        let (gx, gy) = (buffers.buffer(Slot::GradientX), buffers.buffer(Slot::GradientY));
        let to = buffers.buffer(Slot::Response);
        macro_rules! respond {
            ($kernel:ident) => {
                launch::$kernel(
                    device, grid, gx, gy, to, width, height, rows, channels, size, border, scale, measure,
                    parameter, frame[0],
                )?
            };
        }
        match self.sum {
            Sum::I64 => respond!(respond_box_i64),
            _ => respond!(respond_box_i32),
        }
        self.device.mark(Mark::Summed)
    }

    /// The same for binomial windows of floats, whose terms are added in pairs.
    fn respond_by_pairs(&mut self, size: u32, response: Response) -> Result<(), Error> {
        let Self { width, height, border, .. } = *self;
        let pixels = width as usize * height as usize;
        self.workspace.fit::<f32>(self.device, Slot::OtherSums, 3 * pixels)?;
        let workspace = &*self.workspace;
        let (gx, gy) = (workspace.buffer(Slot::GradientX), workspace.buffer(Slot::GradientY));
        let (sums, between) = (workspace.buffer(Slot::Sums), workspace.buffer(Slot::OtherSums));
        let (grid, rows) = self.runs(1);
        let channels = self.channels as u32;
        launch::products_f32(self.device, grid, gx, gy, sums, width, height, rows, channels)?;
        let (grid, rows) = self.runs(3);
        let device = &*self.device;
        launch::binomial_f32(device, grid, sums, between, width, height, rows, axis::DOWN, size, border)?;
        launch::binomial_f32(device, grid, between, sums, width, height, rows, axis::ACROSS, size, border)?;
        self.device.mark(Mark::Summed)?;
        let (grid, rows) = self.runs(1);
        let Response { scale, measure: (measure, parameter), frame } = response;
        let to = self.workspace.buffer(Slot::Response);
        let sums = self.workspace.buffer(Slot::Sums);
        launch::response_f32(
            self.device,
            grid,
            sums,
            to,
            width,
            height,
            rows,
            scale,
            measure,
            parameter,
            frame[0],
            frame[1],
        )
    }

    /// From here on planes are floats.
    fn floats(&mut self) -> Result<(), Error> {
        if self.number == Number::Integer {
            let count = self.width as usize * self.height as usize * self.channels;
            let (from, to) = (self.workspace.buffer(self.planes), self.workspace.buffer(self.spare));
            launch::to_float(self.device, launch::grid(Kernel::to_float, count, 1), from, to, count as u64)?;
            std::mem::swap(&mut self.planes, &mut self.spare);
            self.number = Number::Float;
        }
        Ok(())
    }

    fn taps(&mut self, slot: Slot, taps: &[f32]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<f32>(slot).memory;
        self.device.upload(memory, Rows::copied(&Lines::words(taps), 1))
    }

    fn weigh(&self, from: Slot, to: Slot, taps: Slot, axis: u32, size: u32) -> Result<(), Error> {
        let (grid, rows) = self.runs(self.channels);
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

    /// Box sums of the samples' planes, which are floats.
    fn boxes(&self, from: Slot, to: Slot, axis: u32, size: u32, shape: u32) -> Result<(), Error> {
        let Self { device, workspace, width, height, channels, border, .. } = self;
        let (grid, rows) = self.runs(*channels);
        let (from, to) = (workspace.buffer(from), workspace.buffer(to));
        launch::box_f32(&**device, grid, from, to, *width, *height, rows, axis, size, shape, *border)
    }

    fn runs(&self, planes: usize) -> ([u32; 2], u32) {
        runs(self.device, (self.width, self.height), planes)
    }

    /// Blocks of kernels that sum boxes, and rows of their pieces.
    fn pieces(&self, planes: usize, size: u32) -> ([u32; 2], u32) {
        let across = self.width.div_ceil(boxes::columns(self.width, size)) as usize;
        let height = self.height as usize;
        // All at once.
        let blocks = (boxes::BLOCKS * self.device.multiprocessors()) as usize;
        let parts = (blocks / (across * planes)).max(1);
        let rows = height.div_ceil(parts).clamp(LEAST_ROWS_OF_BOXES, MOST_ROWS_OF_BOXES);
        ([(across * height.div_ceil(rows)) as u32, planes as u32], rows as u32)
    }
}

/// Blocks of a kernel by run, all of which have as many threads, and the rows of its runs.
pub(crate) fn runs<D: Device>(device: &D, (width, height): (u32, u32), planes: usize) -> ([u32; 2], u32) {
    let strips = (width as usize).div_ceil(Kernel::extent.threads() as usize);
    let blocks = BLOCKS * device.multiprocessors() as usize;
    let rows = (strips * planes * height as usize / blocks).clamp(LEAST_ROWS, MOST_ROWS);
    ([(strips * (height as usize).div_ceil(rows)) as u32, planes as u32], rows as u32)
}

/// A row of Pascal's triangle.
fn binomial(size: u32) -> Vec<f32> {
    let mut row = vec![1.0];
    while row.len() < size as usize {
        let between = row.windows(2).map(|pair| pair[0] + pair[1]);
        row = std::iter::once(1.0).chain(between).chain([1.0]).collect();
    }
    row
}
