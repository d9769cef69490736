//! From image to responses, one kernel a stage: every configuration.

use harris_core::pipeline::taps;
use harris_core::{Border, Error, Gradient, HarrisConfig, Measure, Smoothing, Window};
use harris_gpu_kernels::abi::{Kernel, axis, border, boxes, gradient, measure};

use crate::device::{Depth, Device, Lines, Mark, Rows};
use crate::launch::{self, grid};
use crate::room::Shape;
use crate::workspace::{Slot, Workspace};

/// A product with 1 is no operation: it changes no bit of any number.
const NO_FACTOR: f32 = 1.0;

/// A measure and its parameter, as kernels take them.
pub(crate) fn measure_of(config: &HarrisConfig) -> (u32, f32) {
    match config.measure() {
        Measure::Harris { k } => (measure::HARRIS, k),
        Measure::ShiTomasi => (measure::SHI_TOMASI, 0.0),
        Measure::Noble { eps } => (measure::NOBLE, eps),
    }
}

/// What the planes of a stage hold.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Integer,
    Float,
}

/// Fills the slot `Response` from the slot `Image`.
pub(crate) fn respond<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    shape: &Shape,
) -> Result<(), Error> {
    let (width, height, channels) = (shape.width, shape.height, shape.channels as usize);
    let pixels = shape.pixels();
    fit(device, workspace, config, shape)?;
    let number = load(device, workspace, shape)?;
    let mut pass = Pass {
        device,
        workspace,
        width,
        height,
        channels,
        pixels,
        border: match config.border() {
            Border::Reflect101 => border::REFLECT,
            Border::Replicate => border::REPLICATE,
            // What lies outside has no part in what is valid.
            Border::Zero | Border::Skip => border::ZERO,
        },
        number,
        planes: Slot::Planes,
        spare: Slot::OtherPlanes,
        sums: Slot::Sums,
        other_sums: Slot::OtherSums,
    };
    pass.smooth(config.smoothing())?;
    pass.device.mark(Mark::Smoothed)?;
    pass.differentiate(config.gradient())?;
    pass.device.mark(Mark::Differentiated)?;
    pass.multiply(config.window())?;
    pass.sum(config.window())?;
    pass.device.mark(Mark::Summed)?;
    pass.measure(config, shape.depth.full_scale())?;
    pass.device.mark(Mark::Responded)
}

/// Makes room for every stage and the weights of those that have any.
fn fit<D: Device>(
    device: &mut D,
    workspace: &mut Workspace<D>,
    config: &HarrisConfig,
    shape: &Shape,
) -> Result<(), Error> {
    let pixels = shape.pixels();
    let samples = pixels * shape.channels as usize;
    for slot in [Slot::Planes, Slot::OtherPlanes, Slot::GradientX, Slot::GradientY] {
        workspace.fit::<i32>(device, slot, samples)?;
    }
    for slot in [Slot::Sums, Slot::OtherSums] {
        if shape.depth != Depth::F32 && !has_float_gradient(config) {
            workspace.fit::<i64>(device, slot, 3 * pixels)?;
        } else {
            workspace.fit::<f32>(device, slot, 3 * pixels)?;
        }
    }
    workspace.fit::<f32>(device, Slot::Response, pixels)?;
    for slot in [Slot::Taps, Slot::OtherTaps] {
        workspace.fit::<f32>(device, slot, 128)?;
    }
    Ok(())
}

fn has_float_gradient(config: &HarrisConfig) -> bool {
    matches!(config.smoothing(), Smoothing::Gaussian { .. })
        || matches!(config.gradient(), Gradient::GaussianDerivative { .. })
}

/// Brings the samples to planes.
fn load<D: Device>(device: &D, workspace: &Workspace<D>, shape: &Shape) -> Result<Number, Error> {
    let Shape { width, height, channels, stride, depth, .. } = *shape;
    macro_rules! load {
        ($kernel:ident) => {{
            let (image, planes) = (workspace.buffer(Slot::Image), workspace.buffer(Slot::Planes));
            let grid = grid(Kernel::$kernel, shape.pixels(), 1);
            launch::$kernel(device, grid, image, planes, width, height, channels, stride as u64)?;
        }};
    }
    match depth {
        Depth::U8 => load!(load_u8),
        Depth::U16 => load!(load_u16),
        Depth::F32 => {
            load!(load_f32);
            return Ok(Number::Float);
        }
    }
    Ok(Number::Integer)
}

/// The stages' buffers and what they hold.
struct Pass<'a, D: Device> {
    device: &'a mut D,
    workspace: &'a Workspace<D>,
    width: u32,
    height: u32,
    channels: usize,
    pixels: usize,
    border: u32,
    number: Number,
    planes: Slot,
    spare: Slot,
    sums: Slot,
    other_sums: Slot,
}

impl<D: Device> Pass<'_, D> {
    fn smooth(&mut self, smoothing: Smoothing) -> Result<(), Error> {
        let size = match smoothing {
            Smoothing::None => return Ok(()),
            Smoothing::Binomial3 => 3,
            Smoothing::Binomial5 => 5,
            Smoothing::Gaussian { size, sigma } => {
                self.floats()?;
                self.taps(Slot::Taps, &taps::gaussian(size, sigma))?;
                self.weigh(self.planes, self.spare, Slot::Taps, axis::DOWN, size, self.channels)?;
                return self.weigh(self.spare, self.planes, Slot::Taps, axis::ACROSS, size, self.channels);
            }
        };
        if self.number == Number::Integer {
            launch::binomial_rounded(
                self.device,
                self.grid(Kernel::binomial_rounded, self.channels),
                self.workspace.buffer(self.planes),
                self.workspace.buffer(self.spare),
                self.width,
                self.height,
                size,
                self.border,
            )?;
            std::mem::swap(&mut self.planes, &mut self.spare);
            return Ok(());
        }
        let factor = if size == 3 { 1.0 / 16.0 } else { 1.0 / 256.0 };
        self.binomial_f32(self.planes, self.spare, axis::ACROSS, size, NO_FACTOR, self.channels)?;
        self.binomial_f32(self.spare, self.planes, axis::DOWN, size, factor, self.channels)
    }

    fn differentiate(&mut self, choice: Gradient) -> Result<(), Error> {
        let kind = match choice {
            Gradient::Sobel3 => gradient::SOBEL,
            Gradient::Scharr3 => gradient::SCHARR,
            Gradient::Central => gradient::CENTRAL,
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
                let channels = self.channels;
                self.weigh(self.planes, self.spare, Slot::Taps, axis::DOWN, size, channels)?;
                self.weigh(self.spare, Slot::GradientX, Slot::OtherTaps, axis::ACROSS, size, channels)?;
                self.weigh(self.planes, self.spare, Slot::OtherTaps, axis::DOWN, size, channels)?;
                return self.weigh(self.spare, Slot::GradientY, Slot::Taps, axis::ACROSS, size, channels);
            }
        };
        let (width, height, border, workspace) = (self.width, self.height, self.border, self.workspace);
        let grid = self.grid(Kernel::gradient_i32, self.channels);
        let (x, y) = (Slot::GradientX, Slot::GradientY);
        match self.number {
            Number::Integer => {
                let (from, gx, gy) =
                    (workspace.buffer(self.planes), workspace.buffer(x), workspace.buffer(y));
                launch::gradient_i32(self.device, grid, from, gx, gy, width, height, kind, border)
            }
            Number::Float => {
                let (from, gx, gy) =
                    (workspace.buffer(self.planes), workspace.buffer(x), workspace.buffer(y));
                launch::gradient_f32(self.device, grid, from, gx, gy, width, height, kind, border)
            }
        }
    }

    fn multiply(&mut self, window: Window) -> Result<(), Error> {
        let (width, height, channels, workspace) =
            (self.width, self.height, self.channels as u32, self.workspace);
        let (x, y) = (Slot::GradientX, Slot::GradientY);
        let grid = self.grid(Kernel::products_i32, 1);
        if self.number == Number::Float {
            let (gx, gy, products) = (workspace.buffer(x), workspace.buffer(y), workspace.buffer(self.sums));
            return launch::products_f32(self.device, grid, gx, gy, products, width, height, channels);
        }
        let (gx, gy, products) = (workspace.buffer(x), workspace.buffer(y), workspace.buffer(self.sums));
        launch::products_i32(self.device, grid, gx, gy, products, width, height, channels)?;
        if let Window::Gaussian { .. } = window {
            let count = 3 * self.pixels;
            let grid = launch::grid(Kernel::round, count, 1);
            let to = workspace.buffer(self.other_sums);
            launch::round(self.device, grid, products, to, count as u64)?;
            std::mem::swap(&mut self.sums, &mut self.other_sums);
            self.number = Number::Float;
        }
        Ok(())
    }

    fn sum(&mut self, window: Window) -> Result<(), Error> {
        let (from, between) = (self.sums, self.other_sums);
        match (window, self.number) {
            (Window::Gaussian { size, sigma }, _) => {
                self.taps(Slot::Taps, &taps::gaussian(size, sigma))?;
                self.weigh(from, between, Slot::Taps, axis::DOWN, size, 3)?;
                self.weigh(between, from, Slot::Taps, axis::ACROSS, size, 3)
            }
            (Window::Box { size }, Number::Integer) => {
                let (width, height, border, workspace) =
                    (self.width, self.height, self.border, self.workspace);
                let (sums, columns) = (workspace.buffer(from), workspace.buffer(between));
                let grid = self.down_grid(3);
                launch::box_down_i64(
                    self.device,
                    grid,
                    sums,
                    columns,
                    width,
                    height,
                    size,
                    boxes::SUM,
                    border,
                )?;
                let grid = self.across_grid(3);
                launch::box_across_i64(
                    self.device,
                    grid,
                    columns,
                    sums,
                    width,
                    height,
                    size,
                    boxes::SUM,
                    border,
                )
            }
            (Window::Box { size }, Number::Float) => {
                self.box_f32(from, between, axis::DOWN, size, boxes::SUM, 3)?;
                self.box_f32(between, from, axis::ACROSS, size, boxes::SUM, 3)
            }
            (Window::Binomial { size }, Number::Integer) => {
                self.binomial_i64(from, between, axis::DOWN, size)?;
                self.binomial_i64(between, from, axis::ACROSS, size)
            }
            (Window::Binomial { size }, Number::Float) => {
                self.binomial_f32(from, between, axis::DOWN, size, NO_FACTOR, 3)?;
                self.binomial_f32(between, from, axis::ACROSS, size, NO_FACTOR, 3)
            }
        }
    }

    fn measure(&mut self, config: &HarrisConfig, full_scale: f64) -> Result<(), Error> {
        let (kind, parameter) = measure_of(config);
        let (width, height, workspace) = (self.width, self.height, self.workspace);
        let (scale, frame) = (config.tensor_scale(full_scale), config.invalid_frame() as u32);
        let grid = self.grid(Kernel::response_i64, 1);
        let response = workspace.buffer(Slot::Response);
        match self.number {
            Number::Integer => {
                let sums = workspace.buffer(self.sums);
                launch::response_i64(
                    self.device,
                    grid,
                    sums,
                    response,
                    width,
                    height,
                    scale,
                    kind,
                    parameter,
                    frame,
                )
            }
            Number::Float => {
                let sums = workspace.buffer(self.sums);
                launch::response_f32(
                    self.device,
                    grid,
                    sums,
                    response,
                    width,
                    height,
                    scale,
                    kind,
                    parameter,
                    frame,
                )
            }
        }
    }

    /// From here on planes are floats.
    fn floats(&mut self) -> Result<(), Error> {
        if self.number == Number::Integer {
            let count = self.pixels * self.channels;
            let (from, to) = (self.workspace.buffer(self.planes), self.workspace.buffer(self.spare));
            launch::to_float(self.device, grid(Kernel::to_float, count, 1), from, to, count as u64)?;
            std::mem::swap(&mut self.planes, &mut self.spare);
            self.number = Number::Float;
        }
        Ok(())
    }

    fn taps(&mut self, slot: Slot, taps: &[f32]) -> Result<(), Error> {
        let memory = self.workspace.buffer::<f32>(slot).memory;
        self.device.upload(memory, Rows::copied(&Lines::words(taps), 1))
    }

    fn weigh(
        &self,
        from: Slot,
        to: Slot,
        taps: Slot,
        axis: u32,
        size: u32,
        planes: usize,
    ) -> Result<(), Error> {
        launch::weighted_f32(
            self.device,
            self.grid(Kernel::weighted_f32, planes),
            self.workspace.buffer(from),
            self.workspace.buffer(to),
            self.workspace.buffer(taps),
            self.width,
            self.height,
            axis,
            size,
            self.border,
        )
    }

    /// Box sums of the samples' planes.
    fn boxes(&self, from: Slot, to: Slot, axis: u32, size: u32, shape: u32) -> Result<(), Error> {
        if self.number == Number::Float {
            return self.box_f32(from, to, axis, size, shape, self.channels);
        }
        let (width, height, border) = (self.width, self.height, self.border);
        let (from, to) = (self.workspace.buffer(from), self.workspace.buffer(to));
        if axis == axis::ACROSS {
            let grid = self.across_grid(self.channels);
            launch::box_across_i32(self.device, grid, from, to, width, height, size, shape, border)
        } else {
            let grid = self.down_grid(self.channels);
            launch::box_down_i32(self.device, grid, from, to, width, height, size, shape, border)
        }
    }

    fn box_f32(
        &self,
        from: Slot,
        to: Slot,
        axis: u32,
        size: u32,
        shape: u32,
        planes: usize,
    ) -> Result<(), Error> {
        launch::box_f32(
            self.device,
            self.grid(Kernel::box_f32, planes),
            self.workspace.buffer(from),
            self.workspace.buffer(to),
            self.width,
            self.height,
            axis,
            size,
            shape,
            self.border,
        )
    }

    fn binomial_f32(
        &self,
        from: Slot,
        to: Slot,
        axis: u32,
        size: u32,
        factor: f32,
        planes: usize,
    ) -> Result<(), Error> {
        launch::binomial_f32(
            self.device,
            self.grid(Kernel::binomial_f32, planes),
            self.workspace.buffer(from),
            self.workspace.buffer(to),
            self.width,
            self.height,
            axis,
            size,
            self.border,
            factor,
        )
    }

    fn binomial_i64(&self, from: Slot, to: Slot, axis: u32, size: u32) -> Result<(), Error> {
        launch::binomial_i64(
            self.device,
            self.grid(Kernel::binomial_i64, 3),
            self.workspace.buffer(from),
            self.workspace.buffer(to),
            self.width,
            self.height,
            axis,
            size,
            self.border,
        )
    }

    fn grid(&self, kernel: Kernel, planes: usize) -> [u32; 2] {
        grid(kernel, self.pixels, planes)
    }

    fn across_grid(&self, planes: usize) -> [u32; 2] {
        [self.width.div_ceil(boxes::PIECE) * self.height, planes as u32]
    }

    fn down_grid(&self, planes: usize) -> [u32; 2] {
        let runs = self.height.div_ceil(boxes::RUN) as usize;
        grid(Kernel::box_down_i64, self.width as usize * runs, planes)
    }
}
